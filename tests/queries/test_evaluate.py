"""Queries about batches of poses, for every method of every family: shapes, types, and threads that change nothing."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from impinge import Contacts, ConvexHull, ConvexPieces, Distance, Feature, FeatureKind, Penetration, shapes
from impinge.arrays import Floats
from impinge.lab.hard_input import random_pose
from impinge.queries import evaluate
from impinge.queries.dispatch import FAMILIES, HULLS, MESHES, PIECES, Family
from impinge.results import ContactKind

BODIES: dict[str, tuple[Any, Any]] = {
    MESHES.bodies: (shapes.prism([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]], 1), shapes.box(1, 1, 1)),
    HULLS.bodies: (ConvexHull(shapes.box(1, 2, 1)), ConvexHull(shapes.cone(1, 1, 5))),
    PIECES.bodies: (
        ConvexPieces([shapes.box(1, 1, 3), shapes.box(3, 1, 1)]),
        ConvexPieces([shapes.cone(0.5, 1, 4), shapes.box(0.5)]),
    ),
}
CASES = [
    (family, name, verb)
    for family in FAMILIES
    for name in family.methods
    for verb in sorted(family.verbs - {"relation"})  # which is evaluated by its verb
]
every_case = pytest.mark.parametrize(
    ("family", "name", "verb"),
    CASES,
    ids=[f"{family.bodies.split(',')[0]}-{name}-{verb}" for family, name, verb in CASES],
)
POSES = 6


@cache
def poses() -> Floats:
    """(2, 3, 4, 4): the first two apart, the third nested or overlapping, the others any."""
    rng = np.random.default_rng(3)
    made = np.array([random_pose(rng, 1.2) for _ in range(POSES)])
    made[:3] = np.eye(4)
    made[:3, 0, 3] = 9.0, 3.5, 0.2
    made.flags.writeable = False
    return made.reshape(2, 3, 4, 4)


def ask(family: Family, name: str, verb: str, pose: Any, workers: int = 1, **options: Any) -> Any:
    a, b = BODIES[family.bodies]
    method = family.method(name)
    batch = method.batch(a, b, None, pose, workers, **options)
    more: tuple[Any, ...] = {"closer_than": (0.5,), "contacts": (None,)}.get(verb, ())
    return getattr(evaluate, verb)(batch, method(a, b), *more)


def columns(found: Any) -> dict[str, tuple[Any, tuple[int, ...]]]:
    """The arrays of a result, each with the shape of one of its elements."""
    if isinstance(found, Distance):
        parts = {
            "value": (found.value, ()),
            "point_a": (found.point_a, (3,)),
            "point_b": (found.point_b, (3,)),
            "face_a": (found.face_a, ()),
            "face_b": (found.face_b, ()),
        }
        for side, feature in (("a", found.feature_a), ("b", found.feature_b)):
            if feature is not None:
                parts |= {f"kind_{side}": (feature.kind, ()), f"index_{side}": (feature.index, ())}
        return parts
    if isinstance(found, Penetration):
        scalars = {name: (getattr(found, name), ()) for name in ("depth", "lower", "upper")}
        return scalars | {name: (getattr(found, name), (3,)) for name in ("direction", "point_a", "point_b")}
    return {"answer": (found, ())}


def contact_rows(found: Contacts) -> list[Any]:
    names = ("pose", "face_a", "face_b", "kind", "segments", "normal")
    return [np.asarray(getattr(found, name)) for name in names]


def triples(found: Contacts) -> set[tuple[int, ...]]:
    """Pose, face of a and face of b."""
    return set(zip(found.pose.tolist(), found.face_a.tolist(), found.face_b.tolist(), strict=True))


def same_bits(one: Any, other: Any) -> bool:
    if isinstance(one, Contacts):
        return one.shape == other.shape and all(
            x.tobytes() == y.tobytes() for x, y in zip(contact_rows(one), contact_rows(other), strict=True)
        )
    ours, theirs = columns(one), columns(other)
    return ours.keys() == theirs.keys() and all(
        np.asarray(ours[name][0]).tobytes() == np.asarray(theirs[name][0]).tobytes() for name in ours
    )


@pytest.mark.nojit_slow
@every_case
def test_a_batch_is_its_single_poses(family: Family, name: str, verb: str) -> None:
    whole = ask(family, name, verb, poses())
    flat = poses().reshape(-1, 4, 4)
    if verb == "contacts":
        assert whole.shape == (2, 3)
        singles = [ask(family, name, verb, pose) for pose in flat]
        assert all(single.shape == () for single in singles)
        assert whole.pose.tolist() == [i for i, single in enumerate(singles) for _ in range(len(single))]
        assert len(set(whole.pose.tolist())) > 1
        for column, *parts in list(zip(*map(contact_rows, (whole, *singles)), strict=True))[1:]:
            assert np.array_equal(column, np.concatenate(parts))
        return
    answers = set()
    for i, pose in enumerate(flat):
        single = columns(ask(family, name, verb, pose))
        for part, (values, element) in columns(whole).items():
            assert values.shape == (2, 3, *element)
            assert np.array_equal(values.reshape(-1, *element)[i], np.asarray(single[part][0])), part
        answers.add(float(next(iter(single.values()))[0]) > 0.0)
    assert answers == {False, True}
    if verb in ("distance", "penetration"):
        between = np.linalg.norm(whole.point_a - whole.point_b, axis=-1)
        expected = whole.value if verb == "distance" else np.where(whole.depth > 0.0, whole.depth, between)
        assert np.allclose(between, expected, rtol=1e-12, atol=1e-14)


@every_case
def test_a_single_pose_gives_scalars(family: Family, name: str, verb: str) -> None:
    pose = poses()[0, 1]
    found = ask(family, name, verb, pose)
    if verb == "contacts":
        assert found.shape == ()
        assert found.complete
        return
    kinds = {"value": np.float64, "depth": np.float64, "answer": np.bool_, "face_a": np.int32, "index_a": np.int32}
    for part, (values, element) in columns(found).items():
        assert np.shape(values) == element
        if part in kinds:
            assert type(values) is kinds[part], part
    if verb == "distance" and family is not MESHES:
        assert isinstance(found.feature_a, Feature)
        assert isinstance(found.feature_a.kind, FeatureKind)
    elif verb == "distance":
        assert found.feature_a is None is found.feature_b


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3)])
@every_case
def test_no_poses_at_all(family: Family, name: str, verb: str, shape: tuple[int, ...]) -> None:
    nothing = np.empty((*shape, 4, 4))
    some = ask(family, name, verb, poses()[0, :1])
    for workers in (1, 3):
        found = ask(family, name, verb, nothing, workers)
        if verb == "contacts":
            assert found.shape == shape
            assert found.complete
            assert [column.dtype for column in contact_rows(found)] == [column.dtype for column in contact_rows(some)]
            assert [column.shape[1:] for column in contact_rows(found)] == [
                column.shape[1:] for column in contact_rows(some)
            ]
            assert len(found) == 0
            continue
        assert columns(found).keys() == columns(some).keys()
        for part, (values, element) in columns(found).items():
            assert values.shape == (*shape, *element)
            assert values.dtype == columns(some)[part][0].dtype


@pytest.mark.nojit_slow
@every_case
def test_threads_change_no_bit(family: Family, name: str, verb: str) -> None:
    alone = ask(family, name, verb, poses())
    for workers in (2, 3, 100):
        assert same_bits(ask(family, name, verb, poses(), workers), alone)


@every_case
def test_poses_broadcast(family: Family, name: str, verb: str) -> None:
    """(2, 1) against (1,) is (2, 1); the poses of the caller stay as they are."""
    a, b = BODIES[family.bodies]
    method = family.method(name)
    there, here = poses()[:, :1].copy(), np.eye(4)[None]
    kept = there.copy()
    batch = method.batch(a, b, here, there)
    more: tuple[Any, ...] = {"closer_than": (0.5,), "contacts": (None,)}.get(verb, ())
    found = getattr(evaluate, verb)(batch, method(a, b), *more)
    assert same_bits(found, ask(family, name, verb, kept))
    assert np.array_equal(there, kept)
    if verb == "contacts":
        assert found.shape == (2, 1)
    else:
        assert all(values.shape == (2, 1, *element) for values, element in columns(found).values())


@pytest.mark.parametrize("name", MESHES.methods)
def test_a_limit_of_contacts_keeps_the_first_poses(name: str) -> None:
    a, b = BODIES[MESHES.bodies]
    method = MESHES.method(name)
    path = np.tile(np.eye(4), (3, 1, 1))
    path[:, 0, 3] = 0.0, 9.0, 0.5
    every = evaluate.contacts(method.batch(a, b, None, path), method(a, b), None)
    assert every.complete
    total = len(every)
    for most in (0, 1, total - 1, total, total + 1):
        for workers in (1, 3):
            batch = method.batch(a, b, None, path, workers, in_one=True)
            found = evaluate.contacts(batch, method(a, b), most)
            assert len(found) == min(most, total)
            assert found.complete == (most >= total)
            assert set(found.kind.tolist()) <= set(map(int, ContactKind))
            assert triples(found) <= triples(every)
