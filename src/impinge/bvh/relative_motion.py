# mypy: allow-untyped-defs, allow-incomplete-defs
"""One body seen from the local frame of another: how float32 volumes are carried over, and the margin for that.

Each tree has a local frame, l = (x - origin) / unit, in which |l_i| <= 1.  A posed vertex is, but for rounding,
w + R l unit, with w the posed origin.  Seen from the other body,

    R_near^T (w_far + R_far l unit_far - w_near) / unit_near  =  scale * R l + t,

and a vertex of the near body itself is R_near^T R_near l.  What that identity neglects, and what float32 rounds, is
bounded by ``margin``, in local units of the near body, as the error of the vector between two points (u = 2**-24):

  - World coordinates are rounded (they are the truth, see geometry.pose): a posed coordinate is a sum of three products
    and a translation, off by at most 4 * 2**-53 * (1.75 |x| + |t|), |.| the largest coordinate.  That happens to a
    vertex and to the origin of either body, the difference w_far - w_near and the product with R_near^T add as much
    again.  2**-48 times the sum of all these sizes is more than all of that, lengths instead of coordinates included.
  - Rotations are orthonormal to 1e-9: R^T R l differs from l by less than 2**-26 * |l|, so by less than u / 2 for |l|
    <= sqrt(3), of the near body.  Lengths are kept to the same relative error.
  - A centre (or corner) c is carried in float32: 4 u for rounded entries of R, products and sums, one more for the
    scaled sum, each of |c| <= 3.5 (a centre is at most sqrt(3) from the origin along each of three axes, 3 in all),
    and that in each of three coordinates: below 31 u * scale; u |t| for t and u for the sum.

The margin for corners of triangles is what triangle_filter asks for: 32 u times a bound on all coordinates, which is
3.5 (1 + scale) + |t|, and four times the error of a vertex; taken is 64 u and four times the rounding of the world.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from impinge.geometry.posing import posed_point
from impinge.kernels.jit import inlined

_ULP32 = 2.0**-24
_WORLD_ROUNDING = 2.0**-48

# Beyond this ratio of sizes, or of distance to size, float32 cannot tell the parts of the smaller body
# apart, and squares might overflow: nothing is pruned then.
FARTHEST = 2.0**30


class Motion(NamedTuple):
    """A far body in the local frame of a near one, float32."""

    rotation: Any
    translation: Any
    scale: Any
    margin: Any
    """Added to the volumes that are compared."""
    corner_margin: Any
    """For the filters of triangles."""


@inlined
def largest(v):
    return max(abs(v[0]), abs(v[1]), abs(v[2]))


@inlined
def column(pose, i):
    return (pose[0, i], pose[1, i], pose[2, i])


@inlined
def dot3(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def _posed_origin(body, pose):
    o = body.origin
    return posed_point(pose, o[0], o[1], o[2])


@inlined
def _size_of_coordinates(body, pose):
    return 1.75 * (largest(body.origin) + body.unit) + largest(column(pose, 3))


# Columns of a motion in memory: rotation, translation, scale, margin, margin of corners.
SCALE = 12
MOTION_COLUMNS = 15
VIEW_COLUMNS = 22  # of a row of far_view


@inlined
def _write_motion(row, near, far, near_pose, far_pose, between, rounding):
    """``between`` is the vector from the posed origin of the near body to that of the far one."""
    scale = far.unit / near.unit
    length_squared = 0.0
    farthest = 0.0
    for i in range(3):
        axis = column(near_pose, i)
        for j in range(3):
            row[3 * i + j] = dot3(axis, column(far_pose, j))
        t = dot3(axis, between) / near.unit
        row[9 + i] = t
        farthest = max(farthest, abs(t))
        length_squared += t * t
    if scale < FARTHEST and scale * FARTHEST > 1.0 and farthest < FARTHEST:
        noise = rounding / near.unit
        length = math.sqrt(length_squared)
        row[12] = scale
        row[13] = _ULP32 * (31.0 * scale + 2.0 * length + 2.0) + noise
        row[14] = 64.0 * _ULP32 * (3.5 * (1.0 + scale) + length) + 4.0 * noise
    else:
        for i in range(12):
            row[i] = 0.0
        row[12] = 1.0
        row[13] = np.inf
        row[14] = np.inf


@inlined
def world_rounding(a, b, pose_a, pose_b):
    """A bound on the error of the vector between posed vertices, in world units."""
    return _WORLD_ROUNDING * (_size_of_coordinates(a, pose_a) + _size_of_coordinates(b, pose_b))


@inlined
def between_origins(a, b, pose_a, pose_b):
    origin_a = _posed_origin(a, pose_a)
    origin_b = _posed_origin(b, pose_b)
    return (origin_b[0] - origin_a[0], origin_b[1] - origin_a[1], origin_b[2] - origin_a[2])


@inlined
def surely_farther_apart(a, b, pose_a, pose_b, reach):
    """Whether even balls around the bodies are farther apart than the reach, in float64.

    However far apart they are: beyond FARTHEST, float32 volumes can no longer tell.  A ball about the origin of the
    local frame has a radius of sqrt(3) units.
    """
    between = between_origins(a, b, pose_a, pose_b)
    radii = 1.7321 * (a.unit + b.unit) * (1.0 + 2.0**-20) + reach + world_rounding(a, b, pose_a, pose_b)
    return max(abs(between[0]), abs(between[1]), abs(between[2])) > radii


@inlined
def write_placement(row, a, b, pose_a, pose_b):
    """b seen from a, in float64 and world units: rotation, then translation."""
    between = between_origins(a, b, pose_a, pose_b)
    for i in range(3):
        axis = column(pose_a, i)
        for j in range(3):
            row[3 * i + j] = dot3(axis, column(pose_b, j))
        row[9 + i] = dot3(axis, between)


@inlined
def moved_at_most(row, other, a, b, rounding):
    """How far any vertex of b can have moved, seen from a, between two placements.

    A vertex is at most sqrt(3) units from the origin of its local frame, and a matrix stretches by no more than
    its Frobenius norm.  Bounds refer to placements as they were computed; what is rounded at either end is doubted
    twice as it is now, and rotations are such to 1e-9 only.
    """
    turned = 0.0
    for i in range(9):
        turned += (row[i] - other[i]) * (row[i] - other[i])
    shift = (row[9] - other[9], row[10] - other[10], row[11] - other[11])
    size = largest(shift)
    shifted = 0.0
    if size > 0.0:  # relative to its size, since squares of tiny shifts underflow
        for k in range(3):
            shifted += (shift[k] / size) * (shift[k] / size)
    doubt = 2.0 * rounding + 2.0**-26 * (a.unit + b.unit)
    return (1.7321 * b.unit * math.sqrt(turned) + size * math.sqrt(shifted)) * (1.0 + 2.0**-40) + doubt


@inlined
def write_motions(rows, a, b, pose_a, pose_b):
    """Row 0: b seen from a; row 1: a seen from b."""
    rounding = world_rounding(a, b, pose_a, pose_b)
    forth = between_origins(a, b, pose_a, pose_b)
    back = (-forth[0], -forth[1], -forth[2])
    _write_motion(rows[0], a, b, pose_a, pose_b, forth, rounding)
    _write_motion(rows[1], b, a, pose_b, pose_a, back, rounding)


@inlined
def motion_at(rows, side):
    """The motion in a row, as numbers."""
    m = rows
    return Motion(
        (
            m[side, 0], m[side, 1], m[side, 2],
            m[side, 3], m[side, 4], m[side, 5],
            m[side, 6], m[side, 7], m[side, 8],
        ),
        (m[side, 9], m[side, 10], m[side, 11]),
        m[side, 12],
        m[side, 13],
        m[side, 14],
    )  # fmt: skip


@inlined
def carried_point(motion, x, y, z):
    """A point of the far body, in float32, in the frame of the near one."""
    r = motion.rotation
    t = motion.translation
    s = motion.scale
    return (
        s * (r[0] * x + r[1] * y + r[2] * z) + t[0],
        s * (r[3] * x + r[4] * y + r[5] * z) + t[1],
        s * (r[6] * x + r[7] * y + r[8] * z) + t[2],
    )
