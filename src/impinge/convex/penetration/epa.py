# mypy: allow-untyped-defs, allow-incomplete-defs
"""EPA, the expanding polytope algorithm: the penetration depth of two convex bodies.

Van den Bergen (2001), "Proximity queries and penetration depth computation on 3D game objects".  The depth is the
distance of the origin from the boundary of the Minkowski difference D = A - B.  A polytope P inside of D is kept.  Its
triangle nearest to the origin gives a lower bound of the depth, and the highest point of D along the normal of that
triangle an upper one; as long as they differ, P grows by that point.

Why it cannot fail
------------------
P is the hull of the points w = fl(p - q), times a power of two that is not below one, which are taken as they are:
where every sign is that of an exact determinant, an incremental hull is never inconsistent and has no degenerate
triangle, whatever is coplanar (``convex.hull.exact_quickhull``).  A point is taken in only if it is strictly above the
triangle in question.  So P grows strictly, no pair of vertices comes twice, and the search ends without a limit of
steps.

P need not hold the origin.  A triangle that the origin lies above has a negative height and is simply the nearest
one; if it is a face of D, the bodies only touch or are apart, and the depth is 0.

What is certain
---------------
Let u = 2**-53 and m the largest coordinate of D, so that |w| <= 1.8 m.  A point w is within 1.8 u m of D.  Unit normals
are within 24 u of the true ones (``growing_polytope``) and the product of normal and point passes three
roundings: a height is off by 27 u * 1.8 m < 49 u m.  The support vertex is the highest but for 5 u times the diameter
of its body (``distance.support``), which is not more than that of D, 3.5 m: 35 u m for both bodies.  Together less than
128 u m:

    height of the nearest triangle - 128 u m  <=  depth  <=  height of its support point + 128 u m.

The bounds end within 8 u m of each other, or where no point is above the nearest triangle, which is within 2 * 49 u m.

D may be tiny, also beside the coordinates of the bodies.  So it is m that chooses the power of two, once the axes have
told it; and directions are made longer, that what underflows in the heights of vertices is nothing beside u m.

Deepest points
--------------
Let r be the distance of the origin from the boundary of P.  The foot x of the origin on the plane of the last triangle
has |x| <= r + (rounding), and the ball of radius r lies in P: x is in P up to rounding, but not always in that
triangle, for others may be coplanar with it (the sum of two edges is a parallelogram, two triangles).  So the
triangles are walked across the edges that x lies beyond, as long as they are on the level of the last one.
"""

from __future__ import annotations

import math

import numpy as np

from impinge.constants import UNIT_ROUNDOFF
from impinge.convex.distance import sign_arithmetic
from impinge.convex.distance.sign_arithmetic import FineVector
from impinge.convex.distance.signed_volumes import combined3
from impinge.convex.distance.support import pose_of, posed_vertex, support
from impinge.convex.hull.exact_quickhull import (
    extremes,
    farthest_from_line,
    farthest_from_plane,
    make_tetrahedron,
    point_of,
    side_of,
)
from impinge.convex.hull.hull_handle import convex_body
from impinge.convex.penetration.growing_polytope import measure, take_in, unit_normal_of
from impinge.convex.penetration.triangle_heap import pop, push
from impinge.convex.workspace import depth_work_at
from impinge.geometry.contacts.face_normal import normalised
from impinge.geometry.exact.double_double import difference_of_floats, fine
from impinge.geometry.exact.predicates import cross, dot, subtract
from impinge.kernels.jit import inner, kernel

_ERROR = 128.0 * UNIT_ROUNDOFF
_GAP = 8.0 * UNIT_ROUNDOFF

_SMALLEST = 2.0**-1074
_LONG_ENOUGH = 500
"""2**500 times the smallest difference is far from underflow, and times the largest coordinate from overflow."""


