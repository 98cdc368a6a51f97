# mypy: allow-untyped-defs, allow-incomplete-defs
"""Exact intersection of two closed triangles, in every case.

Guigue and Devillers (2003), "Fast and robust triangle-triangle overlap test using
orientation predicates": if neither plane separates, relabel the triangles so that p1 and
p2 are alone on their sides; the intervals cut from the common line of the planes are then
compared by orientation predicates alone.  Degree three is the most that ever occurs.
Coplanar triangles, and triangles that are only segments or points, go through separating
axes in a projection that is a bijection on their plane.

A point is a tuple of three floats, a triangle a tuple of three points.  Results are those
of exact arithmetic; coordinates of the intersection are rounded.
"""

from __future__ import annotations

import numpy as np

from impinge.geometry.exact.predicates import (
    cross,
    dot,
    orient2d,
    orient3d,
    orient3d_error,
    orient3d_exact,
    orient3d_filtered,
    sign,
    subtract,
)
from impinge.kernels.jit import cold, inner, kernel
from impinge.results import ContactKind

DISJOINT = -1
CROSSING = int(ContactKind.CROSSING)
TOUCHING = int(ContactKind.TOUCHING)
COPLANAR = int(ContactKind.COPLANAR)


@inner
def load_triangle(triangles, i):
    """Row i of an (n, 3, 3) array as a tuple of points."""
    t = triangles[i]
    return (
        (t[0, 0], t[0, 1], t[0, 2]),
        (t[1, 0], t[1, 1], t[1, 2]),
        (t[2, 0], t[2, 1], t[2, 2]),
    )


# ---------------------------------------------------------------- general position


@inner
def _certified(value, error, triangle, point):
    """The float evaluation where its sign is certain, else the exact one."""
    if abs(value) > error:
        return value
    return orient3d_exact(triangle[0], triangle[1], triangle[2], point)


@inner
def heights(triangle, other, error):
    """Determinants with exact signs: on which side of the plane of ``triangle`` the points of ``other`` lie."""
    normal = cross(subtract(triangle[1], triangle[0]), subtract(triangle[2], triangle[0]))
    h0 = dot(normal, subtract(other[0], triangle[0]))
    h1 = dot(normal, subtract(other[1], triangle[0]))
    h2 = dot(normal, subtract(other[2], triangle[0]))
    if min(h0, h1, h2) > error or max(h0, h1, h2) < -error:
        return h0, h1, h2
    return (
        _certified(h0, error, triangle, other[0]),
        _certified(h1, error, triangle, other[1]),
        _certified(h2, error, triangle, other[2]),
    )


@inner
def _on_one_side(h):
    return min(h) > 0 or max(h) < 0


@inner
def on_plane(h):
    return h[0] == 0 and h[1] == 0 and h[2] == 0


@inner
def _straddles(h):
    """Points strictly on both sides."""
    return min(h) < 0 and max(h) > 0


@inner
def _lone_vertex(h):
    """The vertex that is alone on its side of the plane, and that side.

    The other two lie on the opposite side or on the plane.  A vertex on the plane is alone
    where the other two are strictly on one side.
    """
    s = (sign(h[0]), sign(h[1]), sign(h[2]))
    if s[0] * s[1] > 0:
        return 2, -s[0]
    if s[0] * s[2] > 0:
        return 1, -s[0]
    if s[1] * s[2] > 0:
        return 0, -s[1]
    if s[0] != 0:
        return 0, s[0]
    if s[1] != 0:
        return 1, s[1]
    return 2, s[2]


@inner
def lone_height(h):
    """The height of the lone vertex: zero where a triangle only touches the plane with it."""
    return h[_lone_vertex(h)[0]]


@inner
def _relabelled(triangle, first, flip):
    """The triangle from vertex ``first`` on, with its orientation reversed on demand."""
    if first == 0:
        p, q, r = triangle[0], triangle[1], triangle[2]
    elif first == 1:
        p, q, r = triangle[1], triangle[2], triangle[0]
    else:
        p, q, r = triangle[2], triangle[0], triangle[1]
    if flip:
        return (p, r, q)
    return (p, q, r)


@inner
def canonical(a, b, heights_a, heights_b):
    """Both triangles with their lone vertex first, on the positive side of the other's plane.

    On the common line of the planes a then covers the interval from its edge p-r to its edge
    p-q, and b the one from p-q to p-r.
    """
    first_a, sign_a = _lone_vertex(heights_a)
    first_b, sign_b = _lone_vertex(heights_b)
    return _relabelled(a, first_a, sign_b < 0), _relabelled(b, first_b, sign_a < 0)


@inner
def order_on_line(a, b, i, j, error):
    """The sign of (where edge a[0]-a[i] meets the common line) - (where b[0]-b[j] does)."""
    return orient3d_filtered(a[0], b[0], a[i], b[j], error)


