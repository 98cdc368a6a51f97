# mypy: allow-untyped-defs, allow-incomplete-defs
"""The axes along which boxes are measured: those of the world, skewed ones, or only two.

[Mirtich1997] section 2.3: where bodies come to rest on a table, their boxes cluster along the vertical, and a broad
phase that sorts coordinates exchanges nearly all of them in every step.  Its remedies are axes askew to the table, so
that all coordinates vary along it, and a reduction to two dimensions instead of one: the axes of a plane, here.  Both
are one thing, intervals of the bodies along given directions.  Bodies with a common point have a common value in
every direction, so no contact is lost, whatever the directions are.

A value along d is a row times a vertex, as a posed coordinate is: (R^T d) . x + t . d.  For an axis of the world the
row is that of the pose, bit for bit.

What is rounded
---------------
Let u = 2**-53, x a vertex, r >= |x|, M = r + max|t|, s = |d_0| + |d_1| + |d_2| and |d| <= 1.  R is a rotation to 1e-9,
which is covered by the reserve.  The truth is p . d for the posed vertex p, which is computed too: six roundings a
coordinate, the last of a number up to M and the others of numbers up to r, less than 4.1 u M together; so p . d is
within 4.1 u M s of (R x + t) . d, which is x . (R^T d) + t . d exactly.  The row is within 5.4 u of R^T d (three
roundings in each of three coordinates), its product with x within 3.1 u r, t . d within 3.1 u max|t| s, their sum
within 1.1 u M s.  Hence ``value`` is within 17 u M s of the truth, and 18 when it is moved outward: ``OUTWARD`` is
24 u.  Products that underflow lose 2**-1075 each, fewer than 2**-1070 (1 + s) in all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.arrays import Bools, Floats, place_of_first, read_only, real_array
from impinge.constants import UNIT_ROUNDOFF
from impinge.convex.distance.support import turned_back
from impinge.geometry.exact.predicates import dot
from impinge.kernels.jit import inner
from impinge.kernels.record import Record, bool_, float64, int64, records

OUTWARD = 24.0 * UNIT_ROUNDOFF
UNDERFLOW = 2.0**-1070
"""Of heights; of values along d (1 + s) times that."""


class Axis(Record, constant=True):
    """A direction to measure along."""

    direction = float64[3]
    """d,"""
    sum = float64
    """and s."""
    underflow = float64
    """The bound on what underflows.  It is subnormal, and so not computed for each box: three such products took 20 ns,
    half the time of a cube."""
    rounds = bool_
    """Whether values along d are rounded: they are not for an axis of the world."""


class BoxBatch(Record):
    """Of which bodies boxes are sought, and where they go."""

    which = int64[:]
    """The numbers of the bodies."""
    poses = float64[:, 4, 4]
    axes = records(Axis)[:]
    boxes = float64[:, 2, 3]
    queue = int64[:]
    stamps = int64[:]
    """For ``tight_boxes``: room for the vertices of the largest body; stamps are 0."""


batch_at = BoxBatch.at


def as_axes(axes: ArrayLike | None) -> Floats:
    """Two or three directions as unit vectors that are not longer than 1; ``None`` is the world's axes.

    So the gap of two intervals is never larger than the distance of the bodies, and a broad phase with a margin loses
    none that are nearer than that.

    >>> as_axes([[0, 0, 2], [3, 4, 0]]).round(3).tolist()
    [[0.0, 0.0, 1.0], [0.6, 0.8, 0.0]]
    """
    if axes is None:
        return read_only(np.eye(3))
    given = real_array(axes, "axes")
    if given.shape not in ((3, 3), (2, 3)):
        raise ValueError(f"axes: expected shape (3, 3) or (2, 3), one direction a row, got {given.shape}")
    bad = ~np.isfinite(given)
    if bad.any():
        raise ValueError(f"axes{place_of_first(bad)} is {given[bad][0]}; a direction must be finite")
    zero = np.count_nonzero(given, axis=1) == 0
    if zero.any():
        raise ValueError(f"axes{place_of_first(zero)} is zero, which is no direction")
    # Squares of what is scaled neither vanish nor overflow.
    scaled = np.ldexp(given, -np.frexp(np.abs(given).max(axis=1, keepdims=True))[1])
    # The length is right to 3 u and the quotient to one more: 8 u less is not longer than 1.
    units = scaled / np.sqrt((scaled**2).sum(axis=1, keepdims=True)) * (1.0 - 8.0 * UNIT_ROUNDOFF)
    return read_only(np.where(_along_the_world(given)[:, None], np.sign(given), units) + 0.0)


def _along_the_world(axes: Floats) -> Bools:
    """Which axes are coordinate axes: values along them are posed coordinates, or their negatives, without error."""
    return np.asarray(np.count_nonzero(axes, axis=1) == 1)


def axis_rows(axes: Floats) -> NDArray[Any]:
    """As kernels read them."""
    rows = np.zeros(len(axes), dtype=Axis.dtype)
    rows["direction"] = axes
    rows["sum"] = s = np.abs(axes).sum(axis=1) * (1.0 + 4.0 * UNIT_ROUNDOFF)
    rows["underflow"] = UNDERFLOW * (1.0 + s)
    rows["rounds"] = ~_along_the_world(axes)
    return rows


@inner
def row_along(pose, axis):
    """The row that gives values along an axis."""
    d = (axis.direction[0], axis.direction[1], axis.direction[2])
    c = turned_back(pose, d)
    return c[0], c[1], c[2], dot(d, (pose[0][3], pose[1][3], pose[2][3]))
