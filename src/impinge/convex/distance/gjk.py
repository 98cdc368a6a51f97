# mypy: allow-untyped-defs, allow-incomplete-defs
"""GJK in floats: from any simplex of the Minkowski difference of two convex bodies to the one nearest to the origin.

Gilbert, Johnson and Keerthi (1988), "A fast procedure for computing the distance between complex objects in
three-dimensional space"; with hill climbing and the last simplex as warm start (Cameron 1997) and the subproblem
of signed volumes (Montanari et al. 2017).

How it ends
-----------
Every step has two bounds.  The nearest point v of the simplex is a difference of two points of the bodies: |v| is not
below the distance.  The lowest difference w in a direction d gives a plane between the bodies: d . w / |d| is not
above it. The direction is not v, which loses its digits where the bodies nearly touch, but square to the face of the
simplex that holds v: the normal of a triangle, or the perpendicular from the origin to an edge.  What is asked decides
when the bounds are near enough.  For a distance they are brought to within ``_GAP`` of the coordinates, and the
rest, which is usually nothing but a proof that the simplex is the nearest one, is done with certain signs
(``distance.exact_gjk``).  A step that does not lower |v| cannot happen in exact arithmetic; where it happens, or where
the bodies are so near to each other that rounding decides, the walk with certain signs takes over as well.  So |v|
falls with every step, no simplex comes twice, and there is no limit of steps that could be hit.

What is certain in floats
-------------------------
Let u = 2**-53, M the largest coordinate of both bodies by their radius, m that of the vertices in the simplex.

*Apart.*  w = fl(p - q) is within u|w| of p - q, |w| <= 2 sqrt(3) M, and the product with d passes three more
roundings: 14 u M|d| in all.  The support vertices are lowest up to 5 u|p_i - p_v||d|, at most 18 u M|d| for either
body (distance.support).  Together less than 64 u M|d|: a computed d . w above that separates the bodies.  Underflow
does not matter: directions with |d| below 2**-450 are not used, and d is of degree one at least in the coordinates, so
that M is above 2**-452 and 64 u M far above the 2**-620 that may be lost.

*Not farther than a limit.*  The weights sum to one within 4 u, and v passes eight roundings of terms below 2 m: |v| is
within 64 u m of the length of a difference of two points of the bodies.  The square of a v below 2**-537 underflows.
But v is d for a single corner; otherwise d is of degree two or three in the corners, so that m is above 2**-230.

*Meeting.*  The origin is in a tetrahedron where four determinants have one sign.  Their entries are differences of
corners, of at most 2k for corners of at most k, off by 4 u k.  A determinant has six terms of three entries: 6 * 3 *
4 u k (2k)^2 for the entries and 49 u (2k)^3 for the evaluation (geometry.exact.predicates), less than 1024 u k^3.
"""

from __future__ import annotations

import math

from impinge.constants import UNIT_ROUNDOFF
from impinge.convex.distance.separating_plane import keep_plane
from impinge.convex.distance.simplex import (
    combined,
    corner,
    direction,
    holds,
    largest_coordinate,
    nearest_weights,
    put,
    reduce,
)
from impinge.convex.distance.support import size_of_coordinates, support
from impinge.convex.workspace import BOUND, COLLIDES, DISTANCE
from impinge.geometry.answers import APART, MEETING
from impinge.geometry.exact.predicates import cross, dot, subtract
from impinge.kernels.jit import inner

UNDECIDED = 2
"""Beside APART and MEETING: to be settled with certain signs."""

_GAP = 256.0 * UNIT_ROUNDOFF
_NEAR_ENOUGH = 0.125
"""A bound that only sorts, and rejects what is far away, may be smaller than the distance by this part of it."""
_SEPARATION_ERROR = 64.0 * UNIT_ROUNDOFF
_LENGTH_ERROR = 64.0 * UNIT_ROUNDOFF
_VOLUME_ERROR = 1024.0 * UNIT_ROUNDOFF

# Squares of directions, of degree six in the coordinates; beyond these they may have lost digits.
_TINY = 2.0**-900
_HUGE = 2.0**900


