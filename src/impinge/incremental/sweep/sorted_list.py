# mypy: allow-untyped-defs, allow-incomplete-defs
"""The sorted list of a pair of nodes, kept from frame to frame.

The order of a list changes little from frame to frame.  It is kept for each pair of nodes that was reached, and mended
by insertion sort.  The axis of a list is the one along which its items overlap least; it is chosen when a list is made,
which is done again every 64 frames.
"""

from __future__ import annotations

from impinge.incremental.frame_memory import NONE
from impinge.incremental.sweep.insertion_sort import mend_order
from impinge.incremental.sweep.item_list import best_axis, length_of
from impinge.incremental.sweep.merge_sort import sort_anew
from impinge.incremental.sweep.pair_hash import find_pair
from impinge.kernels.jit import inner

_RENEWED_EVERY = 64


@inner
def sort_list(frames, a, b, pair, items):
    """Make the list of a pair, or mend that of the last frame."""
    kept = find_pair(frames, frames.before, pair.node_a, pair.node_b)
    if kept != NONE and frames.frame % _RENEWED_EVERY != 0:
        earlier = frames.pairs[kept]
        pair.axis = earlier.axis
        for i in range(length_of(items)):
            frames.items[items.begin + i] = frames.items[earlier.begin + i]
        mend_order(frames, a, b, items, pair.axis)
    else:
        pair.axis = best_axis(a, b, items)
        sort_anew(frames, a, b, items, pair.axis)
    pair.begin = items.begin
