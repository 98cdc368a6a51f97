"""The truth table of the contracts, row by row: surfaces, solids and mixed pairs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import impinge
from impinge import Mesh, Relation
from impinge.lab.scenes.shapes import blocks, box
from impinge.results import RelationKind

UNIT = box(1, 1, 1)


def moved(mesh: Mesh, x: float, y: float = 0.0, z: float = 0.0, size: float = 1.0) -> Mesh:
    matrix = np.diag([size, size, size, 1.0])
    matrix[:3, 3] = x, y, z
    return mesh.transformed(matrix)


def joined(*meshes: Mesh, solid: bool = True) -> Mesh:
    """Several meshes as one."""
    offsets = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes])
    faces = [mesh.faces + offset for mesh, offset in zip(meshes, offsets, strict=False)]
    return Mesh(np.concatenate([mesh.vertices for mesh in meshes]), np.concatenate(faces), solid=solid)


def retriangulated(mesh: Mesh) -> Mesh:
    """The same box with its faces cut along the other diagonals, through a middle vertex, and shuffled."""
    low, high = mesh.bounds
    corner = np.array(list(product(*zip(low, high, strict=True))))
    quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    middles = np.array([corner[quad].mean(axis=0) for quad in quads])
    faces = [[quad[i], quad[(i + 1) % 4], 8 + k] for k, quad in enumerate(quads) for i in range(4)]
    order = np.random.default_rng(0).permutation(len(faces))
    return Mesh(np.concatenate([corner, middles]), np.array(faces)[order], solid=True)


LARGE = moved(UNIT, 0, size=4.0)
HOLLOW = blocks((0, 1, 2, 3), (0, 1, 2, 3), (0, 1, 2, 3), filled=np.arange(27).reshape(3, 3, 3) != 13)

# name: a, b, do the surfaces meet, do the solids meet, relation, is touching set
ROWS = {
    "apart": (UNIT, moved(UNIT, 3), False, False, Relation.APART, False),
    "apart, boxes overlap": (
        blocks((0, 1, 4), (0, 1, 4), (0, 1), filled=[[[1], [1]], [[1], [0]]]), moved(UNIT, 2, 2), False, False,
        Relation.APART, False,
    ),
    "apart by one ulp": (UNIT, moved(UNIT, np.nextafter(1.0, 2.0)), False, False, Relation.APART, False),
    "nested": (moved(UNIT, 1, 1, 1), LARGE, False, True, Relation.A_INSIDE_B, False),
    "nested by one ulp": (
        moved(UNIT, np.spacing(0.5), 1, 1), LARGE, False, True, Relation.A_INSIDE_B, False,
    ),
    "touching in a face": (UNIT, moved(UNIT, 1), True, True, Relation.TOUCHING, True),
    "touching in a part of a face": (UNIT, moved(UNIT, 1, 0.5, 0.25, size=0.5), True, True, Relation.TOUCHING, True),
    "touching in an edge": (UNIT, moved(UNIT, 1, 1), True, True, Relation.TOUCHING, True),
    "touching in a vertex": (UNIT, moved(UNIT, 1, 1, 1), True, True, Relation.TOUCHING, True),
    "crossing": (UNIT, moved(UNIT, 0.5, 0.25, 0.125), True, True, Relation.OVERLAPPING, True),
    "crossing, faces in one plane": (UNIT, moved(UNIT, 0.5), True, True, Relation.OVERLAPPING, True),
    "crossing like a plus": (
        blocks((0, 3), (1, 2), (1, 2)), blocks((1, 2), (0, 3), (1, 2)), True, True, Relation.OVERLAPPING, True,
    ),
    "touching from inside in a face": (moved(UNIT, 0, 1, 1), LARGE, True, True, Relation.A_INSIDE_B, True),
    "touching from inside in an edge": (
        Mesh([[0, 0, 1], [0, 0, 2], [1, 1, 1], [1, 2, 2]], [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]], solid=True),
        LARGE, True, True, Relation.A_INSIDE_B, True,
    ),
    "touching from inside in a vertex": (
        Mesh([[0, 1, 1], [1, 1, 1], [1, 2, 1], [1, 1, 2]], [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]], solid=True),
        LARGE, True, True, Relation.A_INSIDE_B, True,
    ),
    "touching from inside in a corner": (UNIT, LARGE, True, True, Relation.A_INSIDE_B, True),
    "identical": (UNIT, UNIT, True, True, Relation.EQUAL, True),
    "equal, with other triangles": (UNIT, retriangulated(UNIT), True, True, Relation.EQUAL, True),
    "equal, inside out": (UNIT, Mesh(UNIT.vertices, UNIT.faces[:, ::-1], solid=True), True, True, Relation.EQUAL, True),
    "in a cavity": (moved(UNIT, 1.25, 1.25, 1.25, size=0.5), HOLLOW, False, False, Relation.APART, False),
    "fills a cavity": (moved(UNIT, 1, 1, 1), HOLLOW, True, True, Relation.TOUCHING, True),
    "fills part of a cavity": (moved(UNIT, 1, 1, 1, size=0.5), HOLLOW, True, True, Relation.TOUCHING, True),
    "sticks out of a cavity": (moved(UNIT, 1.5, 1.25, 1.25), HOLLOW, True, True, Relation.OVERLAPPING, True),
    "around a body with a cavity": (HOLLOW, moved(UNIT, -1, -1, -1, size=5.0), False, True, Relation.A_INSIDE_B, False),
    "a body and its hull": (HOLLOW, moved(UNIT, 0, size=3.0), True, True, Relation.A_INSIDE_B, True),
    "one of two pieces nested": (
        joined(moved(UNIT, 1, 1, 1), moved(UNIT, 9)), LARGE, False, True, Relation.OVERLAPPING, False,
    ),
    "both pieces nested": (
        joined(moved(UNIT, 1, 1, 1), moved(UNIT, 2.5, 2.5, 2.5)), LARGE, False, True, Relation.A_INSIDE_B, False,
    ),
    "one piece nested, one touching from inside": (
        joined(moved(UNIT, 1, 1, 1), moved(UNIT, 3, 3, 3)), LARGE, True, True, Relation.A_INSIDE_B, True,
    ),
    "one piece nested, one touching from outside": (
        joined(moved(UNIT, 1, 1, 1), moved(UNIT, 4)), LARGE, True, True, Relation.OVERLAPPING, True,
    ),
    "equal but for one piece": (joined(UNIT, moved(UNIT, 9)), UNIT, True, True, Relation.B_INSIDE_A, True),
    "pieces in different order": (
        joined(UNIT, moved(UNIT, 9)), joined(moved(UNIT, 9), UNIT), True, True, Relation.EQUAL, True,
    ),
    "a piece in each other's piece": (
        joined(moved(UNIT, 1, 1, 1), moved(LARGE, 9)), joined(LARGE, moved(UNIT, 10, 1, 1)), False, True,
        Relation.OVERLAPPING, False,
    ),
}  # fmt: skip
SWAPPED = {RelationKind.A_INSIDE_B: RelationKind.B_INSIDE_A, RelationKind.B_INSIDE_A: RelationKind.A_INSIDE_B}


def surface(mesh: Mesh) -> Mesh:
    return Mesh(mesh.vertices, mesh.faces)


def solid(mesh: Mesh) -> Mesh:
    return Mesh(mesh.vertices, mesh.faces, solid=True)


def check_meeting(a: Mesh, b: Mesh, expected: bool, surfaces_meet: bool) -> None:
    assert impinge.collides(a, b) == expected
    assert impinge.closer_than(a, b, 0.0) == expected
    assert (len(impinge.contacts(a, b)) > 0) == surfaces_meet
    found = impinge.distance(a, b)
    assert (found.value == 0.0) == expected
    assert np.linalg.norm(found.point_a - found.point_b) == pytest.approx(found.value, rel=1e-15)
    # -1 names a body that has the point inside, on none of its faces.
    on_no_face = int(found.face_a == -1) + int(found.face_b == -1)
    assert on_no_face == int(expected and not surfaces_meet)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", ROWS)
def test_row_for_solids(name: str) -> None:
    a, b, surfaces_meet, solids_meet, kind, touching = ROWS[name]
    a, b = solid(a), solid(b)
    check_meeting(a, b, solids_meet, surfaces_meet)
    check_meeting(b, a, solids_meet, surfaces_meet)
    found, swapped = impinge.relation(a, b), impinge.relation(b, a)
    assert (found.kind, bool(found.touching)) == (kind, touching)
    assert found == kind
    assert (swapped.kind, bool(swapped.touching)) == (SWAPPED.get(kind, kind), touching)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", ROWS)
def test_row_for_surfaces(name: str) -> None:
    a, b, surfaces_meet, _, kind, touching = ROWS[name]
    a, b = surface(a), surface(b)
    check_meeting(a, b, surfaces_meet, surfaces_meet)
    # Closed surfaces have an inside, whether or not they are declared solid.
    found = impinge.relation(a, b)
    assert (found.kind, bool(found.touching)) == (kind, touching)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [("surface", "solid", True), ("solid", "surface", False), ("solid", "solid", True), ("surface", "surface", False)],
)
def test_mixed_pair_counts_the_inside_of_the_solid(first: str, second: str, expected: bool) -> None:
    make = {"surface": surface, "solid": solid}
    a, b, *_ = ROWS["nested"]  # a is inside b
    a, b = make[first](a), make[second](b)
    check_meeting(a, b, expected, surfaces_meet=False)
    check_meeting(b, a, expected, surfaces_meet=False)


def test_open_surface_inside_a_solid_and_around_it() -> None:
    sheet = Mesh([[1, 1, 1], [2, 1, 1], [1, 2, 1]], [[0, 1, 2]])
    check_meeting(sheet, LARGE, True, surfaces_meet=False)
    check_meeting(sheet, surface(LARGE), False, surfaces_meet=False)
    check_meeting(moved(sheet, 9), LARGE, False, surfaces_meet=False)
    # A sheet in a cavity is not in the body.
    small = sheet.transformed(np.array([[0.25, 0, 0, 1], [0, 0.25, 0, 1], [0, 0, 0.25, 1.25], [0, 0, 0, 1.0]]))
    check_meeting(small, HOLLOW, False, surfaces_meet=False)


def test_pieces_of_a_surface_count_each() -> None:
    pair = joined(moved(UNIT, 1, 1, 1), moved(UNIT, 9), solid=False)
    check_meeting(pair, LARGE, True, surfaces_meet=False)
    check_meeting(LARGE, pair, True, surfaces_meet=False)


def test_distance_of_nested_solids_names_a_point_of_the_inner_body() -> None:
    inner = moved(UNIT, 1, 1, 1)
    for a, b, side in ((inner, LARGE, "a"), (LARGE, inner, "b")):
        found = impinge.distance(a, b)
        assert found.value == 0.0
        assert np.array_equal(found.point_a, found.point_b)
        face, other = (found.face_a, found.face_b) if side == "a" else (found.face_b, found.face_a)
        assert other == -1
        assert found.point_a.tolist() in inner.triangles[face].tolist()


def test_relation_of_an_open_mesh_is_unsupported() -> None:
    sheet = Mesh([[1, 1, 1], [2, 1, 1], [1, 2, 1]], [[0, 1, 2]])
    with pytest.raises(impinge.Unsupported, match=r"a is an open mesh"):
        impinge.relation(sheet, UNIT)
    with pytest.raises(impinge.Unsupported, match=r"b is an open mesh"):
        impinge.relation(UNIT, sheet)


def test_solid_of_an_open_mesh_names_the_open_edges() -> None:
    with pytest.raises(ValueError, match=r"3 edges.*0-1"):
        Mesh([[1, 1, 1], [2, 1, 1], [1, 2, 1]], [[0, 1, 2]], solid=True)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("exponent", [-1060, -400, 100])
@pytest.mark.parametrize("name", ["nested", "touching in an edge", "crossing", "identical", "fills a cavity"])
def test_rows_at_every_scale(name: str, exponent: int) -> None:
    a, b, _, solids_meet, kind, touching = ROWS[name]
    a, b = (moved(mesh, 0, size=2.0**exponent) for mesh in (a, b))
    assert impinge.collides(a, b) == solids_meet
    found = impinge.relation(a, b)
    assert (found.kind, bool(found.touching)) == (kind, touching)


@pytest.mark.nojit_slow
def test_batch_of_relations_keeps_the_order() -> None:
    poses = np.tile(np.eye(4), (2, 3, 1, 1))
    poses[..., 0, 3] = [[0.0, 0.5, 1.0], [3.0, -1.0, -0.5]]
    found = impinge.relation(UNIT, UNIT, pose_b=poses)
    kinds = [["EQUAL", "OVERLAPPING", "TOUCHING"], ["APART", "TOUCHING", "OVERLAPPING"]]
    assert [[RelationKind(kind).name for kind in row] for row in np.asarray(found.kind).tolist()] == kinds
    assert np.array_equal(found == Relation.TOUCHING, [[False, False, True], [False, True, False]])
    assert np.array_equal(found.touching, [[True, True, True], [False, True, True]])


def test_faces_in_pairs_enclose_nothing() -> None:
    from impinge.lab.scenes.shapes import box

    plain = box(1, 1, 1)
    far = [[5.0, 5.0, 5.0], [6.0, 5.0, 5.0], [5.0, 6.0, 5.0]]
    count = len(plain.vertices)
    pocket = [[count, count + 1, count + 2], [count, count + 2, count + 1]]
    with_pocket = impinge.Mesh([*plain.vertices.tolist(), *far], [*plain.faces.tolist(), *pocket], solid=True)
    assert impinge.relation(plain, with_pocket) == impinge.Relation.EQUAL
    assert impinge.relation(with_pocket, plain) == impinge.Relation.EQUAL


@pytest.mark.nojit_slow
@pytest.mark.parametrize("size", [0.1, 1e-4])
def test_relations_of_tetrahedra_far_from_the_origin(size: float) -> None:
    """The rounding of constructed contact points grows with the coordinates, not only with the bodies."""
    from impinge.lab import solid_oracle

    rng = np.random.default_rng(5)
    faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
    kinds = set()
    for _ in range(60):
        vertices = [1e6 + size * rng.random((4, 3)) for _ in range(2)]
        answer = impinge.relation(*(impinge.Mesh(points, faces, solid=True) for points in vertices))
        kind, touching = solid_oracle.relation(vertices[0], faces, vertices[1], faces)
        assert (answer.kind, bool(answer.touching)) == (kind, touching)
        kinds.add(kind)
    assert len(kinds) > 1
