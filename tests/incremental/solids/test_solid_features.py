"""Every face is in exactly one subset, hull features really lie on the hull, and what is below caps is known."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impinge.incremental.solids.solid_features import Kind, SolidFeatures, solid_features
from impinge.lab.scenes import shapes
from impinge.lab.scenes.combs import comb
from impinge.lab.scenes.hollows import angle_bar, channel, golf_ball, nested_shells, pitted_plate, spool
from impinge.mesh.mesh import Mesh


def count(features: SolidFeatures, kind: Kind) -> int:
    return sum(subset.kind == kind for subset in features.subsets)


def assert_partition(mesh: Mesh, features: SolidFeatures) -> None:
    listed = np.concatenate([subset.faces for subset in features.subsets])
    assert sorted(listed.tolist()) == list(range(len(mesh.faces)))
    for number, subset in enumerate(features.subsets):
        assert (features.subset[subset.faces] == number).all()
        assert ((features.hull_face[subset.faces] >= 0) == (subset.kind == Kind.HULL)).all()
        assert (np.diff(subset.faces) > 0).all()
    # Two subsets of one kind have no edge in common.
    for a, b in mesh.face_adjacency.tolist():
        if features.subset[a] != features.subset[b]:
            assert (features.hull_face[a] >= 0) != (features.hull_face[b] >= 0)


@pytest.mark.parametrize(
    ("mesh", "hull", "concavities", "loops", "openings"),
    [
        (shapes.box(1, 2, 3), 1, 0, 0, 0),
        (angle_bar(), 1, 1, 1, 1),
        (channel(), 1, 1, 1, 1),
        (spool(), 2, 1, 2, 1),
        (nested_shells(1), 1, 1, 1, 1),
        (nested_shells(3), 3, 3, 5, 3),
        (comb(3), 1, 2, 2, 2),
    ],
    ids=["box", "L", "U", "spool", "pot", "shells", "comb"],
)
def test_the_models_of_the_paper(mesh, hull, concavities, loops, openings):
    features = solid_features(mesh)
    assert features.problems == ()
    assert (count(features, Kind.HULL), count(features, Kind.CONCAVITY)) == (hull, concavities)
    assert len(features.loops) == loops
    assert all(loop.closed for loop in features.loops)
    assert len({cap.opening for cap in features.caps}) == openings
    assert len(features.uncovered) == 0
    assert_partition(mesh, features)
    assert solid_features(mesh) is features


def test_dents_of_some_ulps_belong_to_the_hull_in_coarse_subsets():
    torus = shapes.torus(3, 1, sides=12)
    features = solid_features(torus)
    assert features.problems == ()
    assert [subset.kind for subset in features.coarse_subsets] == [Kind.HULL, Kind.CONCAVITY]
    listed = np.concatenate([subset.faces for subset in features.coarse_subsets])
    assert sorted(listed.tolist()) == list(range(len(torus.faces)))
    outside = np.hypot(torus.triangles[:, :, 0], torus.triangles[:, :, 1]).mean(axis=1) > 3.0
    assert set(features.coarse_subsets[0].faces.tolist()) == set(np.flatnonzero(outside).tolist())
    # Real concavities stay.
    assert len(solid_features(angle_bar()).coarse_subsets) == 2


@pytest.mark.nojit_slow
def test_a_golf_ball_has_a_concavity_for_each_dimple():
    ball = golf_ball()
    features = solid_features(ball)
    assert features.problems == ()
    assert (count(features, Kind.HULL), count(features, Kind.CONCAVITY)) == (1, 12)
    assert len(features.loops) == 12
    assert len({cap.opening for cap in features.caps}) == 12
    assert all(len(cap.subsets) == 1 for cap in features.caps)
    assert {(cap.opening, int(cap.subsets[0])) for cap in features.caps}.__len__() == 12
    assert_partition(ball, features)


def test_three_vertices_on_the_hull_do_not_make_a_hull_feature():
    # A tetrahedron without its corner at the origin, closed by three faces to a point near the far face: the face over
    # 1, 2, 3 stays outside, and the three new ones have two hull vertices each.  The face 0, 2, 4 of the second model
    # has three, and cuts through the inside of an octahedron.
    octahedron = np.array([[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], dtype=float)
    outside = [[0, 1, 4], [1, 2, 4], [0, 5, 1], [1, 5, 2]]
    inside = [[0, 4, 2], [0, 2, 5]]
    mesh = Mesh(octahedron, outside + inside)
    half = solid_features(mesh)
    assert set(half.hull_face[:4].tolist()).isdisjoint({-1})
    # This half is convex: its flat back is a face of the hull.
    assert half.hull_face[4] == half.hull_face[5] >= 0

    both_sides = Mesh(octahedron, outside + inside + [[3, 5, 4]])
    features = solid_features(both_sides)
    assert features.hull_face[4:6].tolist() == [-1, -1]  # all vertices are corners of the hull
    assert features.subsets[features.subset[4]].kind == Kind.CONCAVITY
    assert features.problems  # open
    assert_partition(both_sides, features)


def test_subsets_below_a_hull_face():
    features = solid_features(nested_shells(3))
    top = int(features.hull_face[[f for f in range(len(features.hull_face)) if features.hull_face[f] >= 0]].max())
    tops = [k for k in range(len(features.hull.starts) - 1) if len(features.subsets_below(k)) > 1]
    rims = [k for k in tops if len(features.subsets_below(k)) == 6]
    assert len(rims) == 1 and top >= 0  # three rims and three grooves
    assert sorted(features.subsets[k].kind for k in features.subsets_below(rims[0])) == [0, 0, 0, 1, 1, 1]


def test_voids_and_floating_parts_are_named():
    outer, inner = shapes.box(5, 5, 5), shapes.box(1, 1, 1).transformed(_moved(2, 2, 2))
    hollow = joined(outer, inner)
    features = solid_features(hollow)
    assert features.problems == ()
    assert features.uncovered.tolist() == [1]
    assert features.caps == ()

    pot = nested_shells(1, height=4.0, wall=1.0, gap=4.0)
    features = solid_features(joined(pot, shapes.box(1, 1, 1).transformed(_moved(-0.5, -0.5, 2.0))))
    assert len(features.uncovered) == 1
    assert features.subsets[features.uncovered[0]].faces.min() == len(pot.faces)


def test_two_bodies_in_one_mesh_share_their_caps():
    features = solid_features(joined(shapes.box(1, 1, 1), shapes.box(1, 1, 1).transformed(_moved(3, 0, 0))))
    assert features.problems == ()
    assert count(features, Kind.CONCAVITY) == 2
    assert len(features.caps) == 4
    assert len({cap.opening for cap in features.caps}) == 1
    assert all(len(cap.subsets) == 2 for cap in features.caps)


@pytest.mark.parametrize("method", ["subtraction", "triangulation"])
def test_flat_and_thinner_meshes(method):
    square = Mesh([[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0], [1, 1, 0]], [[0, 1, 4], [1, 2, 4], [2, 3, 4]])
    features = solid_features(square, method)
    assert "flat" in features.problems[0]
    assert features.caps == ()
    assert len(features.subsets) == 1
    assert [features.subsets_below(k).tolist() for k in range(2)] == [[0], [0]]
    segment = solid_features(Mesh([[0, 0, 0], [1, 1, 1], [2, 2, 2]], [[0, 1, 2], [0, 1, 1]]), method)
    assert "segment" in segment.problems[0]
    assert "point" in solid_features(Mesh([[1, 2, 3]], [[0, 0, 0]]), method).problems[0]


def test_an_open_mesh_is_named_and_still_divided():
    pot = nested_shells(1)
    lid_off = Mesh(pot.vertices, pot.faces[:-1])
    features = solid_features(lid_off)
    assert any("open edges" in problem for problem in features.problems)
    assert_partition(lid_off, features)


def test_overlapping_faces_have_no_caps_and_lose_nothing():
    plate = pitted_plate([[1, 0]])
    top = [[0, 2, 5]]  # over the flat square and over the mouth of the pit
    points = plate.vertices
    overlapping = Mesh(points, plate.faces.tolist() + top)
    features = solid_features(overlapping)
    assert any("overlaps itself" in problem for problem in features.problems)
    assert_partition(overlapping, features)
    failed = [k for k in range(len(features.hull.starts) - 1) if len(features.subsets_below(k)) > 1]
    concavities = {k for k, some in enumerate(features.subsets) if some.kind == Kind.CONCAVITY}
    assert any(concavities <= set(features.subsets_below(k).tolist()) for k in failed)


def test_it_pickles_with_its_mesh_left_behind():
    features = pickle.loads(pickle.dumps(solid_features(angle_bar())))
    assert repr(features) == "SolidFeatures(1 hull subsets, 1 concavities, 1 boundary loops, 3 caps)"


def test_an_unknown_method_is_refused():
    with pytest.raises(ValueError, match="caps is 'magic'"):
        solid_features(shapes.box(1, 1, 1), "magic")


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 14), st.booleans())
def test_any_soup_is_divided_without_loss(seed, faces, grid):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 3, size=(9, 3)).astype(float) if grid else rng.normal(size=(9, 3))
    mesh = Mesh(points, rng.integers(0, 9, size=(faces, 3)))
    for method in ("subtraction", "triangulation"):
        features = solid_features(mesh, method)
        assert_partition(mesh, features)
        for hull_face in range(len(features.hull.starts) - 1):
            below = set(features.subsets_below(hull_face).tolist())
            assert set(features.subset[features.hull_face == hull_face].tolist()) <= below


def joined(a: Mesh, b: Mesh) -> Mesh:
    return Mesh(np.concatenate([a.vertices, b.vertices]), np.concatenate([a.faces, b.faces + len(a.vertices)]))


def _moved(x: float, y: float, z: float) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, 3] = x, y, z
    return matrix
