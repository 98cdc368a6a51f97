"""Batch: poses of two bodies, checked, broadcast and shared out to threads; and results given their shape again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.arrays import Floats, shown
from impinge.bodies import Body, require_body
from impinge.convex.search import NotRigid
from impinge.geometry.pose import as_pose
from impinge.kernels.interruptible import in_threads

Result = TypeVar("Result")


class Batch:
    """Broadcast poses of two bodies, and the threads to share them out to."""

    shape: tuple[int, ...]
    poses_a: Floats
    """(k, 4, 4)"""
    poses_b: Floats
    starts: list[int]
    """Where the part of each worker begins."""

    def __init__(
        self,
        a: Body,
        b: Body,
        pose_a: ArrayLike | None,
        pose_b: ArrayLike | None,
        workers: int = 1,
        in_one: bool = False,
        checked_by_kernel: bool = False,
    ) -> None:
        require_body(a, "a")
        require_body(b, "b")
        workers = as_workers(workers)
        first = as_pose(pose_a, "pose_a", check=not checked_by_kernel)
        second = as_pose(pose_b, "pose_b", check=not checked_by_kernel)
        try:
            self.shape = np.broadcast_shapes(first.shape[:-2], second.shape[:-2])
        except ValueError as error:
            raise ValueError(
                f"pose_a {first.shape} and pose_b {second.shape} do not broadcast against each other"
            ) from error
        self._given = pose_a, pose_b
        self.poses_a = _flattened(first, self.shape)
        self.poses_b = _flattened(second, self.shape)
        if workers == 1 or in_one:
            self._parts, self.starts = [slice(None)], [0]
            return
        count = len(self.poses_a)
        bounds = np.linspace(0, count, min(workers, max(count, 1)) + 1).astype(int).tolist()
        self._parts = [slice(start, stop) for start, stop in pairwise(bounds)]
        self.starts = bounds[:-1]

    def run(self, task: Callable[[Floats, Floats], Result]) -> list[Result]:
        """task(poses_a, poses_b) for consecutive parts of the batch, one for each worker."""
        try:
            if len(self._parts) == 1:
                return [task(self.poses_a, self.poses_b)]
            return in_threads([partial(task, self.poses_a[part], self.poses_b[part]) for part in self._parts])
        except NotRigid:
            for pose, name in zip(self._given, ("pose_a", "pose_b"), strict=True):
                as_pose(pose, name)  # raises the error that names the pose
            raise

    def shaped(self, values: NDArray[Any]) -> Any:
        """The flat results with the leading shape of the poses; scalars for a single pose."""
        result = values.reshape(self.shape + values.shape[1:])
        return result[()] if result.ndim == 0 else result


def as_workers(workers: int) -> int:
    """A number of threads, or a ValueError."""
    if isinstance(workers, bool) or not isinstance(workers, (int, np.integer)) or workers < 1:
        raise ValueError(f"workers is {shown(workers)}; it must be a whole number, 1 or more")
    return int(workers)


def _flattened(poses: Floats, shape: tuple[int, ...]) -> Floats:
    # Always an array of our own: a read-only one would be another type, and compiled for apart.
    return np.array(np.broadcast_to(poses, (*shape, 4, 4)), order="C").reshape(-1, 4, 4)
