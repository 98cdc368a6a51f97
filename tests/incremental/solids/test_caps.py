"""Hull face = hull features + caps, exactly, by both methods."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impinge.incremental.solids.solid_features import Kind, SolidFeatures, solid_features
from impinge.lab.scenes import shapes
from impinge.lab.scenes.combs import comb
from impinge.lab.scenes.hollows import angle_bar, channel, golf_ball, nested_shells, pitted_plate, spool
from impinge.mesh.mesh import Mesh

METHODS = ["subtraction", "triangulation"]
MODELS = {
    "torus": shapes.torus(3, 1, sides=12),
    "wheel": shapes.wheel(36, 36, 10, 26, 8, sides=12),
    "bored plate": shapes.blocks((0, 2), (0, 10, 20), (0, 10), bores={(0, 0, 0): 3.0, (0, 1, 0): 4.0}),
    "L": angle_bar(),
    "thin L": angle_bar(1e9, 1e-9, 1.0),
    "U": channel(),
    "spool": spool(sides=8),
    "shells": nested_shells(3, sides=8),
    "comb": comb(4),
    "pits at a corner": pitted_plate([[1, 0], [0, 1]]),
    "pits in a ring": pitted_plate([[0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1]]),
    "far away": angle_bar().transformed([[1, 0, 0, 1e6], [0, 1, 0, 1e6], [0, 0, 1, 1e6], [0, 0, 0, 1]]),
    "fan": shapes.fan(130, 40, 24, 5, 0.2),
}


def vector_area(points) -> list[Fraction]:
    """Twice the area of a triangle as a vector, exact."""
    a, b, c = ([Fraction(x) for x in point] for point in points)
    u, v = ([q - p for p, q in zip(a, other, strict=True)] for other in (b, c))
    return [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]


def total(triangles) -> list[Fraction]:
    areas = [vector_area(triangle) for triangle in triangles]
    return [sum((area[k] for area in areas), Fraction(0)) for k in range(3)]


def assert_areas_add_up(mesh: Mesh, features: SolidFeatures) -> None:
    hull = features.hull
    once = np.zeros(len(mesh.faces), dtype=bool)
    once[np.unique(np.sort(mesh.faces, axis=1), axis=0, return_index=True)[1]] = True
    for k, polygon in enumerate(hull.faces):
        corners = hull.vertices[polygon].tolist()
        outline = total([(corners[0], corners[i], corners[i + 1]) for i in range(1, len(corners) - 1)])
        axis = int(np.argmax([abs(area) for area in outline]))
        faces = [total([triangle]) for triangle in mesh.triangles[(features.hull_face == k) & once].tolist()]
        covered = sum((abs(area[axis]) for area in faces), Fraction(0))
        caps = [mesh.vertices[cap.triangles].tolist() for cap in features.caps if cap.hull_face == k]
        uncovered = [total([triangle])[axis] for cap in caps for triangle in cap]
        # None is turned over, so that none can make up for another.
        assert all(area * outline[axis] > 0 for area in uncovered)
        assert sum(map(abs, uncovered), Fraction(0)) + covered == abs(outline[axis])


def covered_by_edges(features: SolidFeatures) -> Counter:
    """The borders of the caps: what is left when opposite edges cancel."""
    runs = Counter()
    for cap in features.caps:
        for a, b, c in cap.triangles.tolist():
            runs.update([(a, b), (b, c), (c, a)])
    return Counter({run: n - runs[run[1], run[0]] for run, n in runs.items() if n > runs[run[1], run[0]]})


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", MODELS)
def test_hull_face_is_hull_features_plus_caps(name, method):
    mesh = MODELS[name]
    features = solid_features(mesh, method)
    assert not any("overlaps" in problem for problem in features.problems)
    assert_areas_add_up(mesh, features)
    for cap in features.caps:
        assert len(cap.subsets) > 0
        assert all(features.subsets[k].kind == Kind.CONCAVITY for k in cap.subsets)


@pytest.mark.parametrize("name", MODELS)
def test_both_methods_cover_the_same(name):
    first, second = (solid_features(MODELS[name], method) for method in METHODS)
    assert [cap.hull_face for cap in first.caps] == [cap.hull_face for cap in second.caps]
    assert covered_by_edges(first) == covered_by_edges(second)
    key = lambda cap: (cap.hull_face, sorted(set(cap.triangles.ravel().tolist())))  # noqa: E731
    for a, b in zip(sorted(first.caps, key=key), sorted(second.caps, key=key), strict=True):
        assert a.subsets.tolist() == b.subsets.tolist()


@pytest.mark.nojit_slow
@pytest.mark.parametrize("method", METHODS)
def test_caps_of_a_golf_ball(method):
    ball = golf_ball()
    assert_areas_add_up(ball, solid_features(ball, method))


def test_the_caps_of_an_angle_bar():
    features = solid_features(angle_bar())
    assert sorted(len(cap.triangles) for cap in features.caps) == [1, 1, 2]
    assert len({cap.opening for cap in features.caps}) == 1
    assert all(cap.subsets.tolist() == features.caps[0].subsets.tolist() for cap in features.caps)


def test_caps_in_each_other_belong_to_their_own_groove():
    mesh = nested_shells(3, sides=8)
    features = solid_features(mesh)
    assert len(features.caps) == 3
    assert len({cap.hull_face for cap in features.caps}) == 1
    assert len({int(cap.subsets[0]) for cap in features.caps}) == 3
    for cap in features.caps:  # a groove's own vertices surround its cap
        corners = set(mesh.faces[features.subsets[cap.subsets[0]].faces].ravel().tolist())
        assert set(cap.triangles.ravel().tolist()) <= corners


def test_a_star_is_all_concavity_and_all_its_hull_is_caps():
    tetrahedron = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=float)
    points = np.concatenate([3.0 * tetrahedron, -tetrahedron * 0.5])
    faces = []
    for k in range(4):  # each outer face is dented to a point near the middle
        a, b, c = (i for i in range(4) if i != k)
        faces += [[a, b, 4 + k], [b, c, 4 + k], [c, a, 4 + k]]
    features = solid_features(Mesh(points, faces))
    assert [subset.kind for subset in features.subsets] == [Kind.CONCAVITY]
    assert len(features.caps) == 4
    assert len({cap.opening for cap in features.caps}) == 4  # the edges of the model run between them
    assert features.loops == ()
    assert_areas_add_up(Mesh(points, faces), features)


def test_spikes_hang_at_the_hull_by_vertices_only():
    # Two thin needles that cross: no edge of the hull is an edge of the mesh.
    points = np.array([[0, 0, 5], [1, 0, 0], [0, 1, 0], [-1, -1, 0], [5, 5, -5], [-5, 5, -5], [5, -5, -5]], dtype=float)
    mesh = Mesh(points, [[0, 1, 2], [0, 2, 3], [0, 3, 1], [4, 1, 2], [5, 2, 3], [6, 3, 1]])
    features = solid_features(mesh)
    assert all(len(cap.subsets) for cap in features.caps)
    assert_areas_add_up(mesh, features)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.booleans(), min_size=27, max_size=27), st.sampled_from(METHODS))
def test_any_union_of_cells(filled, method):
    """Holes, bridges, edges of four faces and touching corners on every side of the hull."""
    if not any(filled):
        return
    mesh = shapes.blocks((0, 1, 2, 4), (0, 1, 3, 4), (0, 2, 3, 4), np.array(filled).reshape(3, 3, 3))
    features = solid_features(mesh, method)
    assert not any("overlaps" in problem for problem in features.problems)
    assert_areas_add_up(mesh, features)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(4, 12))
def test_random_points_and_faces_of_their_hull(seed, count):
    """Some faces of a random hull, the others dented or missing: whatever is not there is a cap."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(count, 3))
    from impinge.convex.hull.convex_hull import ConvexHull

    hull = ConvexHull(points)
    polygons = [hull.source[face].tolist() for face in hull.faces]
    kept = [polygon for polygon in polygons if rng.random() < 0.5] + [hull.source[:3].tolist()]
    mesh = Mesh(points, [*kept, *([int(v)] * 3 for v in hull.source)])  # a point for each corner keeps the hull
    assert_areas_add_up(mesh, solid_features(mesh))


@pytest.mark.parametrize("method", METHODS)
def test_t_vertices_on_their_edges_do_no_harm(method):
    bar = angle_bar()
    # Divide a face at an edge and leave its neighbour as it is.
    a, b, c = bar.faces[0].tolist()
    middle = 0.5 * (bar.vertices[a] + bar.vertices[b])
    points = np.concatenate([bar.vertices, [middle]])
    new = len(bar.vertices)
    mesh = Mesh(points, [[a, new, c], [new, b, c], *bar.faces[1:].tolist()])
    features = solid_features(mesh, method)
    assert any("T-vertices" in problem for problem in features.problems)
    assert_areas_add_up(mesh, features)
    assert all(loop.closed for loop in features.loops)
