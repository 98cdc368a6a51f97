# mypy: allow-untyped-defs, allow-incomplete-defs
"""Orientation predicates: a floating-point filter with a proven bound, then exact integers.

``orient2d(a, b, c)`` is the sign of det[b-a, c-a]: 1 where a, b, c turn to the left.
``orient3d(a, b, c, d)`` is the sign of ((b-a) x (c-a)) . (d-a): 1 where d lies on the side
to which the normal of the triangle abc points.  Points are tuples of floats.

Error of the filter
-------------------
Let u = 2**-53 and let dx, dy, dz bound the computed coordinate differences.  Every
term of the 3x3 determinant is a product of three differences.  The computed value
of a term has passed through at most eight roundings (three subtractions, two
products, the subtraction of the minor, two sums), so

    |error| <= ((1 + u)**8 - 1) * 6 * dx*dy*dz * (1 + u)**2 < 49 u * dx*dy*dz,

where the last factor and the step from 48 to 49 cover the rounding of the bound itself.
In the plane each of the two terms passes through at most four roundings: 9 u * dx*dy.
A product that underflows loses up to 2**-1075, which later factors (below 2**153, see
constants.LARGEST_COORDINATE) may magnify to 2**-922: adding 2**-900 covers that, so that
the bounds hold for every input.  This is the semi-static filter of Meyer and Pion
(2008); exactness then comes from geometry.exact.big_integers, with no limit on exponents.
"""

from __future__ import annotations

import numpy as np

from impinge.constants import UNIT_ROUNDOFF
from impinge.geometry.exact import big_integers
from impinge.geometry.exact.double_double import two_product, two_sum
from impinge.kernels.jit import cold, inner

_ORIENT3D_ERROR = 49.0 * UNIT_ROUNDOFF
_ORIENT2D_ERROR = 9.0 * UNIT_ROUNDOFF
UNDERFLOW = 2.0**-900


@inner
def subtract(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@inner
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inner
def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@inner
def sign(x):
    return 1 if x > 0.0 else (-1 if x < 0.0 else 0)


@inner
def orient3d_error(dx, dy, dz):
    """Bound on the error of orient3d in floats, given bounds on the coordinate differences."""
    return _ORIENT3D_ERROR * (dx * dy * dz) + UNDERFLOW


@cold("float64(" + ", ".join(["float64"] * 12) + ")")
def _orient3d_exact(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz):
    points = np.empty((4, 3))
    points[0, 0], points[0, 1], points[0, 2] = ax, ay, az
    points[1, 0], points[1, 1], points[1, 2] = bx, by, bz
    points[2, 0], points[2, 1], points[2, 2] = cx, cy, cz
    points[3, 0], points[3, 1], points[3, 2] = dx, dy, dz
    rows, unit = big_integers.integers(points)
    big_integers.make_relative(rows)
    return big_integers.nearest_float(big_integers.dot(big_integers.cross(rows[1], rows[2]), rows[3]), 3 * unit)


@inner
def orient3d_exact(a, b, c, d):
    """The determinant with its exact sign, correct to one part in 2**50."""
    for j in range(3):
        # A common axis-parallel plane, the usual case of CAD models, needs no arithmetic.
        if a[j] == b[j] == c[j] == d[j]:
            return 0.0
    return _orient3d_exact(a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2], d[0], d[1], d[2])


@inner
def orient3d_float(a, b, c, d):
    """The determinant in floats."""
    return dot(cross(subtract(b, a), subtract(c, a)), subtract(d, a))


@inner
def orient3d_filtered(a, b, c, d, error):
    """The sign of orient3d, given the error bound of the float evaluation."""
    value = orient3d_float(a, b, c, d)
    if value > error:
        return 1
    if value < -error:
        return -1
    return sign(orient3d_exact(a, b, c, d))


@inner
def _orient3d_error_of(a, b, c, d):
    u = subtract(b, a)
    v = subtract(c, a)
    w = subtract(d, a)
    dx = max(abs(u[0]), abs(v[0]), abs(w[0]))
    dy = max(abs(u[1]), abs(v[1]), abs(w[1]))
    dz = max(abs(u[2]), abs(v[2]), abs(w[2]))
    return orient3d_error(dx, dy, dz)


@inner
def orient3d(a, b, c, d):
    """1, 0 or -1: on which side of the plane abc the point d lies."""
    return orient3d_filtered(a, b, c, d, _orient3d_error_of(a, b, c, d))


@inner
def orient3d_is_certain(a, b, c, d):
    """Whether floats show that the point d is not in the plane abc."""
    return abs(orient3d_float(a, b, c, d)) > _orient3d_error_of(a, b, c, d)


@cold("float64(" + ", ".join(["float64"] * 6) + ")")
def _orient2d_exact(ax, ay, bx, by, cx, cy):
    points = np.zeros((3, 3))
    points[0, 0], points[0, 1] = ax, ay
    points[1, 0], points[1, 1] = bx, by
    points[2, 0], points[2, 1] = cx, cy
    rows, unit = big_integers.integers(points)
    big_integers.make_relative(rows)
    return big_integers.nearest_float(big_integers.cross(rows[1], rows[2])[2], 2 * unit)


@inner
def orient2d_float(ax, ay, bx, by, cx, cy):
    """The determinant in floats and the bound on its error."""
    ux = bx - ax
    uy = by - ay
    vx = cx - ax
    vy = cy - ay
    return ux * vy - uy * vx, _ORIENT2D_ERROR * (max(abs(ux), abs(vx)) * max(abs(uy), abs(vy))) + UNDERFLOW


@inner
def orient2d(ax, ay, bx, by, cx, cy):
    """1 where a, b, c turn to the left, -1 to the right, 0 on one line."""
    value, error = orient2d_float(ax, ay, bx, by, cx, cy)
    if value > error:
        return 1
    if value < -error:
        return -1
    if (ax == bx == cx) or (ay == by == cy):
        return 0
    return sign(_orient2d_exact(ax, ay, bx, by, cx, cy))


@inner
def orient2d_often_flat(ax, ay, bx, by, cx, cy):
    """orient2d where most triples are nearly on one line: a stage before the integers takes a hundredth of their time.

    It needs differences without rounding error, as neighbours have, and products that do not underflow.  Then both
    products are known exactly, as a float and what it lacks.  Rounding keeps the order, so the floats decide
    unless they are equal.
    """
    value, error = orient2d_float(ax, ay, bx, by, cx, cy)
    if value > error:
        return 1
    if value < -error:
        return -1
    ux, lost_ux = two_sum(bx, -ax)
    uy, lost_uy = two_sum(by, -ay)
    vx, lost_vx = two_sum(cx, -ax)
    vy, lost_vy = two_sum(cy, -ay)
    if lost_ux == 0.0 and lost_uy == 0.0 and lost_vx == 0.0 and lost_vy == 0.0:
        left, lost_left = two_product(ux, vy)
        right, lost_right = two_product(uy, vx)
        if min(abs(left), abs(right)) > UNDERFLOW:
            return sign(left - right) if left != right else sign(lost_left - lost_right)
    return orient2d(ax, ay, bx, by, cx, cy)


@inner
def orient2d_value(ax, ay, bx, by, cx, cy):
    """The determinant det[b-a, c-a], correct to one part in 2**30 or better."""
    value, error = orient2d_float(ax, ay, bx, by, cx, cy)
    if abs(value) > 2.0**30 * error:
        return value
    return _orient2d_exact(ax, ay, bx, by, cx, cy)
