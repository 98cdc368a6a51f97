"""What must not change an answer: order of bodies, faces and vertices, splitting, scale, motion of both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import impinge
from impinge import Mesh, RelationKind
from impinge.geometry.pose import posed_vertices
from impinge.lab import oracle
from impinge.lab.hard_input import FAMILIES, quarter_turn, random_pose, triangle_pairs
from impinge.lab.hard_solids import SOLID_FAMILIES, solid_pair

Floats = NDArray[np.float64]
seeds = st.integers(0, 2**32 - 1)


@dataclass
class Situation:
    a: Mesh
    b: Mesh
    pose_a: Floats
    pose_b: Floats


def any_pose(rng: np.random.Generator) -> Floats:
    """The identity, a quarter turn, or any rotation."""
    return [np.eye(4), quarter_turn(rng, 1), random_pose(rng, 0.5)][rng.integers(3)]


def situation(seed: int, family: str | None = None) -> Situation:
    """Two small soups of hard triangles, posed."""
    rng = np.random.default_rng(seed)
    a, b = triangle_pairs(rng, int(rng.integers(1, 4)), family or str(rng.choice(list(FAMILIES))))
    meshes = [Mesh(t.reshape(-1, 3), np.arange(3 * len(t)).reshape(-1, 3)) for t in (a, b)]
    return Situation(*meshes, any_pose(rng), any_pose(rng))


def pairs_of(contacts: impinge.Contacts) -> set[tuple[int, int, int]]:
    return set(zip(contacts.face_a.tolist(), contacts.face_b.tolist(), contacts.kind.tolist(), strict=True))


def world_triangles(mesh: Mesh, pose: Floats) -> Floats:
    return posed_vertices(pose, mesh.vertices)[mesh.faces]


def ulp_of(*triangles: Floats) -> float:
    return float(np.spacing(max(np.abs(t).max() for t in triangles)))


# ------------------------------------------------------------------ the truth, recomputed


def check_against_rational_arithmetic(s: Situation) -> None:
    a, b = world_triangles(s.a, s.pose_a), world_triangles(s.b, s.pose_b)
    i, j = np.indices((len(a), len(b))).reshape(2, -1)
    kinds = oracle.kinds(a[i], b[j])
    truth = {(m, n, k) for m, n, k in zip(i.tolist(), j.tolist(), kinds.tolist(), strict=True) if k >= 0}
    poses = s.pose_a, s.pose_b
    assert pairs_of(impinge.contacts(s.a, s.b, *poses)) == truth
    assert impinge.collides(s.a, s.b, *poses) == bool(truth)
    squares = oracle.squared_distances(a[i], b[j])
    value = oracle.square_root(min(squares))
    found = impinge.distance(s.a, s.b, *poses)
    assert abs(found.value - value) <= 16 * ulp_of(a, b)
    assert (found.value == 0.0) == bool(truth)
    # The faces that are named have this distance.
    assert abs(oracle.square_root(squares[found.face_a * len(b) + found.face_b]) - value) <= 16 * ulp_of(a, b)
    for clearance in (value, np.nextafter(value, np.inf), max(float(np.nextafter(value, -1.0)), 0.0)):
        if clearance <= 2.0**150:
            expected = any(oracle.closer_than(a[m], b[n], float(clearance)) for m, n in zip(i, j, strict=True))
            assert impinge.closer_than(s.a, s.b, clearance, *poses) == expected


@given(seeds)
def test_answers_are_those_of_rational_arithmetic_on_posed_vertices(seed: int) -> None:
    check_against_rational_arithmetic(situation(seed))


@pytest.mark.parametrize("far", [1e3, 1e6, 2.0**40, 1e15])
def test_far_from_the_origin(far: float) -> None:
    """World coordinates round coarsely there; the truth is what the rounded ones say."""
    rng = np.random.default_rng(int(far) % 1000)
    for _ in range(6):
        s = situation(int(rng.integers(2**31)), str(rng.choice(["grid 0..2", "uniform", "shared vertices"])))
        offset = rng.choice([-far, 0.0, far], size=3)
        s.pose_a[:3, 3] += offset
        s.pose_b[:3, 3] += offset
        check_against_rational_arithmetic(s)


# ---------------------------------------------------------------------------- symmetries


@given(seeds)
def test_swapping_the_bodies(seed: int) -> None:
    s = situation(seed)
    forward = impinge.contacts(s.a, s.b, s.pose_a, s.pose_b)
    backward = impinge.contacts(s.b, s.a, s.pose_b, s.pose_a)
    assert pairs_of(forward) == {(i, j, kind) for j, i, kind in pairs_of(backward)}
    assert impinge.collides(s.a, s.b, s.pose_a, s.pose_b) == impinge.collides(s.b, s.a, s.pose_b, s.pose_a)
    one, other = (
        impinge.distance(s.a, s.b, s.pose_a, s.pose_b).value,
        impinge.distance(s.b, s.a, s.pose_b, s.pose_a).value,
    )
    assert abs(one - other) <= 4 * ulp_of(world_triangles(s.a, s.pose_a), world_triangles(s.b, s.pose_b))
    assert impinge.closer_than(s.a, s.b, one, s.pose_a, s.pose_b) == impinge.closer_than(
        s.b, s.a, one, s.pose_b, s.pose_a
    )


def shuffled(mesh: Mesh, rng: np.random.Generator) -> tuple[Mesh, NDArray[np.intp]]:
    """The mesh with its vertices, faces and corners in another order, and the old number of each face."""
    vertex_order = rng.permutation(len(mesh.vertices))
    face_order = rng.permutation(len(mesh.faces))
    new_number = np.argsort(vertex_order)
    faces = rng.permuted(new_number[mesh.faces[face_order]], axis=1)
    return Mesh(mesh.vertices[vertex_order], faces, solid=mesh.solid), face_order


@given(seeds)
def test_order_of_vertices_and_faces(seed: int) -> None:
    s = situation(seed)
    rng = np.random.default_rng(seed)
    (a, old_a), (b, old_b) = shuffled(s.a, rng), shuffled(s.b, rng)
    expected = impinge.contacts(s.a, s.b, s.pose_a, s.pose_b)
    found = impinge.contacts(a, b, s.pose_a, s.pose_b)
    renamed = {(int(old_a[i]), int(old_b[j]), kind) for i, j, kind in pairs_of(found)}
    assert renamed == pairs_of(expected)
    value, again = (impinge.distance(x, y, s.pose_a, s.pose_b).value for x, y in ((s.a, s.b), (a, b)))
    assert abs(value - again) <= 4 * ulp_of(world_triangles(s.a, s.pose_a), world_triangles(s.b, s.pose_b))
    assert impinge.closer_than(a, b, value, s.pose_a, s.pose_b) == impinge.closer_than(
        s.a, s.b, value, s.pose_a, s.pose_b
    )


@given(seeds, st.sampled_from(["grid 0..2", "grid 0..4", "coplanar grid", "repeated vertices"]))
def test_splitting_a_triangle(seed: int, family: str) -> None:
    rng = np.random.default_rng(seed)
    a, b = (2.0 * t for t in triangle_pairs(rng, 2, family))  # even numbers: midpoints are exact
    whole = Mesh(a.reshape(-1, 3), [[0, 1, 2], [3, 4, 5]])
    middle = (a[0, 0] + a[0, 1]) / 2.0
    halves = Mesh(np.vstack([a.reshape(-1, 3), middle]), [[0, 6, 2], [6, 1, 2], [3, 4, 5]])
    other = Mesh(b.reshape(-1, 3), [[0, 1, 2], [3, 4, 5]])
    parent = [0, 0, 1]
    expected = {(i, j) for i, j, _ in pairs_of(impinge.contacts(whole, other))}
    assert {(parent[i], j) for i, j, _ in pairs_of(impinge.contacts(halves, other))} == expected
    assert impinge.collides(halves, other) == impinge.collides(whole, other) == bool(expected)
    value = impinge.distance(whole, other).value
    assert abs(impinge.distance(halves, other).value - value) <= 4 * ulp_of(a, b)
    for clearance in (value, np.nextafter(value, 0.0)):
        assert impinge.closer_than(halves, other, clearance) == impinge.closer_than(whole, other, clearance)


@given(seeds, st.integers(-600, 100))
def test_scaling_by_powers_of_two_is_bit_exact(seed: int, exponent: int) -> None:
    s = situation(
        seed, str(np.random.default_rng(seed).choice(["uniform", "grid 0..4", "one ulp", "repeated vertices"]))
    )
    scale = 2.0**exponent
    a, b = (Mesh(mesh.vertices * scale, mesh.faces) for mesh in (s.a, s.b))
    pose_a, pose_b = s.pose_a.copy(), s.pose_b.copy()
    pose_a[:3, 3] *= scale
    pose_b[:3, 3] *= scale
    expected, found = impinge.contacts(s.a, s.b, s.pose_a, s.pose_b), impinge.contacts(a, b, pose_a, pose_b)
    assert pairs_of(found) == pairs_of(expected)
    if not has_subnormal_neighbours(s):
        assert np.array_equal(found.segments, expected.segments * scale)
        assert np.array_equal(found.normal, expected.normal)
        before, after = impinge.distance(s.a, s.b, s.pose_a, s.pose_b), impinge.distance(a, b, pose_a, pose_b)
        assert after.value == before.value * scale
        assert np.array_equal(after.point_a, before.point_a * scale)
        assert np.array_equal(after.point_b, before.point_b * scale)
        assert (after.face_a, after.face_b) == (before.face_a, before.face_b)
        assert impinge.closer_than(a, b, after.value, pose_a, pose_b) == impinge.closer_than(
            s.a, s.b, before.value, s.pose_a, s.pose_b
        )


def has_subnormal_neighbours(s: Situation) -> bool:
    """Coordinates next to zero would be lost by scaling down, so that the scaled bodies are others."""
    numbers = np.abs(np.concatenate([s.a.vertices.ravel(), s.b.vertices.ravel()]))
    return bool(((numbers > 0.0) & (numbers < 1e-100)).any())


@given(seeds)
def test_moving_both_bodies_away_from_touching(seed: int) -> None:
    s = situation(seed, "uniform")
    before = impinge.distance(s.a, s.b, s.pose_a, s.pose_b).value
    motion = random_pose(np.random.default_rng(seed), 10.0)
    after = impinge.distance(s.a, s.b, motion @ s.pose_a, motion @ s.pose_b).value
    if before > 1e-9:  # apart by more than the rounding of the motion
        assert after == pytest.approx(before, abs=1e-12)
        assert not impinge.collides(s.a, s.b, motion @ s.pose_a, motion @ s.pose_b)


# --------------------------------------------------------------------------------- solids

SWAPPED = {RelationKind.A_INSIDE_B: RelationKind.B_INSIDE_A, RelationKind.B_INSIDE_A: RelationKind.A_INSIDE_B}


@pytest.mark.nojit_slow
@pytest.mark.parametrize("family", list(SOLID_FAMILIES))
def test_relations_keep_under_all_of_it(family: str) -> None:
    rng = np.random.default_rng(31)
    pair = solid_pair(rng, family)
    a, b = Mesh(*pair.a, solid=True), Mesh(*pair.b, solid=True)
    expected = impinge.relation(a, b)

    def agrees(found: impinge.Relation, kind: RelationKind) -> bool:
        return found.kind == kind and bool(found.touching) == bool(expected.touching)

    assert isinstance(expected.kind, RelationKind)
    assert agrees(impinge.relation(b, a), SWAPPED.get(expected.kind, expected.kind))
    assert agrees(impinge.relation(shuffled(a, rng)[0], shuffled(b, rng)[0]), expected.kind)
    scaled = [Mesh(mesh.vertices * 2.0**-70, mesh.faces, solid=True) for mesh in (a, b)]
    assert agrees(impinge.relation(*scaled), expected.kind)
    turn = quarter_turn(rng)
    assert agrees(impinge.relation(a, b, turn, turn), expected.kind)
    assert impinge.collides(a, b) == (expected.kind != RelationKind.APART)
    assert (impinge.distance(a, b).value == 0.0) == (expected.kind != RelationKind.APART)
