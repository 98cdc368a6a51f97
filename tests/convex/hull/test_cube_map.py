"""The cube map: whatever it says is a vertex, and usually one near the farthest."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest

from impinge.convex.hull import cube_map
from impinge.convex.hull.hull_handle import ConvexBody
from impinge.kernels import jit


def from_python(function: Any) -> Any:
    return function if jit.config.DISABLE_JIT else numba.njit(error_model="numpy")(function.py_func)


first_vertex = from_python(cube_map.first_vertex)


def body(vertices: Any) -> ConvexBody:
    nothing = np.zeros(1, dtype=np.int32)
    count = len(vertices)
    squares = cube_map.squares_along(count)
    return ConvexBody(vertices, nothing, nothing, count, 1.0, cube_map.cube_map(vertices), squares)


@pytest.mark.parametrize("count", [32, 300, 5000])
def test_a_square_knows_a_vertex_near_the_farthest(count: int) -> None:
    rng = np.random.default_rng(count)
    vertices = rng.normal(size=(count, 3))
    vertices /= np.linalg.norm(vertices, axis=1)[:, None]
    globe = body(vertices)
    assert 2 <= globe.squares <= 32
    for d in np.vstack([rng.normal(size=(200, 3)), np.eye(3), -np.eye(3)]):
        found = first_vertex(globe, tuple(d.tolist()))
        # Half the diagonal of a square, and as much again for the vertex that is farthest in its middle.
        assert vertices[found] @ d / np.linalg.norm(d) >= np.cos(2.0 * np.sqrt(2.0) / globe.squares) - 1e-12


def test_directions_without_a_square_find_some_vertex() -> None:
    globe = body(np.random.default_rng(0).normal(size=(100, 3)))
    for d in (
        (0.0, 0.0, 0.0),
        (np.inf, 1.0, 0.0),
        (np.nan, 0.0, 0.0),
        (1e-320, 0.0, 1e-320),
        (1e300, -1e300, 1e300),
    ):
        assert 0 <= first_vertex(globe, d) < 100


def test_small_bodies_have_none() -> None:
    assert cube_map.squares_along(8) == 0
    assert first_vertex(body(np.eye(3)), (1.0, 0.0, 0.0)) == 0


@pytest.mark.parametrize("scale", [1e-300, 1e45])
def test_scale_does_not_matter(scale: float) -> None:
    vertices = np.random.default_rng(1).normal(size=(64, 3))
    assert (cube_map.cube_map(vertices * scale) == cube_map.cube_map(vertices)).all()
