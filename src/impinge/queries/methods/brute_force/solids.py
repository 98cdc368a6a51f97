# mypy: allow-untyped-defs, allow-incomplete-defs
"""What lies inside what, for closed surfaces."""

from __future__ import annotations

import numpy as np

from impinge.geometry.solids.cells import EVERYTHING, AllTriangles, cells_around_contact
from impinge.geometry.solids.ray_parity import vertex_inside
from impinge.geometry.triangles.intersection import load_triangle
from impinge.kernels.jit import kernel
from impinge.queries.methods.brute_force.posed_body import Body, pose_body, room_for


@kernel(Body, Body, "float64[:, :, ::1], float64[:, :, ::1], int64[::1], boolean[:, ::1], boolean[:, ::1]")
def pieces_inside(a, b, poses_a, poses_b, faces, free, inside):
    """Which free pieces of surface a (one face of each), which do not meet b, lie inside the closed surface b."""
    world_a, triangles_a = room_for(a)
    world_b, triangles_b = room_for(b)
    for i in range(len(poses_a)):
        pose_body(a, poses_a[i], world_a, triangles_a)
        pose_body(b, poses_b[i], world_b, triangles_b)
        for n in range(len(faces)):
            inside[i, n] = free[i, n] and vertex_inside(triangles_a[faces[n], 0], triangles_b)


@kernel(Body, Body, "float64[:, :, ::1], float64[:, :, ::1], int64[:, ::1], int64[::1]")
def cells_at_contacts(a, b, poses_a, poses_b, pairs, cells):
    """Add the cells (see geometry.solids.cells) that meet at contacts to those known for each pose."""
    world_a, triangles_a = room_for(a)
    world_b, triangles_b = room_for(b)
    seen_a = np.empty((len(a.faces), 3), dtype=np.bool_)
    seen_b = np.empty((len(b.faces), 3), dtype=np.bool_)
    posed = -1
    for n in range(len(pairs)):
        i = pairs[n, 0]
        if cells[i] == EVERYTHING:
            continue
        if i != posed:
            posed = i
            pose_body(a, poses_a[i], world_a, triangles_a)
            pose_body(b, poses_b[i], world_b, triangles_b)
            seen_a[:] = False
            seen_b[:] = False
        face_a = pairs[n, 1]
        face_b = pairs[n, 2]
        cells[i] = cells_around_contact(
            load_triangle(triangles_a, face_a),
            load_triangle(triangles_b, face_b),
            AllTriangles(triangles_a),
            AllTriangles(triangles_b),
            seen_a[face_a],
            seen_b[face_b],
            cells[i],
        )
