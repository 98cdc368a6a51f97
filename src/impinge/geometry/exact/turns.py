"""Exact orientation of many triples of points in the plane: floats filter, integers settle what is left."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats
from impinge.geometry.exact.integers import ORIENT2D_BOUND, SAFE_FROM_UNDERFLOW, orient2d


def turns(a: Floats, b: Floats, c: Floats) -> NDArray[np.int8]:
    """(k,) for rows of (k, 2): 1 where a, b, c turn left, -1 right, 0 where they are on one line."""
    left = (a[:, 0] - c[:, 0]) * (b[:, 1] - c[:, 1])
    right = (a[:, 1] - c[:, 1]) * (b[:, 0] - c[:, 0])
    determinant = left - right
    size = np.abs(determinant)
    found = np.sign(determinant).astype(np.int8)
    decided = (size > ORIENT2D_BOUND * (np.abs(left) + np.abs(right))) & (size > SAFE_FROM_UNDERFLOW)
    # Repeated points give two products with a factor that is exactly zero.
    decided |= ((a[:, 0] == c[:, 0]) | (b[:, 1] == c[:, 1])) & ((a[:, 1] == c[:, 1]) | (b[:, 0] == c[:, 0]))
    for i in np.flatnonzero(~decided):
        found[i] = orient2d(*a[i].tolist(), *b[i].tolist(), *c[i].tolist())
    return found
