# mypy: allow-untyped-defs, allow-incomplete-defs
"""Two kinds of arithmetic for one walk: double-double, which may leave a sign uncertain, and integers, which never do.

``distance.exact_gjk`` is written once, in terms of the functions here; which arithmetic is meant follows from the class
of the first argument.  ``Fine`` numbers (``exact.double_double``) are made of coordinates scaled by a power of two;
``Whole`` ones (``geometry.exact.big_integers``) of coordinates in a common unit, again a power of two.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from impinge.geometry.exact import big_integers, double_double
from impinge.geometry.exact.double_double import UNCERTAIN, Fine, difference_of_floats
from impinge.kernels.jit import generic, inlined, inner


class Whole(NamedTuple):
    """An integer of any length."""

    digits: Any


class FineVector(NamedTuple):
    x: Any
    y: Any
    z: Any


class WholeVector(NamedTuple):
    """(3, n) digits."""

    rows: Any


class InDoubles(NamedTuple):
    """Asks for Fine numbers; coordinates are multiplied by the scale, 2**exponent.

    The scale is not below one: then nothing is lost, also of subnormal coordinates.
    """

    scale: Any
    exponent: Any


class InIntegers(NamedTuple):
    """Asks for Whole numbers."""

    scale: Any
    exponent: Any


@generic
def differences(kind, points):
    """Of points (9, 3): four vectors, row i minus row 4 + i; points[8, 0] + points[8, 1]; their unit's exponent."""


@generic
def step(kind, p, q):
    """The vector q - p in a unit of its own."""


@generic
def difference(v, w):
    """v - w for vectors."""


@generic
def cross(v, w): ...


@generic
def dot(v, w): ...


@generic
def opposite(v):
    """-v for a vector."""


@generic
def is_zero(v):
    """1, 0 or UNCERTAIN: whether all components of a vector are zero."""


@generic
def relative_error(x):
    """How far a number that is not zero may be off, relative to itself."""


@generic
def in_floats(v):
    """The vector times some power of two, rounded: right to 2**-50 of its largest component and ``error_of(v)``."""


@generic
def error_of(v):
    """The sum of the errors of the components of ``in_floats(v)``, but for rounding."""


@generic
def along_axis(direction, v):
    """The length of v along a direction that is known to be an axis, rounded to a float; 0.0 for other directions."""


@generic
def sign(x):
    """-1, 0, 1 or UNCERTAIN."""


@generic
def negative(x): ...


@generic
def plus(x, y): ...


@generic
def times(x, y): ...


@generic
def in_two_floats(x):
    """(high, low, exponent): the number is (high + low) * 2**exponent, to some 2**-100 of itself."""


# --------------------------------------------------------------------- double-double


@inlined
def _fine_step(p, q, scale):
    return FineVector(
        difference_of_floats(scale * q[0], scale * p[0]),
        difference_of_floats(scale * q[1], scale * p[1]),
        difference_of_floats(scale * q[2], scale * p[2]),
    )


@inlined
def _row(points, i):
    return (points[i, 0], points[i, 1], points[i, 2])


@differences.of(InDoubles)
def _fine_differences(kind, points):
    vectors = (
        _fine_step(_row(points, 4), _row(points, 0), kind.scale),
        _fine_step(_row(points, 5), _row(points, 1), kind.scale),
        _fine_step(_row(points, 6), _row(points, 2), kind.scale),
        _fine_step(_row(points, 7), _row(points, 3), kind.scale),
    )
    total = difference_of_floats(kind.scale * points[8, 0], -kind.scale * points[8, 1])
    return vectors, total, -kind.exponent


@step.of(InDoubles)
def _step_in_doubles(kind, p, q):
    return _fine_step(p, q, kind.scale)


@inner
def _minus(x, y):
    return double_double.minus(x, y)


@inner
def _times(x, y):
    return double_double.times(x, y)


@difference.of(FineVector)
def _fine_difference(v, w):
    return FineVector(_minus(v.x, w.x), _minus(v.y, w.y), _minus(v.z, w.z))


@inner
def _fine_cross_of(v, w):
    return FineVector(
        _minus(_times(v.y, w.z), _times(v.z, w.y)),
        _minus(_times(v.z, w.x), _times(v.x, w.z)),
        _minus(_times(v.x, w.y), _times(v.y, w.x)),
    )


@cross.of(FineVector)
def _fine_cross(v, w):
    return _fine_cross_of(v, w)


@inner
def _fine_dot_of(v, w):
    return double_double.plus(double_double.plus(_times(v.x, w.x), _times(v.y, w.y)), _times(v.z, w.z))


@dot.of(FineVector)
def _fine_dot(v, w):
    return _fine_dot_of(v, w)


@opposite.of(FineVector)
def _fine_opposite(v):
    return FineVector(double_double.negative(v.x), double_double.negative(v.y), double_double.negative(v.z))


@inner
def _fine_is_zero_of(v):
    x, y, z = double_double.sign(v.x), double_double.sign(v.y), double_double.sign(v.z)
    if abs(x) == 1 or abs(y) == 1 or abs(z) == 1:
        return 0
    return 1 if x == 0 and y == 0 and z == 0 else UNCERTAIN


@is_zero.of(FineVector)
def _fine_is_zero(v):
    return _fine_is_zero_of(v)


