"""Divided Voronoi cells: a partition of space that knows the nearest feature."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impinge.convex.features.voronoi_cells import EDGE, FACE, INSIDE, VERTEX, voronoi_cells
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.convex.hull.feature_graph import feature_graph

CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
COARSE = st.integers(0, 3).map(float)
FINE = st.floats(-1.0, 1.0, width=16)
SLACK = 1e-9


def points_of(coordinate):
    return st.lists(st.tuples(coordinate, coordinate, coordinate), min_size=1, max_size=14)


def least(cells, points):
    """(cells, points) the most violated constraint of each cell, or the smallest slack."""
    at = np.einsum("cpk,nk->cpn", cells.planes[:, :, :3], points) + cells.planes[:, :, 3:]
    at[~cells.planes.any(axis=2)] = np.inf
    return at.min(axis=1)


def distance_to_segment(point, a, b):
    along = b - a
    t = np.clip((point - a) @ along / (along @ along), 0.0, 1.0)
    return np.linalg.norm(point - (a + t * along))


def feature_distances(graph, point):
    """The distances to all vertices and edges, and to the faces above whose inside the point lies."""
    found = {(VERTEX, i): np.linalg.norm(point - v) for i, v in enumerate(graph.local)}
    for i, (a, b) in enumerate(graph.edge_vertices):
        found[EDGE, i] = distance_to_segment(point, graph.local[a], graph.local[b])
    for i, plane in enumerate(graph.face_planes):
        height = plane[:3] @ point + plane[3]
        foot = point - height * plane[:3]
        corners = graph.local[graph.face_vertices[graph.face_starts[i] : graph.face_starts[i + 1]]]
        turns = np.cross(np.roll(corners, -1, axis=0) - corners, foot - corners) @ plane[:3]
        if turns.min() >= 0 and height >= 0:
            found[FACE, i] = height
    return found


def samples(hull, count, seed):
    """Points around and in the body, in local coordinates."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-2.0, 2.0, size=(count, 3)) * rng.choice([0.3, 1.0, 3.0], size=(count, 1))


def check_neighbours(hull):
    """Behind a plane lies a cell that has the same plane with the opposite sign, and leads back."""
    cells = voronoi_cells(hull)
    for cell, place in np.argwhere(cells.beyond >= 0):
        other = cells.beyond[cell, place]
        if hull.dimension == 2 and place == 4:
            assert cells.kinds[other] == FACE and cells.features[other] != cells.features[cell]
            continue
        back = np.flatnonzero(cells.beyond[other] == cell)
        assert any((cells.planes[other, q] == -cells.planes[cell, place]).all() for q in back)
    assert (cells.planes.any(axis=2) == (cells.beyond >= 0)).all()
    return cells


def walk(cells, start, point):
    """From cell to cell through the most violated plane; the number of steps."""
    here, steps = start, 0
    while (at := cells.planes[here, :, :3] @ point + cells.planes[here, :, 3]).min() < -SLACK:
        here = cells.beyond[here, at.argmin()]
        steps += 1
        assert steps <= 2 * len(cells.kinds) + 2
    return here, steps


def check_partition(hull, points):
    cells, graph = voronoi_cells(hull), feature_graph(hull)
    slack = least(cells, points)
    assert (np.sum(slack > SLACK, axis=0) <= 1).all()
    assert (np.sum(slack >= -SLACK, axis=0) >= 1).all()
    for i, point in enumerate(points):
        cell = int(slack[:, i].argmax())
        distances = feature_distances(graph, point)
        if cells.kinds[cell] == INSIDE:
            assert values_outside(graph, point) <= SLACK
            continue
        nearest = distances.get((int(cells.kinds[cell]), int(cells.features[cell])))
        if nearest is not None:
            assert nearest == pytest.approx(min(distances.values()), abs=1e-7)
        else:  # above a face but within rounding of its border
            assert slack[cell, i] <= SLACK
        end, _ = walk(cells, i % len(cells.kinds), point)
        assert slack[end, i] >= -SLACK


def values_outside(graph, point):
    return (graph.face_planes[:, :3] @ point + graph.face_planes[:, 3]).max()


@settings(max_examples=40, deadline=None)
@given(points_of(COARSE), st.integers(0, 2**32))
def test_bodies_on_a_lattice(points, seed):
    hull = ConvexHull(points)
    check_neighbours(hull)
    check_partition(hull, samples(hull, 12, seed))


