# mypy: allow-untyped-defs, allow-incomplete-defs
"""A lower bound of the distance of two convex bodies, by GJK in floats: as good as needed, certain, never exact.

For hulls around other bodies: they are only ever used to say that what they hold is far away.

The bound also holds for what is inside
---------------------------------------
Let a hull H have corners among the vertices of the bodies that it was made for, and hold them exactly before posing.
The pose is R x + t, and its rounding moves a vertex by e: at most six roundings in each of three coordinates, none of
a number above M (``distance.support``): |e| <= 6 sqrt(3) u M < 11 u M, u = 2**-53.  Without rounding, the posed H would
hold the posed bodies, for R x + t is affine, whether or not R is quite a rotation.  So a point of a posed body is
within 11 u M of the unrounded H, whose points are within 11 u M of the posed H: less than 32 u M together, for a and b
each with its own M.  (No body in H has a larger radius, hence none a larger M.)  The height of a plane, which is a
bound of the distance, is off by 64 u M (``distance.gjk``).  128 u M covers both, and the rounding of their difference.
Underflow, of less than 2**-1070, is nothing beside that: GJK finds no bound above 0 where M is below 2**-452.
"""

from __future__ import annotations

from impinge.constants import UNIT_ROUNDOFF
from impinge.convex.distance.gjk import gjk
from impinge.convex.distance.simplex import pose_anew
from impinge.convex.distance.support import size_of_coordinates
from impinge.convex.workspace import BOUND
from impinge.kernels.jit import inner

_ERROR = 128.0 * UNIT_ROUNDOFF


@inner
def gap_bound(work, a, b, pose_a, pose_b, reach):
    """No point of what a holds is nearer than this to one of what b holds; 0 where the hulls may meet.

    Begins with the simplex of the workspace, and ends as soon as the bound is above the reach.
    """
    error = _ERROR * (size_of_coordinates(a, pose_a) + size_of_coordinates(b, pose_b))
    pose_anew(work, a, b, pose_a, pose_b)
    gjk(work, a, b, pose_a, pose_b, BOUND, reach + error)
    return max(work.lower - error, 0.0)
