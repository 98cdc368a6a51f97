"""The connected components of a surface: one point of each tells whether all of it is inside another surface."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Bools
from impinge.mesh.mesh import Mesh
from impinge.mesh.topology import merged_vertices


class Components(NamedTuple):
    """The connected components of a mesh."""

    face: NDArray[np.int64]
    """One face of each."""
    label: NDArray[np.int32]
    """The component of each face."""
    hollow: Bools
    """Whether all faces of a component come in pairs, so that it encloses nothing."""


def components_of(mesh: Mesh) -> Components:
    face = np.unique(mesh.components, return_index=True)[1]
    return Components(face, mesh.components, _hollow(mesh))


def _hollow(mesh: Mesh) -> Bools:
    corners = np.sort(merged_vertices(mesh)[mesh.faces], axis=1)
    _, which, counts = np.unique(corners, axis=0, return_inverse=True, return_counts=True)
    single = (counts % 2 == 1)[which.ravel()]
    hollow: Bools = np.bincount(mesh.components, weights=single, minlength=mesh.component_count) == 0
    return hollow
