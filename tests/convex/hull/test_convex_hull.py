"""Exact hulls: against supporting planes of all triples of points, in rational arithmetic."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impinge.convex.hull.convex_hull import ConvexHull
from impinge.geometry.exact.integers import as_integers
from impinge.lab.hard_polytopes import UNDERFLOWING
from impinge.lab.scenes.shapes import box
from impinge.mesh.mesh import Mesh

CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])


def subtract(a, b):
    return tuple(x - y for x, y in zip(a, b, strict=True))


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def ends_on_line(points):
    return frozenset({min(points), max(points)})  # collinear, so the lexicographic order is the one on the line


def polygon_edges(points, normal):
    """The edges of a flat set: pairs whose line has all others on one side."""
    edges = set()
    for a, b in itertools.permutations(points, 2):
        inward = cross(normal, subtract(b, a))
        heights = [dot(inward, subtract(p, a)) for p in points]
        if min(heights) >= 0:
            edges.add(ends_on_line([p for p, h in zip(points, heights, strict=True) if h == 0]))
    return frozenset(edges)


def oracle(points):
    """(dimension, vertices, faces as sets of edges) over integers proportional to the coordinates."""
    whole = as_integers(np.asarray(points, dtype=float).ravel().tolist())
    points = sorted({tuple(whole[i : i + 3]) for i in range(0, len(whole), 3)})
    if len(points) == 1:
        return 0, set(points), set()
    faces = set()
    flat = None
    for a, b, c in itertools.combinations(points, 3):
        normal = cross(subtract(b, a), subtract(c, a))
        if normal == (0, 0, 0):
            continue
        heights = [dot(normal, subtract(p, a)) for p in points]
        if not any(heights):
            flat = polygon_edges(points, normal)
            break
        for way in (1, -1):
            if max(way * h for h in heights) == 0:
                level = [p for p, h in zip(points, heights, strict=True) if h == 0]
                faces.add(polygon_edges(level, normal))
    if flat is None and not faces:
        return 1, set(ends_on_line(points)), set()
    vertices = {p for face in faces or {flat} for edge in face for p in edge}
    return (3, vertices, faces) if flat is None else (2, vertices, {flat})


def described(hull, points):
    """The same description of a ConvexHull."""
    whole = as_integers(np.asarray(points, dtype=float).ravel().tolist())
    vertices = [tuple(whole[3 * i : 3 * i + 3]) for i in hull.source.tolist()]
    faces = {
        frozenset(frozenset({vertices[a], vertices[b]}) for a, b in zip(face, np.roll(face, -1), strict=True))
        for face in hull.faces
    }
    return hull.dimension, set(vertices), faces


def check(points):
    points = np.asarray(points, dtype=float)
    hull = ConvexHull(points)
    assert described(hull, points) == oracle(points)
    assert (hull.vertices == points[hull.source]).all()
    hull.validate()
    return hull


COARSE = st.integers(0, 3).map(float)
FINE = st.floats(-1.0, 1.0, width=64)
NARROW = st.floats(-1.0, 1.0, width=16)
SCALES = st.sampled_from([1.0, 2.0**-1030, 2.0**-300, 2.0**90, 0.1])
OFFSETS = st.sampled_from([0.0, 0.0, 1e6, 1e15 / 3])


def triples(coordinate):
    return st.lists(st.tuples(coordinate, coordinate, coordinate), min_size=1, max_size=10)


@settings(max_examples=60, deadline=None)
@given(triples(COARSE), SCALES, OFFSETS)
def test_points_of_a_lattice(points, scale, offset):
    check((np.array(points) + offset) * scale)


@settings(max_examples=40, deadline=None)
@given(st.one_of(triples(FINE), triples(NARROW)), SCALES)
def test_any_points(points, scale):
    check(np.array(points) * scale)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(COARSE, COARSE), min_size=1, max_size=10), st.permutations([0, 1, 2]), SCALES)
def test_points_in_a_tilted_plane(flat, axes, scale):
    points = np.array([[x, y, x + 2 * y] for x, y in flat])[:, axes]
    hull = check(points * scale)
    assert hull.dimension <= 2 or scale == 0.1  # the product is rounded


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(COARSE, COARSE), min_size=3, max_size=9), st.integers(0, 2**32))
def test_points_that_are_nearly_flat(flat, seed):
    """Rounding of the third coordinate makes polytopes that are some 1e-16 thick."""
    wobble = np.random.default_rng(seed).integers(-1, 2, size=len(flat)) * 2.0**-52
    check([[x, y, (1.0 + 0.3 * x + 0.7 * y) * (1 + w)] for (x, y), w in zip(flat, wobble, strict=True)])


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=8), st.tuples(NARROW, NARROW, NARROW))
def test_points_on_a_line(steps, direction):
    points = np.outer(np.array(steps, dtype=float), direction)
    assert check(points).dimension <= 1


@settings(max_examples=20, deadline=None)
@given(triples(COARSE), st.randoms(use_true_random=False))
def test_the_order_of_points_does_not_matter(points, random):
    shuffled = points + points[:3]
    random.shuffle(shuffled)
    one, two = ConvexHull(points), ConvexHull(shuffled)
    assert {tuple(v) for v in one.vertices.tolist()} == {tuple(v) for v in two.vertices.tolist()}
    assert described(one, points) == described(two, shuffled)


def test_a_lattice_has_eight_corners():
    points = np.array([[x, y, z] for x in range(6) for y in range(6) for z in range(6)], dtype=float)
    hull = ConvexHull(points)
    hull.validate()
    assert repr(hull) == "ConvexHull(8 vertices, 12 edges, 6 faces)"
    assert points[hull.source].tolist() == (CUBE * 5).tolist()


@pytest.mark.nojit_slow
@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_a_ball_with_points_inside(offset):
    points = np.random.default_rng(3).normal(size=(600, 3))
    points[:300] /= np.linalg.norm(points[:300], axis=1, keepdims=True)
    points[300:] *= 0.1 / np.linalg.norm(points[300:], axis=1, keepdims=True)
    hull = ConvexHull(points + offset)
    hull.validate()
    assert offset or hull.source.tolist() == list(range(300))


def test_winding_is_outward():
    hull = ConvexHull(CUBE)
    for face in hull.faces:
        a, b, c = hull.vertices[face[:3]]
        assert np.cross(b - a, c - a) @ (a - 0.5) > 0


def test_climbing_reaches_the_top():
    points = np.random.default_rng(5).normal(size=(80, 3))
    hull = ConvexHull(points)
    starts, ends = hull.neighbours
    for direction in np.random.default_rng(6).normal(size=(30, 3)):
        heights = hull.vertices @ direction
        here = 0
        while heights[best := max(ends[starts[here] : starts[here + 1]], key=heights.item)] > heights[here]:
            here = best
        assert heights[here] == heights.max() == pytest.approx((points @ direction).max())


def test_lower_dimensions():
    assert repr(ConvexHull([[1, 2, 3], [1, 2, 3]])) == "ConvexHull(a point)"
    assert repr(ConvexHull([[0, 0, 0], [2, 2, 2], [1, 1, 1]])) == "ConvexHull(a segment)"
    flat = ConvexHull(CUBE[:4])
    assert repr(flat) == "ConvexHull(4 vertices, flat)"
    assert [face.tolist() for face in flat.faces] == [[0, 1, 3, 2], [0, 2, 3, 1]]


def test_negative_zero_is_zero():
    hull = ConvexHull([[-0.0, 0.0, 0.0], [0.0, -0.0, 0.0]])
    assert hull.dimension == 0
    assert not np.signbit(hull.vertices).any()


def test_it_pickles_and_is_immutable():
    hull = ConvexHull(CUBE)
    again = pickle.loads(pickle.dumps(hull))
    for name in ("vertices", "source", "edges", "corners", "starts", "red_vertices", "red_edges", "red_faces"):
        assert (getattr(hull, name) == getattr(again, name)).all()
        for each in (hull, again):
            with pytest.raises(ValueError):
                getattr(each, name)[:] = 0
    with pytest.raises(AttributeError, match="immutable"):
        hull.vertices = CUBE
    with pytest.raises(AttributeError, match="immutable"):
        del hull.vertices


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="hull of no points"):
        ConvexHull(np.zeros((0, 3)))
    with pytest.raises(ValueError, match=r"points\[1, 2\] is nan"):
        ConvexHull([[0, 0, 0], [0, 0, np.nan]])


def test_a_hull_of_a_mesh_is_made_once_and_knows_used_vertices_only():
    mesh = Mesh([[9, 9, 9], [0, 0, 0], [1, 0, 0], [0, 1, 0]], [[1, 2, 3]])
    hull = ConvexHull(mesh)
    assert hull is ConvexHull(mesh) is ConvexHull(hull)
    assert hull.source.tolist() == [1, 2, 3]


def cube_mesh(divisions):
    """Quads over a lattice on the surface of a cube, repeated vertices and all."""
    quads = []
    for axis, level in itertools.product(range(3), (0, divisions)):
        for u, v in itertools.product(range(divisions), repeat=2):
            square = [(u, v), (u + 1, v), (u + 1, v + 1), (u, v + 1)]
            quads.append([np.insert(np.array(c, dtype=float), axis, level) for c in square])
    return Mesh(np.concatenate(quads), np.arange(4 * len(quads)).reshape(-1, 4))


@pytest.mark.parametrize("divisions", [1, 2, 5])
def test_a_cube_is_all_red(divisions):
    hull = ConvexHull(cube_mesh(divisions))
    assert len(hull.vertices) == 8
    assert hull.red_faces.all() and hull.red_edges.all() and hull.red_vertices.all()


@pytest.mark.parametrize(
    "sizes",
    [(1, 1, 5e-324), (1, 5e-324, 5e-324), (2.0**100, 1, 5e-324), (2.0**100, 1e-300, 5e-324), (1, 1e-200, 1e-200)],
)
def test_a_box_of_very_different_sizes_is_all_red(sizes):
    hull = ConvexHull(box(*sizes))
    hull.validate()
    assert len(hull.red_faces) == 6
    assert hull.red_faces.all()
    assert hull.red_edges.all()


@pytest.mark.parametrize("family", UNDERFLOWING)
def test_points_whose_products_underflow(family):
    for number in range(20):
        met = UNDERFLOWING[family](np.random.default_rng([3, number]), 1, 8)
        for points in (met.a.vertices, met.b.vertices):
            check(points)


def test_a_cube_with_a_dent_is_green_there():
    vertices = np.concatenate([CUBE, [[0.5, 0.5, 0.5]]])
    quads = [face.tolist() for face in ConvexHull(CUBE).faces]
    top = next(i for i, face in enumerate(quads) if (CUBE[face][:, 2] == 1).all())
    a, b, c, d = quads.pop(top)
    mesh = Mesh(vertices, [*quads, [a, b, 8], [b, c, 8], [c, d, 8], [d, a, 8]], solid=True)
    hull = ConvexHull(mesh)
    assert hull.red_faces.tolist() == [i != top for i in range(6)]
    assert hull.red_edges.all()


def test_a_star_is_green_between_its_points():
    """Two crossing triangles in a plane: the hull is a hexagon of which no side belongs to the model."""
    angles = np.arange(6) * np.pi / 3
    mesh = Mesh(np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1), [[0, 2, 4], [1, 3, 5]])
    hull = ConvexHull(mesh)
    assert hull.dimension == 2
    assert not hull.red_faces.any() and not hull.red_edges.any() and hull.red_vertices.all()


def test_marks_of_lower_dimensions():
    flat = ConvexHull(Mesh(CUBE[:4], [[0, 1, 3, 2]]))
    assert flat.red_faces.tolist() == [True, True] and flat.red_edges.all()
    needle = ConvexHull(Mesh([[0, 0, 0], [1, 1, 1], [2, 2, 2]], [[0, 1, 2]]))
    assert needle.dimension == 1 and len(needle.red_faces) == 0
    assert not ConvexHull(CUBE).red_faces.any()


def test_validate_notices():
    hull = ConvexHull(CUBE)
    fields = list(hull.__reduce__()[1])
    restore = hull.__reduce__()[0]
    wrong = fields[0].copy()
    wrong[7] += [0.0, 0.0, 2.0**-52]
    with pytest.raises(ValueError, match=r"face \d|vertex \d"):
        restore(wrong, *fields[1:]).validate()
    turned = fields[4].copy()
    turned[:4] = turned[:4][::-1]
    with pytest.raises(ValueError, match="directed edge"):
        restore(*fields[:4], turned, *fields[5:]).validate()
