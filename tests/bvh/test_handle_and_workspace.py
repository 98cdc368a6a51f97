"""Trees and workspaces travel to the kernels as addresses: what arrives is what was sent."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

from impinge import Mesh
from impinge.bvh.layout import WIDTH
from impinge.bvh.tree import Tree
from impinge.bvh.tree_handle import TreeHandle, aabb_body, obb_body, sphere_body
from impinge.bvh.volumes.aabb import AABBTree
from impinge.bvh.volumes.obb import OBBTree
from impinge.bvh.volumes.sphere import SphereTree
from impinge.bvh.workspace import LARGEST_FRONT, Results, TraversalWorkspace, work_at
from impinge.kernels.jit import kernel


def soup(seed: int, n: int = 40) -> Mesh:
    points = np.random.default_rng(seed).random((3 * n, 3)) * 7.0 - 2.0
    return Mesh(points, np.arange(3 * n).reshape(-1, 3))


@kernel
def copy_body(b: Any, rows: Any, child: Any, slots: Any, corners: Any, triangles: Any, order: Any) -> Any:
    for n in range(len(slots)):
        slots[n] = b.slots[n]
        for k in range(WIDTH):
            child[n * WIDTH + k] = b.child[n * WIDTH + k]
            for i in range(rows.shape[1]):
                rows[n, i, k] = b.rows[n, i, k]
            for i in range(9):
                corners[n, i, k] = b.corners[n, i, k]
    for n in range(b.size):
        order[n] = b.order[n]
        for i in range(3):
            for k in range(3):
                triangles[n, i, k] = b.triangles[n, i, k]
    return b.origin[0], b.origin[1], b.origin[2], b.unit


@kernel
def copy_obb(address: Any, rows: Any, child: Any, slots: Any, corners: Any, triangles: Any, order: Any) -> Any:
    return copy_body(obb_body(address), rows, child, slots, corners, triangles, order)


@kernel
def copy_aabb(address: Any, rows: Any, child: Any, slots: Any, corners: Any, triangles: Any, order: Any) -> Any:
    return copy_body(aabb_body(address), rows, child, slots, corners, triangles, order)


@kernel
def copy_sphere(address: Any, rows: Any, child: Any, slots: Any, corners: Any, triangles: Any, order: Any) -> Any:
    return copy_body(sphere_body(address), rows, child, slots, corners, triangles, order)


NAMES = ("rows", "child", "slots", "corners", "triangles", "order")


@pytest.mark.parametrize(("make", "copy"), [(OBBTree, copy_obb), (AABBTree, copy_aabb), (SphereTree, copy_sphere)])
def test_a_tree_arrives_as_it_is(make: type[Tree], copy: Any) -> None:
    tree = make(soup(1))
    handle = TreeHandle(tree)
    sent = [getattr(tree, name) for name in NAMES]
    arrived = [np.zeros_like(array) for array in sent]
    frame = copy(handle.address, *arrived)
    for name, array, other in zip(NAMES, sent, arrived, strict=True):
        assert np.array_equal(array, other), name
    assert frame == (*tree.origin.tolist(), tree.unit)
    assert handle.triangles == len(tree.order)


def test_a_handle_keeps_the_arrays_alive() -> None:
    handle = TreeHandle(OBBTree(soup(2)))
    tree = OBBTree(soup(2))
    gc.collect()
    other = [np.full(tree.rows.shape, 7, dtype=np.float32) for _ in range(20)]
    arrived = [np.zeros_like(getattr(tree, name)) for name in NAMES]
    copy_obb(handle.address, *arrived)
    assert np.array_equal(arrived[0], tree.rows)
    del other


@kernel
def fill(address: Any) -> Any:
    """Write recognisable numbers into all arrays."""
    work = work_at(address)
    for i in range(work.n_refs):
        work.refs[i, 0] = work.refs[i, 1] = 1
        work.bounds[i] = 2
    for i in range(work.n_pairs):
        work.pairs[i] = 3
    for i in range(work.n_front_refs):
        work.front_refs[i, 0] = work.front_refs[i, 1] = work.front_refs[i, 2] = 4
        work.front_keys[i] = 5
    for i in range(2):
        work.local_reach[i] = 8
        work.motions[i].rotation[8] = work.views[i].theirs[8] = 11
    for i in range(WIDTH):
        work.lanes[i] = 9
        work.corner_lanes[i] = 10
    return work.end_pose


@pytest.mark.parametrize("front", [0, 1, 100])
def test_a_workspace_arrives_with_its_sizes(front: int) -> None:
    work = TraversalWorkspace(front)
    assert fill(work.address) == 1
    names = ("refs", "bounds", "pairs", "front_refs", "front_keys")
    for value, name in enumerate(names, start=1):
        assert (getattr(work, name) == value).all()
    for value, name in ((8, "local_reach"), (9, "lanes"), (10, "corner_lanes")):
        assert (getattr(work, name) == value).all()  # and nothing was written elsewhere: the arrays do not overlap
    assert [len(work.refs), len(work.bounds), len(work.front_keys)] == [work.stack, work.stack, front]
    assert (work.front_size, work.best, work.swept) == (-1, 0.0, 0)


def test_a_workspace_grows() -> None:
    work = TraversalWorkspace(4)
    work.witness.meets = True
    work.begin(5000)
    assert work.stack == len(work.refs) == len(work.bounds) == 5000
    work.front_full = True
    work.begin(10)
    assert work.stack == len(work.refs) == 5000
    assert len(work.front_refs) == len(work.front_keys) > 4
    assert (work.front_size, work.coherent, work.front_full) == (-1, True, False)
    work.front_refs = np.zeros((LARGEST_FRONT // 2, 3), dtype=np.int32)
    work.front_keys = np.zeros(LARGEST_FRONT // 2)
    work.front_full = True
    work.begin(10)
    assert len(work.front_keys) == LARGEST_FRONT


def test_without_a_front_nothing_is_remembered() -> None:
    work = TraversalWorkspace()
    work.witness.meets, work.resumed, work.front_size = True, True, 5
    work.box_tests = work.triangle_tests = work.found = work.pose = 5
    work.begin(10)
    assert not work.witness.meets
    assert (work.front_size, work.coherent, work.resumed) == (-1, False, False)
    assert (work.box_tests, work.triangle_tests, work.found, work.pose) == (0, 0, 0, 0)


def test_a_search_that_was_cut_short_is_forgotten() -> None:
    """Its front is not complete, and nobody must go on with its stack."""
    work = TraversalWorkspace(4)
    work.front_size, work.resumed, work.pose, work.found = 3, True, 5, 7
    work.rewind()
    assert (work.front_size, work.resumed, work.pose, work.found) == (-1, False, 0, 0)
    work.front_size = 3
    work.rewind()
    assert work.front_size == 3
    work.resumed = True
    work.begin(10)
    assert (work.front_size, work.resumed) == (-1, False)


@kernel
def ask(address: Any) -> Any:
    work = work_at(address)
    for i in range(work.end_pose):
        work.values[i] = work.poses_a[i, 0, 3] + work.poses_b[i, 1, 3]
        work.answers[i] = i
    return work.end_pose


def test_poses_and_results_travel() -> None:
    work = TraversalWorkspace()
    poses = np.arange(3 * 32, dtype=np.float64).reshape(2, 3, 4, 4)
    numbers, small = np.zeros(3), np.zeros(4, dtype=np.int8)
    work.ask(poses[0], poses[1], Results(small, numbers))
    assert ask(work.address) == 3
    assert numbers.tolist() == (poses[0, :, 0, 3] + poses[1, :, 1, 3]).tolist()
    assert small.tolist() == [0, 1, 2, 0]
    assert not work.is_single
    work.ask_single()
    assert work.is_single
    work.single_poses[:] = poses[:, 1].tobytes()
    assert np.array_equal(work.poses, poses[:, 1])


def test_a_tree_without_kernels_is_told_where_they_are_missing() -> None:
    class NewTree(OBBTree):
        """Another kind, which nobody has registered."""

    with pytest.raises(ValueError, match=r"NewTree has no kernels: _VOLUMES in bvh/tree_handle\.py"):
        TreeHandle(NewTree(soup(3)))
