"""Interweaving pipes: 143,690 triangles, long and thin in the straight segments (the model of Gottschalk's Table 1).

The pipes walk at random along the lines of a cubic lattice and never visit a
node twice, so they pass close to each other everywhere but never touch.  A
straight run of any length is one strip of long triangles, a bend a fine quarter of a torus.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from impinge.arrays import Floats, Ints
from impinge.lab.scenes.pair_scene import PairScene
from impinge.lab.scenes.poses import poses, random_turns, turns
from impinge.mesh.mesh import Mesh

TRIANGLES = 143_690
"""Of the model in the paper."""
SCALE = 15.0
"""The mover is the same model, this many times smaller."""
SIZE = 10.0
"""The lattice spans a cube of this width around the origin."""

_NODES = 10
_SPACING = SIZE / (_NODES - 1)
_PIPE_RADIUS = 0.17 * _SPACING
_BEND_RADIUS = 0.45 * _SPACING
# A capped tube of s sides and r rings has 2 s r - 4 triangles. With 25 tubes of 15 sides the paper's
# count asks for (143690 + 4 * 25) / (2 * 15) = 4793 rings, which are shared out among the bends.
_PIPES = 25
_SIDES = 15
_RINGS = (TRIANGLES + 4 * _PIPES) // (2 * _SIDES)

_Route = list[tuple[int, int, int]]


def pipes(seed: int = 3) -> Mesh:
    """A cube of interweaving pipes of ``SIZE``, closed at their ends."""
    routes = _routes(np.random.default_rng(seed))
    corners = [_corners(route) for route in routes]
    bends = sum(len(corner) - 2 for corner in corners)
    # Every bend gets the same number of rings, and the first ones one more, until the count is met.
    each, more = divmod(_RINGS - 2 * _PIPES, bends)
    vertices: list[Floats] = []
    faces: list[Ints] = []
    for corner in corners:
        fine = min(more, len(corner) - 2)
        more -= fine
        points, tangents = _centre_line(corner, each, fine)
        faces.append(_tube_faces(len(points)) + sum(map(len, vertices)))
        vertices.append(_tube_vertices(points, tangents))
    return Mesh(np.concatenate(vertices), np.concatenate(faces))


def small_pipes(seed: int = 3) -> Mesh:
    """The same pipes, ``SCALE`` times smaller."""
    return pipes(seed).transformed(np.diag([1.0 / SCALE, 1.0 / SCALE, 1.0 / SCALE, 1.0]))


def scene(count: int = 200, steps: int = 2000, seed: int = 7) -> PairScene:
    """The small pipes anywhere inside the large ones; the path tumbles through a gap between them and strikes."""
    rng = np.random.default_rng(seed)
    inside = 0.45 * SIZE
    scattered = poses(random_turns(rng, count), rng.uniform(-inside, inside, (count, 3)))
    t = np.linspace(0.0, 1.0, steps)[:, None]
    start, way = np.array([0.1, -0.2, -0.08]) * SIZE, np.array([0.17, 0.06, 0.03]) * SIZE
    path = poses(turns([0.9, -0.6, 0.5] * t), start + way * t)
    return PairScene("pipes", pipes(), small_pipes(), scattered, path)


def _routes(rng: np.random.Generator) -> list[_Route]:
    """Walks through distinct nodes of the lattice, of equal length as far as the lattice lets them."""
    free = {(i, j, k) for i in range(_NODES) for j in range(_NODES) for k in range(_NODES)}
    longest = 30
    routes: list[_Route] = []
    while len(routes) < _PIPES:
        route = [sorted(free)[rng.integers(len(free))]]
        visited = {route[0]}
        direction = None
        while len(route) < longest:
            ahead = []
            for axis in range(3):
                for sign in (-1, 1):
                    node = list(route[-1])
                    node[axis] += sign
                    if tuple(node) in free and tuple(node) not in visited:
                        ahead.append(((axis, sign), (node[0], node[1], node[2])))
            if not ahead:
                break
            straight = [step for step in ahead if step[0] == direction]
            # More than half of the steps go straight on: long runs, and long triangles with them.
            step = straight[0] if straight and rng.random() < 0.5 else ahead[rng.integers(len(ahead))]
            direction, node_ahead = step
            route.append(node_ahead)
            visited.add(node_ahead)
        if len(route) == longest:  # a walk that got stuck is tried again from elsewhere
            routes.append(route)
            free -= visited
    return routes


def _corners(route: _Route) -> Floats:
    """(k, 3) the ends of a route and the nodes where it turns."""
    node = (np.array(route) - (_NODES - 1) / 2.0) * _SPACING
    step = np.diff(np.array(route), axis=0)
    turning = np.r_[True, (step[1:] != step[:-1]).any(axis=1), True]
    return node[turning]


def _centre_line(corner: Floats, rings: int, fine: int) -> tuple[Floats, Floats]:
    """Points (k, 3) and tangents (k, 3): the two ends and ``rings`` for each bend, one more for the first ``fine``."""
    along = np.diff(corner, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    points, tangents = [corner[:1]], [along[:1]]
    for place, (before, after) in enumerate(pairwise(along)):
        angle = np.linspace(0.0, np.pi / 2.0, rings + (place < fine))[:, None]
        sine, cosine = np.sin(angle), np.cos(angle)
        points.append(corner[place + 1] + _BEND_RADIUS * ((sine - 1.0) * before + (1.0 - cosine) * after))
        tangents.append(cosine * before + sine * after)
    return np.concatenate([*points, corner[-1:]]), np.concatenate([*tangents, along[-1:]])


def _tube_vertices(points: Floats, tangents: Floats) -> Floats:
    """(k * _SIDES, 3) rings around a centre line."""
    across = np.empty_like(points)
    across[0] = np.roll(np.abs(tangents[0]), 1)
    for i in range(1, len(points)):
        # The smallest rotation that takes one tangent to the next: straight runs are not twisted.
        last, here = tangents[i - 1], tangents[i]
        across[i] = across[i - 1] - (across[i - 1] @ here) / (1.0 + last @ here) * (last + here)
    angle = np.arange(_SIDES)[:, None] * (2.0 * np.pi / _SIDES)
    ring = np.cos(angle) * across[:, None] + np.sin(angle) * np.cross(tangents, across)[:, None]
    vertices: Floats = points[:, None] + _PIPE_RADIUS * ring
    return vertices.reshape(-1, 3)


def _tube_faces(rings: int) -> Ints:
    """A wall of quads, each cut in two, and flat caps without a middle vertex."""
    index = np.arange(rings * _SIDES).reshape(rings, _SIDES)
    a, b = index[:-1], np.roll(index[:-1], -1, axis=1)
    d, c = index[1:], np.roll(index[1:], -1, axis=1)
    first, last = index[0], index[-1]
    parts = [
        np.stack([a, b, c], axis=-1).reshape(-1, 3),
        np.stack([a, c, d], axis=-1).reshape(-1, 3),
        np.column_stack([np.full(_SIDES - 2, first[0]), first[2:], first[1:-1]]),
        np.column_stack([np.full(_SIDES - 2, last[0]), last[1:-1], last[2:]]),
    ]
    return np.concatenate(parts).astype(np.int32)