@inner
def _put(work, vertex_a, p, vertex_b, q):
    """Add the difference of two posed vertices; the number of the point.  There must be room."""
    i = work.used_points
    w = subtract(p, q)
    for k in range(3):
        work.differences[i, k] = math.ldexp(w[k], int(work.exponent))
    work.vertices[i, 0], work.vertices[i, 1] = vertex_a, vertex_b
    work.used_points = i + 1
    return i


@inner
def _ask(work, a, b, pose_a, pose_b, d, near):
    """Add the highest point of D in a direction; ``near`` is a point from which the climb begins."""
    long = math.ldexp(1.0, min(int(work.exponent), _LONG_ENOUGH))
    d = (long * d[0], long * d[1], long * d[2])
    vertex_a, p = support(a, pose_a, d, work.vertices[near, 0], work)
    vertex_b, q = support(b, pose_b, (-d[0], -d[1], -d[2]), work.vertices[near, 1], work)
    return _put(work, vertex_a, p, vertex_b, q)


@inner
def _drop_if_known(work):
    """Forget the last point if it is there already: exact determinants that are zero take the longest."""
    last = work.used_points - 1
    w = point_of(work.differences, last)
    for i in range(last):
        if point_of(work.differences, i) == w:
            work.used_points = last
            return


@inner
def _put_start(work, a, b, pose_a, pose_b):
    """Add a first point, and the highest ones along the axes; choose the power of two with which all are scaled."""
    work.used_points = 0
    work.exponent = 0
    _put(work, 0, posed_vertex(a, pose_a, 0), 0, posed_vertex(b, pose_b, 0))
    for axis in range(3):
        for sign in (-1.0, 1.0):
            d = (sign if axis == 0 else 0.0, sign if axis == 1 else 0.0, sign if axis == 2 else 0.0)
            _ask(work, a, b, pose_a, pose_b, d, work.used_points - 1)
            _drop_if_known(work)
    exponent = max(0, -math.frexp(_largest_coordinate(work))[1])
    for i in range(work.used_points):
        for k in range(3):
            work.differences[i, k] = math.ldexp(work.differences[i, k], exponent)
    work.exponent = exponent
    work.largest = _largest_coordinate(work)


@inner
def _largest_coordinate(work):
    largest = 0.0
    for i in range(work.used_points):
        for k in range(3):
            largest = max(largest, abs(work.differences[i, k]))
    return largest


@inner
def _square_to(d):
    """A unit vector that is square to d: to the axis along which d is shortest, too."""
    x, y, z = abs(d[0]), abs(d[1]), abs(d[2])
    if x <= y and x <= z:
        n = (0.0, -d[2], d[1])
    elif y <= z:
        n = (d[2], 0.0, -d[0])
    else:
        n = (-d[1], d[0], 0.0)
    return normalised(n[0], n[1], n[2])


@inner
def _ask_both_ways(work, a, b, pose_a, pose_b, d):
    _ask(work, a, b, pose_a, pose_b, d, 0)
    _ask(work, a, b, pose_a, pose_b, (-d[0], -d[1], -d[2]), 0)


@inner
def _begin(work, a, b, pose_a, pose_b):
    """Make the first tetrahedron, asking for more points where those at hand are flat.

    Whether D has a volume (up to rounding), and if not a direction that is square to it.
    """
    points, corners = work.differences, work.triangles
    i, j = extremes(points, work.used_points)
    along = subtract(point_of(points, j), point_of(points, i))
    if along[0] == 0.0 and along[1] == 0.0 and along[2] == 0.0:
        w = point_of(points, i)
        n = normalised(w[0], w[1], w[2])
        return False, (n if n != (0.0, 0.0, 0.0) else (1.0, 0.0, 0.0))
    across = _square_to(along)
    k = farthest_from_line(points, work.used_points, i, j)
    if k < 0:
        other = cross(normalised(along[0], along[1], along[2]), across)
        _ask_both_ways(work, a, b, pose_a, pose_b, across)
        _ask_both_ways(work, a, b, pose_a, pose_b, other)
        k = farthest_from_line(points, work.used_points, i, j)
        if k < 0:
            return False, across
    corners[0, 0], corners[0, 1], corners[0, 2] = i, j, k
    n = unit_normal_of(point_of(points, i), point_of(points, j), point_of(points, k))
    apex = farthest_from_plane(points, work.used_points, corners)
    if apex < 0:
        _ask_both_ways(work, a, b, pose_a, pose_b, n)
        apex = farthest_from_plane(points, work.used_points, corners)
        if apex < 0:
            return False, n
    if side_of(points, corners, 0, apex) > 0:
        j, k = k, j
    make_tetrahedron(corners, work.across, i, j, k, apex)
    work.used_triangles = 4
    return True, n


