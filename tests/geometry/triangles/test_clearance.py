"""Whether triangles come within a clearance: exact, also where the distance equals it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from impinge.geometry.triangles.clearance import triangles_closer_than
from impinge.lab import oracle
from impinge.lab.hard_input import triangle_pairs

FLAT = [[0, 0, 0], [4, 0, 0], [0, 4, 0]]


@pytest.mark.parametrize("gap", [0.5, 0.1, 1.0 / 3.0, 1e-9, 1e-300, 1e40])
def test_closer_than_is_exact_at_the_boundary(gap: float) -> None:
    a = np.array([FLAT], dtype=np.float64)
    b = a.copy()
    b[:, :, 2] = gap
    for clearance, expected in ((gap, True), (np.nextafter(gap, 0.0), False), (np.nextafter(gap, 1e300), True)):
        assert triangles_closer_than(a, b, np.array([clearance])).tolist() == [expected]
        assert triangles_closer_than(b, a, np.array([clearance])).tolist() == [expected]


def test_closer_than_at_an_irrational_distance() -> None:
    # The distance is sqrt(2): no float is equal to it.
    a = np.array([[[0.0, 0.0, 0.0]] * 3])
    b = np.array([[[1.0, 1.0, 0.0]] * 3])
    root = float(np.sqrt(2.0))
    answers = [bool(triangles_closer_than(a, b, np.array([c]))[0]) for c in (np.nextafter(root, 0.0), root)]
    assert answers == [Fraction(float(c)) ** 2 >= 2 for c in (np.nextafter(root, 0.0), root)]


@pytest.mark.parametrize("family", ["posed at random", "needles", "grid 0..2"])
def test_closer_than_around_the_true_distance(family: str) -> None:
    a, b = triangle_pairs(np.random.default_rng(16), 40, family)
    rounded = np.array([oracle.square_root(square) for square in oracle.squared_distances(a, b)])
    for steps in range(-2, 3):
        clearance = np.maximum(rounded + steps * np.spacing(rounded), 0.0)
        truth = [oracle.closer_than(a[i], b[i], float(clearance[i])) for i in range(len(a))]
        assert triangles_closer_than(a, b, clearance).tolist() == truth


def test_empty_batch() -> None:
    nothing = np.empty((0, 3, 3))
    assert triangles_closer_than(nothing, nothing, np.empty(0)).shape == (0,)
