# mypy: allow-untyped-defs, allow-incomplete-defs
"""The one traversal: two trees are descended at once, whatever their volumes and whatever is done at the leaves.

Zachmann (1997) asks for a generic simultaneous traversal with an exchangeable leaf operation that can be
interrupted; the order of descent, always into the larger volume, is that of RAPID (Gottschalk, Lin, Manocha 1996).
One step takes a pair of volumes from the stack, opens the larger one, and compares its eight
children with the other one, all at once:

    stack --> pair (slot of a, slot of b) --> near: the larger, far: the other
                 far volume --carried into the frame of near--> eight comparisons --> bits
                     bits that are triangles, if far is one too  --> leaf operation
                     other bits                                  --> stack, nearest on top
                     children that are not among the bits        --> front, if there is one

Where the smallest distance is sought the first pairs are opened best first: they form a heap below the stack.

A leaf operation is a NamedTuple class with its version of ``candidates`` (how volumes are compared) and
``visit`` (what is done with triangles).  All that is remembered is in the workspace, so a traversal
that was stopped goes on when it is called again.
"""

from __future__ import annotations

import numpy as np

from impinge.bvh.front import (
    NOWHERE,
    PAIR,
    PLAIN,
    TRIANGLES,
    keep_children,
    keep_pair,
    keep_triangles,
    next_entry,
    read_entry,
    strike,
)
from impinge.bvh.layout import WIDTH
from impinge.bvh.relative_motion import SCALE, motion_at
from impinge.bvh.volumes.protocol import size_of
from impinge.bvh.workspace import BOX_TESTS, BUDGET, HEAP, HEAP_LEFT, MODE, OPEN
from impinge.kernels.jit import generic, inlined
from impinge.kernels.lanes import count_bits, lowest_bit

USED = 8
"""Where the bits of used slots begin in ``slots``; below them are the bits of slots that hold a triangle."""


@generic
def candidates(leaf, near, far, node, far_ref, motion, side, work):
    """The children (bits) that must be compared with a far volume; lower bounds, as on the stack, go to work.lanes."""


@generic
def visit(leaf, near, far, node, slots, far_ref, motion, side, work):
    """Compare triangles (bits of a node) of near with one of far; return whether the question is answered.

    ``side`` is 0 where near is a, 1 where near is b.
    """


ABOVE_ROOT = -1
"""A slot that has the root as its child: opening it compares the roots themselves."""


@inlined
def start(work, best_first):
    """Put the pair of roots on an empty stack; so many volumes shall be opened best first."""
    work.refs[0, 0] = ABOVE_ROOT
    work.refs[0, 1] = 0
    work.bounds[0] = np.float32(-np.inf)
    work.counters[OPEN] = 1
    for k in range(WIDTH):
        work.lanes[k] = np.float32(0.0)  # volumes that are only asked whether they meet leave no bounds there
    work.counters[HEAP] = 0
    work.counters[HEAP_LEFT] = best_first


@inlined
def _move(work, source, target):
    work.bounds[target] = work.bounds[source]
    work.refs[target, 0] = work.refs[source, 0]
    work.refs[target, 1] = work.refs[source, 1]


@inlined
def _put(work, place, near_ref, far_ref, side, bound):
    work.bounds[place] = bound
    work.refs[place, side] = near_ref
    work.refs[place, 1 - side] = far_ref


@inlined
def _push(work, place, near_ref, far_ref, side, bound, base):
    """Put a pair on top of the stack, or below the nearer ones above ``base``."""
    while place > base and work.bounds[place - 1] < bound:
        _move(work, place - 1, place)
        place -= 1
    _put(work, place, near_ref, far_ref, side, bound)


@inlined
def _push_heap(work, place, near_ref, far_ref, side, bound):
    """Add a pair to the heap (Williams 1964) of ``place`` pairs."""
    while place > 0 and work.bounds[(place - 1) >> 1] > bound:
        _move(work, (place - 1) >> 1, place)
        place = (place - 1) >> 1
    _put(work, place, near_ref, far_ref, side, bound)


