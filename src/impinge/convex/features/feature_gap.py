# mypy: allow-untyped-defs, allow-incomplete-defs
"""Closest points of two features of convex bodies, and their distance, with all the digits that it has.

Where bodies nearly touch, the difference of two rounded points says little about its direction; but that decides where
a walk over features goes on.  What is known of the direction is put in: square to a face, to two edges, or to one.
"""

from __future__ import annotations

import numpy as np

from impinge.convex.features.cell_view import (
    HEAD,
    TAIL,
    direction_of,
    kind_of,
    length_of,
    moved,
    normal_of,
    tail_of,
    value,
    vertex_of,
)
from impinge.convex.features.feature_pair import carried, turned
from impinge.convex.features.voronoi_cells import EDGE, FACE, FLOOR, VERTEX
from impinge.geometry.exact.predicates import cross, dot, subtract
from impinge.kernels.jit import inlined, inner

_NOISE = 2.0**-50
"""What rounding usually does to a number that is computed from coordinates, relative to them."""
_PARALLEL = 2.0**-100
"""Squared sine below which two edges of unit direction are parallel up to rounding."""


@inlined
def nearest_points(a, b, b_to_a, a_to_b, cell_a, cell_b):
    """The nearest point of a's feature, the gap to that of b's, and how far the gap may be off; in the frame of a.

    An edge whose nearest point is its end gives way to that vertex.  A vertex next to a face is known to be above it.
    The gap is the difference of two rounded points, but what is known of its direction, square to a face, to two edges
    or to one, holds to its own digits: where the bodies nearly touch it would else be left to chance.
    """
    kind_a, kind_b = kind_of(a, cell_a), kind_of(b, cell_b)
    if kind_a == EDGE and kind_b == EDGE:
        return _between_edges(a, b, b_to_a, cell_a, cell_b)
    if kind_b == VERTEX:
        y = carried(b_to_a, vertex_of(b, cell_b))
        if kind_a == FACE:
            gap = _scaled(normal_of(a, cell_a, FLOOR), value(a, cell_a, FLOOR, y))
            return cell_a, cell_b, subtract(y, gap), gap, _NOISE * _size(gap)
        cell_a, x = _of_point(a, cell_a, y)
        gap = subtract(y, x)
        if cell_a >= a.first_edge:
            gap = _square_to(gap, direction_of(a, cell_a))
    else:
        x = vertex_of(a, cell_a)
        there = carried(a_to_b, x)
        if kind_b == FACE:
            gap = _scaled(turned(b_to_a, normal_of(b, cell_b, FLOOR)), -value(b, cell_b, FLOOR, there))
            return cell_a, cell_b, x, gap, _NOISE * _size(gap)
        cell_b, y = _of_point(b, cell_b, there)
        gap = subtract(carried(b_to_a, y), x)
        if cell_b >= b.first_edge:
            gap = _square_to(gap, turned(b_to_a, direction_of(b, cell_b)))
    return cell_a, cell_b, x, gap, noise_of_points(b_to_a, x, gap)


@inner
def _of_point(body, cell, point):
    """The nearest point of a vertex or an edge, and the feature itself or the end of the edge."""
    if cell >= body.first_edge:
        cell = _end_or_edge(body, cell, point)
        if cell >= body.first_edge:
            return cell, _on_edge(body, cell, value(body, cell, TAIL, point))
    return cell, vertex_of(body, cell)


@inner
def _end_or_edge(body, edge, point):
    """The end that is nearest to a point, or the edge if its nearest point is none of the ends."""
    if value(body, edge, TAIL, point) <= 0.0:
        return np.int64(body.beyond[edge, TAIL])
    if value(body, edge, HEAD, point) <= 0.0:
        return np.int64(body.beyond[edge, HEAD])
    return edge


@inner
def _on_edge(body, edge, t):
    return moved(tail_of(body, edge), direction_of(body, edge), t)


@inner
def _between_edges(a, b, b_to_a, edge_a, edge_b):
    """``nearest_points`` of two edges.

    The common perpendicular is found from unit directions (no power of a length, hence no overflow), and each point
    is then taken as the nearest one to the other, so that their cells agree with them.
    """
    tail_a, along_a, length_a = tail_of(a, edge_a), direction_of(a, edge_a), length_of(a, edge_a)
    tail_b = carried(b_to_a, tail_of(b, edge_b))
    along_b, length_b = turned(b_to_a, direction_of(b, edge_b)), length_of(b, edge_b)
    between = subtract(tail_b, tail_a)
    normal = cross(along_a, along_b)
    sine = dot(normal, normal)
    if sine > _PARALLEL:
        s = dot(cross(between, along_b), normal) / sine
        s = min(max(s, 0.0), length_a)
    else:
        s = _middle_of_overlap(dot(between, along_a), dot(along_a, along_b) * length_b, length_a)
    t = dot(subtract(moved(tail_a, along_a, s), tail_b), along_b)
    if t <= 0.0 or t >= length_b:
        end = TAIL if t <= 0.0 else HEAD
        edge_b = np.int64(b.beyond[edge_b, end])
        y = carried(b_to_a, vertex_of(b, edge_b))
    else:
        y = moved(tail_b, along_b, t)
    edge_a, x = _of_point(a, edge_a, y)
    gap = subtract(y, x)
    noise = noise_of_points(b_to_a, x, gap)
    if sine > _PARALLEL and edge_a >= a.first_edge and edge_b >= b.first_edge:
        better = _NOISE * _size(gap) / np.sqrt(sine)
        if better < noise:
            return edge_a, edge_b, x, _scaled(normal, dot(gap, normal) / sine), better
    if edge_b >= b.first_edge:
        gap = _square_to(gap, along_b)
    elif edge_a >= a.first_edge:
        gap = _square_to(gap, along_a)
    return edge_a, edge_b, x, gap, noise


@inner
def _middle_of_overlap(start, stretch, length):
    """Of [0, length] and what runs from start as far as stretch: the middle of the common part, or the nearer end."""
    low, high = min(start, start + stretch), max(start, start + stretch)
    return 0.5 * (min(max(low, 0.0), length) + min(max(high, 0.0), length))


@inner
def noise_of_points(rows, x, gap):
    """What rounding does to the difference of two points in the frame of a."""
    return _NOISE * (abs(rows[0][3]) + abs(rows[1][3]) + abs(rows[2][3]) + _size(x) + _size(gap))


@inner
def _size(v):
    return abs(v[0]) + abs(v[1]) + abs(v[2])


@inner
def _square_to(v, along):
    return moved(v, along, -dot(v, along))


@inner
def _scaled(v, t):
    return (t * v[0], t * v[1], t * v[2])
