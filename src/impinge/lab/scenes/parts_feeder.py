"""A vibratory parts feeder: parts of about 1,000 triangles tremble and turn on a tray, in three layers.

Ponamgi, Manocha and Lin (1995, section 2) name it as the scene with hundreds of moving parts.  Motions are written
down, not simulated: a part's pose is a formula of the number of the frame.  Neighbours' boxes overlap all the time,
and some parts run into each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from impinge.arrays import Floats
from impinge.lab.scenes import shapes
from impinge.lab.scenes.polytopes import random_directions
from impinge.lab.scenes.poses import poses, random_turns, turns
from impinge.mesh.mesh import Mesh

_SPACING = 1.2
"""From part to part; a part is 1.2 wide, so that half of them run into another one."""
_LAYERS = 3
_TREMBLE = 0.05
"""How far a part swings from its place, on each axis."""
_PERIOD = 60
"""Frames from swing to swing, about."""
_TURN = np.radians(1.0)
"""A frame."""


def parts() -> tuple[Mesh, ...]:
    """A ring, a pulley, a spool and a bent pipe: 960, 960, 1,000 and 1,216 triangles."""
    spool = [(0.0, -0.6), (0.5, -0.6), (0.5, -0.4), (0.2, -0.3), (0.2, 0.3), (0.6, 0.5), (0.0, 0.6)]
    pipe = [[-0.4, -0.4, -0.4], [0.3, -0.4, -0.4], [0.3, 0.3, -0.4], [0.3, 0.3, 0.3]]
    return (
        shapes.torus(0.45, 0.15, sides=24, tube_sides=20),
        shapes.wheel(0.6, 0.3, 0.12, 0.12, 0.2, sides=40),
        shapes.lathe(spool, sides=100),
        shapes.hose(pipe, 0.15, 0.04, 16, 6),
    )


@dataclass(frozen=True, eq=False)
class Feeder:
    """Parts and the tray under them."""

    bodies: tuple[Mesh, ...]
    """Of each part; many are the same."""
    tray: Mesh
    places: Floats
    """(n, 3) around which parts swing."""
    phases: Floats
    """(n, 3)"""
    axes: Floats
    """(n, 3) about which they turn."""
    turned: Floats
    """(n, 3, 3) at frame 0."""

    def poses(self, frame: int) -> Floats:
        """(n, 4, 4)"""
        swing = np.sin(self.phases + 2.0 * np.pi * frame / _PERIOD)
        return poses(turns(frame * _TURN * self.axes) @ self.turned, self.places + _TREMBLE * swing)


def parts_feeder(count: int, seed: int = 0, kinds: Sequence[Mesh] = ()) -> Feeder:
    """Parts of these kinds, about one wide; of ``parts()``, if none are given."""
    rng = np.random.default_rng([seed, count])
    side = int(np.ceil(np.sqrt(count / _LAYERS)))
    number = np.arange(count)
    places = _SPACING * np.stack([number % side, number // side % side, number // side**2], axis=1).astype(np.float64)
    kinds = kinds or parts()
    width = _SPACING * side + 2.0
    tray = shapes.box(width, width, 0.2).transformed(poses(np.eye(3), [-1.5, -1.5, -1.0]))
    return Feeder(
        tuple(kinds[i] for i in rng.integers(0, len(kinds), size=count)),
        tray,
        places + rng.uniform(-0.05, 0.05, size=(count, 3)),
        rng.uniform(0.0, 2.0 * np.pi, size=(count, 3)),
        random_directions(rng, count),
        random_turns(rng, count),
    )
