"""Double-double numbers: the truth is within the error that a number claims."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numba
import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from impinge import jit
from impinge.geometry import double_double
from impinge.geometry.double_double import UNCERTAIN, Fine
from impinge.lab.oracle import square_root


def from_python(function: Any) -> Any:
    """Functions of the kernels have no entry from Python: compile them once more, with one."""
    return function if jit.config.DISABLE_JIT else numba.njit(error_model="numpy")(function.py_func)


difference_of_floats = from_python(double_double.difference_of_floats)
plus, times, sign = (from_python(f) for f in (double_double.plus, double_double.times, double_double.sign))
quotient, root = from_python(double_double.quotient), from_python(double_double.root)

floats = st.floats(-1e30, 1e30, allow_subnormal=False)
wholes = st.integers(-1000, 1000).map(float)


def exact(x: Fine) -> Fraction:
    return Fraction(float(x.high)) + Fraction(float(x.low))


def holds(x: Fine, truth: Fraction) -> bool:
    return abs(exact(x) - truth) <= Fraction(float(x.error))


@given(floats | wholes, floats | wholes, floats | wholes, floats | wholes)
@example(1.0, 2.0**-60, 1.0, -(2.0**-60))
@example(1e-300, 1e-300, 1e-300, 0.0)
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


@given(st.floats(1e-60, 1e60), st.floats(1e-60, 1e60))
def test_roots_of_quotients_round_correctly(a: float, b: float) -> None:
    high, low = quotient(Fine(a, 0.0, 0.0), Fine(b, 0.0, 0.0))
    truth = Fraction(a) / Fraction(b)
    assert abs(Fraction(float(high)) + Fraction(float(low)) - truth) <= truth / 2**100
    assert root(high, low) == square_root(truth)
