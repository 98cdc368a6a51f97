"""Pair for two convex hulls: the last simplex, feature pair and separating plane are where the next question begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.arrays import as_clearance, shown
from impinge.bvh.search import Statistics
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.convex.search import Effort, effort
from impinge.convex.workspace import Workspace
from impinge.queries import verbs
from impinge.queries.methods import hulls
from impinge.queries.methods.hulls import CONVEX_METHODS
from impinge.queries.pair import Pair
from impinge.results import Contacts, Distance, Penetration, Relation


@dataclass(frozen=True)
class HullStatistics(Statistics):
    """What the questions about two hulls took; they are made of neither boxes nor triangles, so none were compared."""

    effort: Effort
    """Added up over all questions: a count for each would take as long as a question about one pose."""


class HullPair(Pair):
    """What ``Pair(a, b)`` is for two hulls."""

    def __init__(self, a: ConvexHull, b: ConvexHull, method: str = "auto") -> None:
        if not isinstance(method, str) or method not in CONVEX_METHODS:
            raise ValueError(f"method {shown(method)} of a Pair of hulls is not one of {', '.join(CONVEX_METHODS)}")
        self.a = a
        self.b = b
        self.method = method
        # Taken out while a thread uses it (pop is atomic), and put back after an answer: what an interrupt has left
        # half done is not used again.  Who finds nothing makes a new one.
        self._works = [Workspace(coherent=True)]

    @property
    def effort(self) -> Effort:
        """What all questions so far took; counted anew after an error or an interrupt."""
        with self._work() as work:
            return effort(work)

    @property
    def statistics(self) -> HullStatistics:  # type: ignore[override]
        """What all questions so far took."""
        return HullStatistics(0, 0, 0, self.effort)

    @contextmanager
    def _work(self) -> Iterator[Workspace]:
        try:
            work = self._works.pop()
        except IndexError:
            work = Workspace(coherent=True)
        yield work
        self._works.append(work)

    def __reduce__(self) -> tuple[Callable[..., Pair], tuple[Any, ...]]:
        return Pair, (self.a, self.b, self.method)  # what it remembers can be found again

    def collides(
        self, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None
    ) -> np.bool_ | NDArray[np.bool_]:
        try:  # written out, since the context manager takes as long as all the rest
            work = self._works.pop()
        except IndexError:
            work = Workspace(coherent=True)
        answer = hulls.collides(self.a, self.b, pose_a, pose_b, self.method, 1, work)
        self._works.append(work)
        return answer

    def distance(self, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None) -> Distance:
        try:
            work = self._works.pop()
        except IndexError:
            work = Workspace(coherent=True)
        found = hulls.distance(self.a, self.b, pose_a, pose_b, self.method, 1, work)
        self._works.append(work)
        return found

    def closer_than(
        self, clearance: float, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None
    ) -> np.bool_ | NDArray[np.bool_]:
        limit = as_clearance(clearance)
        with self._work() as work:
            return hulls.closer_than(self.a, self.b, limit, pose_a, pose_b, self.method, 1, work)

    def penetration(self, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None) -> Penetration:
        """How deep the hulls are in each other, for one pose or along a path."""
        with self._work() as work:
            return hulls.penetration(self.a, self.b, pose_a, pose_b, self.method, 1, work)

    def contacts(
        self, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None, *, max_contacts: int | None = None
    ) -> Contacts:
        """As ``impinge.contacts``; nothing is remembered for this."""
        return verbs.contacts(self.a, self.b, pose_a, pose_b, max_contacts=max_contacts)

    def relation(self, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None) -> Relation:
        return verbs.relation(self.a, self.b, pose_a, pose_b)
