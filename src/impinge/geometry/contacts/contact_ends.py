# mypy: allow-untyped-defs, allow-incomplete-defs
"""Features (vertices, edges, faces) at the ends of a contact: what neighbouring contacts have in common.

The chord of two triangles ends where an edge of one meets the other.  Its rounded coordinates differ by some
ulps from those that the neighbour across that edge computes, but the pair (edge, face) does not: it is decided by
the signs of the exact predicates, as the contact itself is (geometry.triangles.intersection), at every scale and in
every degenerate position.

A feature of a triangle is a small number: 0..2 a vertex, 3..5 the inside of the edge that starts there, 6 the
inside of the face.  A point on a degenerate triangle lies on two of its edges: the second one, 0..2, is
then added as 8 * (1 + edge).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from impinge.geometry.contacts.construction import farthest_two
from impinge.geometry.exact.predicates import orient2d_value, orient3d, orient3d_error
from impinge.geometry.surface import posed_face, surface_at
from impinge.geometry.triangles.crossing import (
    SMALLEST_SAFE_EXTENT,
    between,
    extent_of_pair,
    largest_coordinate,
    plane_crossing,
    power_of_two_over,
    scaled_triangle,
)
from impinge.geometry.triangles.intersection import (
    COPLANAR,
    canonical,
    contact_kind,
    degenerate_ends,
    heights,
    joint_extent,
    lone_height,
    on_plane,
    order_on_line,
    pair_array,
    projection_axis,
    same_point,
    seen_turn,
    segments_meet,
)
from impinge.kernels.jit import POINTER, array_at, cold, inner, kernel, pointer_to
from impinge.kernels.record import Record, float64, int8, int32, int64

NOWHERE = -1
EDGE = 3
FACE = 6
OTHER_EDGE = 8

MOST_SIDES = 6
"""Of the overlap of two coplanar triangles."""

_MOST_CORNERS = 12


# ---------------------------------------------------------------- general position


@inner
def _edge_between(i, j):
    """The edge of a triangle between two of its vertices; an edge has the number of the vertex where it starts."""
    return i if (i + 1) % 3 == j else j


@inner
def _end_feature(labels, h, on_pq, on_pr):
    """Where on a triangle (p, q, r) the end of a chord lies: on its edges p-q or p-r, or between them."""
    p, q, r = labels
    if h[p] == 0.0:
        return p
    if on_pq:
        return q if h[q] == 0.0 else EDGE + _edge_between(p, q)
    if on_pr:
        return r if h[r] == 0.0 else EDGE + _edge_between(p, r)
    if h[q] == 0.0 and h[r] == 0.0:
        return EDGE + _edge_between(q, r)
    return FACE


@inner
def _chord_features(a, b, heights_a, heights_b, error):
    """Features of a and b at the lower and at the upper end; equal where the chord is a single point.

    a covers the interval from its edge p-r to p-q, and b from p-q to p-r (geometry.triangles.intersection.canonical).
    """
    first, second = canonical(a, b, heights_a, heights_b)
    labels_a, labels_b = canonical((0, 1, 2), (0, 1, 2), heights_a, heights_b)
    lower = order_on_line(first, second, 2, 1, error)
    upper = order_on_line(first, second, 1, 2, error)
    # One triangle's interval may start where the other's ends.
    high_a_is_low_b = order_on_line(first, second, 1, 1, error) == 0
    low_a_is_high_b = order_on_line(first, second, 2, 2, error) == 0
    lower_a = _end_feature(labels_a, heights_a, high_a_is_low_b, lower >= 0)
    lower_b = _end_feature(labels_b, heights_b, lower <= 0, low_a_is_high_b)
    upper_a = _end_feature(labels_a, heights_a, upper <= 0, low_a_is_high_b)
    upper_b = _end_feature(labels_b, heights_b, high_a_is_low_b, upper >= 0)
    single = high_a_is_low_b or low_a_is_high_b or lone_height(heights_a) == 0.0 or lone_height(heights_b) == 0.0
    return lower_a, lower_b, upper_a, upper_b, single


# ------------------------------------------------- one plane, or degenerate triangles


@inner
def _location(p, t):
    """The feature of t that holds the point, or NOWHERE; exact."""
    for i in range(3):
        if same_point(p, t[i]):
            return i
    axis, turn = projection_axis(t)
    if axis < 0:
        found = NOWHERE
        for i in range(3):
            if segments_meet(p, p, t[i], t[(i + 1) % 3]):
                if found >= 0:
                    return found + OTHER_EDGE * (1 + i)
                found = EDGE + i
        return found
    if orient3d(t[0], t[1], t[2], p) != 0:
        return NOWHERE
    found = FACE
    for i in range(3):
        side = turn * seen_turn(t[i], t[(i + 1) % 3], p, axis)
        if side < 0:
            return NOWHERE
        if side == 0:
            found = EDGE + i
    return found


@inner
def _edge_feature(t, i, degenerate):
    """The inside of edge i, or NOWHERE if it has none of its own.

    The longest edge of a degenerate triangle lies on the other two; it is named beside them.
    """
    j = (i + 1) % 3
    if same_point(t[i], t[j]):
        return NOWHERE
    if not degenerate:
        return EDGE + i
    low, high = degenerate_ends(t)
    longest = NOWHERE
    for k in range(3):
        p, q = t[k], t[(k + 1) % 3]
        if (same_point(p, low) and same_point(q, high)) or (same_point(p, high) and same_point(q, low)):
            if k == i:
                # Where two vertices coincide the longest edge is there twice: the first one stands for both.
                apex = t[(i + 2) % 3]
                if longest == NOWHERE and (same_point(apex, low) or same_point(apex, high)):
                    return EDGE + i
                return NOWHERE
            if longest == NOWHERE:
                longest = k
    return EDGE + i + OTHER_EDGE * (1 + longest)


@inner
def _put(features, points, count, feature_a, feature_b, p):
    features[count, 0] = feature_a
    features[count, 1] = feature_b
    points[count, 0] = p[0]
    points[count, 1] = p[1]
    points[count, 2] = p[2]
    return count + 1


@inner
def _turn_value(a, b, c, axis):
    i = (axis + 1) % 3
    j = (axis + 2) % 3
    return orient2d_value(a[i], a[j], b[i], b[j], c[i], c[j])


@inner
def _pierces(p, q, t):
    """Whether a segment passes through the inside of a triangle, at an angle."""
    if orient3d(t[0], t[1], t[2], p) * orient3d(t[0], t[1], t[2], q) >= 0:
        return False
    s0 = orient3d(p, q, t[0], t[1])
    s1 = orient3d(p, q, t[1], t[2])
    s2 = orient3d(p, q, t[2], t[0])
    return min(s0, s1, s2) > 0 or max(s0, s1, s2) < 0


@inner
def _crossing_axis(p, q, r, s):
    """An axis along which two segments are seen to cross inside each other, -1 if they do not."""
    if orient3d(p, q, r, s) == 0:
        for axis in range(3):
            if (
                seen_turn(p, q, r, axis) * seen_turn(p, q, s, axis) < 0
                and seen_turn(r, s, p, axis) * seen_turn(r, s, q, axis) < 0
            ):
                return axis
    return -1


@cold(f"int64({POINTER}, {POINTER}, {POINTER})")
def _flat_corners(pair_pointer, features_pointer, points_pointer):
    """All corners of the intersection of triangles in one plane, or of which one is degenerate."""
    pair = array_at(pair_pointer, (2, 3, 3))
    features = array_at(features_pointer, (_MOST_CORNERS, 2))
    points = array_at(points_pointer, (_MOST_CORNERS, 3))
    a = ((pair[0, 0, 0], pair[0, 0, 1], pair[0, 0, 2]), (pair[0, 1, 0], pair[0, 1, 1], pair[0, 1, 2]),
         (pair[0, 2, 0], pair[0, 2, 1], pair[0, 2, 2]))  # fmt: skip
    b = ((pair[1, 0, 0], pair[1, 0, 1], pair[1, 0, 2]), (pair[1, 1, 0], pair[1, 1, 1], pair[1, 1, 2]),
         (pair[1, 2, 0], pair[1, 2, 1], pair[1, 2, 2]))  # fmt: skip
    count = 0
    for i in range(3):
        if _location(a[i], a) == i:  # the first of equal vertices
            feature = _location(a[i], b)
            if feature >= 0:
                count = _put(features, points, count, i, feature, a[i])
    for j in range(3):
        if _location(b[j], b) == j:
            feature = _location(b[j], a)
            if feature >= EDGE:
                count = _put(features, points, count, feature, j, b[j])
    degenerate_a = projection_axis(a)[0] < 0
    degenerate_b = projection_axis(b)[0] < 0
    for i in range(3):
        p, q = a[i], a[(i + 1) % 3]
        feature = _edge_feature(a, i, degenerate_a)
        if feature >= 0:
            if not degenerate_b and _pierces(p, q, b):
                count = _put(features, points, count, feature, FACE, plane_crossing(p, q, b))
            for j in range(3):
                r, s = b[j], b[(j + 1) % 3]
                other = _edge_feature(b, j, degenerate_b)
                if other >= 0:
                    axis = _crossing_axis(p, q, r, s)
                    if axis >= 0:
                        part_p = abs(_turn_value(r, s, p, axis))
                        part_q = abs(_turn_value(r, s, q, axis))
                        count = _put(features, points, count, feature, other, between(p, q, part_p, part_q))
    if not degenerate_a:
        for j in range(3):
            r, s = b[j], b[(j + 1) % 3]
            other = _edge_feature(b, j, degenerate_b)
            if other >= 0 and _pierces(r, s, a):
                count = _put(features, points, count, FACE, other, plane_crossing(r, s, a))
    return count


class _Corners(NamedTuple):
    """Corners of an intersection."""

    features: Any
    """(n, 2)"""
    points: Any
    """(n, 3) multiplied by the factor."""
    count: Any
    factor: Any


@inner
def _on_edge(feature, i):
    return feature == EDGE + i or feature == i or feature == (i + 1) % 3


@inner
def _write_piece(pieces, contact, corners, i, j):
    """Add the piece between two corners."""
    n = pieces.count
    pieces.owner[n] = contact
    for k in range(2):
        pieces.features[n, 0, k] = int(corners.features[i, k])
        pieces.features[n, 1, k] = int(corners.features[j, k])
    for k in range(3):
        pieces.points[n, 0, k] = corners.points[i, k] / corners.factor
        pieces.points[n, 1, k] = corners.points[j, k] / corners.factor
    pieces.count = n + 1


@inner
def _write_sides(pieces, contact, corners):
    """The sides of a coplanar overlap: each lies on an edge of a or b, between the two corners on it."""
    start = pieces.count
    for side in range(6):
        body = side // 3
        first = -1
        second = -1
        for i in range(corners.count):
            if _on_edge(corners.features[i, body], side % 3):
                if first < 0:
                    first = i
                else:
                    second = i
        if second >= 0:
            known = False  # where an edge of a lies on an edge of b
            for m in range(start, pieces.count):
                same = True
                for k in range(2):
                    same = same and pieces.features[m, 0, k] == corners.features[first, k]
                    same = same and pieces.features[m, 1, k] == corners.features[second, k]
                known = known or same
            if not known:
                _write_piece(pieces, contact, corners, first, second)


# ---------------------------------------------------------------------------- batches


class ContactPieces(Record):
    """Contacts of two surfaces, and their pieces: chords, single points (both ends alike), sides of coplanar overlaps.

    There must be room for one piece a contact, and for MOST_SIDES where this is COPLANAR.
    """

    # --- the contacts, as in results.Contacts, and the poses in which they were found

    poses_a = float64[:, 4, 4]
    poses_b = float64[:, 4, 4]
    pose = int64[:]
    face_a = int32[:]
    face_b = int32[:]
    kind = int8[:]
    segments = float64[:, 2, 3]

    # --- the pieces

    count = int64
    """How many were found."""
    owner = int64[:]
    """The contact of each."""
    features = int8[:, 2, 2]
    """Those of a and b at its two ends."""
    points = float64[:, 2, 3]
    """The ends."""


pieces_at = ContactPieces.at


@kernel
def contact_pieces(surface_a, surface_b, pieces):
    """Write the pieces of all contacts; return their number, or -1 - i if contact i is not one of these triangles."""
    surface_a, surface_b, pieces = surface_at(surface_a), surface_at(surface_b), pieces_at(pieces)
    corner_features = np.empty((_MOST_CORNERS, 2))
    corner_points = np.empty((_MOST_CORNERS, 3))
    pieces.count = 0
    for contact in range(pieces.n_pose):
        pose, kind = pieces.pose[contact], pieces.kind[contact]
        a = posed_face(surface_a, pieces.face_a[contact], pieces.poses_a[pose])
        b = posed_face(surface_b, pieces.face_b[contact], pieces.poses_b[pose])
        if contact_kind(a, b) != kind:
            return -1 - contact
        error = orient3d_error(joint_extent(a, b, 0), joint_extent(a, b, 1), joint_extent(a, b, 2))
        heights_b = heights(a, b, error)
        heights_a = heights(b, a, error)
        if not (on_plane(heights_a) or on_plane(heights_b)):
            lower_a, lower_b, upper_a, upper_b, single = _chord_features(a, b, heights_a, heights_b, error)
            n = pieces.count
            pieces.owner[n] = contact
            pieces.features[n, 0, 0] = lower_a
            pieces.features[n, 0, 1] = lower_b
            pieces.features[n, 1, 0] = lower_a if single else upper_a
            pieces.features[n, 1, 1] = lower_b if single else upper_b
            for i in range(2):
                for k in range(3):
                    pieces.points[n, i, k] = pieces.segments[contact, i, k]
            pieces.count = n + 1
            continue
        factor = 1.0
        extent = extent_of_pair(a, b)
        if extent < SMALLEST_SAFE_EXTENT:
            factor = power_of_two_over(extent, largest_coordinate(a, b))
            a = scaled_triangle(a, factor)
            b = scaled_triangle(b, factor)
        count = _flat_corners(pointer_to(pair_array(a, b)), pointer_to(corner_features), pointer_to(corner_points))
        corners = _Corners(corner_features, corner_points, count, factor)
        if kind == COPLANAR:
            _write_sides(pieces, contact, corners)
        else:
            first, second = farthest_two(corner_points, count)
            _write_piece(pieces, contact, corners, first, second)
    return pieces.count
