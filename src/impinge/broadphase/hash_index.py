# mypy: allow-untyped-defs, allow-incomplete-defs
"""An index of records by hash values: open addressing with linear probing.

The index is an array of slots, a power of two of them, each empty or with the number of a record.  A record stands at
the slot of its hash value or, if that was taken, at the next one that was free.  Removal closes the gap (Knuth, The Art
of Computer Programming, vol. 3, section 6.4, algorithm R), so there are no tombstones and an index that lives
for a million updates is as fast as a new one.  What a record is, and when two are equal, is the caller's business.
"""

from __future__ import annotations

import numpy as np

from impinge.kernels.jit import inlined, inner

EMPTY = -1


@inner
def new_slots(records):
    """Slots for so many records: at most half of them are ever taken."""
    size = 8
    while size < 2 * records:
        size *= 2
    slots = np.empty(size, dtype=np.int32)
    for i in range(size):
        slots[i] = EMPTY
    return slots


@inlined
def first_slot(slots, hash_value):
    return hash_value & (len(slots) - 1)


@inlined
def next_slot(slots, slot):
    return (slot + 1) & (len(slots) - 1)


@inner
def enter(slots, hashes, record):
    """Add a record, which is not there yet, under its hash value ``hashes[record]``."""
    slot = first_slot(slots, hashes[record])
    while slots[slot] != EMPTY:
        slot = next_slot(slots, slot)
    slots[slot] = record


@inner
def slot_of(slots, hashes, record):
    """Where a record stands."""
    slot = first_slot(slots, hashes[record])
    while slots[slot] != record:
        slot = next_slot(slots, slot)
    return slot


@inner
def leave(slots, hashes, record):
    """Take a record out."""
    mask = len(slots) - 1
    gap = slot_of(slots, hashes, record)
    slot = next_slot(slots, gap)
    while slots[slot] != EMPTY:
        # A record may fill the gap unless its search begins behind it.
        if (slot - first_slot(slots, hashes[slots[slot]])) & mask >= (slot - gap) & mask:
            slots[gap] = slots[slot]
            gap = slot
        slot = next_slot(slots, slot)
    slots[gap] = EMPTY
