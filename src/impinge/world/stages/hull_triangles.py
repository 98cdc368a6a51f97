"""Which triangles of a model lie on each feature of its hull: what is behind a red feature.

Lin, Manocha, Cohen and Gottschalk (1996, 4.1): where two red features of overlapping hulls meet, the models do.  Red is
what belongs to the model; green features, which the hull has made, have no triangles here.
"""

from __future__ import annotations

import numpy as np

from impinge.arrays import Ints
from impinge.bvh.search import tree_handle_of
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.convex.hull.feature_graph import feature_graph
from impinge.geometry.exact.integers import collinear
from impinge.incremental.solids.hull_surface import hull_surface
from impinge.kernels.record import Record, int64
from impinge.mesh import topology
from impinge.mesh.mesh import Mesh

_MOST = 8
"""Triangles of one feature; more are seldom worth looking at before the trees are asked."""
_NEAR_LINE = 1e-9
"""Vertices that are farther from a line, for the size of the mesh, need no exact look."""


class HullTriangles(Record, constant=True):
    """Triangles, by their places in the tree, of the vertices, edges and faces of a hull, in this order."""

    firsts = int64[:]
    """Where the features of each kind begin."""
    starts = int64[:]
    """Where the triangles of each feature begin,"""
    places = int64[:]
    """among these."""


def _hull_triangles(mesh: Mesh) -> HullTriangles:
    surface = hull_surface(mesh)
    hull, hull_face = surface.hull, surface.hull_face
    vertices, edges = len(hull.vertices), len(hull.edges)
    lists = [*_of_vertices(mesh, hull), *_of_edges(mesh, hull, hull_face), *_of_faces(hull, hull_face)]
    order = tree_handle_of(mesh).order
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    faces = np.array([face for each in lists for face in each], dtype=np.int64)
    return HullTriangles(
        firsts=np.array([0, vertices, vertices + edges], dtype=np.int64),
        starts=np.cumsum([0, *map(len, lists)], dtype=np.int64),
        places=place[faces],
    )


def hull_triangles(mesh: Mesh) -> HullTriangles:
    """Made once."""
    return mesh.memo("hull triangles", _hull_triangles)


def _of_vertices(mesh: Mesh, hull: ConvexHull) -> list[list[int]]:
    corner = {vertex: i for i, vertex in enumerate(topology.merged_vertices(mesh)[hull.source].tolist())}
    found: list[list[int]] = [[] for _ in corner]
    for face, vertices in enumerate(topology.merged_faces(mesh).tolist()):
        for vertex in vertices:
            if vertex in corner and len(found[corner[vertex]]) < _MOST:
                found[corner[vertex]].append(face)
    return found


def _of_edges(mesh: Mesh, hull: ConvexHull, hull_face: Ints) -> list[list[int]]:
    merged = topology.merged_vertices(mesh)[hull.source]
    wanted = {tuple(sorted(pair)): i for i, pair in enumerate(merged[hull.edges].tolist()) if hull.red_edges[i]}
    found: list[list[int]] = [[] for _ in range(len(hull.edges))]
    for face, (a, b, c) in enumerate(topology.merged_faces(mesh).tolist()):
        for pair in ((a, b), (b, c), (c, a)):
            edge = wanted.get(tuple(sorted(pair)))
            if edge is not None and len(found[edge]) < _MOST:
                found[edge].append(face)
    for edge in wanted.values():
        if not found[edge]:
            found[edge] = _along(mesh, hull, edge, hull_face)
    return found


def _along(mesh: Mesh, hull: ConvexHull, edge: int, hull_face: Ints) -> list[int]:
    """The triangles with a side on an edge of the hull that has vertices of the mesh between its ends."""
    left, right = feature_graph(hull).edge_faces[edge]
    faces = np.flatnonzero((hull_face == left) | (hull_face == right))
    a, b = hull.vertices[hull.edges[edge]]
    off = np.cross(b - a, mesh.triangles[faces] - a)
    near = (np.abs(off).max(axis=2) <= _NEAR_LINE * np.abs(mesh.vertices).max() * np.abs(b - a).max()).sum(axis=1) >= 2
    found: list[int] = []
    for face in faces[near].tolist():
        if len(found) < _MOST and sum(collinear(a, b, corner) for corner in mesh.triangles[face].tolist()) >= 2:
            found.append(face)
    return found


def _of_faces(hull: ConvexHull, hull_face: Ints) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in range(len(hull.starts) - 1)]
    for face, on in enumerate(hull_face.tolist()):
        if on >= 0 and hull.red_faces[on] and len(found[on]) < _MOST:
            found[on].append(face)
    return found
