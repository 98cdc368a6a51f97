# mypy: allow-untyped-defs, allow-incomplete-defs
"""Distance of two bodies that do not meet, by branch and bound over their box hierarchies.

Ponamgi, Manocha and Lin (1995), 5.1: where there is no contact, the closest distance is wanted.  A pair of boxes whose
gap is wider than the smallest distance so far is left out.  The faces that were nearest in the last frame give a first
distance.  The gap of two boxes is computed by operations that are monotone in the ends of the boxes, so the gap of
nodes never exceeds that of their children, bit for bit.
"""

from __future__ import annotations

import numpy as np

from impinge.convex.distance.support import pose_of
from impinge.geometry.triangles.all_pairs import padded_square
from impinge.geometry.triangles.clearance import triangles_within
from impinge.geometry.triangles.distance import disjoint_distance
from impinge.geometry.triangles.intersection import load_triangle
from impinge.incremental.frame_memory import (
    ASKED,
    BOX_TESTS,
    CLEARANCE,
    DONE,
    ENTRY_A,
    ENTRY_B,
    FIRST_ONLY,
    FRAME,
    MORE_STACK,
    POSE,
    STACK_ROOM,
    TRIANGLE_TESTS,
    work_at,
)
from impinge.incremental.hierarchy.box_updates import open_node, placed
from impinge.incremental.hierarchy.hierarchy_handle import box_body
from impinge.kernels.jit import inlined, inner, kernel


@inlined
def _squared_gap(m, i, n, j):
    """As geometry.triangles.all_pairs.squared_gap."""
    x = max(n[j, 0] - m[i, 3], m[i, 0] - n[j, 3], 0.0)
    y = max(n[j, 1] - m[i, 4], m[i, 1] - n[j, 4], 0.0)
    z = max(n[j, 2] - m[i, 5], m[i, 2] - n[j, 5], 0.0)
    return (x * x + y * y) + z * z


@inlined
def _extent(boxes, i):
    return (boxes[i, 3] - boxes[i, 0]) + (boxes[i, 4] - boxes[i, 1]) + (boxes[i, 5] - boxes[i, 2])


@inner
def _measure(a, b, entry_a, entry_b, work, i, best):
    """Compare two faces with the best ones so far, the first in order of faces among equals; returns the smaller."""
    work.counters[TRIANGLE_TESTS] += 1
    value, point_a, point_b = disjoint_distance(
        load_triangle(a.triangles, entry_a), load_triangle(b.triangles, entry_b)
    )
    face_a, face_b = a.body.faces[entry_a], b.body.faces[entry_b]
    named_a, named_b = work.faces[i, 0], work.faces[i, 1]
    first = face_a < named_a or (face_a == named_a and face_b < named_b)
    if value < best or (value == best and first):
        best = value
        work.counters[ENTRY_A] = entry_a
        work.counters[ENTRY_B] = entry_b
        work.faces[i, 0] = face_a
        work.faces[i, 1] = face_b
        for k in range(3):
            work.points[i, k] = point_a[k]
            work.points[i, k + 3] = point_b[k]
    return best


@inner
def _push_children(a, b, turn, item_a, item_b, reach, work, open_pairs):
    """Put the children of a (turn 0) or b (turn 1) on the stack that are within reach, the nearest on top.

    Returns the height of the stack, or -1 where it is full.
    """
    one, other = (a, b) if turn == 0 else (b, a)
    node, beside = (item_a, item_b) if turn == 0 else (item_b, item_a)
    open_node(one, node)
    first, count = np.int64(one.body.first[node]), np.int64(one.body.count[node])
    if open_pairs + count > work.counters[STACK_ROOM]:
        return np.int64(-1)
    work.counters[BOX_TESTS] += count
    bottom = open_pairs
    for item in range(first, first + count):
        gap = _squared_gap(one.boxes, item, other.boxes, beside)
        if gap > reach:
            continue
        place = open_pairs
        while place > bottom and work.bounds[place - 1] < gap:
            work.bounds[place] = work.bounds[place - 1]
            work.stack[place, turn] = work.stack[place - 1, turn]
            place -= 1
        work.bounds[place] = gap
        work.stack[place, turn] = item
        work.stack[open_pairs, 1 - turn] = beside
        open_pairs += 1
    return open_pairs


@inner
def _place_entry(posed, entry):
    """Have the world coordinates of an entry."""
    open_node(posed, np.int64(posed.body.parent[posed.body.nodes + entry]))


@inner
def _nearest_of_pose(body_a, body_b, work, i):
    """The nearest faces in one pose, or whether any are within the clearance; returns the status."""
    counters = work.counters
    counters[FRAME] += 1
    a = placed(body_a, work.boxes_a, work.triangles_a, work.opened_a, pose_of(work.poses_a, i), counters[FRAME])
    b = placed(body_b, work.boxes_b, work.triangles_b, work.opened_b, pose_of(work.poses_b, i), counters[FRAME])
    within = counters[FIRST_ONLY] != 0
    clearance = work.numbers[CLEARANCE]
    best = np.inf
    reach = padded_square(clearance) if within else np.inf
    open_pairs = np.int64(1)
    work.stack[0, 0] = 0
    work.stack[0, 1] = 0
    work.bounds[0] = _squared_gap(a.boxes, 0, b.boxes, 0)
    if counters[ENTRY_A] >= 0:  # once more on top of the stack, as a pair of items
        entry_a, entry_b = counters[ENTRY_A], counters[ENTRY_B]
        _place_entry(a, entry_a)
        _place_entry(b, entry_b)
        work.stack[1, 0] = a.body.nodes + entry_a
        work.stack[1, 1] = b.body.nodes + entry_b
        work.bounds[1] = 0.0
        open_pairs = np.int64(2)
    while open_pairs > 0:
        open_pairs -= 1
        if work.bounds[open_pairs] > reach:
            continue
        item_a, item_b = np.int64(work.stack[open_pairs, 0]), np.int64(work.stack[open_pairs, 1])
        entry_a, entry_b = item_a - a.body.nodes, item_b - b.body.nodes
        if entry_a >= 0 and entry_b >= 0:
            if not within:
                best = _measure(a, b, entry_a, entry_b, work, i, best)
                reach = padded_square(best)
                continue
            counters[TRIANGLE_TESTS] += 1
            if triangles_within(load_triangle(a.triangles, entry_a), load_triangle(b.triangles, entry_b), clearance):
                counters[ENTRY_A] = entry_a
                counters[ENTRY_B] = entry_b
                work.answers[i] = 1
                return DONE
            continue
        turn = 1 if entry_a >= 0 or (entry_b < 0 and _extent(b.boxes, item_b) > _extent(a.boxes, item_a)) else 0
        open_pairs = _push_children(a, b, turn, item_a, item_b, reach, work, open_pairs)
        if open_pairs < 0:
            return MORE_STACK
    if within:
        work.answers[i] = 0
    else:
        work.values[i] = best
    return DONE


@kernel
def nearest_faces(address_a, address_b, address):
    """Go on with the poses that are asked about, in which the bodies must not meet unless a clearance is asked for."""
    a, b, work = box_body(address_a), box_body(address_b), work_at(address)
    counters = work.counters
    while counters[POSE] < counters[ASKED]:
        before = counters[BOX_TESTS], counters[TRIANGLE_TESTS]
        status = _nearest_of_pose(a, b, work, counters[POSE])
        if status != DONE:
            counters[BOX_TESTS], counters[TRIANGLE_TESTS] = before
            return np.int64(status)
        counters[POSE] += 1
    return np.int64(DONE)
