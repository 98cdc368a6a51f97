"""Queries about two convex hulls: ``method="gjk"``, ``"vclip"``, ``"lin-canny"``, and the choice of "auto".

The memory of a ``Pair`` is a workspace: the last simplex, feature pair and separating plane are where the next query
begins (warm start).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from impinge.arrays import Bools, Floats
from impinge.bvh.search import Statistics
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.convex.hull.hull_handle import HANDLE, HullHandle
from impinge.convex.search import METHODS, ConvexSearch, Effort, effort, own
from impinge.convex.workspace import CLOSER_THAN, COLLIDES, DISTANCE, ConvexWorkspace
from impinge.queries.method import DistanceColumns, Method, PenetrationColumns
from impinge.queries.single_pose import single_poses
from impinge.results import Distance

_MOST_FOR_WALKS = 2000
"""Vertices up to which "auto" finds distances by Lin-Canny.

Measured from scratch with 50, 500, 2,000 and 5,000 vertices: 1.2, 1.8, 3.8 and 7.4 us, GJK 2.3, 3.1, 3.7 and 4.9 us;
along a path 0.7, 0.8, 0.9 and 1.0 us, GJK 0.6, 0.8, 1.3 and 1.6 us.  Yes or no is GJK's: it stops at the first plane.
"""

_ANSWERS = {-1: np.False_, -2: np.True_}


@dataclass(frozen=True)
class HullStatistics(Statistics):
    """What queries about two hulls took; they are made of neither boxes nor triangles, so none were compared."""

    effort: Effort
    """Added up over all queries: a count for each would take as long as a query about one pose."""


class _Hulls(Method):
    """Two convex hulls."""

    checks_poses = True  # numpy takes longer to do that than the kernel to answer
    has_depths = True
    name: ClassVar[str]

    def __init__(self, a: ConvexHull, b: ConvexHull, memory: ConvexWorkspace | None = None) -> None:
        super().__init__(a, b)
        self._work = memory

    @classmethod
    def new_memory(cls, a: ConvexHull, b: ConvexHull) -> ConvexWorkspace:
        return ConvexWorkspace(coherent=True)

    @staticmethod
    def statistics(memory: ConvexWorkspace) -> HullStatistics:
        return HullStatistics(0, 0, 0, effort(memory))

    @classmethod
    def algorithm(cls, query: int, vertices_a: int, vertices_b: int) -> str:
        """The name of the algorithm that answers a query about hulls of so many vertices."""
        return cls.name

    def _search(self, query: int = COLLIDES) -> ConvexSearch:
        algorithm = self.algorithm(query, len(self.a.vertices), len(self.b.vertices))
        return ConvexSearch(self.a, self.b, algorithm, self._work)

    # --- one pose of each body, where hulls and workspace were used before

    @classmethod
    def collides_once(
        cls,
        a: ConvexHull,
        b: ConvexHull,
        memory: ConvexWorkspace | None,
        pose_a: ArrayLike | None,
        pose_b: ArrayLike | None,
    ) -> np.bool_ | None:
        work = memory or own.workspace
        if work and (answer := _ask(cls, work, COLLIDES, a, b, pose_a, pose_b)) < 0:
            return _ANSWERS[answer]
        return None

    @classmethod
    def closer_than_once(
        cls,
        a: ConvexHull,
        b: ConvexHull,
        memory: ConvexWorkspace | None,
        clearance: float,
        pose_a: ArrayLike | None,
        pose_b: ArrayLike | None,
    ) -> np.bool_ | None:
        work = memory or own.workspace
        if work and (answer := _ask(cls, work, CLOSER_THAN, a, b, pose_a, pose_b, clearance)) < 0:
            return _ANSWERS[answer]
        return None

    @classmethod
    def distance_once(
        cls,
        a: ConvexHull,
        b: ConvexHull,
        memory: ConvexWorkspace | None,
        pose_a: ArrayLike | None,
        pose_b: ArrayLike | None,
    ) -> Distance | None:
        work = memory or own.workspace
        if work and _ask(cls, work, DISTANCE, a, b, pose_a, pose_b) < 0:
            return Distance.of_hulls(work.nearest)
        return None

    @classmethod
    def is_ready(cls, one: HullHandle, other: HullHandle, query: int) -> bool:
        """Whether both hulls have what the algorithm needs."""
        if cls.algorithm(query, one.size, other.size) == "lin-canny":
            return one.has_cells and other.has_cells
        return True

    # --- batches

    def collides(self, poses_a: Floats, poses_b: Floats) -> Bools:
        return self._search().collides(poses_a, poses_b)

    def closer_than(self, clearance: float, poses_a: Floats, poses_b: Floats) -> Bools:
        return self._search().closer_than(clearance, poses_a, poses_b)

    def distance(self, poses_a: Floats, poses_b: Floats) -> DistanceColumns:
        values, points, features = self._search(DISTANCE).distance(poses_a, poses_b)
        return DistanceColumns(values, points.reshape(-1, 2, 3), features[:, [2, 5]], features[:, [0, 1, 3, 4]])

    def penetration(self, poses_a: Floats, poses_b: Floats) -> PenetrationColumns:
        depths, directions, points, bounds = self._search().penetration(poses_a, poses_b)
        return PenetrationColumns(depths, directions, points.reshape(-1, 2, 3), bounds)


def _ask(
    cls: type[_Hulls],
    work: ConvexWorkspace,
    query: int,
    a: ConvexHull,
    b: ConvexHull,
    pose_a: ArrayLike | None,
    pose_b: ArrayLike | None,
    clearance: float = 0.0,
) -> int:
    """What the kernel says (-1 no, -2 yes); 0 where the general way must be taken."""
    poses = single_poses(pose_a, pose_b)
    try:
        one, other = a.derived[HANDLE], b.derived[HANDLE]
    except KeyError:
        return 0
    if poses is None:
        return 0
    made_for = (one.serial, other.serial, query, cls)
    if work.ready_for != made_for:
        if not cls.is_ready(one, other, query):
            return 0
        algorithm = cls.algorithm(query, one.size, other.size)
        work.need_room(max(one.size, other.size))
        work.ask_single(query, METHODS[algorithm], made_for)
    work.single_poses[:] = poses
    if query == CLOSER_THAN:
        work.limit = clearance
    answer: int = one.kernel(one.address, other.address, work.address)
    return answer


class GJK(_Hulls):
    """The algorithm of Gilbert, Johnson and Keerthi, on the Minkowski difference of the hulls."""

    name = "gjk"


class VClip(_Hulls):
    """V-Clip (Mirtich): a walk over pairs of features, by clipping edges to Voronoi regions."""

    name = "vclip"


class LinCanny(_Hulls):
    """The closest-feature walk of Lin and Canny."""

    name = "lin-canny"


class AutoHulls(_Hulls):
    """GJK for yes or no; for distances of all but large hulls Lin-Canny."""

    @classmethod
    def algorithm(cls, query: int, vertices_a: int, vertices_b: int) -> str:
        walk = query == DISTANCE and vertices_a <= _MOST_FOR_WALKS and vertices_b <= _MOST_FOR_WALKS
        return "lin-canny" if walk else "gjk"
