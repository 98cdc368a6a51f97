# mypy: allow-untyped-defs, allow-incomplete-defs
"""Which points lie inside a closed surface: the parity of crossings of a ray, exactly.

A ray in direction x is cast from a point that lies infinitesimally beside a known one,

    y = x + e*d1 + e**2*d2 + e**3*d3      for an infinitesimal e > 0.

Orientation predicates are affine in their last argument, so their sign at y is the first non-zero of four exact
numbers, and nothing is ever rounded or degenerate: y lies on no face, no edge, and no ray through y grazes either.
(That is Edelsbrunner and Muecke's simulation of simplicity, 1990, with directions chosen to fit the question.)

Everything about y is a function of the six corners of a pair of triangles (0 to 2 are those of the first, 3 to 5
those of the second), so that it can be evaluated exactly.  x is corner i, or the point where the edge from corner i
to corner j meets the plane of the other triangle.  A direction is a number and a sign: 0 to 5 lead from that corner to
the next one of its triangle, the others have names.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from impinge.geometry.exact import big_integers
from impinge.geometry.exact.predicates import UNDERFLOW, cross, dot, orient2d, orient3d, sign, subtract
from impinge.geometry.triangles.intersection import load_triangle, same_point
from impinge.kernels.jit import POINTER, array_at, cold, inlined, inner, pointer_to

ROUNDING = 2.0**-36
"""Rounding of a constructed point (below 2**-43, see triangles.crossing) and of the float values of functions there,
relative to the sizes at hand.  What is not certain goes to the exact signs."""

# Products of at most six differences, some 1000 u.
_SLOPE_ROUNDING = 2.0**-42
# A normal that underflows by 2**-1075 may be magnified by another one and by the gradient, below 2**307 each.
_SLOPE_UNDERFLOW = 2.0**-440

COMMON_LINE = 6
"""The direction of the cross product of both normals."""
NORMAL = 7
"""The normal of the first triangle; the next number is that of the second."""
_AXES = 9  # and the axes x, y, z, for points that belong to no pair
_DIRECTIONS = 12
_UNKNOWN = 2


# ------------------------------------------------------------------------ exact signs


@inner
def _normal(corners, face):
    i = 3 * face
    return big_integers.cross(
        big_integers.subtract(corners[i + 1], corners[i]),
        big_integers.subtract(corners[i + 2], corners[i]),
    )


@inner
def _unit_vector(axis):
    unit = np.zeros((3, 2), dtype=np.int64)
    unit[axis, 0] = 1
    return unit


@inner
def _next_corner(i):
    return i - 2 if i == 2 or i == 5 else i + 1  # a remainder takes longer than all the rest


@inner
def _direction(corners, direction):
    """A direction as an exact vector."""
    if direction < 6:
        return big_integers.subtract(corners[_next_corner(direction)], corners[direction])
    if direction == COMMON_LINE:
        return big_integers.cross(_normal(corners, 0), _normal(corners, 1))
    if direction < _AXES:
        return _normal(corners, direction - NORMAL)
    return _unit_vector(direction - _AXES)


@inner
def _exact_rows(corners, triangle):
    """The six corners of the pair and the three of another triangle, as integers."""
    points = np.empty((9, 3))
    for k in range(3):
        for i in range(6):
            points[i, k] = corners[i, k]
        for i in range(3):
            points[6 + i, k] = triangle[i, k]
    return big_integers.integers(points)[0]


@inner
def _gradient(rows, which):
    """The gradient of one of the four functions whose signs tell whether a ray in direction x crosses a triangle.

    Functions 0 to 2 vanish on the planes through an edge that contain the direction of the ray, function 3 on
    the plane of the triangle.
    """
    if which == 3:
        return big_integers.cross(big_integers.subtract(rows[7], rows[6]), big_integers.subtract(rows[8], rows[6]))
    return big_integers.cross(_unit_vector(0), big_integers.subtract(rows[6 + _next_corner(which)], rows[6 + which]))


@cold(f"int64({POINTER}, int64, int64, {POINTER}, int64)")
def _crossing_sign_exactly(corners, i, j, triangle, which):
    """The sign of a function at x, where the edge from i to j meets the plane of the other triangle."""
    rows = _exact_rows(array_at(corners, (6, 3)), array_at(triangle, (3, 3)))
    gradient = _gradient(rows, which)
    origin = rows[6 if which == 3 else 6 + which]
    at_i = big_integers.dot(gradient, big_integers.subtract(rows[i], origin))
    at_j = big_integers.dot(gradient, big_integers.subtract(rows[j], origin))
    other = 0 if i >= 3 else 3
    normal = _normal(rows, other // 3)
    height_i = big_integers.dot(normal, big_integers.subtract(rows[i], rows[other]))
    height_j = big_integers.dot(normal, big_integers.subtract(rows[j], rows[other]))
    # x divides the edge in the ratio |height_i| : |height_j|, and the heights have opposite signs.
    weighted = big_integers.difference(big_integers.multiply(at_i, height_j), big_integers.multiply(at_j, height_i))
    return big_integers.sign(weighted) * big_integers.sign(height_j)


@cold(f"int64({POINTER}, {POINTER}, int64, int64)")
def _slope_exactly(corners, triangle, which, direction):
    """The sign of the slope of a function along a direction."""
    rows = _exact_rows(array_at(corners, (6, 3)), array_at(triangle, (3, 3)))
    return big_integers.sign(big_integers.dot(_gradient(rows, which), _direction(rows, direction)))


# ------------------------------------------------- the same in floats, where certain


@inner
def _size(v):
    return max(abs(v[0]), abs(v[1]), abs(v[2]))


@inner
def _float_function(t, which):
    """Gradient and a bound on the size of the terms that it was computed from."""
    if which == 3:
        e = subtract(t[1], t[0])
        g = subtract(t[2], t[0])
        return cross(e, g), _size(e) * _size(g)
    _, y, z = subtract(t[_next_corner(which)], t[which])
    return (0.0, -z, y), max(abs(y), abs(z))


@inner
def _certain_sign(value, bound):
    return sign(value) if abs(value) > bound + UNDERFLOW else 0


@inner
def _vanishes_at(p, t, which):
    """Whether equal coordinates alone show that a function is zero at p.

    Vertices of equal height are frequent, and the exact arithmetic that would find the zero takes microseconds.
    """
    if which == 3:
        for k in range(3):
            if same_point(p, t[k]) or t[0][k] == t[1][k] == t[2][k] == p[k]:
                return True
        return False
    u = t[which]
    v = t[_next_corner(which)]
    same_y = u[1] == p[1]
    same_z = u[2] == p[2]
    end_y = v[1] == p[1]
    end_z = v[2] == p[2]
    return (same_y and same_z) or (end_y and end_z) or (same_y and end_y) or (same_z and end_z)


@inner
def _sign_at_corner(x, t, which):
    """The sign of a function at a point that is given."""
    if _vanishes_at(x, t, which):
        return 0
    if which == 3:
        return orient3d(t[0], t[1], t[2], x)
    u = t[which]
    v = t[_next_corner(which)]
    return orient2d(u[1], u[2], v[1], v[2], x[1], x[2])


@inner
def _sign_at_crossing(x, rounding, t, which):
    """The sign of a function at a point that is known up to rounding; 0 where it is not certain."""
    gradient, size = _float_function(t, which)
    w = subtract(x, t[0 if which == 3 else which])
    return _certain_sign(dot(gradient, w), size * (ROUNDING * _size(w) + 8.0 * rounding))


@inner
def _corner(corners, i):
    return (corners[i, 0], corners[i, 1], corners[i, 2])


@inner
def _float_normal(corners, face):
    """The normal of a face of the pair and the size of the terms that it was computed from."""
    i = 3 * face
    e = subtract(_corner(corners, i + 1), _corner(corners, i))
    g = subtract(_corner(corners, i + 2), _corner(corners, i))
    return cross(e, g), _size(e) * _size(g)


@inner
def _float_direction(corners, direction):
    """A direction in floats and the size of the terms that it was computed from."""
    if direction < 6:
        d = subtract(_corner(corners, _next_corner(direction)), _corner(corners, direction))
        return d, _size(d)
    if direction == COMMON_LINE:
        normal_a, size_a = _float_normal(corners, 0)
        normal_b, size_b = _float_normal(corners, 1)
        return cross(normal_a, normal_b), size_a * size_b
    if direction < _AXES:
        return _float_normal(corners, direction - NORMAL)
    axis = direction - _AXES
    return (1.0 if axis == 0 else 0.0, 1.0 if axis == 1 else 0.0, 1.0 if axis == 2 else 0.0), 1.0


@inner
def _slope(corners, triangles, n, which, direction):
    """The sign of the slope of a function along a direction."""
    t = load_triangle(triangles, n)
    if direction < 6 and _vanishes_at(_corner(corners, direction), t, which):
        if _vanishes_at(_corner(corners, _next_corner(direction)), t, which):
            return 0
    gradient, size = _float_function(t, which)
    d, length = _float_direction(corners, direction)
    if which < 3 and (direction < 6 or direction >= _AXES):
        # Differences of floats are zero only where the numbers are equal.
        if (gradient[1] == 0.0 or d[1] == 0.0) and (gradient[2] == 0.0 or d[2] == 0.0):
            return 0
    s = _certain_sign(dot(gradient, d), _SLOPE_ROUNDING * size * length + _SLOPE_UNDERFLOW)
    return s if s != 0 else _slope_exactly(pointer_to(corners), pointer_to(triangles[n]), which, direction)


# -------------------------------------------------------------------------- ray parity


@inner
def _ray_misses_box(x, rounding, t):
    """Whether the ray from x in direction x surely misses the bounding box of a triangle."""
    return (
        x[1] + rounding < min(t[0][1], t[1][1], t[2][1])
        or x[1] - rounding > max(t[0][1], t[1][1], t[2][1])
        or x[2] + rounding < min(t[0][2], t[1][2], t[2][2])
        or x[2] - rounding > max(t[0][2], t[1][2], t[2][2])
        or x[0] - rounding > max(t[0][0], t[1][0], t[2][0])
    )


# A ray crosses where the first three signs are equal and the fourth is opposite; a zero may still become either.
# Signs are gathered as bits, the fourth one negated.
_NEGATIVE = 1
_ZERO = 2
_POSITIVE = 4
_MISSED = _NEGATIVE | _POSITIVE


@inner
def _bit_of(s, which):
    return 1 << (1 - s if which == 3 else 1 + s)


class _Survey(NamedTuple):
    """What is known from a ray cast from x."""

    inside: Any
    """The parity of sure crossings."""
    near: Any
    """(n,) the triangles that need y itself,"""
    signs: Any
    """(n, 4) the signs of their four functions at x, of which some are zero,"""
    slopes: Any
    """(n, 4, _DIRECTIONS) and the slopes of these along all directions, as far as they were asked for."""


@inner
def _survey(x, rounding, corners, i, j, triangles):
    """Cast a ray from x."""
    near = np.empty(len(triangles), dtype=np.int64)
    signs = np.empty((len(triangles), 4), dtype=np.int64)
    inside = False
    count = 0
    for n in range(len(triangles)):
        t = load_triangle(triangles, n)
        if _ray_misses_box(x, rounding, t):
            continue
        seen = 0
        for which in range(4):
            if i == j:
                s = _sign_at_corner(x, t, which)
            else:
                s = _sign_at_crossing(x, rounding, t, which)
                if s == 0:
                    s = _crossing_sign_exactly(pointer_to(corners), i, j, pointer_to(triangles[n]), which)
            signs[count, which] = s
            seen |= _bit_of(s, which)
            if seen & _MISSED == _MISSED:
                break
        if seen & _MISSED == _MISSED:
            continue
        if seen & _ZERO:
            near[count] = n
            count += 1
        else:
            inside = not inside
    slopes = np.full((count, 4, _DIRECTIONS), _UNKNOWN, dtype=np.int8)
    return _Survey(inside, near[:count], signs[:count], slopes)


@inlined
def _sign_beside(corners, triangles, survey, row, which, sample):
    """The sign of a function at y, given that it vanishes at x: that of the first slope that is not zero."""
    for order in range(3):
        direction = sample[order, 0]
        s = np.int64(survey.slopes[row, which, direction])
        if s == _UNKNOWN:
            s = _slope(corners, triangles, survey.near[row], which, direction)
            survey.slopes[row, which, direction] = s
        if s != 0:
            return s * sample[order, 1]
    return 0


@inlined
def _sample_inside(corners, triangles, survey, sample):
    """Whether y lies inside, given the survey from x; ``sample`` has the numbers and signs of d1 to d3."""
    inside = survey.inside
    for row in range(len(survey.near)):
        seen = 0
        for which in range(4):
            s = survey.signs[row, which]
            if s == 0:
                s = _sign_beside(corners, triangles, survey, row, which, sample)
            seen |= _bit_of(s, which)
            if seen & _MISSED == _MISSED:
                break
        if seen in (_NEGATIVE, _POSITIVE):
            inside = not inside
    return inside


@cold(f"int64({POINTER}, int64, int64, {POINTER}, CPointer(int64), int64, {POINTER}, int64)")
def _samples_inside(corners, i, j, point, samples, sample_count, triangles, triangle_count):
    """Which of the points y beside x lie inside a closed surface, as bits.

    It is long, and several kernels ask for it: compiled on its own it is compiled once.
    """
    corners = array_at(corners, (6, 3))
    point = array_at(point, (4,))
    samples = array_at(samples, (sample_count, 3, 2))
    triangles = array_at(triangles, (triangle_count, 3, 3))
    survey = _survey((point[0], point[1], point[2]), point[3], corners, i, j, triangles)
    bits = 0
    for k in range(sample_count):
        if _sample_inside(corners, triangles, survey, samples[k]):
            bits |= 1 << k
    return bits


@inner
def samples_inside(corners, i, j, point, samples, triangles):
    """Which of up to 62 points beside x lie inside a closed surface, as bits; exact.

    ``point`` holds coordinates near x, and by how much they may be off; ``samples`` (k, 3, 2) the numbers and signs of
    d1 to d3.
    Of the triangles, (n, 3, 3), those that the ray from x misses may be left out.
    """
    if len(triangles) == 0:
        return 0
    return _samples_inside(
        pointer_to(corners),
        i,
        j,
        pointer_to(point),
        pointer_to(samples),
        len(samples),
        pointer_to(triangles),
        len(triangles),
    )


@inner
def vertex_inside(vertex, triangles):
    """Whether a point that is not on a closed surface lies inside it; exact."""
    corners = np.zeros((6, 3))
    point = np.zeros(4)
    samples = np.empty((1, 3, 2), dtype=np.int64)
    for k in range(3):
        corners[0, k] = vertex[k]
        point[k] = vertex[k]
        samples[0, k, 0] = _AXES + k
        samples[0, k, 1] = 1
    return samples_inside(corners, 0, 0, point, samples, triangles) != 0
