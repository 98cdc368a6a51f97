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

from impinge.broadphase.boxes import HIGH, LOW, Objects, objects_at, overlap
from impinge.broadphase.broad_phase import BroadPhase, Edit, Statistics
from impinge.broadphase.pair_keys import (
    Keys,
    PairChange,
    as_pairs,
    change_by,
    first_keys,
    new_keys,
    pair_key,
)
from impinge.broadphase.pair_set import (
    ABSENT,
    delete,
    edit_pairs,
    empty_pair_set,
    insert,
    make_room_for_pairs,
    pairs_at,
    place_in,
)
from impinge.kernels.jit import inlined, inner, kernel
from impinge.kernels.record import Record, float64, int32, int64

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


class Sorting(Record):
    """The lists that are sorted, how far that has come, and what the exchanges say."""

    ends = int32[:]
    """Three lists, one after the other."""
    axis = int64
    """Whose list is being sorted,"""
    place = int64
    """and up to where it is already."""
    values = float64[:]
    """Where the ends of this list are."""
    began = int64[:]
    """Pairs that went into the set: this list and the next one have room to spare."""
    began_count = int64
    ended = int64[:]
    """Pairs that went out of it."""
    ended_count = int64
    exchanges = int64
    tested = int64


sorting_at = Sorting.at


@inlined
def has_room_for(pairs, sorting, more):
    """Whether so many pairs may begin to overlap, or cease."""
    return (
        pairs.size + more <= pairs.n_keys
        and sorting.began_count + more <= sorting.n_began
        and sorting.ended_count + more <= sorting.n_ended
    )


@inner
def note_exchange(end, passed, objects, pairs, sorting):
    """An end moved before another one of another kind: the pair may begin to overlap, or it has ceased to."""
    a, b = end >> 1, passed >> 1
    if end & 1:
        known = place_in(pairs, pair_key(objects.ids, a, b))
        if known != ABSENT:
            sorting.ended[sorting.ended_count] = pairs.keys[known]
            sorting.ended_count += 1
            delete(pairs, known)
        return
    sorting.tested += 1
    if overlap(objects.rows, a, b, objects.margin):
        key = pair_key(objects.ids, a, b)
        if place_in(pairs, key) == ABSENT:
            insert(pairs, key)
            sorting.began[sorting.began_count] = key
            sorting.began_count += 1


@inner
def sort_list(first, count, objects, pairs, sorting):
    """Sort a list, whose ends stand from ``first`` on, and note what the exchanges say.

    Stops before an end for which there may not be enough room; whether it came to the last one.
    """
    ends, values = sorting.ends, sorting.values
    for i in range(sorting.place, count):
        end, value = ends[first + i], values[i]
        place = i
        while place > 0 and precedes(end, value, ends[first + place - 1], values[place - 1], objects.margin):
            place -= 1
        if place == i:
            continue
        if not has_room_for(pairs, sorting, i - place):
            sorting.place = i
            return False
        for k in range(i, place, -1):
            passed = ends[first + k - 1]
            ends[first + k], values[k] = passed, values[k - 1]
            if end & 1 != passed & 1:
                note_exchange(end, passed, objects, pairs, sorting)
        ends[first + place], values[place] = end, value
        sorting.exchanges += i - place
    return True


@kernel
def sort_lists(objects, pairs, sorting):
    """Sort the lists for the boxes as they are now; take pairs out of the set and put others in.

    Returns how many of them are sorted.  If not all three are, there was no room: called again, it goes on from there.
    """
    objects, pairs, sorting = objects_at(objects), pairs_at(pairs), sorting_at(sorting)
    count = sorting.n_ends // 3
    while sorting.axis < 3:
        first = sorting.axis * count
        for i in range(count):
            sorting.values[i] = value_of(objects.rows, sorting.axis, sorting.ends[first + i])
        if not sort_list(first, count, objects, pairs, sorting):
            break
        sorting.axis += 1
        sorting.place = 1
    return sorting.axis


@inner
def merge_ends(one, other, objects, axis, merged):
    """Two sorted lists of ends become one."""
    rows, margin = objects.rows, objects.margin
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
def count_candidates(line, kept, objects):
    """How many pairs of interest overlap along one axis."""
    total = 0
    open_count = np.zeros(4, dtype=np.int64)
    for end in line:
        mine = class_of(end >> 1, kept, objects.fixed)
        if end & 1:
            open_count[mine] -= 1
            continue
        for other in range(4):
            if mine & other == 0:
                total += open_count[other]
        open_count[mine] += 1
    return total


@inner
def sweep(line, kept, objects, keys):
    """How many pairs with a new object overlap; the keys of the first ones, as many as there is room for."""
    count = objects.n_ids
    found = 0
    open_objects = np.empty((4, count), dtype=np.int32)
    open_count = np.zeros(4, dtype=np.int64)
    place = integer_list(count)  # in the row of its class
    for end in line:
        i = end >> 1
        mine = class_of(i, kept, objects.fixed)
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
                if overlap(objects.rows, i, j, objects.margin):
                    if found < len(keys):
                        keys[found] = pair_key(objects.ids, i, j)
                    found += 1
        place[i] = open_count[mine]
        open_objects[mine, place[i]] = i
        open_count[mine] += 1
    return found


