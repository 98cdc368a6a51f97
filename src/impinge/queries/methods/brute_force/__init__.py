"""``method="brute"``: every question answered by looking at all pairs of triangles.

This is the reference implementation: slow, exact and simple.  The yes/no question goes through Zachmann's simple
algorithm (edges against polygons), contacts and distances through plain all pairs, and solids
through the exact cells of geometry.solids.cells.

Kernels take bodies as tuples and batches of poses (k, 4, 4), and handle one pose after the other.
Each question has a file of its own, imported when it is first asked, so that nobody waits for
the compilation of kernels that are not needed.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Bools, Floats
from impinge.kernels.interruptible import in_parts, stop_if_abandoned
from impinge.mesh.mesh import Mesh
from impinge.queries.method import DistanceColumns
from impinge.queries.methods.brute_force.posed_body import body_of
from impinge.queries.methods.surfaces import SurfaceMethod

_FIRST_PAIRS = 1 << 22
"""Pairs of triangles to begin a batch with; most take a few nanoseconds."""
_FIRST_CONTACTS = 64


class BruteForce(SurfaceMethod):
    """Queries about two meshes, for batches of poses (k, 4, 4)."""

    remembers = False

    def __init__(self, a: Mesh, b: Mesh, memory: None = None) -> None:
        super().__init__(a, b)
        self._body_a = a.memo("brute force", body_of)
        self._body_b = b.memo("brute force", body_of)

    def _parts(self, count: int) -> Iterable[slice]:
        """Parts of a batch that a kernel gets at once."""
        return in_parts(count, max(1, _FIRST_PAIRS // (self._pairs_per_pose or 1)))

    @property
    def _pairs_per_pose(self) -> int:
        return len(self.a.faces) * len(self.b.faces)

    def surfaces_meet(self, poses_a: Floats, poses_b: Floats) -> tuple[Bools, Bools]:
        from impinge.queries.methods.brute_force.meeting import meet

        answers = np.empty(len(poses_a), dtype=np.bool_)
        for part in self._parts(len(poses_a)):
            meet(self._body_a, self._body_b, poses_a[part], poses_b[part], answers[part])
        return answers, ~answers

    def surfaces_within(self, clearance: float, poses_a: Floats, poses_b: Floats) -> Bools:
        from impinge.queries.methods.brute_force.clearance import within

        answers = np.empty(len(poses_a), dtype=np.bool_)
        for part in self._parts(len(poses_a)):
            within(self._body_a, self._body_b, poses_a[part], poses_b[part], clearance, answers[part])
        return answers

    def meeting_pairs(self, poses_a: Floats, poses_b: Floats, most: int | None = None) -> NDArray[np.int64]:
        from impinge.queries.methods.brute_force.pairs import find_pairs

        found = [np.empty((0, 4), dtype=np.int64)]
        for part in self._parts(len(poses_a)):
            pairs = find_pairs(self._body_a, self._body_b, poses_a[part], poses_b[part])
            pairs[:, 0] += part.start
            found.append(pairs)
        return np.concatenate(found)[: None if most is None else most + 1]

    def nearest_pairs(self, poses_a: Floats, poses_b: Floats) -> DistanceColumns:
        from impinge.queries.methods.brute_force.distances import Best, nearest_pairs

        count = len(poses_a)
        values = np.full(count, np.inf)
        points = np.empty((count, 2, 3))
        faces = np.full((count, 2), -1, dtype=np.int32)

        def go_on(poses: slice, of_a: slice) -> bool:
            asked = self._body_a, self._body_b, poses_a[poses], poses_b[poses]
            best = Best(values[poses], points[poses], faces[poses])
            return nearest_pairs(*asked, of_a.start, of_a.stop, best)  # type: ignore[no-any-return]

        if self._pairs_per_pose <= _FIRST_PAIRS:
            for part in self._parts(count):
                go_on(part, slice(0, len(self.a.faces)))
            return DistanceColumns(values, points, faces)
        for i in range(count):
            stop_if_abandoned()
            for some in in_parts(len(self.a.faces), max(1, _FIRST_PAIRS // len(self.b.faces))):
                if go_on(slice(i, i + 1), some):
                    break
        return DistanceColumns(values, points, faces)

    def components_inside(self, side: int, poses_a: Floats, poses_b: Floats, free: Bools) -> Bools:
        from impinge.queries.methods.brute_force.solids import pieces_inside

        inside = np.empty_like(free)
        faces = self._components(side).face
        body, other, poses, other_poses = self._body_a, self._body_b, poses_a, poses_b
        if side == 1:
            body, other, poses, other_poses = other, body, other_poses, poses
        for part in self._parts(len(poses)):
            pieces_inside(body, other, poses[part], other_poses[part], faces, free[part], inside[part])
        return inside

    def cells_at_contacts(
        self, poses_a: Floats, poses_b: Floats, pairs: NDArray[np.int64], cells: NDArray[np.int64]
    ) -> None:
        from impinge.queries.methods.brute_force.solids import cells_at_contacts

        for part in in_parts(len(pairs), _FIRST_CONTACTS):
            cells_at_contacts(self._body_a, self._body_b, poses_a, poses_b, pairs[part], cells)
