"""The convex oracle against the oracle for triangles and against answers known by hand."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from impinge.lab import convex_oracle, oracle

CUBE = list(product((0, 2), repeat=3))


def test_triangles_agree_with_the_triangle_oracle() -> None:
    rng = np.random.default_rng(0)
    pairs = rng.integers(-3, 4, (80, 2, 3, 3)).astype(float)
    distances = oracle.squared_distances(pairs[:, 0], pairs[:, 1])
    assert [convex_oracle.squared_distance(a, b) for a, b in pairs] == distances
    assert 0 < sum(d == 0 for d in distances) < 80


def test_inside_is_meeting() -> None:
    assert convex_oracle.meets(CUBE, [[1, 1, 1]])


def test_nearest_points_are_in_the_bodies() -> None:
    answer = convex_oracle.nearest(CUBE, [[3, 1, 1], [5, 0, 0], [4, 7, 1]])
    assert answer.squared == 1
    assert answer.point_b == (3, 1, 1)


@pytest.mark.parametrize(
    ("move", "squared"),
    [((1, 0, 0), 1), ((0, 0, 0), 4), ((2, 0, 0), 0), ((1.5, 1.75, 0), Fraction(1, 16)), ((2, 2, 2), 0)],
)
def test_depth_of_cubes(move: tuple[float, float, float], squared: Fraction) -> None:
    depth = convex_oracle.penetration(CUBE, np.array(CUBE) + move)
    assert depth is not None
    assert depth.squared == squared


def test_depth_of_edges_that_cross() -> None:
    """Two roofs whose ridges cross at right angles, one unit deep: only the product of the ridges shows it."""
    below = [[-5, 0, 1], [5, 0, 1], [-5, -3, -9], [5, -3, -9], [-5, 3, -9], [5, 3, -9]]
    above = [[0, -5, 0], [0, 5, 0], [-3, -5, 10], [-3, 5, 10], [3, -5, 10], [3, 5, 10]]
    depth = convex_oracle.penetration(below, above)
    assert depth is not None
    assert depth.squared == 1


def test_flat_bodies_have_no_depth_and_apart_is_none() -> None:
    square = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    flat = convex_oracle.penetration(square, [[0.5, 0.5, 0], [3, 3, 0]])
    point = convex_oracle.penetration([[1, 1, 1]], [[1, 1, 1]])
    assert flat is not None
    assert point is not None
    assert (flat.squared, point.squared) == (0, 0)
    assert convex_oracle.penetration(square, [[2, 2, 2]]) is None


def test_moving_by_the_depth_makes_bodies_touch() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.integers(-3, 4, (2, 6, 3)).astype(float)
    depth = convex_oracle.penetration(a, b)
    assert depth is not None
    assert depth.direction is not None
    assert depth.squared > 0
    n = np.array([float(x) for x in depth.direction])
    step = n / np.linalg.norm(n) * oracle.square_root(depth.squared)
    assert convex_oracle.meets(a, b + step * (1 - 1e-12))
    assert not convex_oracle.meets(a, b + step * (1 + 1e-12))


def test_no_points_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one point"):
        convex_oracle.meets(np.zeros((0, 3)), [[0, 0, 0]])
