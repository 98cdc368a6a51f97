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
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
    found, _ = _exact_hull(given + 0.0, np.ones(len(given), dtype=np.bool_))
    red_edges, red_faces = np.zeros(len(found.edges), dtype=np.bool_), np.zeros(len(found.starts) - 1, dtype=np.bool_)
    return _assemble(found, red_edges, red_faces)


def _hull_of_mesh(mesh: Mesh) -> ConvexHull:
    from impinge.convex.hull.red_features import red_features

    used = np.zeros(len(mesh.vertices), dtype=np.bool_)
    used[mesh.faces.ravel()] = True
    points = mesh.vertices + 0.0
    found, leader = _exact_hull(points, used)
    return _assemble(found, *red_features(points, leader[mesh.faces], found))


def _assemble(found: Polygons, red_edges: Bools, red_faces: Bools) -> ConvexHull:
    red_vertices = np.ones(len(found.vertices), dtype=np.bool_)
    return _restore(*found, red_vertices, red_edges, red_faces)


class Polygons(NamedTuple):
    """The first fields of a ConvexHull: all but the marks."""

    vertices: Floats
    source: Ints
    dimension: int
    edges: Ints
    corners: Ints
    starts: Ints


def _exact_hull(points: Floats, used: Bools) -> tuple[Polygons, Ints]:
    """The hull of the points that are used, and the first of them at the position of each; no point has a -0.0."""
    from impinge.convex.hull.hull_polygons import hull_polygons

    dimension, leader, source, corners, starts, edges = hull_polygons(points, used)
    if dimension == 2:
        source, corners, starts, edges = _flat_hull(points, np.flatnonzero(leader == np.arange(len(points))), source)
    elif dimension < 2:
        source = np.sort(source)
        edges = np.array([[0, 1]][:dimension], dtype=np.int32).reshape(-1, 2)
    return Polygons(points[source], source, int(dimension), edges, corners, starts), leader


def _flat_hull(points: Floats, distinct: NDArray[np.intp], triangle: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Source, corners, starts and edges of a polygon with two sides, given three points that span its plane.

    The corners are decided along an axis in which the plane has a shadow with area.
    """
    normal = newell_normal(points[triangle].tolist())
    axis = max(range(3), key=lambda i: abs(normal[i]))
    outline = hull_in_plane(points[distinct], axis).vertices
    used, ring = np.unique(outline, return_inverse=True)
    front = np.roll(ring, -int(np.argmin(ring)))
    back = np.roll(front[::-1], 1)
    corners = np.concatenate([front, back] if front[1] < back[1] else [back, front]).astype(np.int32)
    starts = np.array([0, len(front), 2 * len(front)], dtype=np.int32)
    sides = np.sort(np.stack([front, np.roll(front, -1)], axis=1), axis=1)
    edges = sides[np.lexsort((sides[:, 1], sides[:, 0]))].astype(np.int32)
    return distinct[used].astype(np.int32), corners, starts, edges


def _as_mesh(hull: ConvexHull) -> Mesh:
    if hull.dimension < 2:
        return Mesh(hull.vertices, [[0, hull.dimension, hull.dimension]])
    return Mesh(hull.vertices, hull.faces[: 1 if hull.dimension == 2 else None], solid=hull.dimension == 3)


def _neighbours(hull: ConvexHull) -> tuple[Ints, Ints]:
    from impinge.convex.hull.feature_neighbours import neighbours_of

    found = neighbours_of(hull)
    return found.vertex_starts, found.ascending_ends
