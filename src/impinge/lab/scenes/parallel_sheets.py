"""Two copies of the landscape, one a small gap above the other: parallel close proximity everywhere."""

from __future__ import annotations

import numpy as np

from impinge.lab.scenes.landscape import landscape
from impinge.lab.scenes.pair_scene import PairScene
from impinge.lab.scenes.poses import poses, turns

GAPS = (0.003, 0.01, 0.03, 0.1, 0.3)
"""Vertical; the distance is smaller where the ground is steep."""


def scene(count: int = 15, steps: int = 200, seed: int = 7) -> PairScene:
    """Each gap in turn, the upper sheet turned and shifted by a percent of it: no pose touches.

    On the path the gap closes from 0.3 to 0.1.
    """
    rng = np.random.default_rng(seed)
    gap = np.array(GAPS)[np.arange(count) % len(GAPS), None]
    shift = gap * ([0.01, 0.01, 0.0] * rng.normal(size=(count, 3)) + [0.0, 0.0, 1.0])
    scattered = poses(turns(0.005 * gap * rng.normal(size=(count, 3))), shift)
    t = np.linspace(0.0, 1.0, steps)[:, None]
    path = poses(turns([0.002, -0.001, 0.002] * t), np.array([0.004, 0.003, 0.3]) - [0.0, 0.0, 0.2] * t)
    land = landscape()
    return PairScene("parallel sheets", land, land, scattered, path)
