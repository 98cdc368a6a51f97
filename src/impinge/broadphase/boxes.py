"""Boxes along the axes: how they are given, stored and compared.

A box is a row of six numbers, the low corner and the high corner.  Boxes are closed: touching is overlapping.  Two of
them overlap up to a margin when, on every axis, ``low_b - high_a <= margin`` and ``low_a - high_b <= margin`` in
float64.  Rounding is monotone, so no pair with a gap of at most ``margin`` is ever missed; and a rounded
difference has the sign of the true one, so with margin 0 this is exact.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from impinge.geometry.cast import Floats, real_array
from impinge.jit import inlined, kernel
from impinge.memory import address_of, table

LOW, HIGH = 0, 3
"""Where the corners begin in a row."""

_box_rows = table(np.float64, 6)


@inlined
def overlap(rows, a, b, margin):
    """Whether boxes a and b overlap up to the margin.

    All axes are compared: where it cannot be foreseen which one separates two boxes, a jump costs more than that.
    """
    return (
        (rows[b, 0] - rows[a, 3] <= margin)
        & (rows[a, 0] - rows[b, 3] <= margin)
        & (rows[b, 1] - rows[a, 4] <= margin)
        & (rows[a, 1] - rows[b, 4] <= margin)
        & (rows[b, 2] - rows[a, 5] <= margin)
        & (rows[a, 2] - rows[b, 5] <= margin)
    )


@kernel
def first_bad_box(address, count):
    """The first row that is no box, or ``count``.

    ``-inf < low <= high < inf`` is also False for NaN.
    """
    rows = _box_rows(address, count)
    for i in range(count):
        fine = True
        for axis in range(3):
            low, high = rows[i, axis], rows[i, axis + 3]
            fine = fine & (-np.inf < low) & (low <= high) & (high < np.inf)
        if not fine:
            return i
    return count


def as_box_rows(boxes: ArrayLike, what: str = "boxes") -> Floats:
    """Boxes (n, 2, 3), or a single one (2, 3), as rows (n, 6); it may be the caller's own memory."""
    array = real_array(boxes, what)
    if array.ndim not in (2, 3) or array.shape[-2:] != (2, 3):
        raise ValueError(f"{what}: expected shape (n, 2, 3), low and high corner of each box, got {array.shape}")
    rows = array.reshape(-1, 6)
    bad = first_bad_box(address_of(rows), len(rows))
    if bad < len(rows):
        place = f"{what}[{bad}]" if array.ndim == 3 else what
        low, high = rows[bad, :3].tolist(), rows[bad, 3:].tolist()
        reason = "the low corner is above the high one" if np.isfinite(rows[bad]).all() else "it must be finite"
        raise ValueError(f"{place} is {low} to {high}; {reason}")
    return rows
