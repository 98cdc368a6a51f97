# mypy: allow-untyped-defs, allow-incomplete-defs
"""Boxes of fixed size that hold a body in every orientation.

Cohen, Lin, Manocha and Ponamgi (1995), "I-COLLIDE": a cube around a sphere around the body.  Only its middle has to be
posed, and its ends move as smoothly as the body; but it is larger than the box that fits.

The bound
---------
With the names of ``box_axes``: let g be the middle, q no less than the distance of any vertex x from it, and r no
less than |x| and |g|.  (R x + t) . d and (R g + t) . d differ by at most |R^T d| q, which is q to 1.5e-9, because R^T R
is the identity to 1e-9 in each entry: 2**-29 q is added.  The posed vertex is within 4.1 u M s of the first, the
computed value of the middle within 12.7 u M s of the second, and the ends of the interval are rounded, numbers of up
to 3 M s and the half width itself: less than 6 u M s.  ``_OUTWARD`` is 40 u, for 23.
"""

from __future__ import annotations

import numpy as np

from impinge.arrays import Floats, read_only
from impinge.broadphase.body_boxes.box_axes import batch_at, row_along
from impinge.constants import UNIT_ROUNDOFF
from impinge.convex.distance.support import pose_of
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.convex.hull.hull_handle import radius_of
from impinge.geometry.rigid_pose import pose_is_rigid
from impinge.kernels.jit import kernel
from impinge.kernels.record import Record, float64, records

_OUTWARD = 40.0 * UNIT_ROUNDOFF
_NEARLY_RIGID = 1.0 + 2.0**-29


class Cube(Record, constant=True):
    """g, q and r of a body."""

    middle = float64[3]
    half = float64
    reach = float64


class Cubes(Record, constant=True):
    """Those of all bodies."""

    cubes = records(Cube)[:]


cubes_at = Cubes.at


def cube_of(hull: ConvexHull) -> Floats:
    """(5,) g, q and r.

    The middle of the bounds does not depend on where a surface has many vertices, as their mean would.
    """
    return hull.memo("fixed cube", _cube_of)


def _cube_of(hull: ConvexHull) -> Floats:
    low, high = hull.bounds
    middle = low * 0.5 + high * 0.5
    reach = radius_of(np.concatenate([hull.vertices, middle[None]]))
    return read_only(np.array([*middle, radius_of(hull.vertices - middle) * _NEARLY_RIGID, reach]))


@kernel
def fixed_cubes(cubes, batch):
    """Fill the boxes of a batch; return the first pose that is not rigid, or their number."""
    cubes, batch = cubes_at(cubes), batch_at(batch)
    for i in range(batch.n_poses):
        if not pose_is_rigid(batch.poses[i]):
            return i
        cube = cubes.cubes[batch.which[i]]
        pose = pose_of(batch.poses, i)
        size = cube.reach + max(abs(pose[0][3]), abs(pose[1][3]), abs(pose[2][3]))
        for k in range(batch.n_axes):
            axis = batch.axes[k]
            row = row_along(pose, axis)
            middle = ((row[0] * cube.middle[0] + row[1] * cube.middle[1]) + row[2] * cube.middle[2]) + row[3]
            half = cube.half + (_OUTWARD * size * axis.sum + axis.underflow)
            batch.boxes[i, 0, k] = middle - half
            batch.boxes[i, 1, k] = middle + half
    return batch.n_poses
