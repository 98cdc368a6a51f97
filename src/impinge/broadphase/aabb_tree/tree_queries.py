# mypy: allow-untyped-defs, allow-incomplete-defs
"""Box and ray queries of an AABB tree: which of its objects a box overlaps, or a ray may hit."""

from __future__ import annotations

import numpy as np

from impinge.broadphase.aabb_tree.curve_order import CLASSES
from impinge.broadphase.aabb_tree.packed_tree import (
    NOTHING,
    WIDTH,
    boxes_overlap,
    in_tree,
    near_leaves,
    new_stack,
    space_at,
    tree_at,
)
from impinge.broadphase.boxes import overlap_of
from impinge.broadphase.pair_keys import in_order, longer_keys
from impinge.kernels.jit import inlined, kernel
from impinge.kernels.lanes import lowest_bit

_INFLATION = 2.0**-20
"""Of the largest coordinate at hand: far more than what was rounded on the way into the tree, in float32."""


@kernel("float64[:, ::1], float64[:, ::1], int64, boolean[::1], int64, int64[::1], int64")
def touched_by_boxes(queries, rows, space, ignored, tree, keys, found):
    """Keys (number of the query box, number of the object) of all that overlap, added to a list.

    Objects that are ``ignored`` are not there.  Returns the list, its length and how many pairs were compared.
    """
    space, tree = space_at(space), tree_at(tree)
    tested = 0
    stack, near = new_stack(), np.empty(tree.leaves, dtype=np.int64)
    for i in range(len(queries)):
        box = (
            in_tree(queries, i, 0, space), in_tree(queries, i, 1, space), in_tree(queries, i, 2, space),
            in_tree(queries, i, 3, space), in_tree(queries, i, 4, space), in_tree(queries, i, 5, space),
        )  # fmt: skip
        for kind in range(CLASSES):
            if tree.classes[kind].leaves == 0:
                continue
            start = tree.classes[kind].starts[0]
            for k in range(near_leaves(tree, kind, box, 0, stack, near)):
                leaf = start + near[k]
                if found + WIDTH > len(keys):
                    keys = longer_keys(keys, found, WIDTH)
                bits = boxes_overlap(tree.blocks, leaf, box, 0)
                while bits != 0:
                    j = tree.slots[WIDTH * leaf + lowest_bit(bits)]
                    bits &= bits - 1
                    tested += 1
                    if not ignored[j] and overlap_of(queries, i, rows, j, space.margin):
                        keys[found] = in_order(i, j)
                        found += 1
    return keys, found, tested


@inlined
def _passes(blocks, block, lane, start, way, end):
    """Whether a ray may touch a box that is a little larger; where a time is not a number, it may."""
    if blocks[block, 0, lane] > blocks[block, 3, lane]:  # there is none
        return False
    first, last = 0.0, end
    for k in range(3):
        low, high = np.float64(blocks[block, k, lane]), np.float64(blocks[block, 3 + k, lane])
        slack = _INFLATION * (1.0 + max(abs(low), abs(high), abs(start[k])))
        to_low, to_high = low - slack - start[k], high + slack - start[k]
        if way[k] == 0.0:
            if to_low > 0.0 or to_high < 0.0:
                return False
        else:
            one, other = to_low / way[k], to_high / way[k]
            first = max(first, min(one, other))
            last = min(last, max(one, other))
    return not first > last


@kernel("float64[::1], float64[::1], float64, int64")
def near_ray(start, way, end, tree):
    """Objects that a ray may touch, in no order; all is in the coordinates of the tree."""
    tree = tree_at(tree)
    stack = new_stack()
    found, count = np.empty(64, dtype=np.int64), 0
    for kind in range(CLASSES):
        levels = tree.classes[kind]
        if levels.leaves == 0:
            continue
        place = WIDTH * levels.starts[0]
        stack[0, 0], stack[0, 1] = levels.top, 0
        height = 1
        while height > 0:
            height -= 1
            level, node = stack[height, 0], stack[height, 1]
            for lane in range(WIDTH):
                if not _passes(tree.blocks, levels.starts[level] + node, lane, start, way, end):
                    continue
                child = WIDTH * node + lane
                if level > 0:
                    stack[height, 0], stack[height, 1] = level - 1, child
                    height += 1
                elif tree.slots[place + child] != NOTHING:
                    if count == len(found):
                        found = longer_keys(found, count, 1)
                    found[count] = tree.slots[place + child]
                    count += 1
    return found, count
