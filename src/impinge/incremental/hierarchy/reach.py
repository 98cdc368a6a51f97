"""Extents of the boxes of a hierarchy, over all orientations and along pre-computed directions.

Ponamgi, Manocha and Lin (1995), 4.5, name two ways to spare boxes the search for their smallest and largest
coordinates: boxes that hold their faces in every orientation, which are only translated; and sizes that are
pre-computed for common orientations, between which one interpolates.

Every orientation
-----------------
A sphere around the points.  With the derivation of ``body_boxes.fixed_cubes``: let g be its middle and q its radius.
R x + t and R g + t differ by |R (x - g)| <= q (1 + 2**-29), because R^T R is the identity to 1e-9.

Interpolation that loses nothing
--------------------------------
Let H(d) be the largest x . d over the points x of a node.  It is subadditive: H(d + e) <= H(d) + H(e), and H(w d) =
w H(d) for w >= 0.  So if a direction is a sum of others with weights that are not negative, the same sum of their H is
an upper bound.  The 26 pre-computed directions have coordinates -1, 0 and 1.  Any r is such a sum of three: let
|r_i| >= |r_j| >= |r_k| and s the signs; then

    r = (|r_i| - |r_j|) s_i e_i + (|r_j| - |r_k|) (s_i e_i + s_j e_j) + |r_k| (s_i e_i + s_j e_j + s_k e_k).

The row of a pose along an axis of the world is r, so along this axis the node ends at most at that sum plus t.  What is
linear in H is interpolated exactly; the box of a sphere grows by up to 13 percent.

What is rounded
---------------
Let u = 2**-53, r no less than any |x|, and M = r + max|t|.  Posed vertices are within 4.1 u M of R x + t, and so is
every point of a posed triangle of the posed point of the body (it is the same mean of corners).  Spheres: 23 u M in all
(``body_boxes.fixed_cubes``).  Sums: H of at most three coordinates, 6 u r; differences of weights, 2 u |H| < 5.2 u r;
products and sums 6 u r, the sum with t and the move outward 2.3 u M; so 24 u M.  ``OUTWARD`` is 256 u.  Pieces of
trimmed faces are known to 2048 u r (``hierarchy.trimming``), and the weights times the lengths of their directions
add up to at most 1.13: 2048 * 1.13 + 24 is below 4096 u, ``PIECES_OUTWARD``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats, Ints
from impinge.constants import UNIT_ROUNDOFF

OUTWARD = 256.0 * UNIT_ROUNDOFF
PIECES_OUTWARD = 4096.0 * UNIT_ROUNDOFF
"""By this times M boxes are moved outward."""

_NEARLY_RIGID = 1.0 + 2.0**-28
"""For the rotation and for the rounding of the radius."""

DIRECTIONS = 27
"""Direction (x, y, z) of -1, 0, 1 has the number 13 + 9 x + 3 y + z."""
NOWHERE = 13
STEPS = (9, 3, 1)
OPPOSITE = 26
"""Less the number of a direction: the number of the opposite one."""

_COORDINATES = np.array([-1.0, 0.0, 1.0])
_DIRECTIONS: Floats = np.stack(np.meshgrid(*[_COORDINATES] * 3, indexing="ij"), axis=-1).reshape(DIRECTIONS, 3)
_FORWARD = [NOWHERE + step for step in STEPS]
_BACKWARD = [NOWHERE - step for step in STEPS]
"""Along the axes."""


class Reach(NamedTuple):
    middles: Floats
    """(n, 3) of spheres,"""
    radii: Floats
    """(n,) and their radii."""
    spans: Floats
    """(n, 27) H in all directions."""


def reach_of_nodes(parent: Ints, nodes: int, triangles: Floats, piece_starts: Ints, pieces: Floats) -> Reach:
    """Of the points below each node: those of pieces, or the corners of whole faces."""
    counts = np.diff(piece_starts)
    whole = np.flatnonzero(counts == 0)
    points = np.concatenate([triangles[whole].reshape(-1, 3), pieces])
    entry = np.concatenate([np.repeat(whole, 3), np.repeat(np.arange(len(counts)), counts)])
    heights = np.stack([points @ direction for direction in _DIRECTIONS], axis=1)
    above = _ancestors(parent, nodes + entry)
    spans = np.full((nodes, DIRECTIONS), -np.inf)
    for which, node in above:
        _raise_to_largest(spans, node, heights[which])
    middles = 0.5 * spans[:, _FORWARD] - 0.5 * spans[:, _BACKWARD]
    radii = np.zeros((nodes, 1))
    for which, node in above:
        away = np.abs(points[which] - middles[node])
        _raise_to_largest(radii, node, np.hypot(np.hypot(away[:, 0], away[:, 1]), away[:, 2])[:, None])
    return Reach(np.ascontiguousarray(middles), (radii * _NEARLY_RIGID).reshape(-1), spans)


def _ancestors(parent: Ints, items: NDArray[np.intp]) -> list[tuple[NDArray[np.intp], Ints]]:
    """For each step upward: which items have a node there, and that node."""
    steps = []
    which, node = np.arange(len(items)), parent[items]
    while len(which):
        steps.append((which, node))
        higher = parent[node] >= 0
        which, node = which[higher], parent[node[higher]]
    return steps


def _raise_to_largest(rows: Floats, node: Ints, values: Floats) -> None:
    """Raise the row of each node to the largest of its values."""
    order = np.argsort(node, kind="stable")
    ordered = node[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    there = ordered[starts]
    rows[there] = np.maximum(rows[there], np.maximum.reduceat(values[order], starts, axis=0))
