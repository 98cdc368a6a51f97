# mypy: allow-untyped-defs, allow-incomplete-defs
"""Leaf operations of the traversal: first contact, all contacts, the nearest pair, closer than a clearance.

Every yes/no is exact: filters in float32 only leave out pairs that are certainly of no interest, the
others are decided on posed float64 coordinates, the truth of geometry.posing.

A leaf operation is a NamedTuple class with its versions of the two ``@generic`` functions of ``traverse``, which calls
them: ``candidates`` (how volumes are compared) and ``visit`` (what is done with triangles).

=====================  ===========================  ======================  ==========================================
leaf operation         its ``candidates``           its ``visit``           handed to ``traverse`` by
=====================  ===========================  ======================  ==========================================
FirstContact           ``_deepest_candidates``      ``_first_contact``      ``questions.collide_all``
AllContacts            ``_meeting_candidates``      ``_all_contacts``       ``questions.find_contacts``
Nearest                ``in_reach``                 ``_nearest``            ``questions.find_nearest``
Within                 ``in_reach``                 ``_within``             ``questions.find_closer``
=====================  ===========================  ======================  ==========================================

Two more are elsewhere: ``own_leaf`` (a function of the user's, by ``questions.visit_all``) and
``pieces.pieces_kernels`` (hulls as volumes and leaves).  What the versions here ask of a volume (``carried``,
``meeting_children``, ...) is generic too: ``volumes.protocol``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from impinge.bvh.contact_keys import contact_key
from impinge.bvh.far_view import reach_in_view, shadow_of_corners, triangles_in_view, view_at
from impinge.bvh.front import PLAIN
from impinge.bvh.layout import WIDTH
from impinge.bvh.relative_motion import carried_point
from impinge.bvh.traverse import candidates, visit
from impinge.bvh.volumes.protocol import (
    carried,
    children_in_order,
    children_in_view,
    children_within,
    meeting_children,
    overlapping_children,
    shadow,
)
from impinge.bvh.volumes.triangle_filter import (
    maybe_meeting,
    no_plane_separates,
    planes_within,
    surely_crossing,
    triangle_bounds,
)
from impinge.bvh.workspace import (
    BEST,
    FACE_A,
    FACE_B,
    FOUND,
    HEAP_LEFT,
    MODE,
    ORIGINS_APART,
    PAIRS_ROOM,
    POINTS,
    POSE,
    REACH,
    TRIANGLE_TESTS,
)
from impinge.geometry.posing import posed_point
from impinge.geometry.triangles.clearance import triangles_within
from impinge.geometry.triangles.distance import disjoint_distance
from impinge.geometry.triangles.intersection import CROSSING, DISJOINT, contact_kind
from impinge.kernels.jit import inlined, inner
from impinge.kernels.lanes import count_bits, lowest_bit, nearest_slot


class FirstContact(NamedTuple):
    """Whether there is a contact; the pair is kept as a witness."""

    poses: Any


class AllContacts(NamedTuple):
    """Every pair of triangles that meets, until the buffer for contacts is full."""

    poses: Any


class Nearest(NamedTuple):
    """The pair of triangles with the smallest distance, the first in order of faces among equals."""

    poses: Any


class Within(NamedTuple):
    """Whether there is a pair no farther apart than the clearance."""

    poses: Any
    clearance: Any


# ------------------------------------------------------------------ posed triangles


@inlined
def posed_triangle(poses, which, body, i):
    """A triangle in world coordinates, by one of the poses."""
    pose = poses[which]
    t = body.triangles
    return (
        posed_point(pose, t[i, 0, 0], t[i, 0, 1], t[i, 0, 2]),
        posed_point(pose, t[i, 1, 0], t[i, 1, 1], t[i, 1, 2]),
        posed_point(pose, t[i, 2, 0], t[i, 2, 1], t[i, 2, 2]),
    )


@inlined
def carried_corners(far, ref, motion):
    """The corners of a far triangle in the frame of the near body, float32."""
    c = far.corners
    n = ref // WIDTH
    k = ref % WIDTH
    return (
        carried_point(motion, c[n, 0, k], c[n, 1, k], c[n, 2, k])
        + carried_point(motion, c[n, 3, k], c[n, 4, k], c[n, 5, k])
        + carried_point(motion, c[n, 6, k], c[n, 7, k], c[n, 8, k])
    )


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
def place_of(body, ref):
    """The place in tree order of the triangle in a slot."""
    return np.int64(~body.child[ref])


@inlined
def _children_in_reach(near, node, other, motion, side, work):
    if work.counters[HEAP_LEFT] > 0:
        bits = children_in_order(near, node, other, motion.margin, work.reach[side], work.lanes)
    else:
        bits = children_within(near, node, other, motion.margin, work.reach[side], work.lanes)
    if side == 1:
        unit = np.float32(1.0) / (motion.scale * motion.scale)
        for k in range(WIDTH):
            if work.lanes[k] > np.float32(0.0):  # how deep volumes overlap has no unit
                work.lanes[k] *= unit
    return bits


@inlined
def _children_in_view(near, far, node, far_ref, motion, side, work):
    view = view_at(work.views, side)
    numbers = view.ours + shadow(far, far_ref, view) + (view.kappa, work.reach[side])
    bits = children_in_view(near, node, numbers, work.lanes)
    if side == 1:
        unit = np.float32(1.0) / motion.scale
        for k in range(WIDTH):
            work.lanes[k] *= unit
    return bits


# -------------------------------------------------------------------------- meeting


@inlined
def _meeting(near, far, node, far_ref, motion, side, work):
    other = carried(far, far_ref, motion)
    if work.counters[MODE] != PLAIN:
        _children_in_reach(near, node, other, motion, side, work)  # for the bounds
    return meeting_children(near, node, other, motion.margin, work.lanes)


@candidates.of(AllContacts)
def _meeting_candidates(leaf, near, far, node, far_ref, motion, side, work):
    return _meeting(near, far, node, far_ref, motion, side, work)


@candidates.of(FirstContact)
def _deepest_candidates(leaf, near, far, node, far_ref, motion, side, work):
    """As long as the search is best first, volumes that are deepest in each other come first."""
    if work.counters[HEAP_LEFT] == 0:
        return _meeting(near, far, node, far_ref, motion, side, work)
    return overlapping_children(near, node, carried(far, far_ref, motion), motion.margin, work.lanes)


@inlined
def _filtered(near, far, node, slots, far_ref, motion, work):
    """The slots of triangles that may meet the far one, and of those the slots that certainly cross it."""
    numbers = carried_corners(far, far_ref, motion) + (motion.corner_margin,)
    if work.counters[MODE] != PLAIN:
        slots &= triangle_bounds(near.corners, node, numbers + (np.float32(0.0),), work.corner_lanes)
        if slots == 0:
            return slots, slots
        return slots, slots & surely_crossing(near.corners, node, numbers, work.corner_lanes)
    slots &= no_plane_separates(near.corners, node, numbers, work.corner_lanes)
    if slots != 0:
        slots &= maybe_meeting(near.corners, node, numbers, work.corner_lanes)
    if slots == 0:
        return slots, slots
    crossing = slots & surely_crossing(near.corners, node, numbers, work.corner_lanes)
    undecided = slots & ~crossing
    if undecided != 0:
        # Triangles apart in one plane: no plane above separates them, and the exact test takes half a microsecond.
        undecided &= triangle_bounds(near.corners, node, numbers + (np.float32(0.0),), work.corner_lanes)
    return crossing | undecided, crossing


@inlined
def key_of_places(near, far, here, there, kind, side, work):
    """The key of a contact of the triangles at two places in tree order."""
    pose = work.counters[POSE]
    face_near = np.int64(near.order[here])
    face_far = np.int64(far.order[there])
    if side == 0:
        return contact_key(pose, face_near, face_far, kind, near.size, far.size)
    return contact_key(pose, face_far, face_near, kind, far.size, near.size)


@visit.of(FirstContact)
def _first_contact(leaf, near, far, node, slots, far_ref, motion, side, work):
    work.counters[TRIANGLE_TESTS] += count_bits(slots)
    slots, crossing = _filtered(near, far, node, slots, far_ref, motion, work)
    if slots == 0:
        return False
    there = place_of(far, far_ref)
    if crossing == 0:
        far_triangle = posed_triangle(leaf.poses, 1 - side, far, there)
        while slots != 0:
            bit = slots & -slots
            slots ^= bit
            here = place_of(near, node * WIDTH + lowest_bit(bit))
            if contact_kind(posed_triangle(leaf.poses, side, near, here), far_triangle) != DISJOINT:
                crossing = bit
                break
    if crossing == 0:
        return False
    work.counters[FACE_A + side] = place_of(near, node * WIDTH + lowest_bit(crossing))
    work.counters[FACE_B - side] = there
    return True


@visit.of(AllContacts)
def _all_contacts(leaf, near, far, node, slots, far_ref, motion, side, work):
    work.counters[TRIANGLE_TESTS] += count_bits(slots)
    slots, crossing = _filtered(near, far, node, slots, far_ref, motion, work)
    if slots == 0:
        return False
    there = place_of(far, far_ref)
    far_triangle = posed_triangle(leaf.poses, 1 - side, far, there)
    found = work.counters[FOUND]
    while slots != 0:
        bit = slots & -slots
        slots ^= bit
        here = place_of(near, node * WIDTH + lowest_bit(bit))
        kind = CROSSING
        if crossing & bit == 0:
            kind = contact_kind(posed_triangle(leaf.poses, side, near, here), far_triangle)
        if kind != DISJOINT:
            work.pairs[found] = key_of_places(near, far, here, there, kind, side, work)
            found += 1
    work.counters[FOUND] = found
    # Stop while the results of one more visit still fit.
    return found > work.sizes[PAIRS_ROOM] - WIDTH


# ------------------------------------------------------------------------- distance

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
    work.numbers[REACH] = distance
    origins_apart = work.numbers[ORIGINS_APART]
    if origins_apart > 0.0:
        work.reach[side] = reach_in_view(distance - origins_apart, near_unit)
        work.reach[1 - side] = reach_in_view(distance - origins_apart, far_unit)
    else:
        work.reach[side] = _squared_reach(distance, near_unit)
        work.reach[1 - side] = _squared_reach(distance, far_unit)


def in_reach(leaf, near, far, node, far_ref, motion, side, work):
    """The children whose volumes are in reach: the candidates of leaf operations that ask for distances."""
    if work.numbers[ORIGINS_APART] > 0.0:
        return _children_in_view(near, far, node, far_ref, motion, side, work)
    return _children_in_reach(near, node, carried(far, far_ref, motion), motion, side, work)


candidates.of(Nearest)(in_reach)
candidates.of(Within)(in_reach)


@inlined
def _triangles_in_reach(near, far, node, slots, far_ref, motion, side, work):
    """The slots that may be in reach; their lower bounds go to work.corner_lanes."""
    work.counters[TRIANGLE_TESTS] += count_bits(slots)
    if work.numbers[ORIGINS_APART] > 0.0:
        view = view_at(work.views, side)
        numbers = view.ours + _corner_shadow(far, far_ref, view) + (view.kappa, work.reach[side])
        return slots & triangles_in_view(near.corners, node, numbers, work.corner_lanes)
    numbers = carried_corners(far, far_ref, motion) + (motion.corner_margin, work.reach[side])
    if work.counters[MODE] == PLAIN:  # else the bounds of all are wanted
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
    best_near, best_far = near.order[work.counters[FACE_A + side]], far.order[work.counters[FACE_B - side]]
    if side == 0:
        return face_near < best_near or (face_near == best_near and face_far < best_far)
    return face_far < best_far or (face_far == best_far and face_near < best_near)


@inner
def keep_if_nearer(near, far, near_triangle, far_triangle, here, there, side, work):
    """Compare a pair with the best so far; return whether it meets."""
    best = work.numbers[BEST]
    triangle_a, triangle_b = _in_order(side, near_triangle, far_triangle)
    if contact_kind(triangle_a, triangle_b) != DISJOINT:
        value = 0.0
        point_a = triangle_a[0]
        point_b = triangle_b[0]
    else:
        value, point_a, point_b = disjoint_distance(triangle_a, triangle_b)
    if value < best or (value == best and _precedes(near, far, here, there, side, work)):
        work.counters[FACE_A + side] = here
        work.counters[FACE_B - side] = there
        work.numbers[BEST] = value
        for k in range(3):
            work.numbers[POINTS + k] = point_a[k]
            work.numbers[POINTS + 3 + k] = point_b[k]
        set_reach(work, side, value, near.unit, far.unit)
    return value == 0.0


@visit.of(Nearest)
def _nearest(leaf, near, far, node, slots, far_ref, motion, side, work):
    slots = _triangles_in_reach(near, far, node, slots, far_ref, motion, side, work)
    if slots == 0:
        return False
    there = place_of(far, far_ref)
    far_triangle = posed_triangle(leaf.poses, 1 - side, far, there)
    while slots != 0:
        k = nearest_slot(work.corner_lanes, slots)
        slots &= ~(np.int64(1) << k)
        if work.corner_lanes[k] > work.reach[side]:
            break
        here = place_of(near, node * WIDTH + k)
        near_triangle = posed_triangle(leaf.poses, side, near, here)
        if keep_if_nearer(near, far, near_triangle, far_triangle, here, there, side, work):
            return True
    return False


@visit.of(Within)
def _within(leaf, near, far, node, slots, far_ref, motion, side, work):
    slots = _triangles_in_reach(near, far, node, slots, far_ref, motion, side, work)
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
            work.counters[FACE_A + side] = here
            work.counters[FACE_B - side] = there
            return True
    return False
