"""Every method against the rational oracle: random, touching, parallel, needles, flat and degenerate bodies, at every
scale; yes and no exact, distances correctly rounded."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from impinge.convex.hull.convex_hull import ConvexHull
from impinge.convex.search import METHODS, ConvexSearch
from impinge.convex.workspace import ConvexWorkspace
from impinge.geometry.pose import posed_vertices
from impinge.lab import convex_oracle
from impinge.lab.hard_polytopes import UNDERFLOWING
from impinge.lab.oracle import square_root

Floats = NDArray[np.float64]
CUBE = ConvexHull([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
Memory = dict[str, ConvexWorkspace]


def memory() -> Memory:
    """What each method remembers along a path."""
    return {method: ConvexWorkspace(coherent=True) for method in METHODS}


def pose(rotation: Floats | None = None, translation: Floats | tuple[float, ...] = (0.0, 0.0, 0.0)) -> Floats:
    matrix = np.eye(4)
    matrix[:3, :3] = np.eye(3) if rotation is None else rotation
    matrix[:3, 3] = translation
    return matrix


def random_rotation(rng: np.random.Generator) -> Floats:
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return q * np.linalg.det(q)


def check(a: ConvexHull, b: ConvexHull, pose_a: Floats, pose_b: Floats, kept: Memory | None = None) -> None:
    """All methods, from scratch and with a memory, against the truth."""
    world_a, world_b = posed_vertices(pose_a, a.vertices), posed_vertices(pose_b, b.vertices)
    truth = convex_oracle.nearest(world_a, world_b)
    ulp = float(np.spacing(max(np.abs(world_a).max(), np.abs(world_b).max())))
    value = distance_of(truth)
    for method in METHODS:
        for work in (None, (kept or {}).get(method)):
            search = ConvexSearch(a, b, method, work)
            at = pose_a[None], pose_b[None]
            assert search.collides(*at)[0] == (truth.squared == 0)
            found, (points,), (features,) = search.distance(*at)
            assert found[0] == value
            near = np.nextafter(value, 0.0), value, np.nextafter(value, np.inf)
            assert [bool(search.closer_than(c, *at)[0]) for c in near] == [
                truth.squared <= Fraction(c) ** 2 for c in near
            ]
            _check_points(points, features, world_a, world_b, value, ulp)
        assert ConvexSearch(b, a, method).collides(pose_b[None], pose_a[None])[0] == (truth.squared == 0)
        assert ConvexSearch(b, a, method).distance(pose_b[None], pose_a[None])[0][0] == value


def distance_of(truth: convex_oracle.Nearest) -> float:
    """Correctly rounded, and above zero for bodies that are apart."""
    return max(square_root(truth.squared), 5e-324) if truth.squared > 0 else 0.0


def _check_points(
    points: Floats, features: NDArray[np.int32], world_a: Floats, world_b: Floats, value: float, ulp: float
) -> None:
    """The points are as far apart as they should be, each in its body."""
    gap = sum((Fraction(p) - Fraction(q)) ** 2 for p, q in zip(points[:3].tolist(), points[3:].tolist(), strict=True))
    assert abs(square_root(gap) - value) <= 8 * ulp
    for point, world in ((points[:3], world_a), (points[3:], world_b)):
        assert convex_oracle.squared_distance([point], world) <= Fraction(4 * ulp) ** 2
    assert (features == [3, -1, -1, 3, -1, -1]).all() if value == 0.0 else (features[[1, 4]] >= 0).all()


def _needle(rng: np.random.Generator) -> Floats:
    return rng.normal(size=(8, 3)) * (1.0, 1e-7, 1e-9)


def _plate(rng: np.random.Generator) -> Floats:
    return rng.normal(size=(10, 3)) * (1.0, 1.0, 1e-12)


def _cloud(rng: np.random.Generator) -> Floats:
    return rng.normal(size=(12, 3))


def _ball(rng: np.random.Generator) -> Floats:
    points = rng.normal(size=(40, 3))
    return points / np.linalg.norm(points, axis=1)[:, None]


def _polygon(rng: np.random.Generator) -> Floats:
    angle = np.sort(rng.uniform(0, 2 * np.pi, 7))
    return np.column_stack([np.cos(angle), np.sin(angle), np.zeros(7)])


def _segment(rng: np.random.Generator) -> Floats:
    return rng.normal(size=(2, 3))


def _point(rng: np.random.Generator) -> Floats:
    return rng.normal(size=(1, 3))


def _repeated(rng: np.random.Generator) -> Floats:
    return np.repeat(rng.normal(size=(3, 3)), 2, axis=0)


SHAPES = {f.__name__.strip("_"): f for f in (_cloud, _ball, _needle, _plate, _polygon, _segment, _point, _repeated)}
PAIRS = list(combinations(SHAPES, 2)) + [(name, name) for name in SHAPES]


@pytest.mark.parametrize(("name_a", "name_b"), PAIRS)
def test_shapes_apart_near_and_overlapping(name_a: str, name_b: str) -> None:
    rng = np.random.default_rng([list(SHAPES).index(name_a), list(SHAPES).index(name_b)])
    for reach in (0.0, 0.5, 2.0, 4.0, 100.0):
        kept = memory()
        a, b = ConvexHull(SHAPES[name_a](rng)), ConvexHull(SHAPES[name_b](rng))
        pose_a, pose_b = pose(random_rotation(rng)), pose(random_rotation(rng), rng.normal(size=3) * reach)
        for p in (pose_b, *_just_touching(a, b, pose_a, pose_b)):
            check(a, b, pose_a, p, kept)


def _just_touching(a: ConvexHull, b: ConvexHull, pose_a: Floats, pose_b: Floats) -> list[Floats]:
    """Poses of b in which it touches a up to rounding, and some ulps nearer or farther."""
    values, (points,), _ = ConvexSearch(a, b).distance(pose_a[None], pose_b[None])
    gap = points[:3] - points[3:]
    poses = []
    for factor in (1.0, 1.0 - 1e-15, 1.0 - 1e-12, 1.0 - 1e-8, 1.0 + 1e-12):
        moved = pose_b.copy()
        moved[:3, 3] += gap * factor
        poses.append(moved)
    return poses if values[0] > 0.0 else []


@pytest.mark.parametrize("scale", [2.0**-1040, 1e-200, 1e-30, 1.0, 1e15, 1e44])
def test_scales(scale: float) -> None:
    rng = np.random.default_rng(5)
    for _ in range(4):
        a, b = ConvexHull(_cloud(rng) * scale), ConvexHull(_cloud(rng) * scale)
        pose_b = pose(random_rotation(rng), rng.normal(size=3) * 3.0 * scale)
        check(a, b, pose(random_rotation(rng)), pose_b)


@pytest.mark.parametrize("scale", [1.0, 1e-110, 1e-300, 2.0**-1050])
def test_nearest_points_are_on_the_faces_that_are_named(scale: float) -> None:
    rng = np.random.default_rng(4)
    for _ in range(6):
        a, b = ConvexHull(CUBE.vertices * scale), ConvexHull(_cloud(rng) * 0.4 * scale)
        pose_a, pose_b = pose(random_rotation(rng)), pose(random_rotation(rng), (3.0 * scale, scale, 0.5 * scale))
        for p in (pose_b, *_just_touching(a, b, pose_a, pose_b)):
            values, (points,), (features,) = ConvexSearch(a, b).distance(pose_a[None], p[None])
            for hull, at, point, face in ((a, pose_a, points[:3], features[2]), (b, p, points[3:], features[5])):
                world = posed_vertices(at, hull.vertices[hull.faces[face]])
                off = convex_oracle.squared_distance([point], world)
                assert values[0] == 0.0 or off <= Fraction(8 * float(np.spacing(4.0 * scale))) ** 2


@pytest.mark.parametrize("away", [1e3, 1e8, 1e14])
def test_far_from_the_origin(away: float) -> None:
    rng = np.random.default_rng(6)
    for _ in range(4):
        a, b = ConvexHull(_cloud(rng)), ConvexHull(_cloud(rng))
        there = rng.normal(size=3) * away
        pose_a, pose_b = pose(random_rotation(rng), there), pose(random_rotation(rng), there + rng.normal(size=3) * 3)
        check(a, b, pose_a, pose_b)


def test_bodies_of_very_different_size() -> None:
    rng = np.random.default_rng(7)
    for scale in (1e-250, 1e-18, 1e-9, 1e9, 1e18):
        a, b = ConvexHull(_cloud(rng)), ConvexHull(_cloud(rng) * scale)
        check(a, b, pose(random_rotation(rng)), pose(random_rotation(rng), rng.normal(size=3) * 3))


@pytest.mark.parametrize("gap", [0.0, 2.0**-52, 2.0**-51, 2.0**-40, 1e-9, 0.5, -(2.0**-52), -0.5])
def test_parallel_faces_edges_and_corners(gap: float) -> None:
    quarter = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    a = CUBE
    for offset in ((2, 0, 0), (2, 0.5, 0.25), (2, 2, 0), (2, 2, 2), (2, 0, 1.5)):
        for rotation in (None, quarter):
            move = np.array(offset, dtype=float) + [gap, 0.0, 0.0]
            check(a, a, pose(), pose(rotation, move))


@pytest.mark.nojit_slow
def test_nearly_parallel_faces() -> None:
    a = CUBE
    for angle in (1e-4, 1e-8, 1e-12, 1e-15, 1e-16):
        c, s = np.cos(angle), np.sin(angle)
        tilted = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        for gap in (0.0, 1e-15, 1e-8, 1.0):
            check(a, a, pose(), pose(tilted, (2.0 + gap, 0.3, 0.1)))


@pytest.mark.nojit_slow
def test_integer_grid_touches_exactly() -> None:
    rng = np.random.default_rng(8)
    for _ in range(60):
        a, b = ConvexHull(rng.integers(-2, 3, (6, 3))), ConvexHull(rng.integers(-2, 3, (6, 3)))
        check(a, b, pose(), pose(None, rng.integers(-4, 5, 3).astype(float)))


@pytest.mark.nojit_slow
@pytest.mark.parametrize("method", METHODS)
def test_a_path_in_one_call_is_what_its_poses_are(method: str) -> None:
    """Bit for bit, from far apart through touching to deep inside and out again."""
    rng = np.random.default_rng(9)
    steps = 400
    path = np.tile(np.eye(4), (steps, 1, 1))
    angle = np.radians(np.arange(steps))
    path[:, 0, 0] = path[:, 1, 1] = np.cos(angle)
    path[:, 1, 0], path[:, 0, 1] = np.sin(angle), -np.sin(angle)
    path[:, :3, 3] = np.linspace((3.0, 0.1, 0.2), (-3.0, 0.3, -0.2), steps)
    at_rest = np.tile(np.eye(4), (steps, 1, 1))
    for shape in (_ball, _cloud, _plate, _needle):
        a, b = ConvexHull(shape(rng)), ConvexHull(shape(rng))
        along, alone = ConvexSearch(a, b, method, ConvexWorkspace(coherent=True)), ConvexSearch(a, b, "gjk")
        assert (along.distance(at_rest, path)[0] == alone.distance(at_rest, path)[0]).all()
        assert (along.collides(at_rest, path) == alone.collides(at_rest, path)).all()
        assert (along.closer_than(0.5, at_rest, path) == alone.closer_than(0.5, at_rest, path)).all()


@pytest.mark.nojit_slow
def test_plateaus_of_many_vertices() -> None:
    """Prisms have plateaus of half of their vertices, a lens of nearly all; posed vertices are not in order there."""
    rng = np.random.default_rng(11)
    angle = np.arange(24) * (2 * np.pi / 24)
    ring = np.round(np.column_stack([np.cos(angle), np.sin(angle)]) * 2.0**20) / 2.0**20
    prism = np.vstack([np.column_stack([ring, np.full(24, z)]) for z in (-1.0, 1.0)])
    for points in (prism, _ball(rng) * (1.0, 1.0, 1e-7), _ball(rng) * (1.0, 1e-6, 1e-6)):
        climbing = ConvexHull(points)
        for upright in (True, False) * 2:
            rotation = random_rotation(rng)
            pose_a, pose_b = pose(rotation), pose(rotation if upright else random_rotation(rng), rng.normal(size=3) * 3)
            for p in (pose_b, *_just_touching(climbing, climbing, pose_a, pose_b)):
                check(climbing, climbing, pose_a, p)


@pytest.mark.parametrize("beside", [1.0, 3.3, 2.0**100, 1e-300, 5e-324])
def test_the_smallest_float_is_a_distance(beside: float) -> None:
    point = ConvexHull([[beside, 0.0, 0.0]])
    for gap in (5e-324, 1e-323, 2.0**-1022):
        check(point, ConvexHull([[beside, gap, 0.0]]), pose(), pose(), memory())
        check(point, ConvexHull([[beside, gap, 0.0], [beside, gap, 1.0]]), pose(), pose(), memory())
        check(point, point, pose(), pose(None, (0.0, 0.0, gap)), memory())
    assert ConvexSearch(point, ConvexHull([[beside, 5e-324, 0.0]])).distance(pose()[None], pose()[None])[0][0] == 5e-324


@pytest.mark.parametrize("below", [5e-324, 1e-320, 1e-300, 2.0**-1022])
def test_a_wedge_just_below_a_cube(below: float) -> None:
    wedge = ConvexHull([[2, -below, 0.5], [1, -below, 0.5], [1, -3, 0.2], [2, -3, 0.5]])
    cube = ConvexHull([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
    check(cube, wedge, pose(), pose(), memory())


def test_bodies_that_are_apart_have_a_distance() -> None:
    """In units of the smallest float the point is 1 / sqrt(38) above the plane, which would be rounded to zero."""
    triangle = ConvexHull(np.array([[3.0, -2.0, 0.0], [-30.0, 20.0, 0.0], [0.0, 50.0, -30.0]]) * 5e-324)
    point = ConvexHull(np.array([[-1.0, 1.0, 0.0]]) * 5e-324)
    check(triangle, point, pose(), pose(), memory())
    assert ConvexSearch(triangle, point).distance(pose()[None], pose()[None])[0][0] == 5e-324


@pytest.mark.parametrize("hair", [0.0, 2.0**-300, 5e-324, 2.0**-80])
def test_distances_near_the_middle_of_two_floats_are_rounded_correctly(hair: float) -> None:
    a = ConvexHull([[1.0, 0.0, 0.0]])
    for p in (
        [-(2.0**-53), 0.0, 0.0],
        [-(2.0**-53) - hair, 0.0, 0.0],
        [-(2.0**-53), hair, 0.0],
        [-(2.0**-53), hair, 1.0],
    ):
        for q in ([-1.0, 0.0, 0.0], [-(2.0**-53) * 3.0, -hair, 0.0]):
            check(a, ConvexHull([p]), pose(), pose())
            check(a, ConvexHull([p, q]), pose(), pose())
            check(
                ConvexHull(CUBE.vertices - [0.0, 0.5, 0.0]),
                ConvexHull([np.add(p, [-1.0, 0.0, 0.0]), q]),
                pose(),
                pose(),
            )


@pytest.mark.nojit_slow
@pytest.mark.parametrize("family", UNDERFLOWING)
def test_products_that_underflow(family: str) -> None:
    for number in range(25):
        met = UNDERFLOWING[family](np.random.default_rng([12, number]), 2, 8)
        kept = memory()
        for i in range(2):
            check(met.a, met.b, met.poses_a[i], met.poses_b[i], kept)


@pytest.mark.long
@pytest.mark.parametrize("family", UNDERFLOWING)
def test_products_that_underflow_at_length(family: str) -> None:
    """32,000 poses: all methods say the same, from scratch and along a path; of 2,000 the oracle knows the truth."""
    for number in range(1000):
        met = UNDERFLOWING[family](np.random.default_rng([13, number]), 32, 12)
        at = met.poses_a, met.poses_b
        values = ConvexSearch(met.a, met.b).distance(*at)[0]
        for method in METHODS:
            for work in (None, ConvexWorkspace(coherent=True)):
                search = ConvexSearch(met.a, met.b, method, work)
                found, points, _ = search.distance(*at)
                assert np.array_equal(found, values)
                assert np.isfinite(points).all()
                assert np.array_equal(search.collides(*at), values == 0.0)
                sure = values != values[0]  # of equal ones both may be nearer or farther than the rounded number
                assert np.array_equal(search.closer_than(values[0], *at)[sure], (values <= values[0])[sure])
        for i in (0, 31):
            check(met.a, met.b, met.poses_a[i], met.poses_b[i])
