# mypy: allow-untyped-defs, allow-incomplete-defs
"""Ear clipping of large polygons, compiled: the ears of ``triangulate.clip_ears``, found in O(n log n) tests.

``clip_ears`` walks around the polygon for each ear, and tests at each corner whether any other stands in its triangle.
Here a corner that was refused keeps the reason: it turns right, it is flat, or it is blocked, by one corner that is
remembered as the witness.  It is tested again only when one of its neighbours, or its witness, is gone.  A
corner that passes is cut off at once, so nothing else has to be remembered, and the ears are the same, one by one.

The witness is the blocking corner with the highest of some random priorities.  The order in which corners go does not
depend on them; so of the k corners that block an ear each is the witness with the same probability, and as they go one
by one, the witness is among them ln k times on average.  There are at most 3 n triangles to test, n at first and
two more for each ear: at most 3 n (1 + ln n) tests, for any polygon, however entangled.

Two trees speed them up: one over the ring finds the next corner to be tested (and, if there is no ear, the last flat
corner and the last that turns left), one over the plane (``corner_tree``) the witness.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats
from impinge.constants import LARGEST_COORDINATE
from impinge.geometry.exact.predicates import orient2d_often_flat
from impinge.kernels.jit import inner, kernel
from impinge.mesh.triangulation.corner_tree import (
    COLUMNS,
    PRIORITY,
    curve_order,
    empty_leaf,
    join,
    may_block,
    set_leaf,
    turn_edges,
)
from impinge.mesh.triangulation.ring_marks import all_marked, last_marked, next_marked, set_mark

OPEN = 1
"""A corner that is to be tested.  Corners that turn right, and those that are gone, have no mark."""
FLAT = 2
LEFT = 4
"""A corner that turns left but is blocked."""


class Ring(NamedTuple):
    """The corners that are left, linked both ways, and what is known about them.

    Functions that are called often take only what they need of it: an array travels as seven numbers or more.
    """

    points: Any
    """(n, 2)"""
    links: Any
    """(n, 2) the corner before and the corner after."""
    marks: Any
    tree: Any
    corner: Any
    """(n,) the corner of each leaf of the tree."""
    leaf: Any
    """(n,) the leaf of each corner."""
    cause: Any
    """(n,) why a corner is blocked: 2 * witness, or 2 * witness + 1 if that stands on a corner of the triangle and has
    an edge that runs into it; -1 for others."""
    first: Any
    """(2 n,) the first corner of the list of those with one cause, or -1."""
    neighbours: Any
    """(n, 2) the corners before and after in that list, or -1."""
    heap: Any
    """(n + 1,) nodes of the tree that are still to be searched: none stands below another."""


def clip_large(plane: Floats, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Triangles of all polygons, as positions within each; polygon i turns left and is plane[starts[i]:starts[i + 1]].

    Those of polygon i are the rows from starts[i] - 2 * i on.
    """
    triangles = np.empty((len(plane) - 2 * (len(starts) - 1), 3), dtype=np.int64)
    priority = np.random.default_rng(0).permutation(int(np.diff(starts).max())).astype(np.float64)
    _clip_rings(_magnified(plane, starts), curve_order(plane, starts), starts, priority, triangles)
    return triangles


def _magnified(plane: Floats, starts: NDArray[np.int64]) -> Floats:
    """The polygons as large as they may be, by powers of two: tiny ones would leave nothing to the float filters.

    Nothing is rounded, since no number becomes smaller.
    """
    largest = np.maximum.reduceat(np.abs(plane).max(axis=1), starts[:-1])
    most = np.frexp(LARGEST_COORDINATE)[1] - 1
    shift = np.maximum(most - np.frexp(largest)[1], 0)
    magnified: Floats = np.ldexp(plane, np.repeat(shift, np.diff(starts))[:, None])
    return magnified


