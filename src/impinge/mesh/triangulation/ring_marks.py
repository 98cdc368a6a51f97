# mypy: allow-untyped-defs, allow-incomplete-defs
"""Marks on the corners of a ring, such that the next marked corner from any place is found in O(log n) steps.

A complete binary tree, (2 m,) bytes for m leaves, a power of two: node k has the children 2 k and 2 k + 1, corner i is
node m + i, and an inner node has all marks that stand below it.
"""

from __future__ import annotations

import numpy as np

from impinge.kernels.jit import inner


@inner
def all_marked(count, mark):
    """The tree of a ring with one mark on every corner."""
    leaves = 1
    while leaves < count:
        leaves *= 2
    marks = np.zeros(2 * leaves, dtype=np.uint8)
    marks[leaves : leaves + count] = mark
    for node in range(leaves - 1, 0, -1):
        marks[node] = marks[2 * node] | marks[2 * node + 1]
    return marks


@inner
def set_mark(marks, corner, mark):
    node = len(marks) // 2 + corner
    marks[node] = mark
    while node > 1:
        node //= 2
        both = marks[2 * node] | marks[2 * node + 1]
        if marks[node] == both:
            return
        marks[node] = both


@inner
def next_marked(marks, start, mark):
    """The first corner with a mark, from ``start`` on and around the ring, or -1."""
    if marks[1] & mark == 0:
        return -1
    leaves = len(marks) // 2
    node = leaves + start
    if marks[node] & mark:
        return start
    while node > 1 and (node % 2 == 1 or marks[node + 1] & mark == 0):
        node //= 2
    if node > 1:  # otherwise it stands before the start, and the root leads to the first of all
        node += 1
    while node < leaves:
        node *= 2
        if marks[node] & mark == 0:
            node += 1
    return node - leaves


@inner
def last_marked(marks, start, mark):
    """The last corner with a mark, from ``start`` on and around the ring, or -1."""
    if marks[1] & mark == 0:
        return -1
    leaves = len(marks) // 2
    node = leaves + start
    while node > 1 and (node % 2 == 0 or marks[node - 1] & mark == 0):
        node //= 2
    if node > 1:
        node -= 1
    while node < leaves:
        node = 2 * node + 1
        if marks[node] & mark == 0:
            node -= 1
    return node - leaves
