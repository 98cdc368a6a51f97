# mypy: allow-untyped-defs, allow-incomplete-defs
"""Ear clipping of large polygons, compiled: the ears of ``triangulate.clip_ears``, found in O(n log n) tests.

``clip_ears`` walks around the polygon for each ear, and tests at each corner whether any other stands in its triangle.
Here a corner that was refused keeps the reason: it turns right, it is flat, or it is blocked.  Of what blocks it one
thing is remembered as the witness: a place in its triangle where corners stand, or, at a corner of the triangle, a
direction in which edges of other corners run into it.  It is tested again only when one of its neighbours is gone, or
the last corner at that place, or the last edge in that direction.  A corner that passes is cut off at once, so nothing
else has to be remembered, and the ears are the same, one by one.  Corners and edges that coincide count as one: a
polygon that runs over the same few points thousands of times is no harder than another.

The witness is the place, or the direction, with the highest of some random priorities.  The order in which corners
go does not depend on them; so of the k things that block an ear each is the witness with the same probability, and as
they go one by one, the witness is among them ln k times on average.  There are at most 3 n triangles to test, n at
first and two more for each ear: at most 3 n (1 + ln n) tests, for any polygon, however entangled.

Three trees speed them up: one over the ring finds the next corner to be tested (and, if there is no ear, the last flat
corner and the last that turns left), one over the plane (``place_tree``) the place, and one around each place where
several corners stand (``edge_fans``) the direction.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats
from impinge.constants import LARGEST_COORDINATE
from impinge.geometry.exact.predicates import orient2d_often_flat
from impinge.kernels.jit import inner, kernel
from impinge.mesh.triangulation.edge_fans import add_edge, edge_into, no_edges, take_edge
from impinge.mesh.triangulation.place_tree import (
    COLUMNS,
    PRIORITY,
    empty_leaf,
    join,
    leaf_point,
    may_block,
    places,
    set_leaf,
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
    place: Any
    """(n,) the place of each corner."""
    count: Any
    """(n,) how many corners stand at each place."""
    tree: Any
    fans: Any
    """Of places where several corners stood at first."""
    edges: Any
    """(n, 2) the nodes of the fans that have the edges to the corners before and after, or -1."""
    cause: Any
    """(n,) why a corner is blocked: a place, or n + a node of the fans; -1 for others."""
    first: Any
    """(3 n,) the first corner of the list of those with one cause, or -1."""
    neighbours: Any
    """(n, 2) the corners before and after in that list, or -1."""
    heap: Any
    """(places + 1,) nodes of the tree that are still to be searched: none stands below another."""


def clip_large(plane: Floats, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Triangles of all polygons, as positions within each; polygon i turns left and is plane[starts[i]:starts[i + 1]].

    Those of polygon i are the rows from starts[i] - 2 * i on.
    """
    triangles = np.empty((len(plane) - 2 * (len(starts) - 1), 3), dtype=np.int64)
    priority = np.random.default_rng(0).permutation(2 * int(np.diff(starts).max())).astype(np.float64)
    plane = np.ascontiguousarray(plane)  # columns that were chosen come in the order of Fortran
    _clip_rings(_magnified(plane, starts), places(plane, starts), starts, priority, triangles)
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


@kernel("float64[:, ::1], int64[::1], int64[::1], float64[::1], int64[:, ::1]")
def _clip_rings(plane, place, starts, priority, triangles):
    for i in range(len(starts) - 1):
        first, end = starts[i], starts[i + 1]
        ring = _ring(plane[first:end], place[first:end], priority)
        _clip(ring, triangles[first - 2 * i : end - 2 * i - 2])


@inner
def _ring(points, place, priority):
    n = len(points)
    links, neighbours, edges = np.empty((n, 2), np.int64), np.empty((n, 2), np.int64), np.empty((n, 2), np.int64)
    for i in range(n):
        links[i, 0] = i - 1 if i > 0 else n - 1
        links[i, 1] = i + 1 if i < n - 1 else 0
    count = np.zeros(n, dtype=np.int64)
    used = 0
    for i in range(n):
        count[place[i]] += 1
        used = max(used, place[i] + 1)
    tree = _place_tree(points, place, used, priority)
    fans = no_edges(points, priority)
    for i in range(n):
        for k in range(2):
            edges[i, k] = _add_edge(fans, points, place, i, k, links[i, k]) if count[place[i]] > 1 else -1
    return Ring(
        points, links, all_marked(n, OPEN), place, count, tree, fans, edges,
        _integers(n), _integers(3 * n), neighbours, _integers(used + 1),
    )  # fmt: skip


