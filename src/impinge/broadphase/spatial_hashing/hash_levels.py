# mypy: allow-untyped-defs, allow-incomplete-defs
"""The resolutions of a hierarchical spatial hash, and the cells of a box.

[Mirtich1997] section 2.1.  Space is tiled by cubes of side rho_k, k = 1 ... n, from coarse to fine.  Each box X has a
resolution k with alpha <= sz(X) / rho_k <= beta (2), where sz(X) is its longest side.

Lemma 1 bounds the number of resolutions by ceil(log(max sz / min sz) / log(beta / alpha)).  As printed, that
is none at all for boxes of one size, and infinite if a box has size zero; and its proof counts from fine to coarse.
``resolutions_for`` therefore starts with the coarsest, rho_1 = max sz / beta, and goes on with the largest size that is
not covered yet: that is minimal, at least one, and meets the bound wherever the bound is at least one.

What no resolution is made for has its place too, so that every box is stored:

- Boxes between two resolutions take the coarser one, boxes that are too small the finest.
- Boxes that are too large have up to ``STRETCH`` times the planned number of cells along an axis at resolution 1.
- Boxes that are larger still have resolution 0, a single cell that is all of space.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats
from impinge.broadphase.boxes import Objects
from impinge.kernels.jit import inlined, inner, kernel
from impinge.kernels.record import Record, float64, int64

STRETCH = 4.0
"""How much larger than planned a box may be before it counts as being everywhere: 6 cells a side for beta = 1."""

FARTHEST_CELL = 2.0**52
"""Cells are numbered from minus this to this; what lies beyond counts to the last one."""

_LARGEST = float(np.finfo(np.float64).max)

_FINENESS = 2.0**-48
"""A box counts as no smaller than this times its largest coordinate.

