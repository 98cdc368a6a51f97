"""The region of interpenetration of two convex hulls by the dual transform: half-spaces become points.

Ponamgi, Manocha and Lin (1995), 4.6: with an inner point of the region as the origin, a face plane n . x = d, d > 0,
becomes the point n / d.  The convex hull of these points has a corner for each face that bounds
the region, and a facet for each corner of the region.  The inner point of the last pose serves again as long as it is
inside; otherwise the middle of the largest ball in the region is found by linear programming.

A region without an inside (hulls that touch) has no such point: then there is no region.  Of several faces in one
plane, but for rounding, one is named.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from impinge.arrays import Floats
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.geometry.pose import as_pose
from impinge.incremental.regions.penetration_region import Region, region_of
from impinge.incremental.regions.posed_hull import NEARLY, posed_hull
from impinge.incremental.regions.region_box import common_box

_DEEP = 2.0**-30
"""Of the extent of the common box: an inner point that is not deeper makes points too far away to compare."""


class DualRegion:
    """The region of two hulls, with the inner point of the last pose.

    >>> cube = ConvexHull([[x, y, z] for x in (0, 2) for y in (0, 2) for z in (0, 2)])
    >>> aside = np.eye(4)
    >>> aside[:3, 3] = 1.0, 0.5, 0.25
    >>> region = DualRegion(cube, cube).region(None, aside)
    >>> len(region.faces_a), len(region.faces_b), region.vertices_a.tolist(), region.box.round(9).tolist()
    (3, 3, [7], [[1.0, 0.5, 0.25], [2.0, 2.0, 2.0]])
    """

    def __init__(self, a: ConvexHull, b: ConvexHull) -> None:
        self.a = a
        self.b = b
        self._inner: Floats | None = None

    def region(self, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None) -> Region | None:
        """The region in a pose; None where there is none with an inside."""
        from scipy import spatial  # type: ignore[import-untyped]

        if self.a.dimension < 3 or self.b.dimension < 3:
            return None
        a, b = posed_hull(self.a, as_pose(pose_a, "pose_a")), posed_hull(self.b, as_pose(pose_b, "pose_b"))
        known = common_box(a, b)
        last, self._inner = self._inner, None
        if (known[0] > known[1]).any():
            return None
        planes = np.concatenate([a.planes, b.planes])
        deep = _DEEP * float((known[1] - known[0]).max()) + NEARLY * max(a.largest, b.largest)
        inner = last if last is not None and _depth(planes, last) > deep else _middle_of_largest_ball(planes, known)
        if inner is None or _depth(planes, inner) <= deep:
            return None
        depths = -(planes[:, :3] @ inner + planes[:, 3])
        try:
            dual = spatial.ConvexHull(planes[:, :3] / depths[:, None])
        except spatial.QhullError:  # points that are flat but for rounding
            return None
        self._inner = inner
        inside = np.zeros(len(planes), dtype=np.bool_)
        inside[dual.vertices] = True
        corners = inner - dual.equations[:, :3] / dual.equations[:, 3:]
        along = np.concatenate([-corners, corners], axis=1)
        return region_of(a, b, inside, dual.simplices[along.argmax(axis=0)], inner)


def _depth(planes: Floats, point: Floats) -> float:
    """How deep a point is inside all planes."""
    return -float((planes[:, :3] @ point + planes[:, 3]).max())


def _middle_of_largest_ball(planes: Floats, known: Floats) -> Floats | None:
    from scipy.optimize import linprog  # type: ignore[import-untyped]

    middle = known.mean(axis=0)
    scale = float((known[1] - known[0]).max())
    if scale == 0.0:
        return None
    # From the middle of the known box, in units of its extent: the solver has absolute tolerances.
    heights = (planes[:, :3] @ middle + planes[:, 3]) / scale
    rows = np.column_stack([planes[:, :3], np.ones(len(planes))])
    found = linprog([0, 0, 0, -1], A_ub=rows, b_ub=-heights, bounds=[(-1, 1)] * 3 + [(None, None)], method="highs")
    if found.x is None or found.x[3] <= 0.0:
        return None
    inner: Floats = middle + scale * found.x[:3]
    return inner
