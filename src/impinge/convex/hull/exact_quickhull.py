# mypy: allow-untyped-defs, allow-incomplete-defs
"""Quickhull with exact signs: the convex hull of points in float64, every degenerate case included.

Barber, Dobkin and Huhdanpaa (1996), "The quickhull algorithm for convex hulls", on ``orient3d`` instead of
thick facets.  Start from a tetrahedron; give every point outside to a facet that it lies strictly above; take a facet
with points and its highest point p; replace all facets that p sees by triangles from p to the horizon; give the points
of the facets that are gone to the new ones.  Heights in floats choose the next point, which is only a question of
speed; every decision is an exact sign.

Why coplanar points do no harm
------------------------------
p sees a triangle *weakly* if it lies on or above its plane, and all of those are replaced (once p lies strictly
above one).  They are the ones that p' = p + e (p - c) sees strictly, for a point c inside and a small e > 0: the height
of p' is (1 + e) height(p) - e height(c), and height(c) < 0.  So, as for any point in general position,

- the weakly visible triangles are connected and their border, the horizon, is one simple cycle;
- behind each edge of the horizon lies a triangle whose plane does not contain p, so p is not on the line of
  the edge: no new triangle is degenerate, and none is coplanar with a surviving one;
- a vertex v that is no corner of the new hull disappears.  It was a corner before, so v is a convex combination of
  old points and p with a positive weight of p; a plane through v with all old points on or below has p on or
  above: all triangles at v are weakly visible.

Hence all vertices are strictly convex at all times, and coplanar triangles form polygons with strictly convex corners.

Why no point is lost
--------------------
Let q lie strictly above a triangle F that is replaced, and outside of the new hull.  The segment from q to a
(generic) point x of F enters the new hull at a point y, and q is strictly above the facet of y.  Were y on a surviving
triangle, it would be a point of the old hull, which lies on or below F; but the segment is strictly above F up to x,
and x is on no surviving triangle.  So y is on a new one: it is enough to test these.
"""

from __future__ import annotations

import numpy as np

from impinge.geometry.exact.predicates import cross, dot, orient2d, orient3d, subtract
from impinge.kernels.jit import inner, kernel


@inner
def point_of(points, i):
    return (points[i, 0], points[i, 1], points[i, 2])


@inner
def side_of(points, corners, f, p):
    """On which side of triangle f the point p lies: 1 above (outside), 0 in its plane, -1 below."""
    a, b, c = corners[f, 0], corners[f, 1], corners[f, 2]
    return orient3d(point_of(points, a), point_of(points, b), point_of(points, c), point_of(points, p))


@inner
def height_above(points, corners, f, p):
    """The height of p above triangle f in floats, in units that depend on f."""
    a = point_of(points, corners[f, 0])
    normal = cross(subtract(point_of(points, corners[f, 1]), a), subtract(point_of(points, corners[f, 2]), a))
    return dot(normal, subtract(point_of(points, p), a))


@inner
def on_line(a, b, c):
    return (
        orient2d(a[0], a[1], b[0], b[1], c[0], c[1]) == 0
        and orient2d(a[1], a[2], b[1], b[2], c[1], c[2]) == 0
        and orient2d(a[2], a[0], b[2], b[0], c[2], c[0]) == 0
    )


@inner
def extremes(points, count):
    """The two points that span the longest axis."""
    first, second = 0, 0
    longest = -1.0
    for axis in range(3):
        low, high = 0, 0
        for i in range(count):
            if points[i, axis] < points[low, axis]:
                low = i
            if points[i, axis] > points[high, axis]:
                high = i
        extent = points[high, axis] - points[low, axis]
        if extent > longest:
            longest, first, second = extent, low, high
    return first, second


@inner
def farthest_from_line(points, count, a, b):
    """A point that is not on the line of a and b, the farthest in floats; -1 if all are."""
    start = point_of(points, a)
    along = subtract(point_of(points, b), start)
    best, largest = -1, 0.0
    for i in range(count):
        beside = cross(along, subtract(point_of(points, i), start))
        size = abs(beside[0]) + abs(beside[1]) + abs(beside[2])
        if size > largest:
            best, largest = i, size
    if best >= 0 and not on_line(start, point_of(points, b), point_of(points, best)):
        return best
    for i in range(count):
        if not on_line(start, point_of(points, b), point_of(points, i)):
            return i
    return -1


