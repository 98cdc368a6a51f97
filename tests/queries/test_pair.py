"""Pair: whatever was asked before and however the bodies moved, every answer is the one from scratch."""

from __future__ import annotations

import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from numpy.typing import NDArray

import impinge
from impinge import Mesh, Pair
from impinge.lab.hard_input import random_pose
from impinge.lab.scenes.shapes import box, torus
from impinge.queries.methods import bvh

Floats = NDArray[np.float64]


def soup(triangles: Any) -> Mesh:
    flat = np.asarray(triangles, dtype=np.float64).reshape(-1, 3)
    return Mesh(flat, np.arange(len(flat)).reshape(-1, 3))


def through_one_point(n: int) -> Mesh:
    """Triangles that nearly all meet each other."""
    corner = np.random.default_rng(0).normal(size=(n, 2, 3))
    return soup(np.stack([corner[:, 0], -corner[:, 0] + 0.1 * corner[:, 1], corner[:, 1]], axis=1))


def surface(mesh: Mesh) -> Mesh:
    return Mesh(mesh.vertices, mesh.faces)


def centred(mesh: Mesh) -> Mesh:
    matrix = np.eye(4)
    matrix[:3, 3] = -mesh.bounds.mean(axis=0)
    return mesh.transformed(matrix)


LARGE, SMALL = centred(box(2, 2, 2)), centred(box(0.5, 0.5, 0.5))
RING = torus(1.0, 0.3, 12, 8)
BODIES: dict[str, tuple[Mesh, Mesh]] = {
    "boxes": (surface(LARGE), surface(SMALL)),
    "nested solids": (LARGE, SMALL),
    "small solid, large surface": (surface(LARGE), SMALL),
    "rings": (surface(RING), surface(RING)),
    "solid rings": (Mesh(RING.vertices, RING.faces, solid=True), SMALL),
    "triangles": (soup([[[0, 0, 0], [1, 0, 0], [0, 1, 0]]]), soup([[[0, 0, 0.1], [1, 0, 0.1], [0, 1, 0.2]]])),
    "soups": (
        soup(np.random.default_rng(1).normal(size=(30, 3, 3))),
        soup(np.random.default_rng(2).normal(size=(20, 3, 3))),
    ),
}


def shift(x: float, y: float = 0.0, z: float = 0.0) -> Floats:
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def small_turn(rng: np.random.Generator, size: float) -> Floats:
    """A rotation by about this angle."""
    vector = rng.normal(size=3)
    vector *= np.sin(size / 2) / np.linalg.norm(vector)
    w = np.sqrt(max(1.0 - vector @ vector, 0.0))
    x, y, z = vector
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def moved(pose: Floats, rng: np.random.Generator, step: float) -> Floats:
    new = pose.copy()
    left, _, right = np.linalg.svd(small_turn(rng, step) @ pose[:3, :3])  # stays a rotation, step by step
    new[:3, :3] = left @ right
    new[:3, 3] += rng.normal(size=3) * step
    return new


def contact_set(contacts: impinge.Contacts) -> list[tuple[Any, ...]]:
    columns = (contacts.pose, contacts.face_a, contacts.face_b, contacts.kind)
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    assert rows == sorted(rows)
    return [
        (*row, *segment) for row, segment in zip(rows, contacts.segments.ravel().reshape(-1, 6).tolist(), strict=True)
    ]


def check_distance(found: impinge.Distance, scratch: impinge.Distance) -> None:
    assert np.asarray(found.value).tobytes() == np.asarray(scratch.value).tobytes()
    gap = np.linalg.norm(np.asarray(found.point_a) - np.asarray(found.point_b), axis=-1)
    assert np.all(np.abs(gap - found.value) <= 1e-9 * (1.0 + np.abs(found.point_a).max(initial=0.0)))


def check_everything(pair: Pair, pose_a: Any, pose_b: Any, verbs: str = "vcdx", clearance: float = 0.1) -> None:
    """Ask some of the questions (v: collides, c: contacts, d: distance, x: closer_than)."""
    a, b = pair.a, pair.b
    for verb in verbs:
        if verb == "v":
            assert np.array_equal(pair.collides(pose_a, pose_b), impinge.collides(a, b, pose_a, pose_b))
        elif verb == "c":
            assert contact_set(pair.contacts(pose_a, pose_b)) == contact_set(impinge.contacts(a, b, pose_a, pose_b))
        elif verb == "d":
            check_distance(pair.distance(pose_a, pose_b), impinge.distance(a, b, pose_a, pose_b))
        else:
            expected = impinge.closer_than(a, b, clearance, pose_a, pose_b)
            assert np.array_equal(pair.closer_than(clearance, pose_a, pose_b), expected)