@inner
def _place_tree(points, place, count, priority):
    tree = np.empty((2 * count, COLUMNS))
    for i in range(len(points)):
        set_leaf(tree, count + place[i], points[i, 0], points[i, 1], priority[place[i]])
    for node in range(count - 1, 0, -1):
        join(tree, node)
    return tree


@inner
def _add_edge(fans, points, place, corner, k, far):
    """The node of the edge that leaves a corner, -1 if it leads to an equal one."""
    if _same(points, corner, far):
        return -1
    return add_edge(fans, place[corner], 2 * corner + k, corner, far)


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
    cause = _find_place(points, ring.place, ring.tree, ring.heap, a, corner, c)
    if cause < 0:
        cause = _find_edge(ring.fans, ring.place, ring.count, ring.edges, a, corner, c)
        if cause < 0:
            return True
        cause += len(points)
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
def _find_place(points, place, tree, heap, a, b, c):
    """Of the places that block an ear, other than its own, the one with the highest priority, or -1.

    The node with the highest priority is opened next, so that the first place found is the one.
    """
    leaves = len(tree) // 2
    ax, ay, bx, by, cx, cy = points[a, 0], points[a, 1], points[b, 0], points[b, 1], points[c, 0], points[c, 1]
    heap[0] = 1
    size = 1
    while size > 0:
        node = heap[0]
        size -= 1
        _sink(heap, size, heap[size], tree)
        if node < leaves:
            for child in range(2 * node, 2 * node + 2):
                if may_block(tree, child, ax, ay, bx, by, cx, cy):
                    _rise(heap, size, child, tree)
                    size += 1
        elif node - leaves not in (place[a], place[b], place[c]):
            x, y = leaf_point(tree, node)
            if (
                orient2d_often_flat(ax, ay, bx, by, x, y) >= 0
                and orient2d_often_flat(bx, by, cx, cy, x, y) >= 0
                and orient2d_often_flat(cx, cy, ax, ay, x, y) >= 0
            ):
                return node - leaves
    return -1


@inner
def _find_edge(fans, place, count, edges, a, b, c):
    """A direction in which edges of other corners at a, b or c run into an ear, as a node of the fans, or -1."""
    node = -1
    if count[place[b]] > 1:
        node = edge_into(fans, place[b], a, b, c, -1)
    if node < 0 and count[place[a]] > 1:
        node = edge_into(fans, place[a], c, a, b, _lonely(fans.count, edges[a, 0]))
    if node < 0 and count[place[c]] > 1:
        node = edge_into(fans, place[c], b, c, a, _lonely(fans.count, edges[c, 1]))
    return node


@inner
def _lonely(count, node):
    """A node if it has one edge only, otherwise -1."""
    return node if node >= 0 and count[node] == 1 else -1


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
def _remove(ring, corner):
    """Take a corner away; those are tested again whose triangle, or whose cause, is not the same any more."""
    links, marks, place = ring.links, ring.marks, ring.place
    cause, first, neighbours = ring.cause, ring.first, ring.neighbours
    before, after = links[corner, 0], links[corner, 1]
    links[before, 1], links[after, 0] = after, before
    _delist(cause, first, neighbours, corner)
    set_mark(marks, corner, 0)
    for k in range(2):
        changed = links[corner, k]
        _delist(cause, first, neighbours, changed)
        set_mark(marks, changed, OPEN)
        _take_edge(ring, corner, k, ring.edges[corner, k])
    for k in range(2):
        changed = links[corner, k]
        if ring.count[place[changed]] > 1:  # otherwise nobody asks for its edges any more
            old = ring.edges[changed, 1 - k]
            ring.edges[changed, 1 - k] = _add_edge(ring.fans, ring.points, place, changed, 1 - k, links[changed, 1 - k])
            _take_edge(ring, changed, 1 - k, old)
    ring.count[place[corner]] -= 1
    if ring.count[place[corner]] == 0:
        empty_leaf(ring.tree, len(ring.tree) // 2 + place[corner])
        _reopen(marks, cause, first, neighbours, place[corner])


@inner
def _take_edge(ring, corner, k, node):
    """Take an edge that leaves a corner out of its fan."""
    if node < 0:
        return
    left = take_edge(ring.fans, ring.place[corner], 2 * corner + k, corner, node)
    why = len(ring.points) + node
    if left == 0:
        _reopen(ring.marks, ring.cause, ring.first, ring.neighbours, why)
    elif left == 1:
        # The last edge blocks all but the ear that has its corner at the end of a side.
        number = ring.fans.numbers[node]
        ear = ring.links[number // 2, 1 - number % 2]
        if ring.cause[ear] == why:
            _delist(ring.cause, ring.first, ring.neighbours, ear)
            set_mark(ring.marks, ear, OPEN)


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
