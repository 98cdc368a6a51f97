# mypy: allow-untyped-defs, allow-incomplete-defs
"""GJK with certain signs: from a simplex near the nearest one to the nearest one itself.

Gilbert, Johnson and Keerthi (1988), in double-double arithmetic and, where that leaves a sign open, in integers
(``sign_arithmetic``).  A simplex of up to four differences w = p - q of posed vertices is kept.  Its point v nearest to
the origin is never computed, only its direction, which is a polynomial in the corners:

    corner a:          a                                    degree 1
    edge ab:           u x (a x u),  u = b - a              degree 3
    triangle abc:      +-n,  n = (b - a) x (c - a)          degree 2

and signs of such polynomials tell which face of the simplex holds v: v is strictly inside the face, and every other
corner w of the simplex fulfils v . w >= v . v.  Flat simplices need no care: the nearest point is inside some face with
independent corners (Caratheodory), and faces with dependent ones are passed over.

A step adds the difference that is lowest in the direction v.  If that is not below the plane through v, v is the
nearest point of all; otherwise the simplex gets a strictly nearer one.  So no simplex comes twice, and the walk ends:
no limit of steps is needed.

Ties that need no arithmetic
----------------------------
v is square to w_i - w_j.  Where two corners share their vertex of b, that is p_i - p_j; so the corners of a simplex
with k = (vertices of a) + (vertices of b) - 1, which hang together by shared vertices, have all their p on one plane
square to v and all their q on another: none needs to be compared.

The distance
------------
is a quotient under a root, of double-doubles right to 2**-64 or of integers.  Where that leaves open to which of two
floats it is to be rounded, it is compared with their middle, by a sign of the same kind as all others.  So the distance
is correctly rounded, and a pose asked from scratch and the same pose at the end of a path give the same number.  Bodies
that are apart have a distance above zero: what would be rounded to zero is the smallest float.

Underflow
---------
Double-doubles are scaled upward only: a factor below one loses the last digits of subnormal coordinates, and it is not
needed, because products of six differences do not overflow (``constants.LARGEST_COORDINATE``).  What underflows in
products is part of their bounds, and leaves signs to the integers.
"""

from __future__ import annotations

import math

import numpy as np

from impinge.constants import UNIT_ROUNDOFF
from impinge.convex.distance.certified_finish import VALUE_ERROR, distinct, is_listed
from impinge.convex.distance.sign_arithmetic import (
    InDoubles,
    InIntegers,
    along_axis,
    cross,
    difference,
    differences,
    dot,
    error_of,
    in_floats,
    in_two_floats,
    is_zero,
    negative,
    opposite,
    plus,
    relative_error,
    sign,
    step,
    times,
)
from impinge.convex.distance.simplex import move, put_vertices
from impinge.convex.distance.support import (
    climb,
    pose_of,
    posed_vertex,
    size_of_coordinates,
    spread,
    start_plateau,
    turned_back,
)
from impinge.convex.hull.hull_handle import convex_body
from impinge.convex.workspace import CLOSER_THAN, COLLIDES, work_at
from impinge.geometry.answers import APART, MEETING
from impinge.geometry.exact.double_double import UNCERTAIN, Fine, quotient, root, rounded
from impinge.kernels.jit import cold, inlined, inner

# Heights of vertices above a plane in floats: 48 u as in distance.support, and 2**-50 for the direction; and what
# products that underflow may lose, in the direction (which may be tiny here) and in heights.
_PLATEAU = 64.0 * UNIT_ROUNDOFF
_UNDERFLOW = 2.0**-1000

_ROOT_ERROR = 2.0**-96
"""How far the root of a quotient of integers may be off, relative to itself."""
_SMALLEST = 2.0**-1074
_MIDDLE = 8
"""The row of ``points`` whose first two numbers add up to twice the number that a distance is compared with."""
_BETWEEN_TWO = 3
"""The distance may be rounded to either of the two numbers in that row."""

_FACES = (15, 7, 11, 13, 14, 3, 5, 6, 9, 10, 12, 1, 2, 4, 8)
"""Sets of corners as bits, the large ones first: the simplex is usually the right one as it is."""


@inlined
def _edge_direction(a, b):
    u = difference(b, a)
    return cross(u, cross(a, u))


@inlined
def _normal(a, b, c):
    return cross(difference(b, a), difference(c, a))