@relative_error.of(Fine)
def _fine_relative_error(x):
    return x.error / abs(x.high) if x.high != 0.0 else 1.0


@in_floats.of(FineVector)
def _fine_in_floats(v):
    return (v.x.high, v.y.high, v.z.high)


@error_of.of(FineVector)
def _fine_error_of(v):
    return v.x.error + v.y.error + v.z.error


@inner
def _is_exactly_zero(x):
    return x.high == 0.0 and x.error == 0.0


@inner
def _fine_along_axis_of(direction, v):
    x, y, z = _is_exactly_zero(direction.x), _is_exactly_zero(direction.y), _is_exactly_zero(direction.z)
    if y and z:
        return abs(v.x.high)
    if z and x:
        return abs(v.y.high)
    if x and y:
        return abs(v.z.high)
    return 0.0


@along_axis.of(FineVector)
def _fine_along_axis(direction, v):
    return _fine_along_axis_of(direction, v)


@sign.of(Fine)
def _fine_sign(x):
    return double_double.sign(x)


@negative.of(Fine)
def _fine_negative(x):
    return double_double.negative(x)


@plus.of(Fine)
def _fine_plus(x, y):
    return double_double.plus(x, y)


@times.of(Fine)
def _fine_times(x, y):
    return _times(x, y)


@in_two_floats.of(Fine)
def _fine_in_two_floats(x):
    return x.high, x.low, 0


# -------------------------------------------------------------------------- integers


@differences.of(InIntegers)
def _whole_differences(kind, points):
    rows, unit = big_integers.integers(points)
    vectors = (
        WholeVector(big_integers.subtract(rows[0], rows[4])),
        WholeVector(big_integers.subtract(rows[1], rows[5])),
        WholeVector(big_integers.subtract(rows[2], rows[6])),
        WholeVector(big_integers.subtract(rows[3], rows[7])),
    )
    return vectors, Whole(big_integers.difference(rows[8, 0], -rows[8, 1])), unit


@step.of(InIntegers)
def _step_in_integers(kind, p, q):
    two = np.empty((2, 3))
    two[0, 0], two[0, 1], two[0, 2] = p
    two[1, 0], two[1, 1], two[1, 2] = q
    rows, _ = big_integers.integers(two)
    return WholeVector(big_integers.subtract(rows[1], rows[0]))


@difference.of(WholeVector)
def _whole_difference(v, w):
    return WholeVector(big_integers.subtract(v.rows, w.rows))


@cross.of(WholeVector)
def _whole_cross(v, w):
    return WholeVector(big_integers.cross(v.rows, w.rows))


@dot.of(WholeVector)
def _whole_dot(v, w):
    return Whole(big_integers.dot(v.rows, w.rows))


@opposite.of(WholeVector)
def _whole_opposite(v):
    return WholeVector(-v.rows)


@inner
def _whole_is_zero_of(rows):
    return (
        1
        if big_integers.sign(rows[0]) == 0 and big_integers.sign(rows[1]) == 0 and big_integers.sign(rows[2]) == 0
        else 0
    )


@is_zero.of(WholeVector)
def _whole_is_zero(v):
    return _whole_is_zero_of(v.rows)


@relative_error.of(Whole)
def _whole_relative_error(x):
    return 0.0


@inner
def near_one(rows):
    """A vector of integers (3, n) times a power of two that brings it near one, rounded."""
    top = 0
    for i in range(3):
        top = max(top, big_integers.highest_digit(rows[i]))
    shift = -big_integers.DIGIT_BITS * top
    return (
        _float_of(rows[0], shift),
        _float_of(rows[1], shift),
        _float_of(rows[2], shift),
    )


@inner
def _float_of(digits, shift):
    return big_integers.nearest_float(digits, shift) if big_integers.sign(digits) != 0 else 0.0


@in_floats.of(WholeVector)
def _whole_in_floats(v):
    return near_one(v.rows)


@error_of.of(WholeVector)
def _whole_error_of(v):
    return 0.0


@along_axis.of(WholeVector)
def _whole_along_axis(direction, v):
    # Not needed: integers tell on which side of the middle between two floats any distance lies.
    return 0.0


@sign.of(Whole)
def _whole_sign(x):
    return big_integers.sign(x.digits)


@negative.of(Whole)
def _whole_negative(x):
    return Whole(-x.digits)


@plus.of(Whole)
def _whole_plus(x, y):
    return Whole(big_integers.difference(x.digits, -y.digits))


@times.of(Whole)
def _whole_times(x, y):
    return Whole(big_integers.multiply(x.digits, y.digits))


@inner
def _in_two_floats_of(digits):
    top = big_integers.highest_digit(digits)
    high, low = 0.0, 0.0
    # Each digit is exact in a float; eight of them hold more than 190 bits.
    for i in range(top, max(top - 8, -1), -1):
        high, left = double_double.two_sum(high * 268435456.0, float(digits[i]))
        low = low * 268435456.0 + left
    high, low = double_double.two_sum(high, low)
    return high, low, big_integers.DIGIT_BITS * max(top - 7, 0)


@in_two_floats.of(Whole)
def _whole_in_two_floats(x):
    return _in_two_floats_of(x.digits)
