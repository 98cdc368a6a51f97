"""Trees of oriented boxes: single poses of solids, which count their inside, without a second search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import impinge
from impinge import Mesh, Pair, shapes
from impinge.arrays import Floats
from impinge.bvh.volumes import obb_kernels
from impinge.lab.scenes.shapes import blocks
from impinge.queries import evaluate

CUBE = shapes.box(1, 1, 1)
LARGE = shapes.box(4, 4, 4)
SHEET = shapes.heightfield([[0.0, 0.1], [0.2, 0.0]], 0.5)
"""An open surface of the size of the cube."""
ANGLE = shapes.prism([[0, 0], [4, 0], [4, 1], [1, 1], [1, 4], [0, 4]], 1)
SHELL = blocks((0, 1, 2, 3), (0, 1, 2, 3), (0, 1, 2, 3), filled=np.arange(27).reshape(3, 3, 3) != 13)
"""A body with a cavity, from (1, 1, 1) to (2, 2, 2)."""


def shifted(x: float, y: float = 0.0, z: float = 0.0) -> Floats:
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def turned(x: float, y: float = 0.0, z: float = 0.0) -> Floats:
    pose = shifted(x, y, z)
    pose[:2, :2] = [[0.6, -0.8], [0.8, 0.6]]
    return pose


def joined(*bodies: tuple[Mesh, tuple[float, float, float]]) -> Mesh:
    """Several solids as one of several components."""
    offsets = np.cumsum([0] + [len(mesh.vertices) for mesh, _ in bodies])
    vertices = np.concatenate([mesh.vertices + np.array(shift) for mesh, shift in bodies])
    faces = [mesh.faces + offset for (mesh, _), offset in zip(bodies, offsets, strict=False)]
    return Mesh(vertices, np.concatenate(faces), solid=True)


TWO = joined((CUBE, (0.0, 0.0, 0.0)), (CUBE, (9.0, 0.0, 0.0)))
ROWS: dict[str, tuple[Mesh, Mesh, Floats, bool]] = {
    "apart": (CUBE, LARGE, shifted(9.0), False),
    "apart, far": (CUBE, LARGE, shifted(1e9, -1e9), False),
    "apart by one ulp": (CUBE, CUBE, shifted(np.nextafter(1.0, 2.0)), False),
    "apart, boxes overlap": (CUBE, ANGLE, turned(3.0, 3.0), False),
    "nested": (CUBE, LARGE, shifted(0.3, -0.2, 0.1), True),
    "nested, turned": (CUBE, LARGE, turned(0.3, -0.2, 0.1), True),
    "nested by one ulp": (CUBE, LARGE, shifted(1.5 - 2.0**-51), True),
    "touching in a face": (CUBE, LARGE, shifted(2.5), True),
    "touching in a corner": (CUBE, LARGE, shifted(2.5, 2.5, 2.5), True),
    "touching from inside": (CUBE, LARGE, shifted(1.5), True),
    "overlapping": (CUBE, LARGE, turned(2.1, 0.3, 0.2), True),
    "identical": (CUBE, CUBE, np.eye(4), True),
    "in a cavity": (shapes.box(0.5), SHELL, shifted(1.5, 1.5, 1.5), False),
    "in the wall of a body with a cavity": (shapes.box(0.5), SHELL, shifted(0.5, 0.5, 0.5), True),
    "around a body with a cavity": (shapes.box(9.0), SHELL, shifted(1.5, 1.5, 1.5), True),
    "one of two components nested": (TWO, LARGE, np.eye(4), True),
    "the other one nested": (TWO, LARGE, shifted(-9.0), True),
    "neither component near": (TWO, LARGE, shifted(-4.6), False),
    "both components nested": (TWO, shapes.box(30.0), np.eye(4), True),
    "a component in each other's": (
        joined((CUBE, (0, 0, 0)), (LARGE, (20, 0, 0))), joined((LARGE, (0, 0, 0)), (CUBE, (20, 0, 0))), np.eye(4), True,
    ),
    "open surface inside": (SHEET, LARGE, shifted(0.2, 0.1, 0.5), True),
    "open surface apart": (SHEET, LARGE, shifted(0.2, 0.1, 5.0), False),
    "open surface through the boundary": (SHEET, LARGE, shifted(2.0), True),
    "closed surface around a solid": (Mesh(LARGE.vertices, LARGE.faces), CUBE, np.eye(4), False),
    "solid around a closed surface": (Mesh(CUBE.vertices, CUBE.faces), LARGE, np.eye(4), True),
}  # fmt: skip
"""Two bodies, the pose of the first, and whether they have a common point."""
CLEARANCES = (0.0, 2.0**-52, 0.5, 3.0)


@pytest.fixture(params=list(product(ROWS, (False, True))), ids=lambda p: p[0] + (", swapped" if p[1] else ""))
def row(request: pytest.FixtureRequest) -> tuple[Mesh, Mesh, Floats, Floats, bool]:
    """Two bodies with their trees and the workspace of the thread ready, so that single poses go straight."""
    name, swapped = request.param
    a, b, pose, meet = ROWS[name]
    for one, other in ((a, a), (b, b)):
        impinge.collides(one, other)
    return (b, a, np.eye(4), pose, meet) if swapped else (a, b, pose, np.eye(4), meet)


Ask = Callable[..., Any]


def test_a_single_pose_is_a_batch_of_one_is_brute_force(row: tuple[Mesh, Mesh, Floats, Floats, bool]) -> None:
    a, b, pose_a, pose_b, meet = row
    pair = Pair(a, b)
    batch = pose_a[None], pose_b[None]
    assert bool(impinge.collides(a, b, pose_a, pose_b)) is meet
    assert impinge.collides(a, b, *batch).tolist() == [meet]
    assert bool(impinge.collides(a, b, pose_a, pose_b, method="brute")) is meet
    assert bool(pair.collides(pose_a, pose_b)) is meet
    found = impinge.distance(a, b, pose_a, pose_b)
    of_batch = impinge.distance(a, b, *batch)
    brute = impinge.distance(a, b, pose_a, pose_b, method="brute")
    assert bool(found.value == 0.0) is meet
    assert found.value == brute.value == of_batch.value[0] == pair.distance(pose_a, pose_b).value
    for name in ("point_a", "point_b", "face_a", "face_b"):
        assert np.array_equal(getattr(found, name), getattr(of_batch, name)[0]), name
    for clearance in CLEARANCES:
        expected = bool(impinge.closer_than(a, b, clearance, pose_a, pose_b, method="brute"))
        assert expected is bool(brute.value <= clearance)
        assert bool(impinge.closer_than(a, b, clearance, pose_a, pose_b)) is expected
        assert impinge.closer_than(a, b, clearance, *batch).tolist() == [expected]
        assert bool(pair.closer_than(clearance, pose_a, pose_b)) is expected


def test_witness_points_of_nested_bodies(row: tuple[Mesh, Mesh, Floats, Floats, bool]) -> None:
    """One point of the inner body, and a face of it alone; where surfaces meet, of both."""
    a, b, pose_a, pose_b, meet = row
    found = impinge.distance(a, b, pose_a, pose_b)
    faces = int(found.face_a), int(found.face_b)
    surfaces_meet = len(impinge.contacts(a, b, pose_a, pose_b)) > 0
    if not meet or surfaces_meet:
        assert min(faces) >= 0
    else:
        assert min(faces) == -1 < max(faces)
        inner, pose, face = (a, pose_a, faces[0]) if faces[1] == -1 else (b, pose_b, faces[1])
        corners = inner.vertices[inner.faces[face]] @ pose[:3, :3].T + pose[:3, 3]
        assert np.abs(corners - found.point_a).max(axis=1).min() <= 1e-15 * max(1.0, np.abs(corners).max())
        outer = b if faces[1] == -1 else a
        assert outer.solid
    if meet:
        assert np.array_equal(found.point_a, found.point_b)
        assert not np.shares_memory(found.point_a, found.point_b)


class Calls:
    """Counts what the kernels of searches are asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count: Counter[str] = Counter()
        for name in ("collides", "closer_than", "distance", "contacts"):
            monkeypatch.setattr(obb_kernels, name, self._counted(name, getattr(obb_kernels, name)))
        for name in ("collides", "closer_than", "distance", "contacts"):
            monkeypatch.setattr(evaluate, name, self._counted(f"batch of {name}", getattr(evaluate, name)))

    def _counted(self, name: str, kernel: Ask) -> Ask:
        def ask(*arguments: Any) -> Any:
            self.count[name] += 1
            return kernel(*arguments)

        return ask

    def during(self, ask: Ask) -> dict[str, int]:
        self.count.clear()
        ask()
        return dict(self.count)


