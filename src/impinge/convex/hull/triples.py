# mypy: allow-untyped-defs, allow-incomplete-defs
"""A hash table of triples of integers: open addressing, linear probing (Knuth, The Art of Computer Programming, 6.4).

Equal positions (three coordinates as bits), equal triangles (three vertices) and equal edges of a polygon (polygon and
two vertices) are all found by one table: ``keys`` holds the triples in the order in which they came, ``slots`` the row
of each, -1 where there is none.  Half of the slots stay empty.
"""

from __future__ import annotations

import numpy as np

from impinge.kernels.jit import inlined, inner

_LOW = 0xFFFFFFFF
_FACTOR = 0x45D9F3B


@inner
def empty_table(most):
    """Keys and slots for up to so many triples."""
    size = 8
    while size < 2 * most:
        size *= 2
    return np.empty((most, 3), dtype=np.int64), np.full(size, -1, dtype=np.int32)


@inlined
def _mixed(state, number):
    """32 bits that depend on all bits of both; no product reaches 2**63."""
    state = ((state ^ (number & _LOW)) * _FACTOR) & _LOW
    state = (((state ^ (state >> 16)) ^ ((number >> 32) & _LOW)) * _FACTOR) & _LOW
    return state ^ (state >> 16)


@inlined
def slot_of(table, x, y, z):
    """The slot that holds a triple, or the empty one where it belongs."""
    keys, slots = table
    last = len(slots) - 1
    slot = _mixed(_mixed(_mixed(0, np.int64(x)), np.int64(y)), np.int64(z)) & last
    while slots[slot] >= 0:
        row = slots[slot]
        if keys[row, 0] == x and keys[row, 1] == y and keys[row, 2] == z:
            break
        slot = (slot + 1) & last
    return slot


@inlined
def row_of(table, x, y, z, count):
    """The row of a triple; ``count``, the next free one, for a triple that is new and now in the table."""
    keys, slots = table
    slot = slot_of(table, x, y, z)
    if slots[slot] < 0:
        slots[slot] = count
        keys[count, 0], keys[count, 1], keys[count, 2] = x, y, z
    return slots[slot]
