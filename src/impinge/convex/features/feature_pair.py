# mypy: allow-untyped-defs, allow-incomplete-defs
"""Pair of closest features, one of each body: the state of Lin-Canny and V-Clip, and the warm start of the next pose.

Both walks carry features into the frame of the other body, in centred coordinates (``hull_handle``), in floats.  Where
they end is a claim.  ``convex.distance.gjk`` takes the vertices of the two features as its first simplex
(``distance.simplex_of_pair``), and the bound with which it ends is the proof; where rounding has led a walk astray it
goes on from there.
"""

from __future__ import annotations

from impinge.geometry.exact.predicates import dot
from impinge.kernels.jit import inner
from impinge.kernels.record import Record, int64


class FeaturePair(Record):
    """One feature of each body; all zero, the first vertices, is as good a start as any."""

    kind_a = int64
    """VERTEX, EDGE or FACE (``convex.features.voronoi_cells``)."""
    feature_a = int64
    kind_b = int64
    feature_b = int64
    piece_a = int64
    """Which piece of the feature's cell the walk stood in (Lin-Canny only; a number out of range counts as 0)."""
    piece_b = int64


# How a walk ends.
NEAREST = 0
"""The features hold the nearest points."""
PENETRATING = 1
"""The features cross: an edge of one body and a face of the other, or a feature that lies inside the other body."""


@inner
def turned(rows, v):
    """A direction, carried along."""
    return (dot(rows[0], v), dot(rows[1], v), dot(rows[2], v))


@inner
def carried(rows, p):
    """A point, carried along."""
    return (dot(rows[0], p) + rows[0][3], dot(rows[1], p) + rows[1][3], dot(rows[2], p) + rows[2][3])


@inner
def placements(a, b, pose_a, pose_b):
    """What carries centred coordinates of b to those of a, and back: three rows of four numbers each.

    ``pose_a`` and ``pose_b`` are rows of numbers as from ``convex.distance.support.pose_of``.
    """
    r, s = pose_a, pose_b
    centre_a = (a.centre[0], a.centre[1], a.centre[2])
    centre_b = (b.centre[0], b.centre[1], b.centre[2])
    # The centres' difference in the world first: bodies far from the origin and near to each other lose least.
    gap = (
        (dot(s[0], centre_b) - dot(r[0], centre_a)) + (s[0][3] - r[0][3]),
        (dot(s[1], centre_b) - dot(r[1], centre_a)) + (s[1][3] - r[1][3]),
        (dot(s[2], centre_b) - dot(r[2], centre_a)) + (s[2][3] - r[2][3]),
    )
    column_a = ((r[0][0], r[1][0], r[2][0]), (r[0][1], r[1][1], r[2][1]), (r[0][2], r[1][2], r[2][2]))
    column_b = ((s[0][0], s[1][0], s[2][0]), (s[0][1], s[1][1], s[2][1]), (s[0][2], s[1][2], s[2][2]))
    b_to_a = (
        _row(column_a[0], column_b, dot(column_a[0], gap)),
        _row(column_a[1], column_b, dot(column_a[1], gap)),
        _row(column_a[2], column_b, dot(column_a[2], gap)),
    )
    a_to_b = (
        _row(column_b[0], column_a, -dot(column_b[0], gap)),
        _row(column_b[1], column_a, -dot(column_b[1], gap)),
        _row(column_b[2], column_a, -dot(column_b[2], gap)),
    )
    return b_to_a, a_to_b


@inner
def _row(axis, columns, shift):
    return (dot(axis, columns[0]), dot(axis, columns[1]), dot(axis, columns[2]), shift)
