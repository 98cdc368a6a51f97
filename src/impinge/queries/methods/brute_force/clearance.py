# mypy: allow-untyped-defs, allow-incomplete-defs
"""Whether two surfaces come within a clearance of each other."""

from __future__ import annotations

from impinge.geometry.triangles.clearance import any_pair_within
from impinge.kernels.jit import kernel
from impinge.queries.methods.brute_force.posed_body import Body, pose_body, room_for


@kernel(Body, Body, "float64[:, :, ::1], float64[:, :, ::1], float64, boolean[::1]")
def within(a, b, poses_a, poses_b, clearance, answers):
    world_a, triangles_a = room_for(a)
    world_b, triangles_b = room_for(b)
    for i in range(len(poses_a)):
        pose_body(a, poses_a[i], world_a, triangles_a)
        pose_body(b, poses_b[i], world_b, triangles_b)
        answers[i] = any_pair_within(triangles_a, triangles_b, clearance)
