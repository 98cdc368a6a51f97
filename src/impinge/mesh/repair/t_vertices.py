"""T-vertices: vertices that stand in the interior of an edge they do not belong to.

All edges go down one tree of boxes over the vertices together, level by level in
numpy: a thin segment meets few boxes, however long it is.  The tree is the
Morton order (of the ranks of the coordinates, so that clusters of any size are
told apart) cut into equal runs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Bools, Floats, Ints
from impinge.geometry.exact.integers import SAFE_FROM_UNDERFLOW, collinear

Longs = NDArray[np.int64]

ULPS = 16.0
"""A vertex counts as on an edge if it is exactly on it, or off it by at most 16 units in the last place of the largest
coordinate of the edge, along each axis, measured at the same place of the edge's longest axis.  The comparison itself
may be off by 12 (see _is_on_edge), so this is the next power of two that never misses an exact one."""

SLENDERNESS = 2.0**-20
"""But never by more than this part of the edge's length, or edges of some ulps would collect all their surroundings."""

_LEAF = 8
_MOST_PAIRS = 1 << 19
"""Pairs of edge and box in flight; some 100 bytes each."""
_MORTON_BITS = 20


def find_t_vertices(points: Floats, vertices: Ints, edges: Ints, tolerance: float = 0.0) -> Ints:
    """(k, 3) rows of vertex, edge start, edge end; sorted.

    ``vertices`` are the candidates and ``edges`` (e, 2) the edges, both indices of points at distinct positions.  With
    a tolerance, vertices count that are off by that much (or by a quarter of the edge's length, if that is less).
    """
    if len(edges) == 0:
        return np.zeros((0, 3), dtype=np.int32)
    # Tiny meshes grow by a power of two, so that no product below underflows; shrinking large ones could lose digits.
    exponent = min(0, int(np.frexp(np.abs(points).max())[1]))
    scaled = np.ldexp(points, -exponent)
    order = vertices[_morton_order(scaled[vertices])]
    tree = _boxes(scaled[order])
    starts = _run_starts(len(order), len(tree[-1].low))
    search = _Search(scaled, edges, np.abs(scaled[order]).max(axis=0), float(np.ldexp(tolerance, -exponent)))

    found = []
    stack: list[tuple[int, Longs, Longs]] = [
        (0, part, np.zeros_like(part))
        for part in np.split(np.arange(len(edges)), range(_MOST_PAIRS, len(edges), _MOST_PAIRS))
    ]
    while stack:
        level, edge, node = stack.pop()
        edge, node = search.pairs_that_meet(edge, node, tree[level])
        if level + 1 == len(tree):
            size = starts[node + 1] - starts[node]
            edge = np.repeat(edge, size)
            position = np.arange(len(edge)) + np.repeat(starts[node] - (np.cumsum(size) - size), size)
            found.append(search.select(edge, order[position]))
            continue
        edge = np.repeat(edge, 2)
        node = np.repeat(2 * node, 2)
        node[1::2] += 1
        for first in range(0, len(edge), _MOST_PAIRS):
            part = slice(first, first + _MOST_PAIRS)
            stack.append((level + 1, edge[part], node[part]))
    rows = np.concatenate(found)
    return rows[np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0]))].astype(np.int32)


class _Level:
    """The boxes of one level of the tree, an array for each axis."""

    def __init__(self, low: Floats, high: Floats) -> None:
        self.low = low
        self.high = high
        self.lows = np.ascontiguousarray(low.T)
        self.highs = np.ascontiguousarray(high.T)
        self.middles = 0.5 * self.lows + 0.5 * self.highs
        self.halves = 0.5 * (self.highs - self.lows)
        self.size = self.halves.max(axis=0)


