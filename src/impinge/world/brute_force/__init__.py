"""``method="brute"``: every question answered by looking at all pairs of triangles.

This is the referee: slow, exact and simple.  The yes/no question goes through Zachmann's simple
algorithm (edges against polygons), contacts and distances through plain all pairs, and solids
through the exact cells of geometry.solid.

Kernels take bodies as tuples and batches of poses (k, 4, 4), and handle one pose after the other.
Each question has a file of its own, imported when it is first asked, so that nobody waits for
the compilation of kernels that are not needed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from impinge.geometry.cast import Bools, Floats
from impinge.geometry.mesh import Mesh
from impinge.world.brute_force.body import body_of
from impinge.world.method import Method


class BruteForce(Method):
    """The questions about two meshes, for batches of poses (k, 4, 4)."""

    def __init__(self, a: Mesh, b: Mesh) -> None:
        super().__init__(a, b)
        self._body_a = a.memo("brute force", body_of)
        self._body_b = b.memo("brute force", body_of)

    def surfaces_meet(self, poses_a: Floats, poses_b: Floats) -> tuple[Bools, Bools]:
        from impinge.world.brute_force.meeting import meet

        answers = np.empty(len(poses_a), dtype=np.bool_)
        meet(self._body_a, self._body_b, poses_a, poses_b, answers)
        return answers, ~answers

    def surfaces_within(self, clearance: float, poses_a: Floats, poses_b: Floats) -> Bools:
        from impinge.world.brute_force.clearance import within

        answers = np.empty(len(poses_a), dtype=np.bool_)
        within(self._body_a, self._body_b, poses_a, poses_b, clearance, answers)
        return answers

    def meeting_pairs(self, poses_a: Floats, poses_b: Floats, most: int | None = None) -> NDArray[np.int64]:
        from impinge.world.brute_force.pairs import find_pairs

        pairs: NDArray[np.int64] = find_pairs(self._body_a, self._body_b, poses_a, poses_b)
        return pairs if most is None else pairs[: most + 1]

    def nearest_pairs(self, poses_a: Floats, poses_b: Floats) -> tuple[Floats, Floats, NDArray[np.int32]]:
        from impinge.world.brute_force.distances import nearest_pairs

        count = len(poses_a)
        values = np.empty(count)
        points = np.empty((count, 2, 3))
        faces = np.empty((count, 2), dtype=np.int32)
        nearest_pairs(self._body_a, self._body_b, poses_a, poses_b, values, points, faces)
        return values, points, faces

    def pieces_inside(self, side: int, poses_a: Floats, poses_b: Floats, free: Bools) -> Bools:
        from impinge.world.brute_force.solids import pieces_inside

        inside = np.empty_like(free)
        faces = self._pieces(side).face
        if side == 0:
            pieces_inside(self._body_a, self._body_b, poses_a, poses_b, faces, free, inside)
        else:
            pieces_inside(self._body_b, self._body_a, poses_b, poses_a, faces, free, inside)
        return inside

    def cells_at_contacts(
        self, poses_a: Floats, poses_b: Floats, pairs: NDArray[np.int64], cells: NDArray[np.int64]
    ) -> None:
        from impinge.world.brute_force.solids import cells_at_contacts

        cells_at_contacts(self._body_a, self._body_b, poses_a, poses_b, pairs, cells)
