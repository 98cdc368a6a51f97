# mypy: allow-untyped-defs, allow-incomplete-defs
"""Faces trimmed at the cells of a hierarchy: the pieces cover the face for certain.

Ponamgi, Manocha and Lin (1995), 4.5, trim faces at the sides of the boxes, and report (section 6) that rounding of the
new vertices caused trouble.  Here a piece only tells where a box has to be; what is tested is always the whole face.

Nothing is lost by rounding
---------------------------
A triangle is clipped by the six half-spaces of a cell, one after the other.  Let r be no less than any |x|, u = 2**-53,
e such that each point of the exact piece is within e of the convex hull of the computed corners, and f such that each
point on the outline of this hull is within f of the computed outline, which rounding has made slightly other than
convex.  The next half-space is moved outward by m >= e + f.  A point of the exact next piece has a point z of the hull
within e, which is m - e deep in the moved half-space.  The line through z parallel to its plane leaves the hull at two
points of that depth, and within f of these are points of the outline that are still inside, hence kept: z is within f
of the segment between them.  A new vertex p + s (q - p) has s in [0, 1] to 3.1 u, so it rounds by 12 u r in each
coordinate, 21 u r in length.  So with every clip e grows by at most f + 21 u r, and f by 42 u r.  After six e is below
760 u r and e + f below 1000 u r: half-spaces are moved by ``TRIMMED`` r, 2048 u r, and so is what is made of pieces.
"""

from __future__ import annotations

import numpy as np

from impinge.constants import UNIT_ROUNDOFF
from impinge.kernels.jit import inner, kernel

TRIMMED = 2048.0 * UNIT_ROUNDOFF
"""Points of a piece are within this times r of the computed piece."""

MOST_CORNERS = 40
"""Nine, but for rounding; three and half as many more with each of six clips at the very most."""


@inner
def _clip(polygon, count, axis, sign, limit, clipped):
    """The part of a polygon where ``sign * x[axis] <= limit``; returns its number of corners."""
    found = 0
    for i in range(count):
        j = i + 1 if i + 1 < count else 0
        here, there = sign * polygon[i, axis], sign * polygon[j, axis]
        if here <= limit:
            for k in range(3):
                clipped[found, k] = polygon[i, k]
            found += 1
        if (here <= limit) != (there <= limit) and here != limit and there != limit:
            s = (limit - here) / (there - here)
            for k in range(3):
                clipped[found, k] = polygon[i, k] + s * (polygon[j, k] - polygon[i, k])
            clipped[found, axis] = sign * limit
            found += 1
    return found


@kernel("float64[:, :, ::1], float64[::1], float64[::1], float64, float64[:, :, ::1], int32[::1]")
def trim(triangles, low, high, outward, pieces, counts):
    """Pieces (n, MOST_CORNERS, 3) of triangles (n, 3, 3) in a cell, and their numbers of corners: 0 for those outside.

    ``outward`` is TRIMMED times r.
    """
    one = np.empty((MOST_CORNERS, 3))
    other = np.empty((MOST_CORNERS, 3))
    for n in range(len(triangles)):
        count = 3
        for i in range(3):
            for k in range(3):
                one[i, k] = triangles[n, i, k]
        for axis in range(3):
            count = _clip(one, count, axis, 1.0, high[axis] + outward, other)
            count = _clip(other, count, axis, -1.0, outward - low[axis], one)
        counts[n] = count
        for i in range(count):
            for k in range(3):
                pieces[n, i, k] = one[i, k]
