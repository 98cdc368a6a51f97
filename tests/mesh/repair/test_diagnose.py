"""Every flaw is found, with its indices."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impinge.mesh.mesh import Mesh
from impinge.mesh.repair.t_vertices import find_t_vertices

TETRAHEDRON = np.array([[0, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 2]], dtype=float)
OUTWARD = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]


def test_a_clean_solid():
    diagnosis = Mesh(TETRAHEDRON, OUTWARD).diagnose()
    assert diagnosis.is_clean
    assert str(diagnosis) == "clean: closed, manifold and consistently wound"
    for name, columns in (
        ("open_edges", 2),
        ("nonmanifold_edges", 2),
        ("coincident_faces", 2),
        ("t_vertices", 3),
        ("inconsistent_winding", 2),
    ):
        assert getattr(diagnosis, name).shape == (0, columns)
        assert getattr(diagnosis, name).dtype == np.int32
    assert diagnosis.degenerate_faces.shape == (0,)
    with pytest.raises(AttributeError):
        diagnosis.open_edges = None


def test_open_edges():
    diagnosis = Mesh(TETRAHEDRON, OUTWARD[:3]).diagnose()
    assert diagnosis.open_edges.tolist() == [[1, 2], [1, 3], [2, 3]]
    assert not diagnosis.is_clean
    assert str(diagnosis) == "unusual: 3 open edges"


def test_nonmanifold_edges_and_coincident_faces():
    diagnosis = Mesh(TETRAHEDRON, [*OUTWARD, [2, 1, 0], [1, 0, 2]]).diagnose()
    assert diagnosis.nonmanifold_edges.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert diagnosis.coincident_faces.tolist() == [[0, 4], [0, 5]]
    assert diagnosis.open_edges.shape == (0, 2)


def test_coincident_faces_go_by_position():
    points = np.concatenate([TETRAHEDRON, TETRAHEDRON])
    assert Mesh(points, [[0, 1, 2], [3, 1, 2], [6, 5, 4]]).diagnose().coincident_faces.tolist() == [[0, 2]]


def test_inconsistent_winding():
    faces = [OUTWARD[0][::-1], *OUTWARD[1:]]
    assert Mesh(TETRAHEDRON, faces).diagnose().inconsistent_winding.tolist() == [[0, 1], [0, 2], [1, 2]]


@pytest.mark.parametrize("scale", [1.0, 2.0**-1060, 2.0**-500, 2.0**140])
def test_degenerate_faces_are_decided_exactly(scale):
    nearly = np.nextafter(3.0, 4.0)
    points = np.array([[1, 1, 1], [2, 2, 2], [3, 3, 3], [3, 3, nearly], [1, 1, 1], [7, 0, 0]]) * scale
    faces = [[0, 1, 2], [0, 1, 3], [0, 4, 5], [0, 0, 5], [5, 5, 5], [0, 1, 5]]
    expected = [0, 2, 3, 4]
    if scale == 2.0**-1060:
        expected = [0, 1, 2, 3, 4]  # the last bit of nextafter is lost in the subnormal numbers
    assert Mesh(points, faces).diagnose().degenerate_faces.tolist() == expected


def test_tenths_are_not_collinear():
    # (0.1, 0.2, 0.3) is no multiple of (1, 2, 3): the rounded cross product is of no use here.
    points = [[0, 0, 0], [0.1, 0.2, 0.3], [1, 2, 3], [10, 20, 30]]
    assert Mesh(points, [[0, 1, 2], [0, 2, 3]]).diagnose().degenerate_faces.tolist() == [1]


def split_edge(point):
    points = np.concatenate([TETRAHEDRON, [point]])
    return Mesh(points, [[0, 2, 1], [0, 4, 3], [4, 1, 3], [0, 3, 2], [1, 2, 3]])


def test_t_vertices():
    diagnosis = split_edge([0.5, 0, 0]).diagnose()
    assert diagnosis.t_vertices.tolist() == [[4, 0, 1]]
    assert diagnosis.open_edges.tolist() == [[0, 1], [0, 4], [1, 4]]


@pytest.mark.parametrize("offset", [0.0, 1e-16, -4e-16])
def test_t_vertices_may_be_off_by_some_ulps(offset):
    assert split_edge([0.7, offset, 0]).diagnose().t_vertices.tolist() == [[4, 0, 1]]


@pytest.mark.parametrize("point", [[0.7, 1e-12, 0], [-0.5, 0, 0], [2.5, 0, 0], [2.0 + 4e-16, 0, 0], [1e-16, 1e-16, 0]])
def test_what_is_not_a_t_vertex(point):
    points = np.concatenate([TETRAHEDRON, [point]])
    vertices = np.arange(5, dtype=np.int32)
    assert find_t_vertices(points, vertices, np.array([[0, 1]], dtype=np.int32)).shape == (0, 3)


def test_a_t_vertex_exactly_on_the_edge_however_near_its_end():
    assert split_edge([5e-324, 0, 0]).diagnose().t_vertices.tolist() == [[4, 0, 1]]


def test_vertices_without_a_face_do_not_count():
    assert Mesh([*TETRAHEDRON, [1, 0, 0]], OUTWARD).diagnose().is_clean


@pytest.mark.parametrize(
    ("scale", "offset"), [(1.0, 0.0), (1.0, 1e6), (2.0**-1000, 0.0), (2.0**-1072, 0.0), (2.0**140, 0.0)]
)
def test_t_vertices_of_a_grid_against_integers(scale, offset):
    rng = np.random.default_rng(5)
    points = np.unique(rng.integers(0, 8, size=(150, 3)), axis=0)
    edges = np.unique(np.sort(rng.integers(0, len(points), size=(400, 2)), axis=1), axis=0)
    edges = edges[edges[:, 0] != edges[:, 1]].astype(np.int32)
    expected = []
    for p, point in enumerate(points.tolist()):
        d, w = points[edges[:, 1]] - points[edges[:, 0]], point - points[edges[:, 0]]
        along = (d * w).sum(axis=1)
        on = ~np.cross(d, w).any(axis=1) & (along > 0) & (along < (d * d).sum(axis=1))
        expected += [[p, a, b] for a, b in edges[on].tolist()]
    assert len(expected) > 20
    found = find_t_vertices(points * scale + offset, np.arange(len(points), dtype=np.int32), edges)
    assert found.tolist() == expected


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 1.0, 1e6, 1e12]), st.integers(-20, 20))
def test_exact_points_of_edges_are_always_found(seed, offset, exponent):
    """Midpoints and thirds that happen to be representable are on their edge, far from the origin too."""
    rng = np.random.default_rng(seed)
    a = np.round(rng.normal(size=(40, 3)) * 2.0**30) * 2.0 ** (exponent - 30) + offset
    b = np.round(rng.normal(size=(40, 3)) * 2.0**30) * 2.0 ** (exponent - 30) + offset
    middle = 0.5 * a + 0.5 * b
    points = np.concatenate([a, b, middle])
    edges = np.stack([np.arange(40), np.arange(40, 80)], axis=1).astype(np.int32)
    found = {tuple(row) for row in find_t_vertices(points, np.arange(120, dtype=np.int32), edges).tolist()}
    for i in range(40):
        exact = all(2 * Fraction(m) == Fraction(p) + Fraction(q) for m, p, q in zip(middle[i], a[i], b[i], strict=True))
        if exact and len({tuple(a[i]), tuple(b[i])}) == 2:
            assert (80 + i, i, 40 + i) in found


def test_a_flat_mesh_very_far_away_is_not_lumped_together():
    # One coordinate of 1e16: its ulps are larger than the mesh, and yet nothing is a T-vertex.
    points = np.array([[1e16, y, z] for y in range(12) for z in range(12)], dtype=float)
    quads = [[12 * i + j, 12 * i + j + 1, 12 * i + j + 13, 12 * i + j + 12] for i in range(11) for j in range(11)]
    assert Mesh(points, quads).diagnose().t_vertices.shape == (0, 3)


def test_many_thin_long_faces():
    # A fan of needles: long edges side by side, where balls around edges would see everything.
    n = 2000
    points = np.zeros((2 * n, 3))
    points[:n, 1] = points[n:, 1] = np.arange(n) * 1e-3
    points[n:, 0] = 1000.0
    i = np.arange(n - 1)
    faces = np.concatenate([np.stack([i, i + n, i + 1], 1), np.stack([i + 1, i + n, i + n + 1], 1)])
    diagnosis = Mesh(points, faces).diagnose()
    assert diagnosis.t_vertices.shape == (0, 3)
    assert len(diagnosis.open_edges) == 2 * n
