# mypy: allow-untyped-defs, allow-incomplete-defs
"""What is swept for a pair of nodes: the children of both, in one list, along one axis.

Items are numbered within the list: 0, 1, ... are those of a, and then come those of b.  So the order of a list is the
same permutation in every frame in which nothing has moved, whatever the boxes are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from impinge.incremental.hierarchy.box_updates import is_leaf, open_node
from impinge.incremental.hierarchy.posed_hierarchy import HIGH, LOW
from impinge.kernels.jit import inlined, inner


class ItemList(NamedTuple):
    """A list of items of a and of b."""

    begin: Any
    """Its place in ``frames.items``."""
    first_a: Any
    count_a: Any
    first_b: Any
    count_b: Any
    """They follow each other in both hierarchies."""


@inner
def items_below(a, b, pair, begin):
    """The children of two nodes; a leaf is itself in the list as long as the other node is none."""
    node_a, node_b = pair.node_a, pair.node_b
    leaf_a, leaf_b = is_leaf(a, node_a), is_leaf(b, node_b)
    first_a, count_a, first_b, count_b = node_a, np.int64(1), node_b, np.int64(1)
    if leaf_b or not leaf_a:
        open_node(a, node_a)
        first_a, count_a = np.int64(a.first[node_a]), np.int64(a.count[node_a])
    if leaf_a or not leaf_b:
        open_node(b, node_b)
        first_b, count_b = np.int64(b.first[node_b]), np.int64(b.count[node_b])
    return ItemList(begin, first_a, count_a, first_b, count_b)


@inlined
def length_of(items):
    return items.count_a + items.count_b


@inlined
def low_end(a, b, items, axis, number):
    """Where an item of a list begins along an axis."""
    if number < items.count_a:
        return a.boxes[items.first_a + number, LOW, axis]
    return b.boxes[items.first_b + number - items.count_a, LOW, axis]


@inner
def _spread(boxes, first, count, axis, known):
    """The lowest and the highest end of some items along an axis and the sum of their lengths, with what is known."""
    low, high, total = known
    for i in range(first, first + count):
        low, high = min(low, boxes[i, LOW, axis]), max(high, boxes[i, HIGH, axis])
        total += boxes[i, HIGH, axis] - boxes[i, LOW, axis]
    return low, high, total


@inner
def best_axis(a, b, items):
    """The axis along which items are shortest compared with the whole list, so that they overlap least."""
    best, fewest = 0, np.inf
    for axis in range(3):
        of_a = _spread(a.boxes, items.first_a, items.count_a, axis, (np.inf, -np.inf, 0.0))
        low, high, total = _spread(b.boxes, items.first_b, items.count_b, axis, of_a)
        if total < fewest * (high - low):
            best, fewest = axis, total / (high - low)
    return best
