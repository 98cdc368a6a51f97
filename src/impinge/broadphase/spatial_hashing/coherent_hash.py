# mypy: allow-untyped-defs, allow-incomplete-defs
"""Hierarchical spatial hashing that remembers: [Mirtich1997] section 2.2.

A box is stored at its own resolution and at all coarser ones, and stays there as long as it overlaps the same cells.
For each pair of close boxes a counter holds the number of cells in which they meet, at the coarser one of
their resolutions.  Counters are kept for close pairs only, in a hash set, not in an array for all pairs.

In the course of an update two boxes that move together may part and meet again.  So a counter that falls to zero
is examined when all boxes are in place, in the same pass that compares the boxes of all close pairs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from impinge.broadphase.boxes import overlap
from impinge.broadphase.hash_index import enter, leave_all, new_slots
from impinge.broadphase.pair_keys import first_keys, joined, lower, new_keys, pair_key, upper
from impinge.broadphase.pair_set import (
    ABSENT,
    PairSet,
    delete,
    hash_of_pair,
    insert,
    make_room_for_pairs,
    place_in,
)
from impinge.broadphase.spatial_hashing.bucket_table import (
    NOTHING,
    OWNERS,
    VISITORS,
    BucketTable,
    bucket_at,
    bucket_for,
    has_room_for,
    pull,
    push,
    put_room,
)
from impinge.broadphase.spatial_hashing.hash_levels import (
    cells_of,
    grown,
    hashed_objects_at,
    number_of_cells,
    resolution_of,
    size_of,
)
from impinge.kernels.jit import inlined, inner, kernel
from impinge.kernels.record import bool_, int32, int64

NOT_STORED = -1


class CoherentTable(BucketTable):
    """A table that is kept from update to update, and what is known of each box in it."""

    resolution = int32[:]
    """Of each box: NOT_STORED if it is not there yet."""
    first_entry = int32[:]
    """Its entries are chained."""
    cells = int64[:, 6]
    """(n * levels, 6): its first and last cells at each resolution down to its own."""
    levels = int64
    """How many resolutions there are."""

    # One update.
    reached = int64
    """The first box that is not in its cells yet."""
    cells_ahead = int64
    """How many cells it may have to enter,"""
    labels_ahead = int64
    """and how many labels it meets there."""
    entered = int64
    """How many cells were entered."""


class ClosePairs(PairSet):
    """Pairs of close boxes, by their labels."""

    meetings = int32[:]
    """In how many cells they meet."""
    overlapping = bool_[:]
    """Whether they did when they were last compared."""
    began = int64[:]
    """Keys of pairs that began to overlap; there is room for all."""
    began_count = int64
    ended = int64[:]
    ended_count = int64


coherent_table_at, close_pairs_at = CoherentTable.at, ClosePairs.at


def empty_coherent_table(count: int, levels: int) -> CoherentTable:
    """For so many boxes, none of which is stored yet."""
    table = CoherentTable(levels=levels)
    put_room(table, 0, 0)
    keep_boxes(table, np.empty(0, dtype=np.bool_), count)
    return table


def keep_boxes(table: CoherentTable, stays: NDArray[np.bool_], count: int) -> None:
    """Rows of removed boxes are taken out, rows for new ones added, until there are so many."""
    more = count - int(np.count_nonzero(stays))
    cells = table.cells.reshape(len(stays), table.levels, 6)[stays]
    table.resolution = np.append(table.resolution[stays], np.full(more, NOT_STORED, dtype=np.int32))
    table.first_entry = np.append(table.first_entry[stays], np.full(more, NOTHING, dtype=np.int32))
    table.cells = np.concatenate([cells.reshape(-1, 6), np.zeros((more * table.levels, 6), dtype=np.int64)])


def empty_close_pairs() -> ClosePairs:
    """See ``empty_pair_set``."""
    return ClosePairs(slots=new_slots(0))


def make_room_for_close(close: ClosePairs, more: int) -> None:
    """See ``make_room_for_pairs``."""
    make_room_for_pairs(close, more)
    room, meetings, overlapping = len(close.keys), close.meetings, close.overlapping
    close.meetings, close.overlapping = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.bool_)
    close.meetings[: close.size], close.overlapping[: close.size] = meetings[: close.size], overlapping[: close.size]
    close.began, close.ended = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)


@inner
def forget_pair(close, place):
    last = close.size - 1
    close.meetings[place] = close.meetings[last]
    close.overlapping[place] = close.overlapping[last]
    delete(close, place)


@inner
def enter_cell(table, close, fixed, i, level, x, y, z):
    """Store box i in a cell; there is room for everything."""
    bucket = bucket_for(table, level, x, y, z)
    own = level == table.resolution[i]
    for kind in range(2 if own else 1):
        entry = table.buckets[bucket].first[kind]
        while entry != NOTHING:
            j = table.entries[entry].label
            entry = table.entries[entry].next
            if fixed[i] and fixed[j]:
                continue
            place = place_in(close, joined(i, j))
            if place == ABSENT:
                place = close.size
                insert(close, joined(i, j))
                close.meetings[place] = 0
                close.overlapping[place] = False
            close.meetings[place] += 1
    table.first_entry[i] = push(table, bucket, OWNERS if own else VISITORS, i, table.first_entry[i])


@inner
def leave_cell(table, close, i, entry, own):
    """Take an entry of box i out of its cell."""
    bucket = table.entries[entry].bucket
    for kind in range(2 if own else 1):
        other = table.buckets[bucket].first[kind]
        while other != NOTHING:
            if other != entry:
                place = place_in(close, joined(i, table.entries[other].label))
                if place != ABSENT:  # two fixed boxes are not counted
                    close.meetings[place] -= 1
            other = table.entries[other].next
    pull(table, entry)


@inlined
def inside(cells, x, y, z):
    return cells[0] <= x <= cells[3] and cells[1] <= y <= cells[4] and cells[2] <= z <= cells[5]


@inlined
def as_cells(rows, row):
    """A row as a tuple."""
    return rows[row, 0], rows[row, 1], rows[row, 2], rows[row, 3], rows[row, 4], rows[row, 5]


@inner
def leave_cells_outside(table, close, i, level, cells):
    """Take box i out of all cells of a resolution but these."""
    before = NOTHING
    entry = table.first_entry[i]
    while entry != NOTHING:
        after = table.entries[entry].next_of_label
        bucket = table.buckets[table.entries[entry].bucket]
        if bucket.level != level or inside(cells, bucket.x, bucket.y, bucket.z):
            before = entry
        else:
            leave_cell(table, close, i, entry, level == table.resolution[i])
            if before == NOTHING:
                table.first_entry[i] = after
            else:
                table.entries[before].next_of_label = after
        entry = after


@inner
def leave_all_cells(table, close, i):
    entry = table.first_entry[i]
    while entry != NOTHING:
        after = table.entries[entry].next_of_label
        level = table.buckets[table.entries[entry].bucket].level
        leave_cell(table, close, i, entry, level == table.resolution[i])
        entry = after
    table.first_entry[i] = NOTHING


@inner
def labels_ahead(table, level, own, cells, old):
    """How many labels a box meets in the cells that it enters, those of ``cells`` that are not in ``old``."""
    labels = 0
    for x in range(cells[0], cells[3] + 1):
        for y in range(cells[1], cells[4] + 1):
            for z in range(cells[2], cells[5] + 1):
                if inside(old, x, y, z):
                    continue
                bucket = bucket_at(table, level, x, y, z)
                if bucket != NOTHING:
                    count = table.buckets[bucket].count
                    labels += count[OWNERS] + (count[VISITORS] if own else 0)
    return labels


@inner
def take_resolution(table, close, i, resolution):
    """Box i leaves all its cells, and is in none of those of its new resolution yet."""
    leave_all_cells(table, close, i)
    table.resolution[i] = resolution
    for level in range(resolution + 1):
        for k in range(6):
            table.cells[i * table.levels + level, k] = 0 if k < 3 else NOTHING  # none


@inner
def store_boxes(objects, table, close):
    """Bring boxes into their cells, from the first one on that is not there yet.

    Stops at a box for which there may not be enough room, and notes what it needs.  Whatever was done for it so far is
    found done when it is tried again.  A fixed box is stored once.
    """
    start = table.reached
    for i in range(start, objects.n_ids):
        table.reached = i
        if i > start and objects.fixed[i] and table.resolution[i] != NOT_STORED:
            continue
        box = grown(objects.rows, i, objects.half_margin)
        resolution, _ = resolution_of(size_of(box), objects, 1.0)
        if resolution != table.resolution[i]:
            take_resolution(table, close, i, resolution)
        for level in range(resolution + 1):
            row = i * table.levels + level
            cells, old = cells_of(box, objects.inverses[level]), as_cells(table.cells, row)
            if cells == old:
                continue
            table.cells_ahead = number_of_cells(cells)
            table.labels_ahead = labels_ahead(table, level, level == resolution, cells, old)
            if close.size + table.labels_ahead > close.n_keys or not has_room_for(table, table.cells_ahead):
                return
            leave_cells_outside(table, close, i, level, cells)
            for x in range(cells[0], cells[3] + 1):
                for y in range(cells[1], cells[4] + 1):
                    for z in range(cells[2], cells[5] + 1):
                        if not inside(old, x, y, z):
                            enter_cell(table, close, objects.fixed, i, level, x, y, z)
                            table.entered += 1
            for k in range(6):
                table.cells[row, k] = cells[k]
    table.reached = objects.n_ids


@inner
def compare_close_pairs(objects, close):
    """Note the pairs that began and ended to overlap; those that meet nowhere any more are forgotten."""
    began, ended = 0, 0
    place = 0
    while place < close.size:
        i, j = upper(close.keys[place]), lower(close.keys[place])
        apart = close.meetings[place] == 0
        overlaps = not apart and overlap(objects.rows, i, j, objects.margin)
        if overlaps != close.overlapping[place]:
            close.overlapping[place] = overlaps
            if overlaps:
                close.began[began] = pair_key(objects.ids, i, j)
                began += 1
            else:
                close.ended[ended] = pair_key(objects.ids, i, j)
                ended += 1
        if apart:
            forget_pair(close, place)
        else:
            place += 1
    close.began_count = began
    close.ended_count = ended


@kernel
def hash_moved(objects, table, close):
    """Bring the table up to date, and note which pairs began and ended to overlap.

    Returns how many boxes are in their cells.  If not all are, there was no room: called again, it goes on from there.
    """
    objects, table, close = hashed_objects_at(objects), coherent_table_at(table), close_pairs_at(close)
    store_boxes(objects, table, close)
    if table.reached == objects.n_ids:
        compare_close_pairs(objects, close)
    return table.reached


@kernel("int64, int64, int64[::1], int64[::1]")
def drop_removed(table, close, numbers, ids):
    """Take removed boxes out of the table and give the others their new numbers (-1: removed).

    ``ids`` are those from before the removals.  Returns the keys of pairs that overlapped and are gone.
    """
    table, close = coherent_table_at(table), close_pairs_at(close)
    for i in range(len(numbers)):
        entry = table.first_entry[i]
        while entry != NOTHING:
            after = table.entries[entry].next_of_label
            if numbers[i] < 0:
                pull(table, entry)
            else:
                table.entries[entry].label = numbers[i]
            entry = after
    leave_all(close)
    lost = new_keys(close.size)
    lost_count, left = 0, 0
    for place in range(close.size):
        i, j = upper(close.keys[place]), lower(close.keys[place])
        if numbers[i] < 0 or numbers[j] < 0:
            if close.overlapping[place]:
                lost[lost_count] = pair_key(ids, i, j)
                lost_count += 1
            continue
        close.keys[left] = joined(numbers[i], numbers[j])
        close.hashes[left] = hash_of_pair(close.keys[left])
        close.meetings[left] = close.meetings[place]
        close.overlapping[left] = close.overlapping[place]
        enter(close, left)
        left += 1
    close.size = left
    return first_keys(lost, lost_count)