@inner
def farthest_from_plane(points, count, corners):
    """A point that is not in the plane of triangle 0, the farthest in floats; -1 if all are."""
    best, largest = -1, 0.0
    for i in range(count):
        size = abs(height_above(points, corners, 0, i))
        if size > largest:
            best, largest = i, size
    if best >= 0 and side_of(points, corners, 0, best) != 0:
        return best
    for i in range(count):
        if side_of(points, corners, 0, i) != 0:
            return i
    return -1


@inner
def _set_row(rows, i, a, b, c):
    rows[i, 0], rows[i, 1], rows[i, 2] = a, b, c


@inner
def make_tetrahedron(corners, across, a, b, c, d):
    """Four triangles seen counterclockwise from outside, given that d lies below abc.

    ``across[f, k]`` is the triangle behind the edge from corner k to corner k + 1.
    """
    _set_row(corners, 0, a, b, c)
    _set_row(corners, 1, b, a, d)
    _set_row(corners, 2, c, b, d)
    _set_row(corners, 3, a, c, d)
    _set_row(across, 0, 1, 2, 3)
    _set_row(across, 1, 0, 3, 2)
    _set_row(across, 2, 0, 1, 3)
    _set_row(across, 3, 0, 2, 1)


@inner
def _give(points, corners, some, count, q, head, after):
    """Put q on the list of the first of these triangles that it lies strictly above, if there is one."""
    for i in range(count):
        f = some[i]
        if side_of(points, corners, f, q) > 0:
            after[q] = head[f]
            head[f] = q
            return


@inner
def _highest(points, corners, f, head, after):
    best = head[f]
    top = height_above(points, corners, f, best)
    q = after[best]
    while q >= 0:
        height = height_above(points, corners, f, q)
        if height > top:
            best, top = q, height
        q = after[q]
    return best


@inner
def find_visible(points, corners, across, f, p, visible, mark, stamp):
    """All triangles that p sees weakly, from f on; mark is ``stamp`` for them and ``-stamp`` beyond the horizon."""
    visible[0] = f
    mark[f] = stamp
    count = 1
    done = 0
    while done < count:
        here = visible[done]
        done += 1
        for k in range(3):
            other = across[here, k]
            if mark[other] != stamp and mark[other] != -stamp:
                if side_of(points, corners, other, p) >= 0:
                    mark[other] = stamp
                    visible[count] = other
                    count += 1
                else:
                    mark[other] = -stamp
    return count


@inner
def collect_horizon(corners, across, visible, count, mark, stamp, horizon):
    """Rows (from, to, triangle beyond, its edge)."""
    edges = 0
    for i in range(count):
        f = visible[i]
        for k in range(3):
            beyond = across[f, k]
            if mark[beyond] == -stamp:
                horizon[edges, 0], horizon[edges, 1] = corners[f, k], corners[f, (k + 1) % 3]
                horizon[edges, 2] = beyond
                horizon[edges, 3] = edge_from(corners, beyond, corners[f, (k + 1) % 3])
                edges += 1
    return edges


@inner
def edge_from(corners, f, vertex):
    """Which edge of f begins at the vertex."""
    return 0 if corners[f, 0] == vertex else (1 if corners[f, 1] == vertex else 2)


@inner
def make_cone(corners, across, horizon, edges, p, fresh, leaving):
    """Triangles from p to the horizon; ``leaving[v]`` is scratch: the new triangle whose edge leaves v."""
    for i in range(edges):
        f = fresh[i]
        _set_row(corners, f, horizon[i, 0], horizon[i, 1], p)
        across[f, 0] = horizon[i, 2]
        across[horizon[i, 2], horizon[i, 3]] = f
        leaving[horizon[i, 0]] = f
    for i in range(edges):
        f = fresh[i]
        following = leaving[horizon[i, 1]]
        across[f, 1] = following
        across[following, 2] = f


@inner
def quickhull(points):
    """The hull of distinct points as (dimension, corners (t, 3), across (t, 3)), exact.

    In dimension 3 the triangles of the closed surface, counterclockwise from outside; otherwise one row, of which the
    first ``dimension + 1`` entries are points that span the set.
    """
    n = len(points)
    room = max(2 * n, 4)  # a closed surface over n vertices has 2 n - 4 triangles
    corners = np.zeros((room, 3), dtype=np.int32)
    across = np.zeros((room, 3), dtype=np.int32)
    a, b = extremes(points, n)
    corners[0, 0], corners[0, 1] = a, b
    if points[a, 0] == points[b, 0] and points[a, 1] == points[b, 1] and points[a, 2] == points[b, 2]:
        return 0, corners[:1], across[:1]
    c = farthest_from_line(points, n, a, b)
    if c < 0:
        return 1, corners[:1], across[:1]
    corners[0, 2] = c
    d = farthest_from_plane(points, n, corners)
    if d < 0:
        return 2, corners[:1], across[:1]
    if side_of(points, corners, 0, d) > 0:
        b, c = c, b
    make_tetrahedron(corners, across, a, b, c, d)
    head = np.full(room, -1, dtype=np.int32)
    after = np.full(n, -1, dtype=np.int32)
    fresh = np.arange(room).astype(np.int32)
    for q in range(n):
        if q != a and q != b and q != c and q != d:
            _give(points, corners, fresh, 4, q, head, after)
    used = _grow(points, corners, across, head, after, fresh)
    return 3, corners[:used], across[:used]


