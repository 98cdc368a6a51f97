"""Hulls in every dimension, at every scale."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impinge.geometry.qhull import convex_hull
from impinge.mesh.mesh import Mesh

CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])


def check_solid(points, hull, slack=1e-13):
    """Closed, wound outward, and nothing outside."""
    assert hull.dimension == 3
    assert hull.vertices.dtype == hull.faces.dtype == np.int32
    assert hull.vertices.tolist() == np.unique(hull.faces).tolist()
    low, high = points.min(axis=0), points.max(axis=0)
    local = (points - low) / (high - low)
    mesh = Mesh(local, hull.faces, solid=True)
    assert mesh.volume > 0
    assert len(mesh.diagnose().inconsistent_winding) == 0
    a, b, c = (mesh.triangles[:, i] for i in range(3))
    normals = np.cross(b - a, c - a)
    heights = normals @ local.T - np.einsum("ij,ij->i", normals, a)[:, None]
    assert heights.max() <= slack


@pytest.mark.parametrize("scale", [1.0, 2.0**-1000, 2.0**140])
def test_a_cube_with_inner_points(scale):
    points = np.concatenate([np.full((1, 3), 0.5), CUBE, CUBE * 0.5 + 0.25]) * scale
    hull = convex_hull(points)
    check_solid(points, hull)
    assert hull.vertices.tolist() == list(range(1, 9))
    assert hull.faces.shape == (12, 3)


def test_a_lattice_has_many_points_on_its_faces():
    points = np.array([[x, y, z] for x in range(6) for y in range(6) for z in range(6)], dtype=float)
    check_solid(points, convex_hull(points))
    assert Mesh(points, convex_hull(points).faces).volume == pytest.approx(125.0, rel=1e-14)


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e12])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_balls_anywhere(offset, size):
    points = np.random.default_rng(1).normal(size=(500, 3))
    points = points / np.linalg.norm(points, axis=1, keepdims=True) * size + [offset, -offset, 0.0]
    check_solid(points, convex_hull(points))


def test_a_plate_may_be_as_thin_as_it_likes():
    points = CUBE * [1e6, 1e6, 1e-20]
    hull = convex_hull(points)
    assert hull.dimension == 3
    assert hull.faces.shape == (12, 3)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_flat_points(axis):
    square = [[0, 0], [2, 0], [2, 2], [0, 2], [1, 1], [1, 0], [2, 2], [0.5, 1.5]]
    points = np.insert(np.array(square, dtype=float), axis, 7.0, axis=1)
    hull = convex_hull(points)
    assert hull.dimension == 2
    assert sorted(hull.vertices.tolist()) == [0, 1, 2, 3]
    assert hull.faces.shape == (2, 3)
    assert Mesh(points, hull.faces).area == 4.0


@pytest.mark.parametrize("scale", [1.0, 2.0**-1040, 2.0**140])
def test_a_tilted_plane(scale):
    grid = np.array([[x, y, x + 2 * y] for x in range(5) for y in range(4)], dtype=float) * scale
    hull = convex_hull(grid)
    assert hull.dimension == 2
    assert {tuple(p) for p in (grid[hull.vertices] / scale).tolist()} == {(0, 0, 0), (4, 0, 4), (0, 3, 6), (4, 3, 10)}


def test_a_turned_plane_is_flat_up_to_rounding():
    rng = np.random.default_rng(2)
    flat = np.concatenate([rng.uniform(-1, 1, size=(300, 2)), np.zeros((300, 1))], axis=1)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    hull = convex_hull(flat @ turn.T)
    assert hull.dimension == 2
    assert sorted(hull.vertices) == sorted(convex_hull(flat).vertices)


def test_collinear_points():
    points = np.arange(10.0)[::-1, None] * [1.0, -2.0, 3.0] + [5.0, 5.0, 5.0]
    hull = convex_hull(points)
    assert hull.dimension == 1
    assert hull.vertices.tolist() == [0, 9]
    assert hull.faces.shape == (0, 3)
    assert convex_hull([[0, 0, 0], [0, 0, 5e-324]]).dimension == 1
    assert convex_hull(np.array([0.1, 0.7, 0.3])[:, None] * [0.1, 0.2, 0.3]).vertices.tolist() == [0, 1]


def test_one_position():
    for points in ([[1, 2, 3]], [[1, 2, 3]] * 5, [[0.0, 0, 0], [-0.0, 0, 0]]):
        hull = convex_hull(points)
        assert hull.dimension == 0
        assert hull.vertices.tolist() == [0]
        assert hull.faces.shape == (0, 3)


def test_bad_points():
    with pytest.raises(ValueError, match="no points"):
        convex_hull(np.zeros((0, 3)))
    with pytest.raises(ValueError, match=r"points\[0, 0\] is nan"):
        convex_hull([[np.nan, 0, 0]])


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=1, max_size=25), st.sampled_from([0.0, 1e6, 1e-3]))
def test_small_integer_points(rows, offset):
    """Many coplanar, collinear and repeated points; the dimension is the rank."""
    points = np.array(rows, dtype=float) + offset
    whole = np.array(rows)
    hull = convex_hull(points)
    if offset != 1e-3:  # which rounds, so that the rank may grow
        assert hull.dimension == np.linalg.matrix_rank(whole - whole[0])
    if hull.dimension == 3:
        check_solid(points, hull)
    if hull.dimension == 2:
        assert Mesh(points, hull.faces).component_count == 1


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1e-6, 1e-10, 1e-13, 1e-15]), st.sampled_from([1e-6, 1e-10, 1e-15]))
def test_needles_and_blades_in_any_direction(seed, width, thickness):
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    points = (rng.uniform(-1, 1, size=(30, 3)) * [1.0, width, thickness]) @ turn.T
    hull = convex_hull(points)
    assert hull.dimension in (1, 2, 3)
    if hull.dimension == 3:
        Mesh(points, hull.faces, solid=True)
