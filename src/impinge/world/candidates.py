"""Candidate pairs of a world: those whose bounding boxes overlap and that pass the filters.

Small worlds compare all pairs of boxes in one kernel (``stages.box_stage``), larger ones have a broad phase.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Bools, Floats
from impinge.broadphase.broad_phase import BroadPhase
from impinge.broadphase.choice import broad_phase
from impinge.broadphase.pair_keys import as_keys
from impinge.geometry.float_errors import default_float_errors
from impinge.kernels.interruptible import stop_if_abandoned
from impinge.world.filters import Filters
from impinge.world.objects import Objects
from impinge.world.pair_cache import FEWEST, PairCache
from impinge.world.stages.box_stage import BoxStage, compare_boxes, place_boxes
from impinge.world.stages.object_table import ObjectTables

_SMALL = 256
"""Objects up to which ``auto`` has no broad phase."""
_MOST_UNUSED_IDS = 1 << 16
"""Ids of the broad phase are never used again.  It is made anew when so many are no longer in use."""


class Reach:
    """Which pairs are tested, and how far apart they may be."""

    @default_float_errors
    def __init__(self, objects: Objects, filters: Filters, clearance: float, of_filters: bool) -> None:
        """``of_filters`` says whether clearances of filters count."""
        # Not the objects themselves: a query that is never asked again would keep bodies that came later alive.
        self._ids, self._groups, self._filters = objects.ids, objects.groups, filters
        self._of_filters = of_filters
        self.clearance = clearance
        """Of pairs without a filter."""
        ids, groups = objects.ids, objects.groups
        self.takes_part: Bools = ~filters.left_out(ids, groups)
        largest = np.full(len(ids), clearance)
        if of_filters:
            largest = filters.largest_clearances(ids, groups, clearance)
        self.everywhere = bool(np.isinf(largest).any())
        """Whether all pairs are tested; then all objects have this clearance."""
        self.grow_by = _half(largest)
        """Of each object: half of the largest clearance that it may have."""

    def of_pairs(self, pairs: NDArray[np.int64]) -> tuple[Bools, Floats]:
        """Which of some pairs (numbers of objects) are tested, and their clearances."""
        tested, clearances = self._filters.apply(self._ids, self._groups, pairs, self.clearance)
        return tested, clearances if self._of_filters else np.full(len(pairs), self.clearance)

    def box_stage(self) -> BoxStage:
        """What compares all pairs of boxes."""
        count = len(self._ids)
        stage = BoxStage(takes_part=self.takes_part, grow_by=self.grow_by, clearance=self.clearance)
        if len(self._filters):
            first, second = np.triu_indices(count, k=1)
            tested, clearances = self.of_pairs(np.column_stack([first, second]))
            left_out = np.zeros((count, count), dtype=np.bool_)
            left_out[first, second] = ~tested
            table = np.zeros((count, count))
            table[first, second] = clearances
            stage.left_out, stage.clearances = left_out.reshape(-1), table.reshape(-1)
        return stage


class Candidates:
    """The boxes of a world, and the pairs of them that overlap."""

    def __init__(self, name: str, objects: ObjectTables, pairs: PairCache) -> None:
        self._name = name
        self._tables = objects
        self._pairs = pairs
        self.pair_count = 0
        """Pairs of boxes that overlap, filters or not."""
        self._begin()

    def _begin(self) -> None:
        self._broad: BroadPhase | None = None
        self._broad_ids: dict[int, int] = {}
        self._grown_by: dict[int, float] = {}

    def renew(self, objects: Objects, reach: Reach) -> None:
        """Objects or filters have changed.  The objects are in the table already."""
        self._reach = reach
        self._place(-1)
        self._stage: BoxStage | None = None
        self._pairs.fewest = FEWEST
        if reach.everywhere or (self._name == "auto" and len(objects) <= _SMALL):
            self._begin()
            self._stage = reach.box_stage()
            self._pairs.fewest = max(FEWEST, len(objects))
            if reach.everywhere:
                self._pairs.make_room(len(objects) * (len(objects) - 1) // 2)
        else:
            self._renew_broad_phase(objects, np.flatnonzero(reach.takes_part))

    def _place(self, since: int) -> int:
        """Boxes of what has moved since then; how many there are."""
        table = self._tables.table
        table.since = since
        return int(place_boxes(table.address, 0, 0))

    def _renew_broad_phase(self, objects: Objects, numbers: NDArray[np.intp]) -> None:
        ids = objects.ids[numbers].tolist()
        grown_by = dict(zip(ids, self._reach.grow_by[numbers].tolist(), strict=True))
        unused = max(self._broad_ids.values(), default=0) - len(self._broad_ids)
        known = self._broad_ids.keys() & grown_by.keys()
        if unused > _MOST_UNUSED_IDS or any(self._grown_by[i] != grown_by[i] for i in known):
            self._begin()
        broad = self._broad = self._broad or broad_phase(self._name)
        self._grown_by = grown_by
        if gone := self._broad_ids.keys() - grown_by.keys():
            broad.remove([self._broad_ids.pop(i) for i in sorted(gone)])
        new = np.array([i not in self._broad_ids for i in ids], dtype=np.bool_)
        for fixed in (False, True):
            added = numbers[new & (objects.fixed[numbers] == fixed)]
            broad_ids = np.atleast_1d(broad.add(self._grown(added), fixed=fixed))
            self._broad_ids.update(zip(objects.ids[added].tolist(), broad_ids.tolist(), strict=True))
        self._broad_id_of = np.full(len(objects), -1)
        self._broad_id_of[numbers] = [self._broad_ids[i] for i in ids]
        self._number_of = np.full(max(self._broad_ids.values(), default=-1) + 1, -1)
        self._number_of[self._broad_id_of[numbers]] = numbers
        self._in_order = bool((np.diff(self._broad_id_of[numbers]) > 0).all())
        self._movable = int(np.count_nonzero(~objects.fixed[numbers]))
        self._note_moved(numbers[~objects.fixed[numbers]])

    def _grown(self, numbers: NDArray[np.intp]) -> Floats:
        boxes, grow_by = self._tables.posed[numbers], self._reach.grow_by[numbers, None]
        return np.stack([boxes["low"] - grow_by, boxes["high"] + grow_by], axis=1)

    def move(self, objects: Objects, since: int) -> int:
        """New boxes of objects that moved since then; how many there are."""
        moved = self._place(since)
        if self._stage is None:
            numbers = np.flatnonzero(objects.moved > since)
            self._note_moved(numbers[self._reach.takes_part[numbers] & ~objects.fixed[numbers]])
        return moved

    def _note_moved(self, moved: NDArray[np.intp]) -> None:
        """The broad phase takes boxes in the order of its own ids."""
        self._moved = moved if self._in_order else moved[np.argsort(self._broad_id_of[moved])]

    def find(self, objects: Objects, filters: Filters) -> None:
        """Put all pairs whose grown boxes overlap, and that pass the filters, into the pair cache."""
        if self._stage is not None:
            self.pair_count = compare_all(self._tables, self._pairs, self._stage)
            return
        assert self._broad is not None
        everything = len(self._moved) == self._movable
        self._broad.update(self._grown(self._moved), None if everything else self._broad_id_of[self._moved])
        pairs = self._number_of[self._broad.pairs]
        self.pair_count = len(pairs)
        if not self._in_order:
            pairs = np.sort(pairs, axis=1)
            pairs = pairs[np.argsort(as_keys(pairs))]
        clearances = np.full(len(pairs), self._reach.clearance)
        if len(filters):
            tested, clearances = self._reach.of_pairs(pairs)
            pairs, clearances = pairs[tested], clearances[tested]
        self._pairs.put(as_keys(objects.ids[pairs]), pairs, clearances)


def compare_all(objects: ObjectTables, pairs: PairCache, stage: BoxStage) -> int:
    """Compare all pairs of boxes; how many overlap."""
    count, table = len(objects.posed), pairs.table
    stage.row = 0
    while compare_boxes(objects.table.address, table.address, stage.address) < count:
        stop_if_abandoned()
        pairs.make_room(table.count + count - stage.row)
    return int(stage.box_pairs)


def _half(clearances: Floats) -> Floats:
    """At least half of each."""
    half: Floats = 0.5 * clearances
    return np.where(half + half < clearances, np.nextafter(half, np.inf), half)
