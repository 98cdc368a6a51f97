"""Worlds of many moving boxes at constant density, for the broad phases.

However many boxes there are, the room is so large that about as many pairs overlap as there are boxes.  Each box moves
straight on, by a part of its size a frame that is its own, and is reflected at the walls.  Where a box is at frame t
follows from t alone, without adding up steps: frames can be made in any order, and are the same each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from impinge.arrays import Floats
from impinge.lab.scenes.polytopes import random_directions

EQUAL, MIXED, RESTING = "equal", "mixed", "resting"

_LARGEST = 1000.0
_TREMBLE = 1e-3
"""Part of its size by which a box at rest lifts off the floor and comes back, as a simulated body does."""


@dataclass(frozen=True, eq=False)
class BoxWorld:
    """Boxes that move in a room, whose lowest corner is the origin."""

    sizes: Floats
    """(n, 3) sides of the boxes."""
    free: Floats
    """(n, 3) how far the low corner of each box can go: the sides of the room less its own."""
    start: Floats
    """(n, 3) low corners at frame 0."""
    velocity: Floats
    """(n, 3) a frame."""
    tremble: Floats
    """(n,) how far each box is lifted in z at most, at random in each frame."""
    seed: int

    def frame(self, number: int) -> Floats:
        """All boxes (n, 2, 3): low corner, high corner."""
        low = reflected(self.start + number * self.velocity, self.free)
        if self.tremble.any():
            low[:, 2] += self.tremble * np.random.default_rng([self.seed, number]).random(len(low))
        return np.stack([low, low + self.sizes], axis=1)

    def frames(self, first: int, last: int) -> Iterator[Floats]:
        for number in range(first, last):
            yield self.frame(number)

    def __len__(self) -> int:
        return len(self.sizes)


def reflected(unbounded: Floats, free: Floats) -> Floats:
    """Where something is that moves to and fro between 0 and ``free`` instead of straight on."""
    turned: Floats = free - np.abs(np.mod(unbounded, 2.0 * free) - free)
    return turned


def box_world(name: str, count: int, speed: float = 0.02, seed: int = 0) -> BoxWorld:
    """One of ``WORLDS``; ``speed`` is the part of its size that a box moves a frame, in the mean.

    >>> box_world(EQUAL, 5).frame(3).shape
    (5, 2, 3)
    """
    rng = np.random.default_rng([seed, count, list(WORLDS).index(name)])
    return WORLDS[name](rng, count, speed, seed)


def equal_sizes(rng: np.random.Generator, count: int, speed: float, seed: int) -> BoxWorld:
    """Unit cubes."""
    return _in_a_cube(rng, np.ones((count, 3)), speed, seed)


def mixed_sizes(rng: np.random.Generator, count: int, speed: float, seed: int) -> BoxWorld:
    """Cubes with sides from 1 to 1000, as many of them from 1 to 10 as from 100 to 1000."""
    sides = _LARGEST ** rng.random(count)
    return _in_a_cube(rng, np.repeat(sides[:, None], 3, axis=1), speed, seed)


def at_rest_on_a_plane(rng: np.random.Generator, count: int, speed: float, seed: int) -> BoxWorld:
    """Sides from 0.5 to 1.5: boxes on a floor move in x and y, and tremble in z, where all of them overlap."""
    sizes = rng.uniform(0.5, 1.5, size=(count, 3))
    side = max(np.sqrt(_space_for_one_pair_a_box(rng, sizes[:, :2])), 2.0 * float(sizes.max()))
    free = np.column_stack([side - sizes[:, :2], np.ones(count)])
    start = free * rng.random((count, 3)) * [1.0, 1.0, 0.0]
    angle = rng.uniform(0.0, 2.0 * np.pi, size=count)
    directions = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(count)])
    velocity = _strides(rng, sizes, speed) * directions
    return BoxWorld(sizes, free, start, velocity, _TREMBLE * sizes[:, 2], seed)


def _in_a_cube(rng: np.random.Generator, sizes: Floats, speed: float, seed: int) -> BoxWorld:
    # At least twice as large as a box, so that each has some way to go.
    side = max(np.cbrt(_space_for_one_pair_a_box(rng, sizes)), 2.0 * float(sizes.max()))
    free = side - sizes
    velocity = _strides(rng, sizes, speed) * random_directions(rng, len(sizes))
    return BoxWorld(sizes, free, free * rng.random(sizes.shape), velocity, np.zeros(len(sizes)), seed)


def _strides(rng: np.random.Generator, sizes: Floats, speed: float) -> Floats:
    """(n, 1) how far each box moves a frame: from half of the speed to one and a half."""
    strides: Floats = speed * rng.uniform(0.5, 1.5, size=(len(sizes), 1)) * sizes.mean(axis=1, keepdims=True)
    return strides


def _space_for_one_pair_a_box(rng: np.random.Generator, sizes: Floats) -> float:
    """The volume (or area) of the room.

    Boxes with sides a and b, put at random, overlap with the probability of product(a + b) / volume; there are
    n / 2 possible partners for each.  The mean of the product is taken over random partners.
    """
    partners = np.concatenate([sizes[rng.permutation(len(sizes))] for _ in range(20)])
    mean = float(np.prod(np.tile(sizes, (20, 1)) + partners, axis=1).mean())
    return 0.5 * len(sizes) * mean


WORLDS: dict[str, Callable[[np.random.Generator, int, float, int], BoxWorld]] = {
    EQUAL: equal_sizes,
    MIXED: mixed_sizes,
    RESTING: at_rest_on_a_plane,
}
