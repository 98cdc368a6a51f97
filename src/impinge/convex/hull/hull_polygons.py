# mypy: allow-untyped-defs, allow-incomplete-defs
"""The polygons and edges of an exact hull, in the order that ConvexHull promises: one kernel from points to arrays.

Equal positions are merged first, so that the distinct ones are numbered in the order in which they were given.
``exact_quickhull`` finds triangles and the groups of them that lie in one plane; the border of a group is a polygon.
It is walked from triangle to triangle: where an edge ends, the next one is found by turning about that vertex
within the group.  Orders come from counting sorts, so all of this is linear but for quickhull itself.
"""

from __future__ import annotations

import numpy as np

from impinge.convex.hull.exact_quickhull import coplanar_groups, edge_from, quickhull
from impinge.convex.hull.triples import empty_table, row_of
from impinge.kernels.jit import inner, kernel


@kernel("float64[:, ::1], boolean[::1]")
def hull_polygons(points, used):
    """(dimension, leader, source, corners, starts, edges) of the hull of the points that are used.

    ``leader`` (n,) is the first point at the same position (-1 for points that are not used).  In dimension 3, the
    others are as in ConvexHull; below, ``source`` names points that span the set and the rest is empty.
    """
    leader, distinct = _merged(points, used)
    positions = np.empty((len(distinct), 3))
    for i in range(len(distinct)):
        for k in range(3):
            positions[i, k] = points[distinct[i], k]
    dimension, triangles, across = quickhull(positions)
    if dimension < 3:
        source = np.empty(dimension + 1, dtype=np.int32)
        for i in range(dimension + 1):
            source[i] = distinct[triangles[0, i]]
        nothing = np.zeros(0, dtype=np.int32)
        no_edges = np.zeros((0, 2), dtype=np.int32)
        return dimension, leader, source, nothing, np.zeros(1, dtype=np.int32), no_edges
    rings, ends = _outlines(triangles, across, coplanar_groups(positions, triangles, across))
    used_count = _renumber(rings, distinct)
    corners, starts = _in_order(rings, ends, used_count)
    return dimension, leader, distinct[:used_count].copy(), corners, starts, _edges(corners, starts, used_count)


@inner
def _merged(points, used):
    """The first point at the position of each, and all of these firsts, ascending."""
    bits = points.view(np.int64)
    table = empty_table(len(points))
    leader = np.full(len(points), -1, dtype=np.int32)
    distinct = np.empty(len(points), dtype=np.int32)
    count = 0
    for i in range(len(points)):
        if used[i]:
            row = row_of(table, bits[i, 0], bits[i, 1], bits[i, 2], count)
            if row == count:
                distinct[count] = i
                count += 1
            leader[i] = distinct[row]
    return leader, distinct[:count].copy()


@inner
def _outlines(triangles, across, group):
    """The corners of the polygons around all groups one after another, and where each of them ends."""
    corners = np.empty(3 * len(triangles), dtype=np.int32)
    ends = np.empty(len(triangles), dtype=np.int32)
    done = np.zeros(len(triangles), dtype=np.bool_)
    count, length = 0, 0
    for f in range(len(triangles)):
        for k in range(3):
            if done[group[f]] or group[across[f, k]] == group[f]:
                continue
            done[group[f]] = True
            length = _walk(triangles, across, group, f, k, corners, length)
            ends[count] = length
            count += 1
    return corners[:length], ends[:count]


@inner
def _walk(triangles, across, group, f, k, corners, length):
    """Append the border of a group, from edge k of its triangle f on."""
    first = triangles[f, k]
    here = first
    while True:
        corners[length] = here
        length += 1
        k = (k + 1) % 3
        here = triangles[f, k]
        if here == first:
            return length
        while group[across[f, k]] == group[f]:
            f = across[f, k]
            k = edge_from(triangles, f, here)


@inner
def _renumber(rings, distinct):
    """Number the positions that are corners; ``distinct`` then begins with theirs, in their order.  Their number."""
    number = np.full(len(distinct), -1, dtype=np.int32)
    for i in range(len(rings)):
        number[rings[i]] = 0
    count = 0
    for i in range(len(distinct)):
        if number[i] == 0:
            number[i] = count
            distinct[count] = distinct[i]
            count += 1
    for i in range(len(rings)):
        rings[i] = number[rings[i]]
    return count


@inner
def _in_order(rings, ends, vertex_count):
    """Corners and starts: each polygon from its smallest vertex on, and polygons by their first two vertices."""
    count = len(ends)
    least = np.empty(count, dtype=np.int32)
    first = np.empty(count, dtype=np.int32)
    second = np.empty(count, dtype=np.int32)
    start = 0
    for i in range(count):
        at = start
        for j in range(start + 1, ends[i]):
            if rings[j] < rings[at]:
                at = j
        least[i] = at
        first[i] = rings[at]
        second[i] = rings[at + 1 if at + 1 < ends[i] else start]
        start = ends[i]
    order = _sorted_pairs(first, second, vertex_count)
    corners = np.empty(len(rings), dtype=np.int32)
    starts = np.zeros(count + 1, dtype=np.int32)
    length = 0
    for i in range(count):
        polygon = order[i]
        start = ends[polygon - 1] if polygon > 0 else 0
        for j in range(least[polygon], ends[polygon]):
            corners[length] = rings[j]
            length += 1
        for j in range(start, least[polygon]):
            corners[length] = rings[j]
            length += 1
        starts[i + 1] = length
    return corners, starts


@inner
def _edges(corners, starts, vertex_count):
    """The sides of all polygons, each once, sorted; a closed surface runs each of them both ways."""
    tails = np.empty(len(corners) // 2, dtype=np.int32)
    heads = np.empty(len(corners) // 2, dtype=np.int32)
    count = 0
    for f in range(len(starts) - 1):
        tail = corners[starts[f + 1] - 1]
        for j in range(starts[f], starts[f + 1]):
            head = corners[j]
            if tail < head:
                tails[count] = tail
                heads[count] = head
                count += 1
            tail = head
    order = _sorted_pairs(tails, heads, vertex_count)
    edges = np.empty((count, 2), dtype=np.int32)
    for i in range(count):
        edges[i, 0] = tails[order[i]]
        edges[i, 1] = heads[order[i]]
    return edges


@inner
def _sorted_pairs(first, second, room):
    """The order of pairs of numbers below ``room``."""
    return _sorted_by(first, _sorted_by(second, np.arange(len(first)).astype(np.int32), room), room)


@inner
def _sorted_by(keys, order, room):
    """A counting sort; what has equal keys keeps its order."""
    place = np.zeros(room + 1, dtype=np.int32)
    for i in range(len(keys)):
        place[keys[i] + 1] += 1
    for i in range(room):
        place[i + 1] += place[i]
    result = np.empty(len(order), dtype=np.int32)
    for i in range(len(order)):
        key = keys[order[i]]
        result[place[key]] = order[i]
        place[key] += 1
    return result
