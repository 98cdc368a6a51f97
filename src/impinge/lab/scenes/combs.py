"""Comb polyhedra: the worst case of Ponamgi, Manocha and Lin, Fig. 1 (b).

Every tooth of one comb passes through every tooth of the other, so that n and n
teeth make n * n separate contact regions; no algorithm can report them in less than quadratic time.
"""

from __future__ import annotations

import numpy as np

from impinge.arrays import Floats
from impinge.lab.scenes.pair_scene import PairScene
from impinge.lab.scenes.poses import poses, turns
from impinge.lab.scenes.shapes import blocks
from impinge.mesh.mesh import Mesh

_TOOTH, _GAP, _SPINE, _THICKNESS = 1.0, 1.0, 2.0, 1.0


def comb(teeth: int = 50) -> Mesh:
    """A comb of 24 * teeth - 4 triangles: a spine along y at x < 0 and teeth along x, as long as the spine."""
    if teeth < 2:
        raise ValueError(f"teeth is {teeth}; a comb has at least 2")
    ys = np.cumsum([0.0] + [_TOOTH, _GAP] * (teeth - 1) + [_TOOTH])
    filled = np.ones((2, len(ys) - 1, 1), dtype=bool)
    filled[1, 1::2] = False
    solid = blocks((-_SPINE, 0.0, float(ys[-1]) + _GAP), ys.tolist(), (0.0, _THICKNESS), filled)
    return solid.transformed(np.eye(4), solid=False)


def crossing(teeth: int = 50) -> Floats:
    """(4, 4) the pose of a second comb of as many teeth, turned by 90 degrees, in which all teeth cross."""
    width = teeth * _TOOTH + (teeth - 1) * _GAP
    # Half a thickness up: the combs share no plane. The spines stay outside of each other's teeth.
    return poses(turns([0.0, 0.0, np.pi / 2.0]), [width + 0.5 * _GAP, -0.5 * _GAP, 0.5 * _THICKNESS])


def scene(count: int = 20, steps: int = 100, seed: int = 7, teeth: int = 50) -> PairScene:
    """Combs that cross, a little off; on the path the second comb is pushed in tooth by tooth."""
    rng = np.random.default_rng(seed)
    wobble = poses(turns(0.002 * rng.normal(size=(count, 3))), 0.1 * rng.normal(size=(count, 3)))
    t = np.linspace(0.0, 1.0, steps)
    pulled = np.eye(4) + np.zeros((steps, 4, 4))
    pulled[:, 0, 3] = -4.0 * _TOOTH * (1.0 - t)
    return PairScene("combs", comb(teeth), comb(teeth), crossing(teeth) @ wobble, crossing(teeth) @ pulled)
