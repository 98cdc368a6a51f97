# mypy: allow-untyped-defs, allow-incomplete-defs
"""The feature of a hull on which a witness point lies, given the vertices that span it.

One vertex carries itself, two that are joined an edge, all others a face.  After posing, the vertices of a simplex may
belong to two faces that are coplanar but for rounding; so of the faces around the first vertex the one is named that
faces the other body most squarely.
"""

from __future__ import annotations

import numpy as np

from impinge.convex.features.voronoi_cells import EDGE, FACE, VERTEX
from impinge.geometry.exact.predicates import dot
from impinge.kernels.jit import inner

NONE = -1


@inner
def _facing(body, face, d):
    planes = body.face_planes
    return dot((planes[face, 0], planes[face, 1], planes[face, 2]), d)


@inner
def _face_at(body, vertex, d):
    """The face at a vertex that faces a direction most squarely; NONE where there is none."""
    best = np.int64(NONE)
    most = -np.inf
    for k in range(body.vertex_starts[vertex], body.vertex_starts[vertex + 1]):
        face = np.int64(body.vertex_faces[k])
        if face != NONE:
            square = _facing(body, face, d)
            if square > most:
                best, most = face, square
    return best


@inner
def _edge_between(body, one, two):
    for k in range(body.vertex_starts[one], body.vertex_starts[one + 1]):
        if body.vertex_ends[k] == two:
            return np.int64(body.vertex_edges[k])
    return np.int64(NONE)


@inner
def carrier(body, vertices, count, d):
    """(kind, feature, face) for the first of these vertices, which may repeat.

    d points to the other body, in the frame of this one.
    """
    one = vertices[0]
    two = one
    more = False
    for i in range(1, count):
        other = vertices[i]
        if other != one and other != two:
            if two == one:
                two = other
            else:
                more = True
    if two == one:
        return VERTEX, one, _face_at(body, one, d)
    if not more:
        edge = _edge_between(body, one, two)
        if edge != NONE:
            left, right = np.int64(body.edge_faces[edge, 0]), np.int64(body.edge_faces[edge, 1])
            if left == NONE:
                return EDGE, edge, left
            return EDGE, edge, (left if _facing(body, left, d) >= _facing(body, right, d) else right)
    face = _face_at(body, one, d)
    return FACE, face, face
