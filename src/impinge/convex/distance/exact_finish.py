# mypy: allow-untyped-defs, allow-incomplete-defs
"""From the simplex where GJK ends to the exact answer for one pose: the last step of every query on hulls.

gjk, in floats -------------------------------------------> apart, meeting, near enough
    --> certified_finish, measured in double-double ------> distances
    --> careful_walk, double-double ----------------------> the same, and distances
          --> exact_walk, integers -----------------------> the same, always
"""

from __future__ import annotations

import numpy as np

from impinge.convex.distance.carriers import NONE, carrier
from impinge.convex.distance.certified_finish import finish_surely
from impinge.convex.distance.exact_gjk import careful_walk, exact_walk
from impinge.convex.distance.gjk import UNDECIDED
from impinge.convex.distance.simplex import OF_A, OF_B, combined
from impinge.convex.distance.support import turned_back
from impinge.convex.features.feature_pair import FEATURE_A, FEATURE_B, KIND_A, KIND_B, placements
from impinge.convex.features.voronoi_cells import INSIDE, VERTEX
from impinge.convex.hull.cube_map import first_vertex
from impinge.convex.hull.hull_handle import body_features
from impinge.convex.workspace import (
    CAREFUL,
    COUNT,
    DIRECTION,
    DISTANCE,
    EXACT,
    HAS_PLANE,
    IDS_A,
    IDS_B,
    QUESTION,
    VALUE,
    WEIGHTS,
)
from impinge.geometry.answers import APART
from impinge.geometry.exact.double_double import UNCERTAIN
from impinge.kernels.jit import inner


@inner
def begin_anew(work, a, b, address_a, address_b, pose_a, pose_b):
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
def settle(address_a, address_b, address_work, a, b, work, pose_a, pose_b, i, found):
    """What GJK has found in pose i, or APART or MEETING where it has left that UNDECIDED."""
    if found == UNDECIDED and work.orders[QUESTION] == DISTANCE and finish_surely(work, a, b, pose_a, pose_b):
        found = APART
    if found == UNDECIDED:
        work.counters[CAREFUL] += 1
        found = careful_walk(address_a, address_b, address_work, i)
        if found == UNCERTAIN:
            work.counters[EXACT] += 1
            found = exact_walk(address_a, address_b, address_work, i)
    return found


@inner
def write_nearest(work, address_a, address_b, pose_a, pose_b, i, meeting):
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
        d = (work.numbers[DIRECTION], work.numbers[DIRECTION + 1], work.numbers[DIRECTION + 2])
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
