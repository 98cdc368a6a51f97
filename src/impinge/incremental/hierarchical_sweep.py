# mypy: allow-untyped-defs, allow-incomplete-defs
"""Hierarchical sweep and prune: all pairs of faces that meet, level by level through two hierarchies of boxes.

Ponamgi, Manocha and Lin (1995), 4.7.  For a pair of nodes whose boxes overlap, the children of both are sorted along an
axis and swept; pairs of children that overlap come next.  Levels are (1, 1), (2, 2), ...; where one hierarchy
has ended, its last level goes on against the descending levels of the other.  At two leaves the faces are swept, and
those whose boxes overlap are tested.

Coherence
---------
The order of a list changes little from frame to frame.  It is kept for each pair of nodes that was reached, and mended
by insertion sort.  A list that takes more than eight exchanges an item is sorted by merging instead, so that no motion
costs more than n log n.  The axis of a list is the one along which its items overlap least; it is chosen when a list is
made, which is done again every 64 frames.

Where it starts
---------------
All contacts lie in the common box of the two roots (and of the region of interpenetration of the hulls, if that is
known).  The paper starts at the features that penetrate and climbs until the hierarchies no longer overlap: here, from
the node where the last frame started up to the last ancestor beside which something reaches into the common box, then
down again as long as only one child does.  Nothing outside that node can have a contact.  The same holds for every pair
of nodes and their common box: children that do not reach into it are left out of the sweep.  (Boxes that overlap and
both reach into a third have a point in common with it, by Helly's theorem for boxes.)
"""

from __future__ import annotations

import numpy as np

from impinge.bvh.answers import APART, FAR_APART, MEETING
from impinge.bvh.contact_keys import contact_key
from impinge.convex.distance.support import pose_of
from impinge.geometry.triangles.intersection import DISJOINT, contact_kind, load_triangle
from impinge.incremental.frame_memory import (
    ASKED,
    BOX_TESTS,
    DONE,
    ENTRY_A,
    ENTRY_B,
    EXCHANGES,
    FIRST_ONLY,
    FOUND,
    FOUND_ROOM,
    FRAME,
    HALF,
    ITEMS_ROOM,
    KEPT,
    LISTED,
    MORE_FOUND,
    MORE_ITEMS,
    MORE_PAIRS,
    PAIRS_ROOM,
    POSE,
    REGION,
    SCRATCH_ROOM,
    SLOTS_ROOM,
    START_A,
    START_B,
    TRIANGLE_TESTS,
    work_at,
)
from impinge.incremental.hierarchy.box_updates import is_leaf, open_node, placed, posed_face
from impinge.incremental.hierarchy.hierarchy_handle import box_body
from impinge.kernels.jit import inlined, inner, kernel

_HIT = -1
"""A contact was found where one is enough."""

_RENEWED_EVERY = 64
_MOST_EXCHANGES = 8
"""For each item of a list."""

_NODE_A, _NODE_B, _AXIS, _BEGIN = range(4)
_EMPTY = -1

# ------------------------------------------------------------------- the pairs that are kept


@inlined
def _first_slot(work, a, b):
    return ((a * 73856093) ^ (b * 19349663)) & (work.counters[SLOTS_ROOM] - 1)


@inner
def _kept_pair(work, half, a, b):
    """The row of a pair of nodes, or -1."""
    room = work.counters[SLOTS_ROOM]
    slot = _first_slot(work, a, b)
    while True:
        place = np.int64(work.slots[half * room + slot])
        if place == _EMPTY:
            return place
        row = half * work.counters[PAIRS_ROOM] + place
        if work.pairs[row, _NODE_A] == a and work.pairs[row, _NODE_B] == b:
            return row
        slot = (slot + 1) & (room - 1)


@inner
def _keep_pair(work, half, place, a, b):
    """Add a pair that is not there yet."""
    row = half * work.counters[PAIRS_ROOM] + place
    work.pairs[row, _NODE_A] = a
    work.pairs[row, _NODE_B] = b
    room = work.counters[SLOTS_ROOM]
    slot = _first_slot(work, a, b)
    while work.slots[half * room + slot] != _EMPTY:
        slot = (slot + 1) & (room - 1)
    work.slots[half * room + slot] = place


@inner
def _empty_slots(work, half):
    room = work.counters[SLOTS_ROOM]
    for slot in range(half * room, (half + 1) * room):
        work.slots[slot] = _EMPTY


@inner
def _give_up_lists(work):
    """Nothing was reached."""
    if work.counters[KEPT] == 0:
        return
    _empty_slots(work, work.counters[HALF])
    work.counters[KEPT] = 0
    work.counters[LISTED] = 0


# ----------------------------------------------------------------------------- sorting


