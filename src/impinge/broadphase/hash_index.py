# mypy: allow-untyped-defs, allow-incomplete-defs
"""An index of items by hash values: open addressing with linear probing.

The index is an array of slots, a power of two of them, each empty or with the number of an item.  An item stands at
the slot of its hash value or, if that was taken, at the next one that was free.  Removal closes the gap (Knuth, The Art
of Computer Programming, vol. 3, section 6.4, algorithm R), so there are no tombstones and an index that lives
for a million updates is as fast as a new one.  What an item is, and when two are equal, is the caller's business.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from impinge.kernels.jit import inlined, inner
from impinge.kernels.record import Record, int32, int64

EMPTY = -1


class HashIndex(Record):
    """What is found by hash values; others derive from it, with what they keep of each item."""

    slots = int32[:]
    hashes = int64[:]
    """Of each item."""


def new_slots(items: int) -> NDArray[np.int32]:
    """Slots for so many items: at most half of them are ever taken."""
    size = 8
    while size < 2 * items:
        size *= 2
    return np.full(size, EMPTY, dtype=np.int32)


@inlined
def first_slot(index, hash_value):
    return hash_value & (index.n_slots - 1)


@inlined
def next_slot(index, slot):
    return (slot + 1) & (index.n_slots - 1)


@inner
def enter(index, item):
    """Add an item, which is not there yet, under its hash value ``hashes[item]``."""
    slot = first_slot(index, index.hashes[item])
    while index.slots[slot] != EMPTY:
        slot = next_slot(index, slot)
    index.slots[slot] = item


@inner
def slot_of(index, item):
    """Where an item stands."""
    slot = first_slot(index, index.hashes[item])
    while index.slots[slot] != item:
        slot = next_slot(index, slot)
    return slot


@inner
def leave(index, item):
    """Take an item out."""
    slots, mask = index.slots, index.n_slots - 1
    gap = slot_of(index, item)
    slot = next_slot(index, gap)
    while slots[slot] != EMPTY:
        # An item may fill the gap unless its search begins behind it.
        if (slot - first_slot(index, index.hashes[slots[slot]])) & mask >= (slot - gap) & mask:
            slots[gap] = slots[slot]
            gap = slot
        slot = next_slot(index, slot)
    slots[gap] = EMPTY


@inner
def leave_all(index):
    for slot in range(index.n_slots):
        index.slots[slot] = EMPTY
