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
from impinge.bvh.leaves.contact_leaves import AllContacts, FirstContact
from impinge.bvh.leaves.distance_leaves import Nearest, Within, keep_if_nearer, set_reach
from impinge.bvh.leaves.posed_triangles import posed_triangle
from impinge.bvh.open_pairs import start
from impinge.bvh.relative_motion import surely_farther_apart, write_motions
from impinge.bvh.traverse import traverse
from impinge.bvh.workspace import BEST_FIRST
from impinge.geometry.rigid_pose import pose_is_rigid
from impinge.geometry.triangles.intersection import DISJOINT, contact_kind
from impinge.kernels.jit import inlined


@inlined
def _place(a, b, i, work):
    """Put the bodies into the poses i that are asked about; return whether these are rigid."""
    pose_a = work.poses_a[i]
    pose_b = work.poses_b[i]
    if not (pose_is_rigid(pose_a) and pose_is_rigid(pose_b)):
        return False
    for row in range(4):
        for j in range(4):
            work.poses[0, row, j] = pose_a[row, j]
            work.poses[1, row, j] = pose_b[row, j]
    write_motions(work.motions, a, b, work.poses[0], work.poses[1])
    work.origins_apart = 0.0
    take_pose(work, a, b)
    return True


@inlined
def _choose_view(a, b, work):
    """How to answer a question about distances: in far view, which has no use for a front, or not."""
    work.origins_apart = write_views(work, a, b)
    if work.origins_apart == 0.0:
        choose_mode(work)
        return
    # A front stays as it is: how far the bodies have moved since is known in every pose.
    work.mode = PLAIN
    work.tests_before = work.box_tests


@inlined
def _prepare(a, b, reach, best_first, work):
    """Get ready to look for pairs up to the distance ``reach``."""
    set_reach(work, 0, reach, a.unit, b.unit)
    _start_search(work, best_first)


@inlined
def _start_search(work, best_first):
    """From the roots, or along the front."""
    if work.mode == SWEEP:
        work.open_count = 0
        work.heap = 0
        work.heap_left = 0
    else:
        start(work, best_first)


@inlined
def _first_pose(work):
    """The pose to begin with: the first that is asked about, or the one where the last call has stopped."""
    return work.pose if work.resumed else work.first_pose


@inlined
def out_of_budget(work, answered, i):
    """Whether the traversal for pose i stopped before it was done; called again the kernel goes on there."""
    stopped = not answered and work.open_count > 0 and work.box_tests >= work.budget
    work.resumed = stopped
    if stopped:
        work.pose = i
    return stopped


@inlined
def _witness_meets(a, b, work):
    """Whether the pair that met before still does."""
    if not work.witness.meets:
        return False
    triangle_a = posed_triangle(work.poses, 0, a, work.witness.places[0])
    triangle_b = posed_triangle(work.poses, 1, b, work.witness.places[1])
    return contact_kind(triangle_a, triangle_b) != DISJOINT


@inlined
def collide_all(a, b, work):
    """APART, MEETING or FAR_APART for each pose; return the last, or NOT_RIGID, NO_ROOM or UNFINISHED."""
    if must_grow(work):
        return NO_ROOM
    if not work.coherent:
        work.witness.meets = False  # it belongs to other bodies
    answer = APART
    for i in range(_first_pose(work), work.end_pose):
        if not work.resumed:
            if not _place(a, b, i, work):
                return NOT_RIGID
            if surely_farther_apart(a, b, work.poses[0], work.poses[1], 0.0):
                work.answers[i] = answer = FAR_APART
                continue
            if _witness_meets(a, b, work):
                work.answers[i] = answer = MEETING
                continue
            choose_mode(work)
            _prepare(a, b, 0.0, 0 if work.mode != PLAIN else BEST_FIRST, work)
        meeting = traverse(FirstContact(work.poses), a, b, work)
        if out_of_budget(work, meeting, i):
            return UNFINISHED
        alone = work.box_tests == work.tests_before + 1
        far = alone if work.mode == PLAIN else roots_are_apart(work)
        finish(work, CONTACTS)
        work.witness.meets = meeting
        answer = MEETING if meeting else FAR_APART if far else APART
        work.answers[i] = answer
    return answer


@inlined
def find_contacts(a, b, work):
    """Fill work.pairs; return the number of poses that are done, or NOT_RIGID, NO_ROOM or UNFINISHED.

    Called again it goes on where it stopped.
    """
    if must_grow(work):
        return NO_ROOM
    while work.pose < work.end_pose:
        i = work.pose
        if not work.resumed:
            if not _place(a, b, i, work):
                return NOT_RIGID
            choose_mode(work)
            _prepare(a, b, 0.0, 0, work)
        full = traverse(AllContacts(work.poses), a, b, work)
        if out_of_budget(work, full, i):
            return UNFINISHED
        if full:
            work.resumed = True
            return i
        finish(work, CONTACTS)
        work.resumed = False
        work.pose += 1
    return work.pose


@inlined
def _begin_with_witness(a, b, work):
    """Start from the distance of the last nearest pair of triangles, or of any; return whether it meets."""
    place_a = work.witness.places[0]
    place_b = work.witness.places[1]
    work.best = np.inf
    triangle_a = posed_triangle(work.poses, 0, a, place_a)
    triangle_b = posed_triangle(work.poses, 1, b, place_b)
    return keep_if_nearer(a, b, triangle_a, triangle_b, place_a, place_b, 0, work)


@inlined
def find_nearest(a, b, work):
    """Distances, points that have them, and faces; return 0, or NOT_RIGID, NO_ROOM or UNFINISHED."""
    if must_grow(work):
        return NO_ROOM
    for i in range(_first_pose(work), work.end_pose):
        meeting = False
        if not work.resumed:
            if not work.coherent:
                work.witness.places[0] = 0
                work.witness.places[1] = 0
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
        work.witness.meets = meeting
        work.values[i] = work.best
        work.faces[i, 0] = a.order[work.witness.places[0]]
        work.faces[i, 1] = b.order[work.witness.places[1]]
        for k in range(6):
            work.points[i, k] = work.nearest_points[k]
    return 0


@inlined
def find_closer(a, b, work):
    """Whether there are points no farther apart than the clearance, for each pose.

    Return the last, or NOT_RIGID, NO_ROOM or UNFINISHED.
    """
    closer = False
    clearance = work.clearance
    if must_grow(work):
        return NO_ROOM
    for i in range(_first_pose(work), work.end_pose):
        if not work.resumed:
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
    clearance = work.clearance
    while work.pose < work.end_pose:
        i = work.pose
        if not work.resumed:
            if not _place(a, b, i, work):
                return NOT_RIGID
            _choose_view(a, b, work)
            _prepare(a, b, clearance, 0, work)
        full = traverse(leaf, a, b, work)
        if out_of_budget(work, full, i):
            return UNFINISHED
        if full:
            work.resumed = True
            return i
        work.pose += 1
    return work.pose
