"""The octree variant: a box is cut at the medians of its vertices, first along x, then each part along y, then along z.

Ponamgi, Manocha and Lin (1995), 4.5: as in a k-d tree, so that all children have as many vertices.
"""

from __future__ import annotations

import numpy as np

from impinge.arrays import Floats
from impinge.incremental.hierarchy.cell_cuts import CellCuts


def median_cuts(low: Floats, high: Floats, points: Floats, parts: tuple[int, int, int]) -> CellCuts:
    """The cuts of a box with these points.

    >>> corners = np.array([[x, y, z] for x in (0.0, 1.0, 8.0) for y in (0.0, 2.0) for z in (0.0, 2.0)])
    >>> cuts = median_cuts(corners[0], corners[-1], corners, (3, 2, 2))
    >>> cuts.x.tolist(), cuts.y.ravel().tolist(), cuts.locate(corners).tolist()
    ([0.5, 4.5], [1.0, 1.0, 1.0], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    """
    nx, ny, nz = parts
    y, z = np.empty((nx, ny - 1)), np.empty((nx, ny, nz - 1))
    x = _quantiles(points[:, 0], nx, low[0], high[0])
    part_x = np.searchsorted(x, points[:, 0], side="right")
    for i in range(nx):
        slab = points[part_x == i]
        y[i] = _quantiles(slab[:, 1], ny, low[1], high[1])
        part_y = np.searchsorted(y[i], slab[:, 1], side="right")
        for j in range(ny):
            z[i, j] = _quantiles(slab[part_y == j, 2], nz, low[2], high[2])
    return CellCuts(x, y, z)


def _quantiles(values: Floats, parts: int, low: float, high: float) -> Floats:
    """Numbers between which there are equally many values, halfway between their neighbours."""
    if len(values) < 2:
        return np.full(parts - 1, 0.5 * low + 0.5 * high)
    ordered = np.sort(values)
    first_above = np.clip(len(values) * np.arange(1, parts) // parts, 1, len(values) - 1)
    cuts: Floats = 0.5 * ordered[first_above - 1] + 0.5 * ordered[first_above]
    return cuts
