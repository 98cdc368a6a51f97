# mypy: allow-untyped-defs, allow-incomplete-defs
"""The triangles of a mesh as kernels read them, and one of them in a pose."""

from __future__ import annotations

from impinge.geometry.posing import posed_point
from impinge.kernels.jit import inner
from impinge.kernels.record import Record, float64, int32


class Surface(Record, constant=True):
    """The triangles of a mesh."""

    vertices = float64[:, 3]
    faces = int32[:, 3]


surface_at = Surface.at


@inner
def posed_face(surface, face, pose):
    """The corners of a face in world coordinates."""
    vertices = surface.vertices
    i, j, k = surface.faces[face, 0], surface.faces[face, 1], surface.faces[face, 2]
    return (
        posed_point(pose, vertices[i, 0], vertices[i, 1], vertices[i, 2]),
        posed_point(pose, vertices[j, 0], vertices[j, 1], vertices[j, 2]),
        posed_point(pose, vertices[k, 0], vertices[k, 1], vertices[k, 2]),
    )
