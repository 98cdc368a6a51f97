# mypy: allow-untyped-defs, allow-incomplete-defs
"""Queries on two bounding volume hierarchies, for batches of poses: templates for the entry kernels of each volume."""

from __future__ import annotations

import numpy as np

from impinge.bvh.answers import APART, FAR_APART, MEETING, NO_ROOM, NOT_RIGID, UNFINISHED
from impinge.bvh.far_view import write_views
from impinge.bvh.front import (
    CONTACTS,
    DISTANCES,
    PLAIN,
    SWEEP,
    choose_mode,
    finish,
    must_grow,
    roots_are_apart,
    take_pose,
)
from impinge.bvh.leaf_operations import (
    AllContacts,
    FirstContact,
    Nearest,
    Within,
    keep_if_nearer,
    posed_triangle,
    set_reach,
)
from impinge.bvh.open_pairs import start
from impinge.bvh.relative_motion import surely_farther_apart, write_motions
from impinge.bvh.traverse import traverse
from impinge.bvh.workspace import (
    ASKED,
    BEST,
    BEST_FIRST,
    BOX_TESTS,
    BUDGET,
    CLEARANCE,
    COHERENT,
    FACE_A,
    FACE_B,
    FIRST,
    HEAP,
    HEAP_LEFT,
    MODE,
    OPEN,
    ORIGINS_APART,
    POINTS,
    POSE,
    RESUMED,
    TESTS_BEFORE,
    WITNESS,
)
from impinge.geometry.rigid_pose import pose_is_rigid
from impinge.geometry.triangles.intersection import DISJOINT, contact_kind
from impinge.kernels.jit import inlined


@inlined
def _place(a, b, i, work):
    """Put the bodies into the poses i that are asked about; return whether these are rigid."""
    pose_a = work.asked_a[i]
    pose_b = work.asked_b[i]
    if not (pose_is_rigid(pose_a) and pose_is_rigid(pose_b)):
        return False
    for row in range(4):
        for j in range(4):
            work.poses[0, row, j] = pose_a[row, j]
            work.poses[1, row, j] = pose_b[row, j]
    write_motions(work.motions, a, b, work.poses[0], work.poses[1])
    work.numbers[ORIGINS_APART] = 0.0
    take_pose(work, a, b)
    return True


@inlined
def _choose_view(a, b, work):
    """How to answer a question about distances: in far view, which has no use for a front, or not."""
    origins_apart = write_views(work.views, work.motions, a, b, work.poses[0], work.poses[1])
    work.numbers[ORIGINS_APART] = origins_apart
    if origins_apart == 0.0:
        choose_mode(work)
        return
    # A front stays as it is: how far the bodies have moved since is known in every pose.
    work.counters[MODE] = PLAIN
    work.counters[TESTS_BEFORE] = work.counters[BOX_TESTS]


@inlined
def _prepare(a, b, reach, best_first, work):
    """Get ready to look for pairs up to the distance ``reach``."""
    set_reach(work, 0, reach, a.unit, b.unit)
    _start_search(work, best_first)


@inlined
def _start_search(work, best_first):
    """From the roots, or along the front."""
    if work.counters[MODE] == SWEEP:
        work.counters[OPEN] = 0
        work.counters[HEAP] = 0
        work.counters[HEAP_LEFT] = 0
    else:
        start(work, best_first)


@inlined
def _first_pose(work):
    """The pose to begin with: the first that is asked about, or the one where the last call has stopped."""
    return work.counters[POSE] if work.counters[RESUMED] != 0 else work.sizes[FIRST]


@inlined
def out_of_budget(work, answered, i):
    """Whether the traversal for pose i stopped before it was done; called again the kernel goes on there."""
    stopped = not answered and work.counters[OPEN] > 0 and work.counters[BOX_TESTS] >= work.counters[BUDGET]
    work.counters[RESUMED] = stopped
    if stopped:
        work.counters[POSE] = i
    return stopped


@inlined
def _witness_meets(a, b, work):
    """Whether the pair that met before still does."""
    if work.counters[WITNESS] == 0:
        return False
    triangle_a = posed_triangle(work.poses, 0, a, work.counters[FACE_A])
    triangle_b = posed_triangle(work.poses, 1, b, work.counters[FACE_B])
    return contact_kind(triangle_a, triangle_b) != DISJOINT


@inlined
def collide_all(a, b, work):
    """APART, MEETING or FAR_APART for each pose; return the last, or NOT_RIGID, NO_ROOM or UNFINISHED."""
    counters = work.counters
    if must_grow(work):
        return NO_ROOM
    if counters[COHERENT] == 0:
        counters[WITNESS] = 0  # it belongs to other bodies
    answer = APART
    for i in range(_first_pose(work), work.sizes[ASKED]):
        if counters[RESUMED] == 0:
            if not _place(a, b, i, work):
                return NOT_RIGID
            if surely_farther_apart(a, b, work.poses[0], work.poses[1], 0.0):
                work.answers[i] = answer = FAR_APART
                continue
            if _witness_meets(a, b, work):
                work.answers[i] = answer = MEETING
                continue
            choose_mode(work)
            _prepare(a, b, 0.0, 0 if counters[MODE] != PLAIN else BEST_FIRST, work)
        meeting = traverse(FirstContact(work.poses), a, b, work)
        if out_of_budget(work, meeting, i):
            return UNFINISHED
        alone = counters[BOX_TESTS] == counters[TESTS_BEFORE] + 1
        far = alone if counters[MODE] == PLAIN else roots_are_apart(work)
        finish(work, CONTACTS)
        counters[WITNESS] = meeting
        answer = MEETING if meeting else FAR_APART if far else APART
        work.answers[i] = answer
    return answer


