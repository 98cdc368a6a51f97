"""Inside and outside of closed surfaces, by rays that go through vertices and along edges and faces."""

from __future__ import annotations

from itertools import product

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

import impinge
from impinge.geometry.solids import ray_parity
from impinge.kernels.mode import without_compiler
from impinge.lab.hard_input import EXACT_ROTATIONS
from impinge.lab.hard_solids import Body, any_shape, triangulated
from impinge.lab.scenes.shapes import box, torus
from impinge.lab.solid_oracle import point_in_solid

Floats = NDArray[np.float64]

# It has no entry from Python: compiled once more, with one.
vertex_inside = (
    ray_parity.vertex_inside
    if without_compiler()
    else numba.njit(error_model="numpy")(ray_parity.vertex_inside.py_func)
)


def triangles_of(body: Body, rng: np.random.Generator) -> Floats:
    return np.ascontiguousarray(body.points.astype(np.float64)[triangulated(rng, body)])


@pytest.mark.parametrize("turn", range(0, 24, 5))
def test_rays_through_vertices_and_edges(turn: int) -> None:
    """From grid points, rays along the axes go through vertices, along edges and along faces."""
    cube = np.ascontiguousarray(box(2, 2, 2).triangles @ EXACT_ROTATIONS[turn].T)
    low, high = cube.min(axis=(0, 1)), cube.max(axis=(0, 1))
    for step in product((-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0), repeat=3):
        point = low + np.array(step)
        if ((point == low) | (point == high)).any() and ((point >= low) & (point <= high)).all():
            continue  # on the surface
        assert vertex_inside(point, cube) == bool(((point > low) & (point < high)).all())


@pytest.mark.parametrize("seed", range(12))
def test_half_grid_points_of_hard_solids(seed: int) -> None:
    rng = np.random.default_rng(seed)
    triangles = triangles_of(any_shape(rng), rng)
    # Points off the half grid of the faces in one coordinate at least are rarely on a surface; those are left out.
    for _ in range(25):
        point = rng.integers(-1, 11, 3) / 2.0
        on_surface = impinge.collides(
            impinge.Mesh(triangles.reshape(-1, 3), np.arange(3 * len(triangles)).reshape(-1, 3)),
            impinge.Mesh([point] * 3, [[0, 1, 2]]),
        )
        if not on_surface:
            assert vertex_inside(point, triangles) == point_in_solid(point.tolist(), triangles)


def test_one_ulp_inside_and_outside() -> None:
    ring = torus(3.0, 1.0, sides=8, tube_sides=4)
    triangles = ring.triangles.copy()
    for x, inside in ((4.0, False), (np.nextafter(4.0, 5.0), False), (np.nextafter(4.0, 3.0), True), (0.0, False)):
        if x != 4.0:
            assert vertex_inside(np.array([x, 0.0, 0.0]), triangles) == inside
            assert point_in_solid([x, 0.0, 0.0], triangles) == inside


@pytest.mark.parametrize("exponent", [-1070, -500, 0, 140])
def test_every_scale(exponent: int) -> None:
    cube = box(4, 4, 4).triangles * 2.0**exponent
    for step in product((1.0, 2.0, 5.0), repeat=3):
        assert vertex_inside(np.array(step) * 2.0**exponent, cube) == (max(step) < 4.0)
