"""The dispatch table: which method answers a query about which bodies, and what is said where there is none."""

from __future__ import annotations

import dataclasses
from itertools import product
from typing import Any, get_args

import numpy as np
import pytest

import impinge
from impinge import ConvexHull, ConvexPieces, Mesh, Pair, Unsupported, shapes
from impinge.arrays import Floats
from impinge.queries import dispatch
from impinge.queries.dispatch import FAMILIES, HULLS, MESHES, PIECES, Family, direct, route
from impinge.queries.method import Method, MethodName


class Part(Mesh):
    """A user's own kind of mesh."""


CUBE = shapes.box(1, 1, 1)
BODIES: dict[str, Any] = {
    "mesh": CUBE,
    "part": Part(CUBE.vertices, CUBE.faces, solid=True),
    "hull": ConvexHull(shapes.box(1, 2, 1)),
    "pieces": ConvexPieces([shapes.box(1, 1, 3)]),
}
VERBS = ("collides", "closer_than", "distance", "contacts", "penetration", "relation")
YES_OR_NO_AND_DISTANCES = ("collides", "closer_than", "distance")
NAMES = [(family, name) for family in FAMILIES for name in family.methods]


def kind_of(name: str) -> str:
    return "mesh" if name == "part" else name


def expected_family(a: str, b: str, verb: str) -> Family | None:
    """The table of the design, written once more."""
    kinds = {kind_of(a), kind_of(b)}
    if verb in YES_OR_NO_AND_DISTANCES:
        if "pieces" in kinds:
            return None if "mesh" in kinds else PIECES
        return MESHES if "mesh" in kinds else HULLS
    if verb == "penetration":
        return HULLS if kinds == {"hull"} else None
    return None if "pieces" in kinds else MESHES


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(("a", "b"), list(product(BODIES, repeat=2)))
def test_types_and_verb_give_the_family(a: str, b: str, verb: str) -> None:
    family = expected_family(a, b, verb)
    if family is None:
        with pytest.raises(Unsupported):
            route(verb, BODIES[a], BODIES[b])
        return
    for name in family.methods:
        found = route(verb, BODIES[a], BODIES[b], name)
        assert found.method is family.method(name)
        for taking_part, given in ((found.a, BODIES[a]), (found.b, BODIES[b])):
            if family is MESHES and isinstance(given, ConvexHull):
                assert taking_part is given.mesh
            else:
                assert taking_part is given
    for other in FAMILIES:
        for name in set(other.methods) - set(family.methods):
            with pytest.raises(ValueError, match=f"'{name}' is not one of .* it is one for "):
                route(verb, BODIES[a], BODIES[b], name)


@pytest.mark.parametrize(
    ("family", "name"), NAMES, ids=[f"{family.bodies.split(',')[0]}-{name}" for family, name in NAMES]
)
def test_every_name_resolves_to_a_method_with_all_verbs_of_its_family(family: Family, name: str) -> None:
    method = family.method(name)
    assert issubclass(method, Method)
    for verb in VERBS:
        assert (getattr(method, verb) is not getattr(Method, verb)) == (verb in family.verbs)
    assert method.has_triangles == ("contacts" in family.verbs)
    if method.remembers:
        assert method.new_memory.__func__ is not Method.new_memory.__func__  # type: ignore[attr-defined]


def test_the_names_are_those_of_the_annotation() -> None:
    assert {name for _, name in NAMES} == set(get_args(MethodName))
    assert all("auto" in family.methods for family in FAMILIES)


# ------------------------------------------------------------------- what is refused, in words


class Unequal(str):
    """A name of the caller's own class: it is a string all the same."""


@pytest.mark.parametrize("name", ["", "OBB", " obb", "quick", None, 3, True, 1.5, b"obb", ["obb"], {"obb"}, np.eye(2)])
@pytest.mark.parametrize("verb", VERBS)
def test_names_of_no_method(verb: str, name: Any) -> None:
    a, b = (BODIES["hull"],) * 2
    before = dict(direct(verb))
    with pytest.raises(ValueError, match=r"method .* is not one of auto, "):
        route(verb, a, b, name)
    extra = (0.5,) if verb == "closer_than" else ()
    with pytest.raises(ValueError, match=r"method .* is not one of auto, "):
        getattr(impinge, verb)(a, b, *extra, method=name)
    assert direct(verb) == before
    if verb == "collides":
        with pytest.raises(ValueError, match=r"method .* is not one of auto, "):
            Pair(a, b, name)


