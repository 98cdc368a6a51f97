"""Pair for bodies of convex pieces: the pieces that were nearest, or met, are where the next question begins."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.arrays import as_clearance
from impinge.bvh.pieces.pieces_search import PiecesSearch, coherent_workspace
from impinge.bvh.search import Statistics
from impinge.queries import verbs
from impinge.queries.methods import pieces as pieces_method
from impinge.queries.methods.pieces import Convex
from impinge.queries.pair import Pair
from impinge.results import Contacts, Distance


class PiecesPair(Pair):
    """What ``Pair(a, b)`` is for two bodies of pieces, or one and a hull."""

    def __init__(self, a: Convex, b: Convex, method: str = "auto") -> None:
        pieces_method.require_method(method)
        self.a = a
        self.b = b
        # Taken out while a thread uses it (pop is atomic), and put back after an answer: what an interrupt has left
        # half done is not used again.  Who finds nothing makes a new one.
        self._works = [coherent_workspace()]
        self.statistics = Statistics(0, 0, 0)

    @contextmanager
    def _search(self) -> Iterator[PiecesSearch]:
        try:
            work = self._works.pop()
        except IndexError:
            work = coherent_workspace()
        search = PiecesSearch(self.a, self.b, work)
        yield search
        self.statistics = search.statistics
        self._works.append(work)

    def collides(
        self, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None
    ) -> np.bool_ | NDArray[np.bool_]:
        with self._search() as search:
            return pieces_method.collides(self.a, self.b, pose_a, pose_b, search=search)

    def distance(self, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None) -> Distance:
        with self._search() as search:
            return pieces_method.distance(self.a, self.b, pose_a, pose_b, search=search)

    def closer_than(
        self, clearance: float, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None
    ) -> np.bool_ | NDArray[np.bool_]:
        limit = as_clearance(clearance)
        with self._search() as search:
            return pieces_method.closer_than(self.a, self.b, limit, pose_a, pose_b, search=search)

    def contacts(
        self, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None, *, max_contacts: int | None = None
    ) -> Contacts:
        """Unsupported, as ``impinge.contacts`` of pieces is."""
        return verbs.contacts(self.a, self.b, pose_a, pose_b, max_contacts=max_contacts)