@inner
def joint_extent(a, b, axis):
    """The extent of two triangles together along an axis."""
    low = min(a[0][axis], a[1][axis], a[2][axis], b[0][axis], b[1][axis], b[2][axis])
    high = max(a[0][axis], a[1][axis], a[2][axis], b[0][axis], b[1][axis], b[2][axis])
    return high - low


@inner
def _extent_if_ranges_meet(a0, a1, a2, b0, b1, b2):
    """The extent of six coordinates, or -1 where the range of the first three misses that of the others."""
    low_a = min(a0, a1, a2)
    high_a = max(a0, a1, a2)
    low_b = min(b0, b1, b2)
    high_b = max(b0, b1, b2)
    if low_a > high_b or low_b > high_a:
        return -1.0
    return max(high_a, high_b) - min(low_a, low_b)


@inner
def contact_kind(a, b):
    """DISJOINT, or the kind of contact of two closed triangles; exact."""
    dx = _extent_if_ranges_meet(a[0][0], a[1][0], a[2][0], b[0][0], b[1][0], b[2][0])
    if dx < 0.0:
        return DISJOINT
    dy = _extent_if_ranges_meet(a[0][1], a[1][1], a[2][1], b[0][1], b[1][1], b[2][1])
    if dy < 0.0:
        return DISJOINT
    dz = _extent_if_ranges_meet(a[0][2], a[1][2], a[2][2], b[0][2], b[1][2], b[2][2])
    if dz < 0.0:
        return DISJOINT
    error = orient3d_error(dx, dy, dz)
    heights_b = heights(a, b, error)
    if _on_one_side(heights_b):
        return DISJOINT
    heights_a = heights(b, a, error)
    if _on_one_side(heights_a):
        return DISJOINT
    if on_plane(heights_a) or on_plane(heights_b):
        return _flat_kind(*(a[0] + a[1] + a[2] + b[0] + b[1] + b[2]))
    first, second = canonical(a, b, heights_a, heights_b)
    upper = order_on_line(first, second, 1, 1, error)
    if upper < 0:
        return DISJOINT
    lower = order_on_line(first, second, 2, 2, error)
    if lower > 0:
        return DISJOINT
    if upper > 0 and lower < 0 and _straddles(heights_a) and _straddles(heights_b):
        return CROSSING
    return TOUCHING


# ------------------------------------------------- one plane, or degenerate triangles


@inner
def seen_turn(a, b, c, axis):
    """orient2d of three points seen along an axis."""
    if axis == 0:
        return orient2d(a[1], a[2], b[1], b[2], c[1], c[2])
    if axis == 1:
        return orient2d(a[2], a[0], b[2], b[0], c[2], c[0])
    return orient2d(a[0], a[1], b[0], b[1], c[0], c[1])


@inner
def projection_axis(t):
    """An axis along which the triangle does not look degenerate and its turn there; -1, 0 if there is none."""
    for axis in range(3):
        turn = seen_turn(t[0], t[1], t[2], axis)
        if turn != 0:
            return axis, turn
    return -1, 0


@inner
def _best_side(p, q, turn, a, b, c, axis):
    """1, 0 or -1: how far to the inner side of the line pq the best of three points lies."""
    best = turn * seen_turn(p, q, a, axis)
    if best < 1:
        best = max(best, turn * seen_turn(p, q, b, axis))
    if best < 1:
        best = max(best, turn * seen_turn(p, q, c, axis))
    return best


@inner
def _reach(t, turn, a, b, c, axis):
    """The least _best_side of three points over the edges of a triangle: -1 tells a separating edge."""
    reach = _best_side(t[0], t[1], turn, a, b, c, axis)
    if reach >= 0:
        reach = min(reach, _best_side(t[1], t[2], turn, a, b, c, axis))
    if reach >= 0:
        reach = min(reach, _best_side(t[2], t[0], turn, a, b, c, axis))
    return reach


@inner
def pair_array(a, b):
    """Two triangles as an array (2, 3, 3)."""
    pair = np.empty((2, 3, 3))
    for k in range(3):
        pair[0, 0, k], pair[0, 1, k], pair[0, 2, k] = a[0][k], a[1][k], a[2][k]
        pair[1, 0, k], pair[1, 1, k], pair[1, 2, k] = b[0][k], b[1][k], b[2][k]
    return pair


@inner
def _before(p, q):
    """Lexicographic order, which is the order along any line."""
    if p[0] != q[0]:
        return p[0] < q[0]
    if p[1] != q[1]:
        return p[1] < q[1]
    return p[2] < q[2]


@inner
def same_point(p, q):
    return p[0] == q[0] and p[1] == q[1] and p[2] == q[2]


