"""Pair: the verbs for two bodies that move a little from question to question."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.arrays import as_clearance, as_count, shown
from impinge.bodies import Body, as_meshes
from impinge.bvh.search import Statistics, handle_of, search_of
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.queries import quick
from impinge.queries.batch import Batch, gathered, located
from impinge.queries.methods.pieces import as_pieces
from impinge.queries.quick import TREE_METHODS
from impinge.queries.verbs import method_of, penetration, relation
from impinge.results import Contacts, Distance, Penetration, Relation

if TYPE_CHECKING:
    from impinge.bvh.workspace import Workspace
    from impinge.queries.methods.bvh import TreeMethod

_FRONT = 1 << 16
"""Entries of a new front; it grows where that is too few."""


def _new_memory() -> Workspace:
    from impinge.bvh.workspace import AT_ONCE, Workspace

    work = Workspace(front=_FRONT)
    work.allow(AT_ONCE)
    return work


class Pair:
    """Two bodies; the verbs remember what they found, and use it for the next pose.

    Every answer is the one that the verbs give from scratch, but where several pairs of triangles have exactly the same
    distance another one of them may be named.  A path of poses (k, 4, 4) in one call is quicker than k calls.

    >>> from impinge.lab.scenes.shapes import box
    >>> pair = Pair(box(1, 1, 1), box(1, 1, 1))
    >>> path = np.tile(np.eye(4), (4, 1, 1))
    >>> path[:, 0, 3] = [1.5, 1.25, 1.0, 0.75]
    >>> pair.collides(None, path).tolist()
    [False, False, True, True]
    >>> pair.distance(None, path).value.tolist()
    [0.5, 0.25, 0.0, 0.0]
    """

    a: Any
    b: Any
    """The bodies."""
    statistics: Statistics
    """What the last question took (single poses of bodies that are apart are not counted).

    Of convex pieces, ``box_tests`` are pairs of hulls around pieces and ``triangle_tests`` pairs of pieces.  Of two
    hulls there is ``statistics.effort``, for all questions so far.
    """

    def __new__(cls, a: Body, b: Body, method: str = "auto") -> Pair:
        if isinstance(a, ConvexHull) and isinstance(b, ConvexHull):
            from impinge.queries.hull_pair import HullPair

            return object.__new__(HullPair)
        if as_pieces(a, b):
            from impinge.queries.pieces_pair import PiecesPair

            return object.__new__(PiecesPair)
        if isinstance(method, str) and method == "incremental":
            from impinge.queries.incremental_pair import IncrementalPair

            return object.__new__(IncrementalPair)
        return object.__new__(cls)

    def __init__(self, a: Body, b: Body, method: str = "auto") -> None:
        if not isinstance(method, str) or method not in TREE_METHODS:
            known = ", ".join((*TREE_METHODS, "incremental"))
            raise ValueError(f"method {shown(method)} of a Pair is not one of {known}")
        self.a, self.b = as_meshes(a, b)
        self._solid = self.a.solid or self.b.solid
        self._start()

    def _start(self) -> None:
        self._scratch = method_of(self.a, self.b, "obb")
        self._handle_a = handle_of(self.a)
        self._handle_b = handle_of(self.b)
        # Taken out while a thread uses it (pop is atomic), and put back after an answer: what an interrupt has left
        # half done is not used again.  Who finds nothing makes a new one.
        self._memory = [_new_memory()]
        self.statistics = Statistics(0, 0, 0)

    @contextmanager
    def _method(self) -> Iterator[TreeMethod]:
        from impinge.queries.methods.bvh import TreeMethod

        try:
            work = self._memory.pop()
        except IndexError:
            work = _new_memory()
        method = TreeMethod(self.a, self.b, search_of(self.a, self.b, work))
        yield method
        self.statistics = method.search.statistics
        self._memory.append(work)

    def __reduce__(self) -> tuple[Callable[..., Pair], tuple[Any, ...]]:
        return Pair, (self.a, self.b)  # what it remembers can be found again

    def __repr__(self) -> str:
        return f"Pair({self.a!r}, {self.b!r})"

    @contextmanager
    def _ready(self) -> Iterator[quick.Ready | None]:
        """The memory, for a quick answer; None while another thread has it, and after an interrupt."""
        try:
            work = self._memory.pop()
        except IndexError:
            yield None
            return
        yield self._handle_a, self._handle_b, work
        self._memory.append(work)

    def collides(
        self, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None
    ) -> np.bool_ | NDArray[np.bool_]:
        """Whether the bodies have a common point, for one pose or along a path."""
        try:  # written out, since the context manager takes as long as all the rest
            work = self._memory.pop()
        except IndexError:
            answer = None
        else:
            answer = quick.collides((self._handle_a, self._handle_b, work), pose_a, pose_b, self._solid)
            self._memory.append(work)
        if answer is not None:
            return answer
        batch = Batch(self.a, self.b, pose_a, pose_b)
        with self._method() as method:
            answers: NDArray[np.bool_] = batch.shaped(method.collides(batch.poses_a, batch.poses_b))
            return answers

    def contacts(
        self, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None, *, max_contacts: int | None = None
    ) -> Contacts:
        """All pairs of triangles that meet, for one pose or along a path."""
        most = as_count(max_contacts, "max_contacts")
        if most is None:
            with self._ready() as who:
                found = who and quick.contacts(who, self._scratch, pose_a, pose_b)
            if found is not None:
                return found
        batch = Batch(self.a, self.b, pose_a, pose_b)
        with self._method() as method:
            return gathered(batch, [method.contacts(batch.poses_a, batch.poses_b, most)], most)

    def distance(self, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None) -> Distance:
        """The smallest distance and two points that have it, for one pose or along a path."""
        with self._ready() as who:
            found = who and quick.distance(who, self._scratch, pose_a, pose_b, self._solid)
        if found is not None:
            return found
        batch = Batch(self.a, self.b, pose_a, pose_b)
        with self._method() as method:
            return located(batch, [method.distance(batch.poses_a, batch.poses_b)])

    def closer_than(
        self, clearance: float, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None
    ) -> np.bool_ | NDArray[np.bool_]:
        """Whether the distance is at most the clearance, for one pose or along a path."""
        limit = as_clearance(clearance)
        with self._ready() as who:
            answer = who and quick.closer_than(who, limit, pose_a, pose_b, self._solid)
        if answer is not None:
            return answer
        batch = Batch(self.a, self.b, pose_a, pose_b)
        with self._method() as method:
            answers: NDArray[np.bool_] = batch.shaped(method.closer_than(limit, batch.poses_a, batch.poses_b))
            return answers

    def penetration(self, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None) -> Penetration:
        """For two convex hulls; otherwise Unsupported."""
        return penetration(self.a, self.b, pose_a, pose_b)

    def relation(self, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None) -> Relation:
        """How two closed meshes lie to each other, for one pose or along a path (nothing is remembered for this)."""
        return relation(self.a, self.b, pose_a, pose_b)