@inner
def gjk(work, a, b, pose_a, pose_b, question, limit):
    """APART or MEETING as an answer to the question (for CLOSER_THAN: farther than the limit or not), or UNDECIDED.

    Weights and value of a distance are written where the bodies meet; a distance above zero stays UNDECIDED.  In
    ``work.lower`` a lower bound of the distance is left, right but for rounding; a query for nothing else (BOUND)
    gets one that is above the limit, or near enough.
    """
    size = size_of_coordinates(a, pose_a) + size_of_coordinates(b, pose_b)
    weights = reduce(work, nearest_weights(work))
    v = combined(work.corners, work.kept.count, weights)
    upper = math.sqrt(dot(v, v))
    lower = 0.0
    work.lower = lower
    while True:
        work.steps += 1
        last = work.kept.count - 1
        d = direction(work)
        squared = dot(d, d)
        if not (_TINY < squared < _HUGE):
            return UNDECIDED
        length = math.sqrt(squared)
        vertex_a, p = support(a, pose_a, (-d[0], -d[1], -d[2]), work.kept.vertices_a[last], work)
        vertex_b, q = support(b, pose_b, d, work.kept.vertices_b[last], work)
        height = dot(d, subtract(p, q)) / length
        lower = max(lower, height)
        work.lower = lower
        if question == BOUND:
            if lower > limit or upper - lower <= _NEAR_ENOUGH * upper:
                return UNDECIDED
        elif question == DISTANCE:
            if upper - lower <= _GAP * size:
                return UNDECIDED
        elif question == COLLIDES:
            if height > _SEPARATION_ERROR * size:
                keep_plane(work, pose_a, d, length, vertex_a, vertex_b)
                return APART
        else:
            if lower - _SEPARATION_ERROR * size > limit:
                if height == lower:
                    keep_plane(work, pose_a, d, length, vertex_a, vertex_b)
                return APART
            if upper + _LENGTH_ERROR * largest_coordinate(work) < limit:
                return MEETING
        if holds(work, vertex_a, vertex_b):
            return UNDECIDED
        put(work, last + 1, vertex_a, p, vertex_b, q)
        work.kept.count = last + 2
        weights = nearest_weights(work)
        if weights[0] == 0.0 and weights[1] == 0.0 and weights[2] == 0.0 and weights[3] == 0.0:
            return _settle_inside(work, question)
        weights = reduce(work, weights)
        v = combined(work.corners, work.kept.count, weights)
        shorter = math.sqrt(dot(v, v))
        if not shorter < upper:
            return UNDECIDED
        upper = shorter


@inner
def _determinant(a, b, c, d):
    return dot(cross(subtract(b, a), subtract(c, a)), subtract(d, a))


@inner
def _settle_inside(work, question):
    """MEETING where the tetrahedron holds the origin beyond any doubt, and the weights give a common point."""
    a, b, c, d = corner(work, 0), corner(work, 1), corner(work, 2), corner(work, 3)
    o = (0.0, 0.0, 0.0)
    k = 0.0
    for i in range(4):
        for j in range(3):
            k = max(k, abs(work.corners[i, j]))
    error = _VOLUME_ERROR * k * k * k + _TINY
    p = _determinant(o, b, c, d)
    q = _determinant(a, o, c, d)
    r = _determinant(a, b, o, d)
    s = _determinant(a, b, c, o)
    inside = (p > error and q > error and r > error and s > error) or (
        p < -error and q < -error and r < -error and s < -error
    )
    if not inside:
        return UNDECIDED
    if question != DISTANCE:
        return MEETING
    total = p + q + r + s
    weights = (p / total, q / total, r / total, s / total)
    for i in range(4):
        work.weights[i] = weights[i]
    work.value = 0.0
    # The weights of a flat tetrahedron may be off by so much that the two points differ.
    v = combined(work.corners, work.kept.count, weights)
    off = max(abs(v[0]), abs(v[1]), abs(v[2]))
    return MEETING if off <= 2.0 * UNIT_ROUNDOFF * largest_coordinate(work) else UNDECIDED
