# mypy: allow-untyped-defs, allow-incomplete-defs
"""The point where an edge meets the plane of a triangle, at every scale.

The point divides the edge in the ratio of the heights of its ends.  Heights in floats are off by
49 u of the extent cubed (geometry.exact.predicates).  They are used where they add up to 2**-4 of that or more,
so that the point is off by less than 2**-43 of the edge; otherwise the exact heights are used.  What is measured stands
in docs/accuracy.md.
"""

from __future__ import annotations

import math

import numpy as np

from impinge.geometry.exact import big_integers
from impinge.geometry.exact.predicates import UNDERFLOW, orient3d_error
from impinge.geometry.triangles.intersection import heights, joint_extent
from impinge.kernels.jit import cold, inner

# Heights are taken from the exact evaluation where an edge rises over the other plane by less
# than this part of the extent: below it the rounding of the heights would be seen in the point.
_SHALLOW = 2.0**-4

SMALLEST_SAFE_EXTENT = 2.0**-150
"""Pairs smaller than this are scaled up before normals and points in a plane are computed in floats."""


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
def largest_coordinate(a, b):
    """The largest magnitude among the coordinates of two triangles."""
    largest = 0.0
    for i in range(3):
        for k in range(3):
            largest = max(largest, abs(a[i][k]), abs(b[i][k]))
    return largest


@inner
def power_of_two_over(extent, largest):
    """A factor that brings an extent near 1, as far as the largest coordinate does not overflow.

    Sixth powers of what it leaves, another 2**-212 smaller for needles and tiny gaps, do not underflow: extents
    are not below 2**-53 of the coordinates unless those are equal.
    """
    return math.ldexp(1.0, min(-math.frexp(extent)[1], 900 - math.frexp(largest)[1], 1000))


@inner
def between(p, q, part_p, part_q):
    """The point of pq whose distances from p and q are as part_p : part_q, measured from the nearer end."""
    total = part_p + part_q
    if part_p <= part_q:
        t = part_p / total
        return (p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1]), p[2] + t * (q[2] - p[2]))
    t = part_q / total
    return (q[0] + t * (p[0] - q[0]), q[1] + t * (p[1] - q[1]), q[2] + t * (p[2] - q[2]))


@cold("float64(" + ", ".join(["float64"] * 15) + ")")
def _exact_part(px, py, pz, qx, qy, qz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """|height of p| : (|height of p| + |height of q|) over the plane abc, rounded once; no range of exponents."""
    points = np.empty((5, 3))
    points[0, 0], points[0, 1], points[0, 2] = ax, ay, az
    points[1, 0], points[1, 1], points[1, 2] = bx, by, bz
    points[2, 0], points[2, 1], points[2, 2] = cx, cy, cz
    points[3, 0], points[3, 1], points[3, 2] = px, py, pz
    points[4, 0], points[4, 1], points[4, 2] = qx, qy, qz
    rows, _ = big_integers.integers(points)
    big_integers.make_relative(rows)
    normal = big_integers.cross(rows[1], rows[2])
    height_p = big_integers.dot(normal, rows[3])
    height_q = big_integers.dot(normal, rows[4])
    unit = -big_integers.DIGIT_BITS * max(big_integers.highest_digit(height_p), big_integers.highest_digit(height_q))
    part_p = abs(big_integers.nearest_float(height_p, unit))
    part_q = abs(big_integers.nearest_float(height_q, unit))
    return part_p / (part_p + part_q)


@inner
def plane_crossing(p, q, t):
    """Where the segment pq, whose ends are not strictly on one side, meets the plane of triangle t."""
    edge = (p, q, q)
    volume = joint_extent(edge, t, 0) * joint_extent(edge, t, 1) * joint_extent(edge, t, 2)
    h = heights(t, edge, orient3d_error(volume, 1.0, 1.0))
    if h[0] == 0.0:
        return p
    if h[1] == 0.0:
        return q
    if abs(h[0]) + abs(h[1]) < _SHALLOW * volume + UNDERFLOW:
        part = _exact_part(*(p + q + t[0] + t[1] + t[2]))
        return between(p, q, part, 1.0 - part)
    return between(p, q, abs(h[0]), abs(h[1]))
