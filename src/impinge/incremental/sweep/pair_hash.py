# mypy: allow-untyped-defs, allow-incomplete-defs
"""The pairs of nodes that a frame has reached, found again by hashing.

Open addressing with linear probing: a slot holds the number of a pair, and the search for a pair ends at an empty
slot.  A listing has four slots for each pair that it has room for, a power of two, so that a search takes less than two
steps on average.  Pairs are only ever added; all of them are forgotten at once, in a time that grows with the slots.
"""

from __future__ import annotations

import numpy as np

from impinge.incremental.frame_memory import DONE, MORE_PAIRS, NONE
from impinge.kernels.jit import inlined, inner

# The primes of Teschner et al. (2003) for two coordinates.
_PRIME_A = 73856093
_PRIME_B = 19349663


@inlined
def _last_slot(frames):
    """Of a listing, counted from its first one: all bits are set."""
    return frames.n_slots // 2 - 1


@inlined
def _hash(frames, node_a, node_b):
    return ((node_a * _PRIME_A) ^ (node_b * _PRIME_B)) & _last_slot(frames)


@inner
def find_pair(frames, listing, node_a, node_b):
    """The place of a pair of nodes in ``frames.pairs``, or NONE."""
    slot = _hash(frames, node_a, node_b)
    while True:
        number = np.int64(frames.slots[listing.first_slot + slot])
        if number == NONE:
            return number
        place = listing.first_pair + number
        pair = frames.pairs[place]
        if pair.node_a == node_a and pair.node_b == node_b:
            return place
        slot = (slot + 1) & _last_slot(frames)


@inner
def add_pair(frames, listing, node_a, node_b):
    """Add a pair that is not there yet; returns DONE or MORE_PAIRS."""
    if listing.pairs == frames.n_pairs // 2:
        return MORE_PAIRS
    pair = frames.pairs[listing.first_pair + listing.pairs]
    pair.node_a = node_a
    pair.node_b = node_b
    slot = _hash(frames, node_a, node_b)
    while frames.slots[listing.first_slot + slot] != NONE:
        slot = (slot + 1) & _last_slot(frames)
    frames.slots[listing.first_slot + slot] = listing.pairs
    listing.pairs += 1
    return DONE


@inner
def forget_pairs(frames, listing):
    """Make a listing empty."""
    first = listing.first_slot
    for slot in range(first, first + _last_slot(frames) + 1):
        frames.slots[slot] = NONE
    listing.pairs = 0
    listing.items = 0
