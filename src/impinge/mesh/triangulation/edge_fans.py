# mypy: allow-untyped-defs, allow-incomplete-defs
"""The directions in which edges leave places where several corners stand, sorted around each place.

A treap (Seidel and Aragon, 1996, "Randomized search trees") for each place: a search tree in the order of angles, whose
root has the highest of some random priorities.  So the direction of highest priority within an angle is the first one
on the way down that lies in it, and every operation takes O(log k) steps for k directions, on average.

A node is one direction, with the number of edges that have it: edges that run along each other are one node, however
many there are.  All comparisons are exact.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from impinge.geometry.exact.predicates import orient2d_often_flat
from impinge.kernels.jit import inner


class Fans(NamedTuple):
    """The treaps of all places of a polygon of n corners.

    An edge is seen from its corner: 2 * corner is the number of that to the corner before, 2 * corner + 1 of the other.
    """

    points: Any
    """(n, 2)"""
    child: Any
    """(2 n + n, 2) of each node the next one below it, before and after it, or -1; then for each place its root."""
    far: Any
    """(2 n,) a corner in the direction of the node."""
    count: Any
    """(2 n,) how many edges have it."""
    numbers: Any
    """(2 n,) the sum of their numbers: if only one is left, its own."""
    priority: Any
    free: Any
    """(2 n + 1,) nodes that are not used, and last how many."""


@inner
def no_edges(points, priority):
    """Fans without any edge."""
    nodes = 2 * len(points)
    free = np.empty(nodes + 1, dtype=np.int64)
    for i in range(nodes):
        free[i] = nodes - 1 - i
    free[nodes] = nodes
    child = np.full((nodes + len(points), 2), -1, dtype=np.int64)
    count, numbers = np.zeros(nodes, dtype=np.int64), np.zeros(nodes, dtype=np.int64)
    return Fans(points, child, np.empty(nodes, dtype=np.int64), count, numbers, priority, free)


@inner
def add_edge(fans, place, number, tip, far):
    """The node of an edge from a place to another corner; ``tip`` is any corner at the place."""
    child, priority, nodes = fans.child, fans.priority, len(fans.far)
    new = fans.free[fans.free[nodes] - 1]
    row, side = nodes + place, 0
    new_row, new_side = row, side
    node = child[row, side]
    while node >= 0:
        order = _order(fans.points, tip, far, fans.far[node])
        if order == 0:
            fans.count[node] += 1
            fans.numbers[node] += number
            return node
        if priority[node] > priority[new]:
            new_row, new_side = node, 1 if order > 0 else 0
        node = child[node, 1 if order > 0 else 0]
    fans.free[nodes] -= 1
    fans.far[new], fans.count[new], fans.numbers[new] = far, 1, number
    node = child[new_row, new_side]
    child[new_row, new_side] = new
    _split(fans, node, tip, new)
    return new


@inner
def _split(fans, node, tip, new):
    """Hang all nodes from one downward below a new one."""
    child = fans.child
    before, before_side, after, after_side = new, 0, new, 1
    while node >= 0:
        if _order(fans.points, tip, fans.far[node], fans.far[new]) < 0:
            child[before, before_side] = node
            before, before_side, node = node, 1, child[node, 1]
        else:
            child[after, after_side] = node
            after, after_side, node = node, 0, child[node, 0]
    child[before, before_side] = -1
    child[after, after_side] = -1


@inner
def take_edge(fans, place, number, tip, node):
    """Take an edge away from its node; how many are left there."""
    fans.count[node] -= 1
    fans.numbers[node] -= number
    if fans.count[node] > 0:
        return fans.count[node]
    child, nodes = fans.child, len(fans.far)
    row, side = nodes + place, 0
    while child[row, side] != node:
        row = child[row, side]
        side = 1 if _order(fans.points, tip, fans.far[node], fans.far[row]) > 0 else 0
    before, after = child[node, 0], child[node, 1]
    while before >= 0 and after >= 0:
        if fans.priority[before] > fans.priority[after]:
            child[row, side] = before
            row, side, before = before, 1, child[before, 1]
        else:
            child[row, side] = after
            row, side, after = after, 0, child[after, 0]
    child[row, side] = max(before, after)
    fans.free[fans.free[nodes]] = node
    fans.free[nodes] += 1
    return 0


@inner
def edge_into(fans, place, before, tip, after, own):
    """A node that runs into the angle of a left turn, or -1: the one of highest priority but for ``own``."""
    root = fans.child[len(fans.far) + place, 0]
    found = -1
    # Where the angle holds the direction at which the order begins, it is two intervals; and what is left without
    # ``own`` stands before and after it.
    wraps = _order(fans.points, tip, after, before) > 0
    for part in range(2 if wraps else 1):
        low = after if part == 0 else -1
        high = before if part == 1 or not wraps else -1
        node = root
        rest = -1
        while node >= 0 or rest >= 0:
            if node < 0:
                node, rest = rest, -1
            if low >= 0 and _order(fans.points, tip, fans.far[node], low) <= 0:
                node = fans.child[node, 1]
            elif high >= 0 and _order(fans.points, tip, fans.far[node], high) >= 0:
                node = fans.child[node, 0]
            elif node == own:
                node, rest = fans.child[node, 0], fans.child[node, 1]
            else:
                if found < 0 or fans.priority[node] > fans.priority[found]:
                    found = node
                node = -1
    return found


@inner
def _order(points, tip, p, q):
    """The order of two directions by their angles from 0 on: negative if that to p comes first, 0 if they are equal."""
    half_p, half_q = _half(points, tip, p), _half(points, tip, q)
    if half_p != half_q:
        return half_p - half_q
    return -orient2d_often_flat(points[tip, 0], points[tip, 1], points[p, 0], points[p, 1], points[q, 0], points[q, 1])


@inner
def _half(points, tip, p):
    """0 for angles below a half turn, otherwise 1."""
    if points[p, 1] == points[tip, 1]:
        return 0 if points[p, 0] > points[tip, 0] else 1
    return 0 if points[p, 1] > points[tip, 1] else 1
