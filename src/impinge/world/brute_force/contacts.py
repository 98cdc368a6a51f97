"""Where triangles meet: segments and normals of contacts."""

from __future__ import annotations

import numpy as np

from impinge.geometry.contact import MOST_POINTS, construct_contact
from impinge.geometry.triangle import load_triangle
from impinge.jit import kernel
from impinge.world.brute_force.body import pose_body, room_for


@kernel
def construct_contacts(a, b, poses_a, poses_b, pairs, segments, normals):
    world_a, triangles_a = room_for(a)
    world_b, triangles_b = room_for(b)
    points = np.empty((2 * MOST_POINTS, 3))
    posed = -1
    for n in range(len(pairs)):
        if pairs[n, 0] != posed:
            posed = pairs[n, 0]
            pose_body(a, poses_a[posed], world_a, triangles_a)
            pose_body(b, poses_b[posed], world_b, triangles_b)
        s = load_triangle(triangles_a, pairs[n, 1])
        t = load_triangle(triangles_b, pairs[n, 2])
        _, normal = construct_contact(s, t, pairs[n, 3], points)
        for k in range(3):
            segments[n, 0, k] = points[0, k]
            segments[n, 1, k] = points[1, k]
            normals[n, k] = normal[k]
