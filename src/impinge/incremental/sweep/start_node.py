# mypy: allow-untyped-defs, allow-incomplete-defs
"""Where the sweep starts in a hierarchy: the lowest node that holds all that reaches into the common box.

All contacts lie in the common box of the two roots (and of the region of interpenetration of the hulls, if that is
known).  The paper starts at the features that penetrate and climbs until the hierarchies no longer overlap: here, from
the node where the last frame started up to the last ancestor beside which something reaches into the common box, then
down again as long as only one child does.  Nothing outside that node can have a contact.  It costs the children of the
nodes on the way from the root, which are at most as many as the hierarchy has levels.
"""

from __future__ import annotations

import numpy as np

from impinge.incremental.frame_memory import NONE
from impinge.incremental.hierarchy.box_updates import is_leaf, open_node
from impinge.incremental.sweep.box_overlap import reaches
from impinge.kernels.jit import inner


@inner
def _children_that_reach(frames, hierarchy, node, common):
    """How many children reach into the common box, and the last of them."""
    open_node(hierarchy, node)
    first, count, last = np.int64(hierarchy.first[node]), 0, NONE
    for item in range(first, first + hierarchy.count[node]):
        if reaches(hierarchy.boxes, item, common):
            count += 1
            last = item
    frames.effort.box_tests += hierarchy.count[node]
    return count, last


@inner
def start_node(frames, hierarchy, node, common):
    """The node to start at, given the one of the last frame; NONE if nothing reaches into the common box."""
    top = node
    while node != 0:
        parent = np.int64(hierarchy.parent[node])
        count, last = _children_that_reach(frames, hierarchy, parent, common)
        if count > 1 or (count == 1 and last != node):
            top = parent
        node = parent
    while not is_leaf(hierarchy, top):
        count, last = _children_that_reach(frames, hierarchy, top, common)
        if count == 0:
            return NONE
        if count > 1:
            break
        top = last
    return top
