"""The feature graph of a convex hull: vertices, edges and faces, their neighbours, and the planes between their cells.

Lin and Canny (1991); Lin, Manocha, Cohen and Gottschalk (1996, 4.1.1); Ponamgi, Manocha and Lin (1995, 3.2.1).  The
Voronoi cell of a feature is the set of points outside whose nearest point of the body lies on it.  For a convex
body the cells are bounded by planes, each shared by a feature and one that it contains:

- between a vertex and an edge: through the vertex, perpendicular to the edge (``edge_end_planes``);
- between an edge and a face: through the edge, perpendicular to the face (``edge_side_planes``);
- between a face and the inside: the plane of the face (``face_planes``).

The inside is divided by planes through each edge and the centroid (``edge_inside_planes``; 1995, 4.1): a pyramid below
each face.  The pyramids are no Voronoi cells; a walk that ends in one of them has met penetration.

Every plane is stored once, as (a, b, c, d) with a unit normal and the value a x + b y + c z + d.  Which sign means
which cell is fixed: an end plane is positive on the side of the edge, a side plane on the side of the face, a face
plane outside, an inside plane on the side of the left face.  So neighbours share a plane with opposite signs.

Coordinates
-----------
Planes act on *local* coordinates (x - centre) / 2**exponent, where the centre is the rounded middle of the box around
the body.  So a body far from the origin loses nothing: a local coordinate has one rounding, relative to the difference.
The division brings the vertices to at most one in magnitude, away from overflow and underflow.  The centroid is a point
in local coordinates: as a point of the world it would be rounded to the grid there, which for a body of a
few units in the last place may lie outside.  An edge shorter than 2**-53 of the body may have no length in local
coordinates; its direction is that of the given vertices all the same.

Directions are right to some 2**-48: where a cross product in floats has cancelled more than four bits, it is evaluated
in integers.  They still are rounded: planes guide a walk, and what is claimed at its end has to be certified on the
posed vertices (see ``convex.hull.convex_hull``).

Lower dimensions
----------------
A flat polygon has a front and a back with opposite normals; nothing else changes, and there is no inside.  A segment
has one edge whose left and right faces are -1, a point has one vertex without edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from impinge.arrays import Floats, Ints, read_only
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.convex.hull.directions import exact_cross_direction, exact_normal, rounded_direction
from impinge.convex.hull.feature_neighbours import neighbours_of
from impinge.convex.hull.feature_planes import feature_planes, frame_and_normals


@dataclass(frozen=True, eq=False, repr=False)
class FeatureGraph:
    """Flat, read-only arrays: int32 for neighbours (starts and rows, "CSR"), float64 planes in local coordinates."""

    centre: Floats
    """(3,) the origin of local coordinates."""
    exponent: int
    """Local coordinates are (x - centre) / 2**exponent."""
    local: Floats
    """(v, 3) the vertices in local coordinates."""
    centroid: Floats
    """(3,) the mean of the vertices in local coordinates: where the pyramids inside meet."""
    vertex_starts: Ints
    """(v + 1,) what is at vertex i stands from vertex_starts[i] to vertex_starts[i + 1] in the next three arrays."""
    vertex_edges: Ints
    """(2 e,) the edges at a vertex, counterclockwise from outside."""
    vertex_ends: Ints
    """(2 e,) the vertex at the other end of each."""
    vertex_faces: Ints
    """(2 e,) the face between this edge and the next one."""
    edge_vertices: Ints
    """(e, 2) tail and head."""
    edge_faces: Ints
    """(e, 2) the face on the left and on the right, from outside, looking from tail to head."""
    face_starts: Ints
    """(f + 1,) what is at face i stands from face_starts[i] to face_starts[i + 1] in the next three arrays."""
    face_vertices: Ints
    """(h,) the corners, counterclockwise from outside."""
    face_edges: Ints
    """(h,) the edge that leaves each corner."""
    face_neighbours: Ints
    """(h,) the face behind that edge."""
    edge_directions: Floats
    """(e, 3) unit vectors from tail to head."""
    face_planes: Floats
    """(f, 4) positive outside; the first three numbers are the outward normal."""
    edge_end_planes: Floats
    """(e, 2, 4) at the tail and at the head, positive on the side of the edge."""
    edge_side_planes: Floats
    """(e, 2, 4) towards the left and the right face, positive on the side of the face; zero for a segment."""
    edge_inside_planes: Floats
    """(e, 4) through edge and centroid, positive on the side of the left face; zero where there is no inside."""

    def __repr__(self) -> str:
        counts = len(self.local), len(self.edge_vertices), len(self.face_planes)
        return "FeatureGraph({} vertices, {} edges, {} faces)".format(*counts)


def feature_graph(hull: ConvexHull) -> FeatureGraph:
    """The feature graph of a hull, made once.

    >>> graph = feature_graph(ConvexHull([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]))
    >>> graph.edge_vertices[0].tolist(), graph.edge_faces[0].tolist()
    ([0, 1], [0, 1])
    """
    return hull.memo("feature_graph", _make)


def _make(hull: ConvexHull) -> FeatureGraph:
    neighbours = neighbours_of(hull)
    faces = hull.corners, hull.starts
    centre, exponent, local, centroid, normals, certain = frame_and_normals(hull.vertices, *faces)
    for f in np.flatnonzero(~certain).tolist():
        normals[f] = rounded_direction(exact_normal(*hull.vertices[_spread(hull, f)]))
    along, face_planes, end_planes, side_planes, inside_planes, certain = feature_planes(
        hull.vertices, local, centroid, hull.edges, *faces, neighbours.edge_faces, normals
    )
    for e in np.flatnonzero(~certain).tolist():
        unit = exact_cross_direction(local[hull.edges[e, 0]] - centroid, along[e])
        inside_planes[e] = through(unit[None], centroid)
    planes = {
        "edge_directions": along,
        "face_planes": face_planes,
        "edge_end_planes": end_planes,
        "edge_side_planes": side_planes,
        "edge_inside_planes": inside_planes,
    }
    columns = neighbours._asdict()
    del columns["ascending_ends"]
    frame = {"centre": centre, "local": local, "centroid": centroid}
    arrays: dict[str, Any] = {name: read_only(array) for name, array in {**frame, **planes}.items()}
    return FeatureGraph(
        exponent=int(exponent),
        edge_vertices=hull.edges,
        face_starts=hull.starts,
        face_vertices=hull.corners,
        **arrays,
        **columns,
    )


def _spread(hull: ConvexHull, face: int) -> Ints:
    """The corners from which ``frame_and_normals`` takes the normal of a face."""
    start, count = hull.starts[face], hull.starts[face + 1] - hull.starts[face]
    corners: Ints = hull.corners[start + np.arange(3) * count // 3]
    return corners


def through(normal: Floats, point: Floats) -> Floats:
    """(k, 4) planes with these normals through these points (or all through one)."""
    return np.concatenate([normal, -(normal * point).sum(axis=1, keepdims=True)], axis=1)
