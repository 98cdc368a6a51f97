"""Candidate pairs of a world, by its broad phase over the bounding boxes of all objects.

A pair within a clearance c has boxes with a gap of at most c along each axis.  Each box is grown by half of the
largest clearance that its object may have, so the two grown boxes of such a pair overlap; rounding is monotonic and
halves are never rounded down (those of odd subnormal numbers are rounded up, all others are exact), so this holds for
the numbers that are compared.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Bools, Floats
from impinge.broadphase.body_boxes.body_boxes import BodyBoxes
from impinge.broadphase.broad_phase import BroadPhase
from impinge.broadphase.choice import broad_phase
from impinge.broadphase.pair_keys import Keys, as_keys
from impinge.world.objects import Objects

_MOST_UNUSED_IDS = 1 << 16
"""Ids of the broad phase are never used again.  It is made anew when so many are no longer in use."""


class Candidates:
    """The broad phase of a world.  Pairs are known by the ids of the world."""

    def __init__(self, name: str, boxes: str) -> None:
        self._name = name
        self._kind = boxes
        self.tight: Floats = np.empty((0, 2, 3))
        """(n, 2, 3) the boxes of all objects that take part, by the numbers of objects."""
        self._all_pairs: Keys | None = None
        self._pair_count = 0
        self._begin()

    def _begin(self) -> None:
        self._broad: BroadPhase = broad_phase(self._name)
        self._broad_ids: dict[int, int] = {}
        self._reach: dict[int, float] = {}

    @property
    def pair_count(self) -> int:
        """Of the last call of ``pairs``."""
        return self._pair_count

    def renew(self, objects: Objects, takes_part: Bools, clearances: Floats) -> None:
        """Objects or filters have changed; ``clearances`` are the largest that each object may have.

        Boxes are those of the poses now, whichever have moved.
        """
        numbers = np.flatnonzero(takes_part)
        self._body_boxes = BodyBoxes([objects.shapes[i].body for i in numbers.tolist()], kind=self._kind)
        self.tight = np.zeros((len(objects), 2, 3))
        self.tight[numbers] = self._body_boxes.boxes(objects.poses[numbers])
        self._place = np.full(len(objects), -1)
        self._place[numbers] = np.arange(len(numbers))
        self._all_pairs = None
        if np.isinf(clearances).any():  # then all objects have this one
            self._begin()
            self._all_pairs = _all_pairs(objects.ids[numbers], objects.fixed[numbers])
            return
        ids = objects.ids[numbers].tolist()
        reach = dict(zip(ids, _half(clearances[numbers]).tolist(), strict=True))
        unused = max(self._broad_ids.values(), default=0) - len(self._broad_ids)
        if unused > _MOST_UNUSED_IDS or any(self._reach[i] != reach[i] for i in self._broad_ids.keys() & reach.keys()):
            self._begin()
        self._reach = reach
        if gone := self._broad_ids.keys() - reach.keys():
            self._broad.remove([self._broad_ids.pop(i) for i in sorted(gone)])
        self._grow_by = np.zeros(len(objects))
        self._grow_by[numbers] = list(reach.values())
        new = np.array([i not in self._broad_ids for i in ids], dtype=np.bool_)
        for fixed in (False, True):
            added = numbers[new & (objects.fixed[numbers] == fixed)]
            broad_ids = np.atleast_1d(self._broad.add(self._grown(added), fixed=fixed))
            self._broad_ids.update(zip(objects.ids[added].tolist(), broad_ids.tolist(), strict=True))
        self._broad_id_of = np.full(len(objects), -1)
        self._broad_id_of[numbers] = [self._broad_ids[i] for i in ids]
        self._world_id_of = np.full(max(self._broad_ids.values(), default=-1) + 1, -1)
        self._world_id_of[self._broad_id_of[numbers]] = ids
        self._in_order = bool((np.diff(self._broad_id_of[numbers]) > 0).all())
        self._movable = int(np.count_nonzero(~objects.fixed[numbers]))
        self._note_moved(numbers[~objects.fixed[numbers]])

    def _grown(self, numbers: NDArray[np.intp]) -> Floats:
        boxes = self.tight[numbers]
        boxes[:, 0] -= self._grow_by[numbers, None]
        boxes[:, 1] += self._grow_by[numbers, None]
        return boxes

    def move(self, objects: Objects, moved: NDArray[np.intp]) -> None:
        """New boxes of objects (numbers, ascending) that moved."""
        moved = moved[(self._place[moved] >= 0) & ~objects.fixed[moved]]
        self.tight[moved] = self._body_boxes.boxes(objects.poses[moved], which=self._place[moved])
        if self._all_pairs is None:
            self._note_moved(moved)

    def _note_moved(self, moved: NDArray[np.intp]) -> None:
        """The broad phase takes boxes in the order of its own ids."""
        self._moved = moved if self._in_order else moved[np.argsort(self._broad_id_of[moved])]

    def pairs(self) -> Keys:
        """All pairs whose grown boxes overlap, sorted."""
        if self._all_pairs is not None:
            self._pair_count = len(self._all_pairs)
            return self._all_pairs
        everything = len(self._moved) == self._movable
        self._broad.update(self._grown(self._moved), None if everything else self._broad_id_of[self._moved])
        pairs = self._world_id_of[self._broad.pairs]
        self._pair_count = len(pairs)
        if self._in_order:
            return as_keys(pairs)
        return np.sort(as_keys(np.sort(pairs, axis=1)))


def _half(clearances: Floats) -> Floats:
    """At least half of each."""
    half: Floats = 0.5 * clearances
    return np.where(half + half < clearances, np.nextafter(half, np.inf), half)


def _all_pairs(ids: NDArray[np.int64], fixed: Bools) -> Keys:
    """All pairs of ids, ascending, but those of two that are fixed."""
    first, second = np.triu_indices(len(ids), k=1)
    tested = ~(fixed[first] & fixed[second])
    return as_keys(np.column_stack([ids[first], ids[second]])[tested])
