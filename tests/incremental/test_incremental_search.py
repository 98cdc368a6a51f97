"""The incremental method against all pairs: any soup, any motion, any hierarchy; and what is kept between frames."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba.core import config
from numpy.typing import NDArray

from impinge import ConvexHull, Mesh
from impinge.bvh.answers import APART, FAR_APART, MEETING
from impinge.incremental.frame_memory import Memory
from impinge.incremental.hierarchy.options import FACES, KINDS, UPDATES, Hierarchy
from impinge.incremental.incremental_search import IncrementalSearch, SweepStatistics, hierarchy_of
from impinge.incremental.regions.dual_region import DualRegion
from impinge.incremental.regions.penetration_region import PenetrationRegion
from impinge.lab.hard_input import FAMILIES, quarter_turn, random_pose, triangle_pairs
from impinge.lab.scenes.shapes import box, torus
from impinge.mesh.mesh import Mesh as AnyMesh
from impinge.queries.methods.brute_force import BruteForce

Floats = NDArray[np.float64]
OPTIONS = [
    Hierarchy(kind, ((3, 2, 2), (2, 2, 2)), levels=3, threshold=1, faces=faces, update=update)
    for kind, faces, update in itertools.product(KINDS, FACES, UPDATES)
] + [Hierarchy(levels=0), Hierarchy()]


def searches(a: AnyMesh, b: AnyMesh, options: Hierarchy | None = None) -> tuple[IncrementalSearch, Memory, BruteForce]:
    first, second = hierarchy_of(a, options), hierarchy_of(b, options)
    memory = Memory(first, second)
    return IncrementalSearch(first, second, memory), memory, BruteForce(a, b)


def check(search: IncrementalSearch, brute: BruteForce, pose_a: Floats, pose_b: Floats) -> int:
    """Every question, compared; returns the number of contacts."""
    poses = pose_a[None], pose_b[None]
    expected = brute.meeting_pairs(*poses)
    assert np.array_equal(search.contact_pairs(*poses), expected)
    assert (search.collides(*poses)[0] == MEETING) == (len(expected) > 0)
    value, points, faces = search.distance(*poses)
    true_value, true_points, true_faces, _ = brute.nearest_pairs(*poses)
    assert np.array_equal(value, true_value)
    assert np.array_equal(faces, true_faces)
    if value > 0.0:
        assert np.array_equal(points, true_points)
    for clearance in (0.0, float(value[0]), float(np.nextafter(value[0], 0.0)), 0.1):
        assert search.closer_than(clearance, *poses)[0] == brute.surfaces_within(clearance, *poses)[0]
    return len(expected)


def moved(pose: Floats, rng: np.random.Generator, step: float) -> Floats:
    there = pose.copy()
    there[:3, 3] += rng.normal(size=3) * step
    if step:
        turn = random_pose(rng, 0.0)
        angle = rng.normal() * step
        skew = np.cross(np.eye(3), turn[:3, 0])
        there[:3, :3] = (np.eye(3) + np.sin(angle) * skew + (1.0 - np.cos(angle)) * skew @ skew) @ there[:3, :3]
    return there


@given(seed=st.integers(0, 2**32 - 1), which=st.integers(0, len(OPTIONS) - 1))
def test_any_soup_along_any_path(seed: int, which: int) -> None:
    rng = np.random.default_rng(seed)
    most = 4 if config.DISABLE_JIT else 12
    a, b = triangle_pairs(rng, int(rng.integers(1, most)), str(rng.choice(list(FAMILIES))))
    meshes = [Mesh(t.reshape(-1, 3), np.arange(3 * len(t)).reshape(-1, 3)) for t in (a, b)]
    search, _, brute = searches(*meshes, OPTIONS[which])
    pose_a, pose_b = (
        [np.eye(4), quarter_turn(rng, 1), random_pose(rng, 0.5)][rng.integers(3)].copy() for _ in range(2)
    )
    far = rng.choice([0.0, 1e15], size=3, p=[0.9, 0.1])
    pose_a[:3, 3] += far
    pose_b[:3, 3] += far
    for step in rng.choice([0.0, 1e-9, 0.01, 0.3], size=3):
        check(search, brute, pose_a, pose_b)
        pose_b = moved(pose_b, rng, step)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("options", OPTIONS, ids=repr)
def test_interlocked_rings_along_a_path(options: Hierarchy) -> None:
    ring = torus(1.0, 0.3, 16, 8)
    search, _, brute = searches(ring, ring, options)
    rng = np.random.default_rng(5)
    pose_a, pose_b = random_pose(rng, 0.0), random_pose(rng, 0.0)
    pose_b[:3, 3] = 0.9, 0.1, 0.0
    total = 0
    for frame in range(140):
        if frame % 20 == 19:
            pose_b = random_pose(rng, 1.2)  # teleported
        pose_a, pose_b = moved(pose_a, rng, 0.01), moved(pose_b, rng, 0.02)
        if frame % 7 == 0:
            total += check(search, brute, pose_a, pose_b)
        else:
            poses = pose_a[None], pose_b[None]
            assert np.array_equal(search.contact_pairs(*poses), brute.meeting_pairs(*poses))
    assert total > 50


@pytest.mark.nojit_slow
@pytest.mark.parametrize("way", [PenetrationRegion, DualRegion])
def test_regions_lose_nothing(way: type) -> None:
    """Rings that interlock, touch, part and are nested in their hulls."""
    ring, ball = torus(1.0, 0.3, 16, 8), box(0.4, 0.4, 0.4)
    rng = np.random.default_rng(11)
    for a, b, reach in ((ring, ring, 1.2), (ring, ball, 1.0)):
        first, second = hierarchy_of(a), hierarchy_of(b)
        regions = way(ConvexHull(a), ConvexHull(b))
        search = IncrementalSearch(first, second, Memory(first, second), regions)
        brute = BruteForce(a, b)
        pose_a, pose_b = np.eye(4), np.eye(4)
        met = 0
        for frame in range(60):
            pose_b = random_pose(rng, reach) if frame % 6 == 0 else moved(pose_b, rng, 0.03)
            met += check(search, brute, pose_a, pose_b) > 0
        assert met > 10
        poses = np.array([random_pose(rng, reach) for _ in range(5)])
        stay = np.broadcast_to(np.eye(4), (5, 4, 4))
        assert np.array_equal(search.contact_pairs(stay, poses), brute.meeting_pairs(stay.copy(), poses))


@pytest.mark.nojit_slow
def test_batches_are_the_same_as_single_poses() -> None:
    cube, small = box(1, 1, 1), Mesh(box(1, 1, 1).vertices * 0.6, box(1, 1, 1).faces)
    a, b = hierarchy_of(cube), hierarchy_of(small)
    rng = np.random.default_rng(7)
    poses_a, poses_b = (np.array([random_pose(rng, 0.8) for _ in range(12)]) for _ in range(2))
    for search in (IncrementalSearch(a, b), IncrementalSearch(a, b, Memory(a, b))):
        pairs = search.contact_pairs(poses_a, poses_b)
        assert np.array_equal(pairs, BruteForce(cube, small).meeting_pairs(poses_a, poses_b))
        assert np.array_equal(search.contact_pairs(poses_a, poses_b, 3), pairs[:4])
        values = search.distance(poses_a, poses_b)[0]
        near = search.closer_than(0.2, poses_a, poses_b)
        for i in range(len(poses_a)):
            assert values[i] == search.distance(poses_a[i : i + 1], poses_b[i : i + 1])[0][0]
            assert near[i] == search.closer_than(0.2, poses_a[i : i + 1], poses_b[i : i + 1])[0]
        assert len(search.contact_pairs(poses_a[:0], poses_b[:0])) == 0
        assert len(search.distance(poses_a[:0], poses_b[:0])[0]) == 0
        assert len(search.collides(poses_a[:0], poses_b[:0])) == 0


# ------------------------------------------------------------------------- what is kept


@pytest.mark.nojit_slow
def test_lists_follow_what_interacts() -> None:
    """Nothing is exchanged where nothing moves, little for little motion, and lists go when boxes part."""
    ring = torus(1.0, 0.3, 16, 8)
    search, memory, _ = searches(ring, ring, Hierarchy(levels=3, threshold=4))
    pose_a = np.eye(4)[None]
    pose_b = np.array([[1, 0, 0, 0.9], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1.0]])[None]
    search.contact_pairs(pose_a, pose_b)
    first = search.statistics
    assert isinstance(first, SweepStatistics)
    assert first.kept_pairs > 4
    search.contact_pairs(pose_a, pose_b)
    assert search.statistics.exchanges == 0
    assert search.statistics.kept_pairs == first.kept_pairs
    near = moved(pose_b[0], np.random.default_rng(1), 0.05)[None]
    search.contact_pairs(pose_a, near)
    assert 0 < search.statistics.exchanges < memory.frames.before.items
    away = pose_b.copy()
    away[0, 0, 3] = 9.0
    assert search.collides(pose_a, away)[0] == FAR_APART
    assert search.statistics.kept_pairs == 0
    assert memory.kept_bytes == 0


@pytest.mark.nojit_slow
def test_rooms_grow_and_nothing_is_lost() -> None:
    """More pairs of nodes, items, contacts and open pairs than there is room for at first."""
    cube = box(1, 1, 1)
    many = Mesh(np.tile(cube.vertices, (12, 1)), np.concatenate([cube.faces + 8 * i for i in range(12)]))
    for options in (Hierarchy(levels=0), Hierarchy(threshold=0, levels=3)):
        search, memory, brute = searches(many, many, options)
        memory._make_lists(4, 8)
        poses = np.eye(4)[None], np.eye(4)[None]
        pairs = search.contact_pairs(*poses)
        assert np.array_equal(pairs, brute.meeting_pairs(*poses))
        assert len(pairs) > 10_000
        apart = poses[1].copy()
        apart[0, 0, 3] = 1.5
        assert search.distance(poses[0], apart)[0][0] == 0.5


@pytest.mark.nojit_slow
def test_a_cut_set_of_contacts_takes_no_more_room() -> None:
    """All faces of a fan meet those of another one at the common vertex."""
    corners = np.column_stack([np.cos(np.arange(201) / 32.0), np.sin(np.arange(201) / 32.0), np.ones(201)])
    faces = np.column_stack([np.zeros(200), np.arange(1, 201), np.arange(2, 202)]).astype(int)
    fan = Mesh(np.concatenate([np.zeros((1, 3)), corners]), faces)
    search, memory, brute = searches(fan, fan)
    poses = np.tile(np.eye(4), (3, 1, 1))
    poses[0, 2, 3] = 5.0
    everything = {tuple(row) for row in brute.meeting_pairs(poses, np.tile(np.eye(4), (3, 1, 1))).tolist()}
    assert len(everything) == 2 * 200 * 200
    found = search.contact_pairs(poses, np.tile(np.eye(4), (3, 1, 1)), most=10)
    assert len(found) == 11
    assert {tuple(row) for row in found.tolist()} <= everything
    assert memory.room_for_contacts == 1024
    found = search.contact_pairs(poses, np.tile(np.eye(4), (3, 1, 1)), most=50_000)
    assert len({tuple(row) for row in found.tolist()} & everything) == 50_001
    # What was needed once is given back.
    for _ in range(8):
        assert len(search.contact_pairs(poses[:1], np.eye(4)[None])) == 0
    assert memory.room_for_contacts == 1024
    assert memory.room_for_pairs == 64


@pytest.mark.nojit_slow
def test_no_kernel_uses_room_that_was_not_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    ring = torus(1.0, 0.3, 32, 16)
    search, memory, brute = searches(ring, ring)
    poses = np.eye(4)[None], np.eye(4)[None]
    expected = brute.meeting_pairs(*poses)

    def fail(*arguments: object, **options: object) -> None:
        raise MemoryError

    for name in ("full", "concatenate"):  # the last array of more lists; more contacts
        with monkeypatch.context() as broken:
            broken.setattr(np, name, fail)
            with pytest.raises(MemoryError):
                search.contact_pairs(*poses)
        frames = memory.frames
        assert frames.n_slots == 4 * frames.n_pairs
        assert (frames.now.first_pair, frames.now.first_item) == (memory.room_for_pairs, memory.room_for_items)
        assert frames.now.first_slot == frames.n_slots // 2
    assert np.array_equal(search.contact_pairs(*poses), expected)


def test_answers_of_collides() -> None:
    cube = box(1, 1, 1)
    search, _, _ = searches(cube, Mesh(cube.vertices * 0.25 + 0.375, cube.faces), Hierarchy())
    stay, away = np.eye(4)[None], np.eye(4)[None].copy()
    assert search.collides(stay, stay)[0] == APART  # nested surfaces
    away[0, 0, 3] = 0.375
    assert search.collides(stay, away)[0] == MEETING
    assert search.statistics.contacts == 1
    assert search.collides(stay, away)[0] == MEETING
    assert search.statistics.triangle_tests == 1  # the witness
    away[0, 0, 3] = 5.0
    assert search.collides(stay, away)[0] == FAR_APART


@pytest.mark.nojit_slow
def test_only_what_is_below_the_start_is_looked_at() -> None:
    """Two long combs that touch at one end: the other ends cost nothing."""
    row = np.concatenate([box(1, 1, 1).vertices + [2.0 * i, 0.0, 0.0] for i in range(64)])
    faces = np.concatenate([box(1, 1, 1).faces + 8 * i for i in range(64)])
    comb = Mesh(row, faces)
    search, memory, brute = searches(comb, comb, Hierarchy(cuts=((2, 1, 1),), threshold=4))
    end = np.eye(4)[None].copy()
    end[0, 0, 3] = 126.5
    assert np.array_equal(search.contact_pairs(np.eye(4)[None], end), brute.meeting_pairs(np.eye(4)[None], end))
    assert search.statistics.box_tests < 4_000  # of 768 * 768
    start_a, start_b = memory.frames.start_a, memory.frames.start_b
    hierarchy = hierarchy_of(comb, Hierarchy(cuts=((2, 1, 1),), threshold=4))
    assert hierarchy.radii[start_a] < 8.0
    assert hierarchy.radii[start_b] < 8.0
    # At the other end it starts anew, by climbing.
    end[0, 0, 3] = -126.5
    assert np.array_equal(search.contact_pairs(np.eye(4)[None], end), brute.meeting_pairs(np.eye(4)[None], end))
    assert memory.frames.start_a != start_a
