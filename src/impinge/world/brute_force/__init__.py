"""``method="brute"``: every question answered by looking at all pairs of triangles.

This is the referee: slow, exact and simple.  The yes/no question goes through Zachmann's simple
algorithm (edges against polygons), contacts and distances through plain all pairs, and solids
through the exact cells of geometry.solid.

Kernels take bodies as tuples and batches of poses (k, 4, 4), and handle one pose after the other.
Each question has a file of its own, imported when it is first asked, so that nobody waits for
the compilation of kernels that are not needed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from impinge.geometry.cast import Floats
from impinge.geometry.mesh import Mesh
from impinge.geometry.pose import posed_vertices
from impinge.geometry.results import ContactKind
from impinge.world.brute_force.body import body_of


class BruteForce:
    """The questions about two meshes, for batches of poses (k, 4, 4)."""

    def __init__(self, a: Mesh, b: Mesh) -> None:
        self._a = a.memo("brute force", body_of)
        self._b = b.memo("brute force", body_of)

    def collides(self, poses_a: Floats, poses_b: Floats) -> NDArray[np.bool_]:
        from impinge.world.brute_force.meeting import meet

        answers = np.empty(len(poses_a), dtype=np.bool_)
        meet(self._a, self._b, poses_a, poses_b, answers)
        for _, where, inside in self._nested(poses_a, poses_b, ~answers):
            answers[where] |= inside.any(axis=1)
        return answers

    def closer_than(self, clearance: float, poses_a: Floats, poses_b: Floats) -> NDArray[np.bool_]:
        from impinge.world.brute_force.clearance import within

        answers = np.empty(len(poses_a), dtype=np.bool_)
        within(self._a, self._b, poses_a, poses_b, clearance, answers)
        for _, where, inside in self._nested(poses_a, poses_b, ~answers):
            answers[where] |= inside.any(axis=1)
        return answers

    def contacts(self, poses_a: Floats, poses_b: Floats) -> tuple[NDArray[np.int64], Floats, Floats]:
        """(pose, face of a, face of b, kind) for all contacts, their segments and normals."""
        from impinge.world.brute_force.pairs import find_pairs

        pairs = find_pairs(self._a, self._b, poses_a, poses_b)
        segments, normals = self._construct(poses_a, poses_b, pairs)
        return pairs, segments, normals

    def distance(self, poses_a: Floats, poses_b: Floats) -> tuple[Floats, Floats, NDArray[np.int32]]:
        """Values, points (k, 2, 3) and faces (k, 2)."""
        from impinge.world.brute_force.distances import nearest_pairs

        count = len(poses_a)
        values = np.empty(count)
        points = np.empty((count, 2, 3))
        faces = np.empty((count, 2), dtype=np.int32)
        nearest_pairs(self._a, self._b, poses_a, poses_b, values, points, faces)
        if (meet := np.flatnonzero(values == 0.0)).size:
            # As if touching: one common point will do, whatever the kind of the contact.
            kinds = np.full_like(meet, ContactKind.TOUCHING)
            pairs = np.column_stack([meet, faces[meet], kinds]).astype(np.int64)
            points[meet] = self._construct(poses_a, poses_b, pairs)[0][:, :1]
        for side, where, inside in self._nested(poses_a, poses_b, values > 0.0):
            body, poses = ((self._a, poses_a), (self._b, poses_b))[side]
            for i, pieces in zip(where, inside, strict=True):
                if pieces.any():
                    face = body.pieces[pieces.argmax()]
                    values[i] = 0.0
                    points[i] = posed_vertices(poses[i], body.vertices[body.faces[face, :1]])
                    faces[i] = -1
                    faces[i, side] = face
        return values, points, faces

    def relation(self, poses_a: Floats, poses_b: Floats) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The cells of geometry.solid, and whether the surfaces meet."""
        from impinge.geometry.solid import IN_BOTH, ONLY_IN_A, ONLY_IN_B
        from impinge.world.brute_force.pairs import find_pairs
        from impinge.world.brute_force.solids import cells_at_contacts, pieces_inside

        pairs = find_pairs(self._a, self._b, poses_a, poses_b)
        cells = np.zeros(len(poses_a), dtype=np.int64)
        for body, other, poses, other_poses, column, only_here, only_there in (
            (self._a, self._b, poses_a, poses_b, 1, ONLY_IN_A, ONLY_IN_B),
            (self._b, self._a, poses_b, poses_a, 2, ONLY_IN_B, ONLY_IN_A),
        ):
            free = np.ones((len(poses), len(body.pieces)), dtype=np.bool_)
            free[pairs[:, 0], body.labels[pairs[:, column]]] = False
            if not body.hollow.all():
                free &= ~body.hollow  # faces that come in pairs bound no cell
            inside = np.empty_like(free)
            pieces_inside(body, other, poses, other_poses, free, inside)
            cells |= np.where(inside.any(axis=1), IN_BOTH | only_there, 0)
            cells |= np.where((free & ~inside).any(axis=1), only_here, 0)
        if len(pairs):
            cells_at_contacts(self._a, self._b, poses_a, poses_b, pairs, cells)
        return cells, np.bincount(pairs[:, 0], minlength=len(poses_a)) > 0

    def _nested(
        self, poses_a: Floats, poses_b: Floats, apart: NDArray[np.bool_]
    ) -> Iterator[tuple[int, NDArray[np.intp], NDArray[np.bool_]]]:
        """Where surfaces are apart: for a in b (side 0) and b in a (side 1), the poses and which pieces are inside."""
        where = np.flatnonzero(apart)
        for side, body, other, poses, other_poses in (
            (0, self._a, self._b, poses_a, poses_b),
            (1, self._b, self._a, poses_b, poses_a),
        ):
            if other.solid and len(where):
                from impinge.world.brute_force.solids import pieces_inside

                free = np.ones((len(where), len(body.pieces)), dtype=np.bool_)
                inside = np.empty_like(free)
                pieces_inside(body, other, poses[where], other_poses[where], free, inside)
                yield side, where, inside

    def _construct(self, poses_a: Floats, poses_b: Floats, pairs: NDArray[np.int64]) -> tuple[Floats, Floats]:
        from impinge.world.brute_force.contacts import construct_contacts

        segments = np.empty((len(pairs), 2, 3))
        normals = np.empty((len(pairs), 3))
        if len(pairs):
            construct_contacts(self._a, self._b, poses_a, poses_b, pairs, segments, normals)
        return segments, normals
