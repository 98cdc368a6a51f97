# mypy: allow-untyped-defs, allow-incomplete-defs
"""Simultaneous traversal of two bounding volume hierarchies, for any volume and any leaf operation.

Zachmann (1997) asks for a generic simultaneous traversal with an exchangeable leaf operation that can be
interrupted; the order of descent, always into the larger volume, is that of RAPID (Gottschalk, Lin, Manocha 1996).
One step takes a pair of volumes (``next_pair``), opens the larger one, and compares its eight children with the other
one, all at once (``open_pair``):

    stack, heap, front --> pair (slot of a, slot of b) --> near: the larger, far: the other
                 far volume --carried into the frame of near--> eight comparisons --> bits
                     bits that are triangles, if far is one too  --> leaf operation
                     other bits                                  --> stack, nearest on top
                     children that are not among the bits        --> front, if there is one

Where the smallest distance is sought the first pairs are opened best first: they form a heap below the stack
(``open_pairs``).  All that is remembered is in the workspace, so a traversal that was stopped goes on when it is called
again.

Calls through @generic
----------------------
``traverse`` knows neither volumes nor leaf operations.  It calls functions marked ``@generic``, of which the compiler
takes the version for the class, a record or NamedTuple, of the first argument; ``@name.of(Class)`` registers one.

==================  ==================  ============================================================================
generic function    called by           versions, each registered in
==================  ==================  ============================================================================
``candidates``      ``_compare``        ``leaves.contact_leaves`` (FirstContact, AllContacts),
``visit``           ``open_pair``       ``leaves.distance_leaves`` (Nearest, Within), ``leaves.own_leaf`` (a function of
                                        the user's), ``pieces.pieces_kernels`` (PieceQuestion)
``size_of``         ``_opens_a``        ``volumes.protocol`` (OBBBody, AABBBody, SphereBody),
                                        ``pieces.pieces_kernels`` (PiecesBody)
``carried``, ...    versions of         ``volumes.protocol``, which lists all eight functions of a volume
                    ``candidates``
==================  ==================  ============================================================================

``traverse`` itself is called by the templates of ``questions`` (which make the leaf operation) and by
``pieces.pieces_kernels``; the templates by the entry kernels, ``volumes.obb_kernels`` and its like.
"""

from __future__ import annotations

from typing import Any, NamedTuple

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
from impinge.bvh.open_pairs import ABOVE_ROOT, pop_heap, push_children, put
from impinge.bvh.volumes.protocol import size_of
from impinge.kernels.jit import generic, inlined
from impinge.kernels.lanes import count_bits

USED = 8
"""Where the bits of used slots begin in ``slots``; below them are the bits of slots that hold a triangle."""


@generic
def candidates(leaf, near, far, node, far_ref, side, work):
    """The children (bits) that must be compared with a far volume; lower bounds, as on the stack, go to work.lanes.

    ``side`` is 0 where near is a, 1 where near is b; ``work.motions[side]`` carries far into the frame of near.
    """


@generic
def visit(leaf, near, far, node, slots, far_ref, side, work):
    """Compare triangles (bits of a node) of near with one of far; return whether the question is answered."""


class Opening(NamedTuple):
    """What is opened next: children of a node of the near body, against one volume of the far one."""

    node: Any
    bits: Any
    """Which children."""
    far_ref: Any
    side: Any
    """0 where near is a, 1 where near is b."""
    entry: Any
    """The place in the front that it was taken from, or NOWHERE."""
    kind: Any
    """TRIANGLES where the volumes need not be compared: the children are triangles of an entry of the front."""
    best_first: Any
    """Whether the children go into the heap."""


@inlined
def traverse(leaf, a, b, work):
    """Go on until all is done, the budget is used up or the leaf operation says stop; return whether it did.

    There is one place each where volumes are opened and where triangles are visited, for both bodies and for pairs
    from the front and from the stack: the code there is large.
    """
    recording = work.mode != PLAIN
    height = work.open_count  # in a register: through memory every push would wait for the last
    heap = work.heap
    answered = False
    while not answered:
        found, opening, height, heap = next_pair(a, b, work, recording, height, heap)
        if not found:
            break
        if opening.side == 0:
            near, far = a, b
        else:
            near, far = b, a
        answered, height, heap = open_pair(leaf, near, far, opening, work, recording, height, heap)
    work.open_count = height
    work.heap = heap
    return answered


