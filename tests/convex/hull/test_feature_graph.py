"""The feature graph and the planes between features."""

import hashlib
import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impinge.convex.hull.convex_hull import ConvexHull
from impinge.convex.hull.directions import cross_directions, directions, rounded_direction
from impinge.convex.hull.feature_graph import feature_graph
from impinge.mesh.mesh import Mesh

CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
COARSE = st.integers(0, 3).map(float)
FINE = st.floats(-1.0, 1.0)


def points_of(coordinate, least=1):
    return st.lists(st.tuples(coordinate, coordinate, coordinate), min_size=least, max_size=14)


def around(starts, rows, i):
    return rows[starts[i] : starts[i + 1]].tolist()


def check_topology(hull):
    graph = feature_graph(hull)
    edges = graph.edge_vertices.tolist()
    uses = np.zeros((len(edges), 2), dtype=int)
    for face in range(len(hull.starts) - 1):
        corners = around(graph.face_starts, graph.face_vertices, face)
        sides = around(graph.face_starts, graph.face_edges, face)
        across = around(graph.face_starts, graph.face_neighbours, face)
        for i, (edge, other) in enumerate(zip(sides, across, strict=True)):
            run = [corners[i], corners[(i + 1) % len(corners)]]
            side = 0 if run == edges[edge] else 1
            assert run == edges[edge][:: 1 - 2 * side]
            assert graph.edge_faces[edge, side] == face and graph.edge_faces[edge, 1 - side] == other
            uses[edge, side] += 1
    assert (uses == (hull.dimension >= 2)).all()
    for vertex in range(len(hull.vertices)):
        spokes = around(graph.vertex_starts, graph.vertex_edges, vertex)
        ends = around(graph.vertex_starts, graph.vertex_ends, vertex)
        faces = around(graph.vertex_starts, graph.vertex_faces, vertex)
        assert sorted(spokes) == [i for i, edge in enumerate(edges) if vertex in edge]
        for i, (edge, end, face) in enumerate(zip(spokes, ends, faces, strict=True)):
            assert sorted(edges[edge]) == sorted([vertex, end])
            following = spokes[(i + 1) % len(spokes)]
            assert hull.dimension < 2 or {face} <= set(graph.edge_faces[edge]) & set(graph.edge_faces[following])
        assert hull.dimension < 2 or len(set(faces)) == len(faces) == len(spokes)
    return graph


def values(planes, points):
    """(planes, points)"""
    return planes[..., :3] @ points.T + planes[..., 3:]


def check_planes(hull, graph):
    local = graph.local
    assert np.abs(local).max() <= 1.0
    slack = 1e-14
    tails, heads = graph.edge_vertices.T
    for i, (tail, head) in enumerate(zip(tails, heads, strict=True)):
        for end, other, plane in ((tail, head, 0), (head, tail, 1)):
            at = values(graph.edge_end_planes[i, plane], local)
            assert abs(at[end]) <= slack and at[other] >= -slack
        for side in range(2):
            face = graph.edge_faces[i, side]
            if face < 0:
                assert not graph.edge_side_planes[i].any()
                continue
            corners = around(graph.face_starts, graph.face_vertices, face)
            at = values(graph.edge_side_planes[i, side], local)
            assert abs(at[tail]) <= slack and abs(at[head]) <= slack
            assert at[corners].min() >= -slack
            assert abs(graph.edge_side_planes[i, side, :3] @ graph.face_planes[face, :3]) <= slack
            if hull.dimension == 3:
                middle = local[corners].mean(axis=0)
                assert (1 - 2 * side) * values(graph.edge_inside_planes[i], middle) >= -slack
    if len(graph.face_planes):
        assert values(graph.face_planes, local).max() <= slack
        assert values(graph.face_planes, graph.centroid[None]).max() <= slack
        lengths = np.linalg.norm(graph.face_planes[:, :3], axis=1)
        assert lengths == pytest.approx(1.0, abs=slack)


@settings(max_examples=60, deadline=None)
@given(st.one_of(points_of(COARSE), points_of(FINE)))
def test_neighbours_and_planes(points):
    hull = ConvexHull(points)
    check_planes(hull, check_topology(hull))


@settings(max_examples=30, deadline=None)
@given(
    points_of(COARSE), st.sampled_from([2.0**-1050, 2.0**-300, 1e-3, 2.0**100]), st.sampled_from([0.0, 1e3, 2.0**40])
)
def test_scale_and_place_do_not_matter(points, scale, offset):
    hull = ConvexHull((np.array(points) + offset) * scale)
    check_planes(hull, check_topology(hull))


def test_a_turn_around_a_vertex_is_counterclockwise():
    hull = ConvexHull(CUBE)
    graph = feature_graph(hull)
    for vertex in range(8):
        ends = around(graph.vertex_starts, graph.vertex_ends, vertex)
        spokes = CUBE[ends] - CUBE[vertex]
        outward = CUBE[vertex] - 0.5
        assert np.linalg.det([spokes[0], spokes[1], outward]) > 0


def test_the_graph_is_made_once_and_is_read_only():
    hull = ConvexHull(CUBE)
    graph = feature_graph(hull)
    assert graph is feature_graph(hull)
    assert repr(graph) == "FeatureGraph(8 vertices, 12 edges, 6 faces)"
    with pytest.raises(ValueError):
        graph.face_planes[0, 0] = 1.0


