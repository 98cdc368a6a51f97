"""CellCuts: where a cell is cut along x, then each part along y, then each of those along z."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats


class CellCuts(NamedTuple):
    """Ascending numbers; part i of an axis lies between cut i - 1 and cut i."""

    x: Floats
    """(nx - 1,)"""
    y: Floats
    """(nx, ny - 1) for each part along x,"""
    z: Floats
    """(nx, ny, nz - 1) and for each of those along y."""

    @property
    def parts(self) -> tuple[int, int, int]:
        nx, ny, others = self.z.shape
        return nx, ny, others + 1

    def locate(self, points: Floats) -> NDArray[np.intp]:
        """The number of the cell that each point lies in; a point on a cut belongs to the upper cell."""
        _, ny, nz = self.parts
        i = np.searchsorted(self.x, points[:, 0], side="right")
        j = (self.y[i] <= points[:, 1, None]).sum(axis=1)
        k = (self.z[i, j] <= points[:, 2, None]).sum(axis=1)
        number: NDArray[np.intp] = (i * ny + j) * nz + k
        return number

    def cells(self, low: Floats, high: Floats) -> Floats:
        """(n, 2, 3) the closed cells; together they fill the box from low to high."""
        nx, ny, nz = self.parts
        ends = np.empty((2, nx, ny, nz, 3))
        for side, outer in ((0, low), (1, high)):
            ends[side] = outer
        ends[1, :-1, :, :, 0] = self.x[:, None, None]
        ends[0, 1:, :, :, 0] = self.x[:, None, None]
        ends[1, :, :-1, :, 1] = self.y[:, :, None]
        ends[0, :, 1:, :, 1] = self.y[:, :, None]
        ends[1, :, :, :-1, 2] = self.z
        ends[0, :, :, 1:, 2] = self.z
        return np.ascontiguousarray(ends.reshape(2, -1, 3).swapaxes(0, 1))
