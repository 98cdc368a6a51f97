# mypy: allow-untyped-defs, allow-incomplete-defs
"""Far view: lower bounds of distances for bodies much farther apart than they are large.

Seen from a body, coordinates of the other one are as large as the distance of the two, and float32 rounds them to
2**-24 of it: a thousand sizes away a tree can no longer tell its small volumes apart.  So the distance
L = |W| of the posed origins is taken away first, in float64.  Let n = W / L, and t1 and t2 complete it to an
orthonormal frame.  Two points, with the components x along n and y across n of the vector between them, have the
distance

    d = sqrt(x^2 + y^2),    d - x = y^2 / (d + x) >= y^2 / (2 d) >= kappa y^2,    kappa = 1 / (2 D),

where D is no smaller than any distance between points of the two bodies.  So

    e = (x - L) + kappa y^2

is a lower bound of d - L, and all that enters it has the size of the bodies.  x - L is the difference of the
coordinates along n, each relative to the origin of its own body.  For volumes its least value is

    gap_n = (lowest coordinate of far) - (highest coordinate of near),

which may be negative, and y^2 is at least the sum of the squared gaps along t1 and t2.  All that is asked of a volume
is how far it extends along three directions.  Such bounds are cheap, and tight too: along n nothing is lost,
while gaps between boxes along their own axes fall short of the distance.

For near = b all is the same with -n.  Bounds are in local units of the near body, on the stack in those of a.
No front is made or walked along.

The margin
----------
What is rounded is bounded by ``margin``, in local units of the near body, by which the shadow of the far volume is
extended at both ends (u = 2**-24, s = unit_far / unit_near):

  - A posed vertex is w + R l unit but for rounding of the world (see relative_motion), and its coordinate along n is
    w.n + (R^T n).l unit, whether or not R is a rotation to the last bit.  R^T n is computed in float64; that
    n, t1, t2 are orthonormal to 2**-50 only, and that L and d - L are rounded, moves d by less than 2**-48 D.
    Distances themselves are computed to DISTANCE_ERROR of the extent of the triangles, and what is sought
    is the smallest computed one: so DISTANCE_ERROR * D is added, which is more than all of these.
  - A direction is rounded to float32, products and sums follow: 4 u of |c| <= 3.5 for a centre, as much of 3.5 for
    radii, which the surplus of half lengths covers (layout.SURPLUS).  Directions of the far body are multiplied by
    s before.  That makes 14 u (1 + s).
  - Extents, no larger than 7 and 7 s, are rounded once; half of one where the margin is added; then their difference,
    and the sum of e: 25 u (1 + s).
  - For near = b the bound is converted to units of a, with three roundings: 21 u (1 + s).

Together 60 u (1 + s); taken is 64.  Corners of triangles are at most sqrt(3) from the origin, rounded themselves, and
nothing is converted: 9 u (1 + s), then three roundings of 1.8 u (1 + s); taken is 16.
kappa is rounded down by 16 u, more than the 6 u by which the squares may be rounded up.  The reach, (d - L) / unit, is
rounded up.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from impinge.bvh.layout import AABB_CENTRE, AABB_HALF, OBB_AXES, OBB_CENTRE, OBB_HALF, SPHERE_CENTRE, SPHERE_RADIUS
from impinge.bvh.relative_motion import FARTHEST, between_origins, column, dot3, world_rounding
from impinge.geometry.triangles.distance import DISTANCE_ERROR
from impinge.kernels.jit import inlined, inner
from impinge.kernels.lanes import eight_lanes, larger, smaller
from impinge.kernels.record import Record, float32

_ULP32 = 2.0**-24

FAR = 2.0**5
"""Bodies are seen in far view where their origins are farther apart than this multiple of both units together.

