"""EPA against the rational oracle, for large bodies by its own certificate."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from impinge.convex.hull.convex_hull import ConvexHull
from impinge.convex.search import ConvexSearch
from impinge.convex.workspace import ConvexWorkspace
from impinge.geometry.pose import posed_vertices
from impinge.lab import convex_oracle
from impinge.lab.hard_polytopes import UNDERFLOWING
from impinge.lab.oracle import square_root

Floats = NDArray[np.float64]
CUBE = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])

# In units of 2**-53 times the largest coordinate of the difference body; the bound that is derived is 128.
ERROR = 16.0


@dataclass
class Depth:
    depth: float
    lower: float
    upper: float
    direction: Floats
    point_a: Floats
    point_b: Floats


def pose(rotation: Floats | None = None, translation: Floats | tuple[float, ...] = (0.0, 0.0, 0.0)) -> Floats:
    matrix = np.eye(4)
    matrix[:3, :3] = np.eye(3) if rotation is None else rotation
    matrix[:3, 3] = translation
    return matrix


def random_rotation(rng: np.random.Generator) -> Floats:
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return q * np.linalg.det(q)


def penetrate(a: ConvexHull, b: ConvexHull, pose_a: Floats, pose_b: Floats) -> Depth:
    found = ConvexSearch(a, b).penetration(pose_a[None], pose_b[None])
    assert all(np.isfinite(array).all() for array in found)
    (depth,), (direction,), (points,), ((lower, upper),) = found
    return Depth(depth, lower, upper, direction, points[:3], points[3:])


def check_parts(found: Depth, world_a: Floats, world_b: Floats, meeting: bool) -> tuple[float, float]:
    """Everything but the depth; returns the rounding of the difference body, and of coordinates."""
    # In units of the bodies: squares of tiny coordinates would be lost.
    unit = 2.0 ** -np.frexp(max(np.abs(world_a).max(), np.abs(world_b).max(), 2.0**-1000))[1]
    world_a, world_b, point_a, point_b = (x * unit for x in (world_a, world_b, found.point_a, found.point_b))
    depth = found.depth * unit
    coarse = 2.0**-53 * max(np.abs(world_a).max(), np.abs(world_b).max()) + 2.0**-1060 * unit
    low, high = world_a.min(axis=0) - world_b.max(axis=0), world_a.max(axis=0) - world_b.min(axis=0)
    fine = 2.0**-53 * max(np.abs(low).max(), np.abs(high).max()) + 2.0**-1060 * unit
    assert abs(np.linalg.norm(found.direction) - 1.0) <= 2.0**-51
    assert 0.0 <= found.lower <= found.upper
    assert found.lower <= found.depth <= found.upper
    assert (found.upper - found.lower) * unit <= 400.0 * fine
    # The direction separates after a move by the depth ...
    height = (world_b @ found.direction).max() - (world_a @ found.direction).min()
    assert height - depth <= ERROR * fine + 8 * coarse
    # ... and the deepest points are where the bodies touch then.
    if meeting:
        assert np.abs(point_b - point_a - depth * found.direction).max() <= ERROR * fine + 8 * coarse
        assert ((point_a - world_a) @ found.direction).max() <= 2 * ERROR * fine + 16 * coarse
        assert ((world_b - point_b) @ found.direction).max() <= 2 * ERROR * fine + 16 * coarse
    return fine / unit, coarse / unit


def error_of(a: ConvexHull, b: ConvexHull, pose_a: Floats, pose_b: Floats) -> float:
    """Check all against the oracle; how far the depth is off, in roundings of the difference body."""
    world_a, world_b = posed_vertices(pose_a, a.vertices), posed_vertices(pose_b, b.vertices)
    truth = convex_oracle.penetration(world_a, world_b)
    exact = 0.0 if truth is None else square_root(truth.squared)
    worst = 0.0
    for found, first, second in (
        (penetrate(a, b, pose_a, pose_b), world_a, world_b),
        (penetrate(b, a, pose_b, pose_a), world_b, world_a),
    ):
        fine, _ = check_parts(found, first, second, truth is not None)
        assert found.lower <= exact <= found.upper
        worst = max(worst, abs(found.depth - exact) / fine)
    return worst


def _cloud(rng: np.random.Generator) -> Floats:
    return rng.normal(size=(6, 3))


def _needle(rng: np.random.Generator) -> Floats:
    return rng.normal(size=(6, 3)) * (1.0, 1e-6, 1e-6)


def _fine_needle(rng: np.random.Generator) -> Floats:
    return rng.normal(size=(5, 3)) * (1.0, 1e-8, 1e-9)


def _plate(rng: np.random.Generator) -> Floats:
    return rng.normal(size=(6, 3)) * (1.0, 1.0, 1e-8)


def _polygon(rng: np.random.Generator) -> Floats:
    angle = np.sort(rng.uniform(0, 2 * np.pi, 5))
    return np.column_stack([np.cos(angle), np.sin(angle), np.zeros(5)])


def _segment(rng: np.random.Generator) -> Floats:
    return rng.normal(size=(2, 3))


def _point(rng: np.random.Generator) -> Floats:
    return rng.normal(size=(1, 3)) * 0.1


SHAPES = {f.__name__.strip("_"): f for f in (_cloud, _needle, _fine_needle, _plate, _polygon, _segment, _point)}
NAMES = list(SHAPES)
PAIRS = [(a, b) for i, a in enumerate(NAMES) for b in NAMES[i:]]


@pytest.mark.parametrize(("name_a", "name_b"), PAIRS)
def test_shapes(name_a: str, name_b: str) -> None:
    rng = np.random.default_rng([NAMES.index(name_a), NAMES.index(name_b)])
    for reach in (0.0, 0.3, 1.0):
        a, b = ConvexHull(SHAPES[name_a](rng)), ConvexHull(SHAPES[name_b](rng))
        common = random_rotation(rng)
        for rotation in (random_rotation(rng), common):
            middle = b.vertices.mean(axis=0) @ rotation.T - a.vertices.mean(axis=0) @ common.T
            assert error_of(a, b, pose(common), pose(rotation, rng.normal(size=3) * reach - middle)) <= ERROR


@pytest.mark.parametrize("overlap", [0.0, 2.0**-52, 1e-12, 1e-9, 1e-5])
def test_shallow(overlap: float) -> None:
    rng = np.random.default_rng(2)
    for names in (("cloud", "cloud"), ("cloud", "plate"), ("needle", "cloud")):
        a, b = ConvexHull(SHAPES[names[0]](rng)), ConvexHull(SHAPES[names[1]](rng))
        pose_a, pose_b = pose(random_rotation(rng)), pose(random_rotation(rng), (5.0, 1.0, 2.0))
        (value,), (points,), _ = ConvexSearch(a, b).distance(pose_a[None], pose_b[None])
        pose_b[:3, 3] += (points[:3] - points[3:]) * (1.0 + overlap / value)
        assert error_of(a, b, pose_a, pose_b) <= ERROR


def test_parallel_boxes() -> None:
    a, b = ConvexHull(CUBE), ConvexHull(CUBE * (0.5, 2.0, 1.0))
    quarter = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    for move in ((0.0, 0.0, 0.0), (0.25, 0.5, 0.125), (1.5, 3.0, 2.0), (1.5, 0.0, 0.0), (1.0, 1.0, 2.0 - 2.0**-52)):
        for rotation in (None, quarter):
            assert error_of(a, a, pose(), pose(rotation, move)) <= 1.0
            assert error_of(a, b, pose(), pose(rotation, move)) <= 1.0
    found = penetrate(a, a, pose(), pose(None, (1.75, 0.5, 0.25)))
    assert found.depth == 0.25
    assert found.direction.tolist() == [-1.0, 0.0, 0.0]
    assert (found.point_b - found.point_a).tolist() == [-0.25, 0.0, 0.0]
    assert np.abs(found.point_a[1:]).max() <= 1.5


def test_nearly_parallel_boxes() -> None:
    a = ConvexHull(CUBE)
    for angle in (1e-3, 1e-8, 1e-15):
        c, s = np.cos(angle), np.sin(angle)
        tilted = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        for move in ((0.0, 0.0, 0.0), (1.9, 0.3, 0.1)):
            assert error_of(a, a, pose(), pose(tilted, move)) <= ERROR


def test_same_body_in_the_same_pose() -> None:
    rng = np.random.default_rng(3)
    for shape in SHAPES.values():
        a, where = ConvexHull(shape(rng)), pose(random_rotation(rng), rng.normal(size=3))
        assert error_of(a, a, where, where) <= ERROR


def test_one_inside_of_the_other() -> None:
    rng = np.random.default_rng(4)
    for scale in (1e-1, 1e-5, 1e-10, 1e-16, 1e-200):
        a, b = ConvexHull(_cloud(rng)), ConvexHull(_cloud(rng) * scale)
        middle = a.vertices.mean(axis=0)
        assert error_of(a, b, pose(), pose(random_rotation(rng), middle)) <= ERROR


@pytest.mark.parametrize("scale", [2.0**-1040, 1e-250, 1e-100, 1e-30, 1e15, 1e44])
def test_scales(scale: float) -> None:
    rng = np.random.default_rng(5)
    for shape in (_cloud, _needle, _plate):
        a, b = ConvexHull(shape(rng) * scale), ConvexHull(_cloud(rng) * scale)
        pose_b = pose(random_rotation(rng), rng.normal(size=3) * 0.3 * scale)
        assert error_of(a, b, pose(random_rotation(rng)), pose_b) <= ERROR


@pytest.mark.parametrize("away", [1e3, 1e6, 1e14])
def test_far_from_the_origin(away: float) -> None:
    rng = np.random.default_rng(6)
    for shape in (_cloud, _needle, _plate):
        a, b = ConvexHull(shape(rng)), ConvexHull(_cloud(rng))
        there = rng.normal(size=3) * away
        pose_a, pose_b = pose(random_rotation(rng), there), pose(random_rotation(rng), there + rng.normal(size=3) * 0.3)
        assert error_of(a, b, pose_a, pose_b) <= ERROR


def test_integer_grid() -> None:
    rng = np.random.default_rng(7)
    for _ in range(40):
        a, b = (
            ConvexHull(rng.integers(-2, 3, (5, 3)).astype(float)),
            ConvexHull(rng.integers(-2, 3, (5, 3)).astype(float)),
        )
        assert error_of(a, b, pose(), pose(None, rng.integers(-3, 4, 3).astype(float))) <= ERROR


def check_bounds(a: ConvexHull, b: ConvexHull, pose_a: Floats, pose_b: Floats) -> None:
    """Exactly: where the difference body is tiny, its depth has few digits or none."""
    truth = convex_oracle.penetration(posed_vertices(pose_a, a.vertices), posed_vertices(pose_b, b.vertices))
    found = penetrate(a, b, pose_a, pose_b)
    assert Fraction(found.lower) ** 2 <= (0 if truth is None else truth.squared) <= Fraction(found.upper) ** 2
    assert found.lower <= found.depth <= found.upper
    assert abs(np.linalg.norm(found.direction) - 1.0) <= 2.0**-51


@pytest.mark.parametrize("beside", [0.0, 1.0, 2.0**100])
@pytest.mark.parametrize("unit", [2.0**-1060, 2.0**-1074, 1e-300])
def test_tiny_bodies_beside_a_large_coordinate(unit: float, beside: float) -> None:
    rng = np.random.default_rng(9)
    for _ in range(6):
        a, b = (np.round(rng.normal(size=(5, 3)) * 99.0) * unit for _ in range(2))
        a[:, 0] += beside
        b[:, 0] += beside
        check_bounds(ConvexHull(a), ConvexHull(b), pose(), pose())
    found = penetrate(ConvexHull(CUBE * 8 * unit), ConvexHull(CUBE * unit), pose(), pose(None, (0.0, 2 * unit, 0.0)))
    assert (found.depth, found.direction.tolist()) == (7 * unit, [0.0, -1.0, 0.0])


@pytest.mark.nojit_slow
@pytest.mark.parametrize("family", UNDERFLOWING)
def test_underflow(family: str) -> None:
    for number in range(25):
        met = UNDERFLOWING[family](np.random.default_rng([10, number]), 2, 5)
        for i in range(2):
            check_bounds(met.a, met.b, met.poses_a[i], met.poses_b[i])


def _on_sphere(rng: np.random.Generator, count: int) -> Floats:
    points = rng.normal(size=(count, 3))
    return points / np.linalg.norm(points, axis=1)[:, None]


@pytest.mark.nojit_slow
@pytest.mark.parametrize("count", [50, 500, 5000])
@pytest.mark.parametrize("stretch", [(1.0, 1.0, 1.0), (1.0, 1e-3, 1e-6), (1.0, 1.0, 1e-8)])
def test_many_vertices(count: int, stretch: tuple[float, float, float]) -> None:
    rng = np.random.default_rng([8, count])
    a, b = ConvexHull(_on_sphere(rng, count) * stretch), ConvexHull(_on_sphere(rng, count) * stretch)
    for away in (0.0, 0.3, 1.5):
        turned = random_rotation(rng)
        for rotation in (turned, random_rotation(rng)):
            pose_a, pose_b = pose(turned), pose(rotation, turned @ (rng.normal(size=3) * stretch) * away)
            world_a, world_b = posed_vertices(pose_a, a.vertices), posed_vertices(pose_b, b.vertices)
            found = penetrate(a, b, pose_a, pose_b)
            check_parts(found, world_a, world_b, bool(ConvexSearch(a, b).collides(pose_a[None], pose_b[None])[0]))
            tries = _on_sphere(rng, 200)
            tries = np.vstack([tries, found.direction + 0.01 * tries, found.direction + 1e-6 * tries])
            tries /= np.linalg.norm(tries, axis=1)[:, None]
            heights = (world_b @ tries.T).max(axis=0) - (world_a @ tries.T).min(axis=0)
            assert heights.min() >= found.depth - 1e-14 or found.depth == 0.0


def test_a_polytope_that_must_grow_gives_the_same_bits() -> None:
    rng = np.random.default_rng(17)
    a, b = ConvexHull(_on_sphere(rng, 400)), ConvexHull(_on_sphere(rng, 400))
    poses_a, poses_b = np.tile(np.eye(4), (2, 3, 1, 1))
    poses_b[:, :3, 3] = rng.normal(size=(3, 3)) * 0.02
    small, large, short_of_heap = ConvexWorkspace(), ConvexWorkspace(), ConvexWorkspace()
    small._make_polytope(16)
    large._make_polytope(4096)
    short_of_heap._make_polytope(4096)
    short_of_heap.heap_heights, short_of_heap.heap_triangles = np.zeros(90), np.zeros(90, dtype=np.int32)
    expected = ConvexSearch(a, b, work=large).penetration(poses_a, poses_b)
    assert large.n_differences == 4096
    for work in (small, short_of_heap):
        found = ConvexSearch(a, b, work=work).penetration(poses_a, poses_b)
        assert all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True))
    assert 64 < small.n_differences < 4096