@kernel("int64, int64, int32[:, ::1], int32[:, ::1], int32[:, ::1], int64, int32[:, ::1]")
def merge_new(objects, sorting, ends, lows, highs, kept, merged):
    """Merge the sorted ends of new objects (those from ``kept`` on) into the lists, and find their pairs.

    One sweep along the axis with the fewest candidates.
    """
    objects, sorting = objects_at(objects), sorting_at(sorting)
    count = objects.n_ids
    new = integer_list(2 * (count - kept))
    best, fewest = 0, -1
    for axis in range(3):
        merge_ends(lows[axis], highs[axis], objects, axis, new)
        merge_ends(ends[axis], new, objects, axis, merged[axis])
        candidates = count_candidates(merged[axis], kept, objects)
        if fewest < 0 or candidates < fewest:
            best, fewest = axis, candidates
    sorting.tested += fewest
    began = new_keys(min(fewest, 8 * count))
    found = sweep(merged[best], kept, objects, began)
    if found > len(began):
        began = new_keys(found)
        sweep(merged[best], kept, objects, began)
    return first_keys(began, found)


@dataclass(frozen=True)
class SweepStatistics(Statistics):
    """What the last update of sweep and prune took."""

    exchanges: int
    """How often two neighbours in a list changed places."""


class SweepAndPrune(BroadPhase):
    """Sorted lists of the ends of all boxes: quick where objects move little and do not lie in one layer."""

    def _forget(self) -> None:
        self._ends: NDArray[np.int32] = np.empty((3, 0), dtype=np.int32)
        self._pair_set = empty_pair_set()
        self._sorting = Sorting()
        self._objects = Objects()

    def _advance(self, edit: Edit) -> PairChange:
        lost = self._remove_ends(edit) if edit.removed_some else np.empty(0, dtype=np.int64)
        if self._objects.rows is not self._rows:
            self._objects = Objects(ids=self._ids, rows=self._rows, fixed=self._fixed, margin=self._margin)
        began, ended = self._sort()
        if edit.kept < len(self):
            new = self._merge_new(edit.kept)
            edit_pairs(self._pair_set, np.empty(0, dtype=np.int64), new)
            began = np.concatenate([began, new])
        return change_by(edit.keys, began, np.concatenate([lost, ended]))

    def _sort(self) -> tuple[Keys, Keys]:
        """Pairs that began and ceased to overlap."""
        sorting, count = self._sorting, self._ends.shape[1]
        sorting.axis, sorting.place = 0, 1
        sorting.began_count = sorting.ended_count = sorting.exchanges = sorting.tested = 0
        if len(sorting.values) != count:
            sorting.values = np.empty(count)
            sorting.began, sorting.ended = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
        sorting.ends = self._ends.reshape(-1)
        while sort_lists(self._objects.address, self._pair_set.address, sorting.address) < 3:
            # No end makes more exchanges than there are ends.
            make_room_for_pairs(self._pair_set, count)
            sorting.began = _longer(sorting.began[: sorting.began_count], count)
            sorting.ended = _longer(sorting.ended[: sorting.ended_count], count)
        return sorting.began[: sorting.began_count], sorting.ended[: sorting.ended_count]

    def _remove_ends(self, edit: Edit) -> Keys:
        """Take objects that were removed out of the lists; returns the pairs that went with them."""
        numbers = edit.numbers[self._ends >> 1]
        renamed = (2 * numbers + (self._ends & 1)).astype(np.int32)
        self._ends = renamed[numbers >= 0].reshape(3, -1)
        removed = edit.ids[edit.numbers < 0]
        lost: Keys = edit.keys[np.isin(as_pairs(edit.keys), removed).any(axis=1)]
        edit_pairs(self._pair_set, lost, np.empty(0, dtype=np.int64))
        return lost

    def _merge_new(self, kept: int) -> Keys:
        """Put new objects into the lists; returns their pairs."""
        order = kept + np.argsort(self._rows[kept:].T, axis=1, kind="stable").astype(np.int32)
        lows, highs = 2 * order[LOW : LOW + 3], 2 * order[HIGH : HIGH + 3] + 1
        merged = np.empty((3, 2 * len(self)), dtype=np.int32)
        began: Keys = merge_new(self._objects.address, self._sorting.address, self._ends, lows, highs, kept, merged)
        self._ends = merged
        return began

    @property
    def statistics(self) -> SweepStatistics:
        return SweepStatistics(int(self._sorting.tested), len(self._last.keys), int(self._sorting.exchanges))


def _longer(keys: Keys, more: int) -> Keys:
    """The keys, and room for so many more, and for as many again."""
    longer = np.empty(2 * (len(keys) + more), dtype=np.int64)
    longer[: len(keys)] = keys
    return longer
