"""SurfaceMethod: what all methods for meshes share, from queries about surfaces to queries about bodies.

A method answers about surfaces (which meet, where, how far apart) and about points inside closed
surfaces.  That a solid counts its inside, and how two solids lie to each other, is the same for all.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Bools, Floats
from impinge.geometry.pose import posed_vertices
from impinge.mesh.components import Components, components_of
from impinge.mesh.mesh import Mesh
from impinge.queries.contact_columns import common_points, constructed
from impinge.queries.method import ContactColumns, DistanceColumns, Method


class SurfaceMethod(Method):
    """Queries about two meshes, for batches of checked poses (k, 4, 4)."""

    has_triangles = True
    a: Mesh
    b: Mesh

    # --- what a method answers: surfaces

    @abstractmethod
    def surfaces_meet(self, poses_a: Floats, poses_b: Floats) -> tuple[Bools, Bools]:
        """Whether the surfaces have a common point, and where they have none whether one may be inside the other."""

    @abstractmethod
    def surfaces_within(self, clearance: float, poses_a: Floats, poses_b: Floats) -> Bools:
        """Whether the surfaces have points no farther apart than the clearance."""

    @abstractmethod
    def meeting_pairs(self, poses_a: Floats, poses_b: Floats, most: int | None = None) -> NDArray[np.int64]:
        """(pose, face of a, face of b, kind) of all pairs of triangles that meet, in this order.

        At most ``most`` and one, which tells that there are more.
        """

    @abstractmethod
    def nearest_pairs(self, poses_a: Floats, poses_b: Floats) -> DistanceColumns:
        """Distances of the surfaces; the points are not set where they are zero."""

    # --- what a method answers: closed surfaces

    @abstractmethod
    def components_inside(self, side: int, poses_a: Floats, poses_b: Floats, free: Bools) -> Bools:
        """(k, components) which free components of a (side 0) or b (side 1), which do not meet the other, are in it."""

    @abstractmethod
    def cells_at_contacts(
        self, poses_a: Floats, poses_b: Floats, pairs: NDArray[np.int64], cells: NDArray[np.int64]
    ) -> None:
        """Add the cells (see geometry.solids.cells) that meet at contacts to those known for each pose."""

    # --- bodies

    def collides(self, poses_a: Floats, poses_b: Floats) -> Bools:
        answers, maybe_nested = self.surfaces_meet(poses_a, poses_b)
        for _, where, inside in self.nested(poses_a, poses_b, maybe_nested):
            answers[where] |= inside.any(axis=1)
        return answers

    def closer_than(self, clearance: float, poses_a: Floats, poses_b: Floats) -> Bools:
        answers = self.surfaces_within(clearance, poses_a, poses_b)
        for _, where, inside in self.nested(poses_a, poses_b, ~answers):
            answers[where] |= inside.any(axis=1)
        return answers

    def contacts(self, poses_a: Floats, poses_b: Floats, most: int | None = None) -> ContactColumns:
        return constructed(self.a, self.b, poses_a, poses_b, self.meeting_pairs(poses_a, poses_b, most))

    def distance(self, poses_a: Floats, poses_b: Floats) -> DistanceColumns:
        found = self.nearest_pairs(poses_a, poses_b)
        if (meet := np.flatnonzero(found.values == 0.0)).size:
            found.points[meet] = common_points(self.a, self.b, poses_a, poses_b, meet, found.faces[meet])[:, None]
        self.put_nested(poses_a, poses_b, found)
        return found

    def put_nested(self, poses_a: Floats, poses_b: Floats, found: DistanceColumns) -> None:
        """Where surfaces are apart and one body is inside the other, the distance is zero."""
        values, points, faces, _ = found
        for side, where, inside in self.nested(poses_a, poses_b, values > 0.0):
            mesh, poses = ((self.a, poses_a), (self.b, poses_b))[side]
            first_face = self._components(side).face
            for i, components in zip(where, inside, strict=True):
                if components.any():
                    face = first_face[components.argmax()]
                    values[i] = 0.0
                    points[i] = posed_vertices(poses[i], mesh.vertices[mesh.faces[face, :1]])
                    faces[i] = -1
                    faces[i, side] = face

    def relation(
        self, poses_a: Floats, poses_b: Floats, pairs: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.int64], Bools]:
        """The cells of solids.cells, and whether the surfaces meet; ``pairs`` are the meeting ones, if known."""
        from impinge.geometry.solids.cells import IN_BOTH, ONLY_IN_A, ONLY_IN_B

        if pairs is None:
            pairs = self.meeting_pairs(poses_a, poses_b)
        cells = np.zeros(len(poses_a), dtype=np.int64)
        for side, only_here, only_there in ((0, ONLY_IN_A, ONLY_IN_B), (1, ONLY_IN_B, ONLY_IN_A)):
            components = self._components(side)
            free = np.ones((len(poses_a), len(components.face)), dtype=np.bool_)
            free[pairs[:, 0], components.label[pairs[:, 1 + side]]] = False
            free &= ~components.hollow  # faces that come in pairs bound no cell
            inside = self.components_inside(side, poses_a, poses_b, free)
            cells |= np.where(inside.any(axis=1), IN_BOTH | only_there, 0)
            cells |= np.where((free & ~inside).any(axis=1), only_here, 0)
        if len(pairs):
            self.cells_at_contacts(poses_a, poses_b, pairs, cells)
        return cells, np.bincount(pairs[:, 0], minlength=len(poses_a)) > 0

    def _components(self, side: int) -> Components:
        return (self.a, self.b)[side].memo("Components", components_of)

    def nested(self, poses_a: Floats, poses_b: Floats, apart: Bools) -> Iterator[tuple[int, NDArray[np.intp], Bools]]:
        """Where surfaces are apart: for a in b (side 0) and b in a (side 1), the poses, and which components are in."""
        where = np.flatnonzero(apart)
        for side, other in ((0, self.b), (1, self.a)):
            if other.solid and len(where):
                free = np.ones((len(where), len(self._components(side).face)), dtype=np.bool_)
                yield side, where, self.components_inside(side, poses_a[where], poses_b[where], free)
