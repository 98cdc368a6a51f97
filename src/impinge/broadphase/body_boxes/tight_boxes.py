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

from typing import Any, NamedTuple

import numpy as np

from impinge.broadphase.body_boxes.box_axes import OUTWARD, UNDERFLOW, axis_of, axis_table, row_along
from impinge.constants import UNIT_ROUNDOFF
from impinge.convex.distance.support import climb, height_of, pose_of, size_of_coordinates, spread
from impinge.convex.hull.cube_map import first_vertex
from impinge.convex.hull.hull_handle import convex_body
from impinge.geometry.rigid_pose import pose_is_rigid
from impinge.kernels.jit import inner, kernel
from impinge.kernels.memory import table

FEW = 48
"""Up to so many vertices all of them are visited: 2 ns each, where six climbs of a step take 100 ns more."""

UNKNOWN = -1
"""In place of the extremal vertex of the last time."""

_ROUGH = 8.0 * UNIT_ROUNDOFF

_addresses = table(np.int64)
_flags = table(np.bool_)
_poses = table(np.float64, 4, 4)
_boxes = table(np.float64, 2, 3)
_vertices = table(np.int32, 3, 2)
_numbers = table(np.int64)


class _Plateau(NamedTuple):
    """The vertices of a face that stands square to an axis, as they are visited."""

    queue: Any
    stamps: Any
    """The climb that saw a vertex last."""


@inner
def _highest(body, c, hint, plateau, stamp):
    """The vertex with the largest computed height, and that height."""
    vertex, height, ground = climb(body, c, first_vertex(body, c) if hint == UNKNOWN else hint)
    floor = height - (_ROUGH * body.radius + UNDERFLOW)
    if ground < floor:
        return vertex, height
    plateau.queue[0] = vertex
    plateau.stamps[vertex] = stamp
    found, done = 1, 0
    while done < found:
        here = plateau.queue[done]
        done += 1
        h = height_of(body, c, here)
        if h > height:
            vertex, height = here, h
        found = spread(body, c, here, floor, plateau, found, stamp)
    return vertex, height


@inner
def _span(body, c):
    """The smallest and the largest computed height, over all vertices."""
    low, high = np.inf, -np.inf
    for i in range(body.size):
        h = height_of(body, c, i)
        low = min(low, h)
        high = max(high, h)
    return low, high


@kernel
def tight_boxes(
    count, which, total, bodies, with_others, poses, axis_count, axes, last, boxes, room, queue, stamps
):  # fmt: skip
    """Fill the boxes, and the extremal vertices in ``last``; return the first pose that is not rigid, or ``count``.

    Poses and boxes are those of ``count`` bodies, and ``which`` tells their numbers among ``total``.

    ``with_others`` tells which bodies have vertices that are no corners of their hull.  A queue and stamps have room
    for the vertices of the largest body; stamps are 0.
    """
    which = _numbers(which, count)
    bodies = _addresses(bodies, total)
    with_others = _flags(with_others, total)
    poses = _poses(poses, count)
    axes = axis_table(axes, axis_count)
    last = _vertices(last, total)
    boxes = _boxes(boxes, count)
    plateau = _Plateau(_numbers(queue, room), _numbers(stamps, room))
    stamp = 0
    for i in range(count):
        if not pose_is_rigid(poses[i]):
            return i
        number = which[i]
        body = convex_body(bodies[number])
        pose = pose_of(poses, i)
        size = size_of_coordinates(body, pose)
        for k in range(axis_count):
            row = row_along(pose, axis_of(axes, k))
            c = (row[0], row[1], row[2])
            if body.size <= FEW:
                low, high = _span(body, c)
            else:
                stamp += 2
                down, depth = _highest(body, (-c[0], -c[1], -c[2]), np.int64(last[number, k, 0]), plateau, stamp - 1)
                up, high = _highest(body, c, np.int64(last[number, k, 1]), plateau, stamp)
                low = -depth
                last[number, k, 0] = down
                last[number, k, 1] = up
            outward = 0.0
            if with_others[number] or axes[k, 5] != 0.0:
                outward = OUTWARD * size * axes[k, 3] + axes[k, 4]
            boxes[i, 0, k] = (low + row[3]) - outward
            boxes[i, 1, k] = (high + row[3]) + outward
    return count
