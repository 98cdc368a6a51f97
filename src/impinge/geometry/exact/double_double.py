# mypy: allow-untyped-defs, allow-incomplete-defs
"""Double-double arithmetic with running error bounds: some 100 bits where 53 leave a sign open.

Dekker (1971), "A floating-point technique for extending the available precision"; Knuth's two-sum.  A number is
``high + low``, right to within ``error``.  The bound is kept along, and it is 0 as long as nothing was rounded: on
coordinates with few digits (boxes on a grid, axis-parallel faces) results are exact, and a zero is known to be one.

Roundings are of relative size 2**-53 in the low part, which is below 2**-53 of the high part.  The bounds
below are generous by a factor of two or more, which covers the rounding of the bounds themselves.

The splitting of a float for exact products overflows beyond 2**995: numbers become NaN then, and their sign uncertain.
A product that underflows is not exact, and the product of a number and a bound may vanish although neither is zero: the
bound of a product grows by ``_UNDERFLOW`` where either may be.  So no exponent makes a sign wrong, but tiny numbers
leave it open: coordinates should be scaled to about one, upward only (a factor below one loses digits of subnormal
numbers).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from impinge.kernels.jit import inner

_SPLITTER = 134217729.0  # 2**27 + 1
_PRODUCT_ERROR = 2.0**-102
_MAY_UNDERFLOW = 2.0**-900
_UNDERFLOW = 2.0**-1000

_SMALLEST = 2.0**-1074

UNCERTAIN = 2
"""The sign of a number that may be zero or not."""


class Fine(NamedTuple):
    """high + low, within error."""

    high: Any
    low: Any
    error: Any


@inner
def two_sum(x, y):
    """x + y as a float and what it lacks."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


@inner
def _ordered_sum(x, y):
    """As two_sum, where |x| >= |y|."""
    total = x + y
    return total, y - (total - x)


@inner
def _split(x):
    c = _SPLITTER * x
    high = c - (c - x)
    return high, x - high


@inner
def two_product(x, y):
    """x * y as a float and what it lacks."""
    product = x * y
    a, b = _split(x)
    c, d = _split(y)
    return product, ((a * c - product) + a * d + b * c) + b * d


@inner
def difference_of_products(a, b, c, d):
    """a*b - c*d to 1.5 ulp (Kahan), with products of halves instead of a fused operation."""
    p, lost_p = two_product(a, b)
    q, lost_q = two_product(c, d)
    return (p - q) + (lost_p - lost_q)


@inner
def accurate_cross(a, b):
    """The cross product of two vectors of floats, each component to 1.5 ulp (unless products underflow)."""
    return (
        difference_of_products(a[1], b[2], a[2], b[1]),
        difference_of_products(a[2], b[0], a[0], b[2]),
        difference_of_products(a[0], b[1], a[1], b[0]),
    )


@inner
def fine(x):
    """A float as it is."""
    return Fine(x, 0.0, 0.0)


@inner
def difference_of_floats(x, y):
    """x - y, exact."""
    high, low = two_sum(x, -y)
    return Fine(high, low, 0.0)


@inner
def plus(x, y):
    high, left = two_sum(x.high, y.high)
    low, lost = two_sum(x.low, y.low)
    low, lost_too = two_sum(left, low)
    high, low = two_sum(high, low)  # after cancellation the low part may be the larger one
    return Fine(high, low, x.error + y.error + 2.0 * (abs(lost) + abs(lost_too)))


@inner
def negative(x):
    return Fine(-x.high, -x.low, x.error)


@inner
def minus(x, y):
    return plus(x, negative(y))


@inner
def times(x, y):
    product, left = two_product(x.high, y.high)
    error = 0.0
    size = abs(product)
    if x.low != 0.0 or y.low != 0.0:
        left += x.high * y.low + x.low * y.high
        error = _PRODUCT_ERROR * size
    if size < _MAY_UNDERFLOW and x.high != 0.0 and y.high != 0.0:
        error += _UNDERFLOW
    if (x.error != 0.0 and (y.high != 0.0 or y.error != 0.0)) or (y.error != 0.0 and x.high != 0.0):
        # Neither is known to be zero.  |x| <= 2 |x.high| or x is zero within its error; the rest of the factor two
        # covers roundings.
        error += 2.0 * (abs(x.high) * y.error + abs(y.high) * x.error + x.error * y.error) + _UNDERFLOW
    high, low = _ordered_sum(product, left)
    return Fine(high, low, error)


@inner
def sign(x):
    """-1, 0, 1, or UNCERTAIN."""
    if x.high > 2.0 * x.error:
        return 1
    if x.high < -2.0 * x.error:
        return -1
    return 0 if x.high == 0.0 and x.error == 0.0 else UNCERTAIN


@inner
def quotient(x, y):
    """x / y to some 2**-100 of itself, as high and low; y is not zero."""
    q = x.high / y.high
    rest = minus(x, times(y, fine(q)))
    return _ordered_sum(q, rest.high / y.high)


@inner
def root(high, low):
    """The square root of a positive number, to some 2**-100 of itself, as a float and what it lacks."""
    r = math.sqrt(high)
    square, left = two_product(r, r)
    # One step of Newton's method on what r * r lacks.
    return two_sum(r, (((high - square) - left) + low) / (2.0 * r))


@inner
def rounded(x, y, exponent):
    """(x + y) * 2**exponent, rounded once; x is about one, and y small beside it."""
    high, low = two_sum(x, y)
    value = math.ldexp(high, exponent)
    # A subnormal number has fewer digits than ``high``: where that is in the middle of two, the low part decides.
    lost = high - math.ldexp(value, -exponent)
    if lost != 0.0 and low != 0.0 and abs(lost) == math.ldexp(1.0, -1075 - exponent):
        if lost > 0.0 and low > 0.0:
            return value + _SMALLEST
        if lost < 0.0 and low < 0.0:
            return value - _SMALLEST
    return value
