"""Queries on two convex hulls: the Python interface of the kernels."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Bools, Floats
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.convex.hull.directions import directions as unit_vectors
from impinge.convex.hull.hull_handle import HullHandle, hull_handle_of
from impinge.convex.workspace import (
    CLOSER_THAN,
    COLLIDES,
    DISTANCE,
    FEATURES,
    GJK,
    LIN_CANNY,
    VCLIP,
    ConvexWorkspace,
    Depth,
)
from impinge.kernels.interruptible import in_parts

METHODS = {"gjk": GJK, "vclip": VCLIP, "lin-canny": LIN_CANNY}

_NEARLY_TOUCHING = 2.0**20
"""Points are nearly the same if so many times their distance is not more than their largest coordinate."""

_FIRST_POSES = 256
"""To begin a batch with: one takes some microseconds; settled in integers, a hundred times as long."""
_FIRST_DEPTHS = 16
"""The same for penetration, where one takes milliseconds if the hulls are large."""


@dataclass(frozen=True)
class Effort:
    """What questions about convex bodies took, added up since the workspace was made."""

    gjk_steps: int
    """Directions in which both bodies were asked for their farthest vertex."""
    feature_steps: int
    """Pairs of features that V-Clip or Lin-Canny passed."""
    careful_walks: int
    """Poses where floats could not prove the answer, and double-double numbers did or tried;"""
    exact_walks: int
    """and those that were finished in integers."""
    corrected_walks: int
    """Poses where V-Clip or Lin-Canny claimed features that were not the nearest, by rounding, and GJK went on."""


class NotRigid(ValueError):
    """One of the poses is no rigid motion."""


class _Own(threading.local):
    """One workspace for each thread."""

    workspace: ConvexWorkspace | None = None


own = _Own()
"""For questions from scratch."""


def own_workspace() -> ConvexWorkspace:
    """The workspace of this thread."""
    if own.workspace is None:
        own.workspace = ConvexWorkspace()
    return own.workspace


class ConvexSearch:
    """Queries on two hulls, for batches of poses (k, 4, 4); ``work`` makes them coherent if it is."""

    def __init__(self, a: ConvexHull, b: ConvexHull, method: str = "gjk", work: ConvexWorkspace | None = None) -> None:
        self.a, self.b = prepared(a, method), prepared(b, method)
        self._method = METHODS[method]
        self._work = work

    def collides(self, poses_a: Floats, poses_b: Floats) -> Bools:
        """Whether the hulls have a common point, for each pose."""
        answers = np.zeros(len(poses_a), dtype=np.bool_)
        self._ask(COLLIDES, poses_a, poses_b, answers.view(np.int8))
        return answers

    def closer_than(self, clearance: float, poses_a: Floats, poses_b: Floats) -> Bools:
        """Whether the hulls come within the clearance, for each pose."""
        answers = np.zeros(len(poses_a), dtype=np.bool_)
        self._ask(CLOSER_THAN, poses_a, poses_b, answers.view(np.int8), clearance=clearance)
        return answers

    def distance(self, poses_a: Floats, poses_b: Floats) -> tuple[Floats, Floats, NDArray[np.int32]]:
        """Values (k,), points (k, 6) and features (k, 6): kind, index and face for a, then for b."""
        count = len(poses_a)
        values, points = np.zeros(count), np.zeros((count, 6))
        features = np.zeros((count, FEATURES), dtype=np.int32)
        self._ask(DISTANCE, poses_a, poses_b, np.zeros(count, dtype=np.int8), (values, points, features))
        return values, points, features

    def penetration(self, poses_a: Floats, poses_b: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Depths (k,), directions (k, 3), deepest points (k, 6), and certain bounds of the depths (k, 2)."""
        count = len(poses_a)
        answers, values, points = np.zeros(count, dtype=np.int8), np.zeros(count), np.zeros((count, 6))
        features = np.zeros((count, FEATURES), dtype=np.int32)
        self._ask(DISTANCE, poses_a, poses_b, answers, (values, points, features))
        # Points that are nearly the same show no direction: that of the nearest facet is as good.
        apart = values * _NEARLY_TOUCHING > np.abs(points).max(axis=1, initial=0.0)
        if apart.all():  # the rest of this takes 5 us
            return np.zeros(count), unit_vectors(points[:, :3] - points[:, 3:]) + 0.0, points, np.zeros((count, 2))
        answers[:] = ~apart
        found: NDArray[Any] = np.zeros(count, dtype=Depth.dtype)
        self._find_depths(found)
        directions = found["direction"].copy()
        directions[apart] = unit_vectors(points[apart, :3] - points[apart, 3:])
        depths = found["depth"].copy()
        depths[values > 0.0] = 0.0
        inside = depths > 0.0  # bodies that only touch have a common point instead
        points[inside] = found["points"][inside]
        return depths, directions + 0.0, points, found["bounds"].copy()

    def _find_depths(self, found: NDArray[Any]) -> None:
        """Where the last question was answered by yes."""
        from impinge.convex.penetration.epa import epa_depths

        work = self._work or own_workspace()
        work.need_polytope()
        work.depths = found
        for part in in_parts(len(found), _FIRST_DEPTHS):
            work.ask_part(part.start, part.stop)
            while (done := epa_depths(self.a.address, self.b.address, work.address)) < part.stop:
                work.need_larger_polytope()
                work.ask_part(int(done), part.stop)

    def _ask(
        self,
        question: int,
        poses_a: Floats,
        poses_b: Floats,
        answers: NDArray[np.int8],
        nearest: tuple[Floats, Floats, NDArray[np.int32]] | None = None,
        clearance: float = 0.0,
    ) -> None:
        work = self._work or own_workspace()
        work.need_room(max(self.a.size, self.b.size))
        work.ask(poses_a, poses_b, answers, nearest)
        work.ask_for(question, self._method)
        work.limit = clearance
        for part in in_parts(len(poses_a), _FIRST_POSES):
            work.ask_part(part.start, part.stop)
            if self.a.kernel(self.a.address, self.b.address, work.address) >= 0:
                raise NotRigid


def prepared(hull: ConvexHull, method: str) -> HullHandle:
    """The handle of a hull with all that a method needs."""
    handle = hull_handle_of(hull)
    return handle.need_cells() if method == "lin-canny" else handle


def effort(work: ConvexWorkspace) -> Effort:
    """What was done with a workspace so far."""
    return Effort(
        gjk_steps=int(work.steps),
        feature_steps=int(work.feature_steps),
        careful_walks=int(work.careful_walks),
        exact_walks=int(work.exact_walks),
        corrected_walks=int(work.corrected_walks),
    )
