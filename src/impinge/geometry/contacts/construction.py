# mypy: allow-untyped-defs, allow-incomplete-defs
"""Where two triangles meet: points, chord and normal of a contact.

Which points there are is decided exactly, by the predicates of geometry.triangles.intersection; their
coordinates are rounded.  The normal points from b to a.  Each end of a chord lies on an edge
of one triangle within the face of the other, and the face has the say: an edge of a on the
face of b votes for the normal of b, an edge of b on the face of a for the opposite of the
normal of a.  Swapping the bodies therefore reverses the normal, except of coplanar triangles that face the same
way: there "from b to a" has no meaning, and the common normal is given.
"""

from __future__ import annotations

import numpy as np

from impinge.geometry.contacts.face_normal import normalised, unit_normal
from impinge.geometry.exact.predicates import orient2d_value, orient3d, orient3d_error
from impinge.geometry.triangles.certain_crossing import NORMALS_CANCEL, PAIR_SHAPE, put_certain_crossing
from impinge.geometry.triangles.crossing import (
    SMALLEST_SAFE_EXTENT,
    between,
    extent_of_pair,
    largest_coordinate,
    plane_crossing,
    power_of_two_over,
)
from impinge.geometry.triangles.intersection import (
    COPLANAR,
    CROSSING,
    DISJOINT,
    canonical,
    contact_kind,
    degenerate_ends,
    heights,
    joint_extent,
    load_triangle,
    lone_height,
    on_plane,
    order_on_line,
    projection_axis,
    same_point,
    seen_turn,
    segment_meets_triangle,
)
from impinge.kernels.jit import POINTER, array_at, cold, inlined, inner, kernel, pointer_to

MOST_POINTS = 6
"""The overlap of two coplanar triangles has at most six corners."""


@inner
def _voted_normal(normal_a, normal_b, votes_a, votes_b):
    """The sum of the votes, normalised; where they cancel, b's own normal."""
    x = votes_b * normal_b[0] - votes_a * normal_a[0]
    y = votes_b * normal_b[1] - votes_a * normal_a[1]
    z = votes_b * normal_b[2] - votes_a * normal_a[2]
    if max(abs(x), abs(y), abs(z)) > NORMALS_CANCEL:
        return normalised(x, y, z)
    return normal_b


@inner
def _store(points, i, p):
    points[i, 0] = p[0]
    points[i, 1] = p[1]
    points[i, 2] = p[2]


# ---------------------------------------------------------------- general position


@inner
def _chord(a, b, heights_a, heights_b, error, points):
    """Write the ends of the intersection of triangles in different planes; return their number and votes."""
    first, second = canonical(a, b, heights_a, heights_b)
    tip_a, tip_b = lone_height(heights_a), lone_height(heights_b)
    if tip_a == 0.0 or tip_b == 0.0:
        _store(points, 0, first[0] if tip_a == 0.0 else second[0])
        return 1, 1.0 if tip_b == 0.0 else 0.0, 1.0 if tip_a == 0.0 else 0.0
    lower = order_on_line(first, second, 2, 1, error)
    upper = order_on_line(first, second, 1, 2, error)
    low = (first[0], first[2], second) if lower >= 0 else (second[0], second[1], first)
    high = (first[0], first[1], second) if upper <= 0 else (second[0], second[2], first)
    if order_on_line(first, second, 1, 1, error) == 0:
        _store(points, 0, plane_crossing(*high))
        return 1, 1.0, 1.0
    _store(points, 0, plane_crossing(*low))
    if order_on_line(first, second, 2, 2, error) == 0:
        return 1, 1.0, 1.0
    _store(points, 1, plane_crossing(*high))
    votes_a = (1.0 if lower <= 0 else 0.0) + (1.0 if upper >= 0 else 0.0)
    votes_b = (1.0 if lower >= 0 else 0.0) + (1.0 if upper <= 0 else 0.0)
    return 2, votes_a, votes_b


# ------------------------------------------------- one plane, or degenerate triangles


@inner
def _edge_count(t):
    """Three, or one for a degenerate triangle, which is its own longest edge."""
    return 1 if projection_axis(t)[0] < 0 else 3


@inner
def _edge(t, i, count):
    if count == 1:
        return degenerate_ends(t)
    return t[i], t[(i + 1) % 3]


@inner
def _turn_value(a, b, c, axis):
    i = (axis + 1) % 3
    j = (axis + 2) % 3
    return orient2d_value(a[i], a[j], b[i], b[j], c[i], c[j])


