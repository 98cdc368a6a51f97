"""The big integers inside the kernels, against Python's own."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from impinge.geometry.exact import big_integers as inner
from impinge.geometry.exact.big_integers import DIGIT_BITS
from impinge.kernels.jit import kernel

LARGEST = 2.0**150

coordinates = st.one_of(
    st.floats(-LARGEST, LARGEST, allow_nan=False, allow_infinity=False, allow_subnormal=True),
    st.integers(-5, 5).map(float),
    # Powers of two and their neighbours stand at the ends of a row of digits.
    st.builds(lambda e, m: float(m) * 2.0**e, st.integers(-1074, 140), st.sampled_from([1, -1, 3, -3, 1023, -1025])),
)
points = st.lists(st.tuples(coordinates, coordinates, coordinates), min_size=2, max_size=5).map(
    lambda rows: np.array(rows, dtype=np.float64)
)


# Only kernels can call what is inside of kernels.


@kernel
def integers(points: Any) -> Any:
    return inner.integers(points)


@kernel
def make_relative(rows: Any) -> None:
    inner.make_relative(rows)


@kernel
def subtract(u: Any, v: Any) -> Any:
    return inner.subtract(u, v)


@kernel
def cross(u: Any, v: Any) -> Any:
    return inner.cross(u, v)


@kernel
def dot(u: Any, v: Any) -> Any:
    return inner.dot(u, v)


@kernel
def multiply(x: Any, y: Any) -> Any:
    return inner.multiply(x, y)


@kernel
def difference(x: Any, y: Any) -> Any:
    return inner.difference(x, y)


@kernel
def compare(x: Any, y: Any) -> Any:
    return inner.compare(x, y)


@kernel
def sign(x: Any) -> Any:
    return inner.sign(x)


@kernel
def nearest_float(x: Any, exponent: Any) -> Any:
    return inner.nearest_float(x, exponent)


def value(digits: NDArray[Any]) -> int:
    """The integer that a row of digits stands for."""
    return sum(int(digit) << (DIGIT_BITS * i) for i, digit in enumerate(digits))


def vector(rows: NDArray[Any]) -> list[int]:
    return [value(row) for row in rows]


def as_row(number: int, length: int) -> NDArray[np.int64]:
    """A Python integer as digits in [-2**27, 2**27)."""
    row = np.zeros(length, dtype=np.int64)
    half = 1 << (DIGIT_BITS - 1)
    for i in range(length):
        digit = ((number + half) & ((1 << DIGIT_BITS) - 1)) - half
        row[i] = digit
        number = (number - digit) >> DIGIT_BITS
    assert number == 0
    return row


def python_cross(u: list[int], v: list[int]) -> list[int]:
    return [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]


def python_sign(number: int | Fraction) -> int:
    return (number > 0) - (number < 0)


@given(points)
def test_integers_times_their_unit_are_the_floats(given_points: NDArray[np.float64]) -> None:
    rows, unit = integers(given_points)
    for point, row in zip(given_points.tolist(), rows, strict=True):
        assert [Fraction(number) * Fraction(2) ** int(unit) for number in vector(row)] == list(map(Fraction, point))


@pytest.mark.parametrize(
    "extremes",
    [
        [0.0, -0.0, 0.0],
        [5e-324, 0.0, -5e-324],
        [2.0**-1022, np.nextafter(2.0**-1022, 0.0), 5e-324],
        [2.0**150, -(2.0**150), 5e-324],
        [np.nextafter(2.0**150, 0.0), 1.0, -np.nextafter(1.0, 0.0)],
        [2.0**27, -(2.0**27), 2.0**28],
        [2.0**55 - 8.0, 2.0**56, -(2.0**83)],
    ],
)
def test_extreme_floats_survive(extremes: list[float]) -> None:
    given_points = np.array([extremes, extremes[::-1]])
    rows, unit = integers(given_points)
    assert [Fraction(number) * Fraction(2) ** int(unit) for number in vector(rows[0])] == list(map(Fraction, extremes))
    assert vector(rows[0]) == vector(rows[1])[::-1]


def test_the_number_of_digits_follows_from_the_input() -> None:
    on_a_grid = np.array([[1024.0, 2048.0, 0.0], [3072.0, -1024.0, 1024.0]])
    ordinary = np.array([[0.1, 0.2, 0.3], [1.0, 3.0, 1e-3]])
    widest = np.array([[5e-324, 0.0, 0.0], [0.0, 2.0**150, 0.0]])
    digits = [integers(p)[0].shape[2] for p in (on_a_grid, ordinary, widest)]
    assert digits[0] < digits[1] < digits[2]
    assert digits[0] <= 5


@given(points)
def test_differences_and_products_are_those_of_python(given_points: NDArray[np.float64]) -> None:
    rows, _ = integers(given_points)
    u, v = rows[0], rows[1]
    whole_u, whole_v = vector(u), vector(v)
    between = subtract(u, v)
    assert vector(between) == [x - y for x, y in zip(whole_u, whole_v, strict=True)]
    normal = cross(between, v)
    assert vector(normal) == python_cross(vector(between), whole_v)
    product = dot(normal, u)
    whole_product = sum(x * y for x, y in zip(vector(normal), whole_u, strict=True))
    assert value(product) == whole_product
    assert sign(product) == python_sign(whole_product)
    square = multiply(product, product)
    assert value(square) == whole_product**2
    assert compare(square, product) == python_sign(whole_product**2 - whole_product)
    assert value(difference(product, square)) == whole_product - whole_product**2


@given(points)
def test_make_relative_moves_the_first_point_to_the_origin_of_the_others(given_points: NDArray[np.float64]) -> None:
    rows, _ = integers(given_points)
    before = [vector(row) for row in rows]
    make_relative(rows)
    assert vector(rows[0]) == before[0]
    for row, old in zip(rows[1:], before[1:], strict=True):
        assert vector(row) == [x - y for x, y in zip(old, before[0], strict=True)]


@given(st.integers(-(10**600), 10**600), st.integers(-(10**600), 10**600))
def test_many_digits(x: int, y: int) -> None:
    row_x, row_y = as_row(x, 73), as_row(y, 73)
    product = multiply(row_x, row_y)
    assert value(product) == x * y
    assert np.abs(product[:-1]).max() <= 1 << (DIGIT_BITS - 1)
    assert sign(row_x) == python_sign(x)
    assert compare(row_x, row_y) == python_sign(x - y)


def test_longest_convolution_does_not_overflow() -> None:
    # 500 digits of the largest magnitude: every sum of the convolution is as large as it can be.
    row = np.full(500, -(1 << (DIGIT_BITS - 1)), dtype=np.int64)
    assert value(multiply(row, row)) == value(row) ** 2


@given(st.integers(-(2**400), 2**400), st.integers(-1500, 400))
def test_nearest_float_is_near_and_keeps_the_sign(number: int, exponent: int) -> None:
    found = nearest_float(as_row(number, 20), exponent)
    truth = Fraction(number) * Fraction(2) ** exponent
    assert python_sign(Fraction(found)) == python_sign(truth)
    if abs(truth) >= Fraction(2) ** -1022:
        assert abs(Fraction(found) - truth) <= abs(truth) * Fraction(2) ** -50
    else:
        assert abs(found) <= 2.0**-1022


def test_nearest_float_of_one_digit_and_of_cancelling_digits() -> None:
    assert nearest_float(as_row(-7, 6), 0) == -7.0
    assert nearest_float(np.array([-1, 1], dtype=np.int64), 0) == 2.0**28 - 1.0
    assert nearest_float(np.zeros(4, dtype=np.int64), 5) == 0.0
