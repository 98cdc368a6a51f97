"""``method="obb"``: every question answered by descending two trees of oriented boxes at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Bools, Floats
from impinge.bvh.answers import APART, MEETING
from impinge.bvh.search import TreeSearch, search_of
from impinge.mesh.mesh import Mesh
from impinge.queries.methods.method import Method

if TYPE_CHECKING:
    from impinge.incremental.incremental_search import IncrementalSearch


class TreeMethod(Method):
    """The questions about two meshes, for batches of poses (k, 4, 4)."""

    def __init__(self, a: Mesh, b: Mesh, search: TreeSearch | IncrementalSearch | None = None) -> None:
        super().__init__(a, b)
        self.search: TreeSearch | IncrementalSearch = search or search_of(a, b)

    def surfaces_meet(self, poses_a: Floats, poses_b: Floats) -> tuple[Bools, Bools]:
        found = self.search.collides(poses_a, poses_b)
        return found == MEETING, found == APART

    def surfaces_within(self, clearance: float, poses_a: Floats, poses_b: Floats) -> Bools:
        return self.search.closer_than(clearance, poses_a, poses_b)

    def meeting_pairs(self, poses_a: Floats, poses_b: Floats, most: int | None = None) -> NDArray[np.int64]:
        return self.search.contact_pairs(poses_a, poses_b, most)

    def nearest_pairs(self, poses_a: Floats, poses_b: Floats) -> tuple[Floats, Floats, NDArray[np.int32]]:
        return self.search.distance(poses_a, poses_b)

    def pieces_inside(self, side: int, poses_a: Floats, poses_b: Floats, free: Bools) -> Bools:
        from impinge.bvh.solids.inside_tests import TreeSolids

        faces = self._pieces(side).face
        return TreeSolids(self._a, self._b).pieces_inside(side, faces, poses_a, poses_b, free)

    def cells_at_contacts(
        self, poses_a: Floats, poses_b: Floats, pairs: NDArray[np.int64], cells: NDArray[np.int64]
    ) -> None:
        from impinge.bvh.solids.inside_tests import TreeSolids

        TreeSolids(self._a, self._b).cells_at_contacts(poses_a, poses_b, pairs, cells)