# ------------------------------------------------------------------------ the next pair


@inlined
def next_pair(a, b, work, recording, height, heap):
    """Take the next pair that is in reach from the stack, its heap or the front.

    Return whether there is one (and budget for it), what is to be opened, and the new heights of stack and heap.
    """
    found = False
    node, bits, far_ref, side = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    entry, kind, best_first = np.int64(NOWHERE), np.int64(PAIR), False
    while not found:
        if height > 0:
            if work.box_tests >= work.budget:
                break
            height -= 1
            if height < heap:
                pop_heap(work, height)
                heap = height
            ref_a = np.int64(work.refs[height, 0])
            ref_b = np.int64(work.refs[height, 1])
            if work.bounds[height] > work.local_reach[0]:
                if recording:
                    keep_pair(work, ref_a, ref_b, work.bounds[height], a.unit)
                continue
            if _opens_a(a, b, ref_a, ref_b, work.motions[0].scale):
                near, near_ref, far_ref, side = a, ref_a, ref_b, np.int64(0)
            else:
                near, near_ref, far_ref, side = b, ref_b, ref_a, np.int64(1)
            node = np.int64(near.child[near_ref]) if near_ref != ABOVE_ROOT else np.int64(0)
            bits = np.int64(near.slots[node]) >> USED
            best_first = height == heap and work.heap_left > 0
            found = True
        elif recording:
            place = next_entry(work)
            if place == NOWHERE:
                break
            node, far_ref, bits, side, kind = read_entry(work, place)
            if kind == PAIR:  # two volumes that were not compared further: now they are
                strike(work, place)
                put(work, 0, node, far_ref, 0, np.float32(0.0))
                height = 1
            else:
                entry = place
                found = True
        else:
            break
    return found, Opening(node, bits, far_ref, side, entry, kind, best_first), height, heap


@inlined
def _opens_a(a, b, ref_a, ref_b, scale):
    """The larger of two volumes is opened, if it can be."""
    if ref_a == ABOVE_ROOT or b.child[ref_b] < 0:
        return True
    return a.child[ref_a] >= 0 and size_of(a, ref_a) >= scale * size_of(b, ref_b)


# ---------------------------------------------------------------------------- to open it


@inlined
def open_pair(leaf, near, far, opening, work, recording, height, heap):
    """Compare the children of the near volume with the far one; push the volumes, visit the triangles among them.

    Return whether the question is answered, and the new heights of stack and heap.
    """
    node, far_ref, side, entry = opening.node, opening.far_ref, opening.side, opening.entry
    triangles = opening.bits
    if opening.kind != TRIANGLES:
        found = _compare(leaf, near, far, node, far_ref, opening.bits, side, work)
        if recording:
            unit_of_a = near.unit if side == 0 else far.unit
            keep_children(work, entry, node, far_ref, opening.bits & ~found, side, unit_of_a)
            entry = np.int64(NOWHERE)
        triangles = np.int64(0)
        if far.child[far_ref] < 0:
            triangles = found & np.int64(near.slots[node])
        height = push_children(work, node, far_ref, found & ~triangles, side, height, opening.best_first)
        if opening.best_first:
            work.heap_left -= 1
            heap = height
    answered = False
    if triangles != 0:
        answered = visit(leaf, near, far, node, triangles, far_ref, side, work)
        if recording:
            keep_triangles(work, entry, node, far_ref, triangles, side, near.unit)
    return answered, height, heap


@inlined
def _compare(leaf, near, far, node, far_ref, asked, side, work):
    """Compare children (bits) of a node with a volume of far; return those that may be of interest."""
    work.box_tests += count_bits(asked)
    return candidates(leaf, near, far, node, far_ref, side, work) & asked
