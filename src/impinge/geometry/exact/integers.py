"""Exact signs in plain Python integers, for the few cases that a rounded computation leaves undecided.

Every float64 is an integer times a power of two, so differences and products of
coordinates can be formed without any rounding, at any exponent.  A call costs
some microseconds: set-up code uses these functions after a vectorised filter, the
queries have compiled predicates of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

ORIENT2D_BOUND = (3.0 + 16.0 * 2.0**-53) * 2.0**-53
"""Shewchuk (1997), "Adaptive precision floating-point arithmetic", ccwerrboundA: the computed 2 x 2 determinant of
differences is off by at most this times the sum of the magnitudes of its two products."""

SAFE_FROM_UNDERFLOW = 2.0**-960
"""A determinant above this has lost nothing to underflow (each product is off by at most 2**-1075)."""


def as_integers(values: Iterable[float]) -> list[int]:
    """The values times one common power of two that makes all of them whole.

    >>> as_integers([0.5, 3.0, -0.125])
    [4, 24, -1]
    """
    ratios = [value.as_integer_ratio() for value in values]
    common = max(denominator for _, denominator in ratios)
    return [numerator * (common // denominator) for numerator, denominator in ratios]


def sign(number: float) -> int:
    """-1, 0 or 1."""
    return (number > 0) - (number < 0)


def orient2d(ax: float, ay: float, bx: float, by: float, cx: float, cy: float) -> int:
    """1 where a, b, c turn left, -1 where they turn right, 0 where they are collinear; exact.

    >>> orient2d(0.0, 0.0, 1.0, 0.0, 0.0, 5e-324)
    1
    """
    left = (ax - cx) * (by - cy)
    right = (ay - cy) * (bx - cx)
    determinant = left - right
    size = abs(determinant)
    if size > ORIENT2D_BOUND * (abs(left) + abs(right)) and size > SAFE_FROM_UNDERFLOW:
        return sign(determinant)
    ax_, ay_, bx_, by_, cx_, cy_ = as_integers((ax, ay, bx, by, cx, cy))
    return sign((ax_ - cx_) * (by_ - cy_) - (ay_ - cy_) * (bx_ - cx_))


def newell_normal(points: Sequence[Sequence[float]]) -> tuple[int, int, int]:
    """Newell's normal of a polygon in space, times an unspecified positive power of two; exact.

    Its components are twice the signed areas of the polygon's shadows along the three axes.
    """
    whole = as_integers([coordinate for point in points for coordinate in point])
    x, y, z = whole[0::3], whole[1::3], whole[2::3]
    ring = range(len(x))
    return (
        sum(y[i - 1] * z[i] - y[i] * z[i - 1] for i in ring),
        sum(z[i - 1] * x[i] - z[i] * x[i - 1] for i in ring),
        sum(x[i - 1] * y[i] - x[i] * y[i - 1] for i in ring),
    )


def collinear(a: Sequence[float], b: Sequence[float], c: Sequence[float]) -> bool:
    """Whether three points in space lie on one line; exact."""
    whole = as_integers([*a, *b, *c])
    ux, uy, uz = (whole[i + 3] - whole[i] for i in range(3))
    vx, vy, vz = (whole[i + 6] - whole[i] for i in range(3))
    return uy * vz == uz * vy and uz * vx == ux * vz and ux * vy == uy * vx


def determinant_sign(matrix: Sequence[Sequence[float]]) -> int:
    """The sign of the determinant of a 3 x 3 matrix; exact."""
    a, b, c, d, e, f, g, h, i = as_integers([entry for row in matrix for entry in row])
    return sign(a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g))
