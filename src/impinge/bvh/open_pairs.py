# mypy: allow-untyped-defs, allow-incomplete-defs
"""The pairs of volumes that a traversal has still to open: a stack, with a heap of the nearest at its bottom.

Both live in ``work.refs`` and ``work.bounds``.  Where the smallest distance is sought, the first pairs are opened best
first: they form a binary heap in the lowest ``heap`` places, and what is opened depth first stands above it.
"""

from __future__ import annotations

import numpy as np

from impinge.bvh.layout import WIDTH
from impinge.kernels.jit import inlined
from impinge.kernels.lanes import lowest_bit

ABOVE_ROOT = -1
"""A slot that has the root as its child: opening it compares the roots themselves."""


@inlined
def start(work, best_first):
    """Put the pair of roots on an empty stack; so many volumes shall be opened best first."""
    work.refs[0, 0] = ABOVE_ROOT
    work.refs[0, 1] = 0
    work.bounds[0] = np.float32(-np.inf)
    work.open_count = 1
    for k in range(WIDTH):
        work.lanes[k] = np.float32(0.0)  # volumes that are only asked whether they meet leave no bounds there
    work.heap = 0
    work.heap_left = best_first


@inlined
def _move(work, source, target):
    work.bounds[target] = work.bounds[source]
    work.refs[target, 0] = work.refs[source, 0]
    work.refs[target, 1] = work.refs[source, 1]


@inlined
def put(work, place, near_ref, far_ref, side, bound):
    """Write a pair into a place; ``side`` is 0 where near is a, 1 where near is b."""
    work.bounds[place] = bound
    work.refs[place, side] = near_ref
    work.refs[place, 1 - side] = far_ref


@inlined
def _push(work, place, near_ref, far_ref, side, bound, base):
    """Put a pair on top of the stack, or below the nearer ones above ``base``."""
    while place > base and work.bounds[place - 1] < bound:
        _move(work, place - 1, place)
        place -= 1
    put(work, place, near_ref, far_ref, side, bound)


@inlined
def _push_heap(work, place, near_ref, far_ref, side, bound):
    """Add a pair to the heap (Williams 1964) of ``place`` pairs."""
    while place > 0 and work.bounds[(place - 1) >> 1] > bound:
        _move(work, (place - 1) >> 1, place)
        place = (place - 1) >> 1
    put(work, place, near_ref, far_ref, side, bound)


@inlined
def pop_heap(work, last):
    """Put the nearest pair of a heap behind its end, at ``last``, and leave a heap of ``last`` pairs."""
    bound = work.bounds[last]
    ref_a = work.refs[last, 0]
    ref_b = work.refs[last, 1]
    _move(work, 0, last)
    place = 0
    while True:
        child = 2 * place + 1
        if child >= last:
            break
        if child + 1 < last and work.bounds[child + 1] < work.bounds[child]:
            child += 1
        if work.bounds[child] >= bound:
            break
        _move(work, child, place)
        place = child
    if last > 0:
        put(work, place, ref_a, ref_b, 0, bound)


@inlined
def push_children(work, node, far_ref, bits, side, height, best_first):
    """Put children (bits) of a node, each with the far volume, on the stack or into the heap; return its height."""
    base = height
    while bits != 0:
        k = lowest_bit(bits)
        bits &= bits - 1
        if best_first:
            _push_heap(work, height, node * WIDTH + k, far_ref, side, work.lanes[k])
        else:
            _push(work, height, node * WIDTH + k, far_ref, side, work.lanes[k], base)
        height += 1
    return height