def test_a_single_pose_is_searched_once(
    row: tuple[Mesh, Mesh, Floats, Floats, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b, *poses, _ = row
    pair = Pair(a, b)
    pair.collides(*poses)
    calls = Calls(monkeypatch)
    for one in (impinge, pair):
        bodies = (a, b) if one is impinge else ()
        assert calls.during(lambda ask=one.collides, of=bodies: ask(*of, *poses)) == {"collides": 1}
        assert calls.during(lambda ask=one.distance, of=bodies: ask(*of, *poses)) == {"distance": 1}
        for clearance in CLEARANCES:
            ask = one.closer_than
            assert calls.during(lambda: ask(*bodies, clearance, *poses)) == {"closer_than": 1}  # noqa: B023


def test_the_counting_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch of one is one search by way of ``evaluate``."""
    impinge.collides(CUBE, LARGE)
    calls = Calls(monkeypatch)
    for verb, extra in (("collides", ()), ("distance", ()), ("closer_than", (0.5,))):
        asked = calls.during(lambda: getattr(impinge, verb)(CUBE, LARGE, *extra, np.eye(4)[None]))  # noqa: B023
        assert asked == {verb: 1, f"batch of {verb}": 1}


def test_poses_of_the_workspace_are_those_that_were_asked() -> None:
    """Tests of the inside come after the search, and use its poses: those of the query before must not be left."""
    impinge.collides(CUBE, LARGE)
    pair = Pair(CUBE, LARGE)
    rng = np.random.default_rng(2)
    for _ in range(60):
        pose_a, pose_b = turned(*rng.uniform(-3, 3, 3)), shifted(*rng.uniform(-3, 3, 3))
        expected = bool(impinge.collides(CUBE, LARGE, pose_a, pose_b, method="brute"))
        value = impinge.distance(CUBE, LARGE, pose_a, pose_b, method="brute").value
        for one, of in ((impinge, (CUBE, LARGE)), (pair, ())):
            assert bool(one.collides(*of, pose_a, pose_b)) is expected  # type: ignore[arg-type]
            assert one.distance(*of, pose_a, pose_b).value == value  # type: ignore[arg-type]
            assert bool(one.closer_than(*of, 0.0, pose_a, pose_b)) is expected  # type: ignore[arg-type]