There it takes 0.7 of the comparisons on the pipes and half of them on the torus on land; at 2**4 a third more on
the pipes.
"""

# The square of a shorter length might underflow.
_SHORTEST = 2.0**-500


class View(Record):
    """The frame n, t1, t2 as both bodies see it."""

    ours = float32[9]
    """The three directions in the local frame of the near body, one after the other."""
    theirs = float32[9]
    """Those in the local frame of the far body, times its unit in units of near."""
    scale = float32
    """That unit."""
    kappa = float32
    margin = float32
    corner_margin = float32


@inner
def _write_view(view, near, far, near_pose, far_pose, frame, farthest, noise):
    """``frame`` is n and t1; no distance is larger than ``farthest``, nor rounding than ``noise``."""
    n, t = frame
    scale = far.unit / near.unit
    across = (n[1] * t[2] - n[2] * t[1], n[2] * t[0] - n[0] * t[2], n[0] * t[1] - n[1] * t[0])
    directions = (n, t, across)
    for i in range(3):
        for k in range(3):
            view.ours[3 * i + k] = dot3(column(near_pose, k), directions[i])
            view.theirs[3 * i + k] = scale * dot3(column(far_pose, k), directions[i])
    view.scale = scale
    view.kappa = near.unit / (2.0 * farthest) * (1.0 - 2.0**-20)
    view.margin = 64.0 * _ULP32 * (1.0 + scale) + noise / near.unit
    view.corner_margin = 16.0 * _ULP32 * (1.0 + scale) + noise / near.unit


@inlined
def _across(n):
    """A unit vector at right angles to another one."""
    if abs(n[0]) > abs(n[2]):
        length = math.sqrt(n[0] * n[0] + n[1] * n[1])
        return (-n[1] / length, n[0] / length, 0.0)
    length = math.sqrt(n[1] * n[1] + n[2] * n[2])
    return (0.0, -n[2] / length, n[1] / length)


@inner
def write_views(work, a, b):
    """0: near is a; 1: near is b.  Return how far the origins are apart, or 0 where far view is not for them.

    The scale of motions is set too: beyond FARTHEST it is not.
    """
    pose_a, pose_b = work.poses[0], work.poses[1]
    between = between_origins(a, b, pose_a, pose_b)
    length = math.sqrt(dot3(between, between))
    scale = b.unit / a.unit
    is_far = length > max(FAR * (a.unit + b.unit), _SHORTEST)
    if not (is_far and scale < FARTHEST and scale * FARTHEST > 1.0):
        return 0.0
    n = (between[0] / length, between[1] / length, between[2] / length)
    back = (-n[0], -n[1], -n[2])
    t = _across(n)
    rounding = world_rounding(a, b, pose_a, pose_b)
    # Points are at most sqrt(3) units from their origin.
    farthest = (length + 1.7321 * (a.unit + b.unit)) * (1.0 + 2.0**-20) + rounding
    noise = rounding + DISTANCE_ERROR * farthest
    _write_view(work.views[0], a, b, pose_a, pose_b, (n, t), farthest, noise)
    _write_view(work.views[1], b, a, pose_b, pose_a, (back, t), farthest, noise)
    work.motions[0].scale = scale
    work.motions[1].scale = a.unit / b.unit
    return length


@inlined
def near_directions(view):
    """The three directions in the frame of the near body, as numbers for the formulas."""
    m = view.ours
    return (m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8])


@inlined
def reach_in_view(beyond, unit):
    """The reach for a distance of L + ``beyond``, rounded up to float32."""
    local = beyond / unit
    return np.float32(max(min(local + 2.0**-22 * abs(local), 2.0**127), -(2.0**127)))


# The shadow of the far volume: its lowest coordinate along n, its lowest and highest along t1 and along t2.


@inlined
def along(m, i, x, y, z):
    """The coordinate of a point along direction i of the far body."""
    return m[3 * i] * x + m[3 * i + 1] * y + m[3 * i + 2] * z


@inlined
def shadow_of_centre(view, x, y, z, half_n, half_t1, half_t2):
    """The shadow of what extends by so much about a centre."""
    m = view.theirs
    first = along(m, 1, x, y, z)
    second = along(m, 2, x, y, z)
    half_t1 += view.margin
    half_t2 += view.margin
    return (
        along(m, 0, x, y, z) - (half_n + view.margin),
        first - half_t1,
        first + half_t1,
        second - half_t2,
        second + half_t2,
    )


@inlined
def _extent(m, i, p, q, r):
    """The lowest and the highest coordinate of three points along direction i."""
    x = along(m, i, p[0], p[1], p[2])
    y = along(m, i, q[0], q[1], q[2])
    z = along(m, i, r[0], r[1], r[2])
    return min(x, min(y, z)), max(x, max(y, z))


@inlined
def shadow_of_corners(view, p, q, r):
    """The shadow of a triangle."""
    m = view.theirs
    low_n, _ = _extent(m, 0, p, q, r)
    low_t1, high_t1 = _extent(m, 1, p, q, r)
    low_t2, high_t2 = _extent(m, 2, p, q, r)
    margin = view.corner_margin
    return (low_n - margin, low_t1 - margin, high_t1 + margin, low_t2 - margin, high_t2 + margin)


# The formulas: bounds e of eight volumes or triangles, and whether they are within the reach.  Their numbers: the three
# directions of near, the shadow of far, kappa, the reach.


def _direction(numbers: Any, i: int) -> list[Any]:
    return [numbers[3 * i + k] for k in range(3)]


def _three(rows: Any, first: int) -> list[Any]:
    return [rows[first + k] for k in range(3)]


def _dot(p: Any, q: Any) -> Any:
    return p[0] * q[0] + p[1] * q[1] + p[2] * q[2]


def _bound(extents: Any, numbers: Any) -> Any:
    """``extents``: the lowest and the highest coordinate of near along each direction."""
    across = None
    for i in (1, 2):
        low, high = extents[i]
        gap = larger(larger(numbers[8 + 2 * i] - high, low - numbers[9 + 2 * i]), 0.0)
        across = gap * gap if across is None else across + gap * gap
    bound = (numbers[9] - extents[0][1]) + across * numbers[14]
    return ~(bound > numbers[15]), bound


def _about(centre: Any, radius: Any) -> tuple[Any, Any]:
    return centre - radius, centre + radius


@eight_lanes
def oriented_boxes_in_view(rows: Any, numbers: Any) -> Any:
    extents = []
    for i in range(3):
        m = _direction(numbers, i)
        radii = [abs(_dot(m, [rows[OBB_AXES + 3 * k + j] for k in range(3)])) * rows[OBB_HALF + j] for j in range(3)]
        extents.append(_about(_dot(m, _three(rows, OBB_CENTRE)), radii[0] + radii[1] + radii[2]))
    return _bound(extents, numbers)


@eight_lanes
def aligned_boxes_in_view(rows: Any, numbers: Any) -> Any:
    extents = []
    for i in range(3):
        m = _direction(numbers, i)
        radius = _dot([abs(x) for x in m], _three(rows, AABB_HALF))
        extents.append(_about(_dot(m, _three(rows, AABB_CENTRE)), radius))
    return _bound(extents, numbers)


@eight_lanes
def spheres_in_view(rows: Any, numbers: Any) -> Any:
    centres = [_dot(_direction(numbers, i), _three(rows, SPHERE_CENTRE)) for i in range(3)]
    return _bound([_about(centre, rows[SPHERE_RADIUS]) for centre in centres], numbers)


@eight_lanes
def triangles_in_view(rows: Any, numbers: Any) -> Any:
    extents = []
    for i in range(3):
        m = _direction(numbers, i)
        x, y, z = (_dot(m, _three(rows, 3 * j)) for j in range(3))
        extents.append((smaller(smaller(x, y), z), larger(larger(x, y), z)))
    return _bound(extents, numbers)
