# mypy: allow-untyped-defs, allow-incomplete-defs
"""Boxes and balls of moving bodies from their local bounds: some 20 ns each, whatever the body, and no hull.

The box of a body in its own frame, turned, has a box along the world's axes that is wider than the one that fits; the
ball around the middle of the local box cuts its corners off.  In a feeder of 1,000 parts 7,200 pairs of such boxes
overlap, 2,200 pairs of boxes and balls, and 2,200 pairs of boxes that fit.

The bounds
----------
Let u = 2**-53, c the middle and h the half widths of the local box, rounded outward (every vertex x has |x - c| <= h
along each axis), R and t the pose, r no less than any |x|, M = r + max|t|.  Exactly, (R x + t)_k is within sum_j |R_kj|
h_j of (R c + t)_k, whatever R is.  Rounding: a posed vertex is within 4.1 u M of R x + t (``box_axes``).  |c| and |h|
are at most sqrt(3) r.  So the computed R c + t is within 7.1 u M, the sum of |R_kj| h_j within 5.4 u M, and two
differences, of numbers below 4.5 M, are rounded by 4.5 u M each at most: 25.6 u M in all; ``_OUTWARD`` is 32 u.

A posed vertex is within (1 + 2e-9) q of R c + t, where q is no less than any |x - c|, because R^T R is the identity to
1e-9 in each entry; 2**-28 q is added.  Two bodies within a clearance of each other have middles within both radii, the
clearance and the rounding of both, which is in ``margin``, in each of three coordinates: sqrt(3) 32 u M is less than
64 u M.  The sums and the square of that are rounded by less than 2**-50 of it, so 2**-40 is added.  Squares that
underflow are covered by 2**-1000.
"""

from __future__ import annotations

import numpy as np

from impinge.bodies import Body
from impinge.broadphase.body_boxes.box_axes import UNDERFLOW
from impinge.broadphase.body_boxes.used_vertices import used_vertices
from impinge.constants import UNIT_ROUNDOFF
from impinge.convex.hull.hull_handle import radius_of
from impinge.geometry.float_errors import default_float_errors
from impinge.geometry.posing import posed_point
from impinge.kernels.jit import inlined, inner
from impinge.kernels.record import Record, float64

_OUTWARD = 32.0 * UNIT_ROUNDOFF


class LocalBounds(Record):
    """Where a body is in its own frame."""

    middle = float64[3]
    """Of its box,"""
    half = float64[3]
    """half the widths of that,"""
    radius = float64
    """and of the ball around the middle."""
    farthest = float64
    """No vertex is farther from the origin."""
    extremes = float64[6, 3]
    """The vertices with the smallest and the largest coordinate along each axis."""


class PosedBounds(Record):
    """Where a body is in the world."""

    low = float64[3]
    high = float64[3]
    """Every posed vertex is between these."""
    middle = float64[3]
    radius = float64
    """And within this of the middle, but for rounding,"""
    margin = float64
    """of which there is less than this."""


def local_bounds(body: Body) -> LocalBounds:
    """Made once."""
    return body.memo("local bounds", _local_bounds)


@default_float_errors
def _local_bounds(body: Body) -> LocalBounds:
    points = used_vertices(body)
    low, high = points.min(axis=0), points.max(axis=0)
    middle = 0.5 * low + 0.5 * high
    half = np.nextafter(np.maximum(high - middle, middle - low), np.inf)
    ends = np.concatenate([points.argmin(axis=0), points.argmax(axis=0)])
    # Differences are rounded too, once: the bound of radius_of has room for it.
    return LocalBounds(
        middle=middle, half=half, radius=radius_of(points - middle) * (1.0 + 2.0**-28), farthest=radius_of(points),
        extremes=points[ends],
    )  # fmt: skip


@inner
def pose_bounds(local, pose, posed):
    """Write the bounds of a body in a pose."""
    middle = posed_point(pose, local.middle[0], local.middle[1], local.middle[2])
    size = local.farthest + max(abs(pose[0, 3]), abs(pose[1, 3]), abs(pose[2, 3]))
    outward = _OUTWARD * size + 4.0 * UNDERFLOW
    for k in range(3):
        reach = abs(pose[k, 0]) * local.half[0] + abs(pose[k, 1]) * local.half[1] + abs(pose[k, 2]) * local.half[2]
        reach = min(reach, local.radius)
        posed.low[k] = middle[k] - reach - outward
        posed.high[k] = middle[k] + reach + outward
        posed.middle[k] = middle[k]
    posed.radius = local.radius
    posed.margin = 2.0 * outward


@inlined
def boxes_overlap(a, b, grown):
    """Whether two boxes are no farther apart than this, along each axis, if each is grown by its part of it."""
    return (
        a.low[0] - grown[0] <= b.high[0] + grown[1]
        and b.low[0] - grown[1] <= a.high[0] + grown[0]
        and a.low[1] - grown[0] <= b.high[1] + grown[1]
        and b.low[1] - grown[1] <= a.high[1] + grown[0]
        and a.low[2] - grown[0] <= b.high[2] + grown[1]
        and b.low[2] - grown[1] <= a.high[2] + grown[0]
    )


@inlined
def balls_overlap(a, b, clearance):
    """Whether two balls may be within a clearance of each other."""
    reach = (a.radius + b.radius + clearance + (a.margin + b.margin)) * (1.0 + 2.0**-40)
    x, y, z = a.middle[0] - b.middle[0], a.middle[1] - b.middle[1], a.middle[2] - b.middle[2]
    return x * x + y * y + z * z <= reach * reach + 2.0**-1000


@inner
def may_hold(outer, inner_body, pose):
    """Whether a posed box may hold a body: it holds the vertices that are farthest out along the axes of its frame.

    Posed vertices are exact, and so are these comparisons: where a body is inside a solid, its vertices are in all
    boxes around that.
    """
    for i in range(6):
        point = posed_point(pose, inner_body.extremes[i, 0], inner_body.extremes[i, 1], inner_body.extremes[i, 2])
        for k in range(3):
            if point[k] < outer.low[k] or point[k] > outer.high[k]:
                return False
    return True
