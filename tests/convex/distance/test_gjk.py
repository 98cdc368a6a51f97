"""GJK in floats, by itself: whatever it decides is the truth of rational arithmetic, from any start, on hard polytopes.

That the exact finish behind it settles what is left undecided is tested in ``tests/convex/test_closest.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import NamedTuple

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from impinge.constants import UNIT_ROUNDOFF
from impinge.convex.distance import gjk as gjk_module
from impinge.convex.distance.gjk import UNDECIDED
from impinge.convex.distance.simplex import put_vertices
from impinge.convex.distance.support import pose_of
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.convex.hull.hull_handle import convex_body, hull_handle_of
from impinge.convex.workspace import (
    BOUND,
    CLOSER_THAN,
    COLLIDES,
    DISTANCE,
    GJK,
    ConvexWorkspace,
    work_at,
)
from impinge.geometry.answers import APART, MEETING
from impinge.geometry.pose import posed_vertices
from impinge.kernels.mode import without_compiler
from impinge.lab import convex_oracle
from impinge.lab.hard_polytopes import FAMILIES, UNDERFLOWING, Encounter
from impinge.lab.oracle import square_root

Floats = NDArray[np.float64]
Vector = tuple[Fraction, Fraction, Fraction]
STILL = np.eye(4)
CUBE = ConvexHull(list(product((-1.0, 1.0), repeat=3)))
POSES = 6
"""Of each encounter; of them the oracle tells the truth."""
MOST_VERTICES = 8
MOST_STEPS = 50
"""Far above what any of these bodies takes; a walk in circles would not end at all."""


def _gjk_from(address_a, address_b, address_work, vertex_a, vertex_b, question, limit):
    a, b, work = convex_body(address_a), convex_body(address_b), work_at(address_work)
    pose_a, pose_b = pose_of(work.poses_a, 0), pose_of(work.poses_b, 0)
    put_vertices(work, 0, a, b, pose_a, pose_b, vertex_a, vertex_b)
    work.kept.count = 1
    return gjk_module.gjk(work, a, b, pose_a, pose_b, question, limit)


# It has no entry from Python: here is one.
gjk_from = _gjk_from if without_compiler() else numba.njit(error_model="numpy")(_gjk_from)


class Ended(NamedTuple):
    """What GJK has found, and what it has left in its workspace."""

    found: int
    work: ConvexWorkspace
    pairs: list[tuple[int, int]]
    """The vertices of a and b at the corners of the simplex."""

    @property
    def lower(self) -> float:
        return float(self.work.lower)

    @property
    def plane(self) -> Floats:
        """The direction of the kept plane, in the frame of a."""
        assert self.work.kept.has_plane
        return np.array(self.work.kept.plane)


def ask(
    a: ConvexHull,
    b: ConvexHull,
    pose_a: Floats,
    pose_b: Floats,
    question: int = COLLIDES,
    limit: float = 0.0,
    start: tuple[int, int] = (0, 0),
) -> Ended:
    """Run GJK from one pair of vertices, and check its simplex, which is so whatever it finds."""
    work = ConvexWorkspace()
    work.need_room(max(len(a.vertices), len(b.vertices)))
    work.ask_single(question, GJK, ())
    work.poses[0], work.poses[1] = pose_a, pose_b
    found = gjk_from(hull_handle_of(a).address, hull_handle_of(b).address, work.address, *start, question, limit)
    count = int(work.kept.count)
    assert 1 <= work.steps <= MOST_STEPS
    assert 1 <= count <= (4 if found != APART else 3)
    ids_a, ids_b = work.kept.vertices_a[:count], work.kept.vertices_b[:count]
    pairs = list(zip(ids_a.tolist(), ids_b.tolist(), strict=True))
    assert len(set(pairs)) == count
    # The corners are posed vertices, bit for bit, and their differences.
    corners_a = posed_vertices(pose_a, a.vertices[ids_a])
    corners_b = posed_vertices(pose_b, b.vertices[ids_b])
    assert np.array_equal(work.corners_a[:count], corners_a)
    assert np.array_equal(work.corners_b[:count], corners_b)
    assert np.array_equal(work.corners[:count], corners_a - corners_b)
    return Ended(found, work, pairs)


def rational(points: Floats) -> list[Vector]:
    return [(Fraction(x), Fraction(y), Fraction(z)) for x, y, z in np.reshape(points, (-1, 3)).tolist()]


def minus(u: Vector, v: Vector) -> Vector:
    return u[0] - v[0], u[1] - v[1], u[2] - v[2]


def dot(u: Vector, v: Vector) -> Fraction:
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


def determinant(u: Vector, v: Vector, w: Vector) -> Fraction:
    across = (v[1] * w[2] - v[2] * w[1], v[2] * w[0] - v[0] * w[2], v[0] * w[1] - v[1] * w[0])
    return dot(u, across)


def separates(direction: Floats, world_a: Floats, world_b: Floats) -> bool:
    """Whether all of a lies farther along the direction than all of b, in rational numbers."""
    (d,) = rational(direction)
    return min(dot(d, p) for p in rational(world_a)) > max(dot(d, q) for q in rational(world_b))


def holds_the_origin(ended: Ended, world_a: Floats, world_b: Floats) -> bool:
    """Whether the exact tetrahedron of differences has the origin inside."""
    points_a, points_b = rational(world_a), rational(world_b)
    a, b, c, d = (minus(points_a[i], points_b[j]) for i, j in ended.pairs)
    signs = {s > 0 for s in (determinant(b, c, d), -determinant(a, c, d), determinant(a, b, d), -determinant(a, b, c))}
    return len(signs) == 1


def size_of(world_a: Floats, world_b: Floats) -> float:
    return float(np.linalg.norm(world_a, axis=1).max() + np.linalg.norm(world_b, axis=1).max())


def encounters(family: str, count: int) -> Iterator[Encounter]:
    make = {**FAMILIES, **UNDERFLOWING}[family]
    for number in range(count):
        yield make(np.random.default_rng([21, number]), POSES, MOST_VERTICES)


def starts(a: ConvexHull, b: ConvexHull, rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    """Some pairs of vertices to begin with."""
    for _ in range(3):
        yield int(rng.integers(len(a.vertices))), int(rng.integers(len(b.vertices)))


@pytest.mark.parametrize("family", [*FAMILIES, *UNDERFLOWING])
def test_what_is_decided_is_true_and_carries_its_proof(family: str) -> None:
    rng = np.random.default_rng(1)
    decided = {APART: 0, MEETING: 0, UNDECIDED: 0}
    for met in encounters(family, 8):
        for i in range(POSES):
            pose_a, pose_b = met.poses_a[i], met.poses_b[i]
            world_a, world_b = met.posed(i)
            truth = convex_oracle.nearest(world_a, world_b)
            for start in starts(met.a, met.b, rng):
                ended = ask(met.a, met.b, pose_a, pose_b, start=start)
                decided[ended.found] += 1
                if ended.found == APART:
                    assert truth.squared > 0
                    assert separates(pose_a[:3, :3] @ ended.plane, world_a, world_b)
                elif ended.found == MEETING:
                    assert truth.squared == 0
                    assert len(ended.pairs) == 4
                    assert holds_the_origin(ended, world_a, world_b)
                elif family in FAMILIES:
                    # Only where rounding decides: bodies that are well apart are never left to exact arithmetic.
                    assert square_root(truth.squared) <= 1e-10 * size_of(world_a, world_b)
    if family == "touching":  # up to some units in the last place
        assert decided[UNDECIDED] > 0
    else:
        assert decided[APART] > 0
    if family in ("random", "far away", "needles", "parallel"):
        assert decided[MEETING] > 0


@pytest.mark.parametrize("family", [*FAMILIES, *UNDERFLOWING])
def test_clearances_around_the_distance(family: str) -> None:
    rng = np.random.default_rng(2)
    for met in encounters(family, 3):
        for i in range(POSES):
            world_a, world_b = met.posed(i)
            squared = convex_oracle.squared_distance(world_a, world_b)
            value = square_root(squared)
            size = size_of(world_a, world_b)
            for limit in (0.0, value * 0.5, value * (1 - 1e-9), value, value * (1 + 1e-9), value * 2.0, size):
                (start,) = [*starts(met.a, met.b, rng)][:1]
                ended = ask(met.a, met.b, met.poses_a[i], met.poses_b[i], CLOSER_THAN, limit, start)
                if ended.found == APART:
                    assert squared > Fraction(limit) ** 2
                elif ended.found == MEETING:
                    assert squared <= Fraction(limit) ** 2
                elif family in FAMILIES:
                    assert abs(value - limit) <= 1e-8 * size


@pytest.mark.parametrize("family", FAMILIES)
def test_bounds_of_the_distance(family: str) -> None:
    """For a distance they end close together; a mere bound is near enough, or above the limit."""
    for met in encounters(family, 4):
        for i in range(POSES):
            pose_a, pose_b = met.poses_a[i], met.poses_b[i]
            world_a, world_b = met.posed(i)
            truth = convex_oracle.nearest(world_a, world_b)
            value, size = square_root(truth.squared), size_of(world_a, world_b)
            rounding = 128 * UNIT_ROUNDOFF * size
            ended = ask(met.a, met.b, pose_a, pose_b, DISTANCE)
            assert ended.found in (UNDECIDED, MEETING)  # a distance above zero is left to be measured
            assert ended.lower <= value + rounding
            if ended.found == MEETING:
                assert truth.squared == 0
                check_common_point(ended, world_a, world_b)
            elif value > 1e-10 * size:
                assert ended.lower >= value - 512 * UNIT_ROUNDOFF * size
                # The simplex is at the nearest points, up to rounding.
                corners_a = world_a[[p for p, _ in ended.pairs]]
                corners_b = world_b[[q for _, q in ended.pairs]]
                assert len(ended.pairs) <= 3
                assert square_root(nearest_of_corners(corners_a, corners_b)) <= value + 512 * UNIT_ROUNDOFF * size
            for limit in (0.0, value / 3.0, value * 1.5):
                bounded = ask(met.a, met.b, pose_a, pose_b, BOUND, limit)
                assert bounded.lower <= value + rounding
                if value > 1e-10 * size:
                    assert bounded.lower > limit or bounded.lower >= 0.875 * value - rounding


def nearest_of_corners(corners_a: Floats, corners_b: Floats) -> Fraction:
    """The squared distance of the origin from the simplex of differences (rounded by less than it is compared with)."""
    return convex_oracle.squared_distance(corners_a - corners_b, [[0.0, 0.0, 0.0]])


def check_common_point(ended: Ended, world_a: Floats, world_b: Floats) -> None:
    """The weights of a meeting name one point of both bodies, to two roundings."""
    weights = ended.work.weights
    corners_a = world_a[[p for p, _ in ended.pairs]]
    corners_b = world_b[[q for _, q in ended.pairs]]
    assert len(ended.pairs) == 4
    assert ended.work.value == 0.0
    assert (weights >= 0.0).all()
    assert weights.sum() == pytest.approx(1.0, abs=8 * UNIT_ROUNDOFF)
    largest = max(np.abs(corners_a).max(), np.abs(corners_b).max())
    assert np.abs(weights @ corners_a - weights @ corners_b).max() <= 16 * UNIT_ROUNDOFF * largest


# --------------------------------------------------------------------- by hand


def shifted(x: float, y: float = 0.0, z: float = 0.0) -> Floats:
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


CORNERS = list(product(range(8), repeat=2))


def test_two_points() -> None:
    """One difference is the whole simplex; a point on itself has no direction, and stays undecided."""
    point, other = ConvexHull([[1.0, 2.0, 3.0]]), ConvexHull([[1.0, -2.0, 0.0]])
    ended = ask(point, other, STILL, STILL)
    assert ended.found == APART
    assert ended.pairs == [(0, 0)]
    assert ended.work.steps == 1
    assert np.allclose(ended.plane, [0.0, 0.8, 0.6], rtol=1e-15)
    assert ask(point, other, STILL, STILL, CLOSER_THAN, 4.999).found == APART
    assert ask(point, other, STILL, STILL, CLOSER_THAN, 5.001).found == MEETING
    assert ask(point, other, STILL, STILL, CLOSER_THAN, 5.0).found == UNDECIDED
    for question in (COLLIDES, CLOSER_THAN, DISTANCE, BOUND):
        assert ask(point, point, STILL, STILL, question).found == UNDECIDED


@pytest.mark.parametrize("start", CORNERS[::9] + CORNERS[5::17])
def test_a_point_and_a_cube(start: tuple[int, int]) -> None:
    """Beside a face, an edge, a corner: the simplex has no more corners than these need."""
    point = ConvexHull([[0.0, 0.0, 0.0]])
    for at, most, squared in (((3.0, 0.25, 0.5), 3, 4), ((3.0, 3.0, 0.25), 2, 8), ((3.0, 3.0, 3.0), 1, 12)):
        ended = ask(CUBE, point, STILL, shifted(*at), DISTANCE, start=(start[0], 0))
        assert ended.found == UNDECIDED
        assert len(ended.pairs) <= most
        assert ended.lower == pytest.approx(squared**0.5, rel=1e-14)
        assert ask(CUBE, point, STILL, shifted(*at), start=(start[0], 0)).found == APART
    inside = ask(CUBE, point, STILL, shifted(0.25, 0.125, -0.5), start=(start[0], 0))
    assert inside.found == MEETING
    assert holds_the_origin(inside, CUBE.vertices, np.array([[0.25, 0.125, -0.5]]))


@pytest.mark.parametrize("start", CORNERS[::9] + CORNERS[5::17])
def test_touching_is_never_apart_and_one_ulp_more_is_never_meeting(start: tuple[int, int]) -> None:
    for touch in ((2.0, 0.0, 0.0), (2.0, 0.5, -0.25), (2.0, 2.0, 0.5), (2.0, 2.0, 2.0)):
        assert ask(CUBE, CUBE, STILL, shifted(*touch), start=start).found != APART
        assert ask(CUBE, CUBE, STILL, shifted(*touch), CLOSER_THAN, 0.0, start).found != APART
        farther = (np.nextafter(touch[0], 3.0), *touch[1:])
        assert ask(CUBE, CUBE, STILL, shifted(*farther), start=start).found != MEETING
        assert ask(CUBE, CUBE, STILL, shifted(touch[0] + 1e-12, *touch[1:]), start=start).found == APART


@pytest.mark.parametrize("start", CORNERS[::9] + CORNERS[5::17])
@pytest.mark.parametrize("scale", [1.0, 2.0**-20, 1e-9, 1e-100, 2.0**40])
def test_nested_bodies_meet(start: tuple[int, int], scale: float) -> None:
    """However small the inner one is: the tetrahedron around the origin is one of the outer body's."""
    rng = np.random.default_rng(3)
    inner = ConvexHull(rng.normal(size=(8, 3)) * 0.1 * min(scale, 1.0))
    outer = ConvexHull(CUBE.vertices * max(scale, 1.0))
    start = (start[0], start[1] % len(inner.vertices))
    pose = shifted(*(np.array([0.3, -0.2, 0.1]) * max(scale, 1.0)))
    for one, other, poses, begin in (
        (outer, inner, (STILL, pose), start),
        (inner, outer, (pose, STILL), start[::-1]),
    ):
        ended = ask(one, other, *poses, start=begin)
        assert ended.found == MEETING
        world = [posed_vertices(p, hull.vertices) for p, hull in zip(poses, (one, other), strict=True)]
        assert holds_the_origin(ended, *world)
        nearest = ask(one, other, *poses, DISTANCE, start=begin)
        assert nearest.found in (MEETING, UNDECIDED)
        if nearest.found == MEETING:
            check_common_point(nearest, *world)


def test_the_same_from_every_start() -> None:
    """All pairs of corners of two cubes lead to the same answers."""
    for offset, expected in ((2.5, APART), (0.5, MEETING)):
        found = {ask(CUBE, CUBE, STILL, shifted(offset, 0.3, 0.2), start=start).found for start in CORNERS}
        assert found == {expected}


def test_twice_the_same_bits() -> None:
    met = next(encounters("random", 1))
    for i in range(POSES):
        first, second = (ask(met.a, met.b, met.poses_a[i], met.poses_b[i], DISTANCE) for _ in range(2))
        assert bytes(first.work.kept) == bytes(second.work.kept)
        for name in ("corners", "corners_a", "corners_b", "weights", "value", "lower", "steps"):
            assert np.array_equal(getattr(first.work, name), getattr(second.work, name)), name
