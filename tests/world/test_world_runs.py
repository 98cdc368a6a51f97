"""Worlds of every kind along seeded motions, against brute force over all triangles of all pairs of objects."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pytest

import impinge
from impinge import ConvexHull, Frame, Mesh, World
from impinge.arrays import Floats
from impinge.geometry.pose import posed_vertices
from impinge.lab import oracle
from impinge.lab.hard_input import EXACT_ROTATIONS
from impinge.lab.scenes import chain, combs, hollows
from impinge.lab.scenes.poses import poses, random_turns, turns
from impinge.lab.scenes.shapes import box

QUERIES = ("collides", "contacts", "closer_than", "distance")
HULLS = ("auto", None, "gjk", "vclip", "lin-canny")
BROAD_PHASES = ("auto", "tree", "sweep", "hash", "hash-standard", "brute")
SETTINGS = tuple((HULLS[i % 5], BROAD_PHASES[i]) for i in range(6))
TOOTH = 2.0**-2


def sized(mesh: Mesh, size: float, solid: bool = True) -> Mesh:
    return Mesh(mesh.vertices * size, mesh.faces, solid=solid)


def soup() -> Mesh:
    """Triangles through each other, one without area and one twice."""
    rng = np.random.default_rng(5)
    corners = rng.integers(-4, 5, size=(7, 3, 3)) * 0.25
    corners[5, 2] = corners[5, 1]
    corners[6] = corners[0]
    return Mesh(corners.reshape(-1, 3), np.arange(21).reshape(7, 3))


def open_mesh() -> Mesh:
    """The lower half of a golf ball, with a wide opening."""
    ball = hollows.golf_ball(1)
    below = ball.vertices[ball.faces].mean(axis=1)[:, 2] < 0.3
    return Mesh(ball.vertices, ball.faces[below])


def models(scale: float = 1.0) -> list[Any]:
    """About as large as two units each, times a scale."""
    bodies: list[Any] = [
        sized(hollows.golf_ball(1), scale),
        sized(hollows.nested_shells(2, sides=8), 0.25 * scale),
        sized(hollows.spool(sides=8), 0.25 * scale),
        sized(combs.comb(3), TOOTH * scale),
        sized(combs.comb(3), TOOTH * scale),
        sized(chain.ring(), 0.75 * scale),
        sized(chain.ring(), 0.75 * scale, solid=False),
        sized(box(1, 1, 1), scale),
        sized(box(0.25, 0.25, 0.25), scale),
        sized(open_mesh(), scale, solid=False),
        sized(soup(), scale, solid=False),
        sized(box(1, 1, 2), scale, solid=False),
    ]
    return [*bodies, ConvexHull(bodies[0])]


class Motion:
    """Small steps of all or of some; now and then a jump, a step onto a grid, where faces touch, or none at all."""

    def __init__(self, seed: int, count: int, scale: float, middle: float) -> None:
        self._rng = np.random.default_rng(seed)
        self._scale, self._middle = scale, middle
        self._room = 1.1 * count ** (1.0 / 3.0)
        self.poses = np.stack([self._anywhere() for _ in range(count)])
        # Combs 3 and 4 are pushed into each other.
        self.poses[3:5] = np.eye(4), combs.crossing(3)
        self.poses[3:5, :3, 3] = self.poses[3:5, :3, 3] * (TOOTH * scale) + middle

    def _anywhere(self) -> Floats:
        place = self._rng.uniform(0.0, self._room, size=3)
        return poses(random_turns(self._rng, 1)[0], place * self._scale + self._middle)

    def _on_the_grid(self) -> Floats:
        place = self._rng.integers(0, 4, size=3) * 0.5
        return poses(EXACT_ROTATIONS[self._rng.integers(24)], place * self._scale + self._middle)

    def step(self) -> None:
        rng = self._rng
        kind = rng.integers(12)
        if kind == 0:
            return
        if kind in (1, 2, 3):
            self.poses[rng.integers(len(self.poses))] = self._anywhere() if kind == 1 else self._on_the_grid()
            return
        moves = rng.random(len(self.poses)) < (0.15 if kind < 9 else 1.0)
        count = int(np.count_nonzero(moves))
        size = 10.0 ** rng.uniform(-6.0, -1.0)
        self.poses[moves, :3, :3] = turns(size * rng.normal(size=(count, 3))) @ self.poses[moves, :3, :3]
        self.poses[moves, :3, 3] += 0.3 * size * self._scale * rng.normal(size=(count, 3))
        if rng.random() < 0.05:  # products of many turns are no turns any more
            left, _, right = np.linalg.svd(self.poses[:, :3, :3])
            self.poses[:, :3, :3] = left @ right


class Answer(NamedTuple):
    """What all triangles of two objects say."""

    pose_a: Floats
    pose_b: Floats
    collides: bool
    closer_than: bool
    contacts: impinge.Contacts
    distance: float


class Reference:
    """Brute force; pairs of which neither object moved are not asked again."""

    def __init__(self, bodies: list[Any], clearance: float) -> None:
        self._bodies, self._clearance = bodies, clearance
        self.answers: dict[tuple[int, int], Answer] = {}

    def update(self, placed: Floats) -> None:
        for a, b in combinations(range(len(self._bodies)), 2):
            known = self.answers.get((a, b))
            if known is None or (known.pose_a != placed[a]).any() or (known.pose_b != placed[b]).any():
                self.answers[a, b] = self._asked(self._bodies[a], self._bodies[b], placed[a].copy(), placed[b].copy())

    def _asked(self, a: Any, b: Any, pose_a: Floats, pose_b: Floats) -> Answer:
        given = a, b, pose_a, pose_b
        return Answer(
            pose_a,
            pose_b,
            bool(impinge.collides(*given, method="brute")),
            bool(impinge.closer_than(a, b, self._clearance, pose_a, pose_b, method="brute")),
            impinge.contacts(*given, method="brute"),
            float(impinge.distance(*given, method="brute").value),
        )


def assert_right(frame: Frame, answers: dict[tuple[int, int], Answer]) -> None:
    """All that a frame says."""
    found = [(a, b) for a, b in frame.pairs.tolist()]
    if frame.query == "distance":
        assert found == list(answers)
        assert frame.distance is not None
        values = np.array([answer.distance for answer in answers.values()])
        assert np.array_equal(frame.distance.value, values)
        gap = np.linalg.norm(frame.distance.point_a - frame.distance.point_b, axis=1)
        size = max(float(np.abs(answer.pose_a[:3, 3]).max()) for answer in answers.values())
        assert np.allclose(gap, values, rtol=1e-12, atol=1e-14 * size)
        return
    if frame.query == "closer_than":
        assert found == [pair for pair, answer in answers.items() if answer.closer_than]
        return
    assert found == [pair for pair, answer in answers.items() if answer.collides]
    if frame.query == "contacts":
        assert frame.contacts is not None
        for name in ("face_a", "face_b", "kind", "segments", "normal"):
            expected = [getattr(answers[pair].contacts, name) for pair in found]
            empty = getattr(frame.contacts, name)[:0]
            assert np.array_equal(getattr(frame.contacts, name), np.concatenate([empty, *expected])), name
        counts = [len(answers[pair].contacts) for pair in found]
        assert np.array_equal(frame.contacts.pose, np.repeat(np.arange(len(found)), counts))


def assert_changes(frame: Frame, last: set[tuple[int, int]]) -> set[tuple[int, int]]:
    now = {(a, b) for a, b in frame.pairs.tolist()}
    for pairs, expected in ((frame.began, now - last), (frame.ended, last - now), (frame.persist, now & last)):
        assert [(a, b) for a, b in pairs.tolist()] == sorted(expected)
    return now


def run(
    frames: int,
    seed: int,
    settings: tuple[tuple[str | None, str], ...] = SETTINGS,
    scale: float = 1.0,
    middle: float = 0.0,
    which: slice = slice(None),
) -> int:
    """Worlds with these settings, frame by frame; returns how often a pair changed its answer."""
    bodies, motion = models(scale), Motion(seed, len(models()), scale, middle)
    bodies, placed = bodies[which], motion.poses[which]
    clearance = 0.1 * scale
    reference = Reference(bodies, clearance)
    worlds = [World(broadphase, clearance=clearance, hulls=hulls) for hulls, broadphase in settings]
    last: dict[tuple[int, str], set[tuple[int, int]]] = {}
    changes = 0
    for world in worlds:
        for body, pose in zip(bodies, placed, strict=True):
            world.add(body, pose)
    for number in range(frames):
        reference.update(placed)
        for i, world in enumerate(worlds):
            world.set_poses(placed)
            # Each query has its own memory, with gaps of its own.
            for query in QUERIES[number % 3 :: 2] if number % 5 else QUERIES:
                frame = world.detect(query)
                assert_right(frame, reference.answers)
                last[i, query] = assert_changes(frame, last.get((i, query), set()))
                changes += len(frame.began) + len(frame.ended)
        motion.step()
        placed = motion.poses[which]
    return changes


@pytest.mark.nojit_slow
@pytest.mark.parametrize("seed", [1, 2])
def test_all_models(seed: int) -> None:
    assert run(25, seed) > 100


@pytest.mark.nojit_slow
@pytest.mark.parametrize(
    ("scale", "middle"), [(1.0, 1e6), (1.0, 2.0**40), (2.0**-100, 0.0), (2.0**100, 0.0), (1e-9, 1.0), (1e9, -1e12)]
)
def test_far_tiny_and_huge(scale: float, middle: float) -> None:
    assert run(12, 3, scale=scale, middle=middle) > 50


@pytest.mark.nojit_slow
@pytest.mark.parametrize("broadphase", BROAD_PHASES)
def test_every_broad_phase_with_all_hulls(broadphase: str) -> None:
    assert run(12, 4, tuple((hulls, broadphase) for hulls in HULLS), which=slice(1, 10)) > 50


def test_a_few_frames_of_few_models() -> None:
    """For plain Python too."""
    assert run(4, 5, tuple((hulls, "auto") for hulls in HULLS), which=slice(7, 13)) > 0


@pytest.mark.long
@pytest.mark.parametrize("seed", [11, 12])
def test_thousands_of_frames(seed: int) -> None:
    """At least 2,000 frames of every way to compare hulls, and 1,000 of every broad phase."""
    assert run(1000, seed, SETTINGS) > 1000
    assert run(1000, seed + 100, tuple((hulls, "auto") for hulls in HULLS)) > 1000


@pytest.mark.long
@pytest.mark.parametrize(("scale", "middle"), [(1.0, 2.0**40), (2.0**-100, 0.0), (2.0**100, 0.0), (1e-9, 1.0)])
def test_hundreds_of_frames_far_tiny_and_huge(scale: float, middle: float) -> None:
    assert run(500, 13, tuple((hulls, "auto") for hulls in HULLS), scale, middle) > 1000


@pytest.mark.nojit_slow
def test_named_faces_are_at_the_distance() -> None:
    """By rational arithmetic: the two faces that a frame names are exactly as far apart as it says."""
    bodies, motion = models(), Motion(6, len(models()), 1.0, 0.0)
    worlds = [World(hulls=hulls) for hulls in HULLS]
    for world in worlds:
        for body, pose in zip(bodies, motion.poses, strict=True):
            world.add(body, pose)
    for _ in range(3):
        for world in worlds:
            world.set_poses(motion.poses)
            frame = world.detect("distance", within=0.5)
            assert frame.distance is not None
            for i, (a, b) in enumerate(frame.pairs.tolist()):
                faces = int(frame.distance.face_a[i]), int(frame.distance.face_b[i])
                if min(faces) < 0 or any(isinstance(bodies[each], ConvexHull) for each in (a, b)):
                    continue  # nested, or a face of a hull, which may have more corners
                corners = [
                    posed_vertices(motion.poses[each], bodies[each].vertices[bodies[each].faces[face]])
                    for each, face in zip((a, b), faces, strict=True)
                ]
                assert frame.distance.value[i] == pytest.approx(oracle.distance_float(*corners), rel=1e-14, abs=1e-15)
        motion.step()
