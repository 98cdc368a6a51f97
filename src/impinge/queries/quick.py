"""The shortest way from (4, 4) arrays to an answer.

For two boxes far apart the arithmetic takes a tenth of a microsecond; checking, broadcasting and shaping a
batch of one takes fifty and more.  So a single question about two meshes whose trees exist goes straight to the
kernel, which checks the poses itself.  Whatever is unusual (None is returned) is left to the general way.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from impinge.bvh.answers import APART, MEETING, NO_ROOM, UNFINISHED
from impinge.bvh.search import OBB_HANDLE, contact_columns, own, to_its_end
from impinge.bvh.tree_handle import Handle
from impinge.bvh.workspace import Workspace
from impinge.mesh.mesh import Mesh
from impinge.queries.batch import contacts_of
from impinge.queries.methods.method import Method
from impinge.queries.single_pose import single_poses
from impinge.results import Contacts, Distance

TREE_METHODS = ("auto", "obb")
"""Methods that go through trees of oriented boxes."""

_YES = np.True_
_NO = np.False_

Ready = tuple[Handle, Handle, Workspace]


def ready(a: Mesh, b: Mesh, method: str, workers: int) -> Ready | None:
    """The trees of two meshes, if they were built, and the workspace of this thread."""
    work = own.workspace
    try:
        if work is None or method not in TREE_METHODS or type(workers) is not int or workers != 1:
            return None
        return a._memo[OBB_HANDLE], b._memo[OBB_HANDLE], work
    except (AttributeError, KeyError, TypeError, ValueError):  # the last two: a method that is no string
        return None


def _ask(
    kernel: Callable[[int, int, int], int],
    a: Handle,
    b: Handle,
    work: Workspace,
    pose_a: ArrayLike | None,
    pose_b: ArrayLike | None,
) -> int:
    """Hand single poses to the workspace as they are; what the kernel answers, negative for the general way."""
    poses = single_poses(pose_a, pose_b)
    if poses is None or a.stack + b.stack > work.stack:
        return NO_ROOM
    if not work.is_single:
        work.ask_single()
    work.single_poses[:] = poses
    try:
        answer = kernel(a.address, b.address, work.address)
        if answer == UNFINISHED:
            answer = to_its_end(partial(kernel, a.address, b.address, work.address), work)
    except BaseException:
        work.is_single = False  # interrupted: the next question must not go on with this one
        raise
    return answer


def collides(who: Ready, pose_a: ArrayLike | None, pose_b: ArrayLike | None, solid: bool) -> np.bool_ | None:
    a, b, work = who
    answer = _ask(a.kernels.collides, a, b, work, pose_a, pose_b)
    if answer == MEETING:
        return _YES
    if answer < 0 or (solid and answer == APART):
        return None
    return _NO


def closer_than(
    who: Ready, clearance: float, pose_a: ArrayLike | None, pose_b: ArrayLike | None, solid: bool
) -> np.bool_ | None:
    a, b, work = who
    work.set_clearance(clearance)
    answer = _ask(a.kernels.closer_than, a, b, work, pose_a, pose_b)
    if answer == MEETING:
        return _YES
    if answer < 0 or solid:
        return None
    return _NO


def distance(
    who: Ready, method: Method, pose_a: ArrayLike | None, pose_b: ArrayLike | None, solid: bool
) -> Distance | None:
    """Solids are left to the general way, but where their surfaces meet."""
    a, b, work = who
    if _ask(a.kernels.distance, a, b, work, pose_a, pose_b) < 0:
        return None
    value = work.values[0]
    face_a, face_b = work.faces
    if value == 0.0:
        point = method.common_points(work.poses[:1], work.poses[1:], np.zeros(1, dtype=np.int64), work.faces[None])[0]
        return Distance(value, point, point.copy(), face_a, face_b)
    if solid:
        return None
    point_a, point_b = work.points.copy()
    return Distance(value, point_a, point_b, face_a, face_b)


def contacts(who: Ready, method: Method, pose_a: ArrayLike | None, pose_b: ArrayLike | None) -> Contacts | None:
    """Sets of contacts that do not fit into the workspace at once are left to the general way."""
    a, b, work = who
    work.first_pose()
    if _ask(a.kernels.contacts, a, b, work, pose_a, pose_b) != 1:
        work.first_pose()
        return None
    pairs = contact_columns(a, b, 0, work.take_pairs())
    return contacts_of(method.constructed(work.poses[:1], work.poses[1:], pairs), ())
