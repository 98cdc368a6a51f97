"""Distance of two triangles with witness points, to a few ulps of the coordinates, at every scale.

The smallest distance of disjoint triangles is taken on by a vertex and a face, or by two
edges (a vertex with an edge or a vertex is a limit of these).  What makes the textbook
formulas fail is cancellation in cross products of nearly parallel edges: for needles, and for
edges that almost overlap.  Those cross products are then evaluated by Kahan's difference of
products, which is correct to 1.5 ulp.  With an accurate normal n everything else is backward
stable: a foot point is off by u|w| for a connecting vector w, and the distance of two sets
changes by no more than their points move.  No threshold here has a unit.
"""

from __future__ import annotations

import math

import numpy as np

from impinge.constants import UNIT_ROUNDOFF
from impinge.geometry.crossing import extent_of_pair, largest_coordinate, power_of_two_over, scaled_triangle
from impinge.geometry.predicates import cross, dot, subtract
from impinge.geometry.triangle import DISJOINT, contact_kind, load_triangle
from impinge.jit import inner, kernel

# sin**2 of the angle below which a cross product is evaluated by Kahan's method.  Above it, the
# rounding of a plain cross product turns the normal by less than 32 u.
_NEARLY_PARALLEL = 2.0**-10

# The computed distance is taken to be within this part of the extent of the pair of the true one.  This is measured,
# not derived: the worst seen on needles was 2**-47, on the whole exactness suite 3 ulps of the coordinates.
# A larger value costs only more exact comparisons.
DISTANCE_ERROR = 2.0**-42

# Rounding of the vector between two points of edges, relative to the vector between their starts.
_POINT_ROUNDING = 2.0**-50

# Rounding of the foot of a perpendicular, relative to the coordinates of its start and of the face.
_FOOT_ROUNDING = 8.0 * UNIT_ROUNDOFF

# Below and above these sizes the pair is scaled by a power of two first.  Products of six differences
# occur, for needles another 2**-106 smaller, and as much again for tiny gaps: 2**-812 is far from underflow.
_SMALL = 2.0**-100
_LARGE = 2.0**100


@inner
def _split(x):
    """Veltkamp's splitting into two halves of at most 26 bits."""
    c = 134217729.0 * x
    high = c - (c - x)
    return high, x - high


@inner
def _difference_of_products(a, b, c, d):
    """a*b - c*d to 1.5 ulp (Kahan), with products of halves instead of a fused operation."""
    p = a * b
    q = c * d
    ah, al = _split(a)
    bh, bl = _split(b)
    ch, cl = _split(c)
    dh, dl = _split(d)
    error_p = ((ah * bh - p) + ah * bl + al * bh) + al * bl
    error_q = ((ch * dh - q) + ch * dl + cl * dh) + cl * dl
    return (p - q) + (error_p - error_q)


@inner
def _accurate_cross(a, b):
    return (
        _difference_of_products(a[1], b[2], a[2], b[1]),
        _difference_of_products(a[2], b[0], a[0], b[2]),
        _difference_of_products(a[0], b[1], a[1], b[0]),
    )


@inner
def _careful_cross(a, b):
    """The cross product, accurate in direction also for nearly parallel vectors, and its square."""
    n = cross(a, b)
    nn = dot(n, n)
    if nn < _NEARLY_PARALLEL * (dot(a, a) * dot(b, b)):
        n = _accurate_cross(a, b)
        nn = dot(n, n)
    return n, nn


@inner
def _along(p, d, t):
    return (p[0] + t * d[0], p[1] + t * d[1], p[2] + t * d[2])


@inner
def _point_segment(p, a, b):
    """Squared distance of p to the segment ab, and the nearest point of the segment."""
    e = subtract(b, a)
    w = subtract(p, a)
    ee = dot(e, e)
    t = dot(w, e)
    if ee == 0.0 or t <= 0.0:
        return dot(w, w), a
    if t >= ee:
        w = subtract(p, b)
        return dot(w, w), b
    # Measure from the nearer end: the part that is subtracted is then the shorter one.
    if t + t > ee:
        w = subtract(p, b)
        t = dot(w, e) / ee
        rest = _along(w, e, -t)
        return dot(rest, rest), _along(b, e, t)
    t /= ee
    rest = _along(w, e, -t)
    return dot(rest, rest), _along(a, e, t)


@inner
def _in_box(foot, p, t):
    """Whether the foot of a perpendicular from p is in the bounding box of the triangle, but for rounding."""
    for k in range(3):
        low = min(t[0][k], t[1][k], t[2][k])
        high = max(t[0][k], t[1][k], t[2][k])
        # Subnormal coordinates round by more than their size tells.
        rounding = _FOOT_ROUNDING * (abs(p[k]) + max(abs(low), abs(high))) + 2.0**-1060
        if foot[k] < low - rounding or foot[k] > high + rounding:
            return False
    return True


@inner
def _over_face(p, t, n):
    """Whether p projects into the triangle with normal n."""
    for i in range(3):
        w = subtract(p, t[i])
        if dot(w, cross(n, subtract(t[(i + 1) % 3], t[i]))) < 0.0:
            return False
    return True