@inner
def _add_edge_crossing(p, q, r, s, points, count):
    """Add the point where two segments cross properly, if they do."""
    if orient3d(p, q, r, s) == 0:
        for axis in range(3):
            if (
                seen_turn(p, q, r, axis) * seen_turn(p, q, s, axis) < 0
                and seen_turn(r, s, p, axis) * seen_turn(r, s, q, axis) < 0
            ):
                part_p = abs(_turn_value(r, s, p, axis))
                part_q = abs(_turn_value(r, s, q, axis))
                _store(points, count, between(p, q, part_p, part_q))
                return count + 1
    return count


@inner
def _add_corners(t, other, points, count):
    """Add the extreme points of one triangle that lie in the other, each position once."""
    degenerate = projection_axis(t)[0] < 0
    low, high = degenerate_ends(t)
    for i in range(3):
        p = t[i]
        known = degenerate and not (same_point(p, low) or same_point(p, high))
        for k in range(count):
            known = known or (points[k, 0] == p[0] and points[k, 1] == p[1] and points[k, 2] == p[2])
        if not known and segment_meets_triangle(p, p, other):
            _store(points, count, p)
            count += 1
    return count


@inner
def _add_piercings(t, edges, other, points, count):
    """Add where edges of t pass through the inside of ``other``."""
    for i in range(edges):
        p, q = _edge(t, i, edges)
        if orient3d(other[0], other[1], other[2], p) * orient3d(other[0], other[1], other[2], q) < 0:
            s0 = orient3d(p, q, other[0], other[1])
            s1 = orient3d(p, q, other[1], other[2])
            s2 = orient3d(p, q, other[2], other[0])
            if min(s0, s1, s2) > 0 or max(s0, s1, s2) < 0:
                _store(points, count, plane_crossing(p, q, other))
                count += 1
    return count


@cold(f"int64({POINTER}, {POINTER})")
def _flat_points(pair_pointer, points_pointer):
    """Write all corners of the intersection of triangles in one plane, or of which one is degenerate."""
    pair = array_at(pair_pointer, PAIR_SHAPE)
    points = array_at(points_pointer, (2 * MOST_POINTS, 3))
    a = load_triangle(pair, 0)
    b = load_triangle(pair, 1)
    edges_a = _edge_count(a)
    edges_b = _edge_count(b)
    count = _add_corners(a, b, points, 0)
    count = _add_corners(b, a, points, count)
    count = _add_piercings(a, edges_a, b, points, count)
    count = _add_piercings(b, edges_b, a, points, count)
    for i in range(edges_a):
        p, q = _edge(a, i, edges_a)
        for j in range(edges_b):
            r, s = _edge(b, j, edges_b)
            count = _add_edge_crossing(p, q, r, s, points, count)
    return count


@inner
def farthest_two(points, count):
    """The places of the two points that are farthest from each other."""
    best = -1.0
    first = 0
    second = 0
    for i in range(count):
        for j in range(i + 1, count):
            x = points[i, 0] - points[j, 0]
            y = points[i, 1] - points[j, 1]
            z = points[i, 2] - points[j, 2]
            length = x * x + y * y + z * z
            if length > best:
                best, first, second = length, i, j
    return first, second


@inner
def _put_longest_chord_first(points, count):
    """Swap the two points that are farthest from each other to the front."""
    first, second = farthest_two(points, count)
    if count > 1:
        for k in range(3):
            points[0, k], points[first, k] = points[first, k], points[0, k]
        for k in range(3):
            points[1, k], points[second, k] = points[second, k], points[1, k]


@inner
def _sort_around(points, count, axis):
    """Order the corners of a convex polygon, seen along an axis, starting with points[0]."""
    i = (axis + 1) % 3
    j = (axis + 2) % 3
    for k in range(1, count):
        for m in range(k + 1, count):
            x, y = points[k, i] - points[0, i], points[k, j] - points[0, j]
            u, v = points[m, i] - points[0, i], points[m, j] - points[0, j]
            if x * v - y * u < 0.0:
                for n in range(3):
                    points[k, n], points[m, n] = points[m, n], points[k, n]


# ------------------------------------------------------------------------- together


