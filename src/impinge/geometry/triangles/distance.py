# mypy: allow-untyped-defs, allow-incomplete-defs
"""Distance of two triangles with witness points, to a few ulps of the coordinates, at every scale.

The smallest distance of disjoint triangles is taken on by a vertex and a face, by a vertex and an edge, or by two
edges inside both.  A cheap first look finds which of the 33 pairs of features can be the nearest, and only these are
evaluated carefully.  What makes the textbook formulas fail is cancellation in cross products of nearly parallel edges:
for needles, and for edges that almost overlap.  Those cross products are then evaluated by Kahan's difference of
products, which is correct to 1.5 ulp.  With an accurate normal n everything else is backward
stable: a foot point is off by u|w| for a connecting vector w, and the distance of two sets
changes by no more than their points move.  No threshold here has a unit.
"""

from __future__ import annotations

import math

import numpy as np

from impinge.constants import UNIT_ROUNDOFF
from impinge.geometry.exact.double_double import accurate_cross
from impinge.geometry.exact.predicates import cross, dot, subtract
from impinge.geometry.triangles.crossing import extent_of_pair, largest_coordinate, power_of_two_over, scaled_triangle
from impinge.geometry.triangles.intersection import DISJOINT, contact_kind, load_triangle
from impinge.kernels.jit import inlined, inner, kernel

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

# Rounding of a squared height times the square of the normal, relative to the squares of normal and vector.
_HEIGHT_ROUNDING = 2.0**-92

# Rounding of the parts into which two lines divide each other, relative to the product of squares of
# edges and of the vector between them: some 16 u, so this is ample.
_PART_ROUNDING = 2.0**-44

# Below and above these sizes the pair is scaled by a power of two first.  Products of six differences
# occur, for needles another 2**-106 smaller, and as much again for tiny gaps: 2**-812 is far from underflow.
_SMALL = 2.0**-100
_LARGE = 2.0**100


@inlined
def careful_cross(a, b):
    """The cross product, accurate in direction also for nearly parallel vectors, and its square."""
    n = cross(a, b)
    nn = dot(n, n)
    if nn < _NEARLY_PARALLEL * (dot(a, a) * dot(b, b)):
        n = accurate_cross(a, b)
        nn = dot(n, n)
    return n, nn


@inlined
def _along(p, d, t):
    return (p[0] + t * d[0], p[1] + t * d[1], p[2] + t * d[2])


@inlined
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


@inlined
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


@inlined
def _over_face(p, t, n):
    """Whether p projects into the triangle with normal n."""
    for i in range(3):
        w = subtract(p, t[i])
        if dot(w, cross(n, subtract(t[(i + 1) % 3], t[i]))) < 0.0:
            return False
    return True


@inlined
def _over_face_distance(p, t, n, nn):
    """Squared distance of p to the face of a triangle with normal n, and its foot; infinity unless that is inside."""
    if not _over_face(p, t, n):
        return np.inf, p
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
    return np.inf, p


@inlined
def _nearest_over_face(t, n, nn, other):
    """The vertex of another triangle nearest over the face of t: squared distance, which one, foot, whether final.

    If the nearest point of t lies inside its face, the plane separates the triangles and the other point is the
    vertex lowest over it.  So where the heights are certain one vertex is enough, and if that lies over the face,
    nothing else can be nearer.
    """
    w0 = subtract(other[0], t[0])
    w1 = subtract(other[1], t[0])
    w2 = subtract(other[2], t[0])
    h0 = dot(n, w0)
    h1 = dot(n, w1)
    h2 = dot(n, w2)
    lowest = min(h0, h1, h2)
    highest = max(h0, h1, h2)
    doubt = _HEIGHT_ROUNDING * (nn * max(dot(w0, w0), dot(w1, w1), dot(w2, w2)))
    if lowest * lowest > doubt and highest * highest > doubt:
        if lowest < 0.0 and highest > 0.0:
            return np.inf, 0, t[0], False
        nearest = lowest if lowest > 0.0 else highest
        k = 0 if h0 == nearest else (1 if h1 == nearest else 2)
        square, foot = _over_face_distance(other[k], t, n, nn)
        return square, k, foot, square < np.inf
    best, best_foot = _over_face_distance(other[0], t, n, nn)
    best_k = 0
    for k in range(1, 3):
        square, foot = _over_face_distance(other[k], t, n, nn)
        if square < best:
            best, best_k, best_foot = square, k, foot
    return best, best_k, best_foot, False