Otherwise a small box far away would have cells that coordinates cannot tell apart.
"""

MOST_LEVELS = 6
"""How many resolutions the automatic choice aims at: each costs every finer box up to eight cells."""

_LEAST_ALPHA = 2.0**-4


class HashedObjects(Objects, constant=True):
    """What the kernels of a spatial hash know of its objects, whose labels are their places here."""

    half_margin = float64
    resolutions = float64[:]
    """Sides of the cells, from coarse to fine; the first one is infinite."""
    inverses = float64[:]
    alpha = float64
    beta = float64


class Survey(Record):
    """How well the resolutions suit the boxes."""

    slack = float64
    """How far beyond alpha and beta sizes may be."""
    outside = int64
    """Boxes without a resolution that suits them; those of size zero suit the finest one."""
    everywhere = int64
    """Boxes of resolution 0."""


hashed_objects_at, survey_at = HashedObjects.at, Survey.at


def half_margin(margin: float) -> float:
    """By how much each box is grown, so that boxes with a gap of at most ``margin`` share a point.

    A rounded difference is at most the margin only if the true one exceeds it by less than one step.
    """
    return float(np.nextafter(0.5 * margin, np.inf)) if margin > 0.0 else 0.0


@inlined
def grown(rows, i, half):
    """The corners of a box, grown outward; a sum is moved by one step, so that it is on the right side."""
    if half == 0.0:
        return rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3], rows[i, 4], rows[i, 5]
    return (
        down(rows[i, 0] - half), down(rows[i, 1] - half), down(rows[i, 2] - half),
        up(rows[i, 3] + half), up(rows[i, 4] + half), up(rows[i, 5] + half),
    )  # fmt: skip


@inlined
def up(x):
    """A number above x by at least one step, unless x is subnormal: such sums are exact."""
    return min(x + abs(x) * 2.0**-52, _LARGEST)


@inlined
def down(x):
    return max(x - abs(x) * 2.0**-52, -_LARGEST)


@inlined
def size_of(box):
    """sz(X): the longest side; see ``_FINENESS``."""
    longest = max(box[3] - box[0], box[4] - box[1], box[5] - box[2])
    farthest = max(abs(box[0]), abs(box[1]), abs(box[2]), abs(box[3]), abs(box[4]), abs(box[5]))
    return max(min(longest, _LARGEST), farthest * _FINENESS)


@inlined
def has_size(box):
    return box[0] < box[3] or box[1] < box[4] or box[2] < box[5]


@inner
def resolution_of(size, objects, slack):
    """res(X), the coarsest resolution with (2); and whether there is one."""
    alpha, beta, resolutions = objects.alpha / slack, objects.beta * slack, objects.resolutions
    finest = objects.n_resolutions - 1
    for k in range(1, finest + 1):
        if size < alpha * resolutions[k]:
            continue
        if size <= beta * resolutions[k]:
            return k, True
        return (k - 1 if k > 1 or size > STRETCH * beta * resolutions[1] else 1), False
    return finest, False


@kernel
def survey(objects, found):
    """Count the boxes that no resolution suits; returns how many there are."""
    objects, found = hashed_objects_at(objects), survey_at(found)
    found.outside = 0
    found.everywhere = 0
    for i in range(objects.n_rows):
        box = grown(objects.rows, i, objects.half_margin)
        resolution, suits = resolution_of(size_of(box), objects, found.slack)
        found.outside += int(not suits and has_size(box))
        found.everywhere += int(resolution == 0)
    return found.outside


@inlined
def cell_of(x, inverse):
    """The number of the cell of a coordinate: monotone in x whatever is rounded."""
    return int(min(max(np.floor(x * inverse), -FARTHEST_CELL), FARTHEST_CELL))


@inlined
def number_of_cells(cells):
    return (cells[3] - cells[0] + 1) * (cells[4] - cells[1] + 1) * (cells[5] - cells[2] + 1)


@inlined
def cells_of(box, inverse):
    """The first and the last cell along each axis; all cells between belong to the box."""
    return (
        cell_of(box[0], inverse), cell_of(box[1], inverse), cell_of(box[2], inverse),
        cell_of(box[3], inverse), cell_of(box[4], inverse), cell_of(box[5], inverse),
    )  # fmt: skip


def inverses_of(resolutions: Floats) -> Floats:
    """1 / rho, finite; 0 for the infinite one."""
    with np.errstate(over="ignore"):
        inverses: Floats = np.minimum(np.divide(1.0, resolutions), _LARGEST)
    return inverses


def sizes_of(rows: Floats, margin: float = 0.0) -> Floats:
    """The sizes of all boxes that have one, grown by a margin."""
    with np.errstate(over="ignore"):
        longest = (rows[:, 3:] - rows[:, :3]).max(axis=1, initial=0.0) + margin
    sizes = np.maximum(np.minimum(longest, _LARGEST), np.abs(rows).max(axis=1, initial=0.0) * _FINENESS)
    positive: Floats = sizes[longest > 0.0]
    return positive


def resolutions_for(sizes: Floats, alpha: float, beta: float) -> Floats:
    """A minimal sequence of resolutions for boxes of these sizes, from coarse to fine.

    >>> resolutions_for(np.array([1.0, 2.0, 3.0, 100.0]), alpha=0.5, beta=1.0).tolist()
    [100.0, 3.0, 1.0]
    """
    left = np.sort(sizes)
    resolutions = []
    while len(left):
        rho = left[-1] / beta
        if rho * beta < left[-1]:  # a quotient rounded downward
            rho = np.nextafter(rho, np.inf)
        resolutions.append(rho)
        left = left[: np.searchsorted(left, alpha * rho)]
    return np.array(resolutions, dtype=np.float64)


def automatic_resolutions(rows: Floats, margin: float, alpha: float | None, beta: float) -> tuple[Floats, float]:
    """Resolutions for these boxes, and the alpha that goes with them.

    If alpha is not given it is 1/2, or smaller if there were many resolutions otherwise.
    """
    sizes = sizes_of(rows, margin)
    if len(sizes) == 0:
        return np.array([_spacing_of(rows)]), alpha or 0.5
    if alpha is not None:
        return resolutions_for(sizes, alpha, beta), alpha
    alpha = 0.5
    resolutions = resolutions_for(sizes, alpha, beta)
    while len(resolutions) > MOST_LEVELS and alpha > _LEAST_ALPHA:
        alpha /= 2.0
        resolutions = resolutions_for(sizes, alpha, beta)
    return resolutions, alpha


def _spacing_of(rows: Floats) -> float:
    """How far apart boxes without a size lie, roughly."""
    if len(rows) == 0:
        return 1.0
    with np.errstate(over="ignore"):
        spread = (rows[:, 3:].max(axis=0) - rows[:, :3].min(axis=0)).max()
    spacing = float(spread) / np.cbrt(len(rows))
    return spacing if 0.0 < spacing < np.inf else 1.0


def with_all_of_space(resolutions: Floats) -> NDArray[np.float64]:
    """Resolution 0 is put in front."""
    return np.concatenate([[np.inf], resolutions])
