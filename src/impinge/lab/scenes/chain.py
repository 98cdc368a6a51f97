"""A chain of interlocked rings that fly, turn and collide elastically: Ponamgi, Manocha and Lin (1995), section 5.

Each ring is a torus of 400 polygons.  The faces of the library are triangles, so these are 20 by 10 quads, each
in two halves: there are as many boxes to sort as in the paper.  There is no gravity; every ring gets a velocity and a
spin at first.  Where rings meet, impulses turn every approach around, so nothing is lost:

* between collisions a ring is a free symmetric top, whose motion has a closed form: it turns about its angular
  momentum, which stays where it is, and about its own axis, both at a constant rate;
* an impulse that reverses the approach at a contact changes momentum, not energy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.arrays import Bools, Floats
from impinge.lab.scenes.poses import poses, turns
from impinge.mesh.mesh import Mesh
from impinge.results import Contacts

RADIUS = 1.0
"""From the middle of the ring to the middle of the tube."""
TUBE_RADIUS = 0.25
SIDES, TUBE_SIDES = 20, 10
SPACING = 1.35
"""Of the middles at first; leaves more than half a radius of a tube free around every tube."""
STRIDE = 0.06
"""No point of a ring moves farther in a step: far less than a tube, so that none can pass through another."""

_MOST_IMPULSES = 300
"""In one step.  Where contacts work against each other, as in a wedge, rings rattle: the rest waits for the next."""
_AT_REST = 1e-9
"""Approaches slower than this part of the fastest speed are roundings."""

Touch = Callable[[int, int, Floats, Floats], Contacts]
"""From the numbers of two rings and their poses (4, 4) to the contacts between them."""


def ring() -> Mesh:
    """A torus of 400 triangles around the z axis."""
    around = np.arange(SIDES) * (2.0 * np.pi / SIDES)
    tube = np.arange(TUBE_SIDES) * (2.0 * np.pi / TUBE_SIDES)
    reach = np.broadcast_to(RADIUS + TUBE_RADIUS * np.cos(tube), (SIDES, TUBE_SIDES))
    height = np.broadcast_to(TUBE_RADIUS * np.sin(tube), (SIDES, TUBE_SIDES))
    corners = np.stack([reach * np.cos(around)[:, None], reach * np.sin(around)[:, None], height], axis=-1)
    index = np.arange(SIDES * TUBE_SIDES).reshape(SIDES, TUBE_SIDES)
    there = np.roll(index, -1, axis=0)
    opposite = np.roll(there, -1, axis=1)
    halves = np.stack([index, there, opposite, index, opposite, np.roll(index, -1, axis=1)], axis=-1)
    return Mesh(corners.reshape(-1, 3), halves.reshape(-1, 3))


def linked(pose_a: ArrayLike, pose_b: ArrayLike) -> Bools:
    """Whether two rings (..., 4, 4) are interlocked: the middle line of b passes once through the disc in a.

    >>> upright, aside = poses(turns([0.5 * np.pi, 0.0, 0.0]), [1.0, 0.0, 0.0]), poses(np.eye(3), [3.0, 0.0, 0.0])
    >>> bool(linked(np.eye(4), upright)), bool(linked(np.eye(4), aside))
    (True, False)
    """
    a, b = np.asarray(pose_a, dtype=np.float64), np.asarray(pose_b, dtype=np.float64)
    seen = np.linalg.inv(a) @ b
    middle, u, v = seen[..., :3, 3], RADIUS * seen[..., :3, 0], RADIUS * seen[..., :3, 1]
    # Heights over the plane of a: middle + swing * cos(angle - highest); zero at two angles, or nowhere.
    swing, highest = np.hypot(u[..., 2], v[..., 2]), np.arctan2(v[..., 2], u[..., 2])
    crosses = np.abs(middle[..., 2]) < swing
    half = np.arccos(np.where(crosses, -middle[..., 2], 0.0) / np.where(crosses, swing, 1.0))
    inside = []
    for angle in (highest + half, highest - half):
        place = middle + np.cos(angle)[..., None] * u + np.sin(angle)[..., None] * v
        inside.append(np.hypot(place[..., 0], place[..., 1]) < RADIUS)
    passes: Bools = crosses & (inside[0] != inside[1])
    return passes


def near_pairs(placed: Floats) -> list[tuple[int, int]]:
    """Which rings (n, 4, 4) have overlapping boxes."""
    axis = placed[:, :3, 2]
    reach = RADIUS * np.sqrt(np.maximum(1.0 - axis**2, 0.0)) + TUBE_RADIUS
    first, second = np.triu_indices(len(placed), 1)
    gap = np.abs(placed[first, :3, 3] - placed[second, :3, 3]) - (reach[first] + reach[second])
    close = (gap <= 0.0).all(axis=1)
    return list(zip(first[close].tolist(), second[close].tolist(), strict=True))


class _Touching(NamedTuple):
    """All contacts of a step, of ring a with ring b."""

    a: NDArray[np.int64]
    b: NDArray[np.int64]
    normal: Floats
    lever_a: Floats
    lever_b: Floats
    response: Floats
    """What a unit impulse changes in the approach at its own contact."""


class Chain:
    """The state of all rings; the same seed gives the same motion."""

    def __init__(self, count: int, seed: int = 0) -> None:
        if count < 1:
            raise ValueError(f"count is {count}; a chain has one ring or more")
        rng = np.random.default_rng([seed, count])
        self.mesh = ring()
        self._mass = self.mesh.volume
        self._across, self._axial = float(self.mesh.inertia[0, 0]), float(self.mesh.inertia[2, 2])
        self.middles: Floats = SPACING * np.arange(count)[:, None] * np.array([1.0, 0.0, 0.0])
        self.velocities: Floats = rng.normal(size=(count, 3))
        self.velocities -= self.velocities.mean(axis=0)  # the chain stays where it is
        # Every other ring stands upright.
        self._turned = turns(np.arange(count)[:, None] % 2 * np.array([0.5 * np.pi, 0.0, 0.0]))
        self._momenta = self._across * rng.normal(size=(count, 3))

    @property
    def poses(self) -> Floats:
        """(n, 4, 4) now."""
        return poses(self._turned, self.middles)

    @property
    def spins(self) -> Floats:
        """(n, 3) angular velocities."""
        axis = self._turned[:, :, 2]
        along = np.einsum("ij,ij->i", axis, self._momenta)[:, None] * axis
        spins: Floats = (self._momenta - along) / self._across + along / self._axial
        return spins

    @property
    def energy(self) -> float:
        """All of it is kinetic."""
        return float(
            0.5 * self._mass * np.vdot(self.velocities, self.velocities) + 0.5 * np.vdot(self.spins, self._momenta)
        )

    def step(self, duration: float, contacts: Sequence[tuple[int, int, Contacts]]) -> float:
        """Bounce and move on, given the contacts of the present poses; returns by how much the clock has advanced.

        By ``duration``, or by less where some point would move farther than STRIDE.
        """
        if contacts:
            self._bounce(self._touching(contacts))
        fastest = self._fastest()
        if duration * fastest > STRIDE:
            duration = STRIDE / fastest
        self.middles = self.middles + duration * self.velocities
        axial = np.einsum("ij,ij->i", self._turned[:, :, 2], self._momenta)
        rate = (1.0 / self._axial - 1.0 / self._across) * axial
        about_axis = turns(duration * rate[:, None] * np.array([0.0, 0.0, 1.0]))
        self._turned = turns(duration / self._across * self._momenta) @ self._turned @ about_axis
        return duration

    def _fastest(self) -> float:
        """No point of any ring is faster."""
        speed = np.linalg.norm(self.velocities, axis=1) + np.linalg.norm(self.spins, axis=1) * (RADIUS + TUBE_RADIUS)
        return float(speed.max())

    def _touching(self, contacts: Sequence[tuple[int, int, Contacts]]) -> _Touching:
        a = np.concatenate([np.full(len(found), a) for a, _, found in contacts])
        b = np.concatenate([np.full(len(found), b) for _, b, found in contacts])
        point = np.concatenate([found.segments.mean(axis=1) for *_, found in contacts])
        normal = np.concatenate([found.normal for *_, found in contacts])
        lever_a, lever_b = (np.cross(point - self.middles[body], normal) for body in (a, b))
        response = 2.0 / self._mass + self._softness(a, lever_a) + self._softness(b, lever_b)
        return _Touching(a, b, normal, lever_a, lever_b, response)

    def _softness(self, body: NDArray[np.int64], lever: Floats) -> Floats:
        along = np.einsum("ij,ij->i", self._turned[body, :, 2], lever) ** 2
        softness: Floats = (np.einsum("ij,ij->i", lever, lever) - along) / self._across + along / self._axial
        return softness

    def _bounce(self, touching: _Touching) -> None:
        """An impulse at the contact that approaches fastest, and again, until none approaches."""
        a, b, normal, lever_a, lever_b, response = touching
        for _ in range(_MOST_IMPULSES):
            spins = self.spins
            approach = np.einsum("ij,ij->i", normal, self.velocities[a] - self.velocities[b])
            approach += np.einsum("ij,ij->i", lever_a, spins[a]) - np.einsum("ij,ij->i", lever_b, spins[b])
            k = int(approach.argmin())
            if approach[k] >= -_AT_REST * self._fastest():
                break
            impulse = -2.0 * approach[k] / response[k]
            self.velocities[a[k]] += impulse / self._mass * normal[k]
            self.velocities[b[k]] -= impulse / self._mass * normal[k]
            self._momenta[a[k]] += impulse * lever_a[k]
            self._momenta[b[k]] -= impulse * lever_b[k]


@dataclass(frozen=True, eq=False)
class Recording:
    """A motion of the chain, for others to replay."""

    poses: Floats
    """(steps, n, 4, 4)."""
    contacts: NDArray[np.int64]
    """(steps,) pairs of triangles that meet."""
    energy: Floats
    """(steps,)."""

    def pairs(self) -> dict[tuple[int, int], NDArray[np.int64]]:
        """Rings that come near each other, and the steps at which they are."""
        steps: dict[tuple[int, int], list[int]] = {}
        for step, placed in enumerate(self.poses):
            for pair in near_pairs(placed):
                steps.setdefault(pair, []).append(step)
        return {pair: np.array(when) for pair, when in sorted(steps.items())}

    def stays_linked(self) -> bool:
        """Whether each ring hangs in the next one at every step."""
        return bool(linked(self.poses[:, :-1], self.poses[:, 1:]).all())


def record(chain: Chain, touch: Touch, duration: float, steps: int) -> Recording:
    """Let the chain go."""
    placed = np.empty((steps, len(chain.middles), 4, 4))
    counts, energy = np.empty(steps, dtype=np.int64), np.empty(steps)
    for step in range(steps):
        placed[step], energy[step] = chain.poses, chain.energy
        found = [(a, b, touch(a, b, placed[step, a], placed[step, b])) for a, b in near_pairs(placed[step])]
        met = [(a, b, contacts) for a, b, contacts in found if len(contacts)]
        counts[step] = sum(len(contacts) for *_, contacts in met)
        chain.step(duration, met)
    return Recording(placed, counts, energy)
