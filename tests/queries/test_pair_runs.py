"""Every method along paths of hollow models, against brute force: from scratch, and remembering."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import impinge
from impinge import ConvexHull, Mesh, Pair
from impinge.arrays import Floats
from impinge.lab.hard_input import EXACT_ROTATIONS
from impinge.lab.scenes import chain, combs, hollows
from impinge.lab.scenes.poses import poses, turns
from impinge.lab.scenes.shapes import box

CLEARANCE = 0.125
PAIR_METHODS = ("obb", "incremental")
FROM_SCRATCH = ("obb", "incremental")


def sized(mesh: Mesh, size: float, solid: bool = True) -> Mesh:
    return Mesh(mesh.vertices * size, mesh.faces, solid=solid)


def opened(mesh: Mesh) -> Mesh:
    """Without every seventh triangle."""
    return Mesh(mesh.vertices, np.delete(mesh.faces, slice(None, None, 7), axis=0))


def soup() -> Mesh:
    corners = np.random.default_rng(5).integers(-4, 5, size=(8, 3, 3)) * 0.25
    corners[6, 2] = corners[6, 1]
    corners[7] = corners[0]
    return Mesh(corners.reshape(-1, 3), np.arange(24).reshape(8, 3))


BALL = hollows.golf_ball(1)
SHELLS = sized(hollows.nested_shells(2, sides=8), 0.25)
SPOOL = sized(hollows.spool(sides=8), 0.25)
COMB = sized(combs.comb(3), 0.25)
RING = sized(chain.ring(), 0.75)
MODELS: dict[str, tuple[Any, Any]] = {
    "balls": (BALL, BALL),
    "ball, shells": (BALL, SHELLS),
    "shells": (SHELLS, SHELLS),
    "spools": (SPOOL, SPOOL),
    "combs": (COMB, COMB),
    "rings": (RING, sized(chain.ring(), 0.75, solid=False)),
    "spool, small box": (SPOOL, box(0.25, 0.25, 0.25)),
    "shells, open ball": (SHELLS, opened(BALL)),
    "ring, soup": (RING, soup()),
    "open comb, box": (opened(COMB), box(1, 1, 1)),
    "hull, spool": (ConvexHull(BALL), SPOOL),
}


def path(seed: int, count: int, scale: float = 1.0) -> Floats:
    """Small steps through the other body, a jump every eighth step, and exact places between."""
    rng = np.random.default_rng(seed)
    turn, place = turns(rng.normal(size=3)), rng.uniform(-1.0, 1.0, size=3)
    found = np.empty((count, 4, 4))
    for i in range(count):
        if i % 8 == 0:
            place = rng.uniform(-1.25, 1.25, size=3)
        size = 10.0 ** rng.uniform(-5.0, -0.7)
        turn = turns(size * rng.normal(size=3)) @ turn
        place = place + size * rng.normal(size=3)
        found[i] = poses(turn, place * scale)
        if i % 8 == 5:
            found[i] = poses(EXACT_ROTATIONS[rng.integers(24)], (place * 4.0).round() * (0.25 * scale))
    return found


def assert_same_contacts(found: impinge.Contacts, expected: impinge.Contacts) -> None:
    for name in ("pose", "face_a", "face_b", "kind", "segments", "normal"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name


def assert_along(a: Any, b: Any, placed: Floats, pose_a: Floats | None, clearance: float) -> None:
    """Pairs that remember, pose by pose with the questions in turns; then all methods at once."""
    given = a, b, pose_a, placed
    collides = impinge.collides(*given, method="brute")
    contacts = impinge.contacts(*given, method="brute")
    distance = impinge.distance(*given, method="brute").value
    closer = impinge.closer_than(a, b, clearance, pose_a, placed, method="brute")
    pairs = [Pair(a, b, method=method) for method in PAIR_METHODS]
    for i, pose in enumerate(placed):
        for pair in pairs:
            if i % 3 != 1:
                assert pair.collides(pose_a, pose) == collides[i]
            if i % 3 != 2:
                own = contacts.pose == i
                found = pair.contacts(pose_a, pose)
                assert np.array_equal(found.face_a, contacts.face_a[own])
                assert np.array_equal(found.face_b, contacts.face_b[own])
                assert np.array_equal(found.kind, contacts.kind[own])
                assert np.array_equal(found.segments, contacts.segments[own])
            if i % 2:
                assert pair.distance(pose_a, pose).value == distance[i]
            assert pair.closer_than(clearance, pose_a, pose) == closer[i]
    for pair in pairs:
        assert np.array_equal(pair.collides(pose_a, placed), collides)
        assert_same_contacts(pair.contacts(pose_a, placed), contacts)
        assert np.array_equal(pair.distance(pose_a, placed).value, distance)
    for method in FROM_SCRATCH:
        assert np.array_equal(impinge.collides(*given, method=method), collides), method
        assert_same_contacts(impinge.contacts(*given, method=method), contacts)
        assert np.array_equal(impinge.distance(*given, method=method).value, distance), method
        assert np.array_equal(impinge.closer_than(a, b, clearance, pose_a, placed, method=method), closer), method


@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", MODELS)
def test_models_along_a_path(name: str) -> None:
    a, b = MODELS[name]
    placed = path(len(name), 40)
    assert_along(a, b, placed, None, CLEARANCE)
    assert_along(b, a, placed[:16], path(1, 1)[0], CLEARANCE)


@pytest.mark.nojit_slow
@pytest.mark.parametrize(("scale", "far"), [(1.0, 1e6), (1.0, 2.0**40), (2.0**-100, 0.0), (2.0**100, 0.0)])
@pytest.mark.parametrize("name", ["shells", "combs", "ring, soup"])
def test_far_tiny_and_huge(name: str, scale: float, far: float) -> None:
    a, b = (sized(each, scale, each.solid) for each in MODELS[name])
    placed, still = path(7, 16, scale), np.eye(4)
    placed[:, :3, 3] += far
    still[:3, 3] = far
    assert_along(a, b, placed, still, CLEARANCE * scale)


@pytest.mark.long
@pytest.mark.parametrize("name", MODELS)
def test_thousands_of_poses(name: str) -> None:
    a, b = MODELS[name]
    for seed in range(5):
        assert_along(a, b, path(100 + seed, 400), None, CLEARANCE)
