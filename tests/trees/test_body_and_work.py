"""Trees and workspaces travel to the kernels as addresses: what arrives is what was sent."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

from impinge import Mesh
from impinge.jit import kernel
from impinge.trees import work as work_module
from impinge.trees.aabb import AABBTree
from impinge.trees.body import Handle, aabb_body, obb_body, sphere_body
from impinge.trees.obb import OBBTree
from impinge.trees.sphere import SphereTree
from impinge.trees.tree import Tree
from impinge.trees.work import (
    ANSWERS,
    COHERENT,
    FOUND,
    FRONT,
    FRONT_FULL,
    LARGEST_FRONT,
    POSE,
    RESUMED,
    VALUES,
    WITNESS,
    Workspace,
    poses_at,
    result_at,
    work_at,
)


def soup(seed: int, n: int = 40) -> Mesh:
    points = np.random.default_rng(seed).random((3 * n, 3)) * 7.0 - 2.0
    return Mesh(points, np.arange(3 * n).reshape(-1, 3))


@kernel
def obb_copies(address: Any) -> Any:
    b = obb_body(address)
    return b.rows.copy(), b.child.copy(), b.slots.copy(), b.corners.copy(), b.triangles.copy(), b.order.copy(), (
        b.origin[0], b.origin[1], b.origin[2], b.unit
    )  # fmt: skip


@kernel
def aabb_copies(address: Any) -> Any:
    b = aabb_body(address)
    return b.rows.copy(), b.child.copy(), b.slots.copy(), b.corners.copy(), b.triangles.copy(), b.order.copy(), (
        b.origin[0], b.origin[1], b.origin[2], b.unit
    )  # fmt: skip


@kernel
def sphere_copies(address: Any) -> Any:
    b = sphere_body(address)
    return b.rows.copy(), b.child.copy(), b.slots.copy(), b.corners.copy(), b.triangles.copy(), b.order.copy(), (
        b.origin[0], b.origin[1], b.origin[2], b.unit
    )  # fmt: skip


@pytest.mark.parametrize(
    ("make", "copies"), [(OBBTree, obb_copies), (AABBTree, aabb_copies), (SphereTree, sphere_copies)]
)
def test_a_tree_arrives_as_it_is(make: type[Tree], copies: Any) -> None:
    tree = make(soup(1))
    handle = Handle(tree)
    names = ("rows", "child", "slots", "corners", "triangles", "order")
    *arrays, frame = copies(handle.address)
    for name, array in zip(names, arrays, strict=True):
        sent = getattr(tree, name)
        assert array.dtype == sent.dtype
        assert np.array_equal(array, sent), name
    assert frame == (*tree.origin.tolist(), tree.unit)
    assert handle.triangles == len(tree.order)


def test_a_handle_keeps_the_arrays_alive() -> None:
    handle = Handle(OBBTree(soup(2)))
    expected = OBBTree(soup(2)).rows
    gc.collect()
    other = [np.full(expected.shape, 7, dtype=np.float32) for _ in range(20)]
    assert np.array_equal(obb_copies(handle.address)[0], expected)
    del other


@kernel
def fill(address: Any) -> None:
    """Write recognisable numbers everywhere."""
    work = work_at(address)
    work.refs[:] = 1
    work.bounds[:] = 2
    work.pairs[:] = 3
    work.front_refs[:] = 4
    work.front_bounds[:] = 5
    work.counters[:] = 6
    work.numbers[:] = 7
    work.reach[:] = 8
    work.lanes[:] = 9
    work.corner_lanes[:] = 10
    work.motions[:] = 11
    work.placements[:] = 12
    work.poses[:] = 13


@kernel
def sizes(address: Any) -> Any:
    work = work_at(address)
    return len(work.refs), len(work.bounds), len(work.pairs), len(work.front_refs), len(work.front_bounds)


@pytest.mark.parametrize("front", [0, 1, 100])
def test_a_workspace_arrives_with_its_sizes(front: int) -> None:
    work = Workspace(front)
    assert sizes(work.address) == (work.stack, work.stack, len(work.pairs), front, front)
    fill(work.address)
    for value, array in enumerate(work._work, start=1):
        assert (array == value).all()  # and nothing was written elsewhere: the arrays do not overlap


def test_a_workspace_grows() -> None:
    work = Workspace(4)
    work.counters[WITNESS] = 1
    work.begin(5000)
    assert sizes(work.address)[0] >= 5000
    work.counters[FRONT_FULL] = 1
    work.begin(10)
    assert sizes(work.address)[:2] == (5000, 5000)
    assert sizes(work.address)[3] > 4
    assert work.counters[FRONT] == -1
    assert work.counters[COHERENT] == 1
    assert work.counters[FRONT_FULL] == 0
    work.front = LARGEST_FRONT // 2
    work.counters[FRONT_FULL] = 1
    work.begin(10)
    assert work.front <= LARGEST_FRONT


def test_without_a_front_nothing_is_remembered() -> None:
    work = Workspace()
    work.counters[:] = 5
    work.counters[[COHERENT, FRONT_FULL]] = 0
    work.begin(10)
    assert work.counters[WITNESS] == 0
    assert work.counters[FRONT] == -1
    assert work.counters[COHERENT] == 0


def test_a_search_that_was_cut_short_is_forgotten() -> None:
    """Its front is not complete, and nobody must go on with its stack."""
    work = Workspace(4)
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
    poses_a, poses_b = poses_at(address)
    numbers = result_at(address, VALUES, np.float64)
    small = result_at(address, ANSWERS, np.int8)
    for i in range(len(poses_a)):
        numbers[i] = poses_a[i, 0, 3] + poses_b[i, 1, 3]
        small[i] = i
    return len(poses_a)


def test_poses_and_results_travel() -> None:
    work = Workspace()
    poses = np.arange(3 * 32, dtype=np.float64).reshape(2, 3, 4, 4)
    numbers, small = np.zeros(3), np.zeros(4, dtype=np.int8)
    work.ask(poses[0], poses[1], {ANSWERS: small, VALUES: numbers})
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
        "FRONT", "COHERENT", "WITNESS", "SWEPT", "SEEN", "FRONT_FAR", "FRONT_FULL", "TESTS_BEFORE", "PLAIN_TESTS",
        "PAUSE", "HEAP", "HEAP_LEFT",
    ]  # fmt: skip
    places = [getattr(work_module, name) for name in names]
    assert len(set(places)) == len(places)
    assert max(places) < len(Workspace().counters)
    numbers = [work_module.BEST, *range(work_module.POINTS, work_module.POINTS + 6)]
    numbers += [
        getattr(work_module, name)
        for name in ("SLACK", "FRONT_REACH", "MOVED", "STEP", "CLEARANCE", "WIDENED", "STEPS")
    ]
    assert len(set(numbers)) == len(numbers)
    assert max(numbers) < len(Workspace().numbers)
