# mypy: allow-untyped-defs, allow-incomplete-defs
"""Uninitialised arrays for the kernels that build bounding volume hierarchies.

Numba compiles ``np.empty`` anew wherever its arguments are other constants, 0.05 s each time;
through these functions it does so once for each kind of array.
"""

from __future__ import annotations

import numpy as np

from impinge.bvh.layout import WIDTH
from impinge.kernels.jit import inner


@inner
def singles(count, columns):
    return np.empty((count, columns), dtype=np.float32)


@inner
def single_list(count):
    return np.empty(count, dtype=np.float32)


@inner
def doubles(count, columns):
    return np.empty((count, columns))


@inner
def integers(count, columns):
    return np.empty((count, columns), dtype=np.int32)


@inner
def integer_list(count):
    return np.empty(count, dtype=np.int32)


@inner
def node_rows(nodes, rows):
    """(nodes, rows, 8) float32."""
    return np.empty((nodes, rows, WIDTH), dtype=np.float32)
