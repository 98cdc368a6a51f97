# mypy: allow-untyped-defs, allow-incomplete-defs
"""Certified end of GJK: floats prove that a simplex is the nearest one, double-doubles measure its distance.

What ``distance.exact_gjk`` decides by certain signs is decided here by floats with bounds on their errors; where they
leave anything open nothing is claimed.  A simplex (corners a, b, c; u = b - a, v = c - a) is the nearest one if

- its weights are positive,
- its corners hang together by shared vertices, so that none of its vertices is nearer to the plane than the others
  (see convex.distance.exact_gjk), and
- no other vertex of the bodies lies beyond the planes through its vertices, square to the direction.

Bounds
------
e = 2**-53, |x| the sum of the magnitudes of components.  Corners are off by e|a|, so u is by at most
``eu`` = e (|a| + |b| + |u|); and so on for v.  A cross product u x v is off by |v| eu + |u| ev + 3 e|u||v|, a dot
product by the same.  The constants below double what these rules give, which covers the rounding of the bounds.

Underflow loses up to 2**-1075 in a product, which the bounds do not mention.  They need not: the squared distance is
known to 2**-64 of itself only if its numerator is above 2**-936 (``geometry.exact.double_double``), so that |a||u| and
|a||n| are above 2**-470; with |d| above 2**-300 every bound is above 2**-700.
"""

from __future__ import annotations

from impinge.constants import UNIT_ROUNDOFF
from impinge.convex.distance.sign_arithmetic import FineVector, along_axis, cross, difference, dot, opposite, times
from impinge.convex.distance.simplex import corner
from impinge.convex.distance.support import (
    climb,
    height_of,
    posed_vertex,
    size_of_coordinates,
    spread,
    start_plateau,
    turned_back,
)
from impinge.geometry.exact import double_double, predicates
from impinge.geometry.exact.double_double import Fine, difference_of_floats, fine, quotient, root
from impinge.kernels.jit import inner

_E = 2.0 * UNIT_ROUNDOFF
_HEIGHT_ERROR = 64.0 * UNIT_ROUNDOFF
VALUE_ERROR = 2.0**-64
"""How far a squared distance may be off, relative to itself: of a thousand roots all but one are certainly rounded."""

# Squares of directions: what may have lost digits is left to others.
_TINY = 2.0**-600
_HUGE = 2.0**600


@inner
def _size(v):
    return abs(v[0]) + abs(v[1]) + abs(v[2])


@inner
def distinct(vertices, count):
    """How many different vertices of one body the first corners have."""
    one = vertices[0]
    two = vertices[1] if count > 1 else one
    three = vertices[2] if count > 2 else one
    if two == one:
        return 1 if three == one else 2
    return 2 if three in (one, two) else 3


@inner
def is_listed(vertices, count, vertex):
    """Whether a vertex belongs to the first corners."""
    for i in range(count):
        if vertices[i] == vertex:
            return True
    return False


@inner
def _all_others_are_beyond(body, pose, c, fine_d, top, floor, work, vertices):
    """Whether no vertex lies farther in a direction than those of the simplex; certain, or False.

    Those below the floor are known to be nearer; the others are compared in double-double: the fourth corner of a
    square face is one, and it is off the plane of the three by what posing has rounded.
    """
    stamp = start_plateau(work, top)
    found, done = 1, 0
    place = posed_vertex(body, pose, vertices[0])
    count = work.kept.count
    while done < found:
        here = work.queue[done]
        done += 1
        if not is_listed(vertices, count, here):
            rise = dot(fine_d, _fine_step(place, posed_vertex(body, pose, here)))
            if double_double.sign(rise) not in (0, -1):
                return False
        found = spread(body, c, here, floor, work, found, stamp)
    return True


@inner
def _direction_and_weights(work):
    """The direction, a bound on its error, weights that are certainly positive; all zero where something is not."""
    count = work.kept.count
    nothing = (0.0, 0.0, 0.0)
    a = corner(work, 0)
    size_a = _size(a)
    if count == 1:
        return a, _E * size_a, (1.0, 0.0, 0.0)
    b = corner(work, 1)
    u = predicates.subtract(b, a)
    size_u = _size(u)
    error_u = _E * (size_a + _size(b) + size_u)
    if count == 2:
        error = error_u * size_a + 4.0 * _E * size_a * size_u
        error_b = error_u * _size(b) + 4.0 * _E * _size(b) * size_u
        p, q = predicates.dot(b, u), -predicates.dot(a, u)
        if not (p > error_b and q > error):
            return nothing, 0.0, nothing
        d = predicates.cross(u, predicates.cross(a, u))
        total = p + q
        return d, size_u * error + error_u * size_a * size_u + 4.0 * _E * size_a * size_u * size_u, (
            p / total, q / total, 0.0,
        )  # fmt: skip
    c = corner(work, 2)
    v = predicates.subtract(c, a)
    size_v = _size(v)
    error_v = _E * (size_a + _size(c) + size_v)
    n = predicates.cross(u, v)
    error_n = error_u * size_v + error_v * size_u + 4.0 * _E * size_u * size_v
    q = predicates.dot(predicates.cross(v, a), n)
    r = predicates.dot(predicates.cross(a, u), n)
    square = predicates.dot(n, n)
    p = square - q - r
    size_n = _size(n) + error_n
    longer, error_longer = max(size_u, size_v), max(error_u, error_v)
    error = longer * size_a * error_n + (error_longer * size_a + 8.0 * _E * longer * size_a) * size_n
    if not (q > error and r > error and p > 2.0 * error + 2.0 * error_n * size_n + 8.0 * _E * size_n * size_n):
        return nothing, 0.0, nothing
    weights = (p / square, q / square, r / square)
    return (n if predicates.dot(n, a) >= 0.0 else (-n[0], -n[1], -n[2])), error_n, weights