@inlined
def _edge_parts(a, b):
    """Weights of the corners times a positive number: the place of the foot of the origin on the line."""
    u = difference(b, a)
    return dot(b, u), negative(dot(a, u))


@inlined
def _triangle_parts(a, b, c):
    n = _normal(a, b, c)
    return dot(cross(b, c), n), dot(cross(c, a), n), dot(cross(a, b), n)


@inlined
def _tetrahedron_parts(a, b, c, d):
    """Weights of the corners times the volume: the place of the origin itself."""
    return dot(cross(b, c), d), negative(dot(cross(a, c), d)), dot(cross(a, b), d), negative(dot(cross(a, b), c))


@inner
def _all_positive(signs):
    """1 where all are positive, 0 where one is not, else UNCERTAIN."""
    answer = 1
    for s in signs:
        if s == -1 or s == 0:
            return 0
        if s == UNCERTAIN:
            answer = UNCERTAIN
    return answer


@inlined
def _holds_foot(corners, face, size):
    """Whether the foot of the origin lies strictly inside a face, which is not degenerate then."""
    if size == 1:
        return 1
    a, b = corners[face[0]], corners[face[1]]
    if size == 2:
        p, q = _edge_parts(a, b)
        return _all_positive((sign(p), sign(q)))
    c = corners[face[2]]
    if size == 3:
        p, q, r = _triangle_parts(a, b, c)
        return _all_positive((sign(p), sign(q), sign(r)))
    p, q, r, s = _tetrahedron_parts(a, b, c, corners[face[3]])
    way = sign(p)
    if way == -1:
        return _all_positive((sign(negative(q)), sign(negative(r)), sign(negative(s))))
    return _all_positive((way, sign(q), sign(r), sign(s)))


@inlined
def _direction(corners, face, size):
    """From the origin to the face; zero where the face holds the origin.  And whether that is certain."""
    a = corners[face[0]]
    if size == 1:
        return a, is_zero(a)
    if size == 2:
        d = _edge_direction(a, corners[face[1]])
        return d, is_zero(d)
    n = _normal(a, corners[face[1]], corners[face[2]])
    side = sign(dot(n, a))
    if side == -1:
        return opposite(n), 0
    return n, (UNCERTAIN if side == UNCERTAIN else 1 - side)


@inlined
def _none_is_nearer(corners, count, face, subset, direction):
    """Whether no corner is below the plane through the face."""
    answer = 1
    for i in range(count):
        if not subset >> i & 1:
            s = sign(dot(direction, difference(corners[i], corners[face[0]])))
            if s == -1:
                return 0
            if s == UNCERTAIN:
                answer = UNCERTAIN
    return answer


@inlined
def _nearest_face(corners, count, face):
    """The size of the face that holds the nearest point (0: uncertain), its direction, whether it holds the origin."""
    for subset in _FACES:
        if subset >= 1 << count:
            continue
        size = 0
        for i in range(count):
            if subset >> i & 1:
                face[size] = i
                size += 1
        if _holds_foot(corners, face, size) != 1:
            continue
        if size == 4:
            return size, corners[0], True
        direction, zero = _direction(corners, face, size)
        if zero == 1:
            return size, direction, True
        if zero == 0 and _none_is_nearer(corners, count, face, subset, direction) == 1:
            return size, direction, False
    return 0, corners[0], False


@inner
def _keep(work, face, size):
    """Reduce the simplex to a face."""
    for i in range(size):
        move(work, i, face[i])
        face[i] = i
    work.kept.count = size


@inlined
def _lowest(kind, body, pose, direction, side, work, vertices, tied):
    """The posed vertex that lies farthest in a direction (side 1) or against it (side -1).

    Returns the vertex, and 1 if it is strictly beyond those of the simplex, 0 if none is, or UNCERTAIN.
    """
    rough = in_floats(direction)
    d = (side * rough[0], side * rough[1], side * rough[2])
    c = turned_back(pose, d)
    best = vertices[0]
    place = posed_vertex(body, pose, best)
    steep = abs(d[0]) + abs(d[1]) + abs(d[2])
    top, height, _ = climb(body, c, best)
    error = _PLATEAU * steep + 4.0 * error_of(direction) + _UNDERFLOW
    floor = height - (error * size_of_coordinates(body, pose) + _UNDERFLOW * (1.0 + steep))
    # All vertices that may be the farthest hang together (see convex.distance.support).
    stamp = start_plateau(work, top)
    found, done = 1, 0
    beyond = 0
    count = work.kept.count
    while done < found:
        here = work.queue[done]
        done += 1
        if not (tied and is_listed(vertices, count, here)):
            p = posed_vertex(body, pose, here)
            s = sign(dot(direction, step(kind, place, p)))
            if s == UNCERTAIN:
                if beyond == 0:
                    beyond = UNCERTAIN
            elif s == side:
                best, place, beyond = here, p, 1
        found = spread(body, c, here, floor, work, found, stamp)
    return best, beyond