@kernel
def _clip_rings(plane, order, starts, priority, triangles):
    for i in range(len(starts) - 1):
        first, end = starts[i], starts[i + 1]
        ring = _ring(plane[first:end], order[first:end], priority)
        _clip(ring, triangles[first - 2 * i : end - 2 * i - 2])


@inner
def _ring(points, order, priority):
    n = len(points)
    links, neighbours = np.empty((n, 2), dtype=np.int64), np.empty((n, 2), dtype=np.int64)
    tree, leaf = np.empty((2 * n, COLUMNS)), _integers(n)
    for i in range(n):
        links[i, 0] = i - 1 if i > 0 else n - 1
        links[i, 1] = i + 1 if i < n - 1 else 0
    for i in range(n):
        corner = order[i]
        leaf[corner] = n + i
        set_leaf(tree, n + i, points, links, corner, priority[corner])
    for node in range(n - 1, 0, -1):
        join(tree, node)
    return Ring(
        points, links, all_marked(n, OPEN), tree, order, leaf,
        _integers(n), _integers(2 * n), neighbours, _integers(n + 1),
    )  # fmt: skip


@inner
def _integers(count):
    return np.full(count, -1, dtype=np.int64)


@inner
def _clip(ring, triangles):
    corner = 0
    for i in range(len(triangles) - 1):
        ear = _find_ear(ring, corner)
        _write(triangles, i, ring.links, ear)
        corner = ring.links[ring.links[ear, 1], 1]
        _remove(ring, ear)
    _write(triangles, len(triangles) - 1, ring.links, corner)


@inner
def _write(triangles, i, links, corner):
    triangles[i, 0], triangles[i, 1], triangles[i, 2] = links[corner, 0], corner, links[corner, 1]


@inner
def _find_ear(ring, start):
    """The next corner that can be cut off, preferably a true ear."""
    corner = next_marked(ring.marks, start, OPEN)
    while corner >= 0:
        if _is_ear(ring, corner):
            return corner
        corner = next_marked(ring.marks, corner, OPEN)
    flat = last_marked(ring.marks, start, FLAT)
    if flat >= 0:
        return flat
    left = last_marked(ring.marks, start, LEFT)
    return left if left >= 0 else start


@inner
def _is_ear(ring, corner):
    """Whether a corner can be cut off; otherwise the reason is noted."""
    points = ring.points
    a, c = ring.links[corner, 0], ring.links[corner, 1]
    turn = _turn(points, a, corner, c)
    if turn < 0:
        set_mark(ring.marks, corner, 0)
        return False
    if turn == 0:
        set_mark(ring.marks, corner, FLAT)
        return _same(points, a, corner) or _same(points, corner, c)
    cause = _find_cause(points, ring.links, ring.tree, ring.corner, ring.heap, a, corner, c)
    if cause < 0:
        return True
    set_mark(ring.marks, corner, LEFT)
    _enlist(ring.cause, ring.first, ring.neighbours, corner, cause)
    return False


@inner
def _turn(points, a, b, c):
    return orient2d_often_flat(points[a, 0], points[a, 1], points[b, 0], points[b, 1], points[c, 0], points[c, 1])


@inner
def _same(points, a, b):
    return points[a, 0] == points[b, 0] and points[a, 1] == points[b, 1]


@inner
def _find_cause(points, links, tree, corner, heap, a, b, c):
    """Of the corners that block an ear the one with the highest priority, as in ``Ring.cause``.

    The node with the highest priority is opened next, so that the first corner found is the one.
    """
    leaves = len(points)
    ax, ay, bx, by, cx, cy = points[a, 0], points[a, 1], points[b, 0], points[b, 1], points[c, 0], points[c, 1]
    heap[0] = 1
    size = 1
    while size > 0:
        node = heap[0]
        size -= 1
        _sink(heap, size, heap[size], tree)
        if node >= leaves:
            cause = _blocks(points, links, corner[node - leaves], a, b, c)
            if cause >= 0:
                return cause
        else:
            for child in range(2 * node, 2 * node + 2):
                if may_block(tree, child, ax, ay, bx, by, cx, cy):
                    _rise(heap, size, child, tree)
                    size += 1
    return -1


