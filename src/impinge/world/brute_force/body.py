"""A mesh as the kernels of the brute-force method see it, and its triangles in a pose."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.geometry.all_pairs import pose_triangles
from impinge.geometry.cast import Floats
from impinge.geometry.mesh import Mesh
from impinge.geometry.topology import merged_vertices
from impinge.jit import inner


class Body(NamedTuple):
    """What the kernels need to know of a mesh."""

    vertices: Floats
    faces: NDArray[np.int32]
    edges: NDArray[np.int32]
    """Every edge of every face once; a face with a repeated vertex has an edge from it to itself."""
    pieces: NDArray[np.int64]
    """One face of each connected piece of the surface."""
    labels: NDArray[np.int32]
    """The piece of each face."""
    hollow: NDArray[np.bool_]
    """Whether all faces of a piece come in pairs, so that it encloses nothing."""
    solid: bool


def body_of(mesh: Mesh) -> Body:
    corners = mesh.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    edges = np.unique(np.sort(corners, axis=1), axis=0)
    pieces = np.unique(mesh.components, return_index=True)[1]
    return Body(mesh.vertices, mesh.faces, edges, pieces, mesh.components, _hollow_pieces(mesh), mesh.solid)


def _hollow_pieces(mesh: Mesh) -> NDArray[np.bool_]:
    corners = np.sort(merged_vertices(mesh)[mesh.faces], axis=1)
    _, which, counts = np.unique(corners, axis=0, return_inverse=True, return_counts=True)
    single = (counts % 2 == 1)[which.ravel()]
    hollow: NDArray[np.bool_] = np.bincount(mesh.components, weights=single, minlength=mesh.component_count) == 0
    return hollow


@inner
def room_for(body):
    return np.empty_like(body.vertices), np.empty((len(body.faces), 3, 3))


@inner
def pose_body(body, pose, world, triangles):
    pose_triangles(pose, body.vertices, body.faces, world, triangles)
