"""An order of boxes in which neighbours in space are mostly neighbours in memory: a Z-curve through their ranks.

Morton (1966), "A computer oriented geodetic data base".  Ranks along each axis instead of coordinates: however
boxes are distributed, the curve resolves all parts of space where there are any.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from impinge.geometry.cast import Floats

_BITS = 20
"""For each axis: up to a million boxes have different places."""


def spatial_order(rows: Floats) -> NDArray[np.int64]:
    """The numbers of all boxes along the curve."""
    codes = np.zeros(len(rows), dtype=np.int64)
    for axis in range(3):
        rank = np.empty(len(rows), dtype=np.int64)
        rank[np.argsort(rows[:, axis], kind="stable")] = np.arange(len(rows))
        codes |= _spread(rank * 2**_BITS // max(len(rows), 1)) << axis
    return np.argsort(codes, kind="stable")


def _spread(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Two zeros between any two of the lowest 21 bits."""
    for shift, mask in (
        (32, 0x001F00000000FFFF),
        (16, 0x001F0000FF0000FF),
        (8, 0x100F00F00F00F00F),
        (4, 0x10C30C30C30C30C3),
        (2, 0x1249249249249249),
    ):
        numbers = (numbers | (numbers << shift)) & mask
    return numbers
