"""Octree: a box is cut at uniform distances along x, y and z.

Ponamgi, Manocha and Lin (1995), 4.5.  Two parts along each axis make the eight children that give it its name.
"""

from __future__ import annotations

import numpy as np

from impinge.arrays import Floats
from impinge.incremental.hierarchy.cell_cuts import CellCuts


def octree_cuts(low: Floats, high: Floats, points: Floats, parts: tuple[int, int, int]) -> CellCuts:
    """The cuts of a box; where its points lie makes no difference.

    >>> cuts = octree_cuts(np.zeros(3), np.array([3.0, 1.0, 1.0]), np.zeros((0, 3)), (3, 2, 1))
    >>> cuts.x.tolist(), cuts.y[0].tolist(), cuts.z.shape
    ([1.0, 2.0], [0.5], (3, 2, 0))
    """
    x, y, z = (_uniform(low[axis], high[axis], parts[axis]) for axis in range(3))
    nx, ny, nz = parts
    return CellCuts(x, np.broadcast_to(y, (nx, ny - 1)), np.broadcast_to(z, (nx, ny, nz - 1)))


def _uniform(low: float, high: float, parts: int) -> Floats:
    fractions = np.arange(1, parts) / parts
    cuts: Floats = np.clip(low * (1.0 - fractions) + high * fractions, low, high)
    return np.maximum.accumulate(cuts)  # rounding must not change their order