@inlined
def _ratio(x, y):
    p, _, e = in_two_floats(x)
    q, _, f = in_two_floats(y)
    return math.ldexp(p / q, int(e - f))


@inlined
def _write_weights(corners, face, size, work):
    for i in range(4):
        work.weights[i] = 0.0
    a = corners[face[0]]
    if size == 1:
        work.weights[0] = 1.0
        return
    b = corners[face[1]]
    if size == 2:
        p, q = _edge_parts(a, b)
        total = plus(p, q)
        work.weights[0] = _ratio(p, total)
        work.weights[1] = _ratio(q, total)
        return
    c = corners[face[2]]
    if size == 3:
        p, q, r = _triangle_parts(a, b, c)
        total = plus(plus(p, q), r)
        work.weights[0] = _ratio(p, total)
        work.weights[1] = _ratio(q, total)
        work.weights[2] = _ratio(r, total)
        return
    p, q, r, s = _tetrahedron_parts(a, b, c, corners[face[3]])
    total = plus(plus(plus(p, q), r), s)
    work.weights[0] = _ratio(p, total)
    work.weights[1] = _ratio(q, total)
    work.weights[2] = _ratio(r, total)
    work.weights[3] = _ratio(s, total)


@inlined
def _squared_distance(corners, face, size):
    """As numerator and denominator."""
    a = corners[face[0]]
    if size == 1:
        square = dot(a, a)
        return square, square
    u = difference(corners[face[1]], a)
    if size == 2:
        across = cross(a, u)
        return dot(across, across), dot(u, u)
    n = cross(u, difference(corners[face[2]], a))
    h = dot(n, a)
    return times(h, h), dot(n, n)


@inner
def _even_exponent(x):
    exponent = math.frexp(x)[1]
    return exponent + (exponent & 1)


