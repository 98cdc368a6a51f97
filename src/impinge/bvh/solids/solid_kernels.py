# mypy: allow-untyped-defs, allow-incomplete-defs
"""Entry kernels for solids in trees of oriented boxes: what lies inside what, and which cells meet at contacts."""

from __future__ import annotations

import numpy as np

from impinge.bvh.solids.ray_candidates import PosedTree
from impinge.geometry.posing import posed_point
from impinge.geometry.solids.cells import EVERYTHING, cells_around_contact, triangles_on_ray
from impinge.geometry.solids.ray_parity import vertex_inside
from impinge.kernels.jit import inner, kernel


@kernel
def pieces_inside(tree, stack, points, poses, tree_poses, free, inside):
    """Which free pieces of a surface, named by a point each, lie inside the closed surface of a tree.

    They must not meet it.
    """
    for i in range(len(poses)):
        for n in range(len(points)):
            inside[i, n] = False
            if free[i, n]:
                x = posed_point(poses[i], points[n, 0], points[n, 1], points[n, 2])
                inside[i, n] = vertex_inside(x, triangles_on_ray(PosedTree(tree, stack, tree_poses[i]), x, 0.0))


@inner
def _posed_face(pose, vertices, faces, face):
    p = vertices[faces[face, 0]]
    q = vertices[faces[face, 1]]
    r = vertices[faces[face, 2]]
    return (
        posed_point(pose, p[0], p[1], p[2]),
        posed_point(pose, q[0], q[1], q[2]),
        posed_point(pose, r[0], r[1], r[2]),
    )


@kernel
def cells_at_contacts(tree_a, tree_b, stack, vertices_a, faces_a, vertices_b, faces_b, poses_a, poses_b, pairs, cells):
    """Add the cells (see geometry.solids.cells) that meet at contacts to those known for each pose."""
    seen_a = np.empty((len(faces_a), 3), dtype=np.bool_)
    seen_b = np.empty((len(faces_b), 3), dtype=np.bool_)
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
            _posed_face(poses_a[i], vertices_a, faces_a, face_a),
            _posed_face(poses_b[i], vertices_b, faces_b, face_b),
            PosedTree(tree_a, stack, poses_a[i]),
            PosedTree(tree_b, stack, poses_b[i]),
            seen_a[face_a],
            seen_b[face_b],
            cells[i],
        )
