# mypy: allow-untyped-defs, allow-incomplete-defs
"""From a pair of features to the simplex of GJK that holds the difference of their witness points."""

from __future__ import annotations

import numpy as np

from impinge.convex.distance.simplex import put_vertices
from impinge.convex.distance.two_segments import nearest_places
from impinge.convex.features.feature_pair import carried
from impinge.convex.features.voronoi_cells import EDGE, FACE, VERTEX
from impinge.geometry.exact.predicates import cross, dot, subtract
from impinge.kernels.jit import inner


@inner
def _point(body, i):
    return (body.points[i, 0], body.points[i, 1], body.points[i, 2])


@inner
def _triangle_of_face(body, face, p):
    """Three corners of a face whose triangle holds the foot of p, by bisection of the fan around the first corner."""
    start = np.int64(body.face_starts[face])
    low, high = start + 1, np.int64(body.face_starts[face + 1]) - 1
    first = np.int64(body.face_vertices[start])
    origin = _point(body, first)
    planes = body.face_planes
    normal = (planes[face, 0], planes[face, 1], planes[face, 2])
    away = subtract(p, origin)
    while high - low > 1:
        middle = (low + high) // 2
        spoke = subtract(_point(body, body.face_vertices[middle]), origin)
        if dot(normal, cross(spoke, away)) >= 0.0:
            low = middle
        else:
            high = middle
    return first, np.int64(body.face_vertices[low]), np.int64(body.face_vertices[high])


@inner
def _first_leads(p0, p1, q0, q1):
    """Whether the nearest point lies farther along the segment p than along q, as parts of their lengths."""
    s, t = nearest_places(subtract(p1, p0), subtract(q1, q0), subtract(p0, q0))
    return s >= t


@inner
def _vertices_of(body, kind, feature, p):
    """Up to three vertices that span the part of a feature that is nearest to p; the last one is repeated."""
    if kind == VERTEX:
        return 1, feature, feature, feature
    if kind == EDGE:
        tail, head = np.int64(body.edge_vertices[feature, 0]), np.int64(body.edge_vertices[feature, 1])
        return 2, tail, head, head
    first, second, third = _triangle_of_face(body, feature, p)
    return 3, first, second, third


@inner
def simplex_of_pair(work, a, b, pose_a, pose_b, b_to_a, a_to_b):
    """Write the simplex of the pair in the workspace.

    Where the features cross, which is no nearest pair, one vertex of the smaller feature stands for it.
    """
    pair = work.kept.features
    kind_a, feature_a, kind_b, feature_b = pair.kind_a, pair.feature_a, pair.kind_b, pair.feature_b
    if kind_a == EDGE and kind_b == EDGE:
        _, p0, p1, _ = _vertices_of(a, kind_a, feature_a, (0.0, 0.0, 0.0))
        _, q0, q1, _ = _vertices_of(b, kind_b, feature_b, (0.0, 0.0, 0.0))
        # The differences of two edges span a parallelogram; the nearest point is in one of its halves.
        leads = _first_leads(
            _point(a, p0),
            _point(a, p1),
            carried(b_to_a, _point(b, q0)),
            carried(b_to_a, _point(b, q1)),
        )
        put_vertices(work, 0, a, b, pose_a, pose_b, p0, q0)
        put_vertices(work, 1, a, b, pose_a, pose_b, p1 if leads else p0, q0 if leads else q1)
        put_vertices(work, 2, a, b, pose_a, pose_b, p1, q1)
        work.kept.count = 3
        return
    if kind_a >= kind_b:
        q = _some_vertex(b, kind_b, feature_b)
        count, p0, p1, p2 = _vertices_of(a, kind_a, feature_a, carried(b_to_a, _point(b, q)))
        q0, q1, q2 = q, q, q
    else:
        p = _some_vertex(a, kind_a, feature_a)
        count, q0, q1, q2 = _vertices_of(b, kind_b, feature_b, carried(a_to_b, _point(a, p)))
        p0, p1, p2 = p, p, p
    put_vertices(work, 0, a, b, pose_a, pose_b, p0, q0)
    if count > 1:
        put_vertices(work, 1, a, b, pose_a, pose_b, p1, q1)
    if count > 2:
        put_vertices(work, 2, a, b, pose_a, pose_b, p2, q2)
    work.kept.count = count


@inner
def _some_vertex(body, kind, feature):
    if kind == VERTEX:
        return feature
    if kind == FACE:
        return np.int64(body.face_vertices[body.face_starts[feature]])
    return np.int64(body.edge_vertices[feature, 0])
