"""The cube map: whatever it says is a vertex, and usually one near the farthest."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest

from impinge.convex.hull import cube_map
from impinge.convex.hull.hull_handle import ConvexBody, convex_body
from impinge.kernels.mode import without_compiler


def _first_vertex_at(address: Any, direction: Any) -> Any:
    return cube_map.first_vertex(convex_body(address), direction)


_compiled = _first_vertex_at if without_compiler() else numba.njit(error_model="numpy")(_first_vertex_at)


def first_vertex(body: ConvexBody, direction: tuple[float, ...]) -> int:
    return int(_compiled(body.address, direction))


def body(vertices: Any) -> ConvexBody:
    squares = cube_map.squares_along(len(vertices))
    return ConvexBody(vertices=vertices, map=cube_map.cube_map(vertices), squares=squares)


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