@inlined
def _inner_edge_edge(p, u, q, v, best):
    """Squared distance of the edges p + s u and q + t v and (s, t), where it is below ``best`` and inside both.

    Else infinity.
    """
    n, nn = careful_cross(u, v)
    w = subtract(q, p)
    height = dot(w, n)
    if nn == 0.0 or height * height >= best * nn:
        return np.inf, 0.0, 0.0
    if nn < _NEARLY_PARALLEL * (dot(u, u) * dot(v, v)):
        s = dot(accurate_cross(w, v), n) / nn
        t = dot(accurate_cross(w, u), n) / nn
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


@inlined
def _clamped(t):
    return min(max(t, 0.0), 1.0)


@inlined
def _inverse(x):
    return 1.0 / x if x > 0.0 else 0.0


@inlined
def _edge(t, i):
    return subtract(t[(i + 1) % 3], t[i])


@inlined
def _edge_features(a, b):
    """The nearest vertex and edge, and as bits 3 i + j the pairs of edges that may be nearest inside both.

    The first is 3 i + j for vertex j of b and edge i of a, 9 + 3 i + j for vertex i of a and edge j of b.
    A first look without branches, two to three times as fast as evaluating all of them carefully.
    """
    best = np.inf
    feature = 0
    crossings = np.int64(0)
    v = (_edge(b, 0), _edge(b, 1), _edge(b, 2))
    vv = (dot(v[0], v[0]), dot(v[1], v[1]), dot(v[2], v[2]))
    per_vv = (_inverse(vv[0]), _inverse(vv[1]), _inverse(vv[2]))
    for i in range(3):
        p = a[i]
        u = _edge(a, i)
        uu = dot(u, u)
        per_uu = _inverse(uu)
        for j in range(3):
            w = subtract(b[j], p)
            ww = dot(w, w)
            uv = dot(u, v[j])
            uw = dot(u, w)
            vw = dot(v[j], w)
            rest = _along(w, u, -_clamped(uw * per_uu))
            square = dot(rest, rest)
            if square < best:
                best = square
                feature = 3 * i + j
            rest = _along(w, v[j], _clamped(-vw * per_vv[j]))
            square = dot(rest, rest)
            if square < best:
                best = square
                feature = 9 + 3 * i + j
            # The lines are nearest at s = s_part / whole and t = t_part / whole.
            whole = uu * vv[j] - uv * uv
            s_part = uw * vv[j] - uv * vw
            t_part = uv * uw - uu * vw
            s_doubt = _PART_ROUNDING * (vv[j] * (uu + ww))
            t_doubt = _PART_ROUNDING * (uu * (vv[j] + ww))
            s_inside = (s_part >= -s_doubt) & (s_part <= whole + s_doubt)
            t_inside = (t_part >= -t_doubt) & (t_part <= whole + t_doubt)
            crossings |= np.int64(s_inside & t_inside) << (3 * i + j)
    return feature, crossings


@inlined
def _separated_distance(a, b):
    """Squared distance of two disjoint triangles and the points that have it."""
    best = np.inf
    point_a = a[0]
    point_b = b[0]
    n, nn = careful_cross(subtract(a[1], a[0]), subtract(a[2], a[0]))
    if nn > 0.0:
        square, k, foot, final = _nearest_over_face(a, n, nn, b)
        if square < best:
            best, point_a, point_b = square, foot, b[k]
        if final:
            return best, point_a, point_b
    n, nn = careful_cross(subtract(b[1], b[0]), subtract(b[2], b[0]))
    if nn > 0.0:
        square, k, foot, final = _nearest_over_face(b, n, nn, a)
        if square < best:
            best, point_a, point_b = square, a[k], foot
        if final:
            return best, point_a, point_b
    feature, crossings = _edge_features(a, b)
    i = (feature % 9) // 3
    j = feature % 3
    if feature < 9:
        square, foot = _point_segment(b[j], a[i], a[(i + 1) % 3])
        if square < best:
            best, point_a, point_b = square, foot, b[j]
    else:
        square, foot = _point_segment(a[i], b[j], b[(j + 1) % 3])
        if square < best:
            best, point_a, point_b = square, a[i], foot
    k = 0
    while crossings != 0:
        if crossings & 1:
            i = k // 3
            j = k % 3
            u = _edge(a, i)
            v = _edge(b, j)
            square, s, t = _inner_edge_edge(a[i], u, b[j], v, best)
            if square < best:
                best, point_a, point_b = square, _along(a[i], u, s), _along(b[j], v, t)
        crossings >>= 1
        k += 1
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


@kernel("float64[:, :, ::1], float64[:, :, ::1], float64[::1], float64[:, ::1], float64[:, ::1]")
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
        from impinge.geometry.contacts.construction import triangle_intersections

        points_a[meet] = points_b[meet] = triangle_intersections(a[meet], b[meet])[2][:, 0]
    return values, points_a, points_b
