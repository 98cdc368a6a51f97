# mypy: allow-untyped-defs, allow-incomplete-defs
"""A set of pairs that changes one by one: a list of keys without gaps, and an index into it.

A set grows by being copied.  Numba counts references wherever a variable may be replaced, in every round of
a loop, however rare that is: so loops stop where there is no room, and are started again with the copy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from impinge.broadphase.hash_index import EMPTY, enter, first_slot, leave, new_slots, next_slot, slot_of
from impinge.broadphase.pair_keys import copy_keys, lower, new_keys, upper
from impinge.kernels.jit import inlined, inner

ABSENT = -1


class PairSet(NamedTuple):
    """``keys[:size[0]]`` are its members; the one that is removed is replaced by the last one."""

    keys: Any
    hashes: Any
    slots: Any
    size: Any


def empty_pair_set() -> PairSet:
    return PairSet(
        np.empty(4, dtype=np.int64),
        np.empty(4, dtype=np.int64),
        np.full(8, EMPTY, dtype=np.int32),
        np.zeros(1, dtype=np.int64),
    )


@inlined
def parts_of_pairs(pairs):
    """For a kernel to return: a NamedTuple would be made by Python code, which a signal may end (see ``jit``)."""
    return pairs.keys, pairs.hashes, pairs.slots, pairs.size


@inlined
def hash_of_pair(key):
    """The halves of a key are below 2**31 and the factors below 2**32, so that nothing wraps."""
    mixed = (upper(key) * 0x9E3779B1) ^ (lower(key) * 0x85EBCA6B)
    return mixed ^ (mixed >> 29)


@inner
def place_in(keys, slots, key):
    """Where a key stands in the list of a set, or ABSENT.

    The arrays of the set one by one: to take them out of the tuple costs Numba reference counts at each call.
    """
    slot = first_slot(slots, hash_of_pair(key))
    while slots[slot] != EMPTY:
        if keys[slots[slot]] == key:
            return slots[slot]
        slot = next_slot(slots, slot)
    return ABSENT


@inner
def with_room_for_pairs(pairs, more):
    """A copy of a set with room for so many more pairs."""
    size = pairs.size[0]
    room = 2 * (size + more)
    keys, hashes, slots = new_keys(room), new_keys(room), new_slots(room)
    copy_keys(pairs.keys, keys, size)
    copy_keys(pairs.hashes, hashes, size)
    for place in range(size):
        enter(slots, hashes, place)
    return PairSet(keys, hashes, slots, pairs.size)


@inner
def insert(pairs, key):
    """Add a key that is absent, to a set with room; it stands at the end of the list."""
    place = pairs.size[0]
    pairs.keys[place] = key
    pairs.hashes[place] = hash_of_pair(key)
    enter(pairs.slots, pairs.hashes, place)
    pairs.size[0] = place + 1


@inner
def delete(pairs, place):
    """Remove the key at a place; the last one of the list moves there."""
    leave(pairs.slots, pairs.hashes, place)
    last = pairs.size[0] - 1
    if place != last:
        pairs.slots[slot_of(pairs.slots, pairs.hashes, last)] = place
        pairs.keys[place] = pairs.keys[last]
        pairs.hashes[place] = pairs.hashes[last]
    pairs.size[0] = last