@inner
def _root_of_quotient(x, x_low, e, y, y_low, f, unit, error):
    """The floats to which sqrt(x / y) * 2**unit may be rounded, given the relative error of the root.

    x and y times 2**e and 2**f, which are even.
    """
    # Near one neither the quotient nor the root loses anything to underflow.
    k, m = _even_exponent(x), _even_exponent(y)
    above = Fine(math.ldexp(x, -k), math.ldexp(x_low, -k), 0.0)
    below = Fine(math.ldexp(y, -m), math.ldexp(y_low, -m), 0.0)
    high, low = quotient(above, below)
    r, rest = root(high, low)
    exponent = int((e + k - f - m) // 2 + unit)
    return rounded(r, rest - error * r, exponent), rounded(r, rest + error * r, exponent)


@inlined
def _compare(top, bottom, size, twice, points, work):
    """Answer CLOSER_THAN; or write the distance where it lies between the two floats in the row ``_MIDDLE``."""
    double = plus(top, top)
    square = times(twice, twice)
    s = sign(plus(plus(double, double), negative(square if size == 1 else times(square, bottom))))
    if s == UNCERTAIN:
        return UNCERTAIN
    if work.question == CLOSER_THAN:
        return APART if s > 0 else MEETING
    lower, upper = points[_MIDDLE, 0], points[_MIDDLE, 1]
    # Exactly in the middle the sum, which is twice the distance, is rounded to the even one.
    work.value = upper if s > 0 else (lower if s < 0 else 0.5 * (lower + upper))
    return APART


@inlined
def _measure(top, bottom, size, length_along_axis, unit, points, work):
    """Write the distance, or the two floats between which it lies; _BETWEEN_TWO then."""
    error = relative_error(top) + relative_error(bottom) + _ROOT_ERROR
    if not error <= VALUE_ERROR:
        return UNCERTAIN
    x, x_low, e = in_two_floats(top)
    y, y_low, f = in_two_floats(bottom)
    if size == 1:
        y, y_low, f = 1.0, 0.0, 0
    lower, upper = _root_of_quotient(x, x_low, e, y, y_low, f, unit, error)
    if lower != upper:
        if length_along_axis == 0.0:
            points[_MIDDLE, 0], points[_MIDDLE, 1] = lower, upper
            return _BETWEEN_TWO
        lower = math.ldexp(length_along_axis, int(unit))
    work.value = lower
    return APART


@inlined
def _finish(corners, twice, unit, direction, points, face, size, work):
    """Write the distance of the nearest face, or compare it with the limit; return what was found."""
    top, bottom = _squared_distance(corners, face, size)
    if work.question == CLOSER_THAN or points[_MIDDLE, 0] < points[_MIDDLE, 1]:
        return _compare(top, bottom, size, twice, points, work)
    return _measure(top, bottom, size, along_axis(direction, corners[face[0]]), unit, points, work)


@inlined
def _walk(kind, address_a, address_b, address_work, index):
    work = work_at(address_work)
    a, b = convex_body(address_a), convex_body(address_b)
    pose_a, pose_b = pose_of(work.poses_a, index), pose_of(work.poses_b, index)
    question = work.question
    face = np.zeros(4, dtype=np.int64)
    points = np.zeros((9, 3))
    if question == CLOSER_THAN:
        points[_MIDDLE, 0] = points[_MIDDLE, 1] = work.limit
    while True:
        count = work.kept.count
        for i in range(4):
            row = i if i < count else 0
            for k in range(3):
                points[i, k] = work.corners_a[row, k]
                points[4 + i, k] = work.corners_b[row, k]
        corners, twice, unit = differences(kind, points)
        size, direction, meeting = _nearest_face(corners, count, face)
        if size == 0:
            return UNCERTAIN
        chosen = (face[0], face[1], face[2], face[3])
        _keep(work, face, size)
        answer = MEETING
        if meeting:
            work.value = 0.0
        else:
            vertices_a, vertices_b = work.kept.vertices_a, work.kept.vertices_b
            tied = distinct(vertices_a, size) + distinct(vertices_b, size) == size + 1
            vertex_a, beyond_a = _lowest(kind, a, pose_a, direction, -1, work, vertices_a, tied)
            vertex_b, beyond_b = _lowest(kind, b, pose_b, direction, 1, work, vertices_b, tied)
            if question == COLLIDES:
                apart = step(kind, posed_vertex(b, pose_b, vertex_b), posed_vertex(a, pose_a, vertex_a))
                if beyond_a != UNCERTAIN and beyond_b != UNCERTAIN and sign(dot(direction, apart)) == 1:
                    return APART
            if beyond_a == 1 or beyond_b == 1:
                put_vertices(work, size, a, b, pose_a, pose_b, vertex_a, vertex_b)
                work.kept.count = size + 1
                continue
            if beyond_a == UNCERTAIN or beyond_b == UNCERTAIN:
                return UNCERTAIN
        face[0], face[1], face[2], face[3] = chosen
        if not meeting:
            answer = _finish(corners, twice, unit, direction, points, face, size, work)
            if answer == _BETWEEN_TWO:
                continue  # the same once more, with the middle
            if answer == UNCERTAIN or question == CLOSER_THAN:
                return answer
            work.value = max(work.value, _SMALLEST)
            work.direction[0], work.direction[1], work.direction[2] = in_floats(direction)
        _write_weights(corners, face, size, work)
        return answer


_SIGNATURE = "int64(int64, int64, int64, int64)"


@cold(_SIGNATURE)
def careful_walk(address_a, address_b, address_work, index):
    """MEETING or APART for the pose ``index``, or UNCERTAIN; for CLOSER_THAN whether the limit is reached.

    The walk begins with the simplex of the workspace, any one, and leaves the last one there, with its weights, its
    distance and its direction (not where the bodies are only known to be APART because COLLIDES is asked).
    """
    work = work_at(address_work)
    a, b = convex_body(address_a), convex_body(address_b)
    size_a = size_of_coordinates(a, pose_of(work.poses_a, index))
    size_b = size_of_coordinates(b, pose_of(work.poses_b, index))
    exponent = max(0, -math.frexp(max(size_a + size_b, _UNDERFLOW))[1])
    return _walk(InDoubles(math.ldexp(1.0, exponent), exponent), address_a, address_b, address_work, index)


@cold(_SIGNATURE)
def exact_walk(address_a, address_b, address_work, index):
    """As careful_walk, never UNCERTAIN."""
    return _walk(InIntegers(1.0, 0), address_a, address_b, address_work, index)
