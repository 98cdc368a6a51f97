"""A box that certainly holds the region of interpenetration of two hulls, and all contacts of what they hold.

Any face plane n . x <= D of either hull is a bound of the region, and so is every sum of such bounds with weights
w >= 0: if e is the direction of an axis, and e = sum w_i n_i + r, then for all x of the region

    e . x <= sum w_i D_i + max r . x,

where the last maximum is taken over a box that is known to hold the region.  (This is weak duality of linear
programming.)  The planes that meet at the corner of the region farthest along e give weights with r = 0, but for
rounding.  So whichever planes are named, by whatever walk, the bound holds; only how tight it is depends on them.

What is rounded
---------------
Let u = 2**-53 and M the larger size of coordinates.  D_i is the largest n_i . p over ALL posed corners p of a hull:
6 u M of rounding; a posed vertex of what the hull holds is beyond the posed hull by less than 32 u M
(``distance.gap_bound``); so 128 u M is added.  Coordinates are taken from the middle of the known box.  The weights
are as they are: r is right to 8 u (1 + sum w) in each coordinate, which is multiplied by the extents of the box.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from impinge.arrays import Floats
from impinge.constants import UNIT_ROUNDOFF
from impinge.incremental.regions.posed_hull import PosedHull

_BEYOND = 64.0 * UNIT_ROUNDOFF
_ROUNDED = 8.0 * UNIT_ROUNDOFF


def common_box(a: PosedHull, b: PosedHull) -> Floats:
    """(2, 3) where the boxes around both overlap; low above high where they do not."""
    lows = [hull.vertices.min(axis=0) - _BEYOND * hull.largest for hull in (a, b)]
    highs = [hull.vertices.max(axis=0) + _BEYOND * hull.largest for hull in (a, b)]
    return np.stack([np.maximum(*lows), np.minimum(*highs)])


def region_box(a: PosedHull, b: PosedHull, farthest: Sequence[Sequence[int]]) -> Floats:
    """(2, 3) a box around the region, within the common box.

    ``farthest`` names planes for the six directions -x, -y, -z, x, y, z: faces of a, and then those of b.
    """
    known = common_box(a, b)
    if (known[0] > known[1]).any():
        return known
    middle = known.mean(axis=0)
    half = (known[1] - known[0]) * 0.5 * (1.0 + 4.0 * UNIT_ROUNDOFF)
    box = known.copy()
    for i, planes in enumerate(farthest):
        side, axis = divmod(i, 3)
        direction = np.zeros(3)
        direction[axis] = 2 * side - 1
        bound = middle[axis] * direction[axis] + _bound_along(direction, a, b, planes, middle, half)
        if side == 0:
            box[0, axis] = max(known[0, axis], -bound)
        else:
            box[1, axis] = min(known[1, axis], bound)
    return box


def _bound_along(
    direction: Floats, a: PosedHull, b: PosedHull, planes: Sequence[int], middle: Floats, half: Floats
) -> float:
    """No point of the region is farther than this from the middle, along the direction."""
    from scipy.optimize import nnls  # type: ignore[import-untyped]

    size: float = max(a.largest, b.largest)
    if len(planes) == 0:
        return np.inf
    hulls = [(a, plane) if plane < len(a.planes) else (b, plane - len(a.planes)) for plane in planes]
    normals = np.stack([hull.planes[face, :3] for hull, face in hulls])
    depths = np.array(
        [((hull.vertices - middle) @ hull.planes[face, :3]).max() + _BEYOND * 2.0 * size for hull, face in hulls]
    )
    try:
        weights = nnls(normals.T, direction)[0]
    except RuntimeError:  # no convergence
        return np.inf
    rest = np.abs(direction - weights @ normals) + _ROUNDED * (1.0 + weights.sum())
    bound = float(weights @ depths + rest @ half)
    return bound + _ROUNDED * (abs(bound) + size)
