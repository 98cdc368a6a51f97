"""The surface of the convex hull with all that the mesh has on it: outlines, faces, and vertices inside edges.

Vertices are named as in ``mesh.topology``: by the first vertex at their position.  A hull face is a plane
polygon; dropping one coordinate maps it to the plane without rounding, so that turns in it are exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from impinge.arrays import Bools, Ints
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.geometry.exact.integers import collinear, newell_normal, orient2d
from impinge.incremental.solids.faces_on_hull import faces_on_hull
from impinge.mesh import topology
from impinge.mesh.mesh import Mesh
from impinge.mesh.repair.t_vertices import find_t_vertices

Run = tuple[int, int]
"""A directed edge, from vertex to vertex."""

_PLANE_OF_AXIS = ((1, 2), (2, 0), (0, 1))


@dataclass(frozen=True, eq=False)
class Plane:
    """A hull face seen from outside, with coordinates as given but for the one that is left out."""

    x: list[float]
    y: list[float]

    def turn(self, a: int, b: int, c: int) -> int:
        """1 where the vertices a, b, c turn left, -1 right, 0 where they are on one line."""
        x, y = self.x, self.y
        return orient2d(x[a], y[a], x[b], y[b], x[c], y[c])


@dataclass(frozen=True, eq=False)
class HullSurface:
    """A mesh, its hull, and which faces of the one lie on which of the other."""

    mesh: Mesh
    hull: ConvexHull
    hull_face: Ints
    """(m,) the hull face that each face lies on, or -1."""

    @cached_property
    def corners(self) -> Ints:
        """(v,) the vertex of the mesh at each vertex of the hull."""
        return topology.merged_vertices(self.mesh)[self.hull.source]

    @cached_property
    def _by_hull_face(self) -> tuple[Ints, Ints]:
        order = np.argsort(self.hull_face, kind="stable").astype(np.int32)
        numbers = np.arange(len(self.hull.starts))
        return order, np.searchsorted(self.hull_face[order], numbers).astype(np.int32)

    @cached_property
    def has_area(self) -> Bools:
        """(m,) faces without area border on nothing: where one closes the gap at a T-vertex, edges are divided."""
        marks = np.ones(len(self.mesh.faces), dtype=np.bool_)
        marks[self.mesh.diagnose().degenerate_faces] = False
        return marks

    def faces_on(self, hull_face: int) -> Ints:
        """(k,) the faces of the mesh on a face of the hull, ascending."""
        order, starts = self._by_hull_face
        return order[starts[hull_face] : starts[hull_face + 1]]

    @cached_property
    def between(self) -> dict[Run, list[int]]:
        """The vertices exactly inside edges of mesh and hull, by the ends of the edge, the smaller first; in order."""
        used = np.unique(topology.merged_faces(self.mesh))
        spans = np.sort(self.corners[self.hull.edges], axis=1).astype(np.int32)
        on_hull_edges = find_t_vertices(self.mesh.vertices, used, np.ascontiguousarray(spans))
        inside: dict[Run, set[int]] = {}
        points = self.mesh.vertices
        for vertex, a, b in np.concatenate([self.mesh.diagnose().t_vertices, on_hull_edges]).tolist():
            if collinear(*points[[vertex, a, b]].tolist()):
                inside.setdefault((a, b), set()).add(vertex)
        return {span: self._in_order(span, vertices) for span, vertices in inside.items()}

    def _in_order(self, span: Run, vertices: Iterable[int]) -> list[int]:
        points = self.mesh.vertices
        along = points[span[1]] - points[span[0]]
        axis = int(np.argmax(np.abs(along)))
        return sorted(vertices, key=lambda vertex: float(points[vertex, axis]), reverse=bool(along[axis] < 0.0))

    def with_vertices_between(self, ring: Sequence[int]) -> list[int]:
        """A cycle of vertices with those inserted that stand on its straight edges."""
        if not self.between:
            return list(ring)
        full: list[int] = []
        for a, b in runs(ring):
            inside = self.between.get((min(a, b), max(a, b)), [])
            full += [a, *(inside if a < b else inside[::-1])]
        return full

    def outline(self, hull_face: int) -> list[int]:
        """The border of a hull face, counterclockwise from outside."""
        start, end = self.hull.starts[hull_face : hull_face + 2]
        return self.with_vertices_between(self.corners[self.hull.corners[start:end]].tolist())

    def ring(self, face: int) -> list[int]:
        """The border of a face of the mesh as it is wound; repeated positions once."""
        corners = topology.merged_faces(self.mesh)[face].tolist()
        return self.with_vertices_between([corner for k, corner in enumerate(corners) if corner != corners[k - 1]])

    def plane(self, hull_face: int) -> Plane:
        """The coordinates of the vertices as seen from outside of a hull face."""
        if hull_face not in self._planes:
            start, end = self.hull.starts[hull_face : hull_face + 2]
            normal = newell_normal(self.hull.vertices[self.hull.corners[start:end]].tolist())
            axis = max(range(3), key=lambda i: abs(normal[i]))
            u, v = _PLANE_OF_AXIS[axis] if normal[axis] > 0 else _PLANE_OF_AXIS[axis][::-1]
            self._planes[hull_face] = Plane(self._columns[u], self._columns[v])
        return self._planes[hull_face]

    @cached_property
    def _planes(self) -> dict[int, Plane]:
        return {}

    @cached_property
    def _columns(self) -> list[list[float]]:
        return [column.tolist() for column in self.mesh.vertices.T]

    def rings_on(self, hull_face: int, plane: Plane) -> list[list[int]]:
        """The borders of the faces with area on a hull face, each once, counterclockwise from outside."""
        rings = []
        faces = topology.merged_faces(self.mesh)[self.faces_on(hull_face)]
        for corners in np.unique(np.sort(faces, axis=1), axis=0).tolist():
            turn = plane.turn(*corners)
            if turn:
                rings.append(self.with_vertices_between(corners if turn > 0 else corners[::-1]))
        return rings

    @cached_property
    def pieces(self) -> dict[Run, list[int]]:
        """The faces at each piece of an edge that has vertices in it."""
        pieces: dict[Run, list[int]] = {}
        edges = topology.edges(self.mesh)
        for span, inside in self.between.items():
            faces = edges.faces_at(*span).tolist()
            if faces:
                path = [span[0], *inside, span[1]]
                for a, b in pairwise(path):
                    pieces.setdefault((min(a, b), max(a, b)), []).extend(faces)
        return pieces

    def faces_at(self, a: int, b: int) -> list[int]:
        """The faces of the mesh that have the segment in their border, as an edge or, at T-vertices, as part of one."""
        span = min(a, b), max(a, b)
        faces = [] if span in self.between else topology.edges(self.mesh).faces_at(*span).tolist()
        return faces + self.pieces.get(span, [])

    @cached_property
    def _hull_edges(self) -> dict[Run, set[int]]:
        """The two hull faces at each piece of an edge of the hull."""
        found: dict[Run, set[int]] = {}
        for hull_face in range(len(self.hull.starts) - 1):
            for a, b in runs(self.outline(hull_face)):
                found.setdefault((min(a, b), max(a, b)), set()).add(hull_face)
        return found

    def hull_faces_at(self, a: int, b: int) -> set[int]:
        """The hull faces in whose border a segment lies: two, or none."""
        return self._hull_edges.get((min(a, b), max(a, b)), set())

    def runs_backwards(self, face: int, a: int, b: int) -> bool:
        """Whether a face on the hull, turned outward, runs from b to a in its border."""
        corners = topology.merged_faces(self.mesh)[face].tolist()
        plane = self.plane(int(self.hull_face[face]))
        ring = self.ring(face)
        return ((b, a) in runs(ring)) == (plane.turn(*corners) > 0)


def runs(ring: Sequence[int]) -> list[Run]:
    """The directed edges of a cycle."""
    return [(ring[k - 1], ring[k]) for k in range(1, len(ring))] + ([(ring[-1], ring[0])] if ring else [])


def hull_surface(mesh: Mesh) -> HullSurface:
    """The surface of the hull of a mesh; kept with the mesh."""
    return mesh.memo("hull_surface", _make)


def _make(mesh: Mesh) -> HullSurface:
    hull = ConvexHull(mesh)
    return HullSurface(mesh, hull, faces_on_hull(mesh, hull))
