# mypy: allow-untyped-defs, allow-incomplete-defs
"""The normal of a triangle, with its direction certified.

Let u = 2**-53.  A component of the cross product of two edges is the difference of two products of
differences; each product passes through at most four roundings, so the component is off by less than 5 u times
the sum of their magnitudes (the *terms*), and the vector by less than 5 u times the sum t of all six.  With
|n| >= 2**-20 t the direction is off by less than 2**-30.  The bound is one on the vector, not on each component: faces
parallel to an axis, whose components are zero or the rounding of zero, are as certain as others.  Below it
(needles, and degenerate triangles) each component is evaluated by itself, in integers if need be.

Products that underflow lose 2**-1075 each, which is nothing beside a normal longer than 2**-400.
"""

from __future__ import annotations

import math

from impinge.geometry.exact.predicates import dot, orient2d_value, subtract
from impinge.kernels.jit import inner

_LEAST_PART_OF_TERMS = 2.0**-20
_LEAST_SQUARE = 2.0**-800


@inner
def cross_and_terms(u, v):
    """The cross product in floats, and for each component the sum of the magnitudes of its two products."""
    yz, zy = u[1] * v[2], u[2] * v[1]
    zx, xz = u[2] * v[0], u[0] * v[2]
    xy, yx = u[0] * v[1], u[1] * v[0]
    return (yz - zy, zx - xz, xy - yx), (abs(yz) + abs(zy), abs(zx) + abs(xz), abs(xy) + abs(yx))


@inner
def normal_and_terms(t):
    return cross_and_terms(subtract(t[1], t[0]), subtract(t[2], t[0]))


@inner
def has_certain_direction(square, terms):
    """Whether a normal of this squared length is within 2**-30 of the true direction."""
    least = _LEAST_PART_OF_TERMS * (terms[0] + terms[1] + terms[2])
    return square >= least * least and square > _LEAST_SQUARE


@inner
def normalised(x, y, z):
    """The vector with length one; zero if it is zero."""
    largest = max(abs(x), abs(y), abs(z))
    if largest == 0.0:
        return (0.0, 0.0, 0.0)
    x, y, z = x / largest, y / largest, z / largest
    length = math.sqrt(x * x + y * y + z * z)
    return (x / length, y / length, z / length)


@inner
def unit_normal(t):
    """The unit normal, correct for needles too; zero for a degenerate triangle."""
    normal, terms = normal_and_terms(t)
    if has_certain_direction(dot(normal, normal), terms):
        return normalised(normal[0], normal[1], normal[2])
    a, b, c = t
    x = orient2d_value(a[1], a[2], b[1], b[2], c[1], c[2])
    y = orient2d_value(a[2], a[0], b[2], b[0], c[2], c[0])
    z = orient2d_value(a[0], a[1], b[0], b[1], c[0], c[1])
    return normalised(x, y, z)
