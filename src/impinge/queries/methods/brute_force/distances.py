# mypy: allow-untyped-defs, allow-incomplete-defs
"""The nearest pair of triangles."""

from __future__ import annotations

from impinge.geometry.triangles.all_pairs import nearest_pair
from impinge.kernels.jit import kernel
from impinge.queries.methods.brute_force.posed_body import pose_body, room_for


@kernel
def nearest_pairs(a, b, poses_a, poses_b, first, stop, values, points, faces):
    """Go on with these faces of a, from what was found with those before; whether triangles met in the last pose."""
    met = False
    world_a, triangles_a = room_for(a)
    world_b, triangles_b = room_for(b)
    for i in range(len(poses_a)):
        pose_body(a, poses_a[i], world_a, triangles_a)
        pose_body(b, poses_b[i], world_b, triangles_b)
        values[i], faces[i, 0], faces[i, 1], met = nearest_pair(
            triangles_a, triangles_b, first, stop, values[i], faces[i, 0], faces[i, 1], points[i]
        )
    return met
