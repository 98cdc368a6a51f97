"""Questions about two convex bodies: the one kernel behind every method and every verb but penetration.

For each pose

    kept plane (Baraff) --------------------------------------------> apart
    start: kept simplex (GJK) | walk over features (V-Clip, Lin-Canny)
        --> gjk, in floats -------------------------------------------> apart, meeting, near enough
              --> sure_finish, measured in double-double -------------> distances
              --> careful_walk, double-double ------------------------> the same, and distances
                    --> exact_walk, integers -------------------------> the same, always
"""

from __future__ import annotations

import numpy as np

from impinge.convex.body import body_cells, body_features, convex_body
from impinge.convex.carriers import NONE, carrier
from impinge.convex.cells import INSIDE, VERTEX
from impinge.convex.cube_map import first_vertex
from impinge.convex.exact_walk import careful_walk, exact_walk
from impinge.convex.feature_pair import FEATURE_A, FEATURE_B, KIND_A, KIND_B, LOST, NEAREST, placements
from impinge.convex.gjk import APART, MEETING, OPEN, gjk
from impinge.convex.lin_canny import lin_canny
from impinge.convex.separating_plane import still_separates
from impinge.convex.simplex import OF_A, OF_B, combined, direction, pose_anew
from impinge.convex.simplex_of_pair import simplex_of_pair
from impinge.convex.support import pose_of, turned_back
from impinge.convex.sure_finish import finish_surely
from impinge.convex.vclip import vclip
from impinge.convex.work import (
    ASKED,
    CAREFUL,
    COHERENT,
    COLLIDES,
    CORRECTED,
    COUNT,
    DISTANCE,
    EXACT,
    GJK,
    HAS_PLANE,
    IDS_A,
    IDS_B,
    KNOWN,
    LOST_WALKS,
    METHOD,
    QUESTION,
    STEPS,
    VALUE,
    VCLIP,
    WEIGHTS,
    work_at,
)
from impinge.geometry.double_double import UNCERTAIN
from impinge.geometry.rigid_pose import pose_is_rigid
from impinge.jit import inner, kernel


@inner
def _begin_anew(work, a, b, address_a, address_b, pose_a, pose_b):
    """From the vertices that face each other's centre, about."""
    b_to_a, a_to_b = placements(body_features(address_a).centre, body_features(address_b).centre, pose_a, pose_b)
    vertex_a = first_vertex(a, (b_to_a[0][3], b_to_a[1][3], b_to_a[2][3]))
    vertex_b = first_vertex(b, (a_to_b[0][3], a_to_b[1][3], a_to_b[2][3]))
    work.counters[COUNT] = 1
    work.counters[IDS_A] = vertex_a
    work.counters[IDS_B] = vertex_b
    work.counters[HAS_PLANE] = 0
    work.pair[KIND_A], work.pair[FEATURE_A] = VERTEX, vertex_a
    work.pair[KIND_B], work.pair[FEATURE_B] = VERTEX, vertex_b


@inner
def _walk(work, address_a, address_b, a, b, pose_a, pose_b):
    """Walk over features, and begin GJK where that ends."""
    features_a, features_b = body_features(address_a), body_features(address_b)
    b_to_a, a_to_b = placements(features_a.centre, features_b.centre, pose_a, pose_b)
    if work.orders[METHOD] == VCLIP:
        outcome = vclip(features_a, features_b, b_to_a, a_to_b, work.pair)
    else:
        outcome = lin_canny(body_cells(address_a), body_cells(address_b), b_to_a, a_to_b, work.pair)
    simplex_of_pair(work, features_a, features_b, a, b, pose_a, pose_b, b_to_a, a_to_b)
    return outcome


@inner
def _write_nearest(work, address_a, address_b, pose_a, pose_b, i, meeting):
    """Distance, points and features of pose i."""
    weights = (
        work.numbers[WEIGHTS], work.numbers[WEIGHTS + 1], work.numbers[WEIGHTS + 2], work.numbers[WEIGHTS + 3],
    )  # fmt: skip
    point_a = combined(work, weights, OF_A)
    point_b = point_a if meeting else combined(work, weights, OF_B)
    work.values[i] = work.numbers[VALUE]
    for k in range(3):
        work.points[i, k] = point_a[k]
        work.points[i, 3 + k] = point_b[k]
    if meeting:
        kind_a, feature_a, face_a = INSIDE, np.int64(NONE), np.int64(NONE)
        kind_b, feature_b, face_b = INSIDE, np.int64(NONE), np.int64(NONE)
    else:
        d = direction(work)
        away = (-d[0], -d[1], -d[2])
        count = work.counters[COUNT]
        kind_a, feature_a, face_a = carrier(
            body_features(address_a), work.counters, IDS_A, count, turned_back(pose_a, away)
        )
        kind_b, feature_b, face_b = carrier(
            body_features(address_b), work.counters, IDS_B, count, turned_back(pose_b, d)
        )
    work.features[i, 0], work.features[i, 1], work.features[i, 2] = kind_a, feature_a, face_a
    work.features[i, 3], work.features[i, 4], work.features[i, 5] = kind_b, feature_b, face_b


@kernel
def closest(address_a, address_b, address_work):
    """Answer the question of the workspace for all its poses.

    Returns the place of the first pose that is not rigid; or, where all are, -1 for a last answer of no and -2 for yes.
    """
    found = 0
    outcome = 0
    a, b, work = convex_body(address_a), convex_body(address_b), work_at(address_work)
    question, method = work.orders[QUESTION], work.orders[METHOD]
    for i in range(work.orders[ASKED]):
        if not (pose_is_rigid(work.poses_a[i]) and pose_is_rigid(work.poses_b[i])):
            return i
        pose_a, pose_b = pose_of(work.poses_a, i), pose_of(work.poses_b, i)
        if work.orders[COHERENT] == 0 or work.counters[KNOWN] == 0:
            _begin_anew(work, a, b, address_a, address_b, pose_a, pose_b)
        work.counters[KNOWN] = 1
        if question == COLLIDES and work.counters[HAS_PLANE] == 1:
            if still_separates(work, a, b, pose_a, pose_b):
                found = 0
                work.answers[i] = found
                continue
            work.counters[HAS_PLANE] = 0
        if method == GJK:
            # A tetrahedron is started as a triangle: nothing is known of the side on which the origin lies.
            work.counters[COUNT] = min(work.counters[COUNT], 3)
            pose_anew(work, a, b, pose_a, pose_b)
        else:
            outcome = _walk(work, address_a, address_b, a, b, pose_a, pose_b)
        before = work.counters[STEPS]
        found = gjk(work, a, b, pose_a, pose_b)
        steps = work.counters[STEPS] - before
        if found == OPEN and question == DISTANCE and finish_surely(work, a, b, pose_a, pose_b):
            found = APART
        if found == OPEN:
            work.counters[CAREFUL] += 1
            found = careful_walk(address_a, address_b, address_work, i)
            if found == UNCERTAIN:
                work.counters[EXACT] += 1
                found = exact_walk(address_a, address_b, address_work, i)
        work.answers[i] = found
        if method != GJK:
            work.counters[LOST_WALKS] += outcome == LOST
            work.counters[CORRECTED] += outcome == NEAREST and found == APART and steps > 1
        if question == DISTANCE:
            _write_nearest(work, address_a, address_b, pose_a, pose_b, i, found == MEETING)
    return -1 - found