@inlined
def _pop_heap(work, last):
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
        _put(work, place, ref_a, ref_b, 0, bound)


@inlined
def _compare(leaf, near, far, node, far_ref, asked, side, work):
    """Compare children (bits) of a node with a volume of far; return those that must be looked at."""
    motion = motion_at(work.motions, side)
    work.counters[BOX_TESTS] += count_bits(asked)
    return candidates(leaf, near, far, node, far_ref, motion, side, work) & asked


@inlined
def _descend(work, node, far_ref, bits, side, height, best_first):
    """Put children (bits) of a node, each with the far volume, on the stack; return its height."""
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


@inlined
def _opens_a(a, b, ref_a, ref_b, scale):
    """The larger of two volumes is opened, if it can be."""
    if ref_a == ABOVE_ROOT or b.child[ref_b] < 0:
        return True
    return a.child[ref_a] >= 0 and size_of(a, ref_a) >= scale * size_of(b, ref_b)


@inlined
def traverse(leaf, a, b, work):
    """Go on until all is done, the budget is used up or the leaf operation says stop; return whether it did.

    There is one place each where volumes are opened and where triangles are visited, for both bodies and for pairs
    from the front and from the stack: the code there is large.
    """
    counters = work.counters
    recording = counters[MODE] != PLAIN
    scale = work.motions[0, SCALE]
    height = counters[OPEN]  # in a register: through memory every push would wait for the last
    heap = counters[HEAP]
    answered = False
    while not answered:
        entry = NOWHERE
        kind = PAIR
        best_first = False
        if height > 0:
            if counters[BOX_TESTS] >= counters[BUDGET]:
                break
            height -= 1
            if height < heap:
                _pop_heap(work, height)
                heap = height
            ref_a = np.int64(work.refs[height, 0])
            ref_b = np.int64(work.refs[height, 1])
            if work.bounds[height] > work.reach[0]:
                if recording:
                    keep_pair(work, ref_a, ref_b, work.bounds[height], a.unit)
                continue
            if _opens_a(a, b, ref_a, ref_b, scale):
                near, far, near_ref, far_ref, side = a, b, ref_a, ref_b, np.int64(0)
            else:
                near, far, near_ref, far_ref, side = b, a, ref_b, ref_a, np.int64(1)
            node = np.int64(near.child[near_ref]) if near_ref != ABOVE_ROOT else np.int64(0)
            bits = np.int64(near.slots[node]) >> USED
            best_first = height == heap and counters[HEAP_LEFT] > 0
        elif recording:
            entry = next_entry(work)
            if entry == NOWHERE:
                break
            first, far_ref, bits, side, kind = read_entry(work, entry)
            if kind == PAIR:
                strike(work, entry)
                _put(work, 0, first, far_ref, 0, np.float32(0.0))
                height = 1
                continue
            node = first
            if side == 0:
                near, far = a, b
            else:
                near, far = b, a
        else:
            break
        triangles = bits
        if kind != TRIANGLES:
            found = _compare(leaf, near, far, node, far_ref, bits, side, work)
            if recording:
                keep_children(work, entry, node, far_ref, bits & ~found, side, a.unit)
                entry = NOWHERE
            triangles = np.int64(0)
            if far.child[far_ref] < 0:
                triangles = found & np.int64(near.slots[node])
            height = _descend(work, node, far_ref, found & ~triangles, side, height, best_first)
            if best_first:
                counters[HEAP_LEFT] -= 1
                heap = height
        if triangles != 0:
            answered = visit(leaf, near, far, node, triangles, far_ref, motion_at(work.motions, side), side, work)
            if recording:
                keep_triangles(work, entry, node, far_ref, triangles, side, near.unit)
    counters[OPEN] = height
    counters[HEAP] = heap
    return answered
