"""Buckets of a spatial hash: two lists of labels for each cell that holds any.

A cell is a resolution and three numbers, and is looked up exactly: two cells never share a bucket, which is the perfect
hashing that [Mirtich1997] assumes.  Owners are boxes of the cell's resolution; visitors are smaller ones, whose labels
are there so that owners find them.  Apart from each other, they are looked at only where they matter: a small box that
enters a large cell does not meet the thousands of other small boxes in it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from impinge.broadphase.hash_index import EMPTY, enter, first_slot, leave, new_slots, next_slot
from impinge.broadphase.pair_keys import copy_keys, new_keys
from impinge.jit import inlined, inner

NOTHING = -1

OWNERS, VISITORS = 0, 1

LABEL, BUCKET, KIND, NEXT, PREVIOUS, NEXT_OF_LABEL = range(6)
"""Columns of an entry."""

_USED_BUCKETS, _FREE_BUCKET, _USED_ENTRIES, _FREE_ENTRY = range(4)


class BucketTable(NamedTuple):
    """Buckets and their entries; both are used again after they were given back."""

    cells: Any
    """(m, 4): resolution and x, y, z of the cell of each bucket."""
    hashes: Any
    slots: Any
    heads: Any
    """(m, 2): the first owner and the first visitor; a free bucket has the next free one there."""
    entries: Any
    """(e, 6): see the columns."""
    marks: Any
    """(4,): how many buckets were ever used, the first free one, and the same for entries."""


def empty_bucket_table() -> BucketTable:
    return BucketTable(
        np.empty((4, 4), dtype=np.int64),
        np.empty(4, dtype=np.int64),
        np.full(8, EMPTY, dtype=np.int32),
        np.empty((4, 2), dtype=np.int32),
        np.empty((4, 6), dtype=np.int32),
        np.array([0, NOTHING, 0, NOTHING], dtype=np.int64),
    )


@inner
def clear(table):
    """Forget everything, but keep the room."""
    for slot in range(len(table.slots)):
        table.slots[slot] = EMPTY
    for mark in range(0, 4, 2):
        table.marks[mark] = 0
        table.marks[mark + 1] = NOTHING


@inner
def new_rows(count, columns):
    return np.empty((count, columns), dtype=np.int32)


@inner
def copy_rows(source, target, count):
    for i in range(count):
        for column in range(source.shape[1]):
            target[i, column] = source[i, column]


@inner
def with_room_for(table, more):
    """The same table, or a larger copy, with room for so many more entries and as many buckets."""
    used_buckets, used_entries = table.marks[_USED_BUCKETS], table.marks[_USED_ENTRIES]
    cells, hashes, slots, heads, entries = table.cells, table.hashes, table.slots, table.heads, table.entries
    if used_entries + more > len(entries):
        entries = new_rows(2 * (used_entries + more), 6)
        copy_rows(table.entries, entries, used_entries)
    if used_buckets + more > len(cells):
        room = 2 * (used_buckets + more)
        cells = np.empty((room, 4), dtype=np.int64)
        copy_rows(table.cells, cells, used_buckets)
        hashes, heads, slots = new_keys(room), new_rows(room, 2), new_slots(room)
        copy_keys(table.hashes, hashes, used_buckets)
        copy_rows(table.heads, heads, used_buckets)
        for slot in range(len(table.slots)):
            if table.slots[slot] != EMPTY:
                enter(slots, hashes, table.slots[slot])
    return BucketTable(cells, hashes, slots, heads, entries, table.marks)


@inlined
def low_bits(x):
    """31 bits that depend on all of a cell's number."""
    return (x ^ (x >> 31)) & 0x7FFFFFFF


@inlined
def hash_of_cell(level, x, y, z):
    """Products of 31 and 32 bits, so that nothing wraps."""
    mixed = (low_bits(x) * 0x8DA6B343) ^ (low_bits(y) * 0xD8163841) ^ (low_bits(z) * 0xCB1AB31F) ^ (level * 0x9E3779B1)
    return mixed ^ (mixed >> 29)


@inner
def bucket_at(table, level, x, y, z):
    """The bucket of a cell, or NOTHING."""
    slot = first_slot(table.slots, hash_of_cell(level, x, y, z))
    while table.slots[slot] != EMPTY:
        bucket = table.slots[slot]
        cell = table.cells[bucket]
        if cell[1] == x and cell[2] == y and cell[3] == z and cell[0] == level:
            return bucket
        slot = next_slot(table.slots, slot)
    return NOTHING


@inner
def bucket_for(table, level, x, y, z):
    """The bucket of a cell, opened if there is none yet."""
    bucket = bucket_at(table, level, x, y, z)
    if bucket != NOTHING:
        return bucket
    bucket = table.marks[_FREE_BUCKET]
    if bucket == NOTHING:
        bucket = table.marks[_USED_BUCKETS]
        table.marks[_USED_BUCKETS] = bucket + 1
    else:
        table.marks[_FREE_BUCKET] = table.heads[bucket, OWNERS]
    table.cells[bucket, 0], table.cells[bucket, 1] = level, x
    table.cells[bucket, 2], table.cells[bucket, 3] = y, z
    table.hashes[bucket] = hash_of_cell(level, x, y, z)
    table.heads[bucket, OWNERS] = NOTHING
    table.heads[bucket, VISITORS] = NOTHING
    enter(table.slots, table.hashes, bucket)
    return bucket


@inner
def push(table, bucket, kind, label, next_of_label):
    """Put a label in front of a list of a bucket; returns the entry."""
    entry = table.marks[_FREE_ENTRY]
    if entry == NOTHING:
        entry = table.marks[_USED_ENTRIES]
        table.marks[_USED_ENTRIES] = entry + 1
    else:
        table.marks[_FREE_ENTRY] = table.entries[entry, NEXT]
    head = table.heads[bucket, kind]
    if head != NOTHING:
        table.entries[head, PREVIOUS] = entry
    table.heads[bucket, kind] = entry
    row = table.entries[entry]
    row[LABEL], row[BUCKET], row[KIND] = label, bucket, kind
    row[NEXT], row[PREVIOUS], row[NEXT_OF_LABEL] = head, NOTHING, next_of_label
    return entry


@inner
def pull(table, entry):
    """Take an entry out of its list; a bucket with nothing left in it is closed."""
    row = table.entries[entry]
    bucket, kind, after, before = row[BUCKET], row[KIND], row[NEXT], row[PREVIOUS]
    if after != NOTHING:
        table.entries[after, PREVIOUS] = before
    if before != NOTHING:
        table.entries[before, NEXT] = after
    else:
        table.heads[bucket, kind] = after
    row[NEXT] = table.marks[_FREE_ENTRY]
    table.marks[_FREE_ENTRY] = entry
    if table.heads[bucket, OWNERS] == NOTHING and table.heads[bucket, VISITORS] == NOTHING:
        leave(table.slots, table.hashes, bucket)
        table.heads[bucket, OWNERS] = table.marks[_FREE_BUCKET]
        table.marks[_FREE_BUCKET] = bucket
