# mypy: allow-untyped-defs, allow-incomplete-defs
"""Chord and normal of two triangles that cross, as long as floats are certain and accurate.

Nearly all contacts of two meshes are pairs of triangles that cross far from any special position.  For these every
sign that a contact asks for follows from eight determinants in floats: the heights of the six corners over the
plane of the other triangle, and the order of the ends of two edges on the common line (Guigue and Devillers 2003, see
triangles.intersection).  The same heights divide the edges.  Whatever is in doubt is left to contacts.construction.

Error
-----
Let u = 2**-53.  A determinant of three difference vectors has six terms, each a product of three differences that
passes through at most eight roundings.  With s the sum of the magnitudes of the computed terms,

    |error| <= ((1 + u)**8 - 1) * s * (1 + u)**8 < 9 u s,

and UNDERFLOW (geometry.exact.predicates) covers products that underflow.  A sign is used where the value exceeds that.

An edge whose ends have the heights g and h of opposite signs meets the plane at the part |g| / (|g| + |h|) from the
first.  If both are off by 9 u s at most, so is the part by 9 u s / (|g| + |h|).  It is used where |g| + |h| >= 2**-4 s
and then off by less than 2**-45 of the edge; triangles.crossing, which takes over below, promises 2**-43.  Heights
are kept in a fourth column beside the corners, so that corners and heights are chosen by index: the
signs of neighbouring contacts are at random, and each branch on them would cost some 5 ns.
"""

from __future__ import annotations

import math

from impinge.constants import UNIT_ROUNDOFF
from impinge.geometry.contacts.face_normal import cross_and_terms, has_certain_direction
from impinge.geometry.exact.predicates import UNDERFLOW, dot, subtract
from impinge.geometry.triangles.intersection import load_triangle
from impinge.kernels.jit import inlined, inner

PAIR_SHAPE = (2, 3, 4)
"""Two triangles, their corners, and for each its coordinates and its height over the plane of the other triangle."""

NORMALS_CANCEL = 2.0**-20
"""Two unit normals whose difference is no longer than this are the same but for rounding (2**-30, face_normal)."""

_ERROR = 9.0 * UNIT_ROUNDOFF
_SHALLOW = 2.0**-4
# Below this UNDERFLOW would be more than the last bit of the heights.
_LEAST_RISE = UNDERFLOW * 2.0**53


@inner
def _magnitudes(v):
    return (abs(v[0]), abs(v[1]), abs(v[2]))


@inlined
def _corner(pair, side, i):
    return (pair[side, i, 0], pair[side, i, 1], pair[side, i, 2])


@inner
def _after(i, steps):
    """The corner so many steps after i."""
    i += steps
    return i - 3 if i >= 3 else i


@inlined
def _root(pair, side):
    """The corner opposite the longest edge.

    The terms of the cross product of the two shorter edges are the smallest: for a strip 20 times as long as wide by
    a factor of 20.
    """
    a, b, c = load_triangle(pair, side)
    u, v, w = subtract(c, b), subtract(a, c), subtract(b, a)
    uu, vv, ww = dot(u, u), dot(v, v), dot(w, w)
    beyond_a = 2 if ww > vv else 1
    return beyond_a if max(vv, ww) > uu else 0


@inlined
def _plane(pair, side):
    """A point of the plane of a triangle, its normal, and the terms of that."""
    root = _root(pair, side)
    origin = _corner(pair, side, root)
    u = subtract(_corner(pair, side, _after(root, 1)), origin)
    v = subtract(_corner(pair, side, _after(root, 2)), origin)
    normal, terms = cross_and_terms(u, v)
    return origin, normal, terms


@inlined
def _put_heights(pair, side, origin, normal, terms):
    """Write the heights of a triangle over a plane.

    Returns its lone corner (-1 if a sign is in doubt, or all are the same), whether that is above the plane, and
    a bound s on the terms of the heights.
    """
    t = load_triangle(pair, side)
    u, v, w = subtract(t[0], origin), subtract(t[1], origin), subtract(t[2], origin)
    reach = (
        max(abs(u[0]), abs(v[0]), abs(w[0])),
        max(abs(u[1]), abs(v[1]), abs(w[1])),
        max(abs(u[2]), abs(v[2]), abs(w[2])),
    )
    size = dot(terms, reach)
    f, g, h = dot(normal, u), dot(normal, v), dot(normal, w)
    pair[side, 0, 3], pair[side, 1, 3], pair[side, 2, 3] = f, g, h
    above_f, above_g, above_h = f > 0.0, g > 0.0, h > 0.0
    lone = 2 if above_f == above_g else (1 if above_f == above_h else 0)
    above = above_h if lone == 2 else (above_g if lone == 1 else above_f)
    if min(abs(f), abs(g), abs(h)) <= _ERROR * size + UNDERFLOW or above_f == above_g == above_h:
        lone = -1
    return lone, above, size


