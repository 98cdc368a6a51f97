"""A crowd of convex polytopes that fly, turn and bounce in a room, after the simulation of I-COLLIDE.

Cohen, Lin, Manocha and Ponamgi (1995); Lin, Manocha, Cohen and Gottschalk (1996), section 3.  Where two bodies meet,
they exchange their velocities along the line through their middles, as balls of equal mass do; walls reflect.  So
nothing is lost, and speeds stay what they are in the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from impinge.arrays import Floats
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.lab.scenes.polytopes import ellipsoid, random_directions
from impinge.lab.scenes.poses import poses, random_turns, turns

_SHAPES = 8
"""How many different bodies there are."""


@dataclass(frozen=True)
class Setting:
    """What a crowd is like; lengths in radii of the balls that hold the bodies."""

    count: int = 500
    vertices: int = 20
    density: float = 0.04
    """The part of the room that the balls fill, so that the room is the same for all shapes."""
    speed: float = 0.05
    """A step."""
    degrees: float = 10.0
    """That a body turns in a step."""
    slenderness: float = 1.0
    """Length over thickness."""

    @property
    def faces(self) -> int:
        """Triangles of a body: all vertices are on its hull."""
        return 2 * self.vertices - 4


class Crowd:
    """The state of all bodies."""

    def __init__(self, setting: Setting, seed: int = 0) -> None:
        rng = np.random.default_rng([seed, setting.count])
        count = setting.count
        thickness = 1.0 / setting.slenderness
        shapes = [ellipsoid(rng, setting.vertices, [1.0, thickness, thickness]) for _ in range(_SHAPES)]
        self.bodies: tuple[ConvexHull, ...] = tuple(shapes[i % _SHAPES] for i in range(count))
        self.side = max(float(np.cbrt(count * 4.0 / 3.0 * np.pi / setting.density)), 4.0)
        # One place in a lattice for each: most are apart at first.
        cells = int(np.ceil(np.cbrt(count)))
        places = np.stack(np.unravel_index(rng.permutation(cells**3)[:count], (cells,) * 3), axis=1)
        self.middles: Floats = 1.0 + (self.side - 2.0) * (places + rng.random((count, 3))) / cells
        self.velocities: Floats = setting.speed * random_directions(rng, count)
        self._turned = random_turns(rng, count)
        self._spin = turns(np.radians(setting.degrees) * random_directions(rng, count))

    @property
    def poses(self) -> Floats:
        """(n, 4, 4) now."""
        return poses(self._turned, self.middles)

    def step(self, meeting: Sequence[tuple[int, int]]) -> None:
        """Bounce and move on, given the pairs that meet now."""
        for a, b in meeting:
            line = self.middles[b] - self.middles[a]
            approach = (self.velocities[a] - self.velocities[b]) @ line
            if approach > 0.0:
                exchanged = approach / (line @ line) * line
                self.velocities[a] -= exchanged
                self.velocities[b] += exchanged
        self.velocities[(self.middles < 1.0) & (self.velocities < 0.0)] *= -1.0
        self.velocities[(self.middles > self.side - 1.0) & (self.velocities > 0.0)] *= -1.0
        self.middles += self.velocities
        self._turned = self._spin @ self._turned
