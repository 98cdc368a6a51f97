"""ConvexHull: the convex hull of a mesh or of points, exact in the given coordinates.

The vertices are the strictly convex corners and nothing else; facets in exactly one plane are one polygon; each polygon
is seen counterclockwise from outside (``convex.hull.exact_quickhull`` has the derivations).  The result depends on the
set of points only, not on the way it was found: vertices keep the order in which they were given, a polygon begins
with its smallest vertex, and polygons are sorted by their first two vertices (a directed edge belongs to one polygon).

A set of lower dimension is a convex body too:

| dimension | body | vertices, edges, faces |
| --- | --- | --- |
| 3 | polytope | v - e + f = 2 |
| 2 | flat polygon | n, n, 2: a front and a back, so that every edge has a left and a right face as well |
| 1 | segment | 2, 1, 0 |
| 0 | point | 1, 0, 0 |

After posing
------------
The truth about a posed body is the convex hull of its posed vertices, each coordinate rounded.  Polygons are then no
longer exactly planar, and an edge of the true hull may be a diagonal of one of them; a vertex may even end up slightly
inside.  So faces, edges and planes only guide a search; what a yes or no may rest on are the posed vertices:

- *Apart*: for some direction d, max d.a < min d.b over ALL posed vertices.  Hill climbing finds the maximum of the
  unposed vertices; with rounding errors of at most m in d.x after posing, the value found is within 2 m of the maximum
  of the posed ones.  A gap wider than the margins decides.
- *Touching*: a point that is a convex combination of posed vertices of both.
- In doubt, only vertices within the margin of the two maxima can matter to the support in direction d.  They are
  connected in the graph (see ``neighbours``), so a flood fill from the top finds them, and exact predicates on
  these posed vertices decide; ``exact_quickhull`` gives the true posed hull where everything else fails.

Red and green
-------------
Lin, Manocha, Cohen and Gottschalk (1996, 4.1) call features of the hull red if they belong to the model and green if
the hull made them.  Red is a promise here: the whole feature lies on the surface of the mesh (proof in
``convex.hull.red_features``).  Green says that this was not shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from impinge.arrays import Bools, Floats, Ints, as_points, read_only
from impinge.geometry.exact.integers import newell_normal
from impinge.geometry.float_errors import default_float_errors
from impinge.geometry.qhull import hull_in_plane
from impinge.mesh.memo import Memo
from impinge.mesh.mesh import Mesh


class ConvexHull(Memo):
    """The convex hull of a mesh (of the vertices that its faces use) or of an (n, 3) array of points; a solid.

    Exact in the given coordinates: coplanar facets are one face, and every lower-dimensional case is a legal hull.

    Parameters
    ----------
    body : Mesh, ConvexHull or array_like, shape (n, 3)
        What it holds; a hull is returned as it is.

    Raises
    ------
    ValueError
        There are no points, or a coordinate is not finite or out of range.

    Examples
    --------
    >>> import impinge
    >>> cube = impinge.ConvexHull([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)] + [[0.5, 0.5, 1.0]])
    >>> cube
    ConvexHull(8 vertices, 12 edges, 6 faces)
    >>> cube.faces[0].tolist(), impinge.ConvexHull([[1, 2, 3], [1, 2, 3]])
    ([0, 1, 3, 2], ConvexHull(a point))
    """

    __slots__ = (
        "__weakref__", "corners", "dimension", "edges", "red_edges", "red_faces", "red_vertices",
        "source", "starts", "vertices",
    )  # fmt: skip

    vertices: Floats
    """(v, 3) float64, read-only: the corners, bit by bit as given (a -0.0 becomes 0.0)."""
    source: Ints
    """(v,) the first vertex of the mesh, or given point, at the position of each corner; ascending."""
    dimension: int
    """3, or 2 (a flat polygon), 1 (a segment), 0 (a point); exact."""
    edges: Ints
    """(e, 2) pairs of vertices, the smaller first; sorted."""
    corners: Ints
    """(h,) the corners of all faces, each counterclockwise from outside, from its smallest vertex on."""
    starts: Ints
    """(f + 1,) face i has the corners ``corners[starts[i]:starts[i + 1]]``."""
    red_vertices: Bools
    """(v,) features of the model: all True (each corner is a vertex of the model)."""
    red_edges: Bools
    """(e,) edges that lie on the surface of the model."""
    red_faces: Bools
    """(f,) faces that the surface of the model covers."""

    def __new__(cls, body: Mesh | ConvexHull | ArrayLike) -> ConvexHull:  # noqa: D102
        if isinstance(body, ConvexHull):
            return body
        if isinstance(body, Mesh):
            return body.memo("convex_hull", _hull_of_mesh)
        return _hull_of_points(body)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a ConvexHull is immutable: {name!r} cannot be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a ConvexHull is immutable: {name!r} cannot be deleted")

    def __reduce__(self) -> tuple[Callable[..., ConvexHull], tuple[Any, ...]]:
        return _restore, tuple(getattr(self, name) for name in _FIELDS)

    @property
    def solid(self) -> bool:
        """A convex hull counts its inside."""
        return True

    @property
    def faces(self) -> list[Ints]:
        """The polygons as arrays of vertices."""
        return np.split(self.corners, self.starts[1:-1]) if len(self.starts) > 1 else []

    @property
    def bounds(self) -> Floats:
        """(2, 3) the smallest and the largest coordinates."""
        return np.stack([self.vertices.min(axis=0), self.vertices.max(axis=0)])

    @property
    def mesh(self) -> Mesh:
        """The body as a mesh of its faces, for questions about triangles; ``mesh.polygon`` names the face of the hull.

        It is a solid, unless the hull is flat (one face then), a segment or a point (a triangle without area).
        """
        return self.memo("mesh", _as_mesh)

    @property
    def neighbours(self) -> tuple[Ints, Ints]:
        """(v + 1,) starts and (2 e,) vertices: the other ends of the edges at each vertex, ascending.

        A vertex that is not the highest in some direction has a neighbour that is higher (the hull lies in the cone
        that its edges span), so climbing ends at the top; and the vertices above any level are connected, because
        climbing from each of them passes through higher ones only.
        """
        return self.memo("neighbours", _neighbours)

    @default_float_errors
    def validate(self) -> None:
        """Check exactly, from scratch, all that is promised about the shape; a ValueError names what is wrong."""
        from impinge.convex.hull.validate import validate

        validate(self)

    def __repr__(self) -> str:
        if self.dimension < 2:
            return f"ConvexHull({('a point', 'a segment')[self.dimension]})"
        if self.dimension == 2:
            return f"ConvexHull({len(self.vertices)} vertices, flat)"
        return f"ConvexHull({len(self.vertices)} vertices, {len(self.edges)} edges, {len(self.starts) - 1} faces)"


_FIELDS = (
    "vertices", "source", "dimension", "edges", "corners", "starts", "red_vertices", "red_edges", "red_faces",
)  # fmt: skip


def _restore(*values: Any) -> ConvexHull:
    hull: Any = object.__new__(ConvexHull)
    for name, value in zip(_FIELDS, values, strict=True):
        object.__setattr__(hull, name, read_only(value) if isinstance(value, np.ndarray) else value)
    hull._start_memo()
    return hull  # type: ignore[no-any-return]


@default_float_errors
def _hull_of_points(points: ArrayLike) -> ConvexHull:
    given = as_points(points, "points")
    if len(given) == 0:
        raise ValueError("points: the hull of no points does not exist")
    vertices, source, dimension, polygons = _exact_hull(given, np.arange(len(given), dtype=np.int32))
    edges = _edges(polygons, dimension)
    marks = np.zeros(len(edges), dtype=np.bool_), np.zeros(len(polygons), dtype=np.bool_)
    return _assemble(vertices, source, dimension, edges, polygons, *marks)


def _hull_of_mesh(mesh: Mesh) -> ConvexHull:
    from impinge.convex.hull.red_features import red_features

    vertices, source, dimension, polygons = _exact_hull(mesh.vertices, np.unique(mesh.faces))
    edges = _edges(polygons, dimension)
    marks = red_features(mesh, source, edges, polygons)
    return _assemble(vertices, source, dimension, edges, polygons, *marks)


def _assemble(
    vertices: Floats,
    source: Ints,
    dimension: int,
    edges: Ints,
    polygons: list[list[int]],
    red_edges: Bools,
    red_faces: Bools,
) -> ConvexHull:
    corners = np.asarray([corner for polygon in polygons for corner in polygon], dtype=np.int32)
    starts = np.cumsum([0, *map(len, polygons)], dtype=np.int32)
    red_vertices = np.ones(len(vertices), dtype=np.bool_)
    return _restore(vertices, source, dimension, edges, corners, starts, red_vertices, red_edges, red_faces)


def _exact_hull(points: Floats, chosen: Ints) -> tuple[Floats, Ints, int, list[list[int]]]:
    """Vertices, where they come from, the dimension, and the polygons, all in canonical order."""
    from impinge.convex.hull.exact_quickhull import quickhull

    positions, first = np.unique(points[chosen] + 0.0, axis=0, return_index=True)
    dimension, triangles, across = quickhull(positions)
    if dimension == 3:
        polygons = _polygons(positions, triangles, across)
    elif dimension == 2:
        outline = _flat_outline(positions, triangles[0])
        polygons = [outline, outline[::-1]]
    else:
        polygons = [triangles[0, : dimension + 1].tolist()]
    used = np.unique(np.concatenate([np.asarray(polygon) for polygon in polygons]))
    order = used[np.argsort(first[used])]
    number = dict(zip(order.tolist(), range(len(order)), strict=True))
    faces = sorted(_from_smallest([number[corner] for corner in polygon]) for polygon in polygons)
    source = np.ascontiguousarray(chosen[first[order]], dtype=np.int32)
    return np.ascontiguousarray(positions[order]), source, int(dimension), faces if dimension > 1 else []


def _from_smallest(polygon: list[int]) -> list[int]:
    start = polygon.index(min(polygon))
    return polygon[start:] + polygon[:start]


def _polygons(points: Floats, triangles: Ints, across: Ints) -> list[list[int]]:
    """The outlines of the groups of coplanar triangles."""
    from impinge.convex.hull.exact_quickhull import coplanar_groups

    group = coplanar_groups(points, triangles, across)
    border = group[across] != group[:, None]
    rows = np.nonzero(border)[0]
    follows: list[dict[int, int]] = [{} for _ in range(int(group.max()) + 1)]
    runs = np.stack([group[rows], triangles[border], np.roll(triangles, -1, axis=1)[border]], axis=1)
    for face, tail, head in runs.tolist():
        follows[face][tail] = head
    return [_walk(successor) for successor in follows]


def _walk(successor: dict[int, int]) -> list[int]:
    polygon = [next(iter(successor))]
    while (following := successor[polygon[-1]]) != polygon[0]:
        polygon.append(following)
    return polygon


def _flat_outline(points: Floats, triangle: Ints) -> list[int]:
    """The corners around a flat set, decided along an axis in which the plane has a shadow with area."""
    normal = newell_normal(points[triangle].tolist())
    axis = max(range(3), key=lambda i: abs(normal[i]))
    outline: list[int] = hull_in_plane(points, axis).vertices.tolist()
    return outline


def _edges(polygons: list[list[int]], dimension: int) -> Ints:
    if dimension == 1:
        return np.array([[0, 1]], dtype=np.int32)
    pairs = [(a, b) for polygon in polygons for a, b in zip(polygon, polygon[1:] + polygon[:1], strict=True) if a < b]
    return np.asarray(sorted(set(pairs)), dtype=np.int32).reshape(-1, 2)


def _as_mesh(hull: ConvexHull) -> Mesh:
    if hull.dimension < 2:
        return Mesh(hull.vertices, [[0, hull.dimension, hull.dimension]])
    return Mesh(hull.vertices, hull.faces[: 1 if hull.dimension == 2 else None], solid=hull.dimension == 3)


def _neighbours(hull: ConvexHull) -> tuple[Ints, Ints]:
    both = np.concatenate([hull.edges, hull.edges[:, ::-1]])
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    counts = np.bincount(both[:, 0], minlength=len(hull.vertices))
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return read_only(starts), read_only(np.ascontiguousarray(both[:, 1]))