def test_normals_of_nearly_flat_bodies_are_exact():
    """A tetrahedron that is 2**-52 thick: its normals in floats would be noise."""
    points = np.array([[0, 0, 0], [1, 0, 0], [0.1, 1, 0], [0.3, 0.3, 2.0**-60], [0.3, 0.2, -(2.0**-61)]])
    turned = points @ np.array([[0.6, 0.8, 0.0], [-0.8, 0.6, 0.0], [0.0, 0.0, 1.0]])
    hull = ConvexHull(turned)
    graph = feature_graph(hull)
    for face, normal in zip(hull.faces, graph.face_planes[:, :3], strict=True):
        a, b, c = ([x.as_integer_ratio() for x in p] for p in hull.vertices[face[:3]].tolist())
        u = [Fraction(*x) - Fraction(*y) for x, y in zip(b, a, strict=True)]
        v = [Fraction(*x) - Fraction(*y) for x, y in zip(c, a, strict=True)]
        n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
        largest = max(map(abs, n))
        expected = np.array([float(x / largest) for x in n])
        assert normal == pytest.approx(expected / np.linalg.norm(expected), abs=2.0**-46)


def test_directions():
    tiny = np.array([[3e-320, 0.0, 4e-320], [0.0, 0.0, 0.0], [3e140, 0.0, 4e140]])
    assert directions(tiny) == pytest.approx(np.array([[0.6, 0, 0.8], [0, 0, 0], [0.6, 0, 0.8]]), rel=1e-3)
    assert directions(np.zeros((0, 3))).shape == (0, 3)
    assert rounded_direction((0, 0, 0)).tolist() == [0.0, 0.0, 0.0]
    nearly = cross_directions(np.array([[1.0, 1.0, 0.0]]), np.array([[1.0, 1.0, 2.0**-60]]))
    assert nearly[0] == pytest.approx([0.5**0.5, -(0.5**0.5), 0.0])
    assert not cross_directions(np.ones((1, 3)), np.ones((1, 3))).any()


@pytest.mark.parametrize("count", range(3, 9))
def test_prisms(count):
    angles = 2 * np.pi * np.arange(count) / count
    ring = [[np.cos(a), np.sin(a)] for a in angles]
    hull = ConvexHull([[x, y, z] for (x, y), z in itertools.product(ring, (0.0, 1.0))])
    check_planes(hull, check_topology(hull))


def hard_bodies():
    rng = np.random.default_rng(3)
    grid = rng.integers(0, 5, (60, 3)).astype(float)
    ball = rng.normal(size=(80, 3))
    return {
        "grid": grid,
        "thirds": grid / 3.0,
        "subnormal": grid * 2.0**-1074,
        "huge": grid * 2.0**140,
        "mixed": grid * [1e-300, 1.0, 1e40],
        "far": grid * 1e-9 + 1e6,
        "flat": grid @ np.array([[1.0, 0.0, 2.0], [0.0, 1.0, -3.0], [0.0, 0.0, 0.0]]),
        "segment": grid[:, :1] * [1.0, 2.0, -3.0],
        "point": grid[:1],
        "ball": ball / np.linalg.norm(ball, axis=1)[:, None],
        "needle": ball * [1.0, 1e-9, 1e-9],
        "plate": ball * [1.0, 1.0, 1e-14],
    }


@pytest.mark.parametrize("name", hard_bodies())
def test_planes_are_those_of_numpy_bit_by_bit(name):
    hull = ConvexHull(hard_bodies()[name])
    graph = feature_graph(hull)
    tail, head = hull.edges.T
    along = directions(hull.vertices[head] - hull.vertices[tail])

    def through(normal, point):
        return np.concatenate([normal, -(normal * point).sum(axis=1, keepdims=True)], axis=1)

    expected = {
        "centroid": graph.local.mean(axis=0),
        "edge_directions": along,
        "edge_end_planes": np.stack([through(along, graph.local[tail]), through(-along, graph.local[head])], axis=1),
    }
    if hull.dimension >= 2:
        left, right = graph.face_planes[graph.edge_faces.T, :3]
        sides = directions(np.cross(left, along)), directions(np.cross(right, -along))
        expected["edge_side_planes"] = np.stack([through(side, graph.local[tail]) for side in sides], axis=1)
    if hull.dimension == 3:
        normal = cross_directions(graph.local[tail] - graph.centroid, along)
        expected["edge_inside_planes"] = through(normal, graph.centroid)
    for column, value in expected.items():
        assert getattr(graph, column).tobytes() == value.tobytes(), column


def test_arrays_are_the_same_compiled_or_not():
    """One digest for all ways of running; it was taken from the version that had lists and dictionaries."""
    digest = hashlib.sha256()
    for points in hard_bodies().values():
        hull = ConvexHull(points)
        mesh = Mesh(points, np.arange(len(points) // 3 * 3).reshape(-1, 3)) if len(points) > 3 else None
        graph = feature_graph(hull)
        for array in (hull.source, hull.edges, hull.corners, hull.starts, *hull.neighbours):
            digest.update(array.astype(np.int64).tobytes())
        for column in ("vertex_edges", "vertex_ends", "vertex_faces", "edge_faces", "face_edges", "face_neighbours"):
            digest.update(getattr(graph, column).astype(np.int64).tobytes())
        if mesh is not None:
            marked = ConvexHull(mesh)
            digest.update(marked.red_edges.tobytes() + marked.red_faces.tobytes())
    assert digest.hexdigest()[:16] == "80644d56f3949232"
