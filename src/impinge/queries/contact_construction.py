# mypy: allow-untyped-defs, allow-incomplete-defs
"""Where triangles meet: segments and normals of contacts that are known."""

from __future__ import annotations

import numpy as np

from impinge.geometry.contacts.construction import MOST_POINTS, construct_contact
from impinge.geometry.triangles.certain_crossing import PAIR_SHAPE
from impinge.kernels.jit import inlined, kernel


@inlined
def _put_posed_face(pose, vertices, faces, face, corners):
    """Write a face in world coordinates; the order of operations is that of geometry.pose."""
    xx, xy, xz, tx = pose[0, 0], pose[0, 1], pose[0, 2], pose[0, 3]
    yx, yy, yz, ty = pose[1, 0], pose[1, 1], pose[1, 2], pose[1, 3]
    zx, zy, zz, tz = pose[2, 0], pose[2, 1], pose[2, 2], pose[2, 3]
    for i in range(3):
        v = faces[face, i]
        x, y, z = vertices[v, 0], vertices[v, 1], vertices[v, 2]
        corners[i, 0] = ((xx * x + xy * y) + xz * z) + tx
        corners[i, 1] = ((yx * x + yy * y) + yz * z) + ty
        corners[i, 2] = ((zx * x + zy * y) + zz * z) + tz


@kernel
def construct_contacts(vertices_a, faces_a, vertices_b, faces_b, poses_a, poses_b, pairs, segments, normals):
    """Segments and normals of contacts (pose, face of a, face of b, kind)."""
    points = np.empty((2 * MOST_POINTS, 3))
    pair = np.empty(PAIR_SHAPE)
    for n in range(len(pairs)):
        i = pairs[n, 0]
        _put_posed_face(poses_a[i], vertices_a, faces_a, pairs[n, 1], pair[0])
        _put_posed_face(poses_b[i], vertices_b, faces_b, pairs[n, 2], pair[1])
        construct_contact(pair, pairs[n, 3], points, normals[n])
        for k in range(3):
            segments[n, 0, k] = points[0, k]
            segments[n, 1, k] = points[1, k]
