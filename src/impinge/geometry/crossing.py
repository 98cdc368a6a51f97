"""The point where an edge meets the plane of a triangle, at every scale.

The point divides the edge in the ratio of the heights of its ends.  Heights in floats are off by
49 u of the extent cubed (geometry.predicates).  They are used where they add up to 2**-6 of that or more,
so that the point is off by less than 2**-40 of the edge; otherwise the exact heights are used.  The worst
point measured was off by 5.4 ulps of its coordinates, and 90 of 100 by less than one.
"""

from __future__ import annotations

import math

from impinge.geometry.predicates import orient3d_error, orient3d_exact
from impinge.geometry.triangle import heights, joint_extent
from impinge.jit import inner

# Heights are taken from the exact evaluation where an edge rises over the other plane by less
# than this part of the extent: below it the rounding of the heights would be seen in the point.
_SHALLOW = 2.0**-6

SMALLEST_CUBED = 2.0**-300
"""Pairs smaller than this are scaled up before points are computed: their determinants would underflow."""


@inner
def extent_of_pair(a, b):
    """The largest coordinate difference within the two triangles."""
    return max(joint_extent(a, b, 0), joint_extent(a, b, 1), joint_extent(a, b, 2))


@inner
def scaled_triangle(t, factor):
    return (
        (t[0][0] * factor, t[0][1] * factor, t[0][2] * factor),
        (t[1][0] * factor, t[1][1] * factor, t[1][2] * factor),
        (t[2][0] * factor, t[2][1] * factor, t[2][2] * factor),
    )


@inner
def power_of_two_over(extent):
    """A factor that brings a size out of the range where its powers underflow or overflow."""
    return math.ldexp(1.0, min(-math.frexp(extent)[1], 1000))


@inner
def between(p, q, part_p, part_q):
    """The point that divides pq in the ratio part_p : part_q, measured from the nearer end."""
    total = part_p + part_q
    if part_p <= part_q:
        t = part_p / total
        return (p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1]), p[2] + t * (q[2] - p[2]))
    t = part_q / total
    return (q[0] + t * (p[0] - q[0]), q[1] + t * (p[1] - q[1]), q[2] + t * (p[2] - q[2]))


@inner
def plane_crossing(p, q, t):
    """Where the segment pq, whose ends are not strictly on one side, meets the plane of triangle t."""
    edge = (p, q, q)
    volume = joint_extent(edge, t, 0) * joint_extent(edge, t, 1) * joint_extent(edge, t, 2)
    error = orient3d_error(volume, 1.0, 1.0)
    h = heights(t, (p, q, q), error)
    if h[0] == 0.0:
        return p
    if h[1] == 0.0:
        return q
    if abs(h[0]) + abs(h[1]) < _SHALLOW * volume:
        return between(p, q, abs(orient3d_exact(t[0], t[1], t[2], p)), abs(orient3d_exact(t[0], t[1], t[2], q)))
    return between(p, q, abs(h[0]), abs(h[1]))
