# mypy: allow-untyped-defs, allow-incomplete-defs
"""Axis-aligned boxes as rows of eight float32 numbers, handled by vector instructions.

A row is (low x y z, 0, -high x y z, 0).  With the upper ends negative, the box around two boxes is the smaller
number in each column: one instruction for eight numbers.  LLVM finds that by itself only where nothing
is stored, and scalar code takes three times as long; so the instructions are written down here, and beside
them what they mean in numpy.
"""

from __future__ import annotations

import numpy as np

from impinge.kernels.jit import imported_for_kernels, inner
from impinge.kernels.mode import without_compiler

COLUMNS = 8
NO_BOX = np.float32(4.0)
"""In every column of a row that holds nothing yet: above every number of a box in local coordinates."""

if without_compiler():

    def enlarge(bounds, i, boxes, j):
        """Make bounds[i] hold boxes[j] too."""
        np.minimum(bounds[i], boxes[j], out=bounds[i])

    def enlarge_by_centre(bounds, i, boxes, j):
        """Make bounds[i] hold the centre of boxes[j], doubled, too."""
        np.minimum(bounds[i], boxes[j] - np.roll(boxes[j], 4), out=bounds[i])

    def exchange(boxes, i, j):
        """Let two rows change places."""
        boxes[[i, j]] = boxes[[j, i]]

else:
    enlarge = imported_for_kernels("impinge.bvh.build.box_row_code", "enlarge")
    enlarge_by_centre = imported_for_kernels("impinge.bvh.build.box_row_code", "enlarge_by_centre")
    exchange = imported_for_kernels("impinge.bvh.build.box_row_code", "exchange")


@inner
def forget(bounds, i):
    """Make bounds[i] hold nothing."""
    for k in range(COLUMNS):
        bounds[i, k] = NO_BOX


@inner
def unite(bounds, i, boxes, first, last):
    """Make bounds[i] the box around boxes[first:last]."""
    forget(bounds, i)
    for j in range(first, last):
        enlarge(bounds, i, boxes, j)


@inner
def half_surface(bounds, i):
    x = -bounds[i, 0] - bounds[i, 4]
    y = -bounds[i, 1] - bounds[i, 5]
    z = -bounds[i, 2] - bounds[i, 6]
    return x * y + y * z + z * x
