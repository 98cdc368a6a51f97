"""Cracks: vertices of open edges that are equal but for rounding.

Files have them where two patches of a surface were computed, or rounded, each on its own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats, Ints

ROUNDING = 2.0**-20
"""What counts as rounding, in parts of the size of the mesh: some units in the last place of single precision, in
which most files are written or were computed, whatever the type of the numbers in memory."""

SINGLE_ULPS = 2.0
"""Far from the origin that may be less than single precision can tell apart.  Where every coordinate is a number of
single precision, two units in the last place of the largest count as rounding too: each coordinate of two vertices
differs by one, so that their distance is below the square root of three."""

PART_OF_EDGE = 0.25
"""But never more than this part of the shortest edge at either vertex: fine details stay."""

_MOST_NEAR = 8
"""Others that one vertex is compared with, the nearest: a crack has one, a corner of many patches some."""


_FEW = 128
"""So many are compared each with each: to load a library for a tree takes longer."""


def find_cracks(points: Floats, edges: Ints, open_edges: Ints) -> Ints:
    """(k, 2) the pairs of vertices of open edges that are within rounding of each other, the smaller first; sorted.

    ``edges`` are all edges; they and the open ones are indices of points at distinct positions.
    """
    some = np.unique(open_edges)
    if len(some) == 0:
        return np.zeros((0, 2), dtype=np.int32)
    # Brought to a size of one by a power of two: no square of a distance underflows or overflows.
    exponent = int(np.frexp(np.abs(points[edges]).max())[1])
    scaled = np.ldexp(points, -exponent)
    reach = _reach(scaled, edges, _is_single_precision(points[edges]))[some]
    widest = float(np.nextafter(reach.max(), np.inf))
    near, other = _nearest(scaled[some], widest)
    this = np.broadcast_to(np.arange(len(some))[:, None], other.shape)
    # The nearest is the vertex itself; where there are fewer than wanted, the index is one beyond the last.
    found = (other < len(some)) & (other != this)
    this, other, near = this[found], other[found], near[found]
    close = near <= np.minimum(reach[this], reach[other])
    this, other = some[this[close]].astype(np.int64), some[other[close]].astype(np.int64)
    key = np.unique(np.minimum(this, other) * len(points) + np.maximum(this, other))  # most are there both ways
    return np.stack(np.divmod(key, len(points)), axis=1).astype(np.int32)


def _nearest(points: Floats, widest: float) -> tuple[Floats, NDArray[np.intp]]:
    """Distances and indices (n, k) of the nearest points of each, itself included, as far as they are within reach."""
    if len(points) <= _FEW:
        x, y, z = np.moveaxis(points[:, None] - points, -1, 0)
        distances = np.sqrt(x * x + y * y + z * z)
        order = np.argsort(distances, axis=1, kind="stable")[:, : _MOST_NEAR + 1]
        return np.take_along_axis(distances, order, axis=1), order
    from scipy.spatial import cKDTree  # type: ignore[import-untyped]

    near, other = cKDTree(points).query(points, k=_MOST_NEAR + 1, distance_upper_bound=widest)
    return near, other


def _is_single_precision(coordinates: Floats) -> bool:
    with np.errstate(over="ignore", under="ignore"):
        return bool((coordinates.astype(np.float32) == coordinates).all())


def _reach(points: Floats, edges: Ints, single: bool) -> Floats:
    """(n,) how near another vertex must be to be taken for this one."""
    ends = points[edges]
    rounding = ROUNDING * float((ends.max(axis=(0, 1)) - ends.min(axis=(0, 1))).max())
    if single:
        rounding = max(rounding, SINGLE_ULPS * float(np.spacing(np.float32(np.abs(ends).max()))))
    length = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
    shortest = np.full(len(points), np.inf)
    for k in range(2):
        np.minimum.at(shortest, edges[:, k], length)
    reach: Floats = np.minimum(rounding, PART_OF_EDGE * shortest)
    return reach
