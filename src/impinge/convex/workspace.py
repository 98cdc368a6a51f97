"""Mutable state of queries on two convex bodies, with the warm start that one leaves to the next.

It lives outside the kernel, so that asking allocates nothing.  One thread uses a workspace at a time.  A new one, all
zero, is a legal start.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats
from impinge.convex.features.feature_pair import FeaturePair
from impinge.kernels.record import Record, bool_, float64, int8, int32, int64, records

# Questions.
COLLIDES = 0
CLOSER_THAN = 1
DISTANCE = 2
BOUND = 3
"""A lower bound of the distance; only kernels ask for it."""

# Methods.
GJK = 0
VCLIP = 1
LIN_CANNY = 2

FEATURES = 6
"""Columns of the closest features: kind, index and face for a, then for b."""

_ROOM = 256
_POINTS = 64
"""Of the first polytope."""


class KeptPair(Record):
    """What two bodies leave from one query to the next; all zero where nothing is known."""

    count = int64
    """Corners of the simplex;"""
    vertices_a = int64[4]
    """their vertices of a,"""
    vertices_b = int64[4]
    """and of b."""
    known = bool_
    """Whether simplex, features and plane are those of an earlier pose."""
    has_plane = bool_
    plane_a = int64
    plane_b = int64
    """The vertices that are nearest to the kept plane."""
    plane = float64[3]
    """Its normal, in the frame of a."""
    features = FeaturePair


class ConvexWork(Record):
    """The state of queries on two convex bodies, as kernels see it."""

    # What is asked.
    question = int64
    method = int64
    first = int64
    """The poses that are asked about begin here,"""
    end = int64
    """and end before this one."""
    coherent = bool_
    """Whether a pose begins with what the one before it has left."""
    limit = float64
    """The clearance that is asked about."""
    poses_a = float64[:, 4, 4]
    poses_b = float64[:, 4, 4]

    # What is found.
    answers = int8[:]
    values = float64[:]
    """Distances,"""
    points = float64[:, 6]
    """the points that have them,"""
    features = int32[:, FEATURES]
    """and the features that carry these."""

    # The pose at hand.
    kept = KeptPair
    corners = float64[4, 3]
    """Of the simplex: w = p - q,"""
    corners_a = float64[4, 3]
    """p of a,"""
    corners_b = float64[4, 3]
    """q of b."""
    weights = float64[4]
    """Of the corners: the nearest points are these combinations."""
    value = float64
    """The distance."""
    direction = float64[3]
    """From b to a, square to the nearest simplex of bodies that are apart."""
    lower = float64
    """The lower bound that GJK has found last."""
    stamp = int64
    """The mark of the plateau that was visited last."""
    queue = int64[:]
    """The vertices of a plateau, for as many vertices as the bodies have,"""
    stamps = int64[:]
    """and which of them were seen."""

    # What it took, added up.
    steps = int64
    """Directions that GJK has asked for."""
    feature_steps = int64
    """Pairs of features that walks have passed."""
    careful_walks = int64
    """In double-double arithmetic,"""
    exact_walks = int64
    """and in integers."""
    corrected_walks = int64
    """Walks over features that claimed some which were not the nearest."""


class Depth(Record):
    """The penetration depth of two bodies."""

    depth = float64
    bounds = float64[2]
    """Certain ones: the lower and the upper one."""
    direction = float64[3]
    """Along which a must move by the depth."""
    points = float64[6]
    """The deepest points of a and b; any, where the depth is 0."""
    steps = int64


class DepthWork(ConvexWork):
    """With the expanding polytope of EPA: points of the Minkowski difference, and the triangles of their hull."""

    depths = records(Depth)[:]
    """(n,) what is found."""
    exponent = int64
    """Points are scaled by this power of two;"""
    largest = float64
    """and this is their largest coordinate."""
    used_points = int64
    used_triangles = int64
    differences = float64[:, 3]
    """(r,) points: posed vertices of a minus such of b, scaled,"""
    vertices = int64[:, 2]
    """(r,) and which vertices of a and b these are."""
    leaving = int32[:]
    """(r,) scratch of the cone."""
    triangles = int32[:, 3]
    """(t,) corners,"""
    across = int32[:, 3]
    """(t,) neighbours as in exact_quickhull,"""
    normals = float64[:, 3]
    """(t,) unit normals, outward,"""
    heights = float64[:]
    """(t,) and the height of the plane above the origin; infinite for triangles that are gone."""
    marks = int32[:]
    visible = int32[:]
    horizon = int32[:, 4]
    fresh = int32[:]
    """(t,) scratch of one step."""
    heap_count = int64
    heap_heights = float64[:]
    heap_triangles = int32[:]
    """(2 t,) the heap of ``distance.triangle_heap``."""


work_at = ConvexWork.at
depth_work_at = DepthWork.at


class ConvexWorkspace(DepthWork):
    """A DepthWork with memory of its own for a single pose, room for plateaus and, where needed, a polytope."""

    __slots__ = ("_is_single", "_single", "nearest", "poses", "ready_for", "room", "single_poses")

    def __init__(self, coherent: bool = False) -> None:
        super().__init__(coherent=coherent)
        self.poses = np.zeros((2, 4, 4))
        # In one piece, so that a single distance can be taken out at once.
        self.nearest = np.zeros(1 + 6 + FEATURES // 2)
        self._single: dict[str, NDArray[Any]] = {
            "poses_a": self.poses[:1],
            "poses_b": self.poses[1:],
            "answers": np.zeros(1, dtype=np.int8),
            "values": self.nearest[:1],
            "points": self.nearest[1:7].reshape(1, 6),
            "features": self.nearest[7:].view(np.int32).reshape(1, FEATURES),
        }
        self._is_single = False
        self.single_poses: Any = self.poses.data.cast("B")
        """Where the bytes of two poses go, for a single question."""
        self.ready_for: tuple[Any, ...] | None = None
        """The single question that all is set for, by whatever name its asker gives it; None after any other."""
        self.room = 0
        self.need_room(_ROOM // 2)

    def need_room(self, vertices: int) -> None:
        """For bodies with so many vertices."""
        if vertices > self.room:
            # In this order, so that no kernel uses memory that is not there, wherever this is interrupted.
            self.queue = np.zeros(2 * vertices, dtype=np.int64)
            self.stamps = np.zeros(2 * vertices, dtype=np.int64)
            self.room = 2 * vertices

    def need_polytope(self) -> None:
        """Some room for a polytope."""
        if not self.n_differences:
            self._make_polytope(_POINTS)

    def need_larger_polytope(self) -> None:
        """More room than there is now."""
        self._make_polytope(2 * self.n_differences)

    def _make_polytope(self, points: int) -> None:
        # The horizon of v visible triangles has v + 2 edges at most: every point costs two more triangles at most.
        triangles = 2 * points + 4
        for name in ("marks", "visible", "fresh"):
            setattr(self, name, np.zeros(triangles, dtype=np.int32))
        self.triangles, self.across = (np.zeros((triangles, 3), dtype=np.int32) for _ in range(2))
        self.normals, self.heights = np.zeros((triangles, 3)), np.zeros(triangles)
        self.horizon = np.zeros((triangles, 4), dtype=np.int32)
        self.heap_heights, self.heap_triangles = np.zeros(2 * triangles), np.zeros(2 * triangles, dtype=np.int32)
        self.leaving, self.vertices = np.zeros(points, dtype=np.int32), np.zeros((points, 2), dtype=np.int64)
        self.differences = np.zeros((points, 3))  # the last one: kernels ask it how much room there is

    def ask(
        self,
        poses_a: Floats,
        poses_b: Floats,
        answers: NDArray[np.int8],
        nearest: tuple[Floats, Floats, NDArray[np.int32]] | None = None,
    ) -> None:
        """The next question is about these poses, and its results go there: for distances values, points, features."""
        self.ready_for = None
        self._is_single = False
        self.poses_a, self.poses_b, self.answers = poses_a, poses_b, answers
        if nearest is not None:
            self.values, self.points, self.features = nearest
        self.ask_part(0, len(poses_a))

    def ask_part(self, first: int, end: int) -> None:
        """The next call is about these of the poses."""
        self.first, self.end = first, end

    def ask_for(self, question: int, method: int) -> None:
        """What the next question is, and how it is to be answered."""
        self.ready_for = None
        self.question, self.method = question, method

    def ask_single(self, question: int, method: int, name: tuple[Any, ...]) -> None:
        """The next question is about ``single_poses``, and so are all that have the same name."""
        self.ask_for(question, method)
        if not self._is_single:
            for field, array in self._single.items():
                setattr(self, field, array)
            self._is_single = True
        self.ask_part(0, 1)
        self.ready_for = name
