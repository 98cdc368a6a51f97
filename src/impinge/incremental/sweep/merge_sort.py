# mypy: allow-untyped-defs, allow-incomplete-defs
"""A list of items sorted from scratch by their low ends: bottom-up merge sort, stable, n log n comparisons.

For lists that are new, and for those whose order has changed so much that insertion sort would take n * n steps.
"""

from __future__ import annotations

from impinge.incremental.sweep.item_list import length_of, low_end
from impinge.kernels.jit import inner


@inner
def _merge(frames, begin, left, middle, right):
    """Merge two sorted runs of the list at ``begin`` that follow each other, into scratch."""
    items, low_ends, merged = frames.items, frames.low_ends, frames.merged
    i, j = left, middle
    for k in range(left, right):
        if j == right or (i < middle and low_ends[items[begin + i]] <= low_ends[items[begin + j]]):
            merged[k] = items[begin + i]
            i += 1
        else:
            merged[k] = items[begin + j]
            j += 1


@inner
def sort_anew(frames, a, b, items, axis):
    """Sort a list along an axis, whatever its order was."""
    begin, count = items.begin, length_of(items)
    for number in range(count):
        frames.items[begin + number] = number
        frames.low_ends[number] = low_end(a, b, items, axis, number)
    width = 1
    while width < count:
        for left in range(0, count, 2 * width):
            _merge(frames, begin, left, min(left + width, count), min(left + 2 * width, count))
        for k in range(count):
            frames.items[begin + k] = frames.merged[k]
        width *= 2