# ------------------------------------------------------------------------ any order at all


class PairMachine(RuleBasedStateMachine):
    """Random movements and questions, each compared with the answer from scratch."""

    @initialize(
        name=st.sampled_from(sorted(BODIES)), seed=st.integers(0, 2**32 - 1), front=st.sampled_from([1, 8, 1024])
    )
    def start(self, name: str, seed: int, front: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.pair = new_pair(*BODIES[name], front)
        self.poses = [random_pose(self.rng, 0.2), random_pose(self.rng, 0.8)]

    @rule(which=st.integers(0, 1), step=st.sampled_from([0.0, 1e-12, 1e-7, 1e-3, 0.01, 0.03, 0.1, 0.5]))
    def move(self, which: int, step: float) -> None:
        self.poses[which] = moved(self.poses[which], self.rng, step)

    @rule(which=st.integers(0, 1), far=st.sampled_from([0.5, 2.0, 20.0, 1e9]))
    def teleport(self, which: int, far: float) -> None:
        self.poses[which] = random_pose(self.rng, far)

    @rule()
    def move_both_alike(self) -> None:
        motion = random_pose(self.rng, 3.0)
        self.poses = [moved(motion @ pose, self.rng, 0.0) for pose in self.poses]

    @rule()
    def come_together(self) -> None:
        self.poses[1] = moved(self.poses[0], self.rng, 0.01)

    @rule()
    def collides(self) -> None:
        check_everything(self.pair, *self.poses, verbs="v")

    @rule()
    def contacts(self) -> None:
        check_everything(self.pair, *self.poses, verbs="c")

    @rule()
    def distance(self) -> None:
        check_everything(self.pair, *self.poses, verbs="d")

    @rule(clearance=st.sampled_from([0.0, 1e-9, 0.01, 0.3, 5.0]))
    def closer_than(self, clearance: float) -> None:
        check_everything(self.pair, *self.poses, verbs="x", clearance=clearance)

    @rule()
    def closer_than_exactly(self) -> None:
        value = float(impinge.distance(self.pair.a, self.pair.b, *self.poses).value)
        check_everything(self.pair, *self.poses, verbs="x", clearance=value)
        check_everything(self.pair, *self.poses, verbs="x", clearance=max(float(np.nextafter(value, -1.0)), 0.0))

    @rule(verb=st.sampled_from("vcdx"), step=st.sampled_from([0.0, 1e-3, 0.02]), count=st.integers(0, 6))
    def path(self, verb: str, step: float, count: int) -> None:
        path = [self.poses[1]]
        for _ in range(count):
            path.append(moved(path[-1], self.rng, step))
        self.poses[1] = path[-1]
        check_everything(self.pair, self.poses[0], np.array(path[1:]).reshape(-1, 4, 4), verbs=verb)

    @rule(most=st.integers(0, 3))
    def some_contacts(self, most: int) -> None:
        found = self.pair.contacts(*self.poses, max_contacts=most)
        everything = impinge.contacts(self.pair.a, self.pair.b, *self.poses)
        assert len(found) == min(most, len(everything))
        assert found.complete == (len(everything) <= most)
        assert set(contact_set(found)) <= set(contact_set(everything))

    @rule()
    def bad_pose(self) -> None:
        for verb in (self.pair.collides, self.pair.contacts, self.pair.distance):
            with pytest.raises(ValueError, match="pose_b"):
                verb(None, np.diag([1.0, 1.0, 2.0, 1.0]))

    @rule()
    def pickle(self) -> None:
        self.pair = pickle.loads(pickle.dumps(self.pair))

    @precondition(lambda self: hasattr(self, "pair"))
    @invariant()
    def counts_are_not_negative(self) -> None:
        counted = self.pair.statistics
        assert min(counted.box_tests, counted.triangle_tests, counted.contacts) >= 0


def new_pair(a: Mesh, b: Mesh, front: int) -> Pair:
    """A Pair whose front has this much room at first."""
    usual = bvh._FRONT
    bvh._FRONT = front
    try:
        return Pair(a, b)
    finally:
        bvh._FRONT = usual


TestPairMachine = PairMachine.TestCase
TestPairMachine.settings = settings(max_examples=60, stateful_step_count=25, deadline=None, derandomize=True)
TestPairMachine = pytest.mark.nojit_slow(TestPairMachine)


def test_a_few_steps_in_plain_python_too() -> None:
    pair = Pair(*BODIES["triangles"])
    for step in range(4):
        check_everything(pair, None, shift(0.0, 0.1 * step, -0.06 * step))


# ---------------------------------------------------------------------------------- paths


@pytest.mark.nojit_slow
@pytest.mark.parametrize("step", [1e-4, 1e-2, 0.1])
@pytest.mark.parametrize("name", BODIES)
def test_a_path_in_one_call_is_step_by_step_is_from_scratch(name: str, step: float) -> None:
    a, b = BODIES[name]
    rng = np.random.default_rng(5)
    path = [random_pose(rng, 0.5)]
    for _ in range(24):
        path.append(moved(path[-1], rng, step))
    poses = np.array(path)
    at_once, by_step = Pair(a, b), Pair(a, b)
    assert np.array_equal(at_once.collides(None, poses), impinge.collides(a, b, None, poses))
    assert [bool(by_step.collides(None, pose)) for pose in poses] == impinge.collides(a, b, None, poses).tolist()
    scratch = impinge.distance(a, b, None, poses)
    check_distance(at_once.distance(None, poses), scratch)
    assert [float(by_step.distance(None, pose).value) for pose in poses] == scratch.value.tolist()
    assert contact_set(at_once.contacts(None, poses)) == contact_set(impinge.contacts(a, b, None, poses))
    assert sum(len(by_step.contacts(None, pose)) for pose in poses) == len(impinge.contacts(a, b, None, poses))
    clearance = float(np.median(scratch.value))
    expected = impinge.closer_than(a, b, clearance, None, poses)
    assert np.array_equal(at_once.closer_than(clearance, None, poses), expected)
    assert [bool(by_step.closer_than(clearance, None, pose)) for pose in poses] == expected.tolist()


@pytest.mark.nojit_slow
def test_moving_slowly_through_a_touch() -> None:
    """Steps of single roundings around the place where a box lies on another."""
    a = BODIES["boxes"][0]
    pair = Pair(a, a)
    place = 2.0
    for _ in range(12):
        place = float(np.nextafter(place, 3.0))
    for _ in range(30):
        pose = shift(0.1, 0.2, place)
        check_everything(pair, None, pose, verbs="vd", clearance=place - 2.0 if place > 2.0 else 0.0)
        assert bool(pair.collides(None, pose)) == (place <= 2.0)
        place = float(np.nextafter(place, 0.0))


@pytest.mark.nojit_slow
def test_far_from_the_origin_and_back() -> None:
    """World coordinates that round coarsely in one pose, and finely in the next."""
    a, b = BODIES["rings"]
    pair = Pair(a, b)
    rng = np.random.default_rng(6)
    near = random_pose(rng, 0.8)
    for far in (0.0, 1e9, 0.0, 1e12, 1e12, 0.0, 1e15, 1e9, 0.0):
        for step in range(3):
            both = shift(far, -far, far)
            pose_b = moved(near, rng, 0.01 * step)
            pose_b[:3, 3] += both[:3, 3]
            check_everything(pair, both, pose_b)


@pytest.mark.nojit_slow
def test_a_teleport_costs_little_more_than_from_scratch() -> None:
    """A jump uses up all bounds of the front, and yet not everything is compared with everything."""
    ring = torus(1.0, 0.3, 48, 24)
    pair = Pair(ring, ring)
    for far in (5.0, 50.0, 1e4, 3.0):
        for ask in (pair.distance, pair.contacts, lambda a, b: pair.closer_than(1.0, a, b)):
            ask(None, shift(far, 0.3, 0.1))
            assert pair.statistics.triangle_tests < 0.2 * len(ring.faces) ** 2
            assert pair.statistics.box_tests < 0.2 * len(ring.faces) ** 2


# ---------------------------------------------------------------------- fronts and contacts


@pytest.mark.nojit_slow
@pytest.mark.parametrize("front", [1, 2, 50])
def test_a_front_without_room(front: int) -> None:
    a, b = BODIES["soups"]
    pair = new_pair(a, b, front)
    rng = np.random.default_rng(7)
    pose = random_pose(rng, 0.1)
    for _ in range(20):
        pose = moved(pose, rng, 0.01)
        check_everything(pair, None, pose)
    path = np.array([moved(pose, rng, 0.01 * i) for i in range(10)])
    check_everything(new_pair(a, b, front), None, path)


@pytest.mark.nojit_slow
def test_more_contacts_than_there_is_room_for() -> None:
    """Stopped in the middle while the front is being made, it must not be used."""
    a = through_one_point(200)
    pair = Pair(a, a)
    for step, most in enumerate([None, 3, None, 3, None, None, 3, 3, None]):
        pose = shift(1e-4 * step)
        found = pair.contacts(None, pose, max_contacts=most)
        scratch = impinge.contacts(a, a, None, pose, max_contacts=most)
        assert len(found) == len(scratch)
        assert found.complete == scratch.complete == (most is None)
        if most is None:
            assert len(scratch) > 1 << 14
            assert contact_set(found) == contact_set(scratch)
        assert pair.collides(None, pose)
        assert pair.distance(None, pose).value == 0.0


@pytest.mark.nojit_slow
@pytest.mark.parametrize("front", [8, 1 << 16])
def test_neither_room_for_the_front_nor_for_the_contacts(front: int) -> None:
    """The front is given up in the middle of a pose whose contacts are handed over in parts."""
    a = through_one_point(200)
    pair = new_pair(a, a, front)
    pair.closer_than(0.0, None, shift(9.0))
    pair.closer_than(0.0)
    path = np.array([shift(2e-4), shift(3e-4)])
    assert contact_set(pair.contacts(None, path)) == contact_set(impinge.contacts(a, a, None, path))


@pytest.mark.nojit_slow
@pytest.mark.parametrize("scale", [1e-300, 1e-162, 1e-100, 1e30])
def test_at_every_scale(scale: float) -> None:
    """Squares of tiny movements must not vanish."""
    ring = torus(1.0, 0.3, 12, 8)
    small = Mesh(ring.vertices * scale, ring.faces)
    pair = Pair(small, small)
    for x in np.linspace(4.0, 1.0, 30):
        check_everything(pair, None, shift(x * scale, 0.1 * scale, 0.2 * scale), clearance=0.5 * scale)


@pytest.mark.nojit_slow
def test_other_questions_while_contacts_are_streamed() -> None:
    a = through_one_point(200)
    pair = Pair(a, a)
    expected = len(impinge.contacts(a, a))
    found = 0
    for step, part in enumerate(impinge.contact_stream(a, a)):
        found += len(part)
        pair.contacts(None, shift(1e-3 * step))
        assert not impinge.collides(a, a, None, shift(100.0))
    assert found == expected > 1 << 14


# ------------------------------------------------------------------------------ statistics


@pytest.mark.nojit_slow
def test_what_is_remembered_saves_tests() -> None:
    ring = surface(torus(1.0, 0.3, 24, 16))
    path = np.array([shift(2.62 + 1e-5 * i, 0.01, 0.02) for i in range(40)])
    pair = Pair(ring, ring)
    assert pair.statistics == type(pair.statistics)(0, 0, 0)
    together = pair.distance(None, path)
    along = pair.statistics
    fresh = Pair(ring, ring)
    fresh.distance(None, path[:1])
    scratch = len(path) * fresh.statistics.box_tests
    assert (together.value > 0.0).all()
    assert 0 < along.box_tests < 0.3 * scratch
    pair.contacts(None, path)
    assert pair.statistics.contacts == 0
    inside = np.array([shift(0.5 + 1e-5 * i) for i in range(5)])
    assert pair.statistics.contacts == 0
    assert len(pair.contacts(None, inside)) == pair.statistics.contacts > 0


# -------------------------------------------------------------------- threads, copies, errors


@pytest.mark.nojit_slow
def test_two_threads_share_a_pair() -> None:
    a, b = BODIES["rings"]
    rng = np.random.default_rng(8)
    paths = []
    for _ in range(4):
        pose = random_pose(rng, 1.5)
        path = []
        for _ in range(40):
            pose = moved(pose, rng, 0.01)
            path.append(pose)
        paths.append(np.array(path))
    expected = [
        (
            impinge.collides(a, b, None, path),
            impinge.distance(a, b, None, path).value,
            impinge.contacts(a, b, None, path),
        )
        for path in paths
    ]
    fresh = Pair(Mesh(a.vertices, a.faces), Mesh(b.vertices, b.faces))
    together = threading.Barrier(4)

    def work(number: int) -> bool:
        together.wait()
        hits, values, contacts = expected[number]
        right = True
        for i, pose in enumerate(paths[number]):
            right &= bool(fresh.collides(None, pose) == hits[i])
            right &= bool(fresh.distance(None, pose).value == values[i])
        right &= contact_set(fresh.contacts(None, paths[number])) == contact_set(contacts)
        return right and np.array_equal(fresh.collides(None, paths[number]), hits)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))
    check_everything(fresh, None, paths[0][0])


