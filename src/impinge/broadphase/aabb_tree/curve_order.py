# mypy: allow-untyped-defs, allow-incomplete-defs
"""Objects in the order of a space-filling curve, those of like size together.

Morton (1966), "A computer oriented geodetic data base"; Lauterbach et al. (2009), "Fast BVH construction on GPUs", sort
by it to build trees.  Neighbours on the curve are usually neighbours in space, so runs of eight make good leaves.  A
large box among small ones would spoil its run: boxes are first told apart by size, in classes of a factor of four.
"""

from __future__ import annotations

import math

import numpy as np

from impinge.kernels.jit import inner, kernel

CLASSES = 8
"""The last one takes all that is smaller."""
_STEP = 2
"""Powers of two from one class to the next."""
_BITS = 16
"""Of each coordinate: an object that is 65,536 times as far away as the others are apart does not spoil their order."""
_DIGIT = 11
_CLASS_AT = 3 * _BITS


@inner
def _spread(x):
    """The bits of a 16-bit number, two zeros after each."""
    x = (x | (x << 16)) & 0x0000FF0000FF
    x = (x | (x << 8)) & 0x00F00F00F00F
    x = (x | (x << 4)) & 0x0C30C30C30C3
    return (x | (x << 2)) & 0x249249249249


@inner
def _size_class(size, largest):
    """0 for the largest boxes."""
    if not size > 0.0:
        return CLASSES - 1
    return min((math.frexp(largest)[1] - math.frexp(size)[1]) // _STEP, CLASSES - 1)


@inner
def _sort(keys, order):
    """By the digits of the keys, lowest first; ``order`` goes with them."""
    n = len(keys)
    other_keys, other_order = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int32)
    counts = np.empty((1 << _DIGIT) + 1, dtype=np.int64)
    shift = 0
    while shift < _CLASS_AT + 3:
        counts[:] = 0
        for key in keys:
            counts[((key >> shift) & ((1 << _DIGIT) - 1)) + 1] += 1
        for digit in range(1 << _DIGIT):
            counts[digit + 1] += counts[digit]
        for i in range(n):
            digit = (keys[i] >> shift) & ((1 << _DIGIT) - 1)
            place = counts[digit]
            counts[digit] += 1
            other_keys[place] = keys[i]
            other_order[place] = order[i]
        keys, other_keys = other_keys, keys
        order, other_order = other_order, order
        shift += _DIGIT
    return keys, order


@kernel("float64[:, ::1], int64[::1]")
def curve_order(rows, chosen):
    """The ``chosen`` objects in order, and where each class begins in it (CLASSES + 1,)."""
    n = len(chosen)
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    largest = 0.0
    for i in chosen:
        for k in range(3):
            middle = 0.5 * rows[i, k] + 0.5 * rows[i, 3 + k]
            low[k] = min(low[k], middle)
            high[k] = max(high[k], middle)
            largest = max(largest, 0.5 * rows[i, 3 + k] - 0.5 * rows[i, k])
    # Halves, because the difference of two numbers may be too large for one.
    scale = np.empty(3)
    for k in range(3):
        reach = 0.5 * high[k] - 0.5 * low[k]
        scale[k] = (1 << _BITS) / reach if reach > 0.0 else 0.0
        if not scale[k] < np.inf:
            scale[k] = 0.0
    keys, order = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int32)
    starts = np.zeros(CLASSES + 1, dtype=np.int64)
    for place in range(n):
        i = chosen[place]
        key, size = 0, 0.0
        for k in range(3):
            half = 0.5 * rows[i, 3 + k] - 0.5 * rows[i, k]
            size = max(size, half)
            middle = 0.5 * rows[i, k] + 0.5 * rows[i, 3 + k]
            cell = int((0.5 * middle - 0.5 * low[k]) * scale[k])
            key |= _spread(min(max(cell, 0), (1 << _BITS) - 1)) << k
        kind = _size_class(size, largest)
        starts[kind + 1] += 1
        keys[place] = key | (kind << _CLASS_AT)
        order[place] = i
    for kind in range(CLASSES):
        starts[kind + 1] += starts[kind]
    _, order = _sort(keys, order)
    return order, starts