def test_a_string_of_another_class_is_a_name() -> None:
    assert route("collides", CUBE, CUBE, Unequal("obb")).method is MESHES.method("obb")
    assert impinge.collides(CUBE, CUBE, method=Unequal("obb"))  # type: ignore[arg-type]


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_no_body_is_named_before_all_else(verb: str) -> None:
    for nothing in (None, "part.stl", CUBE.vertices, Mesh, 3):
        for other in BODIES.values():
            with pytest.raises(ValueError, match=r"^a: expected .*Mesh.* got"):
                route(verb, nothing, other, "no such method")
            with pytest.raises(ValueError, match=r"^b: expected .*Mesh.* got"):
                route(verb, other, nothing, "no such method")


@pytest.mark.parametrize("mesh", ["mesh", "part"])
@pytest.mark.parametrize("verb", YES_OR_NO_AND_DISTANCES)
def test_a_mesh_with_convex_pieces_is_refused_in_words(verb: str, mesh: str) -> None:
    """Whatever the method: that is the second thing that is wrong."""
    for method in ("auto", "gjk", "obb", "no such method"):
        for a, b, name in ((mesh, "pieces", "b"), ("pieces", mesh, "a")):
            with pytest.raises(Unsupported, match=rf"\b{name} is ConvexPieces.*only together with.*ConvexHull"):
                route(verb, BODIES[a], BODIES[b], method)


@pytest.mark.parametrize("verb", ["contacts", "relation"])
def test_bodies_without_triangles_are_named(verb: str) -> None:
    for other in BODIES:
        with pytest.raises(Unsupported, match=r"\ba is ConvexPieces"):
            route(verb, BODIES["pieces"], BODIES[other])
        if other != "pieces":
            with pytest.raises(Unsupported, match=r"\bb is ConvexPieces"):
                route(verb, BODIES[other], BODIES["pieces"])


def test_penetration_names_the_body_that_is_not_a_hull() -> None:
    hull = BODIES["hull"]
    for other, words in (("mesh", "a mesh"), ("part", "a mesh"), ("pieces", "ConvexPieces")):
        with pytest.raises(Unsupported, match=rf"penetration: a is {words}.*convex hulls"):
            route("penetration", BODIES[other], hull)
        with pytest.raises(Unsupported, match=rf"penetration: b is {words}.*convex hulls"):
            route("penetration", hull, BODIES[other])


# ----------------------------------------------------------------------------- what is remembered


