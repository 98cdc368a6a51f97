# mypy: allow-untyped-defs, allow-incomplete-defs
"""All pairs of triangles that meet."""

from __future__ import annotations

import numpy as np

from impinge.geometry.triangles.all_pairs import meeting_pairs
from impinge.kernels.jit import kernel
from impinge.queries.methods.brute_force.posed_body import Body, pose_body, room_for


@kernel(Body, Body, "float64[:, :, ::1], float64[:, :, ::1]")
def find_pairs(a, b, poses_a, poses_b):
    """All (pose, face of a, face of b, kind), in this order."""
    world_a, triangles_a = room_for(a)
    world_b, triangles_b = room_for(b)
    pairs = np.empty((16, 4), dtype=np.int64)
    count = 0
    for i in range(len(poses_a)):
        pose_body(a, poses_a[i], world_a, triangles_a)
        pose_body(b, poses_b[i], world_b, triangles_b)
        pairs, count = meeting_pairs(triangles_a, triangles_b, i, pairs, count)
    return pairs[:count]
