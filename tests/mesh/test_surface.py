"""The record of a mesh: its own arrays, and corners that are posed as everywhere else."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from impinge.geometry.pose import posed_vertices
from impinge.geometry.surface import posed_face, surface_at
from impinge.kernels.mode import without_compiler
from impinge.lab.hard_input import random_pose
from impinge.lab.scenes.shapes import torus
from impinge.mesh.surface import surface_of


def _posed(surface: Any, face: int, pose: Any) -> Any:
    return posed_face(surface_at(surface), face, pose)


posed = _posed if without_compiler() else numba.njit(error_model="numpy")(_posed)


def test_it_is_made_once_of_the_arrays_of_the_mesh() -> None:
    mesh = torus(5, 4)
    surface = surface_of(mesh)
    assert surface_of(mesh) is surface
    assert surface.vertices is mesh.vertices
    assert surface.faces is mesh.faces


def test_corners_are_those_of_the_posed_mesh_bit_for_bit() -> None:
    mesh = torus(5, 4)
    pose = random_pose(np.random.default_rng(1))
    expected = posed_vertices(pose, mesh.vertices)[mesh.faces]
    for face in range(len(mesh.faces)):
        assert np.array(posed(surface_of(mesh).address, face, pose)).tobytes() == expected[face].tobytes()
