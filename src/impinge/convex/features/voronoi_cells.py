"""Voronoi cells with at most five planes each: what a walk tests takes constant time.

Lin, Manocha, Cohen and Gottschalk (1996, 4.1.1) and Ponamgi, Manocha and Lin (1995, 3.2 and 4.1): a cell with many
constraint planes is divided into cells with few, so that one step of a walk costs the same for every body.

Both kinds of cells that can have many planes are cones or prisms over a convex polygon:

- the cell of a face is a prism over the face, one side for each edge; the pyramid below the face has the same sides;
- the cell of a vertex is a cone over a polygon on the sphere of directions: its corners are the normals of the faces
  around the vertex, its sides belong to the edges, counterclockwise (the cell is { x : x.d <= 0 for each edge
  direction d }, the polar of the cone of edges, which the normals of the faces span).

So one dissection serves all three.  A polygon with more than four corners is halved by a diagonal, and again, until all
pieces have three or four: from one piece to another it is O(log k) steps.  A diagonal gives the plane

- of a prism: through both corners, perpendicular to the face;
- of a pyramid: through both corners and the centroid;
- of a cone: through the vertex, along both normals.  (Rounded normals that enclose less than 2**-20 would leave the
  plane to chance, so it is then computed in integers from the corners of the faces.)

The planes of a diagonal have exactly opposite signs in the two pieces, as those between features have.

Cells are numbered in this order: pieces of vertices, edges, pieces of faces, pieces of pyramids (the last two in the
same order, so the cell below a piece of a face is ``cell + inside_shift``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats, Ints, read_only
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.convex.hull.directions import cross_directions, directions, exact_cross, exact_normal, rounded_direction
from impinge.convex.hull.feature_graph import FeatureGraph, feature_graph, through
from impinge.convex.hull.feature_neighbours import NONE

VERTEX: Final = 0
EDGE: Final = 1
FACE: Final = 2
INSIDE: Final = 3
"""The kinds of cells; the feature of a cell INSIDE is the face above it."""

MOST_SIDES: Final = 4
FLOOR: Final = 4
"""The place of the plane between a face and the inside; other planes stand at 0 to 3."""
_NEARLY_PARALLEL = 2.0**-20


@dataclass(frozen=True, eq=False, repr=False)
class Cells:
    """A point in local coordinates lies in cell i if no row of ``planes[i]`` is negative there."""

    kinds: NDArray[np.int8]
    """(c,) VERTEX, EDGE, FACE or INSIDE."""
    features: Ints
    """(c,) the vertex, edge or face that the cell belongs to."""
    planes: Floats
    """(c, 5, 4) constraint planes (a, b, c, d); a row that is not needed is zero, which is never violated."""
    beyond: Ints
    """(c, 5) the cell on the other side of each plane; -1 where there is no plane."""
    vertex_starts: Ints
    """(v + 1,) the cells of vertex i are vertex_starts[i] to vertex_starts[i + 1]."""
    first_edge: int
    """The cell of edge i is first_edge + i."""
    face_starts: Ints
    """(f + 1,) the cells of face i are face_starts[i] to face_starts[i + 1]."""
    inside_shift: int
    """The cell below a piece of a face has this number more; 0 where the body has no inside."""

    def __repr__(self) -> str:
        return "Cells({} of vertices, {} of edges, {} of faces, {} inside)".format(
            *np.bincount(self.kinds, minlength=4)
        )


@dataclass(frozen=True, eq=False)
class _Sides:
    """The sides of all pieces of all polygons, one row each: from corner ``tail`` to corner ``head`` of the polygon."""

    starts: Ints
    """(p + 1,) the pieces of each polygon."""
    piece: Ints
    place: Ints
    polygon: Ints
    tail: Ints
    head: Ints
    behind: Ints
    """The piece behind a diagonal; -1 for a side of the polygon."""


def voronoi_cells(hull: ConvexHull) -> Cells:
    """The divided cells of a hull, made once.

    >>> voronoi_cells(ConvexHull([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]))
    Cells(4 of vertices, 6 of edges, 4 of faces, 4 inside)
    """
    return hull.memo("voronoi_cells", _make)


def _make(hull: ConvexHull) -> Cells:
    graph = feature_graph(hull)
    vertex_sides, face_sides = _dissect(graph.vertex_starts), _dissect(graph.face_starts)
    first_edge = int(vertex_sides.starts[-1])
    first_face = first_edge + len(graph.edge_vertices)
    pieces = int(face_sides.starts[-1])
    inside_shift = pieces if hull.dimension == 3 else 0
    count = first_face + pieces + inside_shift
    planes = np.zeros((count, MOST_SIDES + 1, 4))
    beyond = np.full((count, MOST_SIDES + 1), NONE, dtype=np.int32)
    vertex_holder = _fill_vertices(hull, graph, vertex_sides, first_edge, planes, beyond)
    face_holder = _fill_faces(graph, face_sides, first_face, first_edge, planes, beyond)
    _fill_edges(graph, first_edge, vertex_holder, face_holder, planes, beyond)
    if inside_shift:
        _fill_inside(graph, face_sides, first_face, inside_shift, planes, beyond)
    elif pieces:
        # A flat polygon: behind the front is the back.
        beyond[first_face:, FLOOR] = first_face + face_sides.starts[1 - _owners(face_sides.starts)]
    kinds, features = _labels(vertex_sides.starts, len(graph.edge_vertices), face_sides.starts, inside_shift > 0)
    return Cells(
        kinds=read_only(kinds),
        features=read_only(features),
        planes=read_only(planes),
        beyond=read_only(beyond),
        vertex_starts=read_only(vertex_sides.starts),
        first_edge=first_edge,
        face_starts=read_only(face_sides.starts + np.int32(first_face)),
        inside_shift=inside_shift,
    )


def _owners(starts: Ints) -> Ints:
    return np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))


def _labels(vertex_starts: Ints, edges: int, face_starts: Ints, has_inside: bool) -> tuple[NDArray[np.int8], Ints]:
    faces = _owners(face_starts)
    parts = [_owners(vertex_starts), np.arange(edges, dtype=np.int32), faces]
    if has_inside:
        parts.append(faces)
    kinds = np.repeat(np.arange(len(parts), dtype=np.int8), [len(part) for part in parts])
    return kinds, np.concatenate(parts)


def _pieces(corners: list[int]) -> list[list[int]]:
    """A polygon halved by diagonals until no piece has more than four corners."""
    if len(corners) <= MOST_SIDES:
        return [corners]
    half = len(corners) // 2
    return _pieces(corners[: half + 1]) + _pieces(corners[half:] + corners[:1])


def _template(corner_count: int) -> tuple[int, NDArray[np.int64]]:
    """How many pieces there are, and rows (piece, place, tail, head, piece behind) for all of their sides."""
    pieces = _pieces(list(range(corner_count)))
    rows = []
    holder: dict[tuple[int, int], int] = {}
    for number, piece in enumerate(pieces):
        for place, tail in enumerate(piece):
            head = piece[(place + 1) % len(piece)]
            rows.append([number, place, tail, head, NONE])
            holder[tail, head] = number
    for row in rows:
        if row[3] != (row[2] + 1) % corner_count:
            row[4] = holder[row[3], row[2]]
    return len(pieces), np.array(rows, dtype=np.int64).reshape(-1, 5)


def _dissect(starts: Ints) -> _Sides:
    """All polygons with the same number of corners are dissected alike, at once."""
    counts = np.diff(starts)
    templates = {int(k): _template(int(k)) for k in np.unique(counts)}
    pieces = np.array([templates[k][0] for k in counts.tolist()], dtype=np.int32)
    piece_starts = np.concatenate([[0], np.cumsum(pieces)]).astype(np.int32)
    parts = [np.zeros((0, 6), dtype=np.int64)]
    for k, (_, rows) in templates.items():
        polygons = np.flatnonzero(counts == k)
        table = np.empty((len(polygons), len(rows), 6), dtype=np.int64)
        table[:, :, :5] = rows
        table[:, :, 0] += piece_starts[polygons, None]
        table[:, :, 4] = np.where(rows[:, 4] == NONE, NONE, rows[:, 4] + piece_starts[polygons, None])
        table[:, :, 5] = polygons[:, None]
        parts.append(table.reshape(-1, 6))
    piece, place, tail, head, behind, polygon = np.concatenate(parts).astype(np.int32).T
    return _Sides(piece_starts, piece, place, polygon, tail, head, behind)


def _fill_vertices(
    hull: ConvexHull, graph: FeatureGraph, sides: _Sides, first_edge: int, planes: Floats, beyond: Ints
) -> Ints:
    """Returns (e, 2): the cell that holds the side of an edge, at its tail and at its head."""
    holder = np.full((len(graph.edge_vertices), 2), NONE, dtype=np.int32)
    start = graph.vertex_starts[sides.polygon]
    whole = sides.behind == NONE
    # The side between the faces before and after an edge belongs to that edge, and it is its second corner's edge.
    edge = graph.vertex_edges[start[whole] + sides.head[whole]]
    vertex = sides.polygon[whole]
    at_head = (graph.edge_vertices[edge, 1] == vertex).astype(np.int32)
    piece, place = sides.piece[whole], sides.place[whole]
    planes[piece, place] = -graph.edge_end_planes[edge, at_head]
    beyond[piece, place] = first_edge + edge
    holder[edge, at_head] = piece
    cut = ~whole
    if cut.any():
        one = graph.vertex_faces[start[cut] + np.minimum(sides.tail, sides.head)[cut]]
        two = graph.vertex_faces[start[cut] + np.maximum(sides.tail, sides.head)[cut]]
        plane = through(_between_normals(hull, graph, one, two), graph.local[sides.polygon[cut]])
        planes[sides.piece[cut], sides.place[cut]] = _turned(plane, sides, cut)
        beyond[sides.piece[cut], sides.place[cut]] = sides.behind[cut]
    return holder


def _turned(plane: Floats, sides: _Sides, cut: NDArray[np.bool_]) -> Floats:
    """Planes are made from the smaller to the larger corner; the piece on the other side has the opposite sign."""
    return np.where((sides.tail < sides.head)[cut, None], plane, -plane)


def _between_normals(hull: ConvexHull, graph: FeatureGraph, one: Ints, two: Ints) -> Floats:
    """(k, 3) the directions of the cross products of the normals of two faces."""
    n, m = graph.face_planes[one, :3], graph.face_planes[two, :3]
    crossed = np.cross(n, m - n)
    found = directions(crossed)
    for i in np.flatnonzero(np.abs(crossed).max(axis=1) < _NEARLY_PARALLEL).tolist():
        starts = (hull.starts[one[i]], hull.starts[two[i]])
        normals = [exact_normal(*hull.vertices[hull.corners[start : start + 3]]) for start in starts]
        found[i] = rounded_direction(exact_cross(*normals))
    return found


def _fill_faces(
    graph: FeatureGraph, sides: _Sides, first_face: int, first_edge: int, planes: Floats, beyond: Ints
) -> Ints:
    """Returns (e, 2): the cell that holds the side of an edge, in its left and in its right face."""
    holder = np.full((len(graph.edge_vertices), 2), NONE, dtype=np.int32)
    start = graph.face_starts[sides.polygon]
    whole = sides.behind == NONE
    edge = graph.face_edges[start[whole] + sides.tail[whole]]
    on_right = (graph.edge_vertices[edge, 0] != graph.face_vertices[start[whole] + sides.tail[whole]]).astype(np.int32)
    piece, place = first_face + sides.piece[whole], sides.place[whole]
    planes[piece, place] = graph.edge_side_planes[edge, on_right]
    beyond[piece, place] = first_edge + edge
    holder[edge, on_right] = piece
    cut = ~whole
    if cut.any():
        tail, head = _diagonal(graph, sides, cut)
        normal = graph.face_planes[sides.polygon[cut], :3]
        plane = through(directions(np.cross(normal, directions(head - tail))), tail)
        planes[first_face + sides.piece[cut], sides.place[cut]] = _turned(plane, sides, cut)
        beyond[first_face + sides.piece[cut], sides.place[cut]] = first_face + sides.behind[cut]
    owners = _owners(sides.starts)
    planes[first_face : first_face + len(owners), FLOOR] = graph.face_planes[owners]
    return holder


def _diagonal(graph: FeatureGraph, sides: _Sides, cut: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """The ends of the diagonals of faces, the smaller corner first."""
    start = graph.face_starts[sides.polygon[cut]]
    tail = graph.face_vertices[start + np.minimum(sides.tail, sides.head)[cut]]
    head = graph.face_vertices[start + np.maximum(sides.tail, sides.head)[cut]]
    return graph.local[tail], graph.local[head]


def _fill_edges(
    graph: FeatureGraph, first_edge: int, vertex_holder: Ints, face_holder: Ints, planes: Floats, beyond: Ints
) -> None:
    """Places 0 and 1: tail and head; 2 and 3: left and right face (none at a segment)."""
    edges = slice(first_edge, first_edge + len(graph.edge_vertices))
    planes[edges, :2] = graph.edge_end_planes
    planes[edges, 2:4] = -graph.edge_side_planes
    beyond[edges, :2] = vertex_holder
    beyond[edges, 2:4] = face_holder


def _fill_inside(graph: FeatureGraph, sides: _Sides, first_face: int, shift: int, planes: Floats, beyond: Ints) -> None:
    """The pyramids: sides as those of the prisms above, towards the pyramid behind each edge; the face is the floor."""
    above = slice(first_face, first_face + shift)
    below = slice(first_face + shift, first_face + 2 * shift)
    planes[below, FLOOR] = -planes[above, FLOOR]
    beyond[above, FLOOR] = np.arange(below.start, below.stop)
    beyond[below, FLOOR] = np.arange(above.start, above.stop)
    start = graph.face_starts[sides.polygon]
    whole = sides.behind == NONE
    edge = graph.face_edges[start[whole] + sides.tail[whole]]
    on_right = graph.edge_vertices[edge, 0] != graph.face_vertices[start[whole] + sides.tail[whole]]
    piece = below.start + sides.piece[whole]
    plane = graph.edge_inside_planes[edge]
    planes[piece, sides.place[whole]] = np.where(on_right[:, None], -plane, plane)
    holder = np.empty((len(graph.edge_vertices), 2), dtype=np.int32)
    holder[edge, on_right.astype(np.int32)] = piece
    beyond[piece, sides.place[whole]] = holder[edge, 1 - on_right.astype(np.int32)]
    cut = ~whole
    if cut.any():
        tail, head = _diagonal(graph, sides, cut)
        plane = through(cross_directions(tail - graph.centroid, directions(head - tail)), graph.centroid)
        planes[below.start + sides.piece[cut], sides.place[cut]] = _turned(plane, sides, cut)
        beyond[below.start + sides.piece[cut], sides.place[cut]] = below.start + sides.behind[cut]
