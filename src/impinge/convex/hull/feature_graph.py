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
from impinge.convex.hull.directions import cross_directions, directions, normals

NONE = -1
"""The face at an edge of a segment."""


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
    centre, exponent, local = _local_frame(hull)
    topology = _topology(hull)
    centroid = local.mean(axis=0)
    frame = {"centre": centre, "local": local, "centroid": centroid}
    planes = _planes(hull, local, centroid, topology["edge_faces"])
    arrays: dict[str, Any] = {name: read_only(array) for name, array in {**frame, **topology, **planes}.items()}
    return FeatureGraph(exponent=exponent, **arrays)


def _local_frame(hull: ConvexHull) -> tuple[Floats, int, Floats]:
    low, high = hull.bounds
    centre = 0.5 * low + 0.5 * high
    away = hull.vertices - centre
    exponent = int(np.frexp(np.abs(away).max())[1])
    return centre, exponent, np.ldexp(away, -exponent)


def _topology(hull: ConvexHull) -> dict[str, Ints]:
    """All neighbours, by sorting directed edges: number i runs from tails[i] to heads[i] along its face."""
    count = np.diff(hull.starts)
    tails = hull.corners
    face_of = np.repeat(np.arange(len(count), dtype=np.int32), count)
    following = np.arange(1, len(tails) + 1, dtype=np.int32)
    following[hull.starts[1:] - 1] = hull.starts[:-1]
    heads = tails[following]
    face_edges = _find_pairs(hull.edges, tails, heads, len(hull.vertices))
    forward = tails < heads
    edge_faces = np.full((len(hull.edges), 2), NONE, dtype=np.int32)
    edge_faces[face_edges[forward], 0] = face_of[forward]
    edge_faces[face_edges[~forward], 1] = face_of[~forward]
    neighbours = np.where(forward, edge_faces[face_edges, 1], edge_faces[face_edges, 0])
    return {
        "edge_vertices": hull.edges,
        "edge_faces": edge_faces,
        "face_starts": hull.starts,
        "face_vertices": hull.corners,
        "face_edges": face_edges,
        "face_neighbours": neighbours,
        **_around_vertices(hull, face_edges, following, face_of),
    }


def _find_pairs(edges: Ints, tails: Ints, heads: Ints, vertex_count: int) -> Ints:
    """The edge between two vertices; edges are sorted."""
    keys = edges[:, 0].astype(np.int64) * vertex_count + edges[:, 1]
    wanted = np.minimum(tails, heads).astype(np.int64) * vertex_count + np.maximum(tails, heads)
    return np.searchsorted(keys, wanted).astype(np.int32)


def _around_vertices(hull: ConvexHull, face_edges: Ints, following: Ints, face_of: Ints) -> dict[str, Ints]:
    """Edges and faces around each vertex.

    In a face that runs x, u, w the edge u-w is followed by u-x, counterclockwise around u, with the face between them:
    from the directed edge u-w the next one is the twin of x-u.
    """
    starts, ends = hull.neighbours
    if hull.dimension < 2:
        nothing = np.full(len(ends), NONE, dtype=np.int32)
        return {
            "vertex_starts": starts,
            "vertex_edges": np.zeros(len(ends), dtype=np.int32),
            "vertex_ends": ends,
            "vertex_faces": nothing,
        }
    twin = _twins(hull.corners, face_edges)
    before = np.empty_like(following)
    before[following] = np.arange(len(following), dtype=np.int32)
    turn = twin[before]
    leaving = np.full(len(hull.vertices), -1, dtype=np.int32)
    leaving[hull.corners[::-1]] = np.arange(len(turn), dtype=np.int32)[::-1]
    order = np.empty(len(turn), dtype=np.int32)
    here, active, step = leaving.copy(), np.arange(len(leaving)), 0
    while len(active):  # all vertices turn at once, as many steps as the largest has edges
        order[starts[active] + step] = here[active]
        here[active] = turn[here[active]]
        active = active[here[active] != leaving[active]]
        step += 1
    return {
        "vertex_starts": starts,
        "vertex_edges": face_edges[order],
        "vertex_ends": hull.corners[following[order]],
        "vertex_faces": face_of[order],
    }


def _twins(tails: Ints, face_edges: Ints) -> Ints:
    """The directed edge that runs the other way, for each."""
    pairs = np.argsort(face_edges, kind="stable").reshape(-1, 2)
    twin = np.empty(len(tails), dtype=np.int32)
    twin[pairs[:, 0]], twin[pairs[:, 1]] = pairs[:, 1], pairs[:, 0]
    return twin


def _planes(hull: ConvexHull, local: Floats, centroid: Floats, edge_faces: Ints) -> dict[str, Floats]:
    tail, head = local[hull.edges[:, 0]], local[hull.edges[:, 1]]
    along = directions(hull.vertices[hull.edges[:, 1]] - hull.vertices[hull.edges[:, 0]])
    outward = normals(hull)
    some_corner = local[hull.corners[hull.starts[:-1]]]
    end_planes = np.stack([through(along, tail), through(-along, head)], axis=1)
    side_planes = np.zeros((len(along), 2, 4))
    inside_planes = np.zeros((len(along), 4))
    if hull.dimension >= 2:
        side_planes[:, 0] = through(directions(np.cross(outward[edge_faces[:, 0]], along)), tail)
        side_planes[:, 1] = through(directions(np.cross(outward[edge_faces[:, 1]], -along)), tail)
    if hull.dimension == 3:
        # The direction of the edge instead of its head: a short edge would make the product cancel.
        inside_planes = through(cross_directions(tail - centroid, along), centroid)
    return {
        "edge_directions": along,
        "face_planes": through(outward, some_corner),
        "edge_end_planes": end_planes,
        "edge_side_planes": side_planes,
        "edge_inside_planes": inside_planes,
    }


def through(normal: Floats, point: Floats) -> Floats:
    """(k, 4) planes with these normals through these points (or all through one)."""
    return np.concatenate([normal, -(normal * point).sum(axis=1, keepdims=True)], axis=1)
