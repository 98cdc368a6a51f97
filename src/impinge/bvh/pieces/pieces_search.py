"""Queries on two unions of convex pieces: the Python interface of the kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Bools, Floats
from impinge.bvh.pieces.convex_pieces import ConvexPieces
from impinge.bvh.pieces.hull_tree import piece_tree_handle_of
from impinge.bvh.pieces.pieces_kernels import ask_all
from impinge.bvh.pieces.pieces_workspace import PiecesWorkspace, own_workspace
from impinge.bvh.search import Statistics
from impinge.bvh.workspace import AT_ONCE, Results
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.convex.workspace import CLOSER_THAN, COLLIDES, DISTANCE, FEATURES, GJK
from impinge.kernels.interruptible import in_parts

_FIRST_POSES = 64
"""To begin a batch with: one takes from ten microseconds to some milliseconds, and has no budget."""


class PiecesSearch:
    """The questions about two bodies, for batches of checked poses (k, 4, 4); a hull is one piece."""

    statistics: Statistics
    """What the last question took: pairs of hulls that were compared, pairs of pieces that were asked about."""

    def __init__(
        self, a: ConvexPieces | ConvexHull, b: ConvexPieces | ConvexHull, work: PiecesWorkspace | None = None
    ) -> None:
        self._a, self._b = piece_tree_handle_of(a), piece_tree_handle_of(b)
        self._work = work
        self.statistics = Statistics(0, 0, 0)

    def collides(self, poses_a: Floats, poses_b: Floats) -> Bools:
        answers = np.zeros(len(poses_a), dtype=np.bool_)
        self._ask(COLLIDES, poses_a, poses_b, answers)
        return answers

    def closer_than(self, clearance: float, poses_a: Floats, poses_b: Floats) -> Bools:
        answers = np.zeros(len(poses_a), dtype=np.bool_)
        self._ask(CLOSER_THAN, poses_a, poses_b, answers, clearance=clearance)
        return answers

    def distance(self, poses_a: Floats, poses_b: Floats) -> tuple[Floats, Floats, NDArray[np.int32], NDArray[np.int32]]:
        """Values (k,), points (k, 6), features (k, 6) as in convex.search, and the pieces that have them (k, 2)."""
        count = len(poses_a)
        values, points = np.zeros(count), np.zeros((count, 6))
        features = np.zeros((count, FEATURES), dtype=np.int32)
        pieces = np.zeros((count, 2), dtype=np.int32)
        self._ask(DISTANCE, poses_a, poses_b, np.zeros(count, dtype=np.bool_), (values, points, features), pieces)
        return values, points, features, pieces

    def _ask(
        self,
        question: int,
        poses_a: Floats,
        poses_b: Floats,
        answers: Bools,
        nearest: tuple[Floats, Floats, NDArray[np.int32]] | None = None,
        pieces: NDArray[np.int32] = np.zeros(0, dtype=np.int32),  # noqa: B008
        clearance: float = 0.0,
    ) -> None:
        work = self._work or own_workspace()
        tree, convex = work.tree, work.convex
        tree.begin(self._a.stack + self._b.stack)
        tree.ask(poses_a, poses_b, Results(faces=pieces))
        convex.need_room(max(self._a.room, self._b.room))
        convex.ask(poses_a, poses_b, answers.view(np.int8), nearest)
        convex.ask_for(question, GJK)
        convex.limit = clearance
        for part in in_parts(len(poses_a), _FIRST_POSES):
            convex.ask_part(part.start, part.stop)
            ask_all(self._a.address, self._b.address, work.address)
        tree.allow(AT_ONCE)  # for the next question, if it is about meshes
        hulls, pairs = tree.tests()
        self.statistics = Statistics(hulls, pairs, int(np.count_nonzero(answers)))
