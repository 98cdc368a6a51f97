"""The input boundary says what is wrong, and where."""

import numpy as np
import pytest

from impinge.arrays import (
    as_clearance,
    as_extent,
    as_flag,
    as_ids,
    as_indices,
    as_points,
    as_polygons,
    real_array,
    shown,
)
from impinge.constants import LARGEST_COORDINATE
from impinge.geometry.exact.integers import as_integers, collinear, determinant_sign, newell_normal, orient2d


def masked(values):
    """The first entry is."""
    array = np.ma.masked_array(values)
    array[(0,) * array.ndim] = np.ma.masked
    return array


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ([[0, 0, np.nan]], r"points\[0, 2\] is nan; coordinates must be finite"),
        ([[0, 0, 0], [0, -np.inf, 0]], r"points\[1, 1\] is -inf"),
        ([[0, 0, 1e46]], r"points\[0, 2\] is 1e\+46, beyond the exact range"),
        ([0, 0, 0], r"points: expected shape \(n, 3\), got \(3,\)"),
        ([[0, 0]], r"got \(1, 2\)"),
        ([[0, 0, 1j]], r"points: expected real numbers, got dtype complex"),
        ([["x", "y", "z"]], r"expected real numbers"),
        ([[True, False, True]], r"got dtype bool"),
        (None, r"expected real numbers, got None"),
        ([[0, 0, None]], r"got dtype object"),
        ([[0, 0, 0], [1]], r"rows of different lengths"),
    ],
)
def test_bad_points(value, sentence):
    with pytest.raises(ValueError, match=sentence):
        as_points(value, "points")


def test_points_are_float64_in_c_order():
    for value in ([[1, 2, 3]], np.ones((2, 3), np.float32), np.ones((3, 4), np.float16).T, np.ones((2, 3), np.uint8)):
        if np.asarray(value).shape[-1] == 3:
            array = as_points(value, "points")
            assert array.dtype == np.float64
            assert array.flags.c_contiguous
    assert as_points([[LARGEST_COORDINATE, 0, 5e-324]], "points")[0, 0] == LARGEST_COORDINATE
    with pytest.raises(ValueError, match="is inf"):
        as_points(np.array([["1e400", 0, 0]], dtype=object).astype(np.longdouble), "points")
    assert real_array(np.float32(0.5), "x").shape == ()


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ([[0, 1, 7]], r"faces\[0, 2\] is 7, but there are 4 vertices"),
        ([[0, 1, 2], [0, -1, 2]], r"faces\[1, 1\] is -1, but there are 4 vertices"),
        ([[0, 1, 2.0]], r"expected integers, got dtype float64"),
        ([[True, False, True]], r"expected integers, got dtype bool"),
    ],
)
def test_bad_indices(value, sentence):
    with pytest.raises(ValueError, match=sentence):
        as_indices(value, "faces", 4)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ([], "empty mesh"),
        (np.zeros((0, 3), int), "empty mesh"),
        (np.zeros((5, 0), int), "empty mesh"),
        ([0, 1, 2], r"expected shape \(m, k\) or a list of polygons, got shape \(3,\)"),
        (np.zeros((1, 3, 3), int), r"got shape \(1, 3, 3\)"),
        ([[0, 1], [2, 3]], r"at least 3 corners, got shape \(2, 2\)"),
        ([[0, 1, 2], [0, 1]], r"faces\[1\]: a polygon has at least 3 corners, got 2"),
        ([[0, 1, 2], []], r"faces\[1\]: a polygon has at least 3 corners, got 0"),
        ([[0, 1, 2], 3], r"faces\[1\]: expected a sequence of corners, got 3"),
        ([[0, 1, 2], [0, 1, 2, 9]], r"faces\[1, 3\] is 9, but there are 4 vertices"),
        ([[0, 1, 2, 3], [0, 1, -2]], r"faces\[1, 2\] is -2, but there are 4 vertices"),
        ([[0, 1, 2, 3], [0, 1, 2.5]], r"faces\[1\]: expected integers"),
        ([[0, 1, 2, 3], "012"], r"faces\[1\]: expected a sequence of corners"),
        ([[0, 1, 2, 3], [0, 1, 2**80]], r"faces\[1, 2\] is 1208925819614629174706176"),
        ([[0, 1, 2], [0, 1, [2, 3]]], r"faces\[1\]: expected integers"),
        (np.array([[0.0, 1.0, 2.0]]), r"expected integers, got dtype float64"),
        ([[0, 1, 2], {0, 1, 2, 3}], r"faces\[1\]: expected a sequence of corners"),
        ([{0: 1, 1: 2, 2: 3}], r"faces\[0\]: expected a sequence of corners"),
        ([[0, 1, 2], [0, 1, 10**5000, 2]], r"faces\[1, 2\] is an integer of 16610 bits"),
        (masked([[0, 1, 2]]), r"faces\[0, 0\] is masked"),
        ([[0, 1, 2], masked([0, 1, 2, 3])], r"faces\[1\]\[0\] is masked"),
        (None, r"faces"),
        ("abc", r"faces"),
    ],
)
def test_bad_polygons(value, sentence):
    with pytest.raises(ValueError, match=sentence):
        as_polygons(value, "faces", 4)


