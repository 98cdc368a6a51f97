# mypy: allow-untyped-defs, allow-incomplete-defs
"""Buckets of a spatial hash: two lists of labels for each cell that holds any.

A cell is a resolution and three numbers, and is looked up exactly: two cells never share a bucket, which is the perfect
hashing that [Mirtich1997] assumes.  Owners are boxes of the cell's resolution; visitors are smaller ones, whose labels
are there so that owners find them.  Apart from each other, they are visited only where they matter: a small box that
enters a large cell does not meet the thousands of other small boxes in it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from impinge.broadphase.hash_index import EMPTY, enter, first_slot, leave, new_slots, next_slot
from impinge.broadphase.pair_keys import copy_keys, new_keys
from impinge.kernels.jit import inlined, inner

NOTHING = -1

OWNERS, VISITORS = 0, 1

COUNTS = 2
"""Where the numbers of owners and visitors stand behind the heads."""

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
    """(m, 4): the first owner (in a free bucket: the next free one), the first visitor, the numbers of both."""
    entries: Any
    """(e, 6): see the columns."""
    marks: Any
    """(4,): how many buckets were ever used, the first free one, and the same for entries."""


def empty_bucket_table() -> BucketTable:
    return BucketTable(
        np.empty((4, 4), dtype=np.int64),
        np.empty(4, dtype=np.int64),
        np.full(8, EMPTY, dtype=np.int32),
        np.empty((4, 4), dtype=np.int32),
        np.empty((4, 6), dtype=np.int32),
        np.array([0, NOTHING, 0, NOTHING], dtype=np.int64),
    )


@inlined
def parts_of_table(table):
    """For a kernel to return, see ``parts_of_pairs``."""
    return table.cells, table.hashes, table.slots, table.heads, table.entries, table.marks


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


@inlined
def has_room_for(marks, entries, cells, more):
    """Whether so many more entries, and as many buckets, can be added."""
    return marks[_USED_ENTRIES] + more <= len(entries) and marks[_USED_BUCKETS] + more <= len(cells)


@inner
def enlarged(table, more):
    """A copy with room for so many more entries and as many buckets."""
    used_buckets, used_entries = table.marks[_USED_BUCKETS], table.marks[_USED_ENTRIES]
    room = 2 * (used_buckets + more)
    entries = new_rows(2 * (used_entries + more), 6)
    cells = np.empty((room, 4), dtype=np.int64)
    hashes, heads, slots = new_keys(room), new_rows(room, 4), new_slots(room)
    copy_rows(table.entries, entries, used_entries)
    copy_rows(table.cells, cells, used_buckets)
    copy_rows(table.heads, heads, used_buckets)
    copy_keys(table.hashes, hashes, used_buckets)
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


@inlined
def is_cell(cells, bucket, level, x, y, z):
    return cells[bucket, 1] == x and cells[bucket, 2] == y and cells[bucket, 3] == z and cells[bucket, 0] == level


@inner
def bucket_at(cells, slots, level, x, y, z):
    """The bucket of a cell, or NOTHING."""
    slot = first_slot(slots, hash_of_cell(level, x, y, z))
    while slots[slot] != EMPTY:
        if is_cell(cells, slots[slot], level, x, y, z):
            return slots[slot]
        slot = next_slot(slots, slot)
    return NOTHING


@inner
def bucket_for(table, level, x, y, z):
    """The bucket of a cell, opened if there is none yet."""
    cells, heads, marks = table.cells, table.heads, table.marks
    bucket = bucket_at(cells, table.slots, level, x, y, z)
    if bucket != NOTHING:
        return bucket
    bucket = marks[_FREE_BUCKET]
    if bucket == NOTHING:
        bucket = marks[_USED_BUCKETS]
        marks[_USED_BUCKETS] = bucket + 1
    else:
        marks[_FREE_BUCKET] = heads[bucket, OWNERS]
    cells[bucket, 0], cells[bucket, 1], cells[bucket, 2], cells[bucket, 3] = level, x, y, z
    heads[bucket, OWNERS], heads[bucket, VISITORS] = NOTHING, NOTHING
    heads[bucket, COUNTS + OWNERS], heads[bucket, COUNTS + VISITORS] = 0, 0
    table.hashes[bucket] = hash_of_cell(level, x, y, z)
    enter(table.slots, table.hashes, bucket)
    return bucket


@inner
def push(table, bucket, kind, label, next_of_label):
    """Put a label in front of a list of a bucket; returns the entry."""
    entries, heads, marks = table.entries, table.heads, table.marks
    entry = marks[_FREE_ENTRY]
    if entry == NOTHING:
        entry = marks[_USED_ENTRIES]
        marks[_USED_ENTRIES] = entry + 1
    else:
        marks[_FREE_ENTRY] = entries[entry, NEXT]
    head = heads[bucket, kind]
    if head != NOTHING:
        entries[head, PREVIOUS] = entry
    heads[bucket, kind] = entry
    heads[bucket, COUNTS + kind] += 1
    entries[entry, LABEL], entries[entry, BUCKET], entries[entry, KIND] = label, bucket, kind
    entries[entry, NEXT], entries[entry, PREVIOUS], entries[entry, NEXT_OF_LABEL] = head, NOTHING, next_of_label
    return entry


@inner
def pull(table, entry):
    """Take an entry out of its list; a bucket with nothing left in it is closed."""
    entries, heads, marks = table.entries, table.heads, table.marks
    bucket, kind = entries[entry, BUCKET], entries[entry, KIND]
    after, before = entries[entry, NEXT], entries[entry, PREVIOUS]
    if after != NOTHING:
        entries[after, PREVIOUS] = before
    if before != NOTHING:
        entries[before, NEXT] = after
    else:
        heads[bucket, kind] = after
    heads[bucket, COUNTS + kind] -= 1
    entries[entry, NEXT] = marks[_FREE_ENTRY]
    marks[_FREE_ENTRY] = entry
    if heads[bucket, OWNERS] == NOTHING and heads[bucket, VISITORS] == NOTHING:
        leave(table.slots, table.hashes, bucket)
        heads[bucket, OWNERS] = marks[_FREE_BUCKET]
        marks[_FREE_BUCKET] = bucket
