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

import numpy as np

from impinge.geometry.posing import posed_point
from impinge.kernels.jit import inlined
from impinge.kernels.record import Record, float32, float64

_ULP32 = 2.0**-24
_WORLD_ROUNDING = 2.0**-48

# Beyond this ratio of sizes, or of distance to size, float32 cannot tell the parts of the smaller body
# apart, and squares might overflow: nothing is pruned then.
FARTHEST = 2.0**30


class Motion(Record):
    """A far body in the local frame of a near one."""

    rotation = float32[9]
    translation = float32[3]
    scale = float32
    margin = float32
    """Added to the volumes that are compared."""
    corner_margin = float32
    """For the filters of triangles."""


class Placement(Record):
    """b seen from a in world units."""

    rotation = float64[9]
    translation = float64[3]


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


@inlined
def _write_motion(motion, near, far, near_pose, far_pose, between, rounding):
    """``between`` is the vector from the posed origin of the near body to that of the far one."""
    scale = far.unit / near.unit
    length_squared = 0.0
    farthest = 0.0
    for i in range(3):
        axis = column(near_pose, i)
        for j in range(3):
            motion.rotation[3 * i + j] = dot3(axis, column(far_pose, j))
        t = dot3(axis, between) / near.unit
        motion.translation[i] = t
        farthest = max(farthest, abs(t))
        length_squared += t * t
    if scale < FARTHEST and scale * FARTHEST > 1.0 and farthest < FARTHEST:
        noise = rounding / near.unit
        length = math.sqrt(length_squared)
        motion.scale = scale
        motion.margin = _ULP32 * (31.0 * scale + 2.0 * length + 2.0) + noise
        motion.corner_margin = 64.0 * _ULP32 * (3.5 * (1.0 + scale) + length) + 4.0 * noise
    else:
        for i in range(9):
            motion.rotation[i] = 0.0
        for i in range(3):
            motion.translation[i] = 0.0
        motion.scale = 1.0
        motion.margin = np.inf
        motion.corner_margin = np.inf


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
def write_placement(placement, a, b, pose_a, pose_b):
    """b seen from a, in float64 and world units: rotation, then translation."""
    between = between_origins(a, b, pose_a, pose_b)
    for i in range(3):
        axis = column(pose_a, i)
        for j in range(3):
            placement.rotation[3 * i + j] = dot3(axis, column(pose_b, j))
        placement.translation[i] = dot3(axis, between)


@inlined
def moved_at_most(now, before, a, b, rounding):
    """How far any vertex of b can have moved, seen from a, between two placements.

    A vertex is at most sqrt(3) units from the origin of its local frame, and a matrix stretches by no more than
    its Frobenius norm.  Bounds refer to placements as they were computed; what is rounded at either end is doubted
    twice as it is now, and rotations are such to 1e-9 only.
    """
    turned = 0.0
    for i in range(9):
        turn = now.rotation[i] - before.rotation[i]
        turned += turn * turn
    t, u = now.translation, before.translation
    shift = (t[0] - u[0], t[1] - u[1], t[2] - u[2])
    size = largest(shift)
    shifted = 0.0
    if size > 0.0:  # relative to its size, since squares of tiny shifts underflow
        for k in range(3):
            shifted += (shift[k] / size) * (shift[k] / size)
    doubt = 2.0 * rounding + 2.0**-26 * (a.unit + b.unit)
    return (1.7321 * b.unit * math.sqrt(turned) + size * math.sqrt(shifted)) * (1.0 + 2.0**-40) + doubt


@inlined
def write_motions(motions, a, b, pose_a, pose_b):
    """0: b seen from a; 1: a seen from b."""
    rounding = world_rounding(a, b, pose_a, pose_b)
    forth = between_origins(a, b, pose_a, pose_b)
    back = (-forth[0], -forth[1], -forth[2])
    _write_motion(motions[0], a, b, pose_a, pose_b, forth, rounding)
    _write_motion(motions[1], b, a, pose_b, pose_a, back, rounding)


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
