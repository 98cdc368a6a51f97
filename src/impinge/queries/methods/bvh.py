"""``method="obb"``: queries about two meshes by simultaneous traversal of two trees of oriented boxes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.arrays import Bools, Floats
from impinge.bvh.answers import APART, MEETING, NO_ROOM, UNFINISHED
from impinge.bvh.search import OBB_HANDLE, Statistics, TreeSearch, own, search_of, sorted_contacts, to_its_end
from impinge.bvh.tree_handle import TreeHandle
from impinge.bvh.workspace import AT_ONCE, TraversalWorkspace
from impinge.mesh.mesh import Mesh
from impinge.queries.contact_columns import common_points, constructed, contacts_of
from impinge.queries.method import DistanceColumns
from impinge.queries.methods.surfaces import SurfaceMethod
from impinge.queries.single_pose import single_poses
from impinge.results import Contacts, Distance

if TYPE_CHECKING:
    from impinge.incremental.incremental_search import IncrementalSearch

_FRONT = 1 << 16
"""Entries of a new front; it grows where that is too few."""

_YES = np.True_
_NO = np.False_
_FIRST_POSE = np.zeros(1, dtype=np.intp)
_SURFACES_APART = np.ones(1, dtype=np.bool_)

_Ready = tuple[TreeHandle, TreeHandle, TraversalWorkspace]


class BVH(SurfaceMethod):
    """Two meshes with their trees; the memory is a search with a workspace and a front of its own."""

    def __init__(self, a: Mesh, b: Mesh, memory: TreeSearch | IncrementalSearch | None = None) -> None:
        super().__init__(a, b)
        self.search = search_of(a, b) if memory is None else memory

    @classmethod
    def new_memory(cls, a: Mesh, b: Mesh) -> TreeSearch:
        work = TraversalWorkspace(front=_FRONT)
        work.allow(AT_ONCE)
        return search_of(a, b, work)

    @staticmethod
    def statistics(memory: TreeSearch | IncrementalSearch) -> Statistics:
        return memory.statistics

    # --- one pose of each body, where the trees exist

    @staticmethod
    def collides_once(
        a: Mesh, b: Mesh, memory: TreeSearch | None, pose_a: ArrayLike | None, pose_b: ArrayLike | None
    ) -> np.bool_ | None:
        if (ready := _ready(a, b, memory)) is None:
            return None
        answer = _ask(ready[0].kernels.collides, ready, pose_a, pose_b)
        if answer == MEETING:
            return _YES
        if answer < 0:
            return None
        return _are_nested(a, b, ready[2]) if answer == APART else _NO

    @staticmethod
    def closer_than_once(
        a: Mesh,
        b: Mesh,
        memory: TreeSearch | None,
        clearance: float,
        pose_a: ArrayLike | None,
        pose_b: ArrayLike | None,
    ) -> np.bool_ | None:
        if (ready := _ready(a, b, memory)) is None:
            return None
        ready[2].clearance = clearance
        answer = _ask(ready[0].kernels.closer_than, ready, pose_a, pose_b)
        if answer == MEETING:
            return _YES
        return None if answer < 0 else _are_nested(a, b, ready[2])

    @staticmethod
    def distance_once(
        a: Mesh, b: Mesh, memory: TreeSearch | None, pose_a: ArrayLike | None, pose_b: ArrayLike | None
    ) -> Distance | None:
        if (ready := _ready(a, b, memory)) is None or _ask(ready[0].kernels.distance, ready, pose_a, pose_b) < 0:
            return None
        work = ready[2]
        value = work.values[0]
        if value == 0.0:
            point = common_points(a, b, work.poses[:1], work.poses[1:], _FIRST_POSE, work.faces)[0]
            return Distance(value, point, point.copy(), *work.faces[0])
        points = work.points.reshape(2, 3).copy()
        if a.solid or b.solid:
            found = DistanceColumns(np.array([value]), points[None], work.faces.copy())
            poses = work.poses.copy()
            BVH(a, b).put_nested(poses[:1], poses[1:], found)
            return Distance(found.values[0], *found.points[0], *found.faces[0])
        faces = work.faces
        return Distance(value, points[0], points[1], faces[0, 0], faces[0, 1])  # to unpack arrays takes 0.7 us more

    @staticmethod
    def contacts_once(
        a: Mesh, b: Mesh, memory: TreeSearch | None, pose_a: ArrayLike | None, pose_b: ArrayLike | None
    ) -> Contacts | None:
        """Sets of contacts that do not fit into the workspace at once are left to the general way."""
        if (ready := _ready(a, b, memory)) is None:
            return None
        one, other, work = ready
        work.rewind()
        if _ask(one.kernels.contacts, ready, pose_a, pose_b) != 1:
            work.rewind()
            return None
        pairs = sorted_contacts(one, other, 0, work.take_pairs())
        return contacts_of(constructed(a, b, work.poses[:1], work.poses[1:], pairs), ())

    # --- batches

    def surfaces_meet(self, poses_a: Floats, poses_b: Floats) -> tuple[Bools, Bools]:
        found = self.search.collides(poses_a, poses_b)
        return found == MEETING, found == APART

    def surfaces_within(self, clearance: float, poses_a: Floats, poses_b: Floats) -> Bools:
        return self.search.closer_than(clearance, poses_a, poses_b)

    def meeting_pairs(self, poses_a: Floats, poses_b: Floats, most: int | None = None) -> NDArray[np.int64]:
        return self.search.contact_pairs(poses_a, poses_b, most)

    def nearest_pairs(self, poses_a: Floats, poses_b: Floats) -> DistanceColumns:
        return DistanceColumns(*self.search.distance(poses_a, poses_b))

    def components_inside(self, side: int, poses_a: Floats, poses_b: Floats, free: Bools) -> Bools:
        from impinge.bvh.solids.inside_tests import TreeSolids

        faces = self._components(side).face
        return TreeSolids(self.a, self.b).pieces_inside(side, faces, poses_a, poses_b, free)

    def cells_at_contacts(
        self, poses_a: Floats, poses_b: Floats, pairs: NDArray[np.int64], cells: NDArray[np.int64]
    ) -> None:
        from impinge.bvh.solids.inside_tests import TreeSolids

        TreeSolids(self.a, self.b).cells_at_contacts(poses_a, poses_b, pairs, cells)


def _ready(a: Mesh, b: Mesh, memory: TreeSearch | None) -> _Ready | None:
    """The trees, if they were built, and the workspace: that of the memory, or of this thread."""
    work = own.workspace if memory is None else memory.work
    try:
        return None if work is None else (a.derived[OBB_HANDLE], b.derived[OBB_HANDLE], work)
    except KeyError:
        return None


def _ask(
    kernel: Callable[[int, int, int], int], ready: _Ready, pose_a: ArrayLike | None, pose_b: ArrayLike | None
) -> int:
    """Hand single poses to the workspace as they are; what the kernel answers, negative for the general way."""
    one, other, work = ready
    poses = single_poses(pose_a, pose_b)
    if poses is None or one.stack + other.stack > work.stack:
        return NO_ROOM
    if not work.is_single:
        work.ask_single()
    work.single_poses[:] = poses
    try:
        answer = kernel(one.address, other.address, work.address)
        if answer == UNFINISHED:
            answer = to_its_end(partial(kernel, one.address, other.address, work.address), work)
    except BaseException:
        work.is_single = False  # interrupted: the next query must not go on with this one
        raise
    return answer


def _are_nested(a: Mesh, b: Mesh, work: TraversalWorkspace) -> np.bool_:
    """Whether one body is inside the other, in the poses of the workspace, where their surfaces are apart."""
    if not (a.solid or b.solid):
        return _NO
    poses = work.poses.copy()
    nested = BVH(a, b).nested(poses[:1], poses[1:], _SURFACES_APART)
    return _YES if any(inside.any() for _, _, inside in nested) else _NO
