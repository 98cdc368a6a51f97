# mypy: allow-untyped-defs, allow-incomplete-defs
"""The second stage of the pipeline: convex hulls of many pairs, in one call.

Lin, Manocha, Cohen and Gottschalk (1996, 4.1.4); Ponamgi, Manocha and Lin (1995, 4.2).  Two convex bodies are decided
here.  For others the hulls can only say that what they hold is far away, and need room for the rounding of
vertices inside them.

What hulls around other bodies may say
--------------------------------------
A point of a posed body is within 32 u M of its posed hull (``distance.gap_bound`` has the derivation), for a and b each
with its own M.  So where the hulls are farther apart than the clearance and 32 u (M_a + M_b), the bodies are
farther apart than the clearance.  The sum is rounded up: it is made with 40 instead of 32.  Products that underflow
lose 2**-1075 each, less than 2**-1000 in all.
"""

from __future__ import annotations

import numpy as np

from impinge.constants import UNIT_ROUNDOFF
from impinge.convex.distance.support import pose_of, size_of_coordinates
from impinge.convex.hull.hull_handle import convex_body
from impinge.convex.workspace import CLOSER_THAN, COLLIDES, DISTANCE, work_at
from impinge.kernels.jit import call_kernel, inner, kernel
from impinge.kernels.record import Record, address, bool_, int64
from impinge.world.stages.hull_choice import hulls_are_worth_it, learn
from impinge.world.stages.pair_table import BY_VERBS, OPEN, SETTLED, objects_at, pairs_at, put_poses

_ERROR = 40.0 * UNIT_ROUNDOFF
_UNDERFLOW = 2.0**-1000

# Answers.
HULLS_APART, HULLS_NEAR, HULLS_STILL_APART = 0, 1, 2
"""The last one by the plane that was kept."""
NOT_COMPARED = -1


class HullStage(Record):
    """What is asked, and what it took."""

    closest = address
    """The kernel for two hulls,"""
    work = address
    """and its workspace."""
    query = int64
    """CLOSER_THAN or DISTANCE."""
    choose = bool_
    """Whether ``hull_choice`` decides which hulls are compared."""
    contacts = bool_
    """Whether pairs of convex bodies that meet go on to the trees."""
    first_only = bool_
    """Whether one yes is enough."""
    first = int64
    end = int64
    """Pairs to go through."""
    compared = int64
    apart = int64
    by_kept_planes = int64
    by_verbs = int64
    """Pairs that were compared, were apart by that, by a kept plane; and pairs for the verbs."""
    met = int64
    """Pairs of convex bodies with a yes."""


stage_at = HullStage.at


@inner
def _same_plane(one, other):
    """Whether there was a plane, and it is still the one that separates."""
    same = one.has_plane and other.has_plane
    for k in range(3):
        same &= one.plane[k] == other.plane[k]
    return same


@inner
def _room_for_rounding(objects, a, b):
    """How much farther apart hulls must be than what they hold."""
    size_a = size_of_coordinates(convex_body(objects.hulls[a]), pose_of(objects.poses, objects.first_pose + a))
    size_b = size_of_coordinates(convex_body(objects.hulls[b]), pose_of(objects.poses, objects.first_pose + b))
    return _ERROR * (size_a + size_b) + _UNDERFLOW


@inner
def _compare(objects, stage, work, row, a, b, clearance):
    """What hulls say about a pair: HULLS_NEAR (no farther apart than the clearance), HULLS_APART, HULLS_STILL_APART.

    Of two convex bodies it is the exact answer, with the distance where that is asked for; of others HULLS_NEAR means
    that nothing is known.
    """
    query, limit = stage.query, clearance
    if not (objects.bodies[a].convex and objects.bodies[b].convex):
        query = CLOSER_THAN
        limit += _room_for_rounding(objects, a, b)
    elif query != DISTANCE and limit == 0.0:
        query = COLLIDES
    work.kept = row.hulls
    put_poses(work, objects, a, b)
    work.question = query
    work.limit = limit
    answer = -1 - call_kernel(stage.closest, objects.hulls[a], objects.hulls[b], stage.work)
    if answer == HULLS_APART and _same_plane(row.hulls, work.kept):
        answer = HULLS_STILL_APART
    row.hulls = work.kept
    return answer


@inner
def _keep_distance(work, row):
    row.value = work.values[0]
    for k in range(6):
        row.points[k] = work.points[0, k]
    row.faces[0] = work.features[0, 2]
    row.faces[1] = work.features[0, 5]


@inner
def _are_compared(objects, stage, row, a, b, clearance):
    """Whether the hulls of two bodies, not both convex, are compared."""
    if stage.choose:
        triangles = max(objects.bodies[a].triangles, objects.bodies[b].triangles)
        if not hulls_are_worth_it(row, triangles):
            return False
    return objects.hulls[a] != 0 and objects.hulls[b] != 0 and clearance < np.inf


@inner
def _hulls_of_pair(objects, pairs, stage, work, i):
    """Compare the hulls of a pair, if that is worth it, and say what is left to be done."""
    a, b, clearance = pairs.objects[i, 0], pairs.objects[i, 1], pairs.clearances[i]
    row = pairs.rows[pairs.slots[i]]
    body_a, body_b = objects.bodies[a], objects.bodies[b]
    convex = body_a.convex and body_b.convex
    answer = NOT_COMPARED
    if convex or _are_compared(objects, stage, row, a, b, clearance):
        answer = _compare(objects, stage, work, row, a, b, clearance)
        stage.compared += 1
        stage.by_kept_planes += int(answer == HULLS_STILL_APART)
        stage.apart += int(answer != HULLS_NEAR)
        if stage.choose:
            learn(row, answer == HULLS_STILL_APART)
    if convex:
        if stage.query == DISTANCE:
            _keep_distance(work, row)
            row.yes = row.value <= clearance
        else:
            row.yes = answer == HULLS_NEAR
        stage.met += int(row.yes)
        pairs.states[i] = OPEN if stage.contacts and row.yes else SETTLED
    elif answer in (HULLS_APART, HULLS_STILL_APART):
        row.value = np.inf
        row.yes = False
        pairs.states[i] = SETTLED
    elif not (body_a.has_triangles and body_b.has_triangles):
        pairs.states[i] = BY_VERBS
        stage.by_verbs += 1


@kernel
def hull_stage(objects, pairs, stage):
    """Compare the hulls of all open pairs from ``first`` to ``end``."""
    objects, pairs, stage = objects_at(objects), pairs_at(pairs), stage_at(stage)
    work = work_at(stage.work)
    for i in range(stage.first, stage.end):
        if pairs.states[i] == OPEN:
            _hulls_of_pair(objects, pairs, stage, work, i)
            if stage.first_only and stage.met > 0:
                break
    return 0
