"""Crates in one layer on a floor: the bodies to the boxes of ``boxes.at_rest_on_a_plane``."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from impinge.arrays import Floats
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.lab.scenes.boxes import RESTING, BoxWorld, box_world
from impinge.lab.scenes.poses import poses, turns

_SHAPES = 200
"""How many different ones there are, at most: so many that they do not cluster by shape."""
_TURN = 0.01
"""Radians a frame, at most."""


@dataclass(frozen=True, eq=False)
class Layer:
    """They slide on the floor, turn about the vertical, and tremble."""

    bodies: tuple[ConvexHull, ...]
    world: BoxWorld
    angles: Floats
    """(n,) at frame 0."""
    spins: Floats
    """(n,) radians a frame."""

    def poses(self, number: int) -> Floats:
        """(n, 4, 4) of a frame."""
        angle = self.angles + number * self.spins
        none = np.zeros_like(angle)
        return poses(turns(np.column_stack([none, none, angle])), self.world.frame(number).mean(axis=1))


def layer(count: int, equal: bool = False, seed: int = 0) -> Layer:
    """Sides from 0.5 to 1.5; or unit cubes."""
    rng = np.random.default_rng([seed, count])
    world = box_world(RESTING, count, seed=seed)
    kinds = np.ones((1, 3)) if equal else rng.uniform(0.5, 1.5, size=(min(count, _SHAPES), 3))
    shapes = [ConvexHull((np.indices((2, 2, 2)).reshape(3, 8).T - 0.5) * sides) for sides in kinds]
    number = np.arange(count) % len(kinds)
    tremble = world.tremble / world.sizes[:, 2] * kinds[number, 2]
    return Layer(
        tuple(shapes[k] for k in number),
        replace(world, sizes=kinds[number], tremble=tremble),
        rng.uniform(0.0, 2.0 * np.pi, size=count),
        rng.uniform(-_TURN, _TURN, size=count),
    )
