# mypy: allow-untyped-defs, allow-incomplete-defs
"""Queries on two convex bodies: the one kernel behind every method and every verb but penetration.

For each pose

    kept plane (Baraff) --------------------------------------------> apart
    start: kept simplex (GJK) | walk over features (V-Clip, Lin-Canny)
        --> certified_finish, where it is the nearest one already -----> distances
        --> gjk, in floats -------------------------------------------> apart, meeting, near enough
              --> settle, with certain signs -------------------------> the same, and distances, always
"""

from __future__ import annotations

from impinge.convex.distance.certified_finish import finish_surely
from impinge.convex.distance.exact_finish import begin_anew, settle, write_nearest
from impinge.convex.distance.gjk import gjk
from impinge.convex.distance.separating_plane import still_separates
from impinge.convex.distance.simplex import pose_anew
from impinge.convex.distance.simplex_of_pair import simplex_of_pair
from impinge.convex.distance.support import pose_of
from impinge.convex.features.feature_pair import NEAREST, placements
from impinge.convex.features.lin_canny import lin_canny
from impinge.convex.features.vclip import vclip
from impinge.convex.hull.hull_handle import convex_body
from impinge.convex.workspace import COLLIDES, DISTANCE, GJK, VCLIP, work_at
from impinge.geometry.answers import APART, MEETING
from impinge.geometry.rigid_pose import pose_is_rigid
from impinge.kernels.jit import inner, kernel


@inner
def _walk(work, a, b, pose_a, pose_b):
    """Walk over features, and begin GJK where that ends."""
    b_to_a, a_to_b = placements(a, b, pose_a, pose_b)
    if work.method == VCLIP:
        outcome, steps = vclip(a, b, b_to_a, a_to_b, work.kept.features)
    else:
        outcome, steps = lin_canny(a, b, b_to_a, a_to_b, work.kept.features)
    work.feature_steps += steps
    simplex_of_pair(work, a, b, pose_a, pose_b, b_to_a, a_to_b)
    return outcome


@kernel
def closest(address_a, address_b, address_work):
    """Answer the question of the workspace for all its poses.

    Returns the place of the first pose that is not rigid; or, where all are, -1 for a last answer of no and -2 for yes.
    """
    found = 0
    outcome = 0
    a, b, work = convex_body(address_a), convex_body(address_b), work_at(address_work)
    kept = work.kept
    question, method = work.question, work.method
    for i in range(work.first, work.end):
        if not (pose_is_rigid(work.poses_a[i]) and pose_is_rigid(work.poses_b[i])):
            return i
        pose_a, pose_b = pose_of(work.poses_a, i), pose_of(work.poses_b, i)
        known = work.coherent and kept.known
        if not known:
            begin_anew(work, a, b, pose_a, pose_b)
        kept.known = True
        if question != DISTANCE and kept.has_plane:
            limit = 0.0 if question == COLLIDES else work.limit
            if still_separates(work, a, b, pose_a, pose_b, limit):
                found = 0
                work.answers[i] = found
                continue
            kept.has_plane = False
        if method == GJK:
            # A tetrahedron is started as a triangle: nothing is known of the side on which the origin lies.
            kept.count = min(kept.count, 3)
            pose_anew(work, a, b, pose_a, pose_b)
        else:
            outcome = _walk(work, a, b, pose_a, pose_b)
        before = work.steps
        # A simplex of the last pose or of a walk is usually the nearest one: then the proof is all there is to do.
        if question == DISTANCE and (known or method != GJK) and finish_surely(work, a, b, pose_a, pose_b):
            found = APART
        else:
            found = gjk(work, a, b, pose_a, pose_b, question, work.limit)
            found = settle(address_a, address_b, address_work, pose_a, pose_b, i, found)
        steps = work.steps - before
        work.answers[i] = found
        if method != GJK:
            work.corrected_walks += outcome == NEAREST and found == APART and steps > 1
        if question == DISTANCE:
            write_nearest(work, a, b, pose_a, pose_b, i, found == MEETING)
    return -1 - found
