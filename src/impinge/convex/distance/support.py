# mypy: allow-untyped-defs, allow-incomplete-defs
"""Support mapping of a posed convex body: the vertex farthest in a direction, by hill climbing over its edges.

Cameron (1997), "Enhancing GJK": go from vertex to higher neighbour until there is none; from a start near by that
takes a step or two, whatever the number of vertices.

Why it is right although posed vertices are rounded
---------------------------------------------------
The truth is about the posed vertices p_i = R x_i + t + e_i, and their hull has edges other than those of the body.
So the climb goes over the vertices x_i as they are stored, in the direction c = fl(R^T d), where the graph is that of
an exact polytope (hull.hull_handle).  There it needs no luck: the vertices above any height hang together in the graph,
because from each of them a path leads upward to the highest one.

Let u = 2**-53, r the radius, M = r + max|t|.  The computed height h_i = fl(x_i . c) is within 3.1 u r|d| of the exact
x_i . c; c is within 5.3 u|d| of R^T d; |e_i| <= 7 u M (six roundings in each of three coordinates, none of more than
M); R is a rotation to 1e-9, which is covered by the reserve.  Hence h_i + t . d is within 16 u M|d| of p_i . d.

A climb ends at a vertex v without a computed higher neighbour.  Heights rise strictly with every step, so it ends,
and cannot cycle.  A vertex m with p_m . d >= p_v . d has h_m >= h_v - 32 u M|d|, and so has every vertex of a path
that leads from v or from m upward, up to another 4 * 3.1 u M|d|.  So m is found by going from v over all vertices
with h >= h_v - 48 u M|d|: the plateau of v.  Usually that is v alone, otherwise a face that stands square to d, and
its posed vertices are compared as such.

Products that underflow lose up to 2**-1075 each, in the posed vertices (times |d|) and in the heights: 2**-1000 (1 +
|d|) is added to the margin.

What is returned is therefore the highest posed vertex, up to the rounding of (p_i - p_v) . d, five u|p_i - p_v||d|.
"""

from __future__ import annotations

import numpy as np

from impinge.constants import UNIT_ROUNDOFF
from impinge.convex.hull.cube_map import first_vertex
from impinge.geometry.exact.predicates import dot, subtract
from impinge.geometry.posing import posed_along
from impinge.kernels.jit import inner

_PLATEAU = 48.0 * UNIT_ROUNDOFF
_UNDERFLOW = 2.0**-1000
"""More than is needed: products with a subnormal number are slow."""


@inner
def pose_of(poses, i):
    """A row of a table of poses as numbers."""
    return (
        (poses[i, 0, 0], poses[i, 0, 1], poses[i, 0, 2], poses[i, 0, 3]),
        (poses[i, 1, 0], poses[i, 1, 1], poses[i, 1, 2], poses[i, 1, 3]),
        (poses[i, 2, 0], poses[i, 2, 1], poses[i, 2, 2], poses[i, 2, 3]),
    )


@inner
def posed_vertex(body, pose, i):
    """World coordinates of a vertex."""
    x = body.vertices[i, 0]
    y = body.vertices[i, 1]
    z = body.vertices[i, 2]
    r, s, t = pose
    return posed_along(r, x, y, z), posed_along(s, x, y, z), posed_along(t, x, y, z)


@inner
def size_of_coordinates(body, pose):
    """M: no posed coordinate, nor any number on the way to it, is larger (but for 1e-9 of it)."""
    return body.radius + max(abs(pose[0][3]), abs(pose[1][3]), abs(pose[2][3]))


@inner
def support(body, pose, d, hint, work):
    """The number and the place of the posed vertex with the largest product with d; any vertex may be the hint."""
    c = turned_back(pose, d)
    vertex, height, ground = climb(body, c, _higher(body, c, hint))
    steep = abs(d[0]) + abs(d[1]) + abs(d[2])
    margin = _PLATEAU * size_of_coordinates(body, pose) * steep + _UNDERFLOW * (1.0 + steep)
    if ground < height - margin:
        return vertex, posed_vertex(body, pose, vertex)
    return _highest_of_plateau(body, pose, d, c, vertex, height - margin, work)


@inner
def turned_back(pose, d):
    """The direction in the frame of the body."""
    r, s, t = pose
    return (
        r[0] * d[0] + s[0] * d[1] + t[0] * d[2],
        r[1] * d[0] + s[1] * d[1] + t[1] * d[2],
        r[2] * d[0] + s[2] * d[1] + t[2] * d[2],
    )


@inner
def height_of(body, c, i):
    return body.vertices[i, 0] * c[0] + body.vertices[i, 1] * c[1] + body.vertices[i, 2] * c[2]


@inner
def _higher(body, c, hint):
    """The hint, or the vertex that the cube map knows for this direction."""
    if body.squares == 0:
        return hint
    known = first_vertex(body, c)
    return known if height_of(body, c, known) > height_of(body, c, hint) else hint


@inner
def climb(body, c, vertex):
    """A vertex without higher neighbours, its height, and that of its highest neighbour."""
    height = height_of(body, c, vertex)
    while True:
        ground = -np.inf
        highest = vertex
        for k in range(body.starts[vertex], body.starts[vertex + 1]):
            other = np.int64(body.ends[k])
            h = height_of(body, c, other)
            if h > ground:
                ground = h
                highest = other
        if ground <= height:
            return vertex, height, ground
        vertex = highest
        height = ground


@inner
def start_plateau(work, vertex):
    """Begin to visit a plateau: the queue holds the first vertex.  Returns the mark of those that were seen."""
    work.stamp += 1
    stamp = work.stamp
    work.queue[0] = vertex
    work.stamps[vertex] = stamp
    return stamp


@inner
def spread(body, c, here, floor, work, found, stamp):
    """Add the neighbours that are not below the floor to the queue of ``found`` vertices; return its new length."""
    for k in range(body.starts[here], body.starts[here + 1]):
        other = np.int64(body.ends[k])
        if work.stamps[other] != stamp and height_of(body, c, other) >= floor:
            work.stamps[other] = stamp
            work.queue[found] = other
            found += 1
    return found


@inner
def _highest_of_plateau(body, pose, d, c, vertex, floor, work):
    """The highest posed vertex among those that can be reached without going below the floor."""
    stamp = start_plateau(work, vertex)
    found, done = 1, 0
    reference = posed_vertex(body, pose, vertex)
    best, place, most = vertex, reference, 0.0
    while done < found:
        here = work.queue[done]
        done += 1
        p = posed_vertex(body, pose, here)
        rise = dot(subtract(p, reference), d)
        if rise > most:
            best, place, most = here, p, rise
        found = spread(body, c, here, floor, work, found, stamp)
    return best, place