@cold(f"int64({POINTER}, int64, {POINTER}, {POINTER})")
def _construct_carefully(pair_pointer, kind, points_pointer, normal_pointer):
    """construct_contact in every case, of triangles that are not too small for floats."""
    pair = array_at(pair_pointer, PAIR_SHAPE)
    points = array_at(points_pointer, (2 * MOST_POINTS, 3))
    normal = array_at(normal_pointer, (3,))
    a = load_triangle(pair, 0)
    b = load_triangle(pair, 1)
    error = orient3d_error(joint_extent(a, b, 0), joint_extent(a, b, 1), joint_extent(a, b, 2))
    heights_b = heights(a, b, error)
    heights_a = heights(b, a, error)
    if on_plane(heights_a) or on_plane(heights_b):
        count = _flat_points(pointer_to(pair), pointer_to(points))
        _put_longest_chord_first(points, count)
        if kind != COPLANAR:
            count = min(count, 2)
        # The plane of b, or that of a where b is degenerate: nothing to vote on.
        votes_b = 0.0 if projection_axis(b)[0] < 0 else 1.0
        votes_a = 1.0 - votes_b
    else:
        count, votes_a, votes_b = _chord(a, b, heights_a, heights_b, error, points)
    normal[0], normal[1], normal[2] = _voted_normal(unit_normal(a), unit_normal(b), votes_a, votes_b)
    if count == 1:
        for k in range(3):
            points[1, k] = points[0, k]
    return count


@cold(f"float64({POINTER})")
def _enlarge(pair_pointer):
    """Multiply a pair that is too small for floats by a power of two, which is returned; 1 for any other."""
    pair = array_at(pair_pointer, PAIR_SHAPE)
    a = load_triangle(pair, 0)
    b = load_triangle(pair, 1)
    extent = extent_of_pair(a, b)
    if extent >= SMALLEST_SAFE_EXTENT:
        return 1.0
    factor = power_of_two_over(extent, largest_coordinate(a, b))
    for side in range(2):
        for i in range(3):
            for k in range(3):
                pair[side, i, k] *= factor
    return factor


@inlined
def _surely_large(pair, kind):
    """Whether a pair is certainly not too small for floats.

    The extent of triangles that cross is no less than 2**-53 of any coordinate, because their coordinates differ.
    """
    largest = max(abs(pair[0, 0, 0]), abs(pair[0, 0, 1]), abs(pair[0, 0, 2]))
    return kind == CROSSING and largest > 2.0**53 * SMALLEST_SAFE_EXTENT


@inlined
def construct_contact(pair, kind, points, normal):
    """Write the corners of the intersection, longest chord first, and the normal; return the number of corners.

    ``pair`` is an array of PAIR_SHAPE with two triangles, which are not kept.  ``points`` has room for twice
    MOST_POINTS; a single point is written twice.
    """
    factor = 1.0 if _surely_large(pair, kind) else _enlarge(pointer_to(pair))
    if kind == CROSSING and put_certain_crossing(pair, points, normal):
        count = 2
    else:
        count = _construct_carefully(pointer_to(pair), kind, pointer_to(points), pointer_to(normal))
    if factor != 1.0:
        for i in range(max(count, 2)):
            for k in range(3):
                points[i, k] /= factor
    return count


# ---------------------------------------------------------------------------- batches


@kernel("float64[:, :, ::1], float64[:, :, ::1], int8[::1], int8[::1], float64[:, :, ::1], float64[:, ::1]")
def _intersections(a, b, kinds, counts, corners, normals):
    points = np.empty((2 * MOST_POINTS, 3))
    pair = np.empty(PAIR_SHAPE)
    for i in range(len(a)):
        s = load_triangle(a, i)
        kind = contact_kind(s, load_triangle(b, i))
        kinds[i] = kind
        if kind == DISJOINT:
            continue
        for j in range(3):
            for k in range(3):
                pair[0, j, k] = a[i, j, k]
                pair[1, j, k] = b[i, j, k]
        count = construct_contact(pair, kind, points, normals[i])
        if kind == COPLANAR:
            _sort_around(points, count, projection_axis(s)[0])
        counts[i] = count
        for j in range(count):
            for k in range(3):
                corners[i, j, k] = points[j, k]


def triangle_intersections(a, b):
    """Kind (-1 where disjoint), number of corners, corners (k, 6, 3) and normal for each pair of triangles."""
    kinds = np.empty(len(a), dtype=np.int8)
    counts = np.zeros(len(a), dtype=np.int8)
    corners = np.zeros((len(a), MOST_POINTS, 3))
    normals = np.zeros((len(a), 3))
    _intersections(a, b, kinds, counts, corners, normals)
    return kinds, counts, corners, normals
