# mypy: allow-untyped-defs, allow-incomplete-defs
"""The last stage of the pipeline: trees of many pairs, in one call.

A pair keeps two triangles from frame to frame: those that met are asked first whether they still do, and the distance
of those that were nearest is where the search for a smaller one begins.
"""

from __future__ import annotations

import numpy as np

from impinge.bvh.workspace import CLEARANCE, FACE_A, FACE_B, FOUND, POSE, RESUMED, WITNESS, work_at
from impinge.kernels.jit import call_kernel, inner, kernel
from impinge.kernels.memory import table

WITNESS_NUMBERS = 3
"""What a pair keeps: whether there are triangles that met, and two places in the trees."""

ANSWERS = 0
"""What is wanted: yes or no,"""
DISTANCES = 1
"""distance, points and faces,"""
CONTACTS = 2
"""or contacts, as numbers in the workspace (``bvh.leaf_operations``)."""

_addresses = table(np.int64)
_numbers = table(np.int64)
_pairs = table(np.int64, 2)
_poses = table(np.float64, 4, 4)
_doubles = table(np.float64)
_answers = table(np.int64)
_witnesses = table(np.int64, WITNESS_NUMBERS)
_points = table(np.float64, 6)
_faces = table(np.int32, 2)


@inner
def _place(work, poses, a, b):
    for i in range(4):
        for j in range(4):
            work.asked_a[0, i, j] = poses[a, i, j]
            work.asked_b[0, i, j] = poses[b, i, j]


@inner
def _recall(work, witnesses, slot):
    work.counters[WITNESS] = witnesses[slot, 0]
    work.counters[FACE_A] = witnesses[slot, 1]
    work.counters[FACE_B] = witnesses[slot, 2]


@inner
def _keep(work, witnesses, slot):
    witnesses[slot, 0] = work.counters[WITNESS]
    witnesses[slot, 1] = work.counters[FACE_A]
    witnesses[slot, 2] = work.counters[FACE_B]


@kernel
def tree_stage(
    question, wanted, work_address, first, count, objects, room, pairs, slots, trees, poses, clearances,
    witnesses, answers, values, points, faces,
):  # fmt: skip
    """Ask a kernel of trees, given by its address, about pairs of objects from ``first`` on.

    Answers are those of the kernel; for contacts, how many there are of all pairs so far.  Returns where it stopped:
    at the end, or where there was no room for more contacts.  Called again with that it goes on.
    """
    pairs, slots, clearances = _pairs(pairs, count), _numbers(slots, count), _doubles(clearances, count)
    trees, poses = _addresses(trees, objects), _poses(poses, objects)
    witnesses = _witnesses(witnesses, room)
    answers, values = _answers(answers, count), _doubles(values, count)
    points, faces = _points(points, count), _faces(faces, count)
    work = work_at(work_address)
    for i in range(first, count):
        a, b, slot = pairs[i, 0], pairs[i, 1], slots[i]
        if work.counters[RESUMED] == 0:
            _place(work, poses, a, b)
            _recall(work, witnesses, slot)
            work.numbers[CLEARANCE] = clearances[i]
            work.counters[POSE] = 0
        answer = call_kernel(question, trees[a], trees[b], work_address)
        if wanted == CONTACTS:
            if work.counters[RESUMED] != 0:
                return i
            answers[i] = work.counters[FOUND]
            continue
        answers[i] = answer
        _keep(work, witnesses, slot)
        if wanted == DISTANCES:
            values[i] = work.values[0]
            faces[i, 0] = work.faces[0]
            faces[i, 1] = work.faces[1]
            for k in range(6):
                points[i, k] = work.points[k]
    return count
