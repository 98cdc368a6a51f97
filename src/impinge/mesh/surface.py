"""The triangles of a mesh as kernels read them."""

from __future__ import annotations

from impinge.geometry.surface import Surface
from impinge.mesh.mesh import Mesh


def surface_of(mesh: Mesh) -> Surface:
    """The record of a mesh, made once."""
    return mesh.memo("surface", lambda mesh: Surface(vertices=mesh.vertices, faces=mesh.faces))
