"""Distances of triangles: positive, symmetric, scale-free, with witnesses."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from impinge.geometry.triangles.clearance import triangles_closer_than
from impinge.geometry.triangles.distance import triangle_distances
from impinge.geometry.triangles.intersection import triangles_meet
from impinge.lab import oracle
from impinge.lab.hard_input import FAMILIES, triangle_pairs

Floats = NDArray[np.float64]
FLAT = [[0, 0, 0], [4, 0, 0], [0, 4, 0]]


def one(a: object, b: object) -> tuple[float, list[float], list[float]]:
    value, point_a, point_b = triangle_distances(np.array([a], dtype=np.float64), np.array([b], dtype=np.float64))
    return float(value[0]), point_a[0].tolist(), point_b[0].tolist()


@pytest.mark.parametrize(
    ("b", "value", "point_a", "point_b"),
    [
        # vertex over the face, over an edge, over a vertex
        ([[1, 1, 2], [1, 1, 5], [2, 1, 5]], 2.0, [1, 1, 0], [1, 1, 2]),
        ([[1, -3, 4], [1, -6, 9], [2, -6, 9]], 5.0, [1, 0, 0], [1, -3, 4]),
        ([[-2, -3, 6], [-9, -9, 9], [-9, -9, 10]], 7.0, [0, 0, 0], [-2, -3, 6]),
        # edge against edge, inside both
        ([[1, -2, -5], [1, -2, 5], [1, -9, 0]], 2.0, [1, 0, 0], [1, -2, 0]),
        # segment and point
        ([[1, 1, 3], [1, 1, 9], [1, 1, 5]], 3.0, [1, 1, 0], [1, 1, 3]),
        ([[2, -4, 3]] * 3, 5.0, [2, 0, 0], [2, -4, 3]),
    ],
)
def test_by_hand(b: list[list[float]], value: float, point_a: list[float], point_b: list[float]) -> None:
    assert one(FLAT, b) == (value, point_a, point_b)
    assert one(b, FLAT) == (value, point_b, point_a)


def test_parallel_faces_have_witnesses_across() -> None:
    value, point_a, point_b = one(FLAT, [[0, 0, 2], [4, 0, 2], [0, 4, 2]])
    assert value == 2.0
    assert point_a[:2] == point_b[:2]
    assert (point_a[2], point_b[2]) == (0.0, 2.0)


def test_meeting_triangles_have_distance_zero_and_a_common_point() -> None:
    value, point_a, point_b = one(FLAT, [[1, 1, -1], [1, 1, 1], [9, 9, 0]])
    assert value == 0.0
    assert point_a == point_b
    assert point_a[2] == 0.0


@pytest.mark.parametrize("edge", [10.0**-e for e in range(4, 13)] + [1e-100, 1e-300])
def test_small_separated_triangles_have_a_distance(edge: float) -> None:
    """The triangle distance that the common C++ libraries share returns 0 here, below edges of about 1e-4."""
    rng = np.random.default_rng(2)
    a = rng.random((200, 3, 3)) * edge
    b = rng.random((200, 3, 3)) * edge + np.array([0.0, 0.0, 1.5 * edge])
    value, _, _ = triangle_distances(a, b)
    assert not triangles_meet(a, b).any()
    assert (value >= 0.49 * edge).all()
    truth = np.array([oracle.square_root(square) for square in oracle.squared_distances(a, b)])
    assert (np.abs(value - truth) <= 8 * np.spacing(2.5 * edge)).all()


@pytest.mark.parametrize("family", list(FAMILIES))
@pytest.mark.nojit_slow
def test_zero_exactly_where_they_meet(family: str) -> None:
    a, b = triangle_pairs(np.random.default_rng(12), 1000, family)
    value, point_a, point_b = triangle_distances(a, b)
    assert np.array_equal(value == 0.0, triangles_meet(a, b))
    assert np.isfinite(value).all()
    assert (value >= 0.0).all()
    assert np.isfinite(point_a).all()
    assert np.isfinite(point_b).all()


@pytest.mark.parametrize("family", list(FAMILIES))
@pytest.mark.nojit_slow
def test_symmetric_to_two_ulps_of_the_coordinates(family: str) -> None:
    a, b = triangle_pairs(np.random.default_rng(13), 1000, family)
    value, swapped = triangle_distances(a, b)[0], triangle_distances(b, a)[0]
    ulp = np.spacing(np.maximum(np.abs(a), np.abs(b)).max(axis=(1, 2)))
    assert (np.abs(value - swapped) <= 2.0 * ulp).all()


@pytest.mark.parametrize("family", ["uniform", "needles", "far away", "repeated vertices", "nearly coplanar"])
def test_witnesses_are_on_the_triangles_and_have_the_distance(family: str) -> None:
    a, b = triangle_pairs(np.random.default_rng(14), 150, family)
    value, point_a, point_b = triangle_distances(a, b)
    ulp = np.spacing(np.maximum(np.abs(a), np.abs(b)).max(axis=(1, 2)))
    with np.errstate(invalid="ignore"):
        apart = np.linalg.norm(point_a - point_b, axis=1)
    assert (np.abs(apart - value) <= 8.0 * ulp).all()
    for points, triangles in ((point_a, a), (point_b, b)):
        off = oracle.squared_distances(np.repeat(points[:, None], 3, axis=1), triangles)
        assert all(oracle.square_root(square) <= 4.0 * u for square, u in zip(off, ulp, strict=True))


@pytest.mark.parametrize("exponent", [-900, -400, -20, 1, 60, 140])
@pytest.mark.parametrize("family", ["uniform", "needles", "grid 0..4"])
@pytest.mark.nojit_slow
def test_scaling_by_powers_of_two_is_exact(family: str, exponent: int) -> None:
    a, b = triangle_pairs(np.random.default_rng(15), 300, family)
    scale = 2.0**exponent
    value, point_a, point_b = triangle_distances(a, b)
    scaled, scaled_a, scaled_b = triangle_distances(a * scale, b * scale)
    assert np.array_equal(scaled, value * scale)
    assert np.array_equal(scaled_a, point_a * scale)
    assert np.array_equal(scaled_b, point_b * scale)


@pytest.mark.nojit_slow
def test_needles_just_above_the_size_that_is_scaled_up() -> None:
    a, b = triangle_pairs(np.random.default_rng(15), 300, "needles")
    value, _, _ = triangle_distances(a, b)
    for exponent in (-161, -158, -150, -140, -130, -100):
        scale = 2.0**exponent
        assert np.array_equal(triangle_distances(a * scale, b * scale)[0], value * scale), exponent


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("height", [0.0, 1.0, 1e6])
@pytest.mark.nojit_slow
def test_vertex_over_a_face_in_a_coordinate_plane(axis: int, height: float) -> None:
    """The foot is off the plane by the rounding of the height, which is large beside a coordinate of zero."""
    rng = np.random.default_rng(17)
    a = rng.random((500, 3, 3))
    a[:, :, axis] = height
    weights = rng.dirichlet([1.0, 1.0, 1.0], 500)
    b = np.repeat((weights[:, :, None] * a).sum(axis=1)[:, None], 3, axis=1)
    b[:, 0, axis] = height + 10.0 ** rng.uniform(-9, 1, 500)
    b[:, 1:] += rng.random((500, 2, 3))
    b[:, 1:, axis] = b[:, :1, axis] + rng.random((500, 2))
    over = b[:, 0, axis] - height
    ulp = np.spacing(np.maximum(np.abs(a), np.abs(b)).max(axis=(1, 2)))
    for one_way, other_way in ((a, b), (b, a)):
        assert (np.abs(triangle_distances(one_way, other_way)[0] - over) <= 2.0 * ulp).all()
        assert triangles_closer_than(one_way, other_way, over).all()
        assert not triangles_closer_than(one_way, other_way, np.nextafter(over, 0.0)).any()


def test_subnormal_triangles() -> None:
    smallest = 5e-324
    value, _, _ = one(np.array(FLAT) * smallest, (np.array(FLAT) + [0, 0, 3]) * smallest)
    assert value == 3 * smallest


def test_closest_possible_triangles_are_apart() -> None:
    above = [[1, 1, 5e-324], [1, 1, 2], [2, 1, 2]]
    value, _, _ = one(FLAT, above)
    assert 0.0 < value < 1e-20
    a, b = (np.array([t], dtype=np.float64) for t in (FLAT, above))
    assert triangles_closer_than(a, b, np.array([5e-324])).tolist() == [True]
    assert triangles_closer_than(a, b, np.array([0.0])).tolist() == [False]


@pytest.mark.parametrize("common", [1e10, 2.0**149])
def test_tiny_triangles_in_a_far_coordinate_plane(common: float) -> None:
    """Scaling the pair up must not make its large common coordinate overflow."""
    size = 1e-300
    a = [[common, 0, 0], [common, size, 0], [common, 0, size]]
    b = [[common, 4 * size, 4 * size], [common, 5 * size, 4 * size], [common, 4 * size, 6 * size]]
    value, point_a, point_b = one(a, b)
    truth = oracle.distance_float(np.array(a), np.array(b))
    assert value == pytest.approx(truth, rel=1e-15, abs=0.0)
    assert point_a[0] == point_b[0] == common


def test_empty_batch() -> None:
    nothing = np.empty((0, 3, 3))
    assert [len(part) for part in triangle_distances(nothing, nothing)] == [0, 0, 0]
