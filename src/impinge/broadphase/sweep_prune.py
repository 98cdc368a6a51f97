# mypy: allow-untyped-defs, allow-incomplete-defs
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
end, the boxes as they are now are compared; where it moved behind, the pair certainly does not overlap any more.  A
pair that begins to overlap does the first on some axis and the second on none; one that ceases does the second.
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
    longer_keys,
    new_keys,
    pair_key,
)
from impinge.broadphase.pair_set import (
    ABSENT,
    PairSet,
    delete,
    empty_pair_set,
    insert,
    parts_of_pairs,
    place_in,
    with_room_for_pairs,
)
from impinge.kernels.jit import inlined, inner, kernel

# An end of the interval of object i is the number 2 i (low) or 2 i + 1 (high).


@inlined
def value_of(rows, axis, end):
    return rows[end >> 1, axis + 3 * (end & 1)]


@inlined
def precedes(end, value, other, other_value, margin):
    """Whether an end stands before another one, see above.

    Without jumps: which kinds of ends meet cannot be foreseen.
    """
    high, other_high = end & 1 == 1, other & 1 == 1
    low_before_high = value - other_value <= margin
    high_before_low = not other_value - value <= margin
    between_kinds = (high & high_before_low) | (other_high & low_before_high)
    return ((high == other_high) & (value < other_value)) | ((high != other_high) & between_kinds)


@inner
def integer_list(count):
    return np.empty(count, dtype=np.int32)


BEGAN, ENDED, EXCHANGES, TESTED = range(4)


@inner
def sort_from(start, line, values, ids, rows, margin, pairs, began, ended, tallies):
    """Sort a list from place ``start`` on, and note what the exchanges say.

    Stops before an end for which there may not be enough room, and returns its place, or the length of the list.
    """
    keys, slots, size = pairs.keys, pairs.slots, pairs.size
    for i in range(start, len(line)):
        end, value = line[i], values[i]
        place = i
        while place > 0 and precedes(end, value, line[place - 1], values[place - 1], margin):
            place -= 1
        if place == i:
            continue
        most = i - place
        if size[0] + most > len(keys) or tallies[BEGAN] + most > len(began) or tallies[ENDED] + most > len(ended):
            return i
        for k in range(i, place, -1):
            passed = line[k - 1]
            line[k], values[k] = passed, values[k - 1]
            if end & 1 == passed & 1:
                continue
            a, b = end >> 1, passed >> 1
            if end & 1:
                known = place_in(keys, slots, pair_key(ids, a, b))
                if known != ABSENT:
                    ended[tallies[ENDED]] = keys[known]
                    tallies[ENDED] += 1
                    delete(pairs, known)
            else:
                tallies[TESTED] += 1
                if overlap(rows, a, b, margin):
                    key = pair_key(ids, a, b)
                    if place_in(keys, slots, key) == ABSENT:
                        insert(pairs, key)
                        began[tallies[BEGAN]] = key
                        tallies[BEGAN] += 1
        line[place], values[place] = end, value
        tallies[EXCHANGES] += most
    return len(line)


@kernel
def sort_lists(ends, ids, rows, margin, pairs, lost):
    """Sort the lists for the boxes as they are now; take pairs out of the set and put others in.

    ``lost`` are pairs of objects that were removed.  Returns the parts of the set, what went in and out, and the
    numbers of exchanges and of tests.
    """
    for key in lost:
        delete(pairs, place_in(pairs.keys, pairs.slots, key))
    count = ends.shape[1]
    values = np.empty(count)
    began, ended = new_keys(count), new_keys(count)
    tallies = np.zeros(4, dtype=np.int64)
    for axis in range(3):
        line = ends[axis]
        for i in range(count):
            values[i] = value_of(rows, axis, line[i])
        start = sort_from(1, line, values, ids, rows, margin, pairs, began, ended, tallies)
        while start < count:  # there was no room; no end makes more exchanges than there are ends
            pairs = with_room_for_pairs(pairs, count)
            began = longer_keys(began, tallies[BEGAN], count)
            ended = longer_keys(ended, tallies[ENDED], count)
            start = sort_from(start, line, values, ids, rows, margin, pairs, began, ended, tallies)
    began, ended = first_keys(began, tallies[BEGAN]), first_keys(ended, tallies[ENDED])
    return parts_of_pairs(pairs), began, ended, tallies[EXCHANGES], tallies[TESTED]


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


