# mypy: allow-untyped-defs, allow-incomplete-defs
"""New poses of many objects: which differ from the old ones, and whether they are rigid."""

from __future__ import annotations

import numpy as np

from impinge.geometry.rigid_pose import pose_is_rigid
from impinge.kernels.jit import inner, kernel
from impinge.kernels.memory import table
from impinge.kernels.mode import without_compiler

_poses = table(np.float64, 4, 4)
_numbers = table(np.int64)


@inner
def _differ(one, other):
    differ = False
    for i in range(4):
        for j in range(4):
            differ |= one[i, j] != other[i, j]  # true for NaN, which is not rigid either
    return differ


if without_compiler():

    def _move(numbers, given, first, count, poses, moved, now):
        """All in one step, after it was noted what moves: plain Python may be interrupted, which machine code is not.

        A note too many costs a comparison, one too few an answer.
        """
        changed = [i for i in range(first, count) if _differ(given[i], poses[numbers[i]])]
        moved[numbers[changed]] = now
        poses[numbers[first:count]] = given[first:count]
        return len(changed)

else:

    @inner
    def _move(numbers, given, first, count, poses, moved, now):
        changed = 0
        for i in range(first, count):
            number = numbers[i]
            if _differ(given[i], poses[number]):
                changed += 1
                moved[number] = now
                for row in range(4):
                    for column in range(4):
                        poses[number, row, column] = given[i, row, column]
        return changed


@kernel
def place_poses(count, objects, numbers, given, poses, moved, now):
    """Move objects with these numbers to the poses given; ``moved`` tells when each was moved last.

    Returns how many were moved; or, where a pose is not rigid, -1 minus its place, and nothing is moved.
    """
    numbers, given = _numbers(numbers, count), _poses(given, count)
    poses, moved = _poses(poses, objects), _numbers(moved, objects)
    first = 0
    while first < count and not _differ(given[first], poses[numbers[first]]):
        first += 1
    for i in range(first, count):
        if _differ(given[i], poses[numbers[i]]) and not pose_is_rigid(given[i]):
            return -1 - i
    return _move(numbers, given, first, count, poses, moved, now)
