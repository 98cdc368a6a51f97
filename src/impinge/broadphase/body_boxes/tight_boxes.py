# mypy: allow-untyped-defs, allow-incomplete-defs
"""The smallest boxes around posed convex bodies, by hill climbing: a warm start from the last extremal vertices.

Cohen, Lin, Manocha and Ponamgi (1995), "I-COLLIDE", resize a box in every step: the extremal vertices of the last step
are still extremal or have neighbours that are.  ``convex.distance.support.climb`` is that walk.

Nothing is lost by rounding
---------------------------
The value of vertex i is fl(h_i + w), where h_i = fl(x_i . c) is its computed height and w, the last number of the row,
the same for all.  Rounding is monotone, so the largest value belongs to the largest computed height: posing adds no
error, however far away.  A climb ends at a vertex v without a computed higher neighbour.  Let e = 3.1 u r (|c| is 1 to
1e-9, see below): a computed height is within e of the exact one.  Let m be any vertex with h_m >= h_v; its exact
height and that of v are at least h_v - e.  In exact heights a path leads from v upward to the highest vertex, and
another from m; on both all exact heights are at least h_v - e, and computed ones at least h_v - 2 e.  So m is among
the vertices that can be reached from v without going below h_v - 2 e: ``_ROUGH`` is 8 u, for 6.2 and the rounding of
that difference.  Usually v has no such neighbour.  Otherwise a face stands square to the axis, and is visited.

Hence along an axis of the world the interval of a convex hull is the one of its posed vertices, bit for bit.
Along skewed axes, and for bodies with vertices that are no corners of their hull (their exact values are within the
interval of the hull, their rounded ones need not be), it is moved outward by the bound of ``body_boxes.box_axes``.
"""

from __future__ import annotations

import numpy as np

from impinge.broadphase.body_boxes.box_axes import OUTWARD, UNDERFLOW, batch_at, row_along
from impinge.constants import UNIT_ROUNDOFF
from impinge.convex.distance.support import climb, height_of, pose_of, size_of_coordinates, spread
from impinge.convex.hull.cube_map import first_vertex
from impinge.convex.hull.hull_handle import convex_body
from impinge.geometry.rigid_pose import pose_is_rigid
from impinge.kernels.jit import inner, kernel
from impinge.kernels.record import Record, address, bool_, int32

FEW = 48
"""Up to so many vertices all of them are visited: 2 ns each, where six climbs of a step take 100 ns more."""

UNKNOWN = -1
"""In place of the extremal vertex of the last time."""

_ROUGH = 8.0 * UNIT_ROUNDOFF


class Hulls(Record):
    """The hulls of all bodies."""

    hulls = address[:]
    with_others = bool_[:]
    """Which bodies have vertices that are no corners of their hull."""
    last = int32[:, 3, 2]
    """The extremal vertices of the last time, or UNKNOWN."""


hulls_at = Hulls.at


@inner
def _highest(body, c, hint, batch, stamp):
    """The vertex with the largest computed height, and that height."""
    vertex, height, ground = climb(body, c, first_vertex(body, c) if hint == UNKNOWN else hint)
    floor = height - (_ROUGH * body.radius + UNDERFLOW)
    if ground < floor:
        return vertex, height
    batch.queue[0] = vertex
    batch.stamps[vertex] = stamp
    found, done = 1, 0
    while done < found:
        here = batch.queue[done]
        done += 1
        h = height_of(body, c, here)
        if h > height:
            vertex, height = here, h
        found = spread(body, c, here, floor, batch, found, stamp)
    return vertex, height


@inner
def _span(body, c):
    """The smallest and the largest computed height, over all vertices."""
    low, high = np.inf, -np.inf
    for i in range(body.n_vertices):
        h = height_of(body, c, i)
        low = min(low, h)
        high = max(high, h)
    return low, high


@kernel
def tight_boxes(hulls, batch):
    """Fill the boxes of a batch, and the extremal vertices; return the first pose that is not rigid, or their number.

    The queue and the stamps of the batch serve to visit the vertices of a face that stands square to an axis; a stamp
    tells which climb saw a vertex last.
    """
    hulls, batch = hulls_at(hulls), batch_at(batch)
    stamp = 0
    for i in range(batch.n_poses):
        if not pose_is_rigid(batch.poses[i]):
            return i
        number = batch.which[i]
        body = convex_body(hulls.hulls[number])
        pose = pose_of(batch.poses, i)
        size = size_of_coordinates(body, pose)
        for k in range(batch.n_axes):
            axis = batch.axes[k]
            row = row_along(pose, axis)
            c = (row[0], row[1], row[2])
            if body.n_vertices <= FEW:
                low, high = _span(body, c)
            else:
                stamp += 2
                back = (-c[0], -c[1], -c[2])
                down, depth = _highest(body, back, np.int64(hulls.last[number, k, 0]), batch, stamp - 1)
                up, high = _highest(body, c, np.int64(hulls.last[number, k, 1]), batch, stamp)
                low = -depth
                hulls.last[number, k, 0] = down
                hulls.last[number, k, 1] = up
            outward = 0.0
            if hulls.with_others[number] or axis.rounds:
                outward = OUTWARD * size * axis.sum + axis.underflow
            batch.boxes[i, 0, k] = (low + row[3]) - outward
            batch.boxes[i, 1, k] = (high + row[3]) + outward
    return batch.n_poses