@inner
def _low(a, b, lists, code):
    """The low end of an item of a list along its axis."""
    base_a, count_a, base_b, axis = lists
    if code < count_a:
        return a.boxes[base_a + code, axis]
    return b.boxes[base_b + code - count_a, axis]


@inner
def _merge_sort(work, begin, count):
    """Sort a list by the keys of its items."""
    items, keys, spare = work.items, work.keys, work.scratch
    width = 1
    while width < count:
        for left in range(0, count, 2 * width):
            middle, right = min(left + width, count), min(left + 2 * width, count)
            i, j = left, middle
            for k in range(left, right):
                if j == right or (i < middle and keys[items[begin + i]] <= keys[items[begin + j]]):
                    spare[k] = items[begin + i]
                    i += 1
                else:
                    spare[k] = items[begin + j]
                    j += 1
        for k in range(count):
            items[begin + k] = spare[k]
        width *= 2


@inner
def _sort_anew(a, b, lists, work, begin, count):
    for code in range(count):
        work.items[begin + code] = code
        work.keys[code] = _low(a, b, lists, code)
    _merge_sort(work, begin, count)


@inner
def _mend_order(a, b, lists, work, begin, count):
    """Insertion sort of a list that was sorted a frame ago."""
    items, keys = work.items, work.keys
    exchanges = 0
    for i in range(count):
        item = items[begin + i]
        key = _low(a, b, lists, np.int64(item))
        place = i
        while place > 0 and keys[place - 1] > key:
            keys[place] = keys[place - 1]
            items[begin + place] = items[begin + place - 1]
            place -= 1
        keys[place] = key
        items[begin + place] = item
        exchanges += i - place
        if exchanges > _MOST_EXCHANGES * count:
            _sort_anew(a, b, lists, work, begin, count)
            break
    work.counters[EXCHANGES] += exchanges


@inner
def _best_axis(a, b, base_a, count_a, base_b, count_b):
    """The axis along which items are shortest compared with the whole list."""
    best, fewest = 0, np.inf
    for axis in range(3):
        low, high, total = np.inf, -np.inf, 0.0
        for i in range(base_a, base_a + count_a):
            low, high = min(low, a.boxes[i, axis]), max(high, a.boxes[i, axis + 3])
            total += a.boxes[i, axis + 3] - a.boxes[i, axis]
        for i in range(base_b, base_b + count_b):
            low, high = min(low, b.boxes[i, axis]), max(high, b.boxes[i, axis + 3])
            total += b.boxes[i, axis + 3] - b.boxes[i, axis]
        if total < fewest * (high - low):
            best, fewest = axis, total / (high - low)
    return best


# ---------------------------------------------------------------------- where it starts


@inlined
def _region(numbers):
    """Where contacts are of interest: low corner, high corner."""
    return (
        numbers[REGION],
        numbers[REGION + 1],
        numbers[REGION + 2],
        numbers[REGION + 3],
        numbers[REGION + 4],
        numbers[REGION + 5],
    )


@inlined
def _common_box(m, i, n, j, within):
    """What two boxes and a third have in common: where contacts of what is in the first two can be."""
    return (
        max(m[i, 0], n[j, 0], within[0]),
        max(m[i, 1], n[j, 1], within[1]),
        max(m[i, 2], n[j, 2], within[2]),
        min(m[i, 3], n[j, 3], within[3]),
        min(m[i, 4], n[j, 4], within[4]),
        min(m[i, 5], n[j, 5], within[5]),
    )


@inlined
def _reaches(boxes, i, common):
    return (
        (boxes[i, 0] <= common[3])
        & (common[0] <= boxes[i, 3])
        & (boxes[i, 1] <= common[4])
        & (common[1] <= boxes[i, 4])
        & (boxes[i, 2] <= common[5])
        & (common[2] <= boxes[i, 5])
    )


@inner
def _children_that_reach(posed, node, common, work):
    """How many children reach into the common box, and the last of them."""
    open_node(posed, node)
    body = posed.body
    first, count, last = np.int64(body.first[node]), 0, -1
    for item in range(first, first + body.count[node]):
        if _reaches(posed.boxes, item, common):
            count += 1
            last = item
    work.counters[BOX_TESTS] += body.count[node]
    return count, last


@inner
def _start(posed, node, common, work):
    """The lowest node below which is all that reaches into the common box; -1 if nothing does."""
    body = posed.body
    top = node
    while node != 0:
        parent = np.int64(body.parent[node])
        count, last = _children_that_reach(posed, parent, common, work)
        if count > 1 or (count == 1 and last != node):
            top = parent
        node = parent
    while not is_leaf(body, top):
        count, last = _children_that_reach(posed, top, common, work)
        if count == 0:
            return last
        if count > 1:
            break
        top = last
    return top


