# mypy: allow-untyped-defs, allow-incomplete-defs
"""Bounding boxes of all posed vertices, for a single frame: no convex hull need be built.

Along the world's axes they are the bounds of the posed vertices, bit for bit: adding the last coordinate of the pose is
monotonic.  Along other axes they are rounded outward as those of ``tight_boxes``.
"""

from __future__ import annotations

import numpy as np

from impinge.broadphase.body_boxes.box_axes import OUTWARD, batch_at, row_along
from impinge.convex.distance.support import pose_of
from impinge.geometry.rigid_pose import pose_is_rigid
from impinge.kernels.jit import inner, kernel
from impinge.kernels.record import Record, address, float64


class Vertices(Record, constant=True):
    """The vertices of a body."""

    points = float64[:, 3]
    radius = float64
    """No vertex is farther from the origin."""


class Bodies(Record, constant=True):
    """All bodies."""

    vertices = address[:]


vertices_at = Vertices.at
bodies_at = Bodies.at


@inner
def _span(points, count, row):
    low, high = np.inf, -np.inf
    for i in range(count):
        h = (row[0] * points[i, 0] + row[1] * points[i, 1]) + row[2] * points[i, 2]
        low = min(low, h)
        high = max(high, h)
    return low, high


@kernel
def vertex_boxes(bodies, batch):
    """Fill the boxes of a batch; return the first pose that is not rigid, or their number."""
    bodies, batch = bodies_at(bodies), batch_at(batch)
    for i in range(batch.n_poses):
        if not pose_is_rigid(batch.poses[i]):
            return i
        body = vertices_at(bodies.vertices[batch.which[i]])
        pose = pose_of(batch.poses, i)
        size = body.radius + max(abs(pose[0][3]), abs(pose[1][3]), abs(pose[2][3]))
        for k in range(batch.n_axes):
            axis = batch.axes[k]
            row = row_along(pose, axis)
            low, high = _span(body.points, body.n_points, row)
            outward = OUTWARD * size * axis.sum + axis.underflow if axis.rounds else 0.0
            batch.boxes[i, 0, k] = (low + row[3]) - outward
            batch.boxes[i, 1, k] = (high + row[3]) + outward
    return batch.n_poses