def test_polygons_of_one_and_of_many_sizes():
    corners, starts = as_polygons(np.array([[0, 1, 2, 3], [3, 2, 1, 0]], dtype=np.uint64), "faces", 4)
    assert corners.dtype == np.int32
    assert starts.tolist() == [0, 4, 8]
    for mixed in (
        [[0, 1, 2], (3, 2, 1, 0)],
        (np.array([0, 1, 2]), np.array([3, 2, 1, 0])),
        np.array([[0, 1, 2], [3, 2, 1, 0]], dtype=object),
    ):
        corners, starts = as_polygons(mixed, "faces", 4)
        assert corners.tolist() == [0, 1, 2, 3, 2, 1, 0]
        assert starts.tolist() == [0, 3, 7]


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (masked([[1.0, 2.0, 3.0]]), r"x\[0, 0\] is masked"),
        ([[1.0, 2.0, 3.0], masked([1.0, 2.0, 3.0])], r"x\[1\]\[0\] is masked"),
        (np.ma.masked, "x is masked"),
        ({}, "x: expected real numbers, got {}"),
        (10**400, "x: expected real numbers, got an integer of more than 64 bits"),
        ([[1, 2, 2**80]], "x: expected real numbers, got an integer of more than 64 bits"),
        (np.eye(3) * 1j, "x: expected real numbers, got dtype complex128"),
    ],
)
def test_what_is_no_array_of_real_numbers(value, sentence):
    with pytest.raises(ValueError, match=sentence):
        real_array(value, "x")


def test_a_masked_array_without_masked_entries_loses_nothing():
    assert real_array(np.ma.masked_array([1.0, 2.0]), "x").tolist() == [1.0, 2.0]


def test_masked_ids():
    with pytest.raises(ValueError, match=r"ids\[0\] is masked"):
        as_ids(masked([1, 2]), "ids")
    with pytest.raises(ValueError, match="ids: rows of different lengths"):
        as_ids([[1, 2], [3]], "ids")


@pytest.mark.parametrize("value", [None, 0, 1, "no", [], np.ones(2)])
def test_what_is_neither_true_nor_false(value):
    with pytest.raises(ValueError, match=r"solid is .*; it must be True or False"):
        as_flag(value, "solid")


def test_what_is_true_or_false():
    assert as_flag(np.True_, "solid") is True
    assert as_flag(False, "solid") is False


@pytest.mark.parametrize("value", [-1.0, np.nan, "1", None, True, [1.0], 1j, 10**400])
def test_bad_extent(value):
    with pytest.raises(ValueError, match="length"):
        as_extent(value, "length")


def test_long_values_are_shown_in_part():
    assert shown(np.zeros((4, 4))) == "array([[0., 0., 0., 0.], [0., 0., 0., 0.], [0., 0., 0., 0..."
    assert len(shown("x" * 1000)) == 60
    assert shown(10**5000) == "an integer of 16610 bits"


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, 1e60, [1.0], "far", None, True])
def test_bad_clearance(value):
    with pytest.raises(ValueError, match="clearance"):
        as_clearance(value)


def test_good_clearance():
    assert as_clearance(0) == 0.0
    assert as_clearance(np.float32(0.5)) == 0.5


def test_integers_are_exact_at_every_exponent():
    assert as_integers([5e-324, 2.0**150]) == [1, 2**1224]
    tiny = 5e-324
    assert orient2d(0.0, 0.0, tiny, 0.0, 0.0, tiny) == 1
    assert orient2d(0.0, 0.0, tiny, tiny, 3 * tiny, 3 * tiny) == 0
    assert orient2d(12.0, 12.0, 24.0, 24.0, 0.5, np.nextafter(0.5, 1)) == 1
    assert orient2d(12.0, 12.0, 24.0, 24.0, 0.5, np.nextafter(0.5, 0)) == -1
    assert collinear([0.1, 0.1, 0.1], [0.7, 0.7, 0.7], [1e40, 1e40, 1e40])
    assert not collinear([0.1, 0.1, 0.1], [0.7, 0.7, 0.7], [0.3, 0.3, np.nextafter(0.3, 1)])
    assert newell_normal([[0.0, 0.0, 1.0], [0.5, 0.0, 1.0], [0.0, 0.5, 1.0]]) == (0, 0, 1)
    assert determinant_sign([[1e-300, 0.0, 0.0], [0.0, 1e-300, 0.0], [0.0, 0.0, -1e-300]]) == -1
    assert determinant_sign([[0.1, 0.2, 0.3], [0.2, 0.4, 0.6], [1.0, 0.0, 0.0]]) == 0
