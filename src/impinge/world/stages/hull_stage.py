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
from impinge.convex.features.feature_pair import PAIR
from impinge.convex.hull.hull_handle import convex_body
from impinge.convex.workspace import (
    CLOSER_THAN,
    COLLIDES,
    DISTANCE,
    FEATURES,
    HAS_PLANE,
    LIMIT,
    PLANE,
    QUESTION,
    work_at,
)
from impinge.kernels.jit import call_kernel, inner, kernel
from impinge.kernels.memory import table

_ERROR = 40.0 * UNIT_ROUNDOFF
_UNDERFLOW = 2.0**-1000

# Answers.
HULLS_APART, HULLS_NEAR, HULLS_STILL_APART = 0, 1, 2
"""The last one by the plane that was kept."""

_KEPT_COUNTERS = HAS_PLANE + 1
"""The simplex, and whether there is a plane: the first places of a workspace's counters."""
PAIR_AT = _KEPT_COUNTERS
KEPT_NUMBERS = PAIR_AT + PAIR
"""What a pair keeps from frame to frame, as integers,"""
KEPT_PLANE = 3
"""and as floats."""

_addresses = table(np.int64)
_flags = table(np.bool_)
_pairs = table(np.int64, 2)
_numbers = table(np.int64)
_poses = table(np.float64, 4, 4)
_doubles = table(np.float64)
_answers = table(np.int8)
_kept = table(np.int64, KEPT_NUMBERS)
_planes = table(np.float64, KEPT_PLANE)
_points = table(np.float64, 6)
_features = table(np.int32, FEATURES)


@inner
def _recall(work, kept, planes, slot):
    for k in range(_KEPT_COUNTERS):
        work.counters[k] = kept[slot, k]
    for k in range(PAIR):
        work.pair[k] = kept[slot, _KEPT_COUNTERS + k]
    for k in range(KEPT_PLANE):
        work.numbers[PLANE + k] = planes[slot, k]


@inner
def _keep(work, kept, planes, slot):
    for k in range(_KEPT_COUNTERS):
        kept[slot, k] = work.counters[k]
    for k in range(PAIR):
        kept[slot, _KEPT_COUNTERS + k] = work.pair[k]
    for k in range(KEPT_PLANE):
        planes[slot, k] = work.numbers[PLANE + k]


@inner
def _same_plane(work, kept, planes, slot):
    """Whether there was a plane, and it is still the one that separates."""
    same = kept[slot, HAS_PLANE] == 1 and work.counters[HAS_PLANE] == 1
    for k in range(KEPT_PLANE):
        same &= planes[slot, k] == work.numbers[PLANE + k]
    return same


@inner
def _place(work, poses, a, b):
    for i in range(4):
        for j in range(4):
            work.poses_a[0, i, j] = poses[a, i, j]
            work.poses_b[0, i, j] = poses[b, i, j]


@inner
def _room_for_rounding(address_a, address_b, poses, a, b):
    """How much farther apart hulls must be than what they hold."""
    size_a = size_of_coordinates(convex_body(address_a), pose_of(poses, a))
    size_b = size_of_coordinates(convex_body(address_b), pose_of(poses, b))
    return _ERROR * (size_a + size_b) + _UNDERFLOW


@kernel
def hull_stage(
    closest, work_address, question, count, objects, room, pairs, slots, hulls, convex, poses, clearances, kept, planes,
    answers, values, points, features,
):  # fmt: skip
    """Ask ``closest``, given by its address, about all pairs of objects.

    The answer is HULLS_NEAR (no farther apart than the clearance, or meeting), HULLS_APART or HULLS_STILL_APART.
    Of two convex bodies it is the exact one, with distance, points and features where these are asked for;
    of others HULLS_NEAR means that nothing is known.
    """
    pairs, slots, clearances = _pairs(pairs, count), _numbers(slots, count), _doubles(clearances, count)
    hulls, convex, poses = _addresses(hulls, objects), _flags(convex, objects), _poses(poses, objects)
    kept, planes = _kept(kept, room), _planes(planes, room)
    answers, values = _answers(answers, count), _doubles(values, count)
    points, features = _points(points, count), _features(features, count)
    work = work_at(work_address)
    for i in range(count):
        a, b, slot = pairs[i, 0], pairs[i, 1], slots[i]
        limit = clearances[i]
        asked = question
        if not (convex[a] and convex[b]):
            asked = CLOSER_THAN
            limit += _room_for_rounding(hulls[a], hulls[b], poses, a, b)
        elif question != DISTANCE and limit == 0.0:
            asked = COLLIDES
        _recall(work, kept, planes, slot)
        _place(work, poses, a, b)
        work.orders[QUESTION] = asked
        work.numbers[LIMIT] = limit
        answers[i] = -1 - call_kernel(closest, hulls[a], hulls[b], work_address)
        if answers[i] == HULLS_APART and _same_plane(work, kept, planes, slot):
            answers[i] = HULLS_STILL_APART
        _keep(work, kept, planes, slot)
        if asked == DISTANCE:
            values[i] = work.values[0]
            for k in range(6):
                points[i, k] = work.points[0, k]
            for k in range(FEATURES):
                features[i, k] = work.features[0, k]
    return count