@inner
def _fine_step(p, q):
    """From p to q in double-double: exact."""
    return FineVector(
        difference_of_floats(q[0], p[0]), difference_of_floats(q[1], p[1]), difference_of_floats(q[2], p[2])
    )


@inner
def _fine_corner(work, i):
    return _fine_step(
        (work.corners_b[i, 0], work.corners_b[i, 1], work.corners_b[i, 2]),
        (work.corners_a[i, 0], work.corners_a[i, 1], work.corners_a[i, 2]),
    )


@inner
def _fine_direction_and_square(work):
    """From the origin to the plane (line, point) of the simplex, and the squared distance as two numbers."""
    count = work.kept.count
    a = _fine_corner(work, 0)
    if count == 1:
        return a, dot(a, a), fine(1.0)
    u = difference(_fine_corner(work, 1), a)
    if count == 2:
        across = cross(a, u)
        return cross(u, across), dot(across, across), dot(u, u)
    n = cross(u, difference(_fine_corner(work, 2), a))
    h = dot(n, a)
    return (n if h.high >= 0.0 else opposite(n)), times(h, h), dot(n, n)


@inner
def finish_surely(work, a, b, pose_a, pose_b):
    """Whether the simplex is certainly the nearest one; its weights, distance and direction are written then."""
    count, vertices_a, vertices_b = work.kept.count, work.kept.vertices_a, work.kept.vertices_b
    if count > 3 or distinct(vertices_a, count) + distinct(vertices_b, count) != count + 1:
        return False
    d, error, weights = _direction_and_weights(work)
    squared = predicates.dot(d, d)
    if weights[0] == 0.0 or not (_TINY < squared < _HUGE):
        return False
    size = size_of_coordinates(a, pose_a) + size_of_coordinates(b, pose_b)
    margin = (_HEIGHT_ERROR * _size(d) + 2.0 * error) * size
    away_a, away_b = turned_back(pose_a, (-d[0], -d[1], -d[2])), turned_back(pose_b, d)
    top_a, height_a, ground_a = climb(a, away_a, vertices_a[0])
    top_b, height_b, ground_b = climb(b, away_b, vertices_b[0])
    floor_a, floor_b = height_a - margin, height_b - margin
    # Before anything is measured: most simplices that are not the nearest one are found out here.
    if height_of(a, away_a, vertices_a[0]) < floor_a or height_of(b, away_b, vertices_b[0]) < floor_b:
        return False
    fine_d, top, bottom = _fine_direction_and_square(work)
    # Where all neighbours of a corner's vertex are below the floor, there is nothing else to compare it with.
    if ground_a >= floor_a or top_a != vertices_a[0]:
        if not _all_others_are_beyond(a, pose_a, away_a, opposite(fine_d), top_a, floor_a, work, vertices_a):
            return False
    if ground_b >= floor_b or top_b != vertices_b[0]:
        if not _all_others_are_beyond(b, pose_b, away_b, fine_d, top_b, floor_b, work, vertices_b):
            return False
    # Bodies that touch are not for this place: there the simplex holds the origin, and the answer is MEETING.
    if not (top.high > 0.0 and top.error <= VALUE_ERROR * top.high and bottom.error <= VALUE_ERROR * bottom.high):
        return False
    high, low = quotient(Fine(top.high, top.low, 0.0), Fine(bottom.high, bottom.low, 0.0))
    if not high > _TINY:
        return False
    r, rest = root(high, low)
    off = 2.0 * VALUE_ERROR * r
    value = r + (rest - off)
    if value != r + (rest + off):
        # Near the middle between two floats, where the distance of parallel boxes often is: that one is known.
        value = along_axis(fine_d, _fine_corner(work, 0))
        if value == 0.0:
            return False
    work.value = value
    work.direction[0], work.direction[1], work.direction[2] = fine_d.x.high, fine_d.y.high, fine_d.z.high
    for i in range(3):
        work.weights[i] = weights[i]
    work.weights[3] = 0.0
    return True
