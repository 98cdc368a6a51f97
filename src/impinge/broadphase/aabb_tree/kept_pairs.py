# mypy: allow-untyped-defs, allow-incomplete-defs
"""Pairs that may overlap for some frames to come: the neighbour list of Verlet, for boxes.

Verlet (1967), "Computer experiments on classical fluids I".  Boxes are enlarged by a reach, the pairs of enlarged boxes
that overlap are listed once, and as long as a box stays inside its enlarged one, all its partners are in the list.
Those that have left are *restless*: they are sought in the tree anew in every frame, until so many are that a new
list costs less.  How far to reach is read from the motion: a reach that lasts for longer means more pairs to compare.
"""

from __future__ import annotations

import numpy as np

from impinge.broadphase.aabb_tree.packed_tree import in_tree, space_at
from impinge.broadphase.boxes import overlap
from impinge.broadphase.pair_keys import first_keys, lower, new_keys, pair_key, upper
from impinge.kernels.jit import inner, kernel

LOOK_AHEAD = 24.0
"""Frames that a reach should last,"""
MOST_REACH = 0.15
"""unless it were a larger part of a box's mean edge than this: half as many pairs more, all in all."""
FEWEST_FRAMES = 2.0
"""A box whose reach would not last for so long gets none."""


@kernel("float64[:, ::1], float64[::1], int64")
def enlarged(rows, speeds, space):
    """Boxes (n, 6) with their reach, in the coordinates of the tree; and the reach (n,) there."""
    space = space_at(space)
    boxes = np.empty((len(rows), 6), dtype=np.float32)
    reaches = np.empty(len(rows), dtype=np.float32)
    for i in range(len(rows)):
        edge = 0.0
        for k in range(3):
            edge += (rows[i, 3 + k] - rows[i, k]) / 3.0
        most = MOST_REACH * edge
        reach = min(LOOK_AHEAD * speeds[i], most) if FEWEST_FRAMES * speeds[i] <= most else 0.0
        reaches[i] = np.float32(reach * space.scale)
        for k in range(3):
            boxes[i, k] = in_tree(rows, i, k, space) - reaches[i]
            boxes[i, 3 + k] = in_tree(rows, i, 3 + k, space) + reaches[i]
    return boxes, reaches


@kernel("float64[:, ::1], int64, float32[:, ::1], float32[::1], int64")
def speeds_since(rows, space, boxes, reaches, frames):
    """How far each box has moved a frame since it was enlarged."""
    space = space_at(space)
    speeds = np.empty(len(rows))
    for i in range(len(rows)):
        moved = 0.0
        for k in range(3):
            low = in_tree(rows, i, k, space) - (boxes[i, k] + reaches[i])
            high = in_tree(rows, i, 3 + k, space) - (boxes[i, 3 + k] - reaches[i])
            moved = max(moved, abs(low), abs(high))
        speeds[i] = moved / space.scale / frames
    return speeds


@inner
def _add_up(counts):
    for i in range(len(counts) - 1):
        counts[i + 1] += counts[i]


@kernel("int64[::1], int64, int64")
def list_of_pairs(keys, found, count):
    """For each object where its list begins, and all lists: partners with larger numbers, ascending.

    Sorted by counting, first by the larger number and then by the smaller one: linear, also where everything overlaps.
    """
    places = np.zeros(count + 1, dtype=np.int64)
    for i in range(found):
        places[lower(keys[i]) + 1] += 1
    _add_up(places)
    by_larger = new_keys(found)
    for i in range(found):
        other = lower(keys[i])
        by_larger[places[other]] = keys[i]
        places[other] += 1
    starts = np.zeros(count + 1, dtype=np.int64)
    for i in range(found):
        starts[upper(keys[i])] += 1
    _add_up(starts)
    # Each stands at the end of its list, and is filled from there: the starts are right when all is done.
    others = np.empty(found, dtype=np.int32)
    for i in range(found - 1, -1, -1):
        one = upper(by_larger[i])
        starts[one] -= 1
        others[starts[one]] = lower(by_larger[i])
    return starts, others


@kernel("float64[:, ::1], int64, float32[:, ::1], boolean[::1]")
def mark_restless(rows, space, boxes, restless):
    """Mark those that have left their enlarged boxes; how many that are."""
    space = space_at(space)
    count = 0
    for i in range(len(rows)):
        left = False
        for k in range(3):
            left |= in_tree(rows, i, k, space) < boxes[i, k]
            left |= in_tree(rows, i, 3 + k, space) > boxes[i, 3 + k]
        restless[i] = left
        count += int(left)
    return count


@kernel("int64[::1], float64[:, ::1], float64, int64[::1], int32[::1], boolean[::1]")
def listed_overlaps(ids, rows, margin, starts, others, restless):
    """Sorted keys of the listed pairs that overlap now, and how many were compared."""
    keys = new_keys(len(others))
    found, tested = 0, 0
    for i in range(len(ids)):
        if restless[i]:
            continue
        for place in range(starts[i], starts[i + 1]):
            j = others[place]
            tested += 1
            keys[found] = pair_key(ids, i, j)
            found += int(overlap(rows, i, j, margin) & (not restless[j]))
    return first_keys(keys, found), tested


@kernel("int64[::1], int64[::1]")
def merged(one, other):
    """Two sorted lists without common numbers as one."""
    both = new_keys(len(one) + len(other))
    i, j = 0, 0
    for k in range(len(both)):
        if j == len(other) or (i < len(one) and one[i] < other[j]):
            both[k] = one[i]
            i += 1
        else:
            both[k] = other[j]
            j += 1
    return both
