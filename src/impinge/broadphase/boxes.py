# mypy: allow-untyped-defs, allow-incomplete-defs
"""Boxes along the axes: how they are given, stored and compared.

A box is a row of six numbers, the low corner and the high corner.  Boxes are closed: touching is overlapping.  Two of
them overlap up to a margin when, on every axis, ``low_b - high_a <= margin`` and ``low_a - high_b <= margin`` in
float64.  Rounding is monotone, so no pair with a gap of at most ``margin`` is ever missed; and a rounded
difference has the sign of the true one, so with margin 0 this is exact.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.arrays import Floats, real_array
from impinge.kernels.jit import inlined, kernel
from impinge.kernels.record import Record, bool_, float64, int64

LOW, HIGH = 0, 3
"""Where the corners begin in a row."""


class Objects(Record, constant=True):
    """What kernels know of the objects of a broad phase."""

    ids = int64[:]
    rows = float64[:, 6]
    """Their boxes."""
    fixed = bool_[:]
    margin = float64


objects_at = Objects.at


@inlined
def overlap(rows, a, b, margin):
    """Whether boxes a and b overlap up to the margin."""
    return overlap_of(rows, a, rows, b, margin)


@inlined
def overlap_of(rows_a, a, rows_b, b, margin):
    """The same for boxes of two lists.

    All axes are compared: where it cannot be foreseen which one separates two boxes, a jump costs more than that.
    """
    return (
        (rows_b[b, 0] - rows_a[a, 3] <= margin)
        & (rows_a[a, 0] - rows_b[b, 3] <= margin)
        & (rows_b[b, 1] - rows_a[a, 4] <= margin)
        & (rows_a[a, 1] - rows_b[b, 4] <= margin)
        & (rows_b[b, 2] - rows_a[a, 5] <= margin)
        & (rows_a[a, 2] - rows_b[b, 5] <= margin)
    )


@kernel("float64[:, ::1]")
def first_bad_box(rows):
    """The first row that is no box, or their number.

    ``-inf < low <= high < inf`` is also False for NaN.
    """
    for i in range(len(rows)):
        fine = True
        for axis in range(3):
            low, high = rows[i, axis], rows[i, axis + 3]
            fine = fine & (-np.inf < low) & (low <= high) & (high < np.inf)
        if not fine:
            return i
    return len(rows)


def as_box_rows(boxes: ArrayLike, what: str = "boxes") -> Floats:
    """Boxes (n, 2, 3), or a single one (2, 3), as rows (n, 6); it may be the caller's own memory."""
    array = real_array(boxes, what)
    if array.ndim not in (2, 3) or array.shape[-2:] != (2, 3):
        raise ValueError(f"{what}: expected shape (n, 2, 3), low and high corner of each box, got {array.shape}")
    rows = array.reshape(-1, 6)
    if not rows.flags.writeable:  # kernels would be compiled again
        rows = rows.copy()
    bad = first_bad_box(rows)
    if bad < len(rows):
        place = f"{what}[{bad}]" if array.ndim == 3 else what
        low, high = rows[bad, :3].tolist(), rows[bad, 3:].tolist()
        reason = "the low corner is above the high one" if np.isfinite(rows[bad]).all() else "it must be finite"
        raise ValueError(f"{place} is {low} to {high}; {reason}")
    return rows


def as_box_row(box: ArrayLike) -> Floats:
    """One box as a row (6,)."""
    rows = as_box_rows(box, "box")
    if len(rows) != 1:
        raise ValueError(f"box: expected shape (2, 3), got {np.shape(box)}")
    row: Floats = rows[0]
    return row


def overlap_one(rows: Floats, row: Floats, margin: float) -> NDArray[np.bool_]:
    """Which boxes overlap this one up to the margin."""
    with np.errstate(over="ignore"):
        near: NDArray[np.bool_] = (rows[:, :3] - row[3:] <= margin) & (row[:3] - rows[:, 3:] <= margin)
    return np.logical_and.reduce(near, axis=1)  # type: ignore[no-any-return]
