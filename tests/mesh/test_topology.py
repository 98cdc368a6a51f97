"""Connections by position, checked on shapes whose answers are known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impinge.mesh import topology
from impinge.mesh.mesh import Mesh

CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
CUBE_QUADS = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]


def soup(mesh):
    return Mesh(mesh.triangles.reshape(-1, 3), np.arange(3 * len(mesh.faces)).reshape(-1, 3))


def test_merged_vertices_go_by_position():
    mesh = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [-0.0, 1, 0], [1, -0.0, 0], [1, 5e-324, 0]], [[0, 1, 2], [3, 4, 5]])
    assert topology.merged_vertices(mesh).tolist() == [0, 1, 2, 2, 1, 5]
    assert topology.merged_faces(mesh).tolist() == [[0, 1, 2], [2, 1, 5]]


def test_a_cube():
    mesh = Mesh(CUBE, CUBE_QUADS)
    assert mesh.is_closed
    assert mesh.edges.shape == (18, 2)
    assert mesh.edges.dtype == np.int32
    assert (mesh.edges[:, 0] < mesh.edges[:, 1]).all()
    assert mesh.face_adjacency.shape == (18, 2)
    assert mesh.component_count == 1
    for i, edge in enumerate(mesh.edges):
        faces = mesh.edge_faces(i)
        assert len(faces) == 2
        assert all(set(edge) <= set(mesh.faces[face]) for face in faces)
        assert (mesh.face_adjacency == faces).all(axis=1).any()
    with pytest.raises(ValueError, match="edge is 18, but there are 18 edges"):
        mesh.edge_faces(18)


def test_a_soup_hangs_together_like_the_mesh_it_came_from():
    cube = Mesh(CUBE, CUBE_QUADS)
    scattered = soup(cube)
    assert scattered.is_closed
    assert scattered.component_count == 1
    assert np.array_equal(scattered.face_adjacency, cube.face_adjacency)
    assert len(scattered.edges) == 18


def test_components_are_numbered_by_their_first_face():
    two = np.concatenate([CUBE, CUBE + 5.0])
    quads = [[i + 8 for i in CUBE_QUADS[0]], *CUBE_QUADS, *([i + 8 for i in quad] for quad in CUBE_QUADS[1:])]
    mesh = Mesh(two, quads)
    assert mesh.components.tolist() == [0] * 2 + [1] * 12 + [0] * 10
    assert mesh.components.dtype == np.int32
    assert mesh.component_count == 2


def test_cubes_that_share_a_vertex_are_two_and_that_share_an_edge_are_one():
    quads = [*CUBE_QUADS, *([i + 8 for i in quad] for quad in CUBE_QUADS)]
    assert Mesh(np.concatenate([CUBE, CUBE + 1.0]), quads).component_count == 2
    at_edge = Mesh(np.concatenate([CUBE, CUBE + np.array([1.0, 1.0, 0.0])]), quads)
    assert at_edge.component_count == 1
    assert at_edge.is_closed
    assert len(at_edge.diagnose().nonmanifold_edges) == 1


def test_faces_with_repeated_positions_neither_open_nor_close():
    extra = np.concatenate([CUBE, [[0.0, 0.0, 0.0], [9.0, 9.0, 9.0]]])
    faces = [*CUBE_QUADS, [0, 8, 1], [0, 0, 8], [1, 3, 3], [9, 9, 9]]
    mesh = Mesh(extra, faces, solid=True)
    assert mesh.components[12:].tolist() == [0, 0, 0, 1]
    assert len(mesh.edges) == 18
    assert Mesh(CUBE, [[0, 1, 1]]).edges.tolist() == [[0, 1]]
    assert Mesh(CUBE, [[1, 1, 1]]).edges.shape == (0, 2)
    assert Mesh(CUBE, [[1, 1, 1]]).face_adjacency.shape == (0, 2)


def test_a_collinear_face_closes_a_gap():
    # One side of a tetrahedron is split at the middle of an edge, the neighbour is not: a T-vertex.
    points = [[0, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 2], [1, 0, 0]]
    faces = [[0, 4, 3], [4, 1, 3], [0, 2, 1], [0, 3, 2], [1, 2, 3]]
    assert Mesh(points, faces).is_closed is False
    assert Mesh(points, [*faces, [0, 1, 4]], solid=True).is_closed


def test_three_faces_at_an_edge_are_all_adjacent():
    mesh = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1]], [[0, 1, 2], [1, 0, 3], [0, 1, 4]])
    assert mesh.face_adjacency.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert topology.open_edges(mesh).tolist() == [[0, 1], [0, 2], [0, 3], [0, 4], [1, 2], [1, 3], [1, 4]]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 6)] * 3), min_size=1, max_size=12))
def test_components_and_adjacency_against_a_loop(faces):
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [1, 0, 0], [0, -0.0, 0]], dtype=float)
    merged = [0, 1, 2, 3, 4, 1, 0]
    mesh = Mesh(points, faces)
    sides = []
    for face in faces:
        a, b, c = (merged[i] for i in face)
        sides.append({frozenset(side) for side in ((a, b), (b, c), (c, a)) if len(set(side)) == 2})
    m = len(faces)
    pairs = [[i, j] for i in range(m) for j in range(i + 1, m) if sides[i] & sides[j]]
    assert mesh.face_adjacency.tolist() == pairs
    everything = set().union(*sides)
    assert sorted(map(sorted, everything)) == mesh.edges.tolist()
    proper = [len({merged[i] for i in face}) == 3 for face in faces]
    odd = {e for e in everything if sum(e in s and p for s, p in zip(sides, proper, strict=True)) % 2}
    assert mesh.is_closed == (not odd)
    assert sorted(map(sorted, odd)) == topology.open_edges(mesh).tolist()
    many = Mesh(points, faces * 33)  # as often as before modulo 2, and too many for plain Python
    assert many.is_closed == (not odd)
    label = list(range(m))
    for i, face in enumerate(faces):
        if not sides[i]:
            at = merged[face[0]]
            first = next(j for j in range(m) if at in {merged[k] for k in faces[j]})
            pairs.append([i, first])
    for _ in range(m):
        for i, j in pairs:
            label[i] = label[j] = min(label[i], label[j])
    order = sorted(set(label))
    assert mesh.components.tolist() == [order.index(value) for value in label]


@pytest.mark.parametrize("linear", [[1.0, 1.0, 1.0], [-2.0, 1.0, 0.5], [1e-17, 1.0, 1.0], [1e-200, 1e-200, 1e-200]])
def test_closed_meshes_stay_closed_without_another_test(linear):
    """Also where some vertices become equal, because 1 + 1e-17 is 1, or all do."""
    closed = Mesh(CUBE * [1.0, 1.0, 1e-150], CUBE_QUADS, solid=True)
    matrix = np.diag([*linear, 1.0])
    matrix[:3, 3] = 1.0
    moved = closed.transformed(matrix)
    assert moved.solid
    assert "edges" not in moved.derived
    assert len(topology.open_edges(moved)) == 0
    half = Mesh(CUBE, CUBE_QUADS[:-1])
    assert not half.is_closed
    with pytest.raises(ValueError, match="closed mesh"):
        half.transformed(np.diag([2.0, 2.0, 2.0, 1.0]), solid=True)