@inner
def _sink(heap, size, node, tree):
    """Put a node in the place of the first of a heap with the highest priority in front."""
    place = 0
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and tree[heap[child + 1], PRIORITY] > tree[heap[child], PRIORITY]:
            child += 1
        if tree[heap[child], PRIORITY] <= tree[node, PRIORITY]:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = node


@inner
def _rise(heap, size, node, tree):
    """Add a node to the heap."""
    place = size
    while place > 0:
        parent = (place - 1) // 2
        if tree[heap[parent], PRIORITY] >= tree[node, PRIORITY]:
            break
        heap[place] = heap[parent]
        place = parent
    heap[place] = node


@inner
def _blocks(points, links, other, a, b, c):
    """The cause if another corner blocks the triangle abc, or -1."""
    if other in (a, b, c):
        return -1
    if _same(points, other, a):
        return 2 * other + 1 if _leaves_into(points, links, other, c, a, b) else -1
    if _same(points, other, b):
        return 2 * other + 1 if _leaves_into(points, links, other, a, b, c) else -1
    if _same(points, other, c):
        return 2 * other + 1 if _leaves_into(points, links, other, b, c, a) else -1
    if _turn(points, a, b, other) >= 0 and _turn(points, b, c, other) >= 0 and _turn(points, c, a, other) >= 0:
        return 2 * other
    return -1


@inner
def _leaves_into(points, links, twin, before, tip, after):
    """Whether an edge at ``twin``, which stands where ``tip`` does, runs into the angle at the tip."""
    for k in range(2):
        far = links[twin, k]
        if _turn(points, before, tip, far) > 0 and _turn(points, tip, after, far) > 0:
            return True
    return False


@inner
def _remove(ring, corner):
    """Take a corner away; those are tested again whose triangle, or whose cause, is not the same any more."""
    links, marks, tree = ring.links, ring.marks, ring.tree
    cause, first, neighbours = ring.cause, ring.first, ring.neighbours
    before, after = links[corner, 0], links[corner, 1]
    links[before, 1], links[after, 0] = after, before
    empty_leaf(tree, ring.leaf[corner])
    _delist(cause, first, neighbours, corner)
    set_mark(marks, corner, 0)
    _reopen(marks, cause, first, neighbours, 2 * corner)
    _reopen(marks, cause, first, neighbours, 2 * corner + 1)
    for k in range(2):
        changed = links[corner, k]
        turn_edges(tree, ring.leaf[changed], ring.points, links, changed)
        _delist(cause, first, neighbours, changed)
        set_mark(marks, changed, OPEN)
        _reopen(marks, cause, first, neighbours, 2 * changed + 1)


@inner
def _enlist(cause, first, neighbours, corner, why):
    """Put a corner in front of those with one cause."""
    old = first[why]
    if old >= 0:
        neighbours[old, 0] = corner
    first[why] = corner
    cause[corner] = why
    neighbours[corner, 0], neighbours[corner, 1] = -1, old


@inner
def _delist(cause, first, neighbours, corner):
    if cause[corner] < 0:
        return
    previous, following = neighbours[corner, 0], neighbours[corner, 1]
    if previous >= 0:
        neighbours[previous, 1] = following
    else:
        first[cause[corner]] = following
    if following >= 0:
        neighbours[following, 0] = previous
    cause[corner] = -1


@inner
def _reopen(marks, cause, first, neighbours, why):
    """Mark all corners with one cause to be tested again."""
    corner = first[why]
    first[why] = -1
    while corner >= 0:
        cause[corner] = -1
        set_mark(marks, corner, OPEN)
        corner = neighbours[corner, 1]
