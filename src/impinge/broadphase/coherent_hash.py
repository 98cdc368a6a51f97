"""Hierarchical spatial hashing that remembers: [Mirtich1997] section 2.2.

A box is stored at its own resolution and at all coarser ones, and stays there as long as it overlaps the same cells.
For each pair of close boxes a counter holds the number of cells in which they meet, at the coarser one of
their resolutions.  Counters are kept for close pairs only, in a hash set, not in an array for all pairs.

In the course of an update two boxes that move together may part and meet again.  So a counter that falls to zero
is looked at when all boxes are in place, in the same pass that compares the boxes of all close pairs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from impinge.broadphase.boxes import overlap
from impinge.broadphase.bucket_table import (
    BUCKET,
    LABEL,
    NEXT,
    NEXT_OF_LABEL,
    NOTHING,
    OWNERS,
    VISITORS,
    BucketTable,
    bucket_for,
    copy_rows,
    empty_bucket_table,
    new_rows,
    pull,
    push,
    with_room_for,
)
from impinge.broadphase.hash_index import EMPTY, enter
from impinge.broadphase.hash_levels import cells_of, grown, has_size, number_of_cells, resolution_of, size_of
from impinge.broadphase.pair_keys import first_keys, joined, lower, new_keys, pair_key, upper, with_room
from impinge.broadphase.pair_set import ABSENT, PairSet, delete, empty_pair_set, hash_of_pair, insert, place_in, roomy
from impinge.jit import inlined, inner, kernel

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
    """Pairs of close boxes, by their numbers."""

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


@inner
def count_meeting(close, a, b):
    """Boxes a and b meet in one more cell."""
    key = joined(a, b)
    place = place_in(close.pairs, key)
    if place != ABSENT:
        close.state[place, COUNT] += 1
        return close
    pairs, state = roomy(close.pairs), close.state
    place = pairs.size[0]
    if len(state) < len(pairs.keys):
        state = new_rows(len(pairs.keys), 2)
        copy_rows(close.state, state, place)
    insert(pairs, key)
    state[place, COUNT], state[place, OVERLAPPING] = 1, 0
    return ClosePairs(pairs, state)


@inner
def forget_pair(close, place):
    last = close.pairs.size[0] - 1
    close.state[place, COUNT] = close.state[last, COUNT]
    close.state[place, OVERLAPPING] = close.state[last, OVERLAPPING]
    delete(close.pairs, place)


@inner
def enter_cell(table, stored, close, fixed, i, level, x, y, z):
    """Store box i in a cell; the table has room."""
    bucket = bucket_for(table, level, x, y, z)
    own = level == stored.resolution[i]
    for kind in range(2 if own else 1):
        entry = table.heads[bucket, kind]
        while entry != NOTHING:
            j = table.entries[entry, LABEL]
            if not (fixed[i] and fixed[j]):
                close = count_meeting(close, i, j)
            entry = table.entries[entry, NEXT]
    stored.first_entry[i] = push(table, bucket, OWNERS if own else VISITORS, i, stored.first_entry[i])
    return close


@inner
def leave_cell(table, close, i, entry, own):
    """Take an entry of box i out of its cell."""
    bucket = table.entries[entry, BUCKET]
    for kind in range(2 if own else 1):
        other = table.heads[bucket, kind]
        while other != NOTHING:
            if other != entry:
                place = place_in(close.pairs, joined(i, table.entries[other, LABEL]))
                if place != ABSENT:  # two fixed boxes are not counted
                    close.state[place, COUNT] -= 1
            other = table.entries[other, NEXT]
    pull(table, entry)


@inlined
def inside(cells, x, y, z):
    return cells[0] <= x <= cells[3] and cells[1] <= y <= cells[4] and cells[2] <= z <= cells[5]


@inner
def leave_cells_outside(table, stored, close, i, level, cells):
    """Take box i out of all cells of a resolution but these."""
    before = NOTHING
    entry = stored.first_entry[i]
    while entry != NOTHING:
        after = table.entries[entry, NEXT_OF_LABEL]
        cell = table.cells[table.entries[entry, BUCKET]]
        if cell[0] == level and not inside(cells, cell[1], cell[2], cell[3]):
            leave_cell(table, close, i, entry, level == stored.resolution[i])
            if before == NOTHING:
                stored.first_entry[i] = after
            else:
                table.entries[before, NEXT_OF_LABEL] = after
        else:
            before = entry
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


@kernel
def hash_moved(ids, rows, fixed, margin, half, resolutions, inverses, alpha, beta, kept):
    """Bring the table up to date; returns it, the keys of pairs that began and ended to overlap, and counts.

    The counts: cells that were entered, boxes for which no resolution was planned, boxes that are everywhere.
    """
    table, stored, close = kept.table, kept.stored, kept.close
    entered, outside, everywhere = 0, 0, 0
    for i in range(len(ids)):
        if fixed[i] and stored.resolution[i] != NOT_STORED:
            continue
        box = grown(rows, i, half)
        resolution, planned = resolution_of(size_of(box), resolutions, alpha, beta)
        outside += int(not planned and has_size(box))
        everywhere += int(resolution == 0)
        anew = resolution != stored.resolution[i]
        if anew:
            leave_all_cells(table, stored, close, i)
            stored.resolution[i] = resolution
        for level in range(0 if anew else 1, resolution + 1):
            cells = cells_of(box, inverses[level])
            old = stored.cells[i, level]
            same = True
            for k in range(6):
                same = same and old[k] == cells[k]
            if same and not anew:
                continue
            if not anew:
                leave_cells_outside(table, stored, close, i, level, cells)
            table = with_room_for(table, number_of_cells(cells))
            for x in range(cells[0], cells[3] + 1):
                for y in range(cells[1], cells[4] + 1):
                    for z in range(cells[2], cells[5] + 1):
                        if anew or not inside(old, x, y, z):
                            close = enter_cell(table, stored, close, fixed, i, level, x, y, z)
                            entered += 1
            for k in range(6):
                old[k] = cells[k]
    began, ended = new_keys(8), new_keys(8)
    began_count, ended_count = 0, 0
    place = 0
    while place < close.pairs.size[0]:
        key = close.pairs.keys[place]
        i, j = upper(key), lower(key)
        apart = close.state[place, COUNT] == 0
        overlaps = not apart and overlap(rows, i, j, margin)
        if overlaps != (close.state[place, OVERLAPPING] == 1):
            if overlaps:
                began = with_room(began, began_count)
                began[began_count] = pair_key(ids, i, j)
                began_count += 1
            else:
                ended = with_room(ended, ended_count)
                ended[ended_count] = pair_key(ids, i, j)
                ended_count += 1
            close.state[place, OVERLAPPING] = int(overlaps)
        if apart:
            forget_pair(close, place)
        else:
            place += 1
    kept = CoherentTable(table, stored, close)
    return kept, first_keys(began, began_count), first_keys(ended, ended_count), entered, outside, everywhere


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
    lost = new_keys(8)
    lost_count, left = 0, 0
    for place in range(pairs.size[0]):
        i, j = upper(pairs.keys[place]), lower(pairs.keys[place])
        if numbers[i] < 0 or numbers[j] < 0:
            if close.state[place, OVERLAPPING] == 1:
                lost = with_room(lost, lost_count)
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
