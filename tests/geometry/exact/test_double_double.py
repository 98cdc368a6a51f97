"""Double-double numbers: the truth is within the error that a number claims."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numba
import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from impinge.geometry.exact import double_double
from impinge.geometry.exact.double_double import UNCERTAIN, Fine
from impinge.kernels.mode import without_compiler
from impinge.lab.oracle import square_root


def from_python(function: Any) -> Any:
    """Functions of the kernels have no entry from Python: compile them once more, with one."""
    return function if without_compiler() else numba.njit(error_model="numpy")(function.py_func)


difference_of_floats = from_python(double_double.difference_of_floats)
plus, times, sign = (from_python(f) for f in (double_double.plus, double_double.times, double_double.sign))
quotient, root = from_python(double_double.quotient), from_python(double_double.root)
rounded = from_python(double_double.rounded)

floats = st.floats(-1e30, 1e30)
tiny = st.builds(
    float.__mul__, st.floats(-2.0, 2.0), st.sampled_from([2.0**-k for k in (300, 511, 537, 900, 1022, 1050)])
)
wholes = st.integers(-1000, 1000).map(float)


def exact(x: Fine) -> Fraction:
    return Fraction(float(x.high)) + Fraction(float(x.low))


def holds(x: Fine, truth: Fraction) -> bool:
    return abs(exact(x) - truth) <= Fraction(float(x.error))


@given(floats | wholes | tiny, floats | wholes | tiny, floats | wholes | tiny, floats | wholes | tiny)
@example(1.0, 2.0**-60, 1.0, -(2.0**-60))
@example(1e-300, 1e-300, 1e-300, 0.0)
@example(2.0**-540, 0.0, 2.0**-540, 0.0)  # the product vanishes, and so does the product of its bound with another
@example(5e-324, 1.0, 2.0**100, 5e-324)
@example(0.0, 0.0, 0.0, 0.0)
def test_sums_and_products_hold_the_truth(a: float, b: float, c: float, d: float) -> None:
    x, y = difference_of_floats(a, b), difference_of_floats(c, d)
    first, second = Fraction(a) - Fraction(b), Fraction(c) - Fraction(d)
    assert exact(x) == first
    assert holds(plus(x, y), first + second)
    product, square = times(x, y), times(x, x)
    assert holds(product, first * second)
    assert holds(plus(product, square), first * second + first * first)
    assert holds(times(product, square), first**3 * second)
    for found, truth in ((product, first * second), (plus(product, square), first * (first + second))):
        known = sign(found)
        assert known == UNCERTAIN or known == (truth > 0) - (truth < 0)


@given(wholes, wholes, wholes, wholes)
def test_few_digits_are_exact(a: float, b: float, c: float, d: float) -> None:
    """Boxes on a grid and axis-parallel faces: a zero is known to be one."""
    determinant = plus(times(Fine(a, 0.0, 0.0), Fine(d, 0.0, 0.0)), times(Fine(-b, 0.0, 0.0), Fine(c, 0.0, 0.0)))
    assert determinant.error == 0.0
    assert sign(determinant) == np.sign(a * d - b * c)


def test_zero_times_anything_is_zero() -> None:
    """The components of a normal that is parallel to an axis: a bound there would leave boxes to the integers."""
    zero, anything = Fine(0.0, 0.0, 0.0), Fine(1.0, 2.0**-60, 2.0**-110)
    assert times(zero, anything) == times(anything, zero) == zero
    assert times(zero, Fine(0.0, 0.0, 2.0**-110)) == zero


def test_what_overflows_has_no_sign() -> None:
    huge = Fine(2.0**600, 0.0, 0.0)
    assert sign(times(huge, huge)) == UNCERTAIN
    assert sign(plus(times(huge, huge), huge)) == UNCERTAIN


@given(st.floats(1e-60, 1e60), st.floats(1e-60, 1e60))
def test_roots_of_quotients(a: float, b: float) -> None:
    high, low = quotient(Fine(a, 0.0, 0.0), Fine(b, 0.0, 0.0))
    truth = Fraction(a) / Fraction(b)
    assert abs(Fraction(float(high)) + Fraction(float(low)) - truth) <= truth / 2**100
    r, rest = (Fraction(float(part)) for part in root(high, low))
    assert abs((r + rest) ** 2 - truth) <= truth / 2**97
    assert float(r) == square_root(truth) or abs(abs(rest) - Fraction(float(np.spacing(float(r)))) / 2) <= r / 2**97


@given(st.floats(0.5, 2.0), st.floats(-1.0, 1.0), st.integers(52, 1080), st.integers(-1100, 200))
@example(1.5, 1.0, 200, -1074)  # in the middle of two subnormal numbers, but for a hair
@example(1.5, -1.0, 200, -1074)
@example(0.5, 1.0, 200, -1074)
@example(0.5, 0.0, 52, -1074)
@example(1.0, 1.0, 53, 0)
def test_rounding_is_done_once(x: float, y: float, below: int, exponent: int) -> None:
    y *= 2.0**-below
    assert rounded(x, y, exponent) == float((Fraction(x) + Fraction(y)) * Fraction(2) ** exponent)
