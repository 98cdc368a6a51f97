"""Where triangles meet: segments and normals of contacts that are known."""

from __future__ import annotations

import numpy as np

from impinge.geometry.contact import MOST_POINTS, construct_contact
from impinge.jit import inner, kernel


@inner
def _posed_corner(pose, vertices, v):
    x = vertices[v, 0]
    y = vertices[v, 1]
    z = vertices[v, 2]
    return (
        ((pose[0, 0] * x + pose[0, 1] * y) + pose[0, 2] * z) + pose[0, 3],
        ((pose[1, 0] * x + pose[1, 1] * y) + pose[1, 2] * z) + pose[1, 3],
        ((pose[2, 0] * x + pose[2, 1] * y) + pose[2, 2] * z) + pose[2, 3],
    )


@inner
def _posed_face(pose, vertices, faces, face):
    """A face in world coordinates; the order of operations is that of geometry.pose."""
    return (
        _posed_corner(pose, vertices, faces[face, 0]),
        _posed_corner(pose, vertices, faces[face, 1]),
        _posed_corner(pose, vertices, faces[face, 2]),
    )


@kernel
def construct_contacts(vertices_a, faces_a, vertices_b, faces_b, poses_a, poses_b, pairs, segments, normals):
    """Segments and normals of contacts (pose, face of a, face of b, kind)."""
    points = np.empty((2 * MOST_POINTS, 3))
    for n in range(len(pairs)):
        i = pairs[n, 0]
        a = _posed_face(poses_a[i], vertices_a, faces_a, pairs[n, 1])
        b = _posed_face(poses_b[i], vertices_b, faces_b, pairs[n, 2])
        _, normal = construct_contact(a, b, pairs[n, 3], points)
        for k in range(3):
            segments[n, 0, k] = points[0, k]
            segments[n, 1, k] = points[1, k]
            normals[n, k] = normal[k]
