"""Normals of triangles: within 2**-30 of the true direction, exact zeros kept."""

from __future__ import annotations

from fractions import Fraction

import numba
import numpy as np
import pytest
from numba import config
from numpy.typing import NDArray

from impinge.geometry.contacts.face_normal import unit_normal
from impinge.geometry.triangles.intersection import load_triangle
from impinge.lab.hard_input import FAMILIES, triangle_pairs

Floats = NDArray[np.float64]


def _unit_normals(triangles, normals):
    for i in range(len(triangles)):
        n = unit_normal(load_triangle(triangles, i))
        normals[i, 0], normals[i, 1], normals[i, 2] = n


_compiled = _unit_normals if config.DISABLE_JIT else numba.njit(error_model="numpy")(_unit_normals)


def unit_normals(triangles: object) -> Floats:
    rows = np.array(triangles, dtype=np.float64)
    normals = np.empty((len(rows), 3))
    with np.errstate(all="ignore"):
        _compiled(rows, normals)
    return normals


def exact_direction(triangle: Floats) -> Floats:
    a, b, c = ([Fraction(x) for x in corner] for corner in triangle.tolist())
    u, v = ([y - x for x, y in zip(a, other, strict=True)] for other in (b, c))
    n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
    largest = max(map(abs, n))
    direction = np.array([float(x / largest) if largest else 0.0 for x in n])
    return direction / (np.linalg.norm(direction) or 1.0)


def aligned(rng: np.random.Generator) -> Floats:
    """Faces of prisms turned about the z axis and far from the origin: one component is zero, or the rounding of it."""
    foot = 1000.0 + rng.random((200, 2, 2))
    z = rng.random((200, 3))
    return np.concatenate([foot[:, [0, 1, 1]], z[:, :, None]], axis=2)


@pytest.mark.parametrize("shift", [0.0, 1e6])
@pytest.mark.parametrize("thickness", [1.0, 1e-3, 1e-6, 1e-9, 1e-13])
def test_needles_have_the_true_direction(thickness: float, shift: float) -> None:
    rng = np.random.default_rng(20)
    t = rng.random((100, 3, 3)) + shift
    t[:, 2] = t[:, 0] + rng.random((100, 1)) * (t[:, 1] - t[:, 0]) + thickness * rng.normal(size=(100, 3))
    exact = np.array([exact_direction(triangle) for triangle in t])
    assert np.linalg.norm(unit_normals(t) - exact, axis=1).max() < 2.0**-30


@pytest.mark.parametrize(
    "family", [name for name in FAMILIES if name != "scaled by two"]
)  # tiny ones are enlarged first
def test_hard_input(family: str) -> None:
    t = np.concatenate(triangle_pairs(np.random.default_rng(21), 100, family))
    exact = np.array([exact_direction(triangle) for triangle in t])
    assert np.linalg.norm(unit_normals(t) - exact, axis=1).max() < 2.0**-30


def test_faces_along_an_axis_have_exact_zeros() -> None:
    normals = unit_normals(aligned(np.random.default_rng(22)))
    assert (normals[:, 2] == 0.0).all()
    assert np.abs(np.linalg.norm(normals, axis=1) - 1.0).max() < 1e-15
    box = [[[0.1, 0.2, 0.3], [0.7, 0.2, 0.3], [0.1, 0.9, 0.3]], [[0.1, 0.2, 0.3], [0.1, 0.2, 7.0], [0.1, 0.9, 0.3]]]
    assert unit_normals(box).tolist() == [[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]]


def test_degenerate_triangles_have_none() -> None:
    segment, point = [[0, 0, 0], [1, 1, 1], [3, 3, 3]], [[0.1, 0.2, 0.3]] * 3
    assert unit_normals([segment, point]).tolist() == [[0.0, 0.0, 0.0]] * 2
