# mypy: allow-untyped-defs, allow-incomplete-defs
"""Leaf operations about contacts: the first one that is found, or all.

Every yes/no is exact: filters in float32 only leave out pairs that certainly do not meet, or find some that certainly
cross; the others are decided on posed float64 coordinates, the truth of geometry.posing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from impinge.bvh.front import PLAIN
from impinge.bvh.layout import WIDTH
from impinge.bvh.leaves.distance_leaves import children_in_reach
from impinge.bvh.leaves.posed_triangles import carried_corners, key_of_places, place_of, posed_triangle
from impinge.bvh.traverse import candidates, visit
from impinge.bvh.volumes.protocol import carried, meeting_children, overlapping_children
from impinge.bvh.volumes.triangle_filter import maybe_meeting, no_plane_separates, surely_crossing, triangle_bounds
from impinge.geometry.triangles.intersection import CROSSING, DISJOINT, contact_kind
from impinge.kernels.jit import inlined
from impinge.kernels.lanes import count_bits, lowest_bit


class FirstContact(NamedTuple):
    """Whether there is a contact; the pair is kept as a witness."""

    poses: Any


class AllContacts(NamedTuple):
    """Every pair of triangles that meets, until the buffer for contacts is full."""

    poses: Any


# -------------------------------------------------------------------------- volumes


@inlined
def _meeting(near, far, node, far_ref, side, work):
    motion = work.motions[side]
    other = carried(far, far_ref, motion)
    if work.mode != PLAIN:
        children_in_reach(near, node, other, side, work)  # for the bounds
    return meeting_children(near, node, other, motion.margin, work.lanes)


@candidates.of(AllContacts)
def _meeting_candidates(leaf, near, far, node, far_ref, side, work):
    return _meeting(near, far, node, far_ref, side, work)


@candidates.of(FirstContact)
def _deepest_candidates(leaf, near, far, node, far_ref, side, work):
    """As long as the search is best first, volumes that are deepest in each other come first."""
    if work.heap_left == 0:
        return _meeting(near, far, node, far_ref, side, work)
    motion = work.motions[side]
    return overlapping_children(near, node, carried(far, far_ref, motion), motion.margin, work.lanes)


# ------------------------------------------------------------------------ triangles


@inlined
def _filtered(near, far, node, slots, far_ref, side, work):
    """The slots of triangles that may meet the far one, and of those the slots that certainly cross it."""
    motion = work.motions[side]
    numbers = carried_corners(far, far_ref, motion) + (motion.corner_margin,)
    if work.mode != PLAIN:
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


@visit.of(FirstContact)
def _first_contact(leaf, near, far, node, slots, far_ref, side, work):
    work.triangle_tests += count_bits(slots)
    slots, crossing = _filtered(near, far, node, slots, far_ref, side, work)
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
    work.witness.places[side] = place_of(near, node * WIDTH + lowest_bit(crossing))
    work.witness.places[1 - side] = there
    return True


@visit.of(AllContacts)
def _all_contacts(leaf, near, far, node, slots, far_ref, side, work):
    work.triangle_tests += count_bits(slots)
    slots, crossing = _filtered(near, far, node, slots, far_ref, side, work)
    if slots == 0:
        return False
    there = place_of(far, far_ref)
    far_triangle = posed_triangle(leaf.poses, 1 - side, far, there)
    found = work.found
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
    work.found = found
    # Stop while the results of one more visit still fit.
    return found > work.n_pairs - WIDTH