@inlined
def find_contacts(a, b, work):
    """Fill work.pairs; return the number of poses that are done, or NOT_RIGID, NO_ROOM or UNFINISHED.

    Called again it goes on where it stopped.
    """
    counters = work.counters
    if must_grow(work):
        return NO_ROOM
    while counters[POSE] < work.sizes[ASKED]:
        i = counters[POSE]
        if counters[RESUMED] == 0:
            if not _place(a, b, i, work):
                return NOT_RIGID
            choose_mode(work)
            _prepare(a, b, 0.0, 0, work)
        full = traverse(AllContacts(work.poses), a, b, work)
        if out_of_budget(work, full, i):
            return UNFINISHED
        if full:
            counters[RESUMED] = 1
            return i
        finish(work, CONTACTS)
        counters[RESUMED] = 0
        counters[POSE] += 1
    return counters[POSE]


@inlined
def _begin_with_witness(a, b, work):
    """Start from the distance of the last nearest pair of triangles, or of any; return whether it meets."""
    place_a = work.counters[FACE_A]
    place_b = work.counters[FACE_B]
    work.numbers[BEST] = np.inf
    triangle_a = posed_triangle(work.poses, 0, a, place_a)
    triangle_b = posed_triangle(work.poses, 1, b, place_b)
    return keep_if_nearer(a, b, triangle_a, triangle_b, place_a, place_b, 0, work)


@inlined
def find_nearest(a, b, work):
    """Distances, points that have them, and faces; return 0, or NOT_RIGID, NO_ROOM or UNFINISHED."""
    counters = work.counters
    numbers = work.numbers
    if must_grow(work):
        return NO_ROOM
    for i in range(_first_pose(work), work.sizes[ASKED]):
        meeting = False
        if counters[RESUMED] == 0:
            if counters[COHERENT] == 0:
                counters[FACE_A] = 0
                counters[FACE_B] = 0
            if not _place(a, b, i, work):
                return NOT_RIGID
            _choose_view(a, b, work)
            meeting = _begin_with_witness(a, b, work)
            _start_search(work, BEST_FIRST)
        if not meeting:
            meeting = traverse(Nearest(work.poses), a, b, work)
            if out_of_budget(work, meeting, i):
                return UNFINISHED
        finish(work, DISTANCES)
        counters[WITNESS] = meeting
        work.values[i] = numbers[BEST]
        work.faces[2 * i] = a.order[counters[FACE_A]]
        work.faces[2 * i + 1] = b.order[counters[FACE_B]]
        for k in range(6):
            work.points[6 * i + k] = numbers[POINTS + k]
    return 0


@inlined
def find_closer(a, b, work):
    """Whether there are points no farther apart than the clearance, for each pose.

    Return the last, or NOT_RIGID, NO_ROOM or UNFINISHED.
    """
    closer = False
    clearance = work.numbers[CLEARANCE]
    if must_grow(work):
        return NO_ROOM
    for i in range(_first_pose(work), work.sizes[ASKED]):
        if work.counters[RESUMED] == 0:
            if not _place(a, b, i, work):
                return NOT_RIGID
            if surely_farther_apart(a, b, work.poses[0], work.poses[1], clearance):
                work.answers[i] = closer = False
                continue
            _choose_view(a, b, work)
            _prepare(a, b, clearance, BEST_FIRST, work)
        closer = traverse(Within(work.poses, clearance), a, b, work)
        if out_of_budget(work, closer, i):
            return UNFINISHED
        finish(work, DISTANCES)
        work.answers[i] = closer
    return np.int64(closer)


@inlined
def visit_all(leaf, a, b, work):
    """Call a leaf operation for all pairs within the clearance.

    Return the number of poses done, or NOT_RIGID or UNFINISHED.  Called again it goes on where it stopped.
    """
    counters = work.counters
    clearance = work.numbers[CLEARANCE]
    while counters[POSE] < work.sizes[ASKED]:
        i = counters[POSE]
        if counters[RESUMED] == 0:
            if not _place(a, b, i, work):
                return NOT_RIGID
            _choose_view(a, b, work)
            _prepare(a, b, clearance, 0, work)
        full = traverse(leaf, a, b, work)
        if out_of_budget(work, full, i):
            return UNFINISHED
        if full:
            counters[RESUMED] = 1
            return i
        counters[POSE] += 1
    return counters[POSE]
