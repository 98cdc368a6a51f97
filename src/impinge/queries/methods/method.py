"""What every method shares: from questions about surfaces to questions about bodies.

A method answers about surfaces (which meet, where, how far apart) and about points inside closed
surfaces.  That a solid counts its inside, what is constructed at contacts, and how two solids lie to each other is
the same for all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Bools, Floats
from impinge.geometry.pose import posed_vertices
from impinge.kernels.interruptible import in_parts
from impinge.mesh.components import Pieces, pieces_of
from impinge.mesh.mesh import Mesh
from impinge.results import ContactKind

ContactColumns = tuple[NDArray[np.int64], Floats, Floats]
"""(pose, face of a, face of b, kind) of contacts, their segments (k, 2, 3) and normals."""

_FIRST_CONTACTS = 4096
"""To begin with; one takes a microsecond or more."""


class Method(ABC):
    """The questions about two meshes, for batches of checked poses (k, 4, 4)."""

    def __init__(self, a: Mesh, b: Mesh) -> None:
        self._a = a
        self._b = b

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
    def nearest_pairs(self, poses_a: Floats, poses_b: Floats) -> tuple[Floats, Floats, NDArray[np.int32]]:
        """Distances, points that have them (k, 2, 3) unless they are zero, and faces (k, 2)."""

    # --- what a method answers: closed surfaces

    @abstractmethod
    def pieces_inside(self, side: int, poses_a: Floats, poses_b: Floats, free: Bools) -> Bools:
        """(k, pieces) which free pieces of a (side 0) or b (side 1) lie inside the other one; they do not meet it."""

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
        return self.constructed(poses_a, poses_b, self.meeting_pairs(poses_a, poses_b, most))

    def distance(self, poses_a: Floats, poses_b: Floats) -> tuple[Floats, Floats, NDArray[np.int32]]:
        """Values, points (k, 2, 3) and faces (k, 2)."""
        values, points, faces = self.nearest_pairs(poses_a, poses_b)
        if (meet := np.flatnonzero(values == 0.0)).size:
            points[meet] = self.common_points(poses_a, poses_b, meet, faces[meet])[:, None]
        for side, where, inside in self.nested(poses_a, poses_b, values > 0.0):
            mesh, poses = ((self._a, poses_a), (self._b, poses_b))[side]
            first_face = self._pieces(side).face
            for i, pieces in zip(where, inside, strict=True):
                if pieces.any():
                    face = first_face[pieces.argmax()]
                    values[i] = 0.0
                    points[i] = posed_vertices(poses[i], mesh.vertices[mesh.faces[face, :1]])
                    faces[i] = -1
                    faces[i, side] = face
        return values, points, faces

    def relation(
        self, poses_a: Floats, poses_b: Floats, pairs: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.int64], Bools]:
        """The cells of solids.cells, and whether the surfaces meet; ``pairs`` are the meeting ones, if known."""
        from impinge.geometry.solids.cells import IN_BOTH, ONLY_IN_A, ONLY_IN_B

        if pairs is None:
            pairs = self.meeting_pairs(poses_a, poses_b)
        cells = np.zeros(len(poses_a), dtype=np.int64)
        for side, only_here, only_there in ((0, ONLY_IN_A, ONLY_IN_B), (1, ONLY_IN_B, ONLY_IN_A)):
            pieces = self._pieces(side)
            free = np.ones((len(poses_a), len(pieces.face)), dtype=np.bool_)
            free[pairs[:, 0], pieces.label[pairs[:, 1 + side]]] = False
            free &= ~pieces.hollow  # faces that come in pairs bound no cell
            inside = self.pieces_inside(side, poses_a, poses_b, free)
            cells |= np.where(inside.any(axis=1), IN_BOTH | only_there, 0)
            cells |= np.where((free & ~inside).any(axis=1), only_here, 0)
        if len(pairs):
            self.cells_at_contacts(poses_a, poses_b, pairs, cells)
        return cells, np.bincount(pairs[:, 0], minlength=len(poses_a)) > 0

    def constructed(self, poses_a: Floats, poses_b: Floats, pairs: NDArray[np.int64]) -> ContactColumns:
        """Contacts with their segments and normals."""
        from impinge.queries.contact_construction import construct_contacts

        segments = np.empty((len(pairs), 2, 3))
        normals = np.empty((len(pairs), 3))
        a, b = self._a, self._b
        bodies = a.vertices, a.faces, b.vertices, b.faces
        if 0 < len(pairs) <= _FIRST_CONTACTS:  # as is usual: slices would take as long as a contact
            construct_contacts(*bodies, poses_a, poses_b, pairs, segments, normals)
            return pairs, segments, normals
        for part in in_parts(len(pairs), _FIRST_CONTACTS):
            construct_contacts(*bodies, poses_a, poses_b, pairs[part], segments[part], normals[part])
        return pairs, segments, normals

    def common_points(
        self, poses_a: Floats, poses_b: Floats, pose: NDArray[np.int64], faces: NDArray[np.int32]
    ) -> Floats:
        """(k, 3) one common point of each pair of faces (k, 2) that are known to meet."""
        pairs = np.empty((len(pose), 4), dtype=np.int64)
        pairs[:, 0] = pose
        pairs[:, 1:3] = faces
        pairs[:, 3] = ContactKind.TOUCHING  # as if: one point will do, whatever the kind of the contact
        return self.constructed(poses_a, poses_b, pairs)[1][:, 0]

    def _pieces(self, side: int) -> Pieces:
        return (self._a, self._b)[side].memo("pieces", pieces_of)

    def nested(self, poses_a: Floats, poses_b: Floats, apart: Bools) -> Iterator[tuple[int, NDArray[np.intp], Bools]]:
        """Where surfaces are apart: for a in b (side 0) and b in a (side 1), the poses and which pieces are inside."""
        where = np.flatnonzero(apart)
        for side, other in ((0, self._b), (1, self._a)):
            if other.solid and len(where):
                free = np.ones((len(where), len(self._pieces(side).face)), dtype=np.bool_)
                yield side, where, self.pieces_inside(side, poses_a[where], poses_b[where], free)
