# mypy: allow-untyped-defs, allow-incomplete-defs
"""A list of items sorted by their low ends, given their order of the last frame: insertion sort.

It takes n steps and one for each pair that has changed places, so where little has moved it is linear.  A list that
takes more than eight exchanges an item is sorted by merging instead, so no motion costs more than n log n.
"""

from __future__ import annotations

import numpy as np

from impinge.incremental.sweep.item_list import length_of, low_end
from impinge.incremental.sweep.merge_sort import sort_anew
from impinge.kernels.jit import inner

_MOST_EXCHANGES = 8
"""For each item of a list."""


@inner
def mend_order(frames, a, b, items, axis):
    """Sort a list along an axis, which was sorted along it a frame ago."""
    begin, count = items.begin, length_of(items)
    order, low_ends = frames.items, frames.low_ends
    exchanges = 0
    for i in range(count):
        number = order[begin + i]
        low = low_end(a, b, items, axis, np.int64(number))
        place = i
        while place > 0 and low_ends[place - 1] > low:
            low_ends[place] = low_ends[place - 1]
            order[begin + place] = order[begin + place - 1]
            place -= 1
        low_ends[place] = low
        order[begin + place] = number
        exchanges += i - place
        if exchanges > _MOST_EXCHANGES * count:
            sort_anew(frames, a, b, items, axis)
            break
    frames.effort.exchanges += exchanges
