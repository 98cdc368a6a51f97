# mypy: allow-untyped-defs, allow-incomplete-defs
"""A set of pairs that changes one by one: a list of keys without gaps, and an index into it.

Kernels cannot give a set more room: they stop where there is none, and are started again when Python has made it.
"""

from __future__ import annotations

import numpy as np

from impinge.broadphase.hash_index import EMPTY, HashIndex, enter, first_slot, leave, new_slots, next_slot, slot_of
from impinge.broadphase.pair_keys import Keys, lower, upper
from impinge.kernels.jit import inlined, inner, kernel
from impinge.kernels.record import int64

ABSENT = -1


class PairSet(HashIndex):
    """``keys[:size]`` are its members; the one that is removed is replaced by the last one."""

    keys = int64[:]
    size = int64


pairs_at = PairSet.at

_NO_KEYS: Keys = np.empty(0, dtype=np.int64)


def empty_pair_set() -> PairSet:
    """Without room for any pair yet, but a key can be sought."""
    return PairSet(slots=new_slots(0))


def make_room_for_pairs(pairs: PairSet, more: int) -> None:
    """Room for so many more pairs, and for as many again as there are then."""
    members = pairs.keys[: pairs.size]
    room = 2 * (len(members) + more)
    pairs.size = 0
    pairs.slots = new_slots(room)
    pairs.hashes, pairs.keys = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    _edit(pairs.address, _NO_KEYS, members)


def edit_pairs(pairs: PairSet, removed: Keys, added: Keys) -> None:
    """Pairs of the set are taken out, and others, which are absent, put in."""
    if pairs.size + len(added) > len(pairs.keys):
        make_room_for_pairs(pairs, len(added))
    _edit(pairs.address, removed, added)


@kernel("int64, int64[::1], int64[::1]")
def _edit(pairs, removed, added):
    pairs = pairs_at(pairs)
    for key in removed:
        delete(pairs, place_in(pairs, key))
    for key in added:
        insert(pairs, key)
    return pairs.size


@inlined
def hash_of_pair(key):
    """The halves of a key are below 2**31 and the factors below 2**32, so that nothing wraps."""
    mixed = (upper(key) * 0x9E3779B1) ^ (lower(key) * 0x85EBCA6B)
    return mixed ^ (mixed >> 29)


@inner
def place_in(pairs, key):
    """Where a key stands in the list of a set, or ABSENT."""
    slot = first_slot(pairs, hash_of_pair(key))
    while pairs.slots[slot] != EMPTY:
        if pairs.keys[pairs.slots[slot]] == key:
            return pairs.slots[slot]
        slot = next_slot(pairs, slot)
    return ABSENT


@inner
def insert(pairs, key):
    """Add a key that is absent, to a set with room; it stands at the end of the list."""
    place = pairs.size
    pairs.keys[place] = key
    pairs.hashes[place] = hash_of_pair(key)
    enter(pairs, place)
    pairs.size = place + 1


@inner
def delete(pairs, place):
    """Remove the key at a place; the last one of the list moves there."""
    leave(pairs, place)
    last = pairs.size - 1
    if place != last:
        pairs.slots[slot_of(pairs, last)] = place
        pairs.keys[place] = pairs.keys[last]
        pairs.hashes[place] = pairs.hashes[last]
    pairs.size = last
