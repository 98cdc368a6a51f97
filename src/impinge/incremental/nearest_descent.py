# mypy: allow-untyped-defs, allow-incomplete-defs
"""Distance of two bodies that do not meet, by branch and bound over their box hierarchies.

Ponamgi, Manocha and Lin (1995), 5.1: where there is no contact, the closest distance is wanted.  A pair of boxes whose
gap is wider than the smallest distance so far is left out.  The faces that were nearest in the last frame give a first
distance.  The gap of two boxes is computed by operations that are monotone in the ends of the boxes, so the gap of
nodes never exceeds that of their children, bit for bit.
"""

from __future__ import annotations

import numpy as np

from impinge.geometry.triangles.all_pairs import padded_square
from impinge.geometry.triangles.clearance import triangles_within
from impinge.geometry.triangles.distance import disjoint_distance
from impinge.geometry.triangles.intersection import load_triangle
from impinge.incremental.frame_memory import DONE, MORE_STACK, NONE, Frames
from impinge.incremental.hierarchy.box_updates import hierarchy_at, open_node, place, take_pose
from impinge.incremental.hierarchy.posed_hierarchy import HIGH, LOW
from impinge.kernels.jit import inlined, inner, kernel

_FULL = -1
"""Instead of the height of the stack."""

frames_at = Frames.at


@inlined
def _gap_along(m, i, n, j, axis):
    return max(n[j, LOW, axis] - m[i, HIGH, axis], m[i, LOW, axis] - n[j, HIGH, axis], 0.0)


@inlined
def _squared_gap(m, i, n, j):
    """As geometry.triangles.all_pairs.squared_gap."""
    x, y, z = _gap_along(m, i, n, j, 0), _gap_along(m, i, n, j, 1), _gap_along(m, i, n, j, 2)
    return (x * x + y * y) + z * z


@inlined
def _extent(boxes, i):
    """The sum of the sides of a box."""
    x, y, z = (
        boxes[i, HIGH, 0] - boxes[i, LOW, 0],
        boxes[i, HIGH, 1] - boxes[i, LOW, 1],
        boxes[i, HIGH, 2] - boxes[i, LOW, 2],
    )
    return x + y + z


@inner
def _measure(frames, a, b, entry_a, entry_b, best):
    """Compare two faces with the best ones so far, the first in order of faces among equals; returns the smaller."""
    frames.effort.triangle_tests += 1
    value, point_a, point_b = disjoint_distance(load_triangle(a.world, entry_a), load_triangle(b.world, entry_b))
    face_a, face_b = a.faces[entry_a], b.faces[entry_b]
    i = frames.pose
    named_a, named_b = frames.faces[i, 0], frames.faces[i, 1]
    first = face_a < named_a or (face_a == named_a and face_b < named_b)
    if value < best or (value == best and first):
        best = value
        frames.witness_a, frames.witness_b = entry_a, entry_b
        frames.faces[i, 0], frames.faces[i, 1] = face_a, face_b
        for k in range(3):
            frames.points[i, 0, k] = point_a[k]
            frames.points[i, 1, k] = point_b[k]
    return best


@inner
def _push(frames, height, item_a, item_b, gap):
    """Put a pair of items on the stack; returns its height."""
    pair = frames.stack[height]
    pair.item_a, pair.item_b, pair.gap = item_a, item_b, gap
    return height + 1


@inner
def _push_children(frames, a, b, pair, of_a, reach, height):
    """Put the children of item a or of item b on the stack that are within reach, the nearest on top.

    Returns the height of the stack, or _FULL.
    """
    one, other = (a, b) if of_a else (b, a)
    item_a, item_b = np.int64(pair.item_a), np.int64(pair.item_b)  # the pair is overwritten
    node, beside = (item_a, item_b) if of_a else (item_b, item_a)
    open_node(one, node)
    first, count = np.int64(one.first[node]), np.int64(one.count[node])
    if height + count > frames.n_stack:
        return _FULL
    frames.effort.box_tests += count
    stack, bottom = frames.stack, height
    for item in range(first, first + count):
        gap = _squared_gap(one.boxes, item, other.boxes, beside)
        if gap > reach:
            continue
        free = height
        while free > bottom and stack[free - 1].gap < gap:
            stack[free] = stack[free - 1]
            free -= 1
        _push(frames, free, item if of_a else beside, beside if of_a else item, gap)
        height += 1
    return height


@inner
def _place_entry(hierarchy, entry):
    """Have the world coordinates of an entry; returns its number as an item."""
    item = hierarchy.nodes + entry
    open_node(hierarchy, np.int64(hierarchy.parent[item]))
    return item


@inner
def _begin(frames, a, b):
    """Put the roots on the stack, and on top of them the witness of the last frame; returns the height."""
    height = _push(frames, 0, 0, 0, _squared_gap(a.boxes, 0, b.boxes, 0))
    if frames.witness_a != NONE:
        item_a, item_b = _place_entry(a, frames.witness_a), _place_entry(b, frames.witness_b)
        height = _push(frames, height, item_a, item_b, 0.0)
    return height


@inner
def _are_within(frames, a, b, entry_a, entry_b):
    """Whether two faces are within the clearance; if so, they are the witness."""
    frames.effort.triangle_tests += 1
    if not triangles_within(load_triangle(a.world, entry_a), load_triangle(b.world, entry_b), frames.clearance):
        return False
    frames.witness_a, frames.witness_b = entry_a, entry_b
    return True


@inner
def _nearest_of_pose(frames, a, b):
    """The nearest faces in one pose, or whether any are within the clearance; returns DONE or MORE_STACK."""
    i = frames.pose
    frames.frame += 1
    take_pose(a, frames.poses_a, i)
    take_pose(b, frames.poses_b, i)
    place(a, frames.frame)
    place(b, frames.frame)
    best = np.inf
    reach = padded_square(frames.clearance) if frames.first_only else np.inf
    height = _begin(frames, a, b)
    while height > 0:
        height -= 1
        pair = frames.stack[height]
        if pair.gap > reach:
            continue
        item_a, item_b = np.int64(pair.item_a), np.int64(pair.item_b)
        entry_a, entry_b = item_a - a.nodes, item_b - b.nodes
        if entry_a >= 0 and entry_b >= 0:
            if not frames.first_only:
                best = _measure(frames, a, b, entry_a, entry_b, best)
                reach = padded_square(best)
            elif _are_within(frames, a, b, entry_a, entry_b):
                frames.answers[i] = True
                return DONE
            continue
        of_b = entry_a >= 0 or (entry_b < 0 and _extent(b.boxes, item_b) > _extent(a.boxes, item_a))
        height = _push_children(frames, a, b, pair, not of_b, reach, height)
        if height == _FULL:
            return MORE_STACK
    if frames.first_only:
        frames.answers[i] = False
    else:
        frames.values[i] = best
    return DONE


@kernel
def nearest_faces(a, b, frames):
    """Go on with the poses that are asked about, in which the bodies must not meet unless a clearance is asked for."""
    a, b, frames = hierarchy_at(a), hierarchy_at(b), frames_at(frames)
    while frames.pose < frames.asked:
        frames.effort_before = frames.effort
        status = _nearest_of_pose(frames, a, b)
        if status != DONE:
            frames.effort = frames.effort_before
            return np.int64(status)
        frames.pose += 1
    return np.int64(DONE)
