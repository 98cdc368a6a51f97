# mypy: allow-untyped-defs, allow-incomplete-defs
"""Bounding boxes of all posed vertices, for a single frame: no convex hull need be built.

Along the world's axes they are the bounds of the posed vertices, bit for bit: adding the last coordinate of the pose is
monotonic.  Along other axes they are rounded outward as those of ``tight_boxes``.
"""

from __future__ import annotations

import numpy as np

from impinge.broadphase.body_boxes.box_axes import OUTWARD, axis_of, axis_table, row_along
from impinge.convex.distance.support import pose_of
from impinge.geometry.rigid_pose import pose_is_rigid
from impinge.kernels.jit import inner, kernel
from impinge.kernels.memory import table

_numbers = table(np.int64)
_doubles = table(np.float64)
_points = table(np.float64, 3)
_poses = table(np.float64, 4, 4)
_boxes = table(np.float64, 2, 3)


@inner
def _span(points, count, row):
    low, high = np.inf, -np.inf
    for i in range(count):
        h = (row[0] * points[i, 0] + row[1] * points[i, 1]) + row[2] * points[i, 2]
        low = min(low, h)
        high = max(high, h)
    return low, high


@kernel
def vertex_boxes(count, which, total, vertices, sizes, radii, poses, axis_count, axes, boxes):
    """Fill the boxes; return the first pose that is not rigid, or ``count``.

    Poses and boxes are those of ``count`` bodies, and ``which`` tells their numbers among ``total``.
    """
    which, vertices = _numbers(which, count), _numbers(vertices, total)
    sizes, radii = _numbers(sizes, total), _doubles(radii, total)
    poses, boxes = _poses(poses, count), _boxes(boxes, count)
    axes = axis_table(axes, axis_count)
    for i in range(count):
        if not pose_is_rigid(poses[i]):
            return i
        number = which[i]
        points = _points(vertices[number], sizes[number])
        pose = pose_of(poses, i)
        size = radii[number] + max(abs(pose[0][3]), abs(pose[1][3]), abs(pose[2][3]))
        for k in range(axis_count):
            row = row_along(pose, axis_of(axes, k))
            low, high = _span(points, sizes[number], row)
            outward = OUTWARD * size * axes[k, 3] + axes[k, 4] if axes[k, 5] != 0.0 else 0.0
            boxes[i, 0, k] = (low + row[3]) - outward
            boxes[i, 1, k] = (high + row[3]) + outward
    return count