@inner
def _grow(points, corners, across, head, after, fresh):
    """Take in all points that lie outside; the live triangles end in the first rows.  Returns how many there are."""
    room = len(corners)
    waiting = np.empty(room, dtype=np.int32)  # triangles that may have points above them, each once
    is_waiting = np.zeros(room, dtype=np.bool_)
    free = np.empty(room, dtype=np.int32)
    alive = np.zeros(room, dtype=np.bool_)
    mark = np.zeros(room, dtype=np.int32)
    visible = np.empty(room, dtype=np.int32)
    horizon = np.empty((room, 4), dtype=np.int32)
    leaving = np.empty(len(points), dtype=np.int32)
    alive[:4] = True
    used, free_count, stamp = 4, 0, 0
    for f in range(4):
        waiting[f] = f
        is_waiting[f] = True
    waiting_count = 4
    while waiting_count > 0:
        waiting_count -= 1
        f = waiting[waiting_count]
        is_waiting[f] = False
        if not alive[f] or head[f] < 0:
            continue
        p = _highest(points, corners, f, head, after)
        stamp += 1
        count = find_visible(points, corners, across, f, p, visible, mark, stamp)
        edges = collect_horizon(corners, across, visible, count, mark, stamp, horizon)
        orphan = -1
        for i in range(count):
            g = visible[i]
            orphan = _prepend(head[g], orphan, after, p)
            head[g] = -1
            alive[g] = False
            free[free_count] = g
            free_count += 1
        for i in range(edges):
            if free_count > 0:
                free_count -= 1
                fresh[i] = free[free_count]
            else:
                fresh[i] = used
                used += 1
            alive[fresh[i]] = True
            if not is_waiting[fresh[i]]:
                is_waiting[fresh[i]] = True
                waiting[waiting_count] = fresh[i]
                waiting_count += 1
        make_cone(corners, across, horizon, edges, p, fresh, leaving)
        while orphan >= 0:
            following = after[orphan]
            _give(points, corners, fresh, edges, orphan, head, after)
            orphan = following
    return _close_gaps(corners, across, alive, used)


@inner
def _prepend(chain, rest, after, without):
    """The chain of points followed by the rest, without one of them."""
    while chain >= 0:
        following = after[chain]
        if chain != without:
            after[chain] = rest
            rest = chain
        chain = following
    return rest


@inner
def _close_gaps(corners, across, alive, used):
    place = np.zeros(used, dtype=np.int32)
    count = 0
    for f in range(used):
        if alive[f]:
            place[f] = count
            count += 1
    for f in range(used):
        if alive[f]:
            for k in range(3):
                corners[place[f], k] = corners[f, k]
                across[place[f], k] = place[across[f, k]]
    return count


@inner
def coplanar_groups(points, corners, across):
    """(t,) the group of each triangle: edge-connected triangles in exactly one plane; counted from 0."""
    group = np.full(len(corners), -1, dtype=np.int32)
    stack = np.empty(len(corners), dtype=np.int32)
    count = 0
    for seed in range(len(corners)):
        if group[seed] >= 0:
            continue
        group[seed] = count
        stack[0] = seed
        height = 1
        while height > 0:
            height -= 1
            f = stack[height]
            for k in range(3):
                other = across[f, k]
                if group[other] < 0:
                    # The corner of the neighbour that is opposite of the common edge.
                    start = corners[f, (k + 1) % 3]
                    opposite = corners[other, (edge_from(corners, other, start) + 2) % 3]
                    if side_of(points, corners, f, opposite) == 0:
                        group[other] = count
                        stack[height] = other
                        height += 1
        count += 1
    return group


@kernel("float64[:, ::1], int32[:, ::1], int32[::1]")
def sides(points, triangles, others):
    """(k,) on which side of triangle i the point ``others[i]`` lies: 1 above, 0 in its plane, -1 below."""
    found = np.empty(len(others), dtype=np.int8)
    for i in range(len(others)):
        found[i] = side_of(points, triangles, i, others[i])
    return found
