# mypy: allow-untyped-defs, allow-incomplete-defs
"""All neighbours of the features of a hull, from its edges and polygons: one kernel.

A directed edge is a corner of a face and the next one along it; number i leaves ``corners[i]``.  Each edge has two of
them, its twins.  In a face that runs x, u, w the edge u-w is followed by u-x, counterclockwise around u, with the face
between them: from the directed edge u-w the next one around u is the twin of x-u.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from impinge.arrays import Ints, read_only
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.kernels.jit import inner, kernel

NONE = -1
"""The face at an edge of a segment."""


class Neighbours(NamedTuple):
    """Columns of the feature graph, which says what they are, and the other ends of edges in ascending order."""

    vertex_starts: Ints
    ascending_ends: Ints
    vertex_edges: Ints
    vertex_ends: Ints
    vertex_faces: Ints
    edge_faces: Ints
    face_edges: Ints
    face_neighbours: Ints


def neighbours_of(hull: ConvexHull) -> Neighbours:
    """The neighbours of all features, found once."""
    return hull.memo("feature neighbours", _find)


def _find(hull: ConvexHull) -> Neighbours:
    return Neighbours(*map(read_only, feature_neighbours(len(hull.vertices), hull.edges, hull.corners, hull.starts)))


@kernel("int64, int32[:, ::1], int32[::1], int32[::1]")
def feature_neighbours(vertex_count, edges, corners, starts):
    """The fields of Neighbours."""
    vertex_starts, ascending = _ends_of_edges(vertex_count, edges)
    edge_faces = np.full((len(edges), 2), NONE, dtype=np.int32)
    face_edges = np.empty(len(corners), dtype=np.int32)
    face_neighbours = np.empty(len(corners), dtype=np.int32)
    around_edges = np.zeros(len(ascending), dtype=np.int32)
    around_faces = np.full(len(ascending), NONE, dtype=np.int32)
    around_ends = ascending.copy()
    if len(corners) > 0:
        first = first_larger(vertex_count, edges)
        face_of = np.empty(len(corners), dtype=np.int32)
        following = np.empty(len(corners), dtype=np.int32)
        before = np.empty(len(corners), dtype=np.int32)
        runs = np.empty((len(edges), 2), dtype=np.int32)
        for f in range(len(starts) - 1):
            last = starts[f + 1] - 1
            for i in range(starts[f], last + 1):
                following[i] = i + 1 if i < last else starts[f]
                before[i] = i - 1 if i > starts[f] else last
                tail, head = corners[i], corners[following[i]]
                edge = edge_between(edges, first, min(tail, head), max(tail, head))
                way = 0 if tail < head else 1
                face_of[i] = f
                face_edges[i] = edge
                edge_faces[edge, way] = f
                runs[edge, way] = i
        for i in range(len(corners)):
            edge = face_edges[i]
            face_neighbours[i] = edge_faces[edge, 1 if runs[edge, 0] == i else 0]
        done = np.zeros(vertex_count, dtype=np.bool_)
        for leaving in range(len(corners)):
            u = corners[leaving]
            if done[u]:
                continue
            done[u] = True
            i, place = leaving, vertex_starts[u]
            while True:
                around_edges[place] = face_edges[i]
                around_ends[place] = corners[following[i]]
                around_faces[place] = face_of[i]
                place += 1
                i = before[i]
                edge = face_edges[i]
                i = runs[edge, 1 if runs[edge, 0] == i else 0]
                if i == leaving:
                    break
    return (
        vertex_starts, ascending, around_edges, around_ends, around_faces, edge_faces, face_edges, face_neighbours,
    )  # fmt: skip


@inner
def _ends_of_edges(vertex_count, edges):
    """(v + 1,) starts and (2 e,) the other ends at each vertex, ascending: edges are sorted."""
    starts = np.zeros(vertex_count + 1, dtype=np.int32)
    for i in range(len(edges)):
        starts[edges[i, 0] + 1] += 1
        starts[edges[i, 1] + 1] += 1
    for i in range(vertex_count):
        starts[i + 1] += starts[i]
    ends = np.empty(2 * len(edges), dtype=np.int32)
    place = starts.copy()
    for side in range(1, -1, -1):  # smaller ends first
        for i in range(len(edges)):
            vertex = edges[i, side]
            ends[place[vertex]] = edges[i, 1 - side]
            place[vertex] += 1
    return starts, ends


@inner
def first_larger(vertex_count, edges):
    """(v + 1,) where the edges from each vertex to larger ones begin."""
    first = np.zeros(vertex_count + 1, dtype=np.int32)
    for i in range(len(edges)):
        first[edges[i, 0] + 1] += 1
    for i in range(vertex_count):
        first[i + 1] += first[i]
    return first


@inner
def edge_between(edges, first, tail, head):
    """The edge from a vertex to a larger one, by bisection; where it would stand if there is none."""
    low, high = first[tail], first[tail + 1]
    while low < high:
        middle = (low + high) // 2
        if edges[middle, 1] < head:
            low = middle + 1
        else:
            high = middle
    return low
