# mypy: allow-untyped-defs, allow-incomplete-defs
"""Buckets of a spatial hash: two lists of labels for each cell that holds any.

A cell is a resolution and three numbers, and is looked up exactly: two cells never share a bucket, which is the perfect
hashing that [Mirtich1997] assumes.  Owners are boxes of the cell's resolution; visitors are smaller ones, whose labels
are there so that owners find them.  Apart from each other, they are visited only where they matter: a small box that
enters a large cell does not meet the thousands of other small boxes in it.
"""

from __future__ import annotations

import numpy as np

from impinge.broadphase.hash_index import (
    EMPTY,
    HashIndex,
    enter,
    first_slot,
    leave,
    leave_all,
    new_slots,
    next_slot,
)
from impinge.kernels.jit import inlined, inner, kernel
from impinge.kernels.record import Record, int32, int64, records

NOTHING = -1

OWNERS, VISITORS = 0, 1


class Bucket(Record):
    """A cell that holds labels."""

    level = int64
    x = int64
    y = int64
    z = int64
    first = int32[2]
    """The first entries of owners (in a free bucket: the next free one) and of visitors."""
    count = int32[2]
    """How many owners and visitors there are."""


class Entry(Record):
    """A label in a list of a bucket."""

    label = int32
    bucket = int32
    kind = int32
    """OWNERS or VISITORS."""
    next = int32
    """The one after it in the list; in a free entry the next free one."""
    previous = int32
    next_of_label = int32


class BucketTable(HashIndex):
    """Buckets and their entries; both are used again after they were given back."""

    buckets = records(Bucket)[:]
    entries = records(Entry)[:]
    used_buckets = int64
    """How many were ever used,"""
    free_bucket = int64
    """and the first one that was given back."""
    used_entries = int64
    free_entry = int64


table_at = BucketTable.at


def put_room(table: BucketTable, buckets: int, entries: int) -> None:
    """New memory, with nothing in it."""
    table.slots = new_slots(buckets)
    table.hashes = np.empty(buckets, dtype=np.int64)
    table.buckets = np.empty(buckets, dtype=Bucket.dtype)
    table.entries = np.empty(entries, dtype=Entry.dtype)
    table.used_buckets = table.used_entries = 0
    table.free_bucket = table.free_entry = NOTHING


def make_room(table: BucketTable, more: int) -> None:
    """Room for so many more entries and as many buckets, and for as many again as there are then."""
    before = table.copy()
    put_room(table, 2 * (before.used_buckets + more), 2 * (before.used_entries + more))
    _move(before.address, table.address)


@kernel
def _move(before, table):
    before, table = table_at(before), table_at(table)
    for entry in range(before.used_entries):
        table.entries[entry] = before.entries[entry]
    for bucket in range(before.used_buckets):
        table.buckets[bucket] = before.buckets[bucket]
        table.hashes[bucket] = before.hashes[bucket]
    table.used_buckets, table.free_bucket = before.used_buckets, before.free_bucket
    table.used_entries, table.free_entry = before.used_entries, before.free_entry
    for slot in range(before.n_slots):
        if before.slots[slot] != EMPTY:
            enter(table, before.slots[slot])
    return table.used_buckets


@inner
def clear(table):
    """Forget everything, but keep the room."""
    leave_all(table)
    table.used_buckets = 0
    table.free_bucket = NOTHING
    table.used_entries = 0
    table.free_entry = NOTHING


@inlined
def has_room_for(table, more):
    """Whether so many more entries, and as many buckets, can be added."""
    return table.used_entries + more <= table.n_entries and table.used_buckets + more <= table.n_buckets


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
def is_cell(bucket, level, x, y, z):
    return bucket.x == x and bucket.y == y and bucket.z == z and bucket.level == level


@inner
def bucket_at(table, level, x, y, z):
    """The bucket of a cell, or NOTHING."""
    slot = first_slot(table, hash_of_cell(level, x, y, z))
    while table.slots[slot] != EMPTY:
        if is_cell(table.buckets[table.slots[slot]], level, x, y, z):
            return table.slots[slot]
        slot = next_slot(table, slot)
    return NOTHING


@inner
def bucket_for(table, level, x, y, z):
    """The bucket of a cell, opened if there is none yet."""
    place = bucket_at(table, level, x, y, z)
    if place != NOTHING:
        return place
    place = table.free_bucket
    if place == NOTHING:
        place = table.used_buckets
        table.used_buckets = place + 1
    else:
        table.free_bucket = table.buckets[place].first[OWNERS]
    bucket = table.buckets[place]
    bucket.level = level
    bucket.x = x
    bucket.y = y
    bucket.z = z
    for kind in range(2):
        bucket.first[kind] = NOTHING
        bucket.count[kind] = 0
    table.hashes[place] = hash_of_cell(level, x, y, z)
    enter(table, place)
    return place


@inner
def push(table, bucket, kind, label, next_of_label):
    """Put a label in front of a list of a bucket; returns the entry."""
    place = table.free_entry
    if place == NOTHING:
        place = table.used_entries
        table.used_entries = place + 1
    else:
        table.free_entry = table.entries[place].next
    first, count = table.buckets[bucket].first, table.buckets[bucket].count
    entry = table.entries[place]
    entry.label = label
    entry.bucket = bucket
    entry.kind = kind
    entry.next = first[kind]
    entry.previous = NOTHING
    entry.next_of_label = next_of_label
    if first[kind] != NOTHING:
        table.entries[first[kind]].previous = place
    first[kind] = place
    count[kind] += 1
    return place


@inner
def pull(table, place):
    """Take an entry out of its list; a bucket with nothing left in it is closed."""
    entry = table.entries[place]
    first, count = table.buckets[entry.bucket].first, table.buckets[entry.bucket].count
    if entry.next != NOTHING:
        table.entries[entry.next].previous = entry.previous
    if entry.previous != NOTHING:
        table.entries[entry.previous].next = entry.next
    else:
        first[entry.kind] = entry.next
    count[entry.kind] -= 1
    entry.next = table.free_entry
    table.free_entry = place
    if first[OWNERS] == NOTHING and first[VISITORS] == NOTHING:
        leave(table, entry.bucket)
        first[OWNERS] = table.free_bucket
        table.free_bucket = entry.bucket
