"""Two bodies and their poses: checked, broadcast, shared out to threads; and results given their shape again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.arrays import Floats, shown
from impinge.bodies import Body, require_body
from impinge.geometry.pose import as_pose
from impinge.kernels.interruptible import in_threads
from impinge.queries.methods.method import ContactColumns
from impinge.results import Contacts, Distance

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
        if isinstance(workers, bool) or not isinstance(workers, (int, np.integer)) or workers < 1:
            raise ValueError(f"workers is {shown(workers)}; it must be a whole number, 1 or more")
        first = as_pose(pose_a, "pose_a", check=not checked_by_kernel)
        second = as_pose(pose_b, "pose_b", check=not checked_by_kernel)
        try:
            self.shape = np.broadcast_shapes(first.shape[:-2], second.shape[:-2])
        except ValueError as error:
            raise ValueError(
                f"pose_a {first.shape} and pose_b {second.shape} do not broadcast against each other"
            ) from error
        self.poses_a = _flattened(first, self.shape)
        self.poses_b = _flattened(second, self.shape)
        if workers == 1 or in_one:
            self._parts, self.starts = [slice(None)], [0]
            return
        count = len(self.poses_a)
        bounds = np.linspace(0, count, min(int(workers), max(count, 1)) + 1).astype(int).tolist()
        self._parts = [slice(start, stop) for start, stop in pairwise(bounds)]
        self.starts = bounds[:-1]

    def run(self, task: Callable[[Floats, Floats], Result]) -> list[Result]:
        """task(poses_a, poses_b) for consecutive parts of the batch, one for each worker."""
        if len(self._parts) == 1:
            return [task(self.poses_a, self.poses_b)]
        return in_threads([partial(task, self.poses_a[part], self.poses_b[part]) for part in self._parts])

    def shaped(self, values: NDArray[Any]) -> Any:
        """The flat results with the leading shape of the poses; scalars for a single pose."""
        result = values.reshape(self.shape + values.shape[1:])
        return result[()] if result.ndim == 0 else result


def _flattened(poses: Floats, shape: tuple[int, ...]) -> Floats:
    # Always an array of our own: a read-only one would be another type, and compiled for apart.
    return np.array(np.broadcast_to(poses, (*shape, 4, 4)), order="C").reshape(-1, 4, 4)


def gathered(batch: Batch, parts: Sequence[ContactColumns], most: int | None = None) -> Contacts:
    """The contacts of all parts of a batch, or as many as are wanted."""
    for start, (pairs, _, _) in zip(batch.starts, parts, strict=False):
        if start:
            pairs[:, 0] += start
    columns = parts[0] if len(parts) == 1 else tuple(map(np.concatenate, zip(*parts, strict=True)))
    if most is not None and len(columns[0]) > most:
        return contacts_of((columns[0][:most], columns[1][:most], columns[2][:most]), batch.shape, complete=False)
    return contacts_of((columns[0], columns[1], columns[2]), batch.shape)


def contacts_of(columns: ContactColumns, shape: tuple[int, ...], complete: bool = True) -> Contacts:
    pairs, segments, normals = columns
    return Contacts(
        pose=pairs[:, 0].copy(),
        face_a=pairs[:, 1].astype(np.int32),
        face_b=pairs[:, 2].astype(np.int32),
        segments=segments,
        normal=normals,
        kind=pairs[:, 3].astype(np.int8),
        shape=shape,
        complete=complete,
    )


def located(batch: Batch, parts: Sequence[tuple[Floats, Floats, NDArray[np.int32]]]) -> Distance:
    """The distances of all parts of a batch."""
    values, points, faces = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
    return Distance(
        value=batch.shaped(values),
        point_a=batch.shaped(points[:, 0].copy()),
        point_b=batch.shaped(points[:, 1].copy()),
        face_a=batch.shaped(faces[:, 0].copy()),
        face_b=batch.shaped(faces[:, 1].copy()),
    )
