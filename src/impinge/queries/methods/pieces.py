"""Queries about bodies of convex pieces, among themselves and with convex hulls: GJK between pieces that come near.

The memory of a ``Pair`` is a search with workspaces of its own: the pieces that were nearest, or met, are where the
next query begins.
"""

from __future__ import annotations

import numpy as np

from impinge.arrays import Bools, Floats
from impinge.bvh.pieces.convex_pieces import ConvexPieces
from impinge.bvh.pieces.pieces_search import PiecesSearch
from impinge.bvh.pieces.pieces_workspace import coherent_workspace
from impinge.bvh.search import Statistics
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.queries.method import DistanceColumns, Method

Convex = ConvexPieces | ConvexHull


class Pieces(Method):
    """Two bodies of convex pieces, or one and a hull, which is one piece."""

    def __init__(self, a: Convex, b: Convex, memory: PiecesSearch | None = None) -> None:
        super().__init__(a, b)
        self._search = memory or PiecesSearch(a, b)

    @classmethod
    def new_memory(cls, a: Convex, b: Convex) -> PiecesSearch:
        return PiecesSearch(a, b, coherent_workspace())

    @staticmethod
    def statistics(memory: PiecesSearch) -> Statistics:
        return memory.statistics

    def collides(self, poses_a: Floats, poses_b: Floats) -> Bools:
        return self._search.collides(poses_a, poses_b)

    def closer_than(self, clearance: float, poses_a: Floats, poses_b: Floats) -> Bools:
        return self._search.closer_than(clearance, poses_a, poses_b)

    def distance(self, poses_a: Floats, poses_b: Floats) -> DistanceColumns:
        """Faces are the numbers of pieces; of a hull they are its faces, and features are those of the pieces."""
        values, points, features, pieces = self._search.distance(poses_a, poses_b)
        faces = np.stack(
            [
                pieces[:, side] if isinstance(body, ConvexPieces) else features[:, 3 * side + 2]
                for side, body in enumerate((self.a, self.b))
            ],
            axis=1,
        )
        return DistanceColumns(values, points.reshape(-1, 2, 3), faces, features[:, [0, 1, 3, 4]])