@inner
def degenerate_ends(t):
    """The end points of a triangle whose vertices lie on one line."""
    low = t[0]
    high = t[0]
    if _before(t[1], low):
        low = t[1]
    if _before(t[2], low):
        low = t[2]
    if _before(high, t[1]):
        high = t[1]
    if _before(high, t[2]):
        high = t[2]
    return low, high


@inner
def segment_meets_triangle(p, q, t):
    """Whether a closed segment (or point) and a closed triangle (or less) have a common point; exact."""
    axis, turn = projection_axis(t)
    if axis < 0:
        r, s = degenerate_ends(t)
        return segments_meet(p, q, r, s)
    side_p = orient3d(t[0], t[1], t[2], p)
    side_q = orient3d(t[0], t[1], t[2], q)
    if side_p * side_q > 0:
        return False
    if side_p == 0 and side_q == 0:
        if _reach(t, turn, p, q, q, axis) < 0:
            return False
        s0 = seen_turn(p, q, t[0], axis)
        s1 = seen_turn(p, q, t[1], axis)
        s2 = seen_turn(p, q, t[2], axis)
        return not _on_one_side((s0, s1, s2))
    s0 = orient3d(p, q, t[0], t[1])
    s1 = orient3d(p, q, t[1], t[2])
    s2 = orient3d(p, q, t[2], t[0])
    return min(s0, s1, s2) >= 0 or max(s0, s1, s2) <= 0


@inner
def _ranges_meet(p, q, r, s, axis):
    return max(p[axis], q[axis]) >= min(r[axis], s[axis]) and max(r[axis], s[axis]) >= min(p[axis], q[axis])


@inner
def segments_meet(p, q, r, s):
    """Whether two closed segments in space, possibly points, have a common point; exact."""
    return _segments_meet(p[0], p[1], p[2], q[0], q[1], q[2], r[0], r[1], r[2], s[0], s[1], s[2])


@cold("boolean(" + ", ".join(["float64"] * 12) + ")")
def _segments_meet(px, py, pz, qx, qy, qz, rx, ry, rz, sx, sy, sz):
    """They must be coplanar, and meet in all three projections.

    One of these is a bijection on their plane, and if all four points are on a line the ranges decide.
    """
    p = (px, py, pz)
    q = (qx, qy, qz)
    r = (rx, ry, rz)
    s = (sx, sy, sz)
    for axis in range(3):
        if not _ranges_meet(p, q, r, s, axis):
            return False
    if orient3d(p, q, r, s) != 0:
        return False
    for axis in range(3):
        if seen_turn(p, q, r, axis) * seen_turn(p, q, s, axis) > 0:
            return False
        if seen_turn(r, s, p, axis) * seen_turn(r, s, q, axis) > 0:
            return False
    return True


@cold("int64(" + ", ".join(["float64"] * 18) + ")")
def _flat_kind(
    a0x, a0y, a0z, a1x, a1y, a1z, a2x, a2y, a2z, b0x, b0y, b0z, b1x, b1y, b1z, b2x, b2y, b2z
):  # fmt: skip
    """contact_kind of two triangles in one plane, or of which one is degenerate.

    Eighteen numbers instead of an array: making one would slow down the hot path of the caller.
    """
    a = ((a0x, a0y, a0z), (a1x, a1y, a1z), (a2x, a2y, a2z))
    b = ((b0x, b0y, b0z), (b1x, b1y, b1z), (b2x, b2y, b2z))
    axis, turn_a = projection_axis(a)
    axis_b, turn_b = projection_axis(b)
    if axis < 0:
        p, q = degenerate_ends(a)
        return TOUCHING if segment_meets_triangle(p, q, b) else DISJOINT
    if axis_b < 0:
        p, q = degenerate_ends(b)
        return TOUCHING if segment_meets_triangle(p, q, a) else DISJOINT
    turn_b = seen_turn(b[0], b[1], b[2], axis)
    reach = min(
        _reach(a, turn_a, b[0], b[1], b[2], axis),
        _reach(b, turn_b, a[0], a[1], a[2], axis),
    )
    if reach < 0:
        return DISJOINT
    return COPLANAR if reach > 0 else TOUCHING


# ---------------------------------------------------------------------------- batches


@kernel("float64[:, :, ::1], float64[:, :, ::1], int8[::1]")
def _contact_kinds(a, b, kinds):
    for i in range(len(a)):
        kinds[i] = contact_kind(load_triangle(a, i), load_triangle(b, i))


def triangles_meet(a, b):
    """Whether triangle a[i] meets triangle b[i], for arrays (k, 3, 3)."""
    kinds = np.empty(len(a), dtype=np.int8)
    _contact_kinds(a, b, kinds)
    return kinds != DISJOINT
