# mypy: allow-untyped-defs, allow-incomplete-defs
"""Leaf operations about distances: the nearest pair of triangles, or one within a clearance.

Every yes/no is exact: filters in float32 only leave out pairs that are certainly out of reach, the others are decided
on posed float64 coordinates, the truth of geometry.posing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from impinge.bvh.far_view import near_directions, reach_in_view, shadow_of_corners, triangles_in_view
from impinge.bvh.front import PLAIN
from impinge.bvh.layout import WIDTH
from impinge.bvh.leaves.posed_triangles import carried_corners, place_of, posed_triangle
from impinge.bvh.traverse import candidates, visit
from impinge.bvh.volumes.protocol import carried, children_in_order, children_in_view, children_within, shadow
from impinge.bvh.volumes.triangle_filter import planes_within, triangle_bounds
from impinge.geometry.triangles.clearance import triangles_within
from impinge.geometry.triangles.distance import disjoint_distance
from impinge.geometry.triangles.intersection import DISJOINT, contact_kind
from impinge.kernels.jit import inlined, inner
from impinge.kernels.lanes import count_bits, nearest_slot


class Nearest(NamedTuple):
    """The pair of triangles with the smallest distance, the first in order of faces among equals."""

    poses: Any


class Within(NamedTuple):
    """Whether there is a pair no farther apart than the clearance."""

    poses: Any
    clearance: Any


# ---------------------------------------------------------------------- the reach

# Rounding of lower bounds and of the conversion: the bounds round relative to themselves by less than 32 u (see
# separating_axes), and squares of tiny numbers underflow.
_SLACK = 1.0 + 2.0**-18
_UNDERFLOW = 2.0**-140


@inlined
def _squared_reach(distance, unit):
    local = distance / unit * _SLACK
    return np.float32(min(local * local + _UNDERFLOW, 2.0**127))


@inlined
def set_reach(work, side, distance, near_unit, far_unit):
    """Only pairs that may be within the distance are of interest from now on."""
    work.reach = distance
    origins_apart = work.origins_apart
    if origins_apart > 0.0:
        work.local_reach[side] = reach_in_view(distance - origins_apart, near_unit)
        work.local_reach[1 - side] = reach_in_view(distance - origins_apart, far_unit)
    else:
        work.local_reach[side] = _squared_reach(distance, near_unit)
        work.local_reach[1 - side] = _squared_reach(distance, far_unit)


# -------------------------------------------------------------------------- volumes


@inlined
def children_in_reach(near, node, other, side, work):
    """The children within reach of a carried volume; the bounds in work.lanes are in units of a."""
    motion = work.motions[side]
    if work.heap_left > 0:
        bits = children_in_order(near, node, other, motion.margin, work.local_reach[side], work.lanes)
    else:
        bits = children_within(near, node, other, motion.margin, work.local_reach[side], work.lanes)
    if side == 1:
        unit = np.float32(1.0) / (motion.scale * motion.scale)
        for k in range(WIDTH):
            if work.lanes[k] > np.float32(0.0):  # how deep volumes overlap has no unit
                work.lanes[k] *= unit
    return bits


@inlined
def _children_in_view(near, far, node, far_ref, side, work):
    view = work.views[side]
    numbers = near_directions(view) + shadow(far, far_ref, view) + (view.kappa, work.local_reach[side])
    bits = children_in_view(near, node, numbers, work.lanes)
    if side == 1:
        unit = np.float32(1.0) / work.motions[side].scale
        for k in range(WIDTH):
            work.lanes[k] *= unit
    return bits


def in_reach(leaf, near, far, node, far_ref, side, work):
    """The children whose volumes are in reach: the candidates of leaf operations that ask for distances."""
    if work.origins_apart > 0.0:
        return _children_in_view(near, far, node, far_ref, side, work)
    return children_in_reach(near, node, carried(far, far_ref, work.motions[side]), side, work)


candidates.of(Nearest)(in_reach)
candidates.of(Within)(in_reach)


# ------------------------------------------------------------------------ triangles


@inlined
def _corner_shadow(far, ref, view):
    """A far triangle in far view."""
    c = far.corners
    n = ref // WIDTH
    k = ref % WIDTH
    return shadow_of_corners(
        view,
        (c[n, 0, k], c[n, 1, k], c[n, 2, k]),
        (c[n, 3, k], c[n, 4, k], c[n, 5, k]),
        (c[n, 6, k], c[n, 7, k], c[n, 8, k]),
    )


@inlined
def _triangles_in_reach(near, far, node, slots, far_ref, side, work):
    """The slots that may be in reach; their lower bounds go to work.corner_lanes."""
    work.triangle_tests += count_bits(slots)
    if work.origins_apart > 0.0:
        view = work.views[side]
        numbers = near_directions(view) + _corner_shadow(far, far_ref, view) + (view.kappa, work.local_reach[side])
        return slots & triangles_in_view(near.corners, node, numbers, work.corner_lanes)
    motion = work.motions[side]
    numbers = carried_corners(far, far_ref, motion) + (motion.corner_margin, work.local_reach[side])
    if work.mode == PLAIN:  # else the bounds of all are wanted
        slots &= planes_within(near.corners, node, numbers, work.corner_lanes)
    if slots != 0:
        slots &= triangle_bounds(near.corners, node, numbers, work.corner_lanes)
    return slots


@inlined
def _in_order(side, near_triangle, far_triangle):
    """The triangle of a, then that of b: rounding may depend on the order."""
    if side == 0:
        return near_triangle, far_triangle
    return far_triangle, near_triangle


@inlined
def _precedes(near, far, here, there, side, work):
    """Whether a pair comes before the best one in order of faces."""
    face_near, face_far = near.order[here], far.order[there]
    best_near, best_far = near.order[work.witness.places[side]], far.order[work.witness.places[1 - side]]
    if side == 0:
        return face_near < best_near or (face_near == best_near and face_far < best_far)
    return face_far < best_far or (face_far == best_far and face_near < best_near)


@inner
def keep_if_nearer(near, far, near_triangle, far_triangle, here, there, side, work):
    """Compare a pair with the best so far; return whether it meets."""
    best = work.best
    triangle_a, triangle_b = _in_order(side, near_triangle, far_triangle)
    if contact_kind(triangle_a, triangle_b) != DISJOINT:
        value = 0.0
        point_a = triangle_a[0]
        point_b = triangle_b[0]
    else:
        value, point_a, point_b = disjoint_distance(triangle_a, triangle_b)
    if value < best or (value == best and _precedes(near, far, here, there, side, work)):
        work.witness.places[side] = here
        work.witness.places[1 - side] = there
        work.best = value
        for k in range(3):
            work.nearest_points[k] = point_a[k]
            work.nearest_points[3 + k] = point_b[k]
        set_reach(work, side, value, near.unit, far.unit)
    return value == 0.0


@visit.of(Nearest)
def _nearest(leaf, near, far, node, slots, far_ref, side, work):
    slots = _triangles_in_reach(near, far, node, slots, far_ref, side, work)
    if slots == 0:
        return False
    there = place_of(far, far_ref)
    far_triangle = posed_triangle(leaf.poses, 1 - side, far, there)
    while slots != 0:
        k = nearest_slot(work.corner_lanes, slots)
        slots &= ~(np.int64(1) << k)
        if work.corner_lanes[k] > work.local_reach[side]:
            break
        here = place_of(near, node * WIDTH + k)
        near_triangle = posed_triangle(leaf.poses, side, near, here)
        if keep_if_nearer(near, far, near_triangle, far_triangle, here, there, side, work):
            return True
    return False


@visit.of(Within)
def _within(leaf, near, far, node, slots, far_ref, side, work):
    slots = _triangles_in_reach(near, far, node, slots, far_ref, side, work)
    if slots == 0:
        return False
    there = place_of(far, far_ref)
    far_triangle = posed_triangle(leaf.poses, 1 - side, far, there)
    while slots != 0:
        k = nearest_slot(work.corner_lanes, slots)
        slots &= ~(np.int64(1) << k)
        here = place_of(near, node * WIDTH + k)
        near_triangle = posed_triangle(leaf.poses, side, near, here)
        triangle_a, triangle_b = _in_order(side, near_triangle, far_triangle)
        if triangles_within(triangle_a, triangle_b, leaf.clearance):
            work.witness.places[side] = here
            work.witness.places[1 - side] = there
            return True
    return False
