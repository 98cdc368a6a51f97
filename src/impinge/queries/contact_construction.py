# mypy: allow-untyped-defs, allow-incomplete-defs
"""Where triangles meet: segments and normals of contacts that are known."""

from __future__ import annotations

import numpy as np

from impinge.geometry.contacts.construction import MOST_POINTS, construct_contact
from impinge.geometry.posing import posed_point
from impinge.geometry.surface import surface_at
from impinge.geometry.triangles.certain_crossing import PAIR_SHAPE
from impinge.kernels.jit import inlined, kernel


@inlined
def _put_posed_face(surface, face, pose, corners):
    """Write the corners of a face in world coordinates."""
    vertices = surface.vertices
    for i in range(3):
        v = surface.faces[face, i]
        corners[i, 0], corners[i, 1], corners[i, 2] = posed_point(pose, vertices[v, 0], vertices[v, 1], vertices[v, 2])


@kernel("int64, int64, float64[:, :, ::1], float64[:, :, ::1], int64[:, ::1], float64[:, :, ::1], float64[:, ::1]")
def construct_contacts(a, b, poses_a, poses_b, pairs, segments, normals):
    """Segments and normals of contacts (pose, face of a, face of b, kind) of two surfaces."""
    a, b = surface_at(a), surface_at(b)
    points = np.empty((2 * MOST_POINTS, 3))
    pair = np.empty(PAIR_SHAPE)
    for n in range(len(pairs)):
        i = pairs[n, 0]
        _put_posed_face(a, pairs[n, 1], poses_a[i], pair[0])
        _put_posed_face(b, pairs[n, 2], poses_b[i], pair[1])
        construct_contact(pair, pairs[n, 3], points, normals[n])
        for k in range(3):
            segments[n, 0, k] = points[0, k]
            segments[n, 1, k] = points[1, k]
