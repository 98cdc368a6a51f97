"""The bouncing body: it stays near the surface, and its energy never grows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impinge.arrays import Floats
from impinge.geometry.pose import posed_vertices
from impinge.lab.scenes.bounce import BouncingBody, Downward, Gravity, Inward, bounces
from impinge.lab.scenes.poses import poses, turns
from impinge.lab.scenes.shapes import box, torus
from impinge.mesh.mesh import Mesh
from impinge.queries.verbs import contacts
from impinge.results import Contacts

FLOOR = Mesh([[-9, -9, 0], [9, -9, 0], [9, 9, 0], [-9, 9, 0]], [[0, 1, 2, 3]])
TILTED = turns([0.4, 0.2, 0.1])


def made_contacts(points: Floats, normals: Floats) -> Contacts:
    count = len(points)
    return Contacts(
        pose=np.zeros(count, dtype=np.int64),
        face_a=np.zeros(count, dtype=np.int32),
        face_b=np.zeros(count, dtype=np.int32),
        segments=np.stack([points, points], axis=1),
        normal=normals,
        kind=np.zeros(count, dtype=np.int8),
        shape=(),
    )


NO_CONTACTS = made_contacts(np.zeros((0, 3)), np.zeros((0, 3)))


def test_without_gravity_a_body_goes_straight_and_keeps_its_energy() -> None:
    body = BouncingBody(box(1, 2, 3), np.eye(4), Downward(0.0), 0.5, velocity=(1, 0, 0), spin=(1.0, 2.0, -0.5))
    energy, start = body.energy, body.position
    for _ in range(1000):
        body.step(0.01, NO_CONTACTS)
        assert abs(body.energy / energy - 1.0) < 1e-4
    assert np.allclose(body.position - start, [10.0, 0.0, 0.0])
    turn = body.pose[:3, :3]
    assert np.abs(turn.T @ turn - np.eye(3)).max() < 1e-12
    assert not np.allclose(turn, np.eye(3), atol=0.1)


@pytest.mark.parametrize("gravity", [Downward(2.0), Inward(0.3)])
def test_falling_takes_its_time(gravity: Gravity) -> None:
    body = BouncingBody(box(1, 1, 1), poses(np.eye(3), [-0.5, -0.5, 3.5]), gravity, 0.5)
    assert body.position.tolist() == [0.0, 0.0, 4.0]
    energy = body.energy
    for _ in range(1000):
        body.step(0.001, NO_CONTACTS)
        assert body.energy <= energy * (1.0 + 1e-3)
    expected = 3.0 if isinstance(gravity, Downward) else 4.0 * np.cos(np.sqrt(0.3))
    assert body.position == pytest.approx([0.0, 0.0, expected], abs=5e-3)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("restitution", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("mesh", [box(1, 1, 1), torus(1.0, 0.3, 16, 8)], ids=["box", "torus"])
def test_a_body_bounces_comes_to_rest_and_never_sinks_in(mesh: Mesh, restitution: float) -> None:
    body = BouncingBody(mesh, poses(TILTED, [0.0, 0.0, 1.5]), Downward(1.0), restitution, spin=(0.5, 0.0, 1.0))
    first = body.energy
    energy, lowest, touching = [], [], 0
    for pose, found in bounces(body, lambda pose: contacts(mesh, FLOOR, pose), 0.01, 1500):
        energy.append(body.energy)
        lowest.append(posed_vertices(pose, mesh.vertices)[:, 2].min())
        touching += len(found) > 0
    assert touching > 10
    # A step at the highest speed, about 2, is 0.02 long: no point is ever deeper than that.
    assert min(lowest) > -0.03
    assert max(energy) <= first * (1.0 + 1e-3)
    grown = np.diff(energy)
    assert grown.max() < 1e-3 * first
    if restitution < 0.9:
        assert abs(np.mean(lowest[-200:])) < 0.01
        assert energy[-1] < 0.6 * first


@pytest.mark.nojit_slow
def test_a_perfect_bounce_loses_no_energy() -> None:
    mesh = box(1, 1, 1)
    body = BouncingBody(mesh, poses(TILTED, [0.0, 0.0, 1.0]), Downward(1.0), 1.0)
    energy, start = body.energy, body.position[2]
    heights = []
    for _ in bounces(body, lambda pose: contacts(mesh, FLOOR, pose), 0.002, 2000):
        heights.append(body.position[2])
        assert body.energy == pytest.approx(energy, rel=0.01)
    assert min(heights) < 0.9
    assert max(heights) < start * 1.01
    assert max(heights[1000:]) > 1.0


@pytest.mark.nojit_slow
def test_a_motion_is_the_same_every_time() -> None:
    mesh = torus(1.0, 0.3, 12, 8)

    def path() -> list[Floats]:
        body = BouncingBody(mesh, poses(TILTED, [0.0, 0.0, 1.0]), Downward(1.0), 0.5, spin=(0.0, 1.0, 0.0))
        return [pose for pose, _ in bounces(body, lambda pose: contacts(mesh, FLOOR, pose), 0.02, 200)]

    assert np.array_equal(path(), path())


def test_no_point_goes_farther_than_the_stride() -> None:
    mesh = box(1, 2, 3)
    start = poses(TILTED, [0.0, 0.0, 0.0])
    body = BouncingBody(mesh, start, Downward(5.0), 0.5, stride=0.01, velocity=(3, 0, 0), spin=(0, 2, 1))
    before = posed_vertices(body.pose, mesh.vertices)
    for _ in range(100):
        body.step(0.1, NO_CONTACTS)
        after = posed_vertices(body.pose, mesh.vertices)
        moved = np.linalg.norm(after - before, axis=1).max()
        assert 0.0 < moved <= 0.01 * (1.0 + 1e-9)
        before = after


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1))
def test_impulses_end_the_approach_and_take_energy_away(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mesh = box(*rng.uniform(0.5, 3.0, 3))
    start = poses(turns(rng.normal(size=3)), rng.normal(size=3))
    body = BouncingBody(
        mesh, start, Downward(0.0), rng.uniform(0.0, 1.0), velocity=rng.normal(size=3), spin=rng.normal(size=3)
    )
    count = rng.integers(1, 6)
    # Normals of half a space: the body can always get away.
    normals = rng.normal(size=(count, 3)) * [1.0, 1.0, 0.0] + [0.0, 0.0, 2.0]
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    points = posed_vertices(start, mesh.vertices[rng.integers(0, len(mesh.vertices), count)])
    energy, arms = body.energy, points - body.position
    body.step(0.0, made_contacts(points, normals))
    assert body.energy <= energy * (1.0 + 1e-12)
    approach = np.einsum("ij,ij->i", normals, body.velocity + np.cross(body.spin, arms))
    assert approach.min() >= -1e-6


@pytest.mark.parametrize("restitution", [-0.1, 1.1, float("nan")])
def test_restitution_is_checked(restitution: float) -> None:
    with pytest.raises(ValueError, match="restitution is"):
        BouncingBody(box(1, 1, 1), np.eye(4), Downward(1.0), restitution)