@pytest.mark.nojit_slow
def test_a_workspace_that_is_taken_is_no_obstacle() -> None:
    """As if another thread were in the middle of a question."""
    pair = Pair(*BODIES["boxes"])
    memory = pair._memories.pop()
    check_everything(pair, None, shift(0.9))
    pair._memories.append(memory)
    check_everything(pair, None, shift(0.9))
    assert len(pair._memories) == 2  # one for each of those who asked at the same time


def test_copies_start_anew() -> None:
    pair = Pair(*BODIES["nested solids"])
    pair.collides(None, shift(0.1))
    for other in (copy.copy(pair), pickle.loads(pickle.dumps(pair))):
        assert other._memories[0] is not pair._memories[0]
        assert repr(other) == repr(pair)
        assert "solid" in repr(other)
        check_everything(other, None, shift(0.1), verbs="vd")
        check_everything(pair, None, shift(5.0), verbs="v")


def test_nested_solids() -> None:
    pair = Pair(*BODIES["nested solids"])
    for x, expected in ((0.0, True), (0.01, True), (0.5, True), (5.0, False), (0.5, True), (0.0, True)):
        assert bool(pair.collides(None, shift(x))) == expected
        assert (pair.distance(None, shift(x)).value == 0.0) == expected
        assert bool(pair.closer_than(0.0, None, shift(x))) == expected
        assert (pair.relation(None, shift(x)) == impinge.Relation.B_INSIDE_A) == expected
    assert len(pair.contacts(None, shift(0.0))) == 0


