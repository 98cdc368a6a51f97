# mypy: allow-untyped-defs, allow-incomplete-defs
"""Exact arithmetic inside compiled kernels: vectors of big integers as rows of digits.

When the floating-point filter of a predicate cannot decide, the coordinates at
hand are scaled by one power of two to integers, and the polynomial is evaluated
on those.  An integer is a row of signed digits d, least significant first, value
sum(d[i] * 2**(28 * i)), each digit in [-2**27, 2**27).  With digits that small a
plain int64 convolution of up to 512 terms cannot overflow, carries are
propagated once for each product, and the sign is the sign of the highest
non-zero digit.

Shewchuk (1997) would use expansions of floats here.  Integers were preferred
because they have no exponent range: products neither underflow nor overflow,
so the predicates are exact for every float64 input up to 2**150, subnormals
included, and degree six (``closer_than``) costs no extra care.  The number of
digits follows from the input: coordinates on a coarse grid need one digit,
ordinary ones three or four.
"""

from __future__ import annotations

import math

import numpy as np

from impinge.kernels.jit import inner

DIGIT_BITS = 28
_BASE = 1 << DIGIT_BITS
_HALF = _BASE >> 1
_FRACTION = (1 << 52) - 1
_NO_EXPONENT = 5000
_SMALLEST_NORMAL = 2.0**-1022


@inner
def _carry(digits):
    """Bring every digit but the last back into [-2**27, 2**27)."""
    for i in range(len(digits) - 1):
        over = (digits[i] + _HALF) >> DIGIT_BITS
        digits[i] -= over << DIGIT_BITS
        digits[i + 1] += over


@inner
def _mantissa(bits):
    """The magnitude of a float, given by its bits, as an integer below 2**53 ..."""
    fraction = bits & _FRACTION
    return fraction | (_FRACTION + 1) if (bits >> 52) & 0x7FF else fraction


@inner
def _exponent(bits):
    """... times two to this power."""
    return max((bits >> 52) & 0x7FF, 1) - 1075


@inner
def _trailing_zeros(integer):
    count = 0
    while integer & 0xFF == 0:
        integer >>= 8
        count += 8
    while integer & 1 == 0:
        integer >>= 1
        count += 1
    return count


@inner
def common_unit(points):
    """Exponents (low, high): all numbers are multiples of 2**low and below 2**high."""
    bits = points.view(np.int64)
    low = _NO_EXPONENT
    high = -_NO_EXPONENT
    for i in range(points.shape[0]):
        for j in range(3):
            mantissa = _mantissa(bits[i, j])
            if mantissa != 0:
                exponent = _exponent(bits[i, j])
                high = max(high, exponent + 53)
                if exponent < low:
                    low = min(low, exponent + _trailing_zeros(mantissa))
    if low > high:
        return 0, 0
    return low, high


@inner
def _load(bits, unit, digits):
    """Write the float with these bits, divided by 2**unit, into the row."""
    integer = _mantissa(bits)
    shift = _exponent(bits) - unit
    if shift < 0:
        integer >>= -shift
        shift = 0
    place = shift // DIGIT_BITS
    rest = shift % DIGIT_BITS
    low = (integer & (_BASE - 1)) << rest
    high = (integer >> DIGIT_BITS) << rest
    if bits < 0:
        low = -low
        high = -high
    digits[place] = low
    digits[place + 1] = high
    _carry(digits)


@inner
def integers(points):
    """The points (k, 3) as integers (k, 3, digits), and the exponent of their common unit.

    Rows have at least 29 bits to spare, so that sums and differences of a few of them, or
    of their products, never overflow.
    """
    low, high = common_unit(points)
    bits = points.view(np.int64)
    count = (high - low) // DIGIT_BITS + 2
    rows = np.zeros((points.shape[0], 3, count), dtype=np.int64)
    for i in range(points.shape[0]):
        for j in range(3):
            if points[i, j] != 0.0:
                _load(bits[i, j], low, rows[i, j])
    return rows, low


@inner
def subtract(u, v):
    """u - v for vectors (3, n)."""
    difference = np.empty_like(u)
    for i in range(3):
        for j in range(u.shape[1]):
            difference[i, j] = u[i, j] - v[i, j]
        _carry(difference[i])
    return difference


@inner
def make_relative(rows):
    """Subtract the first point from all the others, in place."""
    for i in range(1, rows.shape[0]):
        for j in range(3):
            for k in range(rows.shape[2]):
                rows[i, j, k] -= rows[0, j, k]
            _carry(rows[i, j])


@inner
def _add_product(total, x, y):
    for i in range(len(x)):
        if x[i] != 0:
            for j in range(len(y)):
                total[i + j] += x[i] * y[j]


@inner
def _subtract_product(total, x, y):
    for i in range(len(x)):
        if x[i] != 0:
            for j in range(len(y)):
                total[i + j] -= x[i] * y[j]


@inner
def multiply(x, y):
    """The product of two integers."""
    product = np.zeros(len(x) + len(y), dtype=np.int64)
    _add_product(product, x, y)
    _carry(product)
    return product


@inner
def scaled(u, x):
    """The vector u (3, n) times the integer x."""
    product = np.zeros((3, u.shape[1] + len(x)), dtype=np.int64)
    for i in range(3):
        _add_product(product[i], u[i], x)
        _carry(product[i])
    return product


@inner
def cross(u, v):
    """The cross product of vectors (3, n) and (3, m)."""
    product = np.zeros((3, u.shape[1] + v.shape[1]), dtype=np.int64)
    for i in range(3):
        j = (i + 1) % 3
        k = (i + 2) % 3
        _add_product(product[i], u[j], v[k])
        _subtract_product(product[i], u[k], v[j])
        _carry(product[i])
    return product


@inner
def dot(u, v):
    """The inner product of vectors (3, n) and (3, m)."""
    total = np.zeros(u.shape[1] + v.shape[1], dtype=np.int64)
    for i in range(3):
        _add_product(total, u[i], v[i])
    _carry(total)
    return total


@inner
def difference(x, y):
    """x - y for integers of any two lengths."""
    total = np.zeros(max(len(x), len(y)), dtype=np.int64)
    for i in range(len(x)):
        total[i] = x[i]
    for i in range(len(y)):
        total[i] -= y[i]
    _carry(total)
    return total


@inner
def sign(x):
    """-1, 0 or 1."""
    for i in range(len(x) - 1, -1, -1):
        if x[i] != 0:
            return 1 if x[i] > 0 else -1
    return 0


@inner
def compare(x, y):
    """The sign of x - y."""
    return sign(difference(x, y))


@inner
def highest_digit(x):
    """The place of the highest digit that is not zero, 0 for zero."""
    top = len(x) - 1
    while top > 0 and x[top] == 0:
        top -= 1
    return top


@inner
def nearest_float(x, exponent):
    """x * 2**exponent with a relative error below 2**-50, and with the sign of x also where that underflows."""
    top = highest_digit(x)
    value = 0.0
    for i in range(top, max(top - 4, -1), -1):
        value = value * 268435456.0 + float(x[i])
    rounded = math.ldexp(value, int(exponent + DIGIT_BITS * max(top - 3, 0)))
    if rounded == 0.0:
        return sign(x) * _SMALLEST_NORMAL
    return rounded
