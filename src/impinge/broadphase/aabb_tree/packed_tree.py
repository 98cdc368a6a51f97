# mypy: allow-untyped-defs, allow-incomplete-defs
"""A bounding volume hierarchy of axis-aligned boxes, packed without pointers: eight boxes a leaf, eight leaves a node.

Neighbours along a space-filling curve share a leaf.

The boxes are float32 numbers in coordinates of the tree's own.  Going there, x -> (x - origin) * scale, and rounding to
float32 are monotone: where low <= high held before, it holds after.  So boxes that overlap are never told apart, and
nothing has to be rounded outward.  Blocks of eight boxes lie level by level, leaves first, for each class of sizes
(``broadphase.aabb_tree.curve_order``) on its own; node k of a level holds the nodes 8 k to 8 k + 7 of the level below.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.broadphase.aabb_tree.curve_order import CLASSES, curve_order
from impinge.broadphase.pair_keys import joined, longer_keys, new_keys
from impinge.kernels.jit import inlined, inner, kernel
from impinge.kernels.lanes import eight_lanes, lowest_bit

WIDTH = 8
MOST_LEVELS = 12
LEAVES = 0
"""Columns of the levels of a class: how many leaves there are,"""
TOP = 1
"""which level is the top (0: leaves, -1: there are none),"""
STARTS = 2
"""and where each level begins in the blocks."""

NOTHING = -1
"""In place of an object, where a leaf is not full."""


class PackedTree(NamedTuple):
    """A bounding volume hierarchy over some of the objects, which are known by their numbers."""

    slots: NDArray[np.int32]
    """(8 leaves,) which object is where, class by class."""
    blocks: NDArray[np.float32]
    """(nodes, 6, 8) low and high corners of eight boxes."""
    levels: NDArray[np.int64]
    """(classes, 2 + levels)"""


@eight_lanes
def boxes_overlap(rows: Any, box: Any) -> Any:
    return (
        (rows[0] <= box[3]) & (rows[3] >= box[0])
        & (rows[1] <= box[4]) & (rows[4] >= box[1])
        & (rows[2] <= box[5]) & (rows[5] >= box[2])
    )  # fmt: skip


@inlined
def in_tree(rows, i, k, margin, origin, scale):
    """A number of a box in the coordinates of the tree; high ends with the margin, rounded up."""
    x = rows[i, k]
    if k >= 3 and margin > 0.0:
        x = np.nextafter(x + margin, np.inf)
    return np.float32((x - origin[k % 3]) * scale)


def packed_tree(rows: Any, boxes: Any, chosen: Any) -> PackedTree:
    """A tree of the ``chosen`` objects; ``rows`` only give the order, ``boxes`` (n, 6) are in its coordinates."""
    order, starts = curve_order(rows, chosen)
    return PackedTree(*_fit(order, starts, boxes))


@kernel
def _fit(order, class_starts, boxes):
    levels = np.zeros((CLASSES, STARTS + MOST_LEVELS), dtype=np.int64)
    total, leaves = 0, 0
    for kind in range(CLASSES):
        count = (class_starts[kind + 1] - class_starts[kind] + WIDTH - 1) // WIDTH
        levels[kind, LEAVES] = count
        levels[kind, TOP] = -1
        leaves += count
        while count > 0:
            level = levels[kind, TOP] + 1
            levels[kind, TOP] = level
            levels[kind, STARTS + level] = total
            total += count
            if count == 1 and level > 0:
                break
            count = (count + WIDTH - 1) // WIDTH
    slots = np.full(WIDTH * leaves, NOTHING, dtype=np.int32)
    blocks = np.empty((total, 6, WIDTH), dtype=np.float32)
    leaf = 0
    for kind in range(CLASSES):
        first = class_starts[kind]
        for i in range(first, class_starts[kind + 1]):
            slots[WIDTH * leaf + i - first] = order[i]
        _fill_leaves(slots, leaf, blocks, levels[kind, STARTS], levels[kind, LEAVES], boxes)
        leaf += levels[kind, LEAVES]
        for level in range(1, levels[kind, TOP] + 1):
            below = levels[kind, STARTS + level - 1]
            _fill_level(blocks, below, levels[kind, STARTS + level], levels[kind, STARTS + level] - below)
    return slots, blocks, levels


@inner
def _put_nothing(blocks, block, lane):
    for k in range(3):
        blocks[block, k, lane] = np.inf
        blocks[block, 3 + k, lane] = -np.inf


@inner
def _fill_leaves(slots, first_leaf, blocks, first_block, count, boxes):
    for leaf in range(count):
        for lane in range(WIDTH):
            i = slots[WIDTH * (first_leaf + leaf) + lane]
            if i == NOTHING:
                _put_nothing(blocks, first_block + leaf, lane)
            else:
                for k in range(6):
                    blocks[first_block + leaf, k, lane] = boxes[i, k]


@inner
def _fill_level(blocks, below, start, count_below):
    """Boxes around the blocks of the level below."""
    for child in range(WIDTH * ((count_below + WIDTH - 1) // WIDTH)):
        block, lane = start + child // WIDTH, child % WIDTH
        if child >= count_below:
            _put_nothing(blocks, block, lane)
            continue
        for k in range(3):
            low, high = blocks[below + child, k, 0], blocks[below + child, 3 + k, 0]
            for other in range(1, WIDTH):
                low = min(low, blocks[below + child, k, other])
                high = max(high, blocks[below + child, 3 + k, other])
            blocks[block, k, lane] = low
            blocks[block, 3 + k, lane] = high


@inlined
def box_in(blocks, block, lane):
    return (
        blocks[block, 0, lane], blocks[block, 1, lane], blocks[block, 2, lane],
        blocks[block, 3, lane], blocks[block, 4, lane], blocks[block, 5, lane],
    )  # fmt: skip


@inner
def first_leaf(levels, kind):
    leaf = 0
    for other in range(kind):
        leaf += levels[other, LEAVES]
    return leaf


@inner
def near_leaves(blocks, levels, kind, box, first, stack, leaves):
    """List the leaves of a class that a box overlaps, from the ``first`` on; return how many there are."""
    stack[0, 0], stack[0, 1] = levels[kind, TOP], 0
    height, found = 1, 0
    while height > 0:
        height -= 1
        level, node = stack[height, 0], stack[height, 1]
        bits = boxes_overlap(blocks, levels[kind, STARTS + level] + node, box, 0)
        bits &= -1 << max(min((first >> (3 * (level - 1))) - WIDTH * node, WIDTH), 0)
        while bits != 0:
            child = WIDTH * node + lowest_bit(bits)
            bits &= bits - 1
            if level == 1:
                leaves[found] = child
                found += 1
            else:
                stack[height, 0], stack[height, 1] = level - 1, child
                height += 1
    return found


@inner
def new_stack():
    return np.empty((WIDTH * MOST_LEVELS, 2), dtype=np.int64)


@kernel
def overlaps_within(slots, blocks, levels):
    """Keys of the numbers of all pairs whose boxes overlap, in no order, in the first places of a list."""
    keys, found = new_keys(2 * len(slots)), 0
    for small in range(CLASSES):
        for large in range(small + 1):
            keys, found = _join(slots, blocks, levels, small, slots, blocks, levels, large, small == large, keys, found)
    return keys, found


@kernel
def overlaps_between(slots_a, blocks_a, levels_a, slots_b, blocks_b, levels_b, keys, found):
    """The same for pairs of one object of each tree, added to a list."""
    for kind_a in range(CLASSES):
        for kind_b in range(CLASSES):
            keys, found = _join(
                slots_a, blocks_a, levels_a, kind_a, slots_b, blocks_b, levels_b, kind_b, False, keys, found
            )
    return keys, found


@inner
def _join(slots_a, blocks_a, levels_a, kind_a, slots_b, blocks_b, levels_b, kind_b, is_same, keys, found):
    """Every leaf of a goes down the tree b; within one tree each pair of leaves meets once."""
    if levels_a[kind_a, LEAVES] == 0 or levels_b[kind_b, LEAVES] == 0:
        return keys, found
    first_a, first_b = first_leaf(levels_a, kind_a), first_leaf(levels_b, kind_b)
    leaves_a, leaves_b = levels_a[kind_a, STARTS], levels_b[kind_b, STARTS]
    nodes_a, nodes_b = levels_a[kind_a, STARTS + 1], levels_b[kind_b, STARTS + 1]
    stack, near = new_stack(), np.empty(levels_b[kind_b, LEAVES], dtype=np.int64)
    for leaf in range(levels_a[kind_a, LEAVES]):
        around = box_in(blocks_a, nodes_a + leaf // WIDTH, leaf % WIDTH)
        count = near_leaves(blocks_b, levels_b, kind_b, around, leaf if is_same else 0, stack, near)
        for k in range(count):
            other = near[k]
            if found + WIDTH * WIDTH > len(keys):
                keys = longer_keys(keys, found, WIDTH * WIDTH)
            found = _join_leaves(
                slots_a, blocks_a, leaves_a + leaf, WIDTH * (first_a + leaf),
                slots_b, blocks_b, leaves_b + other, WIDTH * (first_b + other),
                box_in(blocks_b, nodes_b + other // WIDTH, other % WIDTH), is_same and leaf == other, keys, found,
            )  # fmt: skip
    return keys, found


@inner
def _join_leaves(slots_a, blocks_a, leaf_a, place_a, slots_b, blocks_b, leaf_b, place_b, around_b, is_one, keys, found):
    near = boxes_overlap(blocks_a, leaf_a, around_b, 0)
    while near != 0:
        lane = lowest_bit(near)
        near &= near - 1
        bits = boxes_overlap(blocks_b, leaf_b, box_in(blocks_a, leaf_a, lane), 0)
        if is_one:
            bits &= -2 << lane
        while bits != 0:
            keys[found] = joined(slots_a[place_a + lane], slots_b[place_b + lowest_bit(bits)])
            found += 1
            bits &= bits - 1
    return found
