# mypy: allow-untyped-defs, allow-incomplete-defs
"""The pairs of items of a sorted list that overlap, one of a and one of b: sweep along one axis.

Two intervals overlap where the one that begins later begins before the other one ends.  So each item is compared with
those of the other body that begin from its own low end to its high end.  They stand together in the sorted order, and
where they begin only ever moves on: n steps, and a test of boxes for each pair that overlaps along the axis.

Items that do not reach into the common box of the two nodes are left out first.  Nothing is lost: boxes that overlap
and both reach into a third have a point in common with it, by Helly's theorem for boxes.
"""

from __future__ import annotations

import numpy as np

from impinge.incremental.frame_memory import DONE
from impinge.incremental.hierarchy.posed_hierarchy import HIGH, LOW
from impinge.incremental.sweep.box_overlap import overlap, reaches
from impinge.incremental.sweep.face_test import compare_faces
from impinge.incremental.sweep.item_list import length_of
from impinge.incremental.sweep.pair_hash import add_pair
from impinge.kernels.jit import inlined, inner


@inner
def share_out(frames, a, b, items, common):
    """Share a sorted list out to the active items of a and of b, which reach into the common box; returns how many."""
    active_a, active_b = 0, 0
    for place in range(items.begin, items.begin + length_of(items)):
        number = np.int64(frames.items[place])
        if number < items.count_a:
            if reaches(a.boxes, items.first_a + number, common):
                frames.active_a[active_a] = items.first_a + number
                active_a += 1
        elif reaches(b.boxes, items.first_b + number - items.count_a, common):
            frames.active_b[active_b] = items.first_b + number - items.count_a
            active_b += 1
    frames.effort.box_tests += length_of(items)
    return active_a, active_b


@inlined
def _visit(frames, a, b, item_a, item_b, at_faces):
    """Two boxes overlap: test faces, list nodes."""
    if at_faces:
        return compare_faces(frames, a, b, item_a, item_b)
    return add_pair(frames, frames.now, item_a, item_b)


@inner
def sweep(frames, a, b, axis, counts, at_faces):
    """Visit the pairs of active items that overlap; returns DONE, or why it has stopped.

    First the pairs where the interval of a begins first or both begin together, then the others.
    """
    tests = 0
    status = DONE
    for turn in range(2):
        of_a = turn == 0
        one, other = (a.boxes, b.boxes) if of_a else (b.boxes, a.boxes)
        mine, theirs = (frames.active_a, frames.active_b) if of_a else (frames.active_b, frames.active_a)
        first = 0
        for i in range(counts[turn]):
            item = np.int64(mine[i])
            low, high = one[item, LOW, axis], one[item, HIGH, axis]
            while first < counts[1 - turn]:
                start = other[theirs[first], LOW, axis]
                if start > low or (start == low and of_a):
                    break
                first += 1
            for j in range(first, counts[1 - turn]):
                beside = np.int64(theirs[j])
                if other[beside, LOW, axis] > high:
                    break
                tests += 1
                if overlap(one, item, other, beside):
                    item_a, item_b = (item, beside) if of_a else (beside, item)
                    status = _visit(frames, a, b, item_a, item_b, at_faces)
                    if status != DONE:
                        frames.effort.box_tests += tests
                        return status
    frames.effort.box_tests += tests
    return status