@inner
def _take_in_start(work):
    """The hull of all points so far."""
    for f in range(4):
        work.marks[f] = 0
        measure(work, f)
    i, j, k = work.triangles[0, 0], work.triangles[0, 1], work.triangles[0, 2]
    apex = work.triangles[1, 2]
    for p in range(work.used_points):
        if p in (i, j, k, apex):
            continue
        for f in range(work.used_triangles):
            if work.heights[f] < np.inf and side_of(work.differences, work.triangles, f, p) > 0:
                take_in(work, f, p)
                break


@inner
def _expand(work, a, b, pose_a, pose_b):
    """The nearest triangle (-1 if there is no room), the height of its support point, and the steps."""
    work.heap_count = 0
    for f in range(work.used_triangles):
        if work.heights[f] < np.inf:
            push(work, f)
    steps = 0
    nearest = np.int64(0)
    top = np.inf
    lowest_top = np.inf
    while work.heap_count > 0:
        height, f = pop(work)
        if work.heights[f] != height:
            continue  # gone
        if work.used_points == work.n_differences:
            return np.int64(-1), top, steps
        steps += 1
        nearest = f
        n = point_of(work.normals, f)
        p = _ask(work, a, b, pose_a, pose_b, n, work.triangles[f, 2])
        top = dot(n, point_of(work.differences, p))
        if top <= 0.0 or top - height <= _GAP * work.largest:
            break
        if side_of(work.differences, work.triangles, f, p) <= 0:
            break
        lowest_top = min(lowest_top, top)
        # Higher triangles are never the nearest.
        ceiling = lowest_top + 2.0 * _ERROR * work.largest
        for i in range(take_in(work, f, p)):
            g = np.int64(work.fresh[i])
            if work.heights[g] <= ceiling and not push(work, g):
                return np.int64(-1), top, steps
    return nearest, top, steps


@inner
def _fine_step(points, i, x):
    """From x to a point, exact."""
    return FineVector(
        difference_of_floats(points[i, 0], x[0]),
        difference_of_floats(points[i, 1], x[1]),
        difference_of_floats(points[i, 2], x[2]),
    )


@inner
def _weights_in(work, f, x):
    """Weights of x for the corners of triangle f; negative where x is beyond an edge.

    In double-double: those of a needle, off by a millionth, would put the deepest points as far apart.
    """
    n = FineVector(fine(work.normals[f, 0]), fine(work.normals[f, 1]), fine(work.normals[f, 2]))
    a = _fine_step(work.differences, work.triangles[f, 0], x)
    b = _fine_step(work.differences, work.triangles[f, 1], x)
    c = _fine_step(work.differences, work.triangles[f, 2], x)
    u = sign_arithmetic.dot(n, sign_arithmetic.cross(b, c)).high
    v = sign_arithmetic.dot(n, sign_arithmetic.cross(c, a)).high
    w = sign_arithmetic.dot(n, sign_arithmetic.cross(a, b)).high
    total = u + v + w
    if not total > 0.0:
        return (1.0, 0.0, 0.0)
    return (u / total, v / total, w / total)


@inner
def _edge_to_cross(weights):
    """The edge (from corner k to k + 1) behind which a point with these weights lies; -1 if it is inside."""
    u, v, w = weights
    if u >= 0.0 and v >= 0.0 and w >= 0.0:
        return -1
    if w <= u and w <= v:
        return 0
    return 1 if u <= v else 2


