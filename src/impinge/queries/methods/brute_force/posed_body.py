# mypy: allow-untyped-defs, allow-incomplete-defs
"""A mesh as the kernels of the brute-force method see it, and its triangles in a pose."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats
from impinge.geometry.triangles.all_pairs import pose_triangles
from impinge.kernels.jit import inner
from impinge.mesh.mesh import Mesh


class Body(NamedTuple):
    """What the kernels need to know of a mesh."""

    vertices: Floats
    faces: NDArray[np.int32]
    edges: NDArray[np.int32]
    """Every edge of every face once; a face with a repeated vertex has an edge from it to itself."""

    @staticmethod
    def signature() -> str:
        """The types of its parts in kernels."""
        return "float64[:, ::1], int32[:, ::1], int32[:, ::1]"


def body_of(mesh: Mesh) -> Body:
    corners = mesh.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    edges = np.unique(np.sort(corners, axis=1), axis=0)
    return Body(mesh.vertices, mesh.faces, edges)


@inner
def room_for(body):
    return np.empty_like(body.vertices), np.empty((len(body.faces), 3, 3))


@inner
def pose_body(body, pose, world, triangles):
    pose_triangles(pose, body.vertices, body.faces, world, triangles)
