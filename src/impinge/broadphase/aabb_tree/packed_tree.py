# mypy: allow-untyped-defs, allow-incomplete-defs
"""A bounding volume hierarchy of axis-aligned boxes, packed without pointers: eight boxes a leaf, eight leaves a node.

Neighbours along a space-filling curve share a leaf.

The boxes are float32 numbers in coordinates of the tree's own.  Going there, x -> (x - origin) * scale, and rounding to
float32 are monotone: where low <= high held before, it holds after.  So boxes that overlap are never told apart, and
nothing has to be rounded outward.  Blocks of eight boxes lie level by level for each class of sizes
(``broadphase.aabb_tree.curve_order``) on its own, the leaves of all classes in front; node k of a level holds the nodes
8 k to 8 k + 7 of the level below.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from impinge.broadphase.aabb_tree.curve_order import CLASSES, curve_order
from impinge.broadphase.pair_keys import joined, longer_keys, new_keys
from impinge.kernels.jit import inlined, inner, kernel
from impinge.kernels.lanes import eight_lanes, lowest_bit
from impinge.kernels.record import Record, float32, float64, int32, int64, records

WIDTH = 8
MOST_LEVELS = 12

NOTHING = -1
"""In place of an object, where a leaf is not full."""


class TreeSpace(Record, constant=True):
    """The coordinates of a tree: x -> (x - origin) * scale."""

    origin = float64[3]
    scale = float64
    margin = float64
    """Added to the high ends of boxes on their way there."""


class SizeClass(Record):
    """The levels of the objects of like size."""

    leaves = int64
    """How many there are."""
    top = int64
    """The highest level; leaves are level 0, and where there are any, so is a level above them."""
    starts = int64[MOST_LEVELS]
    """Where each level begins in the blocks."""


class PackedTree(Record):
    """A bounding volume hierarchy over some of the objects, which are known by their numbers."""

    slots = int32[:]
    """Which object is where: those of leaf k are the slots 8 k to 8 k + 7.  There may be room to spare."""
    blocks = float32[:, 6, WIDTH]
    """Low and high corners of eight boxes; the first blocks are the leaves."""
    leaves = int64
    """Of all classes."""
    classes = records(SizeClass)[CLASSES]


space_at, tree_at = TreeSpace.at, PackedTree.at


@eight_lanes
def boxes_overlap(rows: Any, box: Any) -> Any:
    return (
        (rows[0] <= box[3]) & (rows[3] >= box[0])
        & (rows[1] <= box[4]) & (rows[4] >= box[1])
        & (rows[2] <= box[5]) & (rows[5] >= box[2])
    )  # fmt: skip


@inlined
def in_tree(rows, i, k, space):
    """A number of a box in the coordinates of the tree; high ends with the margin, rounded up."""
    x = rows[i, k]
    if k >= 3 and space.margin > 0.0:
        x = np.nextafter(x + space.margin, np.inf)
    return np.float32((x - space.origin[k % 3]) * space.scale)


def packed_tree(rows: Any, boxes: Any, chosen: Any) -> PackedTree:
    """A tree of the ``chosen`` objects; ``rows`` only give the order, ``boxes`` (n, 6) are in its coordinates."""
    if len(chosen) == 0:
        return PackedTree()
    order, starts = curve_order(rows, chosen)
    # The last leaf of each class may hold one object, and so may the last node of each level.
    classes = min(len(order), CLASSES)
    leaves = len(order) // WIDTH + classes
    nodes = leaves // (WIDTH - 1) + classes * MOST_LEVELS
    tree = PackedTree(
        slots=np.empty(WIDTH * leaves, dtype=np.int32),
        blocks=np.empty((leaves + nodes, 6, WIDTH), dtype=np.float32),
    )
    _fit(order, starts, boxes, tree.address)
    return tree


@kernel("int32[::1], int64[::1], float32[:, ::1], int64")
def _fit(order, class_starts, boxes, tree):
    tree = tree_at(tree)
    leaf = 0
    for kind in range(CLASSES):
        first, stop = class_starts[kind], class_starts[kind + 1]
        levels = tree.classes[kind]
        levels.leaves = (stop - first + WIDTH - 1) // WIDTH
        levels.starts[0] = leaf
        for place in range(WIDTH * levels.leaves):
            i = first + place
            _put(tree, leaf + place // WIDTH, place % WIDTH, order[i] if i < stop else NOTHING, boxes)
        leaf += levels.leaves
    tree.leaves = leaf
    block = leaf
    for kind in range(CLASSES):
        levels = tree.classes[kind]
        levels.top = 0
        count = levels.leaves
        while count > 1 or (count == 1 and levels.top == 0):
            _fill_level(tree.blocks, levels.starts[levels.top], block, count)
            levels.top += 1
            levels.starts[levels.top] = block
            count = (count + WIDTH - 1) // WIDTH
            block += count
    return block


@inner
def _put_nothing(blocks, block, lane):
    for k in range(3):
        blocks[block, k, lane] = np.inf
        blocks[block, 3 + k, lane] = -np.inf


@inner
def _put(tree, leaf, lane, i, boxes):
    """An object, or NOTHING, into a leaf."""
    tree.slots[WIDTH * leaf + lane] = i
    if i == NOTHING:
        _put_nothing(tree.blocks, leaf, lane)
    else:
        for k in range(6):
            tree.blocks[leaf, k, lane] = boxes[i, k]


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
def near_leaves(tree, kind, box, first, stack, leaves):
    """List the leaves of a class that a box overlaps, from the ``first`` on; return how many there are.

    They are counted from the first one of the class.
    """
    blocks, starts = tree.blocks, tree.classes[kind].starts
    stack[0, 0], stack[0, 1] = tree.classes[kind].top, 0
    height, found = 1, 0
    while height > 0:
        height -= 1
        level, node = stack[height, 0], stack[height, 1]
        bits = boxes_overlap(blocks, starts[level] + node, box, 0)
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
    """Rows are a level and a node of it."""
    return np.empty((WIDTH * MOST_LEVELS, 2), dtype=np.int64)


@kernel
def overlaps_within(tree):
    """Keys of the numbers of all pairs whose boxes overlap, in no order, in the first places of a list."""
    tree = tree_at(tree)
    keys, found = new_keys(2 * WIDTH * tree.leaves), 0
    for small in range(CLASSES):
        for large in range(small + 1):
            keys, found = _join(tree, small, tree, large, small == large, keys, found)
    return keys, found


@kernel("int64, int64, int64[::1], int64")
def overlaps_between(a, b, keys, found):
    """The same for pairs of one object of each tree, added to a list."""
    a, b = tree_at(a), tree_at(b)
    for kind_a in range(CLASSES):
        for kind_b in range(CLASSES):
            keys, found = _join(a, kind_a, b, kind_b, False, keys, found)
    return keys, found


@inner
def _join(a, kind_a, b, kind_b, is_same, keys, found):
    """Every leaf of a goes down the tree b; within one tree each pair of leaves meets once."""
    levels_a, levels_b = a.classes[kind_a], b.classes[kind_b]
    count_a, count_b = levels_a.leaves, levels_b.leaves
    if count_a == 0 or count_b == 0:
        return keys, found
    leaves_a, leaves_b = levels_a.starts[0], levels_b.starts[0]
    nodes_a, nodes_b = levels_a.starts[1], levels_b.starts[1]
    stack, near = new_stack(), np.empty(count_b, dtype=np.int64)
    for leaf in range(count_a):
        around = box_in(a.blocks, nodes_a + leaf // WIDTH, leaf % WIDTH)
        count = near_leaves(b, kind_b, around, leaf if is_same else 0, stack, near)
        for k in range(count):
            other = near[k]
            if found + WIDTH * WIDTH > len(keys):
                keys = longer_keys(keys, found, WIDTH * WIDTH)
            around_other = box_in(b.blocks, nodes_b + other // WIDTH, other % WIDTH)
            is_one = is_same and leaf == other
            found = _join_leaves(a, leaves_a + leaf, b, leaves_b + other, around_other, is_one, keys, found)
    return keys, found


@inner
def _join_leaves(a, leaf_a, b, leaf_b, around_b, is_one, keys, found):
    near = boxes_overlap(a.blocks, leaf_a, around_b, 0)
    while near != 0:
        lane = lowest_bit(near)
        near &= near - 1
        bits = boxes_overlap(b.blocks, leaf_b, box_in(a.blocks, leaf_a, lane), 0)
        if is_one:
            bits &= -2 << lane
        while bits != 0:
            keys[found] = joined(a.slots[WIDTH * leaf_a + lane], b.slots[WIDTH * leaf_b + lowest_bit(bits)])
            found += 1
            bits &= bits - 1
    return found
