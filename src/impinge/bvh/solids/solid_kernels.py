# mypy: allow-untyped-defs, allow-incomplete-defs
"""Entry kernels for solids in trees of oriented boxes: what lies inside what, and which cells meet at contacts."""

from __future__ import annotations

import numpy as np

from impinge.bvh.solids.ray_candidates import PosedTree
from impinge.geometry.posing import posed_point
from impinge.geometry.solids.cells import EVERYTHING, cells_around_contact, triangles_on_ray
from impinge.geometry.solids.ray_parity import vertex_inside
from impinge.geometry.surface import posed_face, surface_at
from impinge.kernels.jit import kernel


@kernel("int64, float64[:, ::1], float64[:, :, ::1], float64[:, :, ::1], boolean[:, ::1], boolean[:, ::1]")
def pieces_inside(tree, points, poses, tree_poses, free, inside):
    """Which free pieces of a surface, named by a point each, lie inside the closed surface of a tree.

    They must not meet it.
    """
    for i in range(len(poses)):
        for n in range(len(points)):
            inside[i, n] = False
            if free[i, n]:
                x = posed_point(poses[i], points[n, 0], points[n, 1], points[n, 2])
                inside[i, n] = vertex_inside(x, triangles_on_ray(PosedTree(tree, tree_poses[i]), x, 0.0))


@kernel("int64, int64, int64, int64, float64[:, :, ::1], float64[:, :, ::1], int64[:, ::1], int64[::1]")
def cells_at_contacts(a, b, tree_a, tree_b, poses_a, poses_b, pairs, cells):
    """Add the cells (see geometry.solids.cells) that meet at contacts to those known for each pose."""
    a, b = surface_at(a), surface_at(b)
    seen_a = np.empty((a.n_faces, 3), dtype=np.bool_)
    seen_b = np.empty((b.n_faces, 3), dtype=np.bool_)
    last = -1
    for n in range(len(pairs)):
        i = pairs[n, 0]
        if cells[i] == EVERYTHING:
            continue
        if i != last:
            last = i
            seen_a[:] = False
            seen_b[:] = False
        face_a = pairs[n, 1]
        face_b = pairs[n, 2]
        cells[i] = cells_around_contact(
            posed_face(a, face_a, poses_a[i]),
            posed_face(b, face_b, poses_b[i]),
            PosedTree(tree_a, poses_a[i]),
            PosedTree(tree_b, poses_b[i]),
            seen_a[face_a],
            seen_b[face_b],
            cells[i],
        )