@inner
def _order(tip, to_other_tip, end, other_end):
    """The determinant of geometry.triangles.intersection.order_on_line, and whether its sign is certain."""
    along = subtract(other_end, tip)
    normal, terms = cross_and_terms(to_other_tip, subtract(end, tip))
    value = dot(normal, along)
    return value, abs(value) > _ERROR * dot(terms, _magnitudes(along)) + UNDERFLOW


@inlined
def _put_end(pair, side, i, j, size, points, row):
    """Write where the edge from corner i to corner j meets the other plane; tell whether it is accurate."""
    part_i, part_j = abs(pair[side, i, 3]), abs(pair[side, j, 3])
    rise = part_i + part_j
    near = i + (part_i > part_j) * (j - i)
    far = i + j - near
    part = min(part_i, part_j) / rise
    for k in range(3):
        points[row, k] = pair[side, near, k] + part * (pair[side, far, k] - pair[side, near, k])
    return rise >= _SHALLOW * size + _LEAST_RISE


@inlined
def _put_normal(normal_a, square_a, normal_b, square_b, votes_a, votes_b, normal):
    """Write the sum of the votes (see contacts.construction) with length one; tell whether they do not cancel."""
    share_a = votes_a / math.sqrt(square_a)
    share_b = votes_b / math.sqrt(square_b)
    x = share_b * normal_b[0] - share_a * normal_a[0]
    y = share_b * normal_b[1] - share_a * normal_a[1]
    z = share_b * normal_b[2] - share_a * normal_a[2]
    if max(abs(x), abs(y), abs(z)) <= NORMALS_CANCEL:
        return False
    length = math.sqrt(x * x + y * y + z * z)
    normal[0], normal[1], normal[2] = x / length, y / length, z / length
    return True


@inlined
def put_certain_crossing(pair, points, normal):
    """Write the ends of the chord of two triangles, which are known to cross, and its normal.

    False if anything is in doubt; what is written then has no meaning.
    """
    origin_a, normal_a, terms_a = _plane(pair, 0)
    origin_b, normal_b, terms_b = _plane(pair, 1)
    square_a, square_b = dot(normal_a, normal_a), dot(normal_b, normal_b)
    if not (has_certain_direction(square_a, terms_a) and has_certain_direction(square_b, terms_b)):
        return False
    a, a_above, size_a = _put_heights(pair, 0, origin_b, normal_b, terms_b)
    b, b_above, size_b = _put_heights(pair, 1, origin_a, normal_a, terms_a)
    if a < 0 or b < 0:
        return False
    # intersection.canonical: each triangle turns its other two corners by the side of the other's lone corner.
    a_q, a_r = _after(a, 1 if b_above else 2), _after(a, 2 if b_above else 1)
    b_q, b_r = _after(b, 1 if a_above else 2), _after(b, 2 if a_above else 1)
    tip = _corner(pair, 0, a)
    to_other_tip = subtract(_corner(pair, 1, b), tip)
    lower, lower_certain = _order(tip, to_other_tip, _corner(pair, 0, a_r), _corner(pair, 1, b_q))
    upper, upper_certain = _order(tip, to_other_tip, _corner(pair, 0, a_q), _corner(pair, 1, b_r))
    if not (lower_certain and upper_certain):
        return False
    # The later start and the earlier end; an end on an edge of a lies in the face of b, which has the vote.
    start = 0 if lower > 0.0 else 1
    end = 0 if upper < 0.0 else 1
    start_accurate = _put_end(
        pair, start, b if start else a, b_q if start else a_r, size_b if start else size_a, points, 0
    )
    end_accurate = _put_end(pair, end, b if end else a, b_r if end else a_q, size_b if end else size_a, points, 1)
    votes_a = float(start + end)
    agree = _put_normal(normal_a, square_a, normal_b, square_b, votes_a, 2.0 - votes_a, normal)
    return start_accurate and end_accurate and agree