# The class of an object: 2 if it was there before, plus 1 if it is fixed.  Objects with a common bit make no new pair.


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


@inner
def sweep(line, kept, ids, rows, fixed, margin, keys):
    """How many pairs with a new object overlap; the keys of the first ones, as many as there is room for."""
    count = len(ids)
    found = 0
    open_objects = np.empty((4, count), dtype=np.int32)
    open_count = np.zeros(4, dtype=np.int64)
    place = integer_list(count)  # in the row of its class
    for end in line:
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
                    if found < len(keys):
                        keys[found] = pair_key(ids, i, j)
                    found += 1
        place[i] = open_count[mine]
        open_objects[mine, place[i]] = i
        open_count[mine] += 1
    return found


@kernel
def merge_new(ends, lows, highs, kept, ids, rows, fixed, margin, pairs):
    """Merge the sorted ends of new objects (those from ``kept`` on) into the lists, and find their pairs.

    One sweep along the axis with the fewest candidates.  Returns the new lists, the parts of the set, what went in, the
    number of tests.
    """
    merged = np.empty((3, 2 * len(ids)), dtype=np.int32)
    new = integer_list(2 * (len(ids) - kept))
    best, fewest = 0, -1
    for axis in range(3):
        merge_ends(lows[axis], highs[axis], rows, axis, margin, new)
        merge_ends(ends[axis], new, rows, axis, margin, merged[axis])
        candidates = count_candidates(merged[axis], kept, fixed)
        if fewest < 0 or candidates < fewest:
            best, fewest = axis, candidates
    began = new_keys(min(fewest, 8 * len(ids)))
    found = sweep(merged[best], kept, ids, rows, fixed, margin, began)
    if found > len(began):
        began = new_keys(found)
        sweep(merged[best], kept, ids, rows, fixed, margin, began)
    began = first_keys(began, found)
    if pairs.size[0] + found > len(pairs.keys):
        pairs = with_room_for_pairs(pairs, found)
    for key in began:
        insert(pairs, key)
    return merged, parts_of_pairs(pairs), began, fewest


@dataclass(frozen=True)
class SweepStatistics(Statistics):
    """What the last update of sweep and prune took."""

    exchanges: int
    """How often two neighbours in a list changed places."""


class SweepAndPrune(BroadPhase):
    """Sorted lists of the ends of all boxes: quick where objects move little and do not lie in one layer."""

    def _forget(self) -> None:
        self._ends: NDArray[np.int32] = np.empty((3, 0), dtype=np.int32)
        self._pair_set: PairSet = empty_pair_set()
        self._tested = 0
        self._exchanges = 0

    def _advance(self, edit: Edit) -> PairChange:
        lost = self._remove_ends(edit) if edit.removed_some else np.empty(0, dtype=np.int64)
        pairs, began, ended, self._exchanges, self._tested = sort_lists(
            self._ends, self._ids, self._rows, self._margin, self._pair_set, lost
        )
        self._pair_set = PairSet(*pairs)
        if edit.kept < len(self):
            began = np.concatenate([began, self._merge_new(edit.kept)])
        return change_by(edit.keys, began, np.concatenate([lost, ended]))

    def _remove_ends(self, edit: Edit) -> Keys:
        """Take objects that were removed out of the lists; returns the pairs that went with them."""
        numbers = edit.numbers[self._ends >> 1]
        renamed = (2 * numbers + (self._ends & 1)).astype(np.int32)
        self._ends = renamed[numbers >= 0].reshape(3, -1)
        removed = edit.ids[edit.numbers < 0]
        return edit.keys[np.isin(as_pairs(edit.keys), removed).any(axis=1)]

    def _merge_new(self, kept: int) -> Keys:
        order = kept + np.argsort(self._rows[kept:].T, axis=1, kind="stable").astype(np.int32)
        lows, highs = 2 * order[LOW : LOW + 3], 2 * order[HIGH : HIGH + 3] + 1
        self._ends, pairs, began, tested = merge_new(
            self._ends, lows, highs, kept, self._ids, self._rows, self._fixed, self._margin, self._pair_set
        )
        self._pair_set = PairSet(*pairs)
        self._tested += tested
        return began  # type: ignore[no-any-return]

    @property
    def statistics(self) -> SweepStatistics:
        return SweepStatistics(int(self._tested), len(self._last.keys), int(self._exchanges))