# ---------------------------------------------------------------------------- the sweep


@inlined
def _overlap(m, i, n, j):
    return (
        (m[i, 0] <= n[j, 3])
        & (n[j, 0] <= m[i, 3])
        & (m[i, 1] <= n[j, 4])
        & (n[j, 1] <= m[i, 4])
        & (m[i, 2] <= n[j, 5])
        & (n[j, 2] <= m[i, 5])
    )


@inner
def _test_faces(a, b, item_a, item_b, work):
    """Whether two faces meet; if so, that is noted."""
    counters = work.counters
    entry_a, entry_b = item_a - a.body.nodes, item_b - b.body.nodes
    counters[TRIANGLE_TESTS] += 1
    kind = contact_kind(load_triangle(a.triangles, entry_a), load_triangle(b.triangles, entry_b))
    if kind == DISJOINT:
        return DONE
    counters[ENTRY_A] = entry_a
    counters[ENTRY_B] = entry_b
    if counters[FIRST_ONLY]:
        return _HIT
    found = counters[FOUND]
    if found == counters[FOUND_ROOM]:
        return MORE_FOUND
    face_a, face_b = np.int64(a.body.faces[entry_a]), np.int64(b.body.faces[entry_b])
    work.found[found] = contact_key(0, face_a, face_b, kind, a.body.face_count, b.body.face_count)
    counters[FOUND] = found + 1
    return DONE


@inner
def _active(a, b, lists, work, begin, count, common):
    """Share a sorted list out to the items of a and those of b that reach into the common box."""
    base_a, count_a, base_b, _ = lists
    room = work.counters[SCRATCH_ROOM]
    active_a, active_b = 0, 0
    for place in range(begin, begin + count):
        code = np.int64(work.items[place])
        if code < count_a:
            if _reaches(a.boxes, base_a + code, common):
                work.scratch[room + active_a] = base_a + code
                active_a += 1
        elif _reaches(b.boxes, base_b + code - count_a, common):
            work.scratch[2 * room + active_b] = base_b + code - count_a
            active_b += 1
    work.counters[BOX_TESTS] += count
    return active_a, active_b


@inner
def _sweep(a, b, axis, actives, at_faces, work, half, reached):
    """Find the pairs that overlap: test faces, add pairs of nodes to those that were reached.

    First the pairs where the interval of a begins first or both begin together, then the others.
    """
    room = work.counters[SCRATCH_ROOM]
    scratch = work.scratch
    tests = 0
    status = DONE
    for turn in range(2):
        one, other = (a.boxes, b.boxes) if turn == 0 else (b.boxes, a.boxes)
        begin_one, begin_other = (1 + turn) * room, (2 - turn) * room
        first = 0
        for i in range(actives[turn]):
            item = np.int64(scratch[begin_one + i])
            low, high = one[item, axis], one[item, axis + 3]
            while first < actives[1 - turn]:
                start = other[scratch[begin_other + first], axis]
                if start > low or (start == low and turn == 0):
                    break
                first += 1
            for j in range(first, actives[1 - turn]):
                beside = np.int64(scratch[begin_other + j])
                if other[beside, axis] > high:
                    break
                tests += 1
                if not _overlap(one, item, other, beside):
                    continue
                item_a, item_b = (item, beside) if turn == 0 else (beside, item)
                if at_faces:
                    status = _test_faces(a, b, item_a, item_b, work)
                elif reached == work.counters[PAIRS_ROOM]:
                    status = MORE_PAIRS
                else:
                    _keep_pair(work, half, reached, item_a, item_b)
                    reached += 1
                if status != DONE:
                    work.counters[BOX_TESTS] += tests
                    return status, reached
    work.counters[BOX_TESTS] += tests
    return status, reached


@inner
def _sorted_list(a, b, work, old, row, lists, begin, count):
    """Make or mend the sorted list of a pair of nodes; returns the axis it is sorted along."""
    base_a, count_a, base_b, axis = lists
    kept = _kept_pair(work, old, work.pairs[row, _NODE_A], work.pairs[row, _NODE_B])
    if kept >= 0 and work.counters[FRAME] % _RENEWED_EVERY != 0:
        axis = work.pairs[kept, _AXIS]
        earlier = work.pairs[kept, _BEGIN]
        for i in range(count):
            work.items[begin + i] = work.items[earlier + i]
        _mend_order(a, b, (base_a, count_a, base_b, axis), work, begin, count)
    else:
        axis = _best_axis(a, b, base_a, count_a, base_b, count - count_a)
        _sort_anew(a, b, (base_a, count_a, base_b, axis), work, begin, count)
    work.pairs[row, _AXIS] = axis
    work.pairs[row, _BEGIN] = begin
    return axis


