"""Trees and workspaces travel to the kernels as addresses: what arrives is what was sent."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

from impinge import Mesh
from impinge.bvh import workspace as work_module
from impinge.bvh.layout import WIDTH
from impinge.bvh.relative_motion import MOTION_COLUMNS, VIEW_COLUMNS
from impinge.bvh.tree import Tree
from impinge.bvh.tree_handle import TreeHandle, aabb_body, obb_body, sphere_body
from impinge.bvh.volumes.aabb import AABBTree
from impinge.bvh.volumes.obb import OBBTree
from impinge.bvh.volumes.sphere import SphereTree
from impinge.bvh.workspace import (
    ASKED,
    COHERENT,
    FOUND,
    FRONT,
    FRONT_FULL,
    FRONT_ROOM,
    LARGEST_FRONT,
    PAIRS_ROOM,
    POSE,
    RESUMED,
    WITNESS,
    Results,
    TraversalWorkspace,
    work_at,
)
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
def fill(address: Any, stack: int, pairs: int, front: int) -> None:
    """Write recognisable numbers everywhere."""
    work = work_at(address)
    for i in range(stack):
        work.refs[i, 0] = work.refs[i, 1] = 1
        work.bounds[i] = 2
    for i in range(pairs):
        work.pairs[i] = 3
    for i in range(front):
        work.front_refs[i, 0] = work.front_refs[i, 1] = work.front_refs[i, 2] = 4
        work.front_keys[i] = 5
    for i in range(2):
        work.reach[i] = 8
    for i in range(WIDTH):
        work.lanes[i] = 9
        work.corner_lanes[i] = 10
    for i in range(2):
        for j in range(MOTION_COLUMNS):
            work.motions[i, j] = 11
        for j in range(VIEW_COLUMNS):
            work.views[i, j] = 12
    for i in range(2):
        for j in range(12):
            work.placements[i, j] = 13
    for i in range(2):
        for j in range(4):
            for k in range(4):
                work.poses[i, j, k] = 14


@kernel
def sizes(address: Any) -> Any:
    work = work_at(address)
    return work.sizes[ASKED], work.sizes[PAIRS_ROOM], work.sizes[FRONT_ROOM]


@pytest.mark.parametrize("front", [0, 1, 100])
def test_a_workspace_arrives_with_its_sizes(front: int) -> None:
    work = TraversalWorkspace(front)
    assert sizes(work.address) == (1, len(work.pairs), front)
    work.counters[:] = 6
    work.numbers[:] = 7
    fill(work.address, work.stack, len(work.pairs), front)
    for value, array in enumerate(work._work[:14], start=1):
        assert (array == value).all()  # and nothing was written elsewhere: the arrays do not overlap
    assert [len(work._work.refs), len(work._work.front_keys)] == [work.stack, front]


def test_a_workspace_grows() -> None:
    work = TraversalWorkspace(4)
    work.counters[WITNESS] = 1
    work.begin(5000)
    assert work.stack == len(work._work.refs) == len(work._work.bounds) == 5000
    work.counters[FRONT_FULL] = 1
    work.begin(10)
    assert work.stack == len(work._work.refs) == 5000
    assert sizes(work.address)[2] == len(work._work.front_keys) > 4
    assert work.counters[FRONT] == -1
    assert work.counters[COHERENT] == 1
    assert work.counters[FRONT_FULL] == 0
    work.front = LARGEST_FRONT // 2
    work.counters[FRONT_FULL] = 1
    work.begin(10)
    assert work.front <= LARGEST_FRONT


def test_without_a_front_nothing_is_remembered() -> None:
    work = TraversalWorkspace()
    work.counters[:] = 5
    work.counters[[COHERENT, FRONT_FULL]] = 0
    work.begin(10)
    assert work.counters[WITNESS] == 0
    assert work.counters[FRONT] == -1
    assert work.counters[COHERENT] == 0


def test_a_search_that_was_cut_short_is_forgotten() -> None:
    """Its front is not complete, and nobody must go on with its stack."""
    work = TraversalWorkspace(4)
    work.counters[[FRONT, RESUMED, POSE, FOUND]] = 3, 1, 5, 7
    work.first_pose()
    assert work.counters[[FRONT, RESUMED, POSE, FOUND]].tolist() == [-1, 0, 0, 0]
    work.counters[FRONT] = 3
    work.first_pose()
    assert work.counters[FRONT] == 3
    work.counters[RESUMED] = 1
    work.begin(10)
    assert work.counters[[FRONT, RESUMED]].tolist() == [-1, 0]


@kernel
def ask(address: Any) -> Any:
    work = work_at(address)
    for i in range(work.sizes[ASKED]):
        work.values[i] = work.asked_a[i, 0, 3] + work.asked_b[i, 1, 3]
        work.answers[i] = i
    return work.sizes[ASKED]


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


def test_counters_have_places_of_their_own() -> None:
    names = [
        "OPEN", "BOX_TESTS", "TRIANGLE_TESTS", "FOUND", "BUDGET", "FACE_A", "FACE_B", "POSE", "RESUMED", "MODE",
        "FRONT", "COHERENT", "WITNESS", "SWEPT", "SWEEP_END", "SEEN", "FRONT_FULL", "TESTS_BEFORE", "PLAIN_TESTS",
        "PAUSE", "LAST_PAUSE", "RECORDED", "HEAP", "HEAP_LEFT",
    ]  # fmt: skip
    places = [getattr(work_module, name) for name in names] + [work_module.PLAIN_TESTS + 1]
    assert len(set(places)) == len(places)
    assert max(places) < len(TraversalWorkspace().counters)
    numbers = [work_module.BEST, *range(work_module.POINTS, work_module.POINTS + 6)]
    numbers += [getattr(work_module, name) for name in ("REACH", "MOVED", "CLEARANCE", "ORIGINS_APART")]
    assert len(set(numbers)) == len(numbers)
    assert max(numbers) < len(TraversalWorkspace().numbers)