@inner
def _triangle_below(work, f, x):
    """The triangle on the level of f that holds x, or is as near to it as the walk gets."""
    level = work.heights[f]
    error = 2.0 * _ERROR * work.largest
    for _ in range(work.used_triangles):
        edge = _edge_to_cross(_weights_in(work, f, x))
        if edge < 0:
            break
        beyond = np.int64(work.across[f, edge])
        n = point_of(work.normals, beyond)
        # In floats the walk may turn back and forth at an edge on which x lies; either side will do then.
        if abs(work.heights[beyond] - level) > error or abs(dot(n, x) - level) > error:
            break
        f = beyond
    return f


@inner
def _inside(weights):
    """Weights without what rounding has made negative."""
    u, v, w = max(weights[0], 0.0), max(weights[1], 0.0), max(weights[2], 0.0)
    total = u + v + w
    return (u / total, v / total, w / total)


@inner
def _deepest(work, f, weights, body, pose, side):
    """The combination of the posed vertices of one body behind the corners of a triangle."""
    p = posed_vertex(body, pose, work.vertices[work.triangles[f, 0], side])
    q = posed_vertex(body, pose, work.vertices[work.triangles[f, 1], side])
    r = posed_vertex(body, pose, work.vertices[work.triangles[f, 2], side])
    return combined3(weights[0], weights[1], weights[2], p, q, r)


@inner
def _scaled_up(x, shift):
    """x * 2**-shift, not rounded downward where that is subnormal."""
    value = math.ldexp(x, -shift)
    return value + _SMALLEST if math.ldexp(value, shift) < x else value


@inner
def _write(found, depth, lower, upper, n, steps):
    """All but the deepest points; a must move against the outward normal n."""
    found.depth, found.bounds[0], found.bounds[1], found.steps = depth, lower, upper, steps
    for k in range(3):
        found.direction[k] = -n[k]


@inner
def epa(work, a, b, pose_a, pose_b, found):
    """Write a Depth; False where the polytope has no room for that."""
    _put_start(work, a, b, pose_a, pose_b)
    shift, error = int(work.exponent), _ERROR * work.largest
    has_volume, n = _begin(work, a, b, pose_a, pose_b)
    if not has_volume:
        if dot(n, point_of(work.differences, 0)) > 0.0:
            n = (-n[0], -n[1], -n[2])  # all of D is on one level: if that is not zero, separate
        _write(found, 0.0, 0.0, _scaled_up(error, shift), n, 0)
        return True
    _take_in_start(work)
    nearest, top, steps = _expand(work, a, b, pose_a, pose_b)
    if nearest < 0:
        return False
    n = point_of(work.normals, nearest)
    height = max(work.heights[nearest], 0.0)
    top = max(top, 0.0)
    x = (height * n[0], height * n[1], height * n[2])
    f = _triangle_below(work, nearest, x)
    weights = _inside(_weights_in(work, f, x))
    point_a = _deepest(work, f, weights, a, pose_a, 0)
    point_b = _deepest(work, f, weights, b, pose_b, 1)
    lower = 0.0 - _scaled_up(min(error - height, 0.0), shift)
    _write(found, math.ldexp(top, -shift), lower, _scaled_up(top + error, shift), n, steps)
    for k in range(3):
        found.points[k] = point_a[k]
        found.points[3 + k] = point_b[k]
    return True


@kernel
def epa_depths(address_a, address_b, address_work):
    """Penetration depths for the poses of the workspace where its answers say that the bodies meet.

    Returns where the poses end, or the first one that needs a larger polytope.
    """
    a, b, work = convex_body(address_a), convex_body(address_b), depth_work_at(address_work)
    for i in range(work.first, work.end):
        if work.answers[i] != 0:
            if not epa(work, a, b, pose_of(work.poses_a, i), pose_of(work.poses_b, i), work.depths[i]):
                return i
    return work.end