class _Search:
    """What is computed once for each edge."""

    def __init__(self, points: Floats, edges: Ints, reach: Floats, tolerance: float) -> None:
        self.points = points
        self.edges = edges
        a, b = points[edges[:, 0]], points[edges[:, 1]]
        self.along = b - a
        largest = np.maximum(np.abs(a), np.abs(b)).max(axis=1)
        length = np.abs(self.along).max(axis=1)
        self.tolerance = np.minimum(ULPS * np.spacing(largest), SLENDERNESS * length)
        self.tolerance = np.maximum(self.tolerance, np.minimum(tolerance, 0.25 * length))
        # Middles of edges and boxes, and their differences, are off by a few roundings of coordinates of each axis.
        self._rounding = 2.0**-49 * np.maximum(reach, np.abs(points[edges].reshape(-1, 3)).max(axis=0))
        room = self._rounding + 2.0 * self.tolerance[:, None]
        self._lows = np.ascontiguousarray((np.minimum(a, b) - room).T)
        self._highs = np.ascontiguousarray((np.maximum(a, b) + room).T)
        self._middles = np.ascontiguousarray((0.5 * a + 0.5 * b).T)
        self._alongs = np.ascontiguousarray(self.along.T)
        self._half_length = 0.5 * length

    def pairs_that_meet(self, edge: Longs, node: Longs, level: _Level) -> tuple[Longs, Longs]:
        """The pairs whose edge comes near the box: separating axes, with room for every rounding."""
        for axis in range(3):
            meets = self._lows[axis][edge] <= level.highs[axis][node]
            meets &= self._highs[axis][edge] >= level.lows[axis][node]
            edge, node = edge[meets], node[meets]
        # An edge shorter than the box hardly ever passes a corner of it: not worth the other three axes.
        long = np.flatnonzero(self._half_length[edge] > level.size[node])
        if len(long):
            meets = np.ones(len(edge), dtype=bool)
            meets[long] = self._line_meets_box(edge[long], node[long], level)
            edge, node = edge[meets], node[meets]
        return edge, node

    def _line_meets_box(self, edge: Longs, node: Longs, level: _Level) -> Bools:
        grown = [level.halves[i][node] + self._rounding[i] + self.tolerance[edge] for i in range(3)]
        apart = [level.middles[i][node] - self._middles[i][edge] for i in range(3)]
        along = [self._alongs[i][edge] for i in range(3)]
        meets = np.ones(len(edge), dtype=bool)
        for i, j in ((1, 2), (2, 0), (0, 1)):
            left, right = along[i] * apart[j], along[j] * apart[i]
            # along is off by one rounding, which moves the far end of the edge by less than self._rounding.
            room = grown[i] * np.abs(along[j]) + grown[j] * np.abs(along[i])
            room += 2.0**-50 * (np.abs(left) + np.abs(right)) + SAFE_FROM_UNDERFLOW
            meets &= np.abs(left - right) <= room
        return meets

    def select(self, edge: Longs, vertex: Ints) -> Ints:
        """The (vertex, start, end) rows of the pairs where the vertex is in the interior of the edge."""
        for axis in range(3):
            at = self.points[vertex, axis]
            near = (at >= self._lows[axis][edge]) & (at <= self._highs[axis][edge])
            edge, vertex = edge[near], vertex[near]
        start, end = self.edges[edge, 0], self.edges[edge, 1]
        other = (vertex != start) & (vertex != end)
        edge, vertex, start, end = edge[other], vertex[other], start[other], end[other]
        on = self._is_on_edge(edge, vertex, start, end)
        return np.stack([vertex[on], start[on], end[on]], axis=1)

    def _is_on_edge(self, edge: Longs, vertex: Ints, start: Ints, end: Ints) -> Bools:
        rows = np.arange(len(edge))
        a, b, p = self.points[start], self.points[end], self.points[vertex]
        along = self.along[edge]
        axis = np.argmax(np.abs(along), axis=1)
        at, low, high = p[rows, axis], a[rows, axis], b[rows, axis]
        inside = (at > np.minimum(low, high)) & (at < np.maximum(low, high))
        rows, a, b, p, along = rows[inside], a[inside], b[inside], p[inside], along[inside]
        # For a vertex exactly on the edge the two terms of the difference are off by 1 and by 5 roundings of at most
        # |along|, which is at most twice the largest coordinate: 12 * 2**-53 of it, and an ulp is at least 2**-53.
        fraction = (at - low)[inside] / along[np.arange(len(rows)), axis[inside]]
        off = np.abs((p - a) - fraction[:, None] * along)
        tolerance = self.tolerance[edge[rows]][:, None]
        near = (off <= tolerance).all(axis=1)
        # Almost the same position as an end of the edge is another flaw, unless the vertex is on the edge indeed.
        beside_end = (np.abs(p - a) <= tolerance).all(axis=1) | (np.abs(p - b) <= tolerance).all(axis=1)
        for i in np.flatnonzero(near & beside_end):
            near[i] = collinear(a[i].tolist(), b[i].tolist(), p[i].tolist())
        on = np.zeros(len(edge), dtype=bool)
        on[rows[near]] = True
        return on


def _morton_order(points: Floats) -> Longs:
    code = np.zeros(len(points), dtype=np.uint64)
    for axis in range(3):
        _, rank = np.unique(points[:, axis], return_inverse=True)
        rank = rank.reshape(-1).astype(np.uint64)
        cell = (rank << np.uint64(_MORTON_BITS)) // (rank.max() + np.uint64(1))
        for bit in range(_MORTON_BITS):
            code |= ((cell >> np.uint64(bit)) & np.uint64(1)) << np.uint64(3 * bit + axis)
    return np.argsort(code, kind="stable")


def _run_starts(count: int, runs: int) -> Longs:
    return np.arange(runs + 1) * count // runs


def _boxes(points: Floats) -> list[_Level]:
    """A complete binary tree over the points in order, the root first."""
    leaves = 1
    while leaves * _LEAF < len(points):
        leaves *= 2
    starts = _run_starts(len(points), leaves)[:-1]
    levels = [_Level(np.minimum.reduceat(points, starts), np.maximum.reduceat(points, starts))]
    while len(levels[-1].low) > 1:
        low, high = levels[-1].low, levels[-1].high
        levels.append(_Level(np.minimum(low[0::2], low[1::2]), np.maximum(high[0::2], high[1::2])))
    return levels[::-1]
