"""Sweep and prune: the ends of all boxes, sorted along each axis, and kept from update to update.

Cohen, Lin, Manocha and Ponamgi (1995), "I-COLLIDE"; here after [Lin1996] section 3 and [Ponamgi1995] section 3.1.  Two
boxes overlap if their intervals do on all three axes.  Each axis has a list of the low and the high ends of all
intervals.  Objects move little between updates, so the lists are nearly sorted, and insertion sort takes time
in proportion to the exchanges.  An exchange of a low and a high end is where two intervals begin or cease to overlap.

Which order
-----------
The interval of b begins before that of a ends if ``low_b - high_a <= margin``, rounded: the truth of all broad phases.
So a low end stands before a high end if that holds, and after it if not; low ends stand in the order of their numbers,
and so do high ends.  A rounded difference is monotone in both numbers; therefore what stands before ``high_a`` is a
prefix of the low ends, and a longer one for a larger ``high_a``.  Hence this is an order (transitive), and the
intervals of a and b overlap exactly if each one's low end stands before the other's high end.

Why exchanges tell everything
-----------------------------
Insertion sort exchanges two ends at most once, when their order has changed.  Where a low end moved before a high
end, the boxes as they are now are compared; where it moved behind, the pair certainly does not overlap any more.  A pair
that begins to overlap does the first on some axis and the second on none; one that ceases does the second.
So each such pair enters or leaves the set of pairs exactly once, and no other one does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from impinge.broadphase.boxes import HIGH, LOW, overlap
from impinge.broadphase.broad_phase import BroadPhase, Edit, Statistics
from impinge.broadphase.pair_keys import (
    Keys,
    PairChange,
    as_pairs,
    change_by,
    first_keys,
    new_keys,
    pair_key,
    with_room,
)
from impinge.broadphase.pair_set import ABSENT, PairSet, delete, empty_pair_set, insert, place_in, roomy
from impinge.jit import inlined, inner, kernel

# An end of the interval of object i is the number 2 i (low) or 2 i + 1 (high).


@inlined
def value_of(rows, axis, end):
    return rows[end >> 1, axis + 3 * (end & 1)]


@inlined
def precedes(end, value, other, other_value, margin):
    """Whether an end stands before another one, see above."""
    if end & 1 == other & 1:
        return value < other_value
    if end & 1:
        return not other_value - value <= margin
    return value - other_value <= margin


@inner
def integer_list(count):
    return np.empty(count, dtype=np.int32)


@kernel
def sort_lists(ends, ids, rows, margin, pairs, lost):
    """Sort the lists for the boxes as they are now; take pairs out of the set and put others in.

    ``lost`` are pairs of objects that were removed.  Returns the set, what went in and out, and the numbers of
    exchanges and of tests.
    """
    began, ended = new_keys(8), new_keys(8)
    began_count, ended_count = 0, 0
    exchanges, tested = 0, 0
    for key in lost:
        delete(pairs, place_in(pairs, key))
    values = np.empty(ends.shape[1])
    for axis in range(3):
        line = ends[axis]
        for i in range(len(line)):
            values[i] = value_of(rows, axis, line[i])
        for i in range(1, len(line)):
            end, value = line[i], values[i]
            place = i
            while place > 0 and precedes(end, value, line[place - 1], values[place - 1], margin):
                passed = line[place - 1]
                line[place], values[place] = passed, values[place - 1]
                place -= 1
                if end & 1 == passed & 1:
                    continue
                a, b = end >> 1, passed >> 1
                if end & 1:
                    known = place_in(pairs, pair_key(ids, a, b))
                    if known != ABSENT:
                        ended = with_room(ended, ended_count)
                        ended[ended_count] = pairs.keys[known]
                        ended_count += 1
                        delete(pairs, known)
                else:
                    tested += 1
                    if overlap(rows, a, b, margin):
                        key = pair_key(ids, a, b)
                        if place_in(pairs, key) == ABSENT:
                            pairs = roomy(pairs)
                            insert(pairs, key)
                            began = with_room(began, began_count)
                            began[began_count] = key
                            began_count += 1
            line[place], values[place] = end, value
            exchanges += i - place
    return pairs, first_keys(began, began_count), first_keys(ended, ended_count), exchanges, tested


@inner
def merge_ends(one, other, rows, axis, margin, merged):
    """Two sorted lists of ends become one."""
    i, j = 0, 0
    while i < len(one) or j < len(other):
        if j == len(other):
            first = True
        elif i == len(one):
            first = False
        else:
            first = not precedes(other[j], value_of(rows, axis, other[j]), one[i], value_of(rows, axis, one[i]), margin)
        if first:
            merged[i + j] = one[i]
            i += 1
        else:
            merged[i + j] = other[j]
            j += 1


# The class of an object: 2 if it was there before, plus 1 if it is fixed.  Two objects with a common bit make no new pair.


@inlined
def class_of(i, kept, fixed):
    return (2 if i < kept else 0) | (1 if fixed[i] else 0)


@inner
def count_candidates(line, kept, fixed):
    """How many pairs of interest overlap along one axis."""
    total = 0
    open_count = np.zeros(4, dtype=np.int64)
    for end in line:
        mine = class_of(end >> 1, kept, fixed)
        if end & 1:
            open_count[mine] -= 1
            continue
        for other in range(4):
            if mine & other == 0:
                total += open_count[other]
        open_count[mine] += 1
    return total


@kernel
def merge_new(ends, lows, highs, kept, ids, rows, fixed, margin, pairs):
    """Merge the sorted ends of new objects (those from ``kept`` on) into the lists, and find their pairs.

    One sweep along the axis with the fewest candidates.  Returns the new lists, the set, what went in, the number of
    tests.
    """
    count = len(ids)
    merged = np.empty((3, 2 * count), dtype=np.int32)
    new = integer_list(2 * (count - kept))
    best, fewest = 0, -1
    for axis in range(3):
        merge_ends(lows[axis], highs[axis], rows, axis, margin, new)
        merge_ends(ends[axis], new, rows, axis, margin, merged[axis])
        candidates = count_candidates(merged[axis], kept, fixed)
        if fewest < 0 or candidates < fewest:
            best, fewest = axis, candidates
    began = new_keys(8)
    began_count = 0
    open_objects = np.empty((4, count), dtype=np.int32)
    open_count = np.zeros(4, dtype=np.int64)
    place = integer_list(count)  # in the row of its class
    for end in merged[best]:
        i = end >> 1
        mine = class_of(i, kept, fixed)
        if end & 1:
            open_count[mine] -= 1
            last = open_objects[mine, open_count[mine]]
            open_objects[mine, place[i]] = last
            place[last] = place[i]
            continue
        for other in range(4):
            if mine & other != 0:
                continue
            for k in range(open_count[other]):
                j = open_objects[other, k]
                if overlap(rows, i, j, margin):
                    key = pair_key(ids, i, j)
                    pairs = roomy(pairs)
                    insert(pairs, key)
                    began = with_room(began, began_count)
                    began[began_count] = key
                    began_count += 1
        place[i] = open_count[mine]
        open_objects[mine, place[i]] = i
        open_count[mine] += 1
    return merged, pairs, first_keys(began, began_count), fewest


@dataclass(frozen=True)
class SweepStatistics(Statistics):
    """What the last update of sweep and prune took."""

    exchanges: int
    """How often two neighbours in a list changed places."""


class SweepAndPrune(BroadPhase):
    """Sorted lists of the ends of all boxes: quick where objects move little and do not lie in one layer."""

    def __init__(self, *, margin: float = 0.0) -> None:
        super().__init__(margin=margin)
        self._ends: NDArray[np.int32] = np.empty((3, 0), dtype=np.int32)
        self._pair_set: PairSet = empty_pair_set()
        self._tested = 0
        self._exchanges = 0

    def _advance(self, edit: Edit) -> PairChange:
        lost = self._remove_ends(edit) if edit.removed_some else np.empty(0, dtype=np.int64)
        self._pair_set, began, ended, self._exchanges, self._tested = sort_lists(
            self._ends, self._ids, self._rows, self._margin, self._pair_set, lost
        )
        if edit.kept < len(self):
            began = np.concatenate([began, self._merge_new(edit.kept)])
        return change_by(self._keys, began, np.concatenate([lost, ended]))

    def _remove_ends(self, edit: Edit) -> Keys:
        """Take objects that were removed out of the lists; returns the pairs that went with them."""
        numbers = edit.numbers[self._ends >> 1]
        renamed = (2 * numbers + (self._ends & 1)).astype(np.int32)
        self._ends = renamed[numbers >= 0].reshape(3, -1)
        removed = self._last_ids[edit.numbers < 0]
        return self._keys[np.isin(as_pairs(self._keys), removed).any(axis=1)]

    def _merge_new(self, kept: int) -> Keys:
        order = kept + np.argsort(self._rows[kept:].T, axis=1, kind="stable").astype(np.int32)
        lows, highs = 2 * order[LOW : LOW + 3], 2 * order[HIGH : HIGH + 3] + 1
        self._ends, self._pair_set, began, tested = merge_new(
            self._ends, lows, highs, kept, self._ids, self._rows, self._fixed, self._margin, self._pair_set
        )
        self._tested += tested
        return began  # type: ignore[no-any-return]

    @property
    def statistics(self) -> SweepStatistics:
        return SweepStatistics(self._tested, len(self._keys), self._exchanges)
