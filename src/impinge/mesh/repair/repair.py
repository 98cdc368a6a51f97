"""Repair of meshes, as far as they can be mended without a guess.

Vertices keep their numbers and their positions; only ``weld`` allows to take one for another.

1. *Cracks* (with ``weld``): vertices of open edges that are close to each other become one (``mesh.repair.weld``).
2. *T-vertices* get their edges: a face with a vertex inside an edge is divided there.  If the vertex stands exactly
   on the edge, the surface is the same set of points as before; if it is some ulps aside, the face is bent to it.
3. *Faces without area* go where other faces have all of their edges: no point of the surface is lost.  Divided at
   T-vertices, the border of such a face runs every edge both ways, so nothing opens.
4. *Coincident faces* become one, unless that would open an edge that was closed: a wall of two sheets between two
   solids keeps both.
5. *Winding* becomes consistent where the surface allows it, and outward where it is closed (``mesh.winding``).

Guéziec, Taubin, Lazarus and Horn (2001), "Cutting and stitching: converting sets of polygons to manifold surfaces",
treat the same flaws.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Bools, Floats, Ints, read_only
from impinge.mesh import topology
from impinge.mesh.mesh import Mesh, mesh_of_arrays
from impinge.mesh.repair.diagnose import coincident_faces, degenerate_faces
from impinge.mesh.repair.t_vertices import find_t_vertices
from impinge.mesh.repair.weld import Weld, as_weld
from impinge.mesh.repair.weld import weld as weld_vertices
from impinge.mesh.triangulation.triangulate import triangulate
from impinge.mesh.winding import faces_to_turn

Span = tuple[int, int]

_MOST_ROUNDS = 16
"""Dividing faces makes new edges, on which vertices may stand; each round divides faces into smaller ones."""


@dataclass(frozen=True, eq=False)
class Repair:
    """A mended mesh and what was done to it: the result of ``Mesh.repair``.

    Examples
    --------
    >>> from impinge import Mesh, shapes
    >>> box = shapes.box(1, 1, 1)
    >>> done = Mesh(box.vertices, box.faces[:, ::-1]).repair()
    >>> done
    <Repair repaired: 12 faces turned>
    >>> done.mesh.volume, done.source.tolist() == list(range(12))
    (1.0, True)
    """

    mesh: Mesh
    """The given mesh itself where nothing was to be done."""
    source: Ints
    """(m,) the face of the given mesh that each face comes from."""
    welded: int
    """Vertices that were taken for another one; 0 without ``weld``."""
    largest_move: float
    """The largest distance from a welded vertex to the one that it was taken for."""
    joined: int
    """T-vertices that got their edges."""
    divided: int
    """Faces of the given mesh that were divided at T-vertices."""
    dropped: int
    """Faces without area, or thinner than rounding, that are gone."""
    merged: int
    """Coincident faces that are gone."""
    turned: int
    """Faces that were turned over."""

    def __str__(self) -> str:
        done = [
            (self.welded, "vertices welded"),
            (self.joined, "T-vertices joined"),
            (self.divided, "faces divided"),
            (self.dropped, "faces without area dropped"),
            (self.merged, "coincident faces merged"),
            (self.turned, "faces turned"),
        ]
        listed = ", ".join(f"{count} {what}" for count, what in done if count)
        return f"repaired: {listed}" if listed else "nothing to repair"

    def __repr__(self) -> str:
        return f"<Repair {self}>"


def repair(mesh: Mesh, weld: Weld = None) -> Repair:
    """Mend a mesh; see ``Mesh.repair``."""
    reach = as_weld(weld)
    work = _Work(mesh)
    welded, largest_move = work.weld(reach)
    joined, divided, dropped = work.join_and_drop(0.0 if reach is None or isinstance(reach, str) else reach)
    merged = work.merge_coincident_faces()
    turned = work.turn_faces()
    mended = work.as_mesh() if any((welded, joined, dropped, merged, turned)) else mesh
    return Repair(mended, read_only(work.source), welded, largest_move, joined, divided, dropped, merged, turned)


def without_copies(mesh: Mesh) -> Mesh:
    """The same surface with one of several coincident faces, unless that would open it; itself if it has none.

    A solid whose faces are all there twice has no inside: a ray that leaves it crosses two faces.
    """
    if len(coincident_faces(topology.merged_faces(mesh))) == 0:
        return mesh
    work = _Work(mesh)
    return work.as_mesh() if work.merge_coincident_faces() else mesh


class _Work:
    """The faces as they are so far, over vertices that stay."""

    def __init__(self, mesh: Mesh) -> None:
        self._given = mesh
        self.faces: Ints = mesh.faces.copy()
        self.source: Ints = np.arange(len(self.faces), dtype=np.int32)

    def as_mesh(self) -> Mesh:
        """The faces as a mesh, solid if the given one is."""
        given = self._given
        return mesh_of_arrays(given.vertices, self.faces.copy(), given.polygon[self.source], given.solid)

    def _surface(self) -> Mesh:
        return mesh_of_arrays(self._given.vertices, self.faces.copy(), self.source.copy(), False)

    def _keep(self, kept: Bools) -> int:
        self.faces, self.source = self.faces[kept], self.source[kept]
        return int((~kept).sum())

    def weld(self, reach: Weld) -> tuple[int, float]:
        """Close cracks; how many vertices were taken for others, and the largest of their moves."""
        if reach is None:
            return 0, 0.0
        done = weld_vertices(self._surface(), reach)
        self.faces = done.mesh.faces.copy()
        return done.vertices, done.largest_move

    def join_and_drop(self, tolerance: float) -> tuple[int, int, int]:
        """Join T-vertices and drop flat faces; the vertices, the faces divided and those dropped.

        Where two shells touch, vertices of one may stand, by rounding, inside edges of the other that are shorter
        than any triangle can be divided at.  A closed mesh stays closed: there it keeps its T-vertices.
        """
        before = self.faces, self.source
        was_closed = self._surface().is_closed
        joined, divided = self.join_t_vertices(tolerance)
        dropped = self.drop_flat_faces()
        if was_closed and not self._surface().is_closed:
            self.faces, self.source = before
            joined = divided = dropped = 0
        return joined, divided, dropped

    def join_t_vertices(self, tolerance: float) -> tuple[int, int]:
        """Divide faces until no vertex stands inside an edge; how many vertices, and how many given faces."""
        joined: set[int] = set()
        divided: set[int] = set()
        for _ in range(_MOST_ROUNDS):
            mesh = self._surface()
            flat = set(degenerate_faces(mesh).tolist())
            corners = topology.merged_faces(mesh).tolist()
            changed = {
                face: ring
                for face, ring in _borders(mesh, _inside_edges(mesh, tolerance)).items()
                if face not in flat and len(ring) > 2 and set(ring) != set(corners[face])
            }
            if not changed:
                break
            for face, ring in changed.items():
                joined.update(set(ring) - set(corners[face]))
                divided.add(int(self.source[face]))
            self._replace(changed)
        return len(joined), len(divided)

    def _replace(self, changed: dict[int, list[int]]) -> None:
        """Put triangles in the place of faces whose borders have more corners now."""
        corners = np.array([vertex for ring in changed.values() for vertex in ring], dtype=np.int32)
        starts = np.cumsum([0, *map(len, changed.values())], dtype=np.int64)
        triangles, polygon = triangulate(self._given.vertices, corners, starts)
        old = np.array(list(changed), dtype=np.int64)
        kept = np.ones(len(self.faces), dtype=np.bool_)
        kept[old] = False
        faces = np.concatenate([self.faces[kept], triangles])
        source = np.concatenate([self.source[kept], self.source[old[polygon]]])
        order = np.argsort(source, kind="stable")
        self.faces, self.source = faces[order], source[order]

    def drop_flat_faces(self) -> int:
        """Drop faces that are nothing but edges of others."""
        mesh = self._surface()
        inside = _inside_edges(mesh, 0.0)
        thin = [face for face, ring in _borders(mesh, inside).items() if len(ring) < 3]
        suspects = np.union1d(degenerate_faces(mesh), np.array(thin, dtype=np.int32))
        kept = np.ones(len(self.faces), dtype=np.bool_)
        kept[suspects] = False
        faces, edges = topology.merged_faces(mesh), topology.edges(mesh)
        corners = np.zeros(len(mesh.vertices), dtype=np.bool_)
        corners[faces[kept]] = True
        with_area = kept.copy()
        for face in suspects.tolist():
            ring = _full_border(faces[face].tolist(), inside)
            pieces = (edges.faces_at(a, b) for a, b in _runs(ring) if a != b)
            kept[face] = not (corners[ring].all() and all(with_area[some].any() for some in pieces))
        return self._keep(kept)

    def merge_coincident_faces(self) -> int:
        """Keep one of several faces over the same corners, or two where one alone would open an edge."""
        mesh = self._surface()
        faces = topology.merged_faces(mesh)
        pairs = coincident_faces(faces)
        owner = np.arange(len(faces))
        owner[pairs[:, 1]] = pairs[:, 0]
        spare: dict[int, int] = {}
        for first, other in pairs[np.bincount(owner)[pairs[:, 0]] % 2 == 0].tolist():
            if first not in spare or _same_way(faces[first].tolist(), faces[spare[first]].tolist()):
                spare[first] = other
        kept = np.ones(len(faces), dtype=np.bool_)
        edge = _edge_of_sides(faces)
        proper = topology.proper_faces(mesh)
        # An edge that only copies of one face have was never closed, unless all of the surface is.
        closed = ~_odd_edges(edge, proper) & (_has_several(edge, owner) | mesh.is_closed)
        kept[pairs[:, 1]] = False
        while spare:
            opened = _odd_edges(edge, kept & proper) & closed
            back = [first for first in spare if opened[edge[first]].any()]
            if not back:
                break
            kept[[spare.pop(first) for first in back]] = True
        return self._keep(kept)

    def turn_faces(self) -> int:
        """Wind faces alike, and outward."""
        turned = faces_to_turn(self._surface())
        self.faces[turned] = self.faces[turned][:, ::-1]
        return int(turned.sum())


def _inside_edges(mesh: Mesh, tolerance: float) -> dict[Span, list[int]]:
    """The vertices inside each edge, from its first end to its second; a tolerance holds for open edges."""
    used = np.unique(topology.merged_faces(mesh))
    rows = find_t_vertices(mesh.vertices, used, topology.edges(mesh).pairs)
    if tolerance:
        gaps = topology.open_edges(mesh)
        rows = np.concatenate([rows, find_t_vertices(mesh.vertices, np.unique(gaps), gaps, tolerance)])
    inside: dict[Span, set[int]] = {}
    for vertex, a, b in rows.tolist():
        inside.setdefault((a, b), set()).add(vertex)
    return {span: _along(mesh.vertices, span, vertices) for span, vertices in inside.items()}


def _along(points: Floats, span: Span, vertices: Iterable[int]) -> list[int]:
    direction = points[span[1]] - points[span[0]]
    axis = int(np.argmax(np.abs(direction)))
    sign = -1.0 if direction[axis] < 0.0 else 1.0
    return sorted(vertices, key=lambda vertex: (sign * float(points[vertex, axis]), vertex))


def _runs(ring: list[int]) -> list[Span]:
    return [(ring[k - 1], ring[k]) for k in range(len(ring))]


def _full_border(corners: list[int], inside: dict[Span, list[int]]) -> list[int]:
    """The border of a face with the vertices inside its edges."""
    full = []
    for a, b in zip(corners, corners[1:] + corners[:1], strict=True):
        between = inside.get((min(a, b), max(a, b)), [])
        full += [a, *(between if a < b else between[::-1])]
    return full


def _borders(mesh: Mesh, inside: dict[Span, list[int]]) -> dict[int, list[int]]:
    """The borders of the faces at edges with vertices inside: without what is run there and back at once."""
    edges = topology.edges(mesh)
    concerned = {face for a, b in inside for face in edges.faces_at(a, b).tolist()}
    faces = topology.merged_faces(mesh)
    return {face: _without_spikes(_full_border(faces[face].tolist(), inside)) for face in sorted(concerned)}


def _without_spikes(ring: list[int]) -> list[int]:
    """A cycle without edges that are run back at once, and without repeated neighbours."""
    k = 0
    while len(ring) > 2 and k < len(ring):
        if ring[k] == ring[k - 1] or ring[k - 1] == ring[(k + 1) % len(ring)]:
            del ring[k]
            k = max(0, k - 2)
        else:
            k += 1
    return ring


def _same_way(a: list[int], b: list[int]) -> bool:
    """Whether two triangles over the same corners are wound alike."""
    return b[(b.index(a[0]) + 1) % 3] == a[1]


def _edge_of_sides(faces: Ints) -> NDArray[np.int64]:
    """(m, 3) a number for the edge at each side of each face."""
    ends = np.sort(np.stack([faces, faces[:, [1, 2, 0]]], axis=-1).reshape(-1, 2), axis=1)
    return np.unique(ends, axis=0, return_inverse=True)[1].reshape(-1, 3).astype(np.int64)


def _has_several(edge: NDArray[np.int64], owner: NDArray[np.int64]) -> Bools:
    """Whether faces of more than one owner have each edge."""
    first = np.full(int(edge.max()) + 1, len(owner))
    last = np.full_like(first, -1)
    np.minimum.at(first, edge, owner[:, None])
    np.maximum.at(last, edge, owner[:, None])
    several: Bools = first != last
    return several


def _odd_edges(edge: NDArray[np.int64], chosen: Bools) -> Bools:
    """Whether an odd number of the chosen faces has each edge."""
    odd: Bools = np.bincount(edge[chosen].ravel(), minlength=int(edge.max()) + 1) % 2 == 1
    return odd
