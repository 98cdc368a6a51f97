"""The division by the surface area heuristic, and the nodes of eight that are made of it."""

from __future__ import annotations

import numpy as np
import pytest

from impinge import Mesh
from impinge.bvh.build.binned_sah import binned_sah
from impinge.bvh.layout import EMPTY, WIDTH


def soup(points: np.ndarray) -> Mesh:
    flat = np.asarray(points, dtype=np.float64).reshape(-1, 3)
    return Mesh(flat, np.arange(len(flat)).reshape(-1, 3))


def small_triangles_at(places: np.ndarray, size: float = 0.01) -> Mesh:
    shape = np.random.default_rng(3).normal(size=(len(places), 3, 3))
    return soup(np.asarray(places)[:, None] + size * shape)


def filled(child: np.ndarray) -> float:
    """The part of the slots that is used, without the pseudo root."""
    return float((child[WIDTH:] != EMPTY).mean())


@pytest.mark.parametrize("n", [1, 2, 8, 9, 16, 17, 64, 65, 300])
def test_the_nodes_hold_every_triangle_once_in_ranges(n: int) -> None:
    mesh = small_triangles_at(np.random.default_rng(n).normal(size=(n, 3)))
    frame, order, child, ranges, depth = binned_sah(mesh.vertices, mesh.faces)
    assert frame.shape == (4,)
    assert (order.dtype, child.dtype, ranges.dtype) == (np.int32,) * 3
    assert sorted(order.tolist()) == list(range(n))
    assert ranges[0].tolist() == [0, n]
    assert 1 <= depth <= n
    for ref, entry in enumerate(child.tolist()):
        first, last = ranges[ref].tolist()
        if entry == EMPTY:
            assert first == last
        elif entry < 0:
            assert (first, last) == (~entry, ~entry + 1)
        else:
            below = ranges[entry * WIDTH : entry * WIDTH + WIDTH]
            used = below[child[entry * WIDTH : entry * WIDTH + WIDTH] != EMPTY]
            used = used[np.argsort(used[:, 0])]
            assert len(used) >= 2
            assert (used[0, 0], used[-1, 1]) == (first, last)
            assert np.array_equal(used[1:, 0], used[:-1, 1])


def test_small_meshes_are_one_node() -> None:
    for n in range(2, 9):
        mesh = small_triangles_at(np.random.default_rng(n).normal(size=(n, 3)))
        _, _, child, _, depth = binned_sah(mesh.vertices, mesh.faces)
        assert (len(child), depth) == (2 * WIDTH, 2)
        assert child[WIDTH : WIDTH + n].tolist() == [~i for i in range(n)]


def test_clusters_are_not_torn_apart() -> None:
    """Eight clusters far from each other become the eight slots of the first node."""
    rng = np.random.default_rng(8)
    cluster = np.repeat(np.arange(8), 20)
    rng.shuffle(cluster)
    corners = np.array([[i & 1, i >> 1 & 1, i >> 2] for i in range(8)], dtype=np.float64)
    mesh = small_triangles_at(corners[cluster] * 100 + rng.normal(size=(160, 3)))
    _, order, child, ranges, _ = binned_sah(mesh.vertices, mesh.faces)
    assert (child[WIDTH : 2 * WIDTH] > 0).all()
    for first, last in ranges[WIDTH : 2 * WIDTH].tolist():
        assert last - first == 20
        assert len(set(cluster[order[first:last]].tolist())) == 1


def test_the_longest_axis_is_cut_at_the_gap() -> None:
    x = np.concatenate([np.linspace(0, 1, 30), np.linspace(9, 10, 50)])
    mesh = small_triangles_at(np.column_stack([x, x * 0, x * 0]))
    _, order, _, ranges, _ = binned_sah(mesh.vertices, mesh.faces)
    near = order < 30
    for first, last in ranges[WIDTH : 2 * WIDTH].tolist():
        assert near[first:last].all() or not near[first:last].any()


@pytest.mark.nojit_slow
def test_most_slots_are_used() -> None:
    rng = np.random.default_rng(1)
    on_sphere = rng.normal(size=(5000, 3))
    on_sphere /= np.linalg.norm(on_sphere, axis=1)[:, None]
    mesh = small_triangles_at(on_sphere)
    assert filled(binned_sah(mesh.vertices, mesh.faces)[2]) > 0.75


@pytest.mark.parametrize("n", [9, 64, 65, 500])
def test_triangles_that_cannot_be_told_apart_fill_their_nodes(n: int) -> None:
    mesh = soup(np.tile(np.random.default_rng(0).normal(size=(3, 3)), (n, 1, 1)))
    _, _, child, _, depth = binned_sah(mesh.vertices, mesh.faces)
    leaves = (child < 0) & (child != EMPTY)
    in_nodes = leaves.reshape(-1, WIDTH).sum(axis=1)
    assert np.count_nonzero(in_nodes) <= -(-n // WIDTH) + 1
    assert depth <= 6


def test_ever_nearer_triangles_make_a_deep_tree_and_no_trouble() -> None:
    x = 2.0 ** -np.arange(1000)
    shape = np.random.default_rng(0).normal(size=(3, 3))
    mesh = soup(x[:, None, None] * (shape * 0.1 + [1, 0, 0]))
    _, order, _, _, depth = binned_sah(mesh.vertices, mesh.faces)
    assert sorted(order.tolist()) == list(range(1000))
    assert 5 <= depth < 50


def test_the_frame_is_that_of_the_faces_alone() -> None:
    mesh = Mesh([[0, 0, 0], [4, 0, 0], [0, 3, 0], [1e30, 1e30, -1e30]], [[0, 1, 2]])
    frame = binned_sah(mesh.vertices, mesh.faces)[0]
    assert frame.tolist() == [2.0, 1.5, 0.0, 4.0]