def test_only_bodies_that_take_part_as_they_are_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next query about such types takes the method from there, and hands it the bodies that it is given."""
    monkeypatch.setattr(dispatch, "_direct", {})
    for (a, b), verb in product(product(BODIES, repeat=2), VERBS):
        family = expected_family(a, b, verb)
        if family is None:
            continue
        for name in family.methods:
            route(verb, BODIES[a], BODIES[b], name)
        remembered = (type(BODIES[a]), type(BODIES[b]), "auto") in direct(verb)
        assert remembered == (family is not MESHES or "hull" not in (a, b))
    for verb in VERBS:
        for (type_a, type_b, name), (method, once) in direct(verb).items():
            a, b = (next(key for key, body in BODIES.items() if type(body) is kind) for kind in (type_a, type_b))
            family = expected_family(a, b, verb)
            assert family is not None
            assert method is family.method(name)
            assert once == getattr(method, f"{verb}_once", method)


@pytest.mark.parametrize(("a", "b"), [("mesh", "hull"), ("hull", "mesh"), ("hull", "hull")])
def test_a_hull_stands_for_its_faces_again_and_again(a: str, b: str) -> None:
    """Not only the first time, when the table is asked."""
    aside = np.eye(4)
    aside[0, 3] = 0.75
    first = impinge.contacts(BODIES[a], BODIES[b], None, aside)
    assert len(first) > 0
    for _ in range(3):
        again = impinge.contacts(BODIES[a], BODIES[b], None, aside)
        assert np.array_equal(first.face_a, again.face_a)
        assert np.array_equal(first.face_b, again.face_b)


# ------------------------------------------------------------------------------ a Pair and the verbs


def some_poses() -> Floats:
    """Apart, touching, overlapping, nested, and any."""
    poses = np.tile(np.eye(4), (6, 1, 1))
    poses[:, 0, 3] = [5.0, 1.0, 0.6, 0.0, 1.3, 0.0]
    poses[4, :2, :2] = [[0.6, -0.8], [0.8, 0.6]]
    poses[5, :3, 3] = 1.1, 1.2, -0.3
    return poses


def columns(found: Any) -> dict[str, Any]:
    """The arrays of a result."""
    if not dataclasses.is_dataclass(found):
        return {"answer": np.asarray(found)}
    parts: dict[str, Any] = {}
    for field in dataclasses.fields(found):
        value = getattr(found, field.name)
        if dataclasses.is_dataclass(value):
            parts |= {f"{field.name}.{name}": part for name, part in columns(value).items()}
        elif value is not None and not isinstance(value, (str, bool, tuple)):
            parts[field.name] = np.asarray(value)
    return parts


def same(one: Any, other: Any) -> bool:
    ours, theirs = columns(one), columns(other)
    return type(one) is type(other) and ours.keys() == theirs.keys() and all(
        np.array_equal(ours[name], theirs[name]) for name in ours
    )  # fmt: skip


@pytest.mark.nojit_slow
@pytest.mark.parametrize(("a", "b"), list(product(BODIES, repeat=2)))
def test_a_pair_and_a_verb_agree(a: str, b: str) -> None:
    """For every method that remembers, in one call and pose by pose."""
    one, other = BODIES[a], BODIES[b]
    family = expected_family(a, b, "collides")
    if family is None:
        with pytest.raises(Unsupported):
            Pair(one, other)
        return
    poses = some_poses()
    for name in family.methods:
        if not family.method(name).remembers:
            with pytest.raises(ValueError, match="remembers nothing"):
                Pair(one, other, name)
            continue
        for verb in VERBS:
            extra = (0.25,) if verb == "closer_than" else ()
            pair = Pair(one, other, name)
            if expected_family(a, b, verb) is None:
                with pytest.raises(Unsupported):
                    getattr(pair, verb)(None, poses)
                continue
            # Verbs that another family answers have no such method.
            method = name if expected_family(a, b, verb) is family else "auto"
            expected = getattr(impinge, verb)(one, other, *extra, None, poses, method=method)
            found = getattr(pair, verb)(*extra, None, poses)
            check_distances(found, expected) if verb == "distance" else check_same(found, expected)
            for pose in poses:
                single = getattr(impinge, verb)(one, other, *extra, None, pose, method=method)
                found = getattr(pair, verb)(*extra, None, pose)
                check_distances(found, single) if verb == "distance" else check_same(found, single)


def check_same(found: Any, expected: Any) -> None:
    if isinstance(expected, impinge.Penetration):  # begins with another simplex: other bounds, that overlap
        assert (found.lower <= expected.upper).all()
        assert (expected.lower <= found.upper).all()
    else:
        assert same(found, expected)


def check_distances(found: impinge.Distance, expected: impinge.Distance) -> None:
    """Of pairs at the same distance a Pair may name another one."""
    assert np.array_equal(found.value, expected.value)
    assert (found.feature_a is None) == (expected.feature_a is None)
    for name, part in columns(expected).items():
        assert columns(found)[name].shape == part.shape
        assert columns(found)[name].dtype == part.dtype


@pytest.mark.parametrize("method", [name for name in MESHES.methods if name != "brute"])
@pytest.mark.parametrize("swapped", [False, True])
def test_faces_of_a_hull_beside_a_mesh(method: str, swapped: bool) -> None:
    """Not triangles of its mesh: the nearest face of a box is a square, and both ways name it."""
    hull = BODIES["hull"]
    assert len(hull.faces) == 6 < len(hull.mesh.faces)
    offset = np.eye(4)
    # A small mesh over the middle of a face, whichever way that is cut in two.
    speck = shapes.box(0.01, 0.01, 0.01)
    for axis, sign in product(range(3), (1.0, -1.0)):
        offset[:3, 3] = 0.01, 0.02, 0.03
        offset[axis, 3] = 3.0 * sign
        bodies, poses = ((speck, hull), (offset, None)) if swapped else ((hull, speck), (None, offset))
        by_pair = Pair(*bodies, method).distance(*poses)
        by_verb = impinge.distance(*bodies, *poses, method=method)
        batch = impinge.distance(*bodies, *(pose if pose is None else pose[None] for pose in poses), method=method)
        for found in (by_pair, by_verb, batch):
            face = int(np.asarray(found.face_b if swapped else found.face_a).item())
            corners = hull.vertices[hull.faces[face]]
            assert len(corners) == 4
            assert (corners[:, axis] == sign * np.abs(hull.vertices[:, axis]).max()).all()
        assert by_pair.value == by_verb.value == batch.value[0]


def test_inside_a_hull_no_face_of_it_is_named() -> None:
    speck, hull = shapes.box(0.1, 0.1, 0.1), BODIES["hull"]
    for found in (impinge.distance(speck, hull), Pair(speck, hull).distance()):
        assert found.value == 0.0
        assert found.face_b == -1
        assert found.face_a >= 0
    for found in (impinge.distance(hull, speck), Pair(hull, speck).distance()):
        assert found.value == 0.0
        assert found.face_a == -1
        assert found.face_b >= 0
