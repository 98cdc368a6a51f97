"""The verbs: collides, contacts, distance, closer_than, relation.

Poses are (..., 4, 4), broadcast against each other; every result has the leading shape.  A
single pose is a batch of one.  With ``workers=n`` a batch is shared out to n threads; the
result is the same, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.errors import Unsupported
from impinge.geometry.cast import Floats, as_clearance
from impinge.geometry.mesh import Mesh
from impinge.geometry.pose import as_pose
from impinge.geometry.results import Contacts, Distance, Relation, RelationKind

METHODS = ("auto", "brute")

Result = TypeVar("Result")


def collides(
    a: Mesh,
    b: Mesh,
    pose_a: ArrayLike | None = None,
    pose_b: ArrayLike | None = None,
    *,
    method: str = "auto",
    workers: int = 1,
) -> np.bool_ | NDArray[np.bool_]:
    """Whether the bodies have a common point; touching counts, and a solid counts its inside.

    >>> from impinge.lab.scenes.shapes import box
    >>> lift = np.eye(4)
    >>> lift[2, 3] = 1.0
    >>> bool(collides(box(1, 1, 1), box(1, 1, 1), pose_b=lift))
    True
    """
    batch = _Batch(a, b, pose_a, pose_b, method, workers)
    answers: NDArray[np.bool_] = batch.shaped(np.concatenate(batch.run(batch.method.collides)))
    return answers


def contacts(
    a: Mesh,
    b: Mesh,
    pose_a: ArrayLike | None = None,
    pose_b: ArrayLike | None = None,
    *,
    method: str = "auto",
    workers: int = 1,
) -> Contacts:
    """All pairs of triangles that meet, with the segments, normals and kinds of their contacts.

    A solid inside another without touching it has no contacts.
    """
    batch = _Batch(a, b, pose_a, pose_b, method, workers)
    parts = batch.run(batch.method.contacts)
    for start, (pairs, _, _) in zip(batch.starts, parts, strict=True):
        pairs[:, 0] += start
    pairs = np.concatenate([part[0] for part in parts])
    return Contacts(
        pose=pairs[:, 0].copy(),
        face_a=pairs[:, 1].astype(np.int32),
        face_b=pairs[:, 2].astype(np.int32),
        segments=np.concatenate([part[1] for part in parts]),
        normal=np.concatenate([part[2] for part in parts]),
        kind=pairs[:, 3].astype(np.int8),
        shape=batch.shape,
    )


def distance(
    a: Mesh,
    b: Mesh,
    pose_a: ArrayLike | None = None,
    pose_b: ArrayLike | None = None,
    *,
    method: str = "auto",
    workers: int = 1,
) -> Distance:
    """The smallest distance of the bodies and two points that have it; 0 exactly where they collide."""
    batch = _Batch(a, b, pose_a, pose_b, method, workers)
    values, points, faces = map(np.concatenate, zip(*batch.run(batch.method.distance), strict=True))
    return Distance(
        value=batch.shaped(values),
        point_a=batch.shaped(points[:, 0].copy()),
        point_b=batch.shaped(points[:, 1].copy()),
        face_a=batch.shaped(faces[:, 0].copy()),
        face_b=batch.shaped(faces[:, 1].copy()),
    )


def closer_than(
    a: Mesh,
    b: Mesh,
    clearance: float,
    pose_a: ArrayLike | None = None,
    pose_b: ArrayLike | None = None,
    *,
    method: str = "auto",
    workers: int = 1,
) -> np.bool_ | NDArray[np.bool_]:
    """Whether the distance of the bodies is at most the clearance; exact."""
    limit = as_clearance(clearance)
    batch = _Batch(a, b, pose_a, pose_b, method, workers)
    answers: NDArray[np.bool_] = batch.shaped(np.concatenate(batch.run(partial(batch.method.closer_than, limit))))
    return answers


def relation(
    a: Mesh,
    b: Mesh,
    pose_a: ArrayLike | None = None,
    pose_b: ArrayLike | None = None,
    *,
    method: str = "auto",
    workers: int = 1,
) -> Relation:
    """How two closed meshes lie to each other as solids: apart, touching, overlapping, nested or equal."""
    batch = _Batch(a, b, pose_a, pose_b, method, workers)
    for mesh, name in ((a, "a"), (b, "b")):
        if not mesh.is_closed:
            raise Unsupported(f"relation: {name} is an open mesh, which has no inside (see {name}.diagnose())")
    cells, touching = map(np.concatenate, zip(*batch.run(batch.method.relation), strict=True))
    kinds = _KIND_OF_CELLS[cells]
    kinds[touching & (kinds == RelationKind.APART)] = RelationKind.TOUCHING
    if batch.shape == ():
        return Relation(kind=RelationKind(int(kinds[0])), touching=touching[0])
    return Relation(kind=kinds.reshape(batch.shape), touching=touching.reshape(batch.shape))


# Indexed by the bits of geometry.solid: 1 inside both, 2 only in a, 4 only in b.
_KIND_OF_CELLS = np.array(
    [
        RelationKind.APART,
        RelationKind.EQUAL,
        RelationKind.APART,
        RelationKind.B_INSIDE_A,
        RelationKind.APART,
        RelationKind.A_INSIDE_B,
        RelationKind.APART,
        RelationKind.OVERLAPPING,
    ],
    dtype=np.int8,
)


class _Batch:
    """Two bodies and their broadcast poses, checked, and the threads to share them out to."""

    def __init__(
        self, a: Mesh, b: Mesh, pose_a: ArrayLike | None, pose_b: ArrayLike | None, method: str, workers: int
    ) -> None:
        for body, name in ((a, "a"), (b, "b")):
            if not isinstance(body, Mesh):
                raise ValueError(f"{name}: expected a Mesh, got {type(body).__name__}")
        if method not in METHODS:
            raise ValueError(f"method {method!r} is not one of {', '.join(METHODS)}")
        if isinstance(workers, bool) or not isinstance(workers, (int, np.integer)) or workers < 1:
            raise ValueError(f"workers is {workers!r}; it must be a whole number, 1 or more")
        first = as_pose(pose_a, "pose_a")
        second = as_pose(pose_b, "pose_b")
        try:
            self.shape = np.broadcast_shapes(first.shape[:-2], second.shape[:-2])
        except ValueError as error:
            raise ValueError(
                f"pose_a {first.shape} and pose_b {second.shape} do not broadcast against each other"
            ) from error
        self._poses_a = _flattened(first, self.shape)
        self._poses_b = _flattened(second, self.shape)
        count = len(self._poses_a)
        bounds = np.linspace(0, count, min(int(workers), max(count, 1)) + 1).astype(int).tolist()
        self._parts = [slice(start, stop) for start, stop in pairwise(bounds)]
        self.starts = bounds[:-1]
        from impinge.world.brute_force import BruteForce

        self.method = BruteForce(a, b)

    def run(self, task: Callable[[Floats, Floats], Result]) -> list[Result]:
        """task(poses_a, poses_b) for consecutive parts of the batch, one for each worker."""

        def run_part(part: slice) -> Result:
            return task(self._poses_a[part], self._poses_b[part])

        if len(self._parts) == 1:
            return [run_part(self._parts[0])]
        with ThreadPoolExecutor(len(self._parts)) as pool:
            return list(pool.map(run_part, self._parts))

    def shaped(self, values: NDArray[Any]) -> Any:
        """The flat results with the leading shape of the poses; scalars for a single pose."""
        result = values.reshape(self.shape + values.shape[1:])
        return result[()] if result.ndim == 0 else result


def _flattened(poses: Floats, shape: tuple[int, ...]) -> Floats:
    # Always an array of our own: a read-only one would be another type, and compiled for apart.
    return np.array(np.broadcast_to(poses, (*shape, 4, 4)), order="C").reshape(-1, 4, 4)
