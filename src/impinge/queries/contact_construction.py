# mypy: allow-untyped-defs, allow-incomplete-defs
"""Where triangles meet: segments and normals of contacts that are known."""

from __future__ import annotations

import numpy as np

from impinge.geometry.contacts.construction import MOST_POINTS, construct_contact
from impinge.geometry.posing import posed_point
from impinge.geometry.triangles.certain_crossing import PAIR_SHAPE
from impinge.kernels.jit import inlined, kernel


@inlined
def _put_posed_face(pose, vertices, faces, face, corners):
    """Write the corners of a face in world coordinates."""
    for i in range(3):
        v = faces[face, i]
        corners[i, 0], corners[i, 1], corners[i, 2] = posed_point(pose, vertices[v, 0], vertices[v, 1], vertices[v, 2])


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
