# mypy: allow-untyped-defs, allow-incomplete-defs
"""One cell of a body, as a walk reads it from the tables of ``hull.hull_handle``: its kind, its planes, its feature.

A cell is a number.  What lies in which order is told in ``convex.features.voronoi_cells``.
"""

from __future__ import annotations

import numpy as np

from impinge.convex.features.voronoi_cells import EDGE, FACE, INSIDE, MOST_SIDES, VERTEX
from impinge.geometry.exact.predicates import dot
from impinge.kernels.jit import inner

TAIL = 0
HEAD = 1
FIRST_SIDE = 2
"""The planes of an edge: at its tail, at its head, and towards its two faces."""


@inner
def kind_of(body, cell):
    """From the order of the cells: no load but that of the first face."""
    if cell < body.first_edge:
        return VERTEX
    first_face = body.face_cells[0]
    if cell < first_face:
        return EDGE
    return INSIDE if body.inside_shift > 0 and cell >= first_face + body.inside_shift else FACE


@inner
def same_feature(body, cell, other):
    if cell == other:
        return True
    kind = kind_of(body, cell)
    return kind != EDGE and kind == kind_of(body, other) and body.cell_features[cell] == body.cell_features[other]


@inner
def value(body, cell, k, p):
    return (
        body.cell_planes[cell, k, 0] * p[0]
        + body.cell_planes[cell, k, 1] * p[1]
        + body.cell_planes[cell, k, 2] * p[2]
        + body.cell_planes[cell, k, 3]
    )


@inner
def normal_of(body, cell, k):
    return (body.cell_planes[cell, k, 0], body.cell_planes[cell, k, 1], body.cell_planes[cell, k, 2])


@inner
def slope(body, cell, k, along):
    return dot(normal_of(body, cell, k), along)


@inner
def most_violated(body, cell, first, beyond_last, point):
    """The plane with the lowest negative value, or -1."""
    place, worst = -1, 0.0
    for k in range(first, beyond_last):
        found = value(body, cell, k, point)
        if found < worst:
            place, worst = k, found
    return place


@inner
def steepest(body, cell, first, along):
    """The side that a direction leads through most steeply, and its slope; -1 and 0 if there is none."""
    place, worst = -1, 0.0
    for k in range(first, MOST_SIDES):
        found = slope(body, cell, k, along)
        if found < worst:
            place, worst = k, found
    return place, worst


@inner
def direction_of(body, edge):
    """The unit vector of an edge: the plane at its tail is square to it."""
    return normal_of(body, edge, TAIL)


@inner
def length_of(body, edge):
    return max(value(body, edge, HEAD, tail_of(body, edge)), 0.0)


@inner
def vertex_of(body, cell):
    return _point(body, body.cell_features[cell])


@inner
def tail_of(body, edge):
    """Where an edge begins."""
    return _point(body, body.edge_vertices[edge - body.first_edge, 0])


@inner
def _point(body, i):
    return (body.points[i, 0], body.points[i, 1], body.points[i, 2])


@inner
def cell_of(body, kind, feature, piece):
    if kind == VERTEX:
        first, beyond_last = np.int64(body.vertex_cells[feature]), np.int64(body.vertex_cells[feature + 1])
    elif kind == EDGE:
        return body.first_edge + feature
    else:
        first, beyond_last = np.int64(body.face_cells[feature]), np.int64(body.face_cells[feature + 1])
    return first + piece if 0 <= piece < beyond_last - first else first


@inner
def name_of(body, cell):
    """Kind, feature and piece of a cell; a pyramid goes by the face above it."""
    kind = kind_of(body, cell)
    if kind == EDGE:
        return EDGE, cell - body.first_edge, np.int64(0)
    feature = np.int64(body.cell_features[cell])
    if kind == VERTEX:
        return VERTEX, feature, cell - body.vertex_cells[feature]
    if kind == INSIDE:
        cell -= body.inside_shift
    return FACE, feature, cell - body.face_cells[feature]


@inner
def moved(p, along, t):
    return (p[0] + t * along[0], p[1] + t * along[1], p[2] + t * along[2])
