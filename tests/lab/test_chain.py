"""The chain of rings: rigid motion that loses nothing, and rings that stay interlocked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import impinge
from impinge.arrays import Floats
from impinge.lab.scenes.chain import RADIUS, SPACING, STRIDE, TUBE_RADIUS, Chain, linked, near_pairs, record, ring
from impinge.lab.scenes.poses import poses, random_turns, turns
from impinge.results import Contacts

UPRIGHT = turns([0.5 * np.pi, 0.0, 0.0])


def one_contact(point: Floats, normal: Floats) -> Contacts:
    return Contacts(
        pose=np.zeros(1, dtype=np.int64),
        face_a=np.zeros(1, dtype=np.int32),
        face_b=np.zeros(1, dtype=np.int32),
        segments=np.stack([point, point])[None],
        normal=normal[None] / np.linalg.norm(normal),
        kind=np.zeros(1, dtype=np.int8),
        shape=(),
    )


def momenta(chain: Chain) -> tuple[Floats, Floats]:
    """Of the whole chain: linear, and angular about the origin."""
    linear = chain._mass * chain.velocities
    return linear.sum(axis=0), (np.cross(chain.middles, linear) + chain._momenta).sum(axis=0)


def test_a_ring_is_a_closed_torus_of_400_polygons() -> None:
    mesh = ring()
    assert len(mesh.faces) == int(mesh.polygon.max()) + 1 == 400
    assert mesh.is_closed
    assert 0.8 < mesh.volume / (2.0 * np.pi**2 * RADIUS * TUBE_RADIUS**2) < 1.0
    assert mesh.inertia == pytest.approx(np.diag(np.diag(mesh.inertia)), abs=1e-12)
    assert mesh.inertia[0, 0] == pytest.approx(mesh.inertia[1, 1], rel=1e-12)


@pytest.mark.parametrize("count", [2, 7, 8])
def test_chains_begin_linked_and_with_room(count: int) -> None:
    chain, again = Chain(count), Chain(count)
    placed = chain.poses
    assert np.array_equal(placed, again.poses)
    assert linked(placed[:-1], placed[1:]).all()
    assert not linked(placed[:-2], placed[2:]).any()
    assert chain.energy > 0.0
    assert momenta(chain)[0] == pytest.approx(np.zeros(3), abs=1e-12)
    assert set(near_pairs(placed)) == {(i, i + 1) for i in range(count - 1)}
    assert not np.array_equal(Chain(count, seed=1).velocities, chain.velocities)


def test_a_chain_has_a_ring() -> None:
    with pytest.raises(ValueError, match="count is 0"):
        Chain(0)


@pytest.mark.parametrize(
    ("shift", "turn", "expected"),
    [
        ([RADIUS, 0.0, 0.0], UPRIGHT, True),
        ([0.2, 0.0, 0.0], UPRIGHT, True),  # it passes the plane at 1.2, outside, and at -0.8
        ([0.0, 0.0, 0.5], np.eye(3), False),
        ([3.0, 0.0, 0.0], UPRIGHT, False),
        ([0.0, 0.0, 1.5], UPRIGHT, False),
    ],
)
def test_which_rings_are_linked(shift: list[float], turn: Floats, expected: bool) -> None:
    other = poses(turn, shift)
    assert bool(linked(np.eye(4), other)) is expected
    assert bool(linked(other, np.eye(4))) is expected


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1))
def test_linked_is_symmetric_and_moves_along(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b, common = poses(random_turns(rng, 3), rng.uniform(-1.5, 1.5, (3, 3)))
    answer = bool(linked(a, b))
    assert answer == bool(linked(b, a)) == bool(linked(common @ a, common @ b))


def test_free_rings_keep_energy_and_momentum_to_the_last_digits() -> None:
    chain = Chain(3)
    energy, angular = chain.energy, momenta(chain)[1]
    before, clock = chain.middles, 0.0
    for _ in range(500):
        clock += chain.step(0.05, [])
    assert chain.energy == pytest.approx(energy, rel=1e-12)
    assert momenta(chain)[1] == pytest.approx(angular, abs=1e-10)
    assert chain.middles == pytest.approx(before + clock * chain.velocities, abs=1e-10)
    turned = chain.poses[:, :3, :3]
    assert np.abs(turned.swapaxes(1, 2) @ turned - np.eye(3)).max() < 1e-12


def test_a_free_ring_turns_at_the_rate_of_its_spin() -> None:
    """The closed form of the motion against small steps of the spin."""
    chain = Chain(1)
    turned = chain.poses[0, :3, :3]
    chain.step(1e-6, [])
    spin = chain.spins[0]
    assert chain.poses[0, :3, :3] == pytest.approx(turns(1e-6 * spin) @ turned, abs=1e-11)


def test_no_point_goes_farther_than_a_stride() -> None:
    chain = Chain(2)
    chain.velocities *= 100.0
    corners = chain.mesh.vertices
    before = chain.poses
    assert chain.step(1.0, []) < 1.0
    for old, new in zip(before, chain.poses, strict=True):
        way = corners @ (new - old)[:3, :3].T + (new - old)[:3, 3]
        assert np.linalg.norm(way, axis=1).max() <= STRIDE * (1.0 + 1e-9)


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1))
def test_an_impulse_turns_the_approach_around_and_costs_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    chain = Chain(2, seed=seed)
    point, normal = rng.normal(size=3), rng.normal(size=3)
    contact = one_contact(point, normal)
    normal = contact.normal[0]

    def approach() -> float:
        speeds = chain.velocities + np.cross(chain.spins, point - chain.middles)
        return float(normal @ (speeds[0] - speeds[1]))

    energy, both, before = chain.energy, momenta(chain), approach()
    chain._bounce(chain._touching([(0, 1, contact)]))
    assert approach() == pytest.approx(abs(before), rel=1e-9, abs=1e-9)
    assert chain.energy == pytest.approx(energy, rel=1e-12)
    for now, then in zip(momenta(chain), both, strict=True):
        assert now == pytest.approx(then, abs=1e-12)


@pytest.mark.nojit_slow
def test_a_motion_keeps_its_energy_and_the_rings_linked() -> None:
    chain = Chain(3)

    def touch(a: int, b: int, pose_a: Floats, pose_b: Floats) -> Contacts:
        return impinge.contacts(chain.mesh, chain.mesh, pose_a, pose_b)

    motion = record(chain, touch, 0.05, 300)
    assert motion.poses.shape == (300, 3, 4, 4)
    assert motion.stays_linked()
    assert np.abs(motion.energy / motion.energy[0] - 1.0).max() < 1e-11
    assert 0 < np.count_nonzero(motion.contacts) < 300
    pairs = motion.pairs()
    assert {(0, 1), (1, 2)} <= pairs.keys()
    assert all((np.diff(when) > 0).all() for when in pairs.values())
    assert np.ptp(motion.poses[:, 1, 0, 3]) < 2.0 * SPACING
