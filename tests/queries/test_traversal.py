"""A traversal under a budget: stopped and resumed as often as one likes, it ends with the answers of the verbs."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import impinge
from impinge import Mesh
from impinge.lab.hard_input import random_pose
from impinge.lab.scenes.shapes import box, torus
from impinge.queries.traversal import Traversal

Floats = NDArray[np.float64]
RING = torus(1.0, 0.3, 12, 8)
CUBE = box(1, 1, 1)


def shift(x: float, y: float = 0.0, z: float = 0.0) -> Floats:
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def columns(contacts: impinge.Contacts) -> list[list[float]]:
    return np.column_stack(
        [contacts.face_a, contacts.face_b, contacts.kind, contacts.segments.reshape(-1, 6), contacts.normal]
    ).tolist()


@pytest.mark.nojit_slow
@pytest.mark.parametrize("tests", [1, 7, 100, 10**9])
def test_contacts_in_steps(tests: int) -> None:
    rng = np.random.default_rng(1)
    for _ in range(3):
        pose = random_pose(rng, 0.5)
        expected = columns(impinge.contacts(RING, CUBE, pose))
        search = Traversal(RING, CUBE, pose)
        assert not search.done
        seen: list[list[float]] = []
        runs = 0
        while not search.run(tests=tests):
            now = columns(search.contacts)
            assert not search.contacts.complete
            assert all(row in now for row in seen)
            seen = now
            runs += 1
            assert runs < 100_000
        assert search.done
        assert search.contacts.complete
        assert columns(search.contacts) == expected
        assert search.statistics.contacts == len(expected)
        before = search.statistics
        assert search.run(tests=tests)  # nothing is left to do
        assert search.statistics == before
        assert columns(search.contacts) == expected
        assert runs > 3 or tests > 7


@pytest.mark.nojit_slow
@pytest.mark.parametrize("tests", [1, 7, 100, 10**9])
def test_distance_in_steps(tests: int) -> None:
    rng = np.random.default_rng(2)
    for reach in (0.5, 2.0, 2.0, 5.0):
        pose = random_pose(rng, reach)
        expected = impinge.distance(Mesh(RING.vertices, RING.faces), Mesh(CUBE.vertices, CUBE.faces), pose)
        search = Traversal(RING, CUBE, pose, question="distance")
        assert search.lower == 0.0
        assert search.upper == np.inf
        lower, upper = 0.0, np.inf
        runs = 0
        while not search.run(tests=tests):
            assert search.lower <= expected.value <= search.upper <= upper
            assert search.distance.value == search.upper
            lower, upper = search.lower, search.upper
            runs += 1
            assert runs < 100_000
        assert search.lower == search.upper == expected.value
        found = search.distance
        assert np.array_equal(found.point_a, expected.point_a) or expected.value == 0.0
        assert np.array_equal(found.point_b, expected.point_b) or expected.value == 0.0
        if expected.value > 0.0:
            assert (found.face_a, found.face_b) == (expected.face_a, expected.face_b)
        assert lower >= 0.0


@pytest.mark.nojit_slow
def test_more_contacts_than_there_is_room_for() -> None:
    flat = np.repeat(np.array([[[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]]), 150, axis=0)
    mesh = Mesh(flat.reshape(-1, 3), np.arange(450).reshape(-1, 3))
    search = Traversal(mesh, mesh)
    while not search.run(tests=300):
        impinge.collides(CUBE, CUBE)
        assert impinge.distance(CUBE, RING, shift(7.0)).value > 1.0
    assert len(search.contacts) == 150 * 150


def test_no_time_at_all_and_then_all_of_it() -> None:
    search = Traversal(CUBE, CUBE, None, shift(0.5))
    assert not search.run(tests=0)
    assert not search.run(seconds=0.0, tests=0)
    assert search.statistics.box_tests == 0
    assert len(search.contacts) == 0
    assert search.run(seconds=1000.0)
    assert columns(search.contacts) == columns(impinge.contacts(CUBE, CUBE, None, shift(0.5)))


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="question"):
        Traversal(CUBE, CUBE, question="collides")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="single poses"):
        Traversal(CUBE, CUBE, np.eye(4)[None])
    with pytest.raises(ValueError, match="pose_a"):
        Traversal(CUBE, CUBE, np.eye(3))
    with pytest.raises(ValueError, match="a: expected Mesh"):
        Traversal("a", CUBE)  # type: ignore[arg-type]
    about_contacts, about_distance = Traversal(CUBE, CUBE), Traversal(CUBE, CUBE, question="distance")
    for bad in (-1, -0.5, float("nan"), "1", [1], True, 1j):
        with pytest.raises(ValueError, match="seconds"):
            about_contacts.run(seconds=bad)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="tests"):
            about_contacts.run(tests=bad)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"tests is 1.5"):  # half a test is never done
        about_contacts.run(tests=1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="about contacts"):
        about_contacts.distance  # noqa: B018
    with pytest.raises(ValueError, match="about contacts"):
        about_contacts.lower  # noqa: B018
    with pytest.raises(ValueError, match="about distance"):
        about_distance.contacts  # noqa: B018
    with pytest.raises(ValueError, match="before the first run"):
        about_distance.distance  # noqa: B018


def test_bodies_without_triangles_of_their_own_are_named() -> None:
    hull = impinge.ConvexHull(CUBE)
    pieces = impinge.ConvexPieces([hull])
    for a, b, sentence in (
        (hull, CUBE, "a is a ConvexHull.* pass a.mesh"),
        (CUBE, hull, "b is a ConvexHull.* pass b.mesh"),
        (hull, hull, "a is a ConvexHull"),
        (pieces, CUBE, r"a is ConvexPieces.* pass a.pieces\[i\].mesh"),
        (CUBE, pieces, "b is ConvexPieces"),
        (hull, pieces, "a is a ConvexHull"),
    ):
        for question in ("contacts", "distance"):
            with pytest.raises(impinge.Unsupported, match=sentence):
                Traversal(a, b, question=question)  # type: ignore[arg-type]
    assert Traversal(hull.mesh, pieces.pieces[0].mesh).run()
