"""Cracks: vertices of open edges that are almost, but not quite, at the same position.

Files of rounded coordinates have them where two patches were computed on their own.  Two vertices that come this
close lie in one cell of at least one of eight grids: cells are twice as wide as the reach, and the grids are
shifted by half a cell along none, some or all axes.
"""

from __future__ import annotations

import numpy as np

from impinge.geometry.cast import Floats, Ints
from impinge.geometry.t_vertices import SLENDERNESS, ULPS


def crack_reach(points: Floats, edges: Ints) -> Floats:
    """(n,) how near, along each axis, another vertex must be to be taken for this one.

    That is 16 units in the last place of its largest coordinate, but no more than 2**-20 of the shortest edge there.
    """
    length = np.abs(points[edges[:, 0]] - points[edges[:, 1]]).max(axis=1)
    shortest = np.full(len(points), np.inf)
    for k in range(2):
        np.minimum.at(shortest, edges[:, k], length)
    reach: Floats = np.minimum(ULPS * np.spacing(np.abs(points).max(axis=1)), SLENDERNESS * shortest)
    return reach


def find_close_vertices(points: Floats, vertices: Ints, reach: Floats) -> Ints:
    """(k, 2) the pairs of these vertices, at different positions, that are within reach of each other; sorted."""
    some = vertices[reach[vertices] > 0.0]
    exponent = np.frexp(reach[some])[1]
    found = [np.zeros((0, 2), dtype=np.int32)]
    # A vertex of wide reach must not fill the cells of those with a narrow one: both have to reach.
    for level in np.unique(exponent):
        members = some[exponent >= level]
        with np.errstate(over="ignore"):
            scaled = np.ldexp(points[members], -int(level) - 1)
        # Coordinates so large can only be equal or out of reach: they stand for themselves.
        scaled = np.where(np.isfinite(scaled), scaled, points[members])
        for shift in np.ndindex(2, 2, 2):
            found.append(_pairs_in_cells(np.floor(scaled + 0.5 * np.array(shift)), members))
    pairs = np.unique(np.concatenate(found), axis=0)
    apart = np.abs(points[pairs[:, 0]] - points[pairs[:, 1]]).max(axis=1)
    close = (apart <= np.minimum(reach[pairs[:, 0]], reach[pairs[:, 1]])) & (apart > 0.0)
    return np.ascontiguousarray(pairs[close])


def _pairs_in_cells(cells: Floats, members: Ints) -> Ints:
    order = np.lexsort((cells[:, 2], cells[:, 1], cells[:, 0]))
    ordered = cells[order]
    pairs = [np.zeros((0, 2), dtype=np.int32)]
    for step in range(1, len(order)):
        same = np.flatnonzero((ordered[step:] == ordered[:-step]).all(axis=1))
        if len(same) == 0:
            break
        pairs.append(np.stack([members[order[same]], members[order[same + step]]], axis=1))
    return np.sort(np.concatenate(pairs), axis=1)
