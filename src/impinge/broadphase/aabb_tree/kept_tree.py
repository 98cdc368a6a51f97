"""The default broad phase: an AABB tree, and a list of overlapping pairs that is kept for as long as it holds.

A frame compares the listed pairs (``aabb_tree.kept_pairs``).  When too many boxes have left their enlarged ones, a new
tree is sorted and fitted (``aabb_tree.packed_tree``) and a new list made.  Where everything moves so fast that no list
would last, boxes are not enlarged, and every frame makes its tree: that is what a broad phase without memory does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.arrays import Floats
from impinge.broadphase.aabb_tree import kept_pairs
from impinge.broadphase.aabb_tree.packed_tree import (
    PackedTree,
    TreeSpace,
    overlaps_between,
    overlaps_within,
    packed_tree,
)
from impinge.broadphase.aabb_tree.tree_queries import near_ray, touched_by_boxes
from impinge.broadphase.boxes import as_box_row, overlap_one
from impinge.broadphase.broad_phase import BroadPhase, Edit, Ids, Statistics
from impinge.broadphase.brute_force import all_overlaps
from impinge.broadphase.pair_keys import Keys, PairChange, change_to
from impinge.broadphase.ray import as_ray, touched_by_ray
from impinge.geometry.float_errors import default_float_errors

_FEW = 16
_FEW_IN = 32
"""A new list is made when more than 16 objects, and one in 32, are restless."""


_OUT_OF_SCALE = 8.0
"""A crowd that filled the space from -1 to 1 in the coordinates of the tree has grown, shrunk or moved by so much: its
boxes lose digits there."""
_TINY = 2.0**-1000


@dataclass(frozen=True)
class KeptTreeStatistics(Statistics):
    picked: str
    """What this frame did: "kept list"; "new list", to be kept; or "new tree", for this frame alone."""
    listed: int
    """Pairs in the list."""
    restless: int
    """Objects that have left their enlarged boxes, and were searched for in the tree."""


class KeptTree(BroadPhase):
    """A broad phase by an AABB tree and a list of pairs that is kept for as long as it holds."""

    def _forget(self) -> None:
        self._trees: list[PackedTree] = []
        """Of the objects that move, and of those that are fixed."""
        self._space = TreeSpace(scale=1.0, margin=self._margin)
        self._boxes = np.empty((0, 6), dtype=np.float32)
        self._reaches = np.empty(0, dtype=np.float32)
        self._starts = np.zeros(1, dtype=np.int64)
        self._others = np.empty(0, dtype=np.int32)
        self._restless: NDArray[np.bool_] = np.empty(0, dtype=np.bool_)
        self._frames = 0
        self._statistics = KeptTreeStatistics(0, 0, "new tree", 0, 0)

    def _advance(self, edit: Edit) -> PairChange:
        picked, restless = "kept list", 0
        if not self._trees or edit.kept < max(len(edit.numbers), len(self)):
            self._begin(np.zeros(len(self)))
            picked = "new tree"
        else:
            self._frames += 1
            restless = kept_pairs.mark_restless(self._rows, self._space.address, self._boxes, self._restless)
            if restless > self._most_restless():
                self._list_anew(self._speeds())
                picked, restless = "new list" if self._reaches.any() else "new tree", 0
        now, tested = kept_pairs.listed_overlaps(
            self._ids, self._rows, self._margin, self._starts, self._others, self._restless
        )
        if restless:
            others, more = self._pairs_of_restless()
            now = kept_pairs.merged(now, others)
            tested += more
        self._statistics = KeptTreeStatistics(tested, len(now), picked, len(self._others), restless)
        return change_to(edit.keys, now)

    @default_float_errors
    def _begin(self, speeds: Floats) -> None:
        """New coordinates, and with them a new tree of the fixed objects."""
        if len(self):
            low, high = self._rows[:, :3].min(axis=0), self._rows[:, 3:].max(axis=0)
            half = float((0.5 * high - 0.5 * low).max()) + self._margin
            scale = math.ldexp(1.0, max(-math.frexp(half)[1], -1000)) if half > _TINY else 1.0
            self._space = TreeSpace(origin=0.5 * low + 0.5 * high, scale=scale, margin=self._margin)
        boxes, _ = kept_pairs.enlarged(self._rows, np.zeros(len(self)), self._space.address)
        self._trees = [PackedTree(), packed_tree(self._rows, boxes, np.flatnonzero(self._fixed))]
        self._list_anew(speeds)

    def _most_restless(self) -> int:
        return max(_FEW, len(self) // _FEW_IN)

    def _speeds(self) -> Floats:
        speeds: Floats = kept_pairs.speeds_since(
            self._rows, self._space.address, self._boxes, self._reaches, self._frames
        )
        return speeds

    def _list_anew(self, speeds: Floats) -> None:
        self._boxes, self._reaches = kept_pairs.enlarged(self._rows, speeds, self._space.address)
        if np.count_nonzero((speeds > 0.0) & (self._reaches == 0.0)) > self._most_restless():  # it would not last
            self._boxes, self._reaches = kept_pairs.enlarged(self._rows, np.zeros(len(self)), self._space.address)
        if self._frames and len(self) and not _fits(self._boxes):
            self._frames = 0
            self._begin(speeds)
            return
        moving = packed_tree(self._rows, self._boxes, np.flatnonzero(~self._fixed))
        self._trees[0] = moving
        keys, found = overlaps_within(moving.address)
        if self._fixed_count:
            keys, found = overlaps_between(moving.address, self._trees[1].address, keys, found)
        self._starts, self._others = kept_pairs.list_of_pairs(keys, found, len(self))
        self._restless = np.zeros(len(self), dtype=np.bool_)
        self._frames = 0

    def _pairs_of_restless(self) -> tuple[Keys, int]:
        some = np.flatnonzero(self._restless)
        touched, tested = self._touched_by(self._rows[some])
        one, other = self._ids[some[touched >> 32]], self._ids[touched & (2**32 - 1)]
        keys = np.minimum(one, other) << 32 | np.maximum(one, other)
        among, more = all_overlaps(self._ids[some], self._rows[some], self._fixed[some], self._margin, len(some))
        return np.sort(np.concatenate([keys, among])), tested + more

    def _touched_by(self, queries: Floats) -> tuple[Keys, int]:
        """Keys (number of a query box, number of an object that is not restless), and how many were compared."""
        keys, found, tested = np.empty(64, dtype=np.int64), 0, 0
        for tree in self._trees:
            keys, found, more = touched_by_boxes(
                queries, self._rows, self._space.address, self._restless, tree.address, keys, found
            )
            tested += more
        return keys[:found], tested

    def overlapping(self, box: ArrayLike) -> Ids:
        if not self._is_current:  # the tree does not know all of them yet
            return super().overlapping(box)
        row = as_box_row(box)
        touched, _ = self._touched_by(row[None])
        some = np.flatnonzero(self._restless)
        near = some[overlap_one(self._rows[some], row, self._margin)]
        found: Ids = self._ids[np.sort(np.concatenate([touched, near]))]
        return found

    @default_float_errors
    def along_ray(self, origin: ArrayLike, direction: ArrayLike, length: float = math.inf) -> Ids:
        if not self._is_current:
            return super().along_ray(origin, direction, length)
        ray = as_ray(origin, direction, length)
        start = (ray.start - self._space.origin) * self._space.scale
        end = ray.latest * self._space.scale
        parts = [near_ray(start, ray.way, end, tree.address) for tree in self._trees]
        numbers = np.unique(
            np.concatenate([found[:count] for found, count in parts] + [np.flatnonzero(self._restless)])
        )
        found: Ids = self._ids[numbers[touched_by_ray(self._rows[numbers], ray)]]
        return found

    @property
    def statistics(self) -> KeptTreeStatistics:
        return self._statistics


def _fits(boxes: NDArray[np.float32]) -> bool:
    """Whether the coordinates of the tree still suit the crowd."""
    low, high = boxes[:, :3].min(axis=0), boxes[:, 3:].max(axis=0)
    return bool(max(-low.min(), high.max()) < _OUT_OF_SCALE and (high - low).max() * _OUT_OF_SCALE > 1.0)