@inner
def _descend(a, b, start_a, start_b, common, work):
    """Sweep level by level from a pair of nodes on."""
    counters = work.counters
    old = counters[HALF]
    new = 1 - old
    _empty_slots(work, new)
    _keep_pair(work, new, 0, start_a, start_b)
    done, reached, used = 0, 1, np.int64(0)
    while done < reached:
        row = new * counters[PAIRS_ROOM] + done
        node_a, node_b = work.pairs[row, _NODE_A], work.pairs[row, _NODE_B]
        leaf_a, leaf_b = is_leaf(a.body, node_a), is_leaf(b.body, node_b)
        base_a, count_a, base_b, count_b = node_a, np.int64(1), node_b, np.int64(1)
        if leaf_b or not leaf_a:
            open_node(a, node_a)
            base_a, count_a = np.int64(a.body.first[node_a]), np.int64(a.body.count[node_a])
        if leaf_a or not leaf_b:
            open_node(b, node_b)
            base_b, count_b = np.int64(b.body.first[node_b]), np.int64(b.body.count[node_b])
        count = count_a + count_b
        if used + count > counters[ITEMS_ROOM]:
            return MORE_ITEMS
        begin = new * counters[ITEMS_ROOM] + used
        axis = _sorted_list(a, b, work, old, row, (base_a, count_a, base_b, np.int64(0)), begin, count)
        here = _common_box(a.boxes, node_a, b.boxes, node_b, common)
        actives = _active(a, b, (base_a, count_a, base_b, axis), work, begin, count, here)
        status, reached = _sweep(a, b, axis, actives, leaf_a and leaf_b, work, new, reached)
        if status != DONE:
            return status
        used += count
        done += 1
    counters[HALF] = new
    counters[KEPT] = reached
    counters[LISTED] = used
    return DONE


@inner
def _witness_meets(a, b, pose_a, pose_b, work):
    """Whether the faces that met last time do so again."""
    entry_a, entry_b = work.counters[ENTRY_A], work.counters[ENTRY_B]
    if entry_a < 0:
        return False
    work.counters[TRIANGLE_TESTS] += 1
    return contact_kind(posed_face(a, pose_a, entry_a), posed_face(b, pose_b, entry_b)) != DISJOINT


@inner
def _sweep_pose(body_a, body_b, work, i):
    """Find the contacts of one pose; returns the status, and APART, MEETING or FAR_APART."""
    counters = work.counters
    pose_a, pose_b = pose_of(work.poses_a, i), pose_of(work.poses_b, i)
    if counters[FIRST_ONLY] and _witness_meets(body_a, body_b, pose_a, pose_b, work):
        return DONE, MEETING
    counters[FRAME] += 1
    a = placed(body_a, work.boxes_a, work.triangles_a, work.opened_a, pose_a, counters[FRAME])
    b = placed(body_b, work.boxes_b, work.triangles_b, work.opened_b, pose_b, counters[FRAME])
    counters[BOX_TESTS] += 1
    if not _overlap(a.boxes, 0, b.boxes, 0):
        _give_up_lists(work)
        return DONE, FAR_APART
    common = _common_box(a.boxes, 0, b.boxes, 0, _region(work.numbers))
    before = counters[FOUND]
    start_a = _start(a, counters[START_A], common, work)
    start_b = _start(b, counters[START_B], common, work)
    if start_a < 0 or start_b < 0 or not _overlap(a.boxes, start_a, b.boxes, start_b):
        _give_up_lists(work)
        return DONE, APART
    counters[START_A] = start_a
    counters[START_B] = start_b
    status = _descend(a, b, start_a, start_b, common, work)
    if status == _HIT:
        return DONE, MEETING
    return status, MEETING if counters[FOUND] > before else APART


@kernel
def sweep_contacts(address_a, address_b, address):
    """Go on with the poses that are asked about; returns DONE, or what there must be more of."""
    a, b, work = box_body(address_a), box_body(address_b), work_at(address)
    counters = work.counters
    while counters[POSE] < counters[ASKED]:
        i = counters[POSE]
        before = counters[FOUND], counters[BOX_TESTS], counters[TRIANGLE_TESTS], counters[EXCHANGES]
        status, answer = _sweep_pose(a, b, work, i)
        if status != DONE:
            counters[FOUND], counters[BOX_TESTS], counters[TRIANGLE_TESTS], counters[EXCHANGES] = before
            return status
        work.answers[i] = answer
        work.ends[i] = counters[FOUND]
        counters[POSE] += 1
    return np.int64(DONE)
