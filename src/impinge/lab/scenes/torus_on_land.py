"""The wrinkled torus on the landscape: among the teeth, over them, and around the stalagmite."""

from __future__ import annotations

import numpy as np

from impinge.lab.scenes.landscape import CELL, CELLS, STALAGMITE, STALAGMITE_HEIGHT, height, landscape
from impinge.lab.scenes.pair_scene import PairScene
from impinge.lab.scenes.poses import poses, turns
from impinge.lab.scenes.wrinkled_torus import wrinkled_torus

_HEIGHTS = np.array([-0.1, 0.5, 1.0, 1.4, 1.8, 3.0])
"""Of the torus's middle above the ground: from deep in it to far above all teeth."""


def scene(count: int = 200, steps: int = 2000, seed: int = 7) -> PairScene:
    """Every eighth pose encircles the stalagmite; the path comes down around it, turning, until it strikes."""
    rng = np.random.default_rng(seed)
    place = rng.uniform(-0.35, 0.35, (count, 2)) * np.array(CELLS) * CELL
    tilt = 0.6 * rng.normal(size=(count, 3))
    lift = _HEIGHTS[np.arange(count) % len(_HEIGHTS)] + rng.uniform(0.0, 0.15, count)
    around = np.arange(count) % 8 == 7
    place[around] = np.array(STALAGMITE) + 0.05 * rng.normal(size=(count, 2))[around]
    tilt[around] *= 0.1
    foot = float(height(*STALAGMITE)) - STALAGMITE_HEIGHT
    ground = np.where(around, foot, height(*place.T))
    scattered = poses(turns(tilt), np.column_stack([place, ground + lift]))
    t = np.linspace(0.0, 1.0, steps)[:, None]
    start = np.array([STALAGMITE[0] + 0.04, STALAGMITE[1] - 0.03, foot + 2.0])
    path = poses(turns([0.1, -0.08, 0.9] * t), start - [0.0, 0.0, 1.5] * t)
    return PairScene("torus on land", landscape(), wrinkled_torus(), scattered, path)
