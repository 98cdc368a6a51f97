"""Two tori of 1,024 triangles, interlocked like links of a chain or lying on each other."""

from __future__ import annotations

import numpy as np

from impinge.lab.scenes import shapes
from impinge.lab.scenes.pair_scene import PairScene
from impinge.lab.scenes.poses import poses, turns
from impinge.mesh.mesh import Mesh

RADIUS = 1.0
TUBE_RADIUS = 0.3


def torus() -> Mesh:
    """A ring around the z axis, 1,024 triangles."""
    return shapes.torus(RADIUS, TUBE_RADIUS, sides=32, tube_sides=16).transformed(np.eye(4), solid=False)


def scene(count: int = 200, steps: int = 2000, seed: int = 7) -> PairScene:
    """Three poses of four are interlocked, the fourth lies flat on top; on the path a link swings in the other."""
    rng = np.random.default_rng(seed)
    upright = turns([np.pi / 2.0, 0.0, 0.0])
    turn = turns(np.column_stack([0.1 * rng.normal(size=count), np.zeros((count, 2))])) @ upright
    turn = turn @ turns(0.1 * rng.normal(size=(count, 3)))
    shift = [RADIUS, 0.0, 0.0] + 0.08 * rng.normal(size=(count, 3))
    flat = np.arange(count) % 4 == 3
    turn[flat] = turns(0.02 * rng.normal(size=(count, 3))[flat])
    shift[flat] = [0.2, 0.2, 0.62] + 0.02 * rng.normal(size=(count, 3))[flat]
    t = np.linspace(0.0, 1.0, steps)[:, None]
    swing = [RADIUS, 0.0, 0.0] + np.sin(2.0 * np.pi * t) * [0.3, 0.15, -0.3]
    path = poses(turns([0.5, 0.0, 0.2] * t) @ upright, swing)
    link = torus()
    return PairScene("tori", link, link, poses(turn, shift), path)
