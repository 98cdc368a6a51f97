"""New poses of many objects: which differ from the old ones, and whether they are rigid."""

from __future__ import annotations

import numpy as np
from numba.core import config

from impinge.geometry.rigid_pose import pose_is_rigid
from impinge.jit import inner, kernel
from impinge.memory import table

_poses = table(np.float64, 4, 4)
_numbers = table(np.int64)


@inner
def _differ(one, other):
    differ = False
    for i in range(4):
        for j in range(4):
            differ |= one[i, j] != other[i, j]  # true for NaN, which is not rigid either
    return differ


if config.DISABLE_JIT:

    def _write(given, numbers, first, count, poses):
        """In one step: plain Python may be interrupted between two of them, which machine code is not."""
        poses[numbers[first:count]] = given[first:count]

else:

    @inner
    def _write(given, numbers, first, count, poses):
        for i in range(first, count):
            for row in range(4):
                for column in range(4):
                    poses[numbers[i], row, column] = given[i, row, column]


@kernel
def place_poses(count, objects, numbers, given, poses, moved, now):
    """Move objects with these numbers to the poses given; ``moved`` tells when each was moved last.

    Returns how many were moved; or, where a pose is not rigid, -1 minus its place, and nothing is moved.
    Those that move are noted before the first of them moves: a note too many costs a comparison, one too few an answer.
    """
    numbers, given = _numbers(numbers, count), _poses(given, count)
    poses, moved = _poses(poses, objects), _numbers(moved, objects)
    first = 0
    while first < count and not _differ(given[first], poses[numbers[first]]):
        first += 1
    for i in range(first, count):
        if _differ(given[i], poses[numbers[i]]) and not pose_is_rigid(given[i]):
            return -1 - i
    changed = 0
    for i in range(first, count):
        if _differ(given[i], poses[numbers[i]]):
            changed += 1
            moved[numbers[i]] = now
    _write(given, numbers, first, count, poses)
    return changed
