"""Rays in a tree: no triangle that a ray meets is left out, whatever the pose and the scale."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

import impinge
from impinge.bvh.search import tree_handle_of
from impinge.bvh.solids.ray_candidates import PosedTree
from impinge.geometry.pose import posed_vertices
from impinge.geometry.solids.cells import triangles_on_ray
from impinge.kernels.mode import without_compiler
from impinge.lab.hard_input import quarter_turn, random_pose
from impinge.lab.scenes.shapes import torus

Floats = NDArray[np.float64]


def _on_ray(address: Any, pose: Floats, x: Floats, rounding: float) -> Any:
    return triangles_on_ray(PosedTree(address, pose), x, rounding)


_on_ray_compiled = _on_ray if without_compiler() else numba.njit(error_model="numpy")(_on_ray)


def candidates(mesh: impinge.Mesh, pose: Floats, x: Floats, rounding: float = 0.0) -> set[bytes]:
    """The triangles near the ray from x, as bytes."""
    handle = tree_handle_of(mesh)
    found = _on_ray_compiled(handle.address, np.ascontiguousarray(pose), x, rounding)
    return {triangle.tobytes() for triangle in found}


def poses(rng: np.random.Generator, scale: float) -> list[Floats]:
    """Turned at random, turned by right angles, and far from the origin; for bodies of about this size."""
    found = []
    for distance in (0.0, 1.0, 2.0**20, 2.0**40):
        for pose in (random_pose(rng), quarter_turn(rng)):
            pose[:3, 3] = scale * distance * rng.uniform(-1.0, 1.0, 3)
            found.append(pose)
    return found


RING = torus(3.0, 1.0, sides=16, tube_sides=8)
NEEDLES = impinge.Mesh(
    np.concatenate([[[0.0, 0.0, 0.0]], np.random.default_rng(5).normal(size=(40, 3)) * [1e3, 1.0, 1e-3]]),
    [[0, i, i + 1] for i in range(1, 40)],
)
MIXED = impinge.Mesh(
    np.concatenate([RING.vertices, RING.vertices * 1e-9 + [3.5, 0.0, 0.1]]),
    np.concatenate([RING.faces, RING.faces + len(RING.vertices)]),
)


def leftmost_crossing(triangles: Floats, point: Floats) -> float:
    """About the smallest x at which the line through a point in direction x meets a triangle, or that of the point."""
    p, q, r = (triangles[:, i] - point for i in range(3))
    size = np.abs(triangles - point).max()
    p, q, r = p / size, q / size, r / size

    def turn(u: Floats, v: Floats) -> Floats:
        return np.asarray(u[:, 1] * v[:, 2] - u[:, 2] * v[:, 1])

    weights = np.stack([turn(q, r), turn(r, p), turn(p, q)])
    total = weights.sum(axis=0)
    through = ((weights > 0.0).all(axis=0) | (weights < 0.0).all(axis=0)) & (total != 0.0)
    x = (weights * np.stack([p, q, r])[:, :, 0]).sum(axis=0)[through] / total[through]
    return float(point[0] + size * x.min(initial=0.0))


@pytest.mark.nojit_slow
@pytest.mark.parametrize("exponent", [-1040, -400, -60, 0, 60, 100])
@pytest.mark.parametrize("shape", [RING, NEEDLES, MIXED], ids=["ring", "needles", "mixed"])
def test_rays_through_vertices_find_their_triangles(shape: impinge.Mesh, exponent: int) -> None:
    rng = np.random.default_rng(exponent + 2000)
    mesh = impinge.Mesh(shape.vertices * 2.0**exponent, shape.faces)
    for pose in poses(rng, float(np.ptp(mesh.vertices))):
        world = posed_vertices(pose, mesh.vertices)
        triangles = world[mesh.faces]
        for vertex in rng.choice(np.unique(mesh.faces), 12):
            # From the vertex or from some place behind it within the hull: the ray goes exactly through the vertex.
            x = world[vertex].copy()
            x[0] += rng.choice([0.0, 0.3, 0.9]) * (leftmost_crossing(triangles, x) - x[0])
            meeting = triangles[(triangles == world[vertex]).all(axis=2).any(axis=1)]
            assert len(meeting) > 0
            assert candidates(mesh, pose, x) >= {triangle.tobytes() for triangle in meeting}


@pytest.mark.nojit_slow
def test_few_triangles_are_near_a_ray() -> None:
    mesh = torus(3.0, 1.0, sides=64, tube_sides=32)
    rng = np.random.default_rng(1)
    found = [len(candidates(mesh, random_pose(rng), rng.normal(size=3))) for _ in range(30)]
    assert 0 < max(found) < 60


def test_from_outside_of_everything_nothing_is_near() -> None:
    for x in ([-9.0, 3.0, 0.0], [9.0, 3.0, 0.0], [0.0, 1e9, 0.0], [-3.0, 3.0, -1.5]):
        assert candidates(RING, np.eye(4), np.array(x)) == set()


def test_what_the_world_rounds_off_is_not_told_apart() -> None:
    pose = np.eye(4)
    pose[:3, 3] = 2.0**60
    triangles = posed_vertices(pose, RING.vertices)[RING.faces]
    x = triangles[0, 0].copy()
    assert candidates(RING, pose, x) == {triangle.tobytes() for triangle in triangles}


def test_a_rounded_start_widens_the_ray() -> None:
    x = np.array([0.0, 3.0, 0.0])
    near = [candidates(RING, np.eye(4), x, rounding) for rounding in (0.0, 0.05, 2.0)]
    assert near[0] < near[1] < near[2]


def test_single_triangle() -> None:
    mesh = impinge.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    assert len(candidates(mesh, np.eye(4), np.array([0.0, 0.5, 0.0]))) == 1
    assert len(candidates(mesh, np.eye(4), np.array([0.0, 0.5, 0.5]))) == 0
