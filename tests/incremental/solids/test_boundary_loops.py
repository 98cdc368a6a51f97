"""Loops run around concavities, rest on hull faces in parts, lie in each other and touch themselves."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from impinge.incremental.solids.solid_features import Kind, solid_features
from impinge.lab.scenes import shapes
from impinge.lab.scenes.hollows import angle_bar, nested_shells, pitted_plate, spool
from impinge.mesh.mesh import Mesh


def edges_of(loop):
    ring = loop.vertices.tolist()
    return list(pairwise([*ring, ring[0]]))


@pytest.mark.parametrize(
    "mesh", [shapes.torus(3, 1), angle_bar(), spool(), nested_shells(3), pitted_plate([[1, 0], [0, 1]])]
)
def test_every_boundary_edge_is_in_one_loop(mesh):
    features = solid_features(mesh)
    runs = [run for loop in features.loops for run in edges_of(loop)]
    assert len(runs) == len(set(runs))
    assert sorted((min(run), max(run)) for run in runs) == [tuple(edge) for edge in features.boundary.edges.tolist()]
    expected = set()
    for number, (a, b) in enumerate(mesh.edges.tolist()):
        kinds = {bool(features.hull_face[face] >= 0) for face in mesh.edge_faces(number)}
        if len(kinds) == 2:
            expected.add((a, b))
    assert {(min(run), max(run)) for run in runs} == expected
    assert features.boundary.vertices.tolist() == sorted({v for edge in expected for v in edge})


def test_the_concavity_is_on_the_left():
    pot = nested_shells(1, sides=8)
    features = solid_features(pot)
    (loop,) = features.loops
    ring = pot.vertices[loop.vertices]
    following = np.roll(ring, -1, axis=0)
    assert (ring[:, 0] * following[:, 1] - ring[:, 1] * following[:, 0] > 0).all()  # counterclockwise around the mouth
    assert features.subsets[loop.subset].kind == Kind.CONCAVITY


@pytest.mark.parametrize("shells", [1, 2, 4])
def test_rims_of_shells_lie_in_each_other(shells):
    features = solid_features(nested_shells(shells, sides=8))
    (top,) = {part.hull_face for part in features.boundary.parts}
    parts = features.loop_parts(top)
    assert all(part.whole for part in parts)
    assert sorted(part.depth for part in parts) == list(range(2 * shells - 1))


def test_a_loop_in_space_rests_in_parts_on_hull_faces():
    features = solid_features(angle_bar())
    (loop,) = features.loops
    parts = features.boundary.parts
    assert len(loop.vertices) == 6 and not loop.touches_itself
    # Two sides with the inner corner, the slanted face with both ends, and the two tips that the ends lie on too.
    assert sorted(len(part.vertices) for part in parts) == [2, 2, 2, 2, 3, 3]
    assert not any(part.whole for part in parts)
    on_slant = [k for k in {part.hull_face for part in parts} if len(features.loop_parts(k)) == 2]
    assert len(on_slant) == 1
    for part in parts:
        path = part.vertices.tolist()
        assert set(pairwise(path)) <= set(edges_of(loop))


def test_loops_that_touch_stay_around_their_own_concavity():
    features = solid_features(pitted_plate([[1, 0], [0, 1]]))
    assert features.problems == ()
    assert [len(loop.vertices) for loop in features.loops] == [4, 4]
    first, second = (set(loop.vertices.tolist()) for loop in features.loops)
    assert len(first & second) == 1
    assert features.loops[0].subset != features.loops[1].subset


def test_a_loop_that_touches_itself():
    # Five pits around one square, end to end: the first and the last touch at a corner only.
    pits = [[0, 0, 0, 0, 0], [0, 1, 1, 0, 0], [0, 1, 0, 1, 0], [0, 1, 1, 1, 0], [0, 0, 0, 0, 0]]
    features = solid_features(pitted_plate(pits))
    assert features.problems == ()
    assert sum(subset.kind == Kind.CONCAVITY for subset in features.subsets) == 1
    assert any(loop.touches_itself for loop in features.loops)
    (concavity,) = {loop.subset for loop in features.loops}
    assert features.subsets[concavity].kind == Kind.CONCAVITY
    assert {cap.subsets.tolist()[0] for cap in features.caps} == {concavity}


def test_edges_of_four_faces_are_named_and_loops_still_close():
    filled = np.ones((3, 3, 2), dtype=bool)
    filled[0, 1, 1] = filled[1, 0, 1] = filled[1, 2, 1] = filled[2, 1, 1] = False  # pits that share vertical edges
    mesh = shapes.blocks((0, 1, 2, 3), (0, 1, 2, 3), (0, 1, 2), filled)
    features = solid_features(mesh)
    assert any("more than two faces" in problem for problem in features.problems)
    assert all(loop.closed for loop in features.loops)


def test_an_open_boundary_ends_without_a_crash():
    pot = nested_shells(1, sides=8)
    features = solid_features(pot)
    hidden = int(
        np.flatnonzero((features.hull_face < 0) & np.isin(pot.faces, features.loops[0].vertices).any(axis=1))[0]
    )
    torn = solid_features(Mesh(pot.vertices, np.delete(pot.faces, hidden, axis=0)))
    assert any("open edges" in problem for problem in torn.problems)


def test_winding_does_not_matter():
    bar = angle_bar()
    rng = np.random.default_rng(3)
    faces = [face[::-1] if rng.random() < 0.5 else face for face in bar.faces.tolist()]
    expected, found = solid_features(bar), solid_features(Mesh(bar.vertices, faces))
    assert [loop.vertices.tolist() for loop in found.loops] == [loop.vertices.tolist() for loop in expected.loops]