@settings(max_examples=40, deadline=None)
@given(points_of(FINE))
def test_neighbours_of_any_body(points):
    check_neighbours(ConvexHull(points))


def ring(count, height):
    angles = 2 * np.pi * np.arange(count) / count
    return np.stack([np.cos(angles), np.sin(angles), np.full(count, height)], axis=1)


def ball(count):
    points = np.random.default_rng(count).normal(size=(count, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


BODIES = {
    "point": [[1.0, 2.0, 3.0]],
    "segment": [[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]],
    "triangle": [[0.0, 0.0, 0.0], [1.0, 2.0, 3.0], [0.0, 1.0, 0.0]],
    "disc": ring(12, 1.0),
    "cube": CUBE,
    "prism": np.concatenate([ring(12, 0.0), ring(12, 1.0)]),
    "cone": np.concatenate([ring(16, 0.0), [[0.0, 0.0, 1.0]]]),
    "double cone": np.concatenate([ring(9, 0.0), [[0.0, 0.0, 0.2], [0.1, 0.0, -3.0]]]),
    "ball": ball(30),
}


@pytest.mark.parametrize("name", BODIES)
def test_bodies(name):
    hull = ConvexHull(BODIES[name])
    cells = check_neighbours(hull)
    check_partition(hull, samples(hull, 60, 1))
    assert cells.planes.shape[1:] == (5, 4)
    assert cells.inside_shift == (np.sum(cells.kinds == INSIDE))


def test_a_point_inside_is_found_inside():
    hull = ConvexHull(ball(30))
    cells, graph = voronoi_cells(hull), feature_graph(hull)
    weights = np.random.default_rng(2).dirichlet(np.ones(len(graph.local)) * 0.2, size=50)
    for point in weights @ graph.local:
        end, _ = walk(cells, 0, point)
        assert cells.kinds[end] == INSIDE


def test_numbering():
    hull = ConvexHull(BODIES["prism"])
    cells = voronoi_cells(hull)
    assert cells is voronoi_cells(hull)
    for kind, starts in ((VERTEX, cells.vertex_starts), (FACE, cells.face_starts)):
        for i in range(len(starts) - 1):
            assert (cells.kinds[starts[i] : starts[i + 1]] == kind).all()
            assert (cells.features[starts[i] : starts[i + 1]] == i).all()
    edges = slice(cells.first_edge, cells.first_edge + len(hull.edges))
    assert (cells.kinds[edges] == EDGE).all() and (cells.features[edges] == np.arange(len(hull.edges))).all()
    faces = np.flatnonzero(cells.kinds == FACE)
    assert (cells.features[faces + cells.inside_shift] == cells.features[faces]).all()
    assert (cells.beyond[faces, 4] == faces + cells.inside_shift).all()


@pytest.mark.nojit_slow
@pytest.mark.parametrize("count", [64, 512])
def test_a_walk_across_a_large_face_is_short(count):
    hull = ConvexHull(np.concatenate([ring(count, 0.0), ring(count, 1.0)]))
    cells = voronoi_cells(hull)
    top = np.flatnonzero((cells.kinds == FACE) & (cells.planes[:, 4, 2] > 0.9))
    point = np.array([0.0, 0.49, 2.0])
    steps = [walk(cells, start, point)[1] for start in top[:: max(1, len(top) // 40)]]
    assert max(steps) <= 2 * np.log2(count)


def test_a_cone_that_is_nearly_flat_has_planes_between_its_normals():
    """Seven faces whose normals differ by 2**-40: the planes that divide the cell of the tip come from integers."""
    hull = ConvexHull(np.concatenate([ring(7, 0.0), [[0.0, 0.0, 2.0**-40]]]))
    cells = check_neighbours(hull)
    tip = int(np.flatnonzero(hull.vertices[:, 2] > 0)[0])
    own = range(cells.vertex_starts[tip], cells.vertex_starts[tip + 1])
    assert len(own) == 3
    normals = feature_graph(hull).face_planes[:, :3]
    for cell in own:
        used = cells.beyond[cell] >= 0
        assert np.linalg.norm(cells.planes[cell, used, :3], axis=1) == pytest.approx(1.0)
        # Seen from far above the tip, each piece has a direction of its own: the sum of the normals at its corners.
        across = cells.planes[cell, used, :3]
        ours = [n for n in normals if n[2] > 0 and (across @ n >= -1e-15).all()]
        assert len(ours) >= 3
