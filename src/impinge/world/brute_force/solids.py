"""What lies inside what, for closed surfaces."""

from __future__ import annotations

import numpy as np

from impinge.geometry.solid import EVERYTHING, cells_around_contact, vertex_inside
from impinge.jit import kernel
from impinge.world.brute_force.body import pose_body, room_for


@kernel
def pieces_inside(a, b, poses_a, poses_b, free, inside):
    """Which free pieces of surface a, which do not meet b, lie inside the closed surface b."""
    world_a, triangles_a = room_for(a)
    world_b, triangles_b = room_for(b)
    for i in range(len(poses_a)):
        pose_body(a, poses_a[i], world_a, triangles_a)
        pose_body(b, poses_b[i], world_b, triangles_b)
        for n in range(len(a.pieces)):
            inside[i, n] = free[i, n] and vertex_inside(triangles_a[a.pieces[n], 0], triangles_b)


@kernel
def cells_at_contacts(a, b, poses_a, poses_b, pairs, cells):
    """Add the cells (see geometry.solid) that meet at contacts to those known for each pose."""
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
        cells[i] = cells_around_contact(pairs[n, 1], pairs[n, 2], triangles_a, triangles_b, seen_a, seen_b, cells[i])
