# mypy: allow-untyped-defs, allow-incomplete-defs
"""Ray casting against a bounding volume hierarchy: the triangles that a ray may meet.

The ray runs in world direction x, as solids.ray_parity asks.  The map p -> R^T (p - w) / unit, with w the posed
origin of the tree, takes it to another ray, with start t and direction d = R^T e_x: that is row 0 of R, nothing is
rounded.  It takes a vertex with local coordinates l to R^T R l, but for rounding.  It is affine and invertible, even
where R is a rotation to 1e-9 only, so the ray meets a triangle if and only if their images meet.

Local coordinates are at most one, so images of vertices are less than 2 from the origin, and of the ray only what is
not farther off counts: a segment with half length L <= 2 and centre c, |c| <= 4.  It descends the tree as a box
without width.  What is rounded, in local units (u = 2**-24, S the sizes of the coordinates of the body and of x):

  - A posed coordinate is off by at most 4 * 2**-53 S, in three coordinates, for a vertex and for w.  The difference
    x - w, its product with R^T, and t + s d for a point of the ray add as much again: below 2**-47 S / unit in all.
  - R^T R l differs from l by less than u.
  - Comparing with a box of the tree (see separating_axes), the vector T between the centres is at most 7 long, and the
    half lengths of the box add up to less than 6.  c is off by 4 u, T by 7 u more.  With q an axis of the box, q.T is
    off by 4 u |T| more, 39 u together, and q.d by 5 u; for three axes together sqrt(3) times as much.  That the axes
    are a rotation to 4 u only makes 8 u |T|.  On the axis d of the ray this is 68 u + 7 * 9 u + 56 u; products, sums
    and radii add 83 u: 270 u.  The normals of the box and the cross products take less.

_MARGIN is 512 u: triangles are far larger, so to be generous costs nothing.  Where the world's rounding comes to a
sixteenth of the body, far from the origin, its parts are not told apart: nothing is pruned.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from impinge.bvh.layout import WIDTH
from impinge.bvh.leaves.posed_triangles import place_of, posed_triangle
from impinge.bvh.relative_motion import column, dot3, largest
from impinge.bvh.traverse import USED
from impinge.bvh.tree_handle import obb_body
from impinge.bvh.volumes.protocol import meeting_children
from impinge.geometry.posing import posed_point
from impinge.geometry.solids.cells import triangles_on_ray
from impinge.kernels.jit import POINTER, array_at, cold, inlined, pointer_to
from impinge.kernels.lanes import lowest_bit

_MARGIN = 2.0**-15
_WORLD_ROUNDING = 2.0**-47
_COARSE = 2.0**-4

_RADIUS = 2.0
"""More than sqrt(3), a sixteenth for a rounded vertex, and as much for where a ray is nearest to the origin."""


class PosedTree(NamedTuple):
    """A tree in a pose."""

    body: Any
    """The address of a tree of oriented boxes, see tree_handle."""
    pose: Any
    """(4, 4)"""


@inlined
def _local(body, pose, x, rounding):
    """The start of the ray in local coordinates, and what all of the world's roundings amount to there."""
    w = posed_point(pose, body.origin[0], body.origin[1], body.origin[2])
    away = (x[0] - w[0], x[1] - w[1], x[2] - w[2])
    start = (
        dot3(column(pose, 0), away) / body.unit,
        dot3(column(pose, 1), away) / body.unit,
        dot3(column(pose, 2), away) / body.unit,
    )
    size = 1.75 * (largest(body.origin) + body.unit) + largest(column(pose, 3)) + largest(x)
    return start, (_WORLD_ROUNDING * size + 2.0 * rounding) / body.unit


@inlined
def _thin_box(centre, direction, half_length):
    """A segment as a carried box: without width, so that its other two axes do not matter."""
    zero = np.float32(0.0)
    return (
        np.float32(direction[0]), zero, zero,
        np.float32(direction[1]), zero, zero,
        np.float32(direction[2]), zero, zero,
        np.float32(centre[0]), np.float32(centre[1]), np.float32(centre[2]),
        np.float32(half_length), zero, zero,
    )  # fmt: skip


@inlined
def _ray_in_reach(start, direction):
    """Centre and half length of the part of a ray that is near the tree; negative if there is none."""
    nearest = -dot3(start, direction) / dot3(direction, direction)
    low = max(nearest - _RADIUS, 0.0)
    high = nearest + _RADIUS
    middle = 0.5 * (low + high)
    centre = (
        start[0] + middle * direction[0],
        start[1] + middle * direction[1],
        start[2] + middle * direction[2],
    )
    return centre, 0.5 * (high - low)


@inlined
def _may_hold(body, start, margin, lanes):
    """Whether a point may be in the volume around the whole tree; else it is inside of nothing."""
    if largest(start) > _RADIUS:
        return False
    return meeting_children(body, 0, _thin_box(start, (0.0, 0.0, 0.0), 0.0), margin, lanes) & 1 != 0


@inlined
def _store(triangles, count, triangle):
    for i in range(3):
        for k in range(3):
            triangles[count, i, k] = triangle[i][k]


@cold(f"int64(int64, {POINTER}, float64, float64, float64, float64, {POINTER}, int64)")
def _find_triangles(address, pose, x, y, z, rounding, triangles, room):
    """Write the triangles near a ray, as far as there is room; return their number."""
    body = obb_body(address)
    poses = array_at(pose, (1, 4, 4))
    triangles = array_at(triangles, (room, 3, 3))
    lanes = np.empty(WIDTH, dtype=np.float32)
    stack = np.empty(WIDTH * (body.depth + 1), dtype=np.int32)  # a step puts at most eight there, once a level
    start, noise = _local(body, poses[0], (x, y, z), rounding)
    direction = (poses[0, 0, 0], poses[0, 0, 1], poses[0, 0, 2])
    if noise < _COARSE:
        margin = np.float32(_MARGIN + noise)
        if not _may_hold(body, start, margin, lanes):
            return 0
        centre, half_length = _ray_in_reach(start, direction)
        if half_length < 0.0:
            return 0
    else:
        margin = np.float32(np.inf)
        centre, half_length = (0.0, 0.0, 0.0), 0.0
    box = _thin_box(centre, direction, half_length)
    count = 0
    stack[0] = 0
    height = 1
    while height > 0:
        height -= 1
        node = np.int64(stack[height])
        used = np.int64(body.slots[node])
        bits = meeting_children(body, node, box, margin, lanes) & (used >> USED)
        leaves = bits & used
        bits &= ~used
        while bits != 0:
            stack[height] = body.child[node * WIDTH + lowest_bit(bits)]
            bits &= bits - 1
            height += 1
        while leaves != 0:
            if count < room:
                place = place_of(body, node * WIDTH + lowest_bit(leaves))
                _store(triangles, count, posed_triangle(poses, 0, body, place))
            leaves &= leaves - 1
            count += 1
    return count


@triangles_on_ray.of(PosedTree)
def _triangles_of_tree(surface, x, rounding):
    room = 64
    triangles = np.empty((room, 3, 3))
    while True:
        count = _find_triangles(
            surface.body,
            pointer_to(surface.pose),
            x[0],
            x[1],
            x[2],
            rounding,
            pointer_to(triangles),
            room,
        )
        if count <= room:
            return triangles[:count]
        room = count
        triangles = np.empty((room, 3, 3))
