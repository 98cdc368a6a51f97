# mypy: allow-untyped-defs, allow-incomplete-defs
"""Cached separating plane: the one of the last pose is tried first, and decides most queries along a path.

Baraff (1990), "Curved surfaces and coherence for non-penetrating rigid body simulation": the plane moves along with
one of the bodies.  It is kept as a direction in the frame of a, with the vertices of both bodies that were nearest to
it; from these a climb over a few edges tells whether it still separates.  No posed vertex is needed: a height in the
frame of a body is within 16 u M|d| of that in the world, and the climb ends within 32 u M|d| of the highest vertex
(``distance.support``).  Both bodies and the sums of heights and shifts together stay below 128 u M|d|.  The same holds
for every vertex of a body inside the hull: its exact height is no larger than that of the hull's highest one.
"""

from __future__ import annotations

from impinge.constants import UNIT_ROUNDOFF
from impinge.convex.distance.support import climb, size_of_coordinates, turned_back
from impinge.geometry.exact.predicates import dot
from impinge.kernels.jit import inner

_HEIGHT_ERROR = 128.0 * UNIT_ROUNDOFF
_UNDERFLOW = 2.0**-1000
_LONGEST = 1.0 + 2.0**-28
"""A direction of length one, to a few roundings, is not longer after a rotation to 1e-9."""


@inner
def keep_plane(work, pose_a, d, length, vertex_a, vertex_b):
    """Remember a direction that separates: all of a lies farther along it than all of b."""
    c = turned_back(pose_a, (d[0] / length, d[1] / length, d[2] / length))
    for k in range(3):
        work.kept.plane[k] = c[k]
    work.kept.plane_a = vertex_a
    work.kept.plane_b = vertex_b
    work.kept.has_plane = True


@inner
def still_separates(work, a, b, pose_a, pose_b, limit):
    """Whether the kept plane, carried along with a, certainly shows the bodies to be farther apart than the limit."""
    c = (work.kept.plane[0], work.kept.plane[1], work.kept.plane[2])
    r, s, t = pose_a
    d = (dot(r, c), dot(s, c), dot(t, c))
    vertex_a, low, _ = climb(a, (-c[0], -c[1], -c[2]), work.kept.plane_a)
    vertex_b, high, _ = climb(b, turned_back(pose_b, d), work.kept.plane_b)
    work.kept.plane_a = vertex_a
    work.kept.plane_b = vertex_b
    shift_a = dot(d, (r[3], s[3], t[3]))
    shift_b = dot(d, (pose_b[0][3], pose_b[1][3], pose_b[2][3]))
    size = size_of_coordinates(a, pose_a) + size_of_coordinates(b, pose_b)
    error = _HEIGHT_ERROR * size * (abs(d[0]) + abs(d[1]) + abs(d[2])) + _UNDERFLOW
    return (shift_a - low) - (shift_b + high) > limit * _LONGEST + error
