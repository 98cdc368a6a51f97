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
from impinge.convex.distance.simplex import combined
from impinge.convex.distance.support import turned_back
from impinge.convex.features.feature_pair import placements
from impinge.convex.features.voronoi_cells import INSIDE, VERTEX
from impinge.convex.hull.cube_map import first_vertex
from impinge.convex.hull.hull_handle import convex_body
from impinge.convex.workspace import DISTANCE, work_at
from impinge.geometry.answers import APART
from impinge.geometry.exact.double_double import UNCERTAIN
from impinge.kernels.jit import inner


@inner
def begin_anew(work, a, b, pose_a, pose_b):
    """From the vertices that face each other's centre, about."""
    b_to_a, a_to_b = placements(a, b, pose_a, pose_b)
    vertex_a = first_vertex(a, (b_to_a[0][3], b_to_a[1][3], b_to_a[2][3]))
    vertex_b = first_vertex(b, (a_to_b[0][3], a_to_b[1][3], a_to_b[2][3]))
    kept = work.kept
    kept.count = 1
    kept.vertices_a[0] = vertex_a
    kept.vertices_b[0] = vertex_b
    kept.has_plane = False
    kept.features.kind_a, kept.features.feature_a = VERTEX, vertex_a
    kept.features.kind_b, kept.features.feature_b = VERTEX, vertex_b


@inner
def settle(address_a, address_b, address_work, pose_a, pose_b, i, found):
    """What GJK has found in pose i, or APART or MEETING where it has left that UNDECIDED."""
    a, b, work = convex_body(address_a), convex_body(address_b), work_at(address_work)
    if found == UNDECIDED and work.question == DISTANCE and finish_surely(work, a, b, pose_a, pose_b):
        found = APART
    if found == UNDECIDED:
        work.careful_walks += 1
        found = careful_walk(address_a, address_b, address_work, i)
        if found == UNCERTAIN:
            work.exact_walks += 1
            found = exact_walk(address_a, address_b, address_work, i)
    return found


@inner
def write_nearest(work, a, b, pose_a, pose_b, i, meeting):
    """Distance, points and features of pose i."""
    count = work.kept.count
    point_a = combined(work.corners_a, count, work.weights)
    point_b = point_a if meeting else combined(work.corners_b, count, work.weights)
    work.values[i] = work.value
    for k in range(3):
        work.points[i, k] = point_a[k]
        work.points[i, 3 + k] = point_b[k]
    if meeting:
        kind_a, feature_a, face_a = INSIDE, np.int64(NONE), np.int64(NONE)
        kind_b, feature_b, face_b = INSIDE, np.int64(NONE), np.int64(NONE)
    else:
        d = (work.direction[0], work.direction[1], work.direction[2])
        away = (-d[0], -d[1], -d[2])
        kind_a, feature_a, face_a = carrier(a, work.kept.vertices_a, count, turned_back(pose_a, away))
        kind_b, feature_b, face_b = carrier(b, work.kept.vertices_b, count, turned_back(pose_b, d))
    work.features[i, 0], work.features[i, 1], work.features[i, 2] = kind_a, feature_a, face_a
    work.features[i, 3], work.features[i, 4], work.features[i, 5] = kind_b, feature_b, face_b
