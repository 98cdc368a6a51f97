"""The generators: reproducible, legal, clean, and really hard."""

from collections import Counter

import numpy as np
import pytest

from impinge.constants import LARGEST_COORDINATE
from impinge.geometry.pose import as_pose
from impinge.lab import oracle, solid_oracle
from impinge.lab.hard_input import EXACT_ROTATIONS, FAMILIES, quarter_turn, random_pose, triangle_pairs
from impinge.lab.hard_solids import SHAPES, SOLID_FAMILIES, solid_pair, triangulated
from impinge.results import ContactKind, RelationKind


@pytest.mark.parametrize("family", FAMILIES)
def test_families_are_reproducible_and_legal(family):
    for k in (0, 1, 500):
        a, b = triangle_pairs(np.random.default_rng(4), k, family)
        again = triangle_pairs(np.random.default_rng(4), k, family)
        for triangles, same in zip((a, b), again, strict=True):
            assert triangles.shape == (k, 3, 3)
            assert triangles.dtype == np.float64
            assert triangles.flags.c_contiguous
            assert np.array_equal(triangles, same)
            assert (np.abs(triangles) <= LARGEST_COORDINATE).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_families_are_neither_all_apart_nor_all_meeting(family):
    meeting = (oracle.kinds(*triangle_pairs(np.random.default_rng(8), 400, family)) != oracle.DISJOINT).mean()
    assert 0.05 < meeting < 0.95


def test_the_grid_families_have_all_kinds():
    kinds = oracle.kinds(*triangle_pairs(np.random.default_rng(2), 4000, "grid 0..2"))
    counts = Counter(kinds.tolist())
    assert counts[ContactKind.TOUCHING] > 1000
    assert counts[ContactKind.CROSSING] > 300
    assert counts[ContactKind.COPLANAR] > 5
    kinds = oracle.kinds(*triangle_pairs(np.random.default_rng(2), 1000, "coplanar grid"))
    assert (kinds == ContactKind.COPLANAR).sum() > 200


def test_shares_sum_to_one():
    assert sum(family.share for family in FAMILIES.values()) == pytest.approx(1.0)


def test_needles_are_thin_and_near():
    a, _ = triangle_pairs(np.random.default_rng(1), 300, "needles")
    edges = np.linalg.norm(a - np.roll(a, 1, axis=1), axis=2)
    area = np.linalg.norm(np.cross(a[:, 1] - a[:, 0], a[:, 2] - a[:, 0]), axis=1)
    assert (edges.max(axis=1) ** 2 / np.maximum(area, 1e-300)).min() > 1e6


def test_repeated_vertices_make_points_and_segments():
    a, _ = triangle_pairs(np.random.default_rng(1), 300, "repeated vertices")
    flat = ~np.cross(a[:, 1] - a[:, 0], a[:, 2] - a[:, 0]).any(axis=1)
    points = (a == a[:, :1]).all(axis=(1, 2))
    assert flat.sum() > 150
    assert 10 < points.sum() < 100


def test_poses_are_rigid():
    rng = np.random.default_rng(3)
    assert len({tuple(matrix.ravel()) for matrix in EXACT_ROTATIONS}) == 24
    for _ in range(50):
        assert np.array_equal(np.abs(as_pose(quarter_turn(rng, 5))[:3, :3]).sum(axis=0), [1, 1, 1])
        as_pose(random_pose(rng))


def self_contacts_are_shared(vertices, faces):
    """No two triangles of the mesh meet but in the vertices and edges that they share."""
    i, j = np.triu_indices(len(faces), 1)
    kinds = oracle.kinds(vertices[faces[i]], vertices[faces[j]])
    if ((kinds == ContactKind.CROSSING) | (kinds == ContactKind.COPLANAR)).any():
        return False
    for f, g in zip(i[kinds == ContactKind.TOUCHING], j[kinds == ContactKind.TOUCHING], strict=True):
        common = {tuple(vertices[v]) for v in set(faces[f].tolist()) & set(faces[g].tolist())}
        if set(oracle.intersection(vertices[faces[f]], vertices[faces[g]])) != common:
            return False
    return True


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_shapes_are_closed_wind_outwards_and_do_not_cross_themselves(shape):
    for seed in range(2):
        rng = np.random.default_rng(seed)
        body = shape(rng)
        faces = triangulated(rng, body)
        directed = Counter((int(f[i]), int(f[(i + 1) % 3])) for f in faces for i in range(3))
        assert all(directed[(v, u)] == n for (u, v), n in directed.items())
        p, q, r = (body.points[faces[:, i]] for i in range(3))
        assert np.einsum("ij,ij->", p, np.cross(q, r)) > 0
        assert self_contacts_are_shared(body.points.astype(float), faces)


def test_solid_pairs_stay_clean_when_turned_and_rounded():
    rng = np.random.default_rng(21)
    for _ in range(20):
        pair = solid_pair(rng)
        assert self_contacts_are_shared(*pair.a)


def test_solid_pairs_are_reproducible_and_have_all_relations():
    seen = Counter()
    for family in SOLID_FAMILIES:
        for seed in range(8):
            pair = solid_pair(np.random.default_rng(seed), family)
            again = solid_pair(np.random.default_rng(seed), family)
            for solid, same in zip(pair[1:], again[1:], strict=True):
                assert np.array_equal(solid.vertices, same.vertices)
                assert np.array_equal(solid.faces, same.faces)
            seen[solid_oracle.relation(*pair.a, *pair.b)] += 1
    assert {kind for kind, _ in seen} == set(RelationKind)
    assert seen[(RelationKind.A_INSIDE_B, True)] + seen[(RelationKind.B_INSIDE_A, True)] > 2
    assert seen[(RelationKind.A_INSIDE_B, False)] + seen[(RelationKind.B_INSIDE_A, False)] > 0


def test_random_family_is_chosen_when_none_is_named():
    rng = np.random.default_rng(9)
    assert len({solid_pair(rng).family for _ in range(40)}) > 5