def test_results_have_the_shape_of_the_poses() -> None:
    pair = Pair(*BODIES["triangles"])
    poses = np.array([[shift(0.1 * i, 0.2 * j) for i in range(3)] for j in range(2)])
    assert pair.collides(None, poses).shape == (2, 3)
    assert pair.distance(poses, None).point_a.shape == (2, 3, 3)
    assert pair.closer_than(0.1, poses[:, :1], poses[0]).shape == (2, 3)
    assert pair.contacts(poses, poses).shape == (2, 3)
    assert type(pair.collides()) is np.bool_
    assert type(pair.closer_than(1.0)) is np.bool_
    assert pair.collides(np.empty((0, 4, 4))).shape == (0,)
    assert pair.distance(np.empty((0, 4, 4))).value.shape == (0,)
    assert len(pair.contacts(np.empty((0, 4, 4)))) == 0


def test_what_is_refused() -> None:
    a, b = BODIES["boxes"]
    with pytest.raises(ValueError, match="a: expected Mesh, ConvexHull or ConvexPieces, got str"):
        Pair("a", b)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="b: expected Mesh, ConvexHull or ConvexPieces, got ndarray"):
        Pair(a, a.vertices)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="method 'brute'"):
        Pair(a, b, method="brute")
    pair = Pair(a, b, method="obb")
    for bad in (-1, 1.5, True, "3"):
        with pytest.raises(ValueError, match="max_contacts"):
            pair.contacts(max_contacts=bad)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="clearance"):
        pair.closer_than(-1.0)
    with pytest.raises(ValueError, match="do not broadcast"):
        pair.collides(np.tile(np.eye(4), (2, 1, 1)), np.tile(np.eye(4), (3, 1, 1)))
    with pytest.raises(ValueError, match=r"pose_a\[0, 3\] is nan"):
        pair.collides(shift(np.nan))
    check_everything(pair, None, shift(0.9))  # unharmed
