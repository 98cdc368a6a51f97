"""Fans of edges say what a look at each edge says, and edges in one direction are one node."""

from fractions import Fraction

import numpy as np
import pytest

from impinge.kernels.jit import kernel
from impinge.mesh.triangulation.edge_fans import add_edge, edge_into, no_edges, take_edge


@kernel
def _edited(points, priority, far, taken, wanted, own, nodes, left, found):
    """Edges from corner 0, which stands at place 0: some are added, some taken; then angles are asked for."""
    fans = no_edges(points, priority)
    for i in range(len(far)):
        nodes[i] = add_edge(fans, 0, i, 0, far[i])
    for i in range(len(taken)):
        left[i] = take_edge(fans, 0, taken[i], 0, nodes[taken[i]])
    for i in range(len(wanted)):
        found[i] = edge_into(fans, 0, wanted[i, 0], 0, wanted[i, 1], nodes[own[i]])


def turn(a, b, c):
    (ax, ay), (bx, by), (cx, cy) = ([Fraction(value) for value in p] for p in (a, b, c))
    return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("size", [1, 4])
def test_as_one_by_one(size, seed):
    rng = np.random.default_rng([size, seed])
    others = [(x, y) for x in range(-size, size + 1) for y in range(-size, size + 1) if x or y]
    points = np.array([(0, 0), *others], dtype=np.float64) * (1.0 / 3.0) ** seed
    count = 2 * len(points)
    far = rng.integers(1, len(points), count)
    taken = rng.permutation(count)[: rng.integers(0, count)]
    kept = np.setdiff1d(np.arange(count), taken)
    tip = points[0]
    wanted = [
        (p, q) for p in range(1, len(points)) for q in range(1, len(points)) if turn(points[p], tip, points[q]) > 0
    ]
    wanted = np.array(wanted)[rng.integers(0, len(wanted), 50)]
    own = rng.choice(kept, len(wanted))
    priority = rng.permutation(count).astype(np.float64)
    nodes, left, found = np.empty(count, np.int64), np.empty(len(taken), np.int64), np.empty(len(wanted), np.int64)
    _edited(points, priority, far, taken, wanted, own, nodes, left, found)

    direction = [(points[p] / np.abs(points[p]).max()).round(6) for p in far]
    for i in range(count):
        assert [nodes[i] == node for node in nodes] == [(direction[i] == other).all() for other in direction]
    gone = list(range(count))
    for edge, number in zip(taken, left, strict=True):
        gone.remove(edge)
        assert number == sum(nodes[other] == nodes[edge] for other in gone)
    for (before, after), mine, node in zip(wanted, own, found, strict=True):
        inside = {
            nodes[i]
            for i in kept
            if turn(points[before], tip, points[far[i]]) > 0 and turn(tip, points[after], points[far[i]]) > 0
        }
        inside.discard(nodes[mine])
        assert node == max(inside, key=lambda node: priority[node], default=-1)
