"""Entry kernels for trees of oriented boxes: one a question, each compiled when it is first asked.

Trees and the workspace, with the poses and the place for results in it, are passed by address: see body and work.
"""

from __future__ import annotations

import numpy as np

from impinge.jit import kernel
from impinge.trees.body import obb_body
from impinge.trees.questions import collide_all, find_closer, find_contacts, find_nearest
from impinge.trees.work import ANSWERS, FACES, POINTS_AT, VALUES, poses_at, result_at, work_at


@kernel
def collides(a, b, work):
    poses_a, poses_b = poses_at(work)
    answers = result_at(work, ANSWERS, np.int8)
    return collide_all(obb_body(a), obb_body(b), work_at(work), poses_a, poses_b, answers)


@kernel
def contacts(a, b, work):
    poses_a, poses_b = poses_at(work)
    return find_contacts(obb_body(a), obb_body(b), work_at(work), poses_a, poses_b)


@kernel
def distance(a, b, work):
    poses_a, poses_b = poses_at(work)
    values = result_at(work, VALUES, np.float64)
    points = result_at(work, POINTS_AT, np.float64)
    faces = result_at(work, FACES, np.int32)
    return find_nearest(obb_body(a), obb_body(b), work_at(work), poses_a, poses_b, values, points, faces)


@kernel
def closer_than(a, b, work):
    poses_a, poses_b = poses_at(work)
    answers = result_at(work, ANSWERS, np.bool_)
    return find_closer(obb_body(a), obb_body(b), work_at(work), poses_a, poses_b, answers)
