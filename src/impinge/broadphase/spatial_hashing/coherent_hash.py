# mypy: allow-untyped-defs, allow-incomplete-defs
"""Hierarchical spatial hashing that remembers: [Mirtich1997] section 2.2.

A box is stored at its own resolution and at all coarser ones, and stays there as long as it overlaps the same cells.
For each pair of close boxes a counter holds the number of cells in which they meet, at the coarser one of
their resolutions.  Counters are kept for close pairs only, in a hash set, not in an array for all pairs.

In the course of an update two boxes that move together may part and meet again.  So a counter that falls to zero
is examined when all boxes are in place, in the same pass that compares the boxes of all close pairs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from impinge.broadphase.boxes import overlap
from impinge.broadphase.hash_index import EMPTY, enter
from impinge.broadphase.pair_keys import first_keys, joined, lower, new_keys, pair_key, upper
from impinge.broadphase.pair_set import (
    ABSENT,
    PairSet,
    delete,
    empty_pair_set,
    hash_of_pair,
    insert,
    parts_of_pairs,
    place_in,
    with_room_for_pairs,
)
from impinge.broadphase.spatial_hashing.bucket_table import (
    BUCKET,
    COUNTS,
    LABEL,
    NEXT,
    NEXT_OF_LABEL,
    NOTHING,
    OWNERS,
    VISITORS,
    BucketTable,
    bucket_at,
    bucket_for,
    copy_rows,
    empty_bucket_table,
    enlarged,
    has_room_for,
    new_rows,
    parts_of_table,
    pull,
    push,
)
from impinge.broadphase.spatial_hashing.hash_levels import cells_of, grown, number_of_cells, resolution_of, size_of
from impinge.kernels.jit import inlined, inner, kernel

NOT_STORED = -1

COUNT, OVERLAPPING = 0, 1


class Stored(NamedTuple):
    """What is known of each box in the table."""

    resolution: Any
    """(n,): NOT_STORED if it is not there yet."""
    first_entry: Any
    """(n,): its entries are chained."""
    cells: Any
    """(n, levels, 6): first and last cells at each resolution down to its own."""


class ClosePairs(NamedTuple):
    """Pairs of close boxes, by their labels."""

    pairs: PairSet
    state: Any
    """(m, 2): in how many cells they meet, and whether they overlapped when they were last compared."""


class CoherentTable(NamedTuple):
    """All that is kept from update to update."""

    table: BucketTable
    stored: Stored
    close: ClosePairs


def empty_coherent_table(count: int, levels: int) -> CoherentTable:
    """For so many boxes, none of which is stored yet."""
    return CoherentTable(
        empty_bucket_table(),
        Stored(
            np.full(count, NOT_STORED, dtype=np.int32),
            np.full(count, NOTHING, dtype=np.int32),
            np.zeros((count, levels, 6), dtype=np.int64),
        ),
        ClosePairs(empty_pair_set(), np.zeros((4, 2), dtype=np.int32)),
    )


def with_parts(kept: CoherentTable, parts: tuple[Any, Any, Any]) -> CoherentTable:
    """What is kept, with the parts that ``hash_moved`` returned."""
    table, pairs, state = parts
    return CoherentTable(BucketTable(*table), kept.stored, ClosePairs(PairSet(*pairs), state))


@inner
def with_room_for_close(close, more):
    """A copy with room for so many more pairs."""
    pairs = with_room_for_pairs(close.pairs, more)
    state = new_rows(len(pairs.keys), 2)
    copy_rows(close.state, state, pairs.size[0])
    return ClosePairs(pairs, state)


@inner
def forget_pair(close, place):
    last = close.pairs.size[0] - 1
    close.state[place, COUNT] = close.state[last, COUNT]
    close.state[place, OVERLAPPING] = close.state[last, OVERLAPPING]
    delete(close.pairs, place)


@inner
def enter_cell(table, stored, close, fixed, i, level, x, y, z):
    """Store box i in a cell; there is room for everything."""
    entries, keys, slots, state = table.entries, close.pairs.keys, close.pairs.slots, close.state
    bucket = bucket_for(table, level, x, y, z)
    own = level == stored.resolution[i]
    for kind in range(2 if own else 1):
        entry = table.heads[bucket, kind]
        while entry != NOTHING:
            j = entries[entry, LABEL]
            entry = entries[entry, NEXT]
            if fixed[i] and fixed[j]:
                continue
            place = place_in(keys, slots, joined(i, j))
            if place == ABSENT:
                place = close.pairs.size[0]
                insert(close.pairs, joined(i, j))
                state[place, COUNT], state[place, OVERLAPPING] = 0, 0
            state[place, COUNT] += 1
    stored.first_entry[i] = push(table, bucket, OWNERS if own else VISITORS, i, stored.first_entry[i])


@inner
def leave_cell(table, close, i, entry, own):
    """Take an entry of box i out of its cell."""
    entries, keys, slots, state = table.entries, close.pairs.keys, close.pairs.slots, close.state
    bucket = entries[entry, BUCKET]
    for kind in range(2 if own else 1):
        other = table.heads[bucket, kind]
        while other != NOTHING:
            if other != entry:
                place = place_in(keys, slots, joined(i, entries[other, LABEL]))
                if place != ABSENT:  # two fixed boxes are not counted
                    state[place, COUNT] -= 1
            other = entries[other, NEXT]
    pull(table, entry)


@inlined
def inside(cells, x, y, z):
    return cells[0] <= x <= cells[3] and cells[1] <= y <= cells[4] and cells[2] <= z <= cells[5]


@inlined
def as_cells(numbers, i, level):
    """A row as a tuple."""
    return (
        numbers[i, level, 0], numbers[i, level, 1], numbers[i, level, 2],
        numbers[i, level, 3], numbers[i, level, 4], numbers[i, level, 5],
    )  # fmt: skip


@inner
def leave_cells_outside(table, stored, close, i, level, cells):
    """Take box i out of all cells of a resolution but these."""
    entries, places = table.entries, table.cells
    before = NOTHING
    entry = stored.first_entry[i]
    while entry != NOTHING:
        after = entries[entry, NEXT_OF_LABEL]
        bucket = entries[entry, BUCKET]
        kept = inside(cells, places[bucket, 1], places[bucket, 2], places[bucket, 3])
        if kept or places[bucket, 0] != level:
            before = entry
        else:
            leave_cell(table, close, i, entry, level == stored.resolution[i])
            if before == NOTHING:
                stored.first_entry[i] = after
            else:
                entries[before, NEXT_OF_LABEL] = after
        entry = after


@inner
def leave_all_cells(table, stored, close, i):
    entry = stored.first_entry[i]
    while entry != NOTHING:
        after = table.entries[entry, NEXT_OF_LABEL]
        level = table.cells[table.entries[entry, BUCKET], 0]
        leave_cell(table, close, i, entry, level == stored.resolution[i])
        entry = after
    stored.first_entry[i] = NOTHING


@inner
def labels_ahead(table, level, own, cells, old):
    """How many labels a box meets in the cells that it enters, those of ``cells`` that are not in ``old``."""
    places, slots, heads = table.cells, table.slots, table.heads
    labels = 0
    for x in range(cells[0], cells[3] + 1):
        for y in range(cells[1], cells[4] + 1):
            for z in range(cells[2], cells[5] + 1):
                if inside(old, x, y, z):
                    continue
                bucket = bucket_at(places, slots, level, x, y, z)
                if bucket != NOTHING:
                    labels += heads[bucket, COUNTS + OWNERS] + (heads[bucket, COUNTS + VISITORS] if own else 0)
    return labels


ENTERED, CELLS_AHEAD, LABELS_AHEAD = range(3)


@inner
def store_from(start, rows, fixed, half, resolutions, inverses, alpha, beta, table, stored, close, tallies):
    """Bring boxes from ``start`` on into their cells.

    Stops at a box for which there may not be enough room, notes what it needs and returns it, or the number of boxes.
    Whatever was done for it so far is found done when it is tried again.  A fixed box is stored once.
    """
    resolution_now, cells_now, size = stored.resolution, stored.cells, close.pairs.size
    room = len(close.pairs.keys)
    marks, entries, places = table.marks, table.entries, table.cells
    for i in range(start, len(rows)):
        if i > start and fixed[i] and resolution_now[i] != NOT_STORED:
            continue
        box = grown(rows, i, half)
        resolution, _ = resolution_of(size_of(box), resolutions, alpha, beta)
        if resolution != resolution_now[i]:
            leave_all_cells(table, stored, close, i)
            resolution_now[i] = resolution
            for level in range(resolution + 1):
                for k in range(6):
                    cells_now[i, level, k] = 0 if k < 3 else NOTHING  # none
        for level in range(resolution + 1):
            cells = cells_of(box, inverses[level])
            old = as_cells(cells_now, i, level)
            if cells == old:
                continue
            labels = labels_ahead(table, level, level == resolution, cells, old)
            tallies[CELLS_AHEAD], tallies[LABELS_AHEAD] = number_of_cells(cells), labels
            if size[0] + labels > room or not has_room_for(marks, entries, places, tallies[CELLS_AHEAD]):
                return i
            leave_cells_outside(table, stored, close, i, level, cells)
            for x in range(cells[0], cells[3] + 1):
                for y in range(cells[1], cells[4] + 1):
                    for z in range(cells[2], cells[5] + 1):
                        if not inside(old, x, y, z):
                            enter_cell(table, stored, close, fixed, i, level, x, y, z)
                            tallies[ENTERED] += 1
            for k in range(6):
                cells_now[i, level, k] = cells[k]
    return len(rows)


@inner
def compare_close_pairs(close, ids, rows, margin):
    """Keys of pairs that began and ended to overlap; pairs that meet nowhere any more are forgotten."""
    keys, size, state = close.pairs.keys, close.pairs.size, close.state
    began, ended = new_keys(size[0]), new_keys(size[0])
    began_count, ended_count = 0, 0
    place = 0
    while place < size[0]:
        i, j = upper(keys[place]), lower(keys[place])
        apart = state[place, COUNT] == 0
        overlaps = not apart and overlap(rows, i, j, margin)
        if overlaps != (state[place, OVERLAPPING] == 1):
            state[place, OVERLAPPING] = int(overlaps)
            if overlaps:
                began[began_count] = pair_key(ids, i, j)
                began_count += 1
            else:
                ended[ended_count] = pair_key(ids, i, j)
                ended_count += 1
        if apart:
            forget_pair(close, place)
        else:
            place += 1
    return first_keys(began, began_count), first_keys(ended, ended_count)


@kernel
def hash_moved(ids, rows, fixed, margin, half, resolutions, inverses, alpha, beta, kept):
    """Bring the table up to date.

    Returns the parts of it that may be new ones (see ``with_parts``), the keys of pairs that began and ended to
    overlap, and the number of cells that were entered.
    """
    table, stored, close = kept.table, kept.stored, kept.close
    tallies = np.zeros(3, dtype=np.int64)
    at = store_from(0, rows, fixed, half, resolutions, inverses, alpha, beta, table, stored, close, tallies)
    while at < len(ids):  # there was no room, see pair_set
        table = enlarged(table, tallies[CELLS_AHEAD])
        close = with_room_for_close(close, tallies[LABELS_AHEAD])
        at = store_from(at, rows, fixed, half, resolutions, inverses, alpha, beta, table, stored, close, tallies)
    began, ended = compare_close_pairs(close, ids, rows, margin)
    return (parts_of_table(table), parts_of_pairs(close.pairs), close.state), began, ended, tallies[ENTERED]


@kernel
def drop_removed(kept, numbers, ids):
    """Take removed boxes out of the table and give the others their new numbers (-1: removed).

    ``ids`` are those from before the removals.  Returns the keys of pairs that overlapped and are gone.
    """
    table, stored, close = kept.table, kept.stored, kept.close
    for i in range(len(numbers)):
        entry = stored.first_entry[i]
        while entry != NOTHING:
            after = table.entries[entry, NEXT_OF_LABEL]
            if numbers[i] < 0:
                pull(table, entry)
            else:
                table.entries[entry, LABEL] = numbers[i]
            entry = after
    pairs = close.pairs
    for slot in range(len(pairs.slots)):
        pairs.slots[slot] = EMPTY
    lost = new_keys(pairs.size[0])
    lost_count, left = 0, 0
    for place in range(pairs.size[0]):
        i, j = upper(pairs.keys[place]), lower(pairs.keys[place])
        if numbers[i] < 0 or numbers[j] < 0:
            if close.state[place, OVERLAPPING] == 1:
                lost[lost_count] = pair_key(ids, i, j)
                lost_count += 1
            continue
        pairs.keys[left] = joined(numbers[i], numbers[j])
        pairs.hashes[left] = hash_of_pair(pairs.keys[left])
        close.state[left, COUNT] = close.state[place, COUNT]
        close.state[left, OVERLAPPING] = close.state[place, OVERLAPPING]
        enter(pairs.slots, pairs.hashes, left)
        left += 1
    pairs.size[0] = left
    return first_keys(lost, lost_count)
