"""The oracle for solids is checked by hand-made cases, by volumes and by invariances."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from impinge.lab import hard_solids, solid_oracle
from impinge.lab.hard_solids import SOLID_FAMILIES, Body, solid_pair, triangulated
from impinge.results import RelationKind

APART, TOUCHING, OVERLAPPING = RelationKind.APART, RelationKind.TOUCHING, RelationKind.OVERLAPPING
A_INSIDE_B, B_INSIDE_A, EQUAL = RelationKind.A_INSIDE_B, RelationKind.B_INSIDE_A, RelationKind.EQUAL

L_SHAPE = [[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]]
U_SHAPE = [[0, 0], [3, 0], [3, 2], [2, 2], [2, 1], [1, 1], [1, 2], [0, 2]]


def box(*ranges):
    return hard_solids.prism_over([[0, 0], [1, 0], [1, 1], [0, 1]], [np.array(r) for r in ranges])


def prism(outline, height=1, move=(0, 0, 0)):
    body = hard_solids.prism_over(outline, [np.arange(4), np.arange(4), np.array([0, height])])
    return Body(body.points + np.array(move), body.polygons)


def hollow():
    outer, inner = box((0, 6), (0, 6), (0, 6)), box((1, 5), (1, 5), (1, 5))
    inward = [[i + 8 for i in polygon[::-1]] for polygon in inner.polygons]
    return Body(np.concatenate([outer.points, inner.points]), outer.polygons + inward)


def tetrahedron(*points):
    return Body(np.array(points), [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])


CUBE = box((0, 2), (0, 2), (0, 2))
CASES = {
    "apart": (CUBE, box((3, 4), (0, 2), (0, 2)), APART, False),
    "face on face": (CUBE, box((2, 4), (0, 2), (0, 2)), TOUCHING, True),
    "face on part of a face": (CUBE, box((2, 4), (1, 3), (1, 3)), TOUCHING, True),
    "edge on edge": (CUBE, box((2, 4), (2, 4), (0, 2)), TOUCHING, True),
    "vertex on vertex": (CUBE, box((2, 4), (2, 4), (2, 4)), TOUCHING, True),
    "corners overlap": (CUBE, box((1, 3), (1, 3), (1, 3)), OVERLAPPING, True),
    "crossing bars": (box((-2, 2), (-1, 1), (-1, 1)), box((-1, 1), (-2, 2), (-1, 1)), OVERLAPPING, True),
    "nested": (box((1, 2), (1, 2), (1, 2)), box((0, 3), (0, 3), (0, 3)), A_INSIDE_B, False),
    "nested, on a face": (box((0, 2), (1, 2), (1, 2)), box((0, 3), (0, 3), (0, 3)), A_INSIDE_B, True),
    "half": (box((0, 1), (0, 2), (0, 2)), CUBE, A_INSIDE_B, True),
    "equal": (CUBE, CUBE, EQUAL, True),
    "stella octangula": (
        tetrahedron([0, 0, 0], [2, 0, 2], [2, 2, 0], [0, 2, 2]),
        tetrahedron([2, 2, 2], [0, 0, 2], [0, 2, 0], [2, 0, 0]),
        OVERLAPPING,
        True,
    ),
    "tetrahedron in its cube": (tetrahedron([0, 0, 0], [2, 0, 2], [2, 2, 0], [0, 2, 2]), CUBE, A_INSIDE_B, True),
    "in the cavity": (hollow(), box((2, 3), (2, 3), (2, 3)), APART, False),
    "fills the cavity": (hollow(), box((1, 5), (1, 5), (1, 5)), TOUCHING, True),
    "in the wall": (hollow(), box((0, 1), (1, 2), (1, 2)), B_INSIDE_A, True),
    "around the hollow": (hollow(), box((-1, 7), (-1, 7), (-1, 7)), A_INSIDE_B, False),
    "hollow and full": (hollow(), box((0, 6), (0, 6), (0, 6)), A_INSIDE_B, True),
    "in the notch of the L": (prism(L_SHAPE), box((1, 2), (1, 2), (0, 1)), TOUCHING, True),
    "two L make a block": (prism(L_SHAPE), Body(prism(L_SHAPE).points * [-1, -1, 1] + [2, 2, 0],
                           prism(L_SHAPE).polygons), OVERLAPPING, True),
    "between the arms of the U": (prism(U_SHAPE), box((1, 2), (1, 2), (0, 1)), TOUCHING, True),
    "through both arms of the U": (prism(U_SHAPE, 3), box((-1, 4), (1, 2), (1, 2)), OVERLAPPING, True),
    "hull of the U": (prism(U_SHAPE), box((0, 3), (0, 2), (0, 1)), A_INSIDE_B, True),
}  # fmt: skip
SWAPPED = {A_INSIDE_B: B_INSIDE_A, B_INSIDE_A: A_INSIDE_B}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_known_cases(case):
    a, b, kind, touching = case
    rng = np.random.default_rng(1)
    faces_a, faces_b = triangulated(rng, a), triangulated(rng, b)
    assert solid_oracle.relation(a.points, faces_a, b.points, faces_b) == (kind, touching)
    assert solid_oracle.relation(b.points, faces_b, a.points, faces_a) == (SWAPPED.get(kind, kind), touching)
    # The same body in other triangles, under an integer shear, far away and very small.
    shear = np.array([[1, 2, 0], [0, 1, -1], [1, 0, 1]])
    moved_a, moved_b = ((body.points @ shear.T + 10**6) * 2.0**-300 for body in (a, b))
    assert solid_oracle.relation(moved_a, triangulated(rng, a), moved_b, triangulated(rng, b)) == (kind, touching)


def test_one_ulp_tells_touching_from_apart_and_from_overlapping():
    rng = np.random.default_rng(0)
    faces = triangulated(rng, CUBE)
    for step, expected in ((0, (TOUCHING, True)), (1, (APART, False)), (-1, (OVERLAPPING, True))):
        moved = CUBE.points + np.array([2.0, 0.0, 0.0])
        moved[moved[:, 0] == 2.0, 0] = np.nextafter(2.0, 2.0 + step)
        assert solid_oracle.relation(CUBE.points, faces, moved, faces) == expected


def volume(points, faces):
    p, q, r = (points[faces[:, i]] for i in range(3))
    return Fraction(int(np.einsum("ij,ij->", p, np.cross(q, r))), 6)


@pytest.mark.parametrize("shape", [*hard_solids.SHAPES], ids=lambda shape: shape.__name__)
def test_cells_have_the_volume_of_the_solid(shape):
    """The inner cells, each measured as a convex hull, sum up to the volume by the divergence theorem."""
    from scipy.spatial import ConvexHull

    body = shape(np.random.default_rng(5))
    faces = triangulated(np.random.default_rng(6), body)
    triangles = body.points[faces].astype(object)
    inside = 0.0
    for cell in solid_oracle._cells(triangles.tolist()):
        point = np.array([solid_oracle._inner_point(cell)], dtype=object)
        if solid_oracle._parities(point, triangles)[0]:
            inside += ConvexHull([[x / w, y / w, z / w] for (x, y, z, w), _ in cell]).volume
    assert volume(body.points, faces) > 0
    assert inside == pytest.approx(float(volume(body.points, faces)), rel=1e-9)


def test_point_in_solid():
    body = prism(U_SHAPE)
    triangles = body.points[triangulated(np.random.default_rng(2), body)].astype(float)
    half = Fraction(1, 2)
    for x, y in product(range(-1, 4), range(-1, 3)):
        expected = 0 <= x < 3 and 0 <= y < 2 and not (x == 1 and y == 1)
        assert solid_oracle.point_in_solid((x + half, y + half, half), triangles) == expected
        assert solid_oracle.point_in_solid((x + 1 / 3, y + 0.1, 1e-300), triangles) == expected
    # In line with edges and faces, but not on the surface.
    assert not solid_oracle.point_in_solid((-1, 0, 0), triangles)
    assert solid_oracle.point_in_solid((0.5, 1, 0.5), triangles)


@pytest.mark.parametrize("family", SOLID_FAMILIES)
def test_relation_is_symmetric_on_hard_solids(family):
    rng = np.random.default_rng(12)
    for _ in range(4):
        pair = solid_pair(rng, family)
        kind, touching = solid_oracle.relation(*pair.a, *pair.b)
        assert solid_oracle.relation(*pair.b, *pair.a) == (SWAPPED.get(kind, kind), touching)
        assert solid_oracle.relation(*pair.a, *pair.a) == (EQUAL, True)