@inner
def _point_triangle(p, t, n, nn):
    """Squared distance of p to a triangle with normal n, and the nearest point of the triangle."""
    if nn > 0.0 and _over_face(p, t, n):
        w = subtract(p, t[0])
        other = subtract(p, t[1])
        if dot(other, other) < dot(w, w):
            w = other
        other = subtract(p, t[2])
        if dot(other, other) < dot(w, w):
            w = other
        height = dot(w, n)
        foot = _along(p, n, -height / nn)
        # Between the long edges of a needle, but beyond its tip?  Rounding of those edges cannot tell,
        # the bounding box can: the tip is extreme along one axis at least.
        if _in_box(foot, p, t):
            return height * height / nn, foot
    best, foot = _point_segment(p, t[0], t[1])
    square, point = _point_segment(p, t[1], t[2])
    if square < best:
        best, foot = square, point
    square, point = _point_segment(p, t[2], t[0])
    if square < best:
        best, foot = square, point
    return best, foot


@inner
def _inner_edge_edge(p, u, q, v, best):
    """Squared distance of the edges p + s u and q + t v and (s, t), where it is below ``best`` and inside both.

    Else infinity.
    """
    n, nn = _careful_cross(u, v)
    w = subtract(q, p)
    height = dot(w, n)
    if nn == 0.0 or height * height >= best * nn:
        return np.inf, 0.0, 0.0
    if nn < _NEARLY_PARALLEL * (dot(u, u) * dot(v, v)):
        s = dot(_accurate_cross(w, v), n) / nn
        t = dot(_accurate_cross(w, u), n) / nn
    else:
        s = dot(cross(w, v), n) / nn
        t = dot(cross(w, u), n) / nn
    if not (0.0 < s < 1.0 and 0.0 < t < 1.0):
        return np.inf, 0.0, 0.0
    # For lines that are parallel up to rounding s and t mean little: what counts is the distance of
    # the points they name, which are on the edges.  Otherwise the height is the more accurate.
    apart = _along(_along(w, v, t), u, -s)
    square = dot(apart, apart)
    height_squared = height * height / nn
    rounding = _POINT_ROUNDING * (abs(w[0]) + abs(w[1]) + abs(w[2]))
    if math.sqrt(square) - math.sqrt(height_squared) <= rounding:
        square = height_squared
    return square, s, t


@inner
def _separated_distance(a, b):
    """Squared distance of two disjoint triangles and the points that have it."""
    best = np.inf
    point_a = a[0]
    point_b = b[0]
    n, nn = _careful_cross(subtract(a[1], a[0]), subtract(a[2], a[0]))
    for i in range(3):
        square, foot = _point_triangle(b[i], a, n, nn)
        if square < best:
            best, point_a, point_b = square, foot, b[i]
    n, nn = _careful_cross(subtract(b[1], b[0]), subtract(b[2], b[0]))
    for i in range(3):
        square, foot = _point_triangle(a[i], b, n, nn)
        if square < best:
            best, point_a, point_b = square, a[i], foot
    for i in range(3):
        p = a[i]
        u = subtract(a[(i + 1) % 3], p)
        for j in range(3):
            q = b[j]
            v = subtract(b[(j + 1) % 3], q)
            square, s, t = _inner_edge_edge(p, u, q, v, best)
            if square < best:
                best, point_a, point_b = square, _along(p, u, s), _along(q, v, t)
    return best, point_a, point_b


@inner
def disjoint_distance(a, b):
    """Distance of two triangles known to be disjoint (always positive), and the points that have it."""
    extent = extent_of_pair(a, b)
    if _SMALL < extent < _LARGE:
        square, point_a, point_b = _separated_distance(a, b)
        distance = math.sqrt(square)
    else:
        factor = power_of_two_over(extent, largest_coordinate(a, b))
        square, (x, y, z), (u, v, w) = _separated_distance(scaled_triangle(a, factor), scaled_triangle(b, factor))
        distance = math.sqrt(square) / factor
        point_a = (x / factor, y / factor, z / factor)
        point_b = (u / factor, v / factor, w / factor)
    if distance == 0.0:
        # Disjoint, but closer than floats of this size can tell.
        distance = max(extent * 2.0**-80, 2.0**-1074)
    return distance, point_a, point_b


# ---------------------------------------------------------------------------- batches


@kernel
def _distances(a, b, values, points_a, points_b):
    for i in range(len(a)):
        s = load_triangle(a, i)
        t = load_triangle(b, i)
        values[i] = 0.0
        if contact_kind(s, t) == DISJOINT:
            values[i], p, q = disjoint_distance(s, t)
            for k in range(3):
                points_a[i, k] = p[k]
                points_b[i, k] = q[k]


def triangle_distances(a, b):
    """Distance and witness points of triangle a[i] and triangle b[i], for arrays (k, 3, 3)."""
    values = np.empty(len(a))
    points_a = np.empty((len(a), 3))
    points_b = np.empty((len(a), 3))
    _distances(a, b, values, points_a, points_b)
    if (meet := np.flatnonzero(values == 0.0)).size:
        from impinge.geometry.contact import triangle_intersections

        points_a[meet] = points_b[meet] = triangle_intersections(a[meet], b[meet])[2][:, 0]
    return values, points_a, points_b
