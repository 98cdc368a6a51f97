# mypy: allow-untyped-defs, allow-incomplete-defs
"""Whether two surfaces meet, by Zachmann's simple algorithm."""

from __future__ import annotations

from impinge.geometry.triangles.zachmann_simple import surfaces_meet
from impinge.kernels.jit import kernel
from impinge.queries.methods.brute_force.posed_body import Body, pose_body, room_for


@kernel(Body, Body, "float64[:, :, ::1], float64[:, :, ::1], boolean[::1]")
def meet(a, b, poses_a, poses_b, answers):
    world_a, triangles_a = room_for(a)
    world_b, triangles_b = room_for(b)
    for i in range(len(poses_a)):
        pose_body(a, poses_a[i], world_a, triangles_a)
        pose_body(b, poses_b[i], world_b, triangles_b)
        answers[i] = surfaces_meet(world_a, a.edges, triangles_a, world_b, b.edges, triangles_b, True)
