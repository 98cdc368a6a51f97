"""The verbs for two convex hulls, from scratch or with a workspace that remembers.

A single question goes straight to the kernel, which checks the poses itself; whatever is unusual takes the general way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.convex.body import HANDLE
from impinge.convex.hull import ConvexHull
from impinge.convex.search import METHODS, ConvexSearch, NotRigid, own
from impinge.convex.work import CLOSER_THAN, COLLIDES, DISTANCE, GJK, LIMIT, LIN_CANNY, Workspace
from impinge.geometry.cast import Floats
from impinge.geometry.results import Distance, Feature, FeatureKind, Penetration
from impinge.world.batch import Batch
from impinge.world.bodies import Body
from impinge.world.single_pose import single_poses

_CODES = {"auto": GJK, **METHODS}
CONVEX_METHODS = tuple(_CODES)
"""Methods for two convex hulls."""

Result = TypeVar("Result")

_ANSWERS = {-1: np.False_, -2: np.True_}
_KINDS = tuple(FeatureKind)


def collides(
    a: ConvexHull,
    b: ConvexHull,
    pose_a: ArrayLike | None,
    pose_b: ArrayLike | None,
    method: str = "auto",
    workers: int = 1,
    work: Workspace | None = None,
) -> np.bool_ | NDArray[np.bool_]:
    if (answer := _single(COLLIDES, a, b, pose_a, pose_b, method, workers, work)) is not None:
        return answer
    batch, parts = _asked(search_of(a, b, method, work).collides, a, b, pose_a, pose_b, workers)
    answers: NDArray[np.bool_] = batch.shaped(np.concatenate(parts))
    return answers


def closer_than(
    a: ConvexHull,
    b: ConvexHull,
    clearance: float,
    pose_a: ArrayLike | None,
    pose_b: ArrayLike | None,
    method: str = "auto",
    workers: int = 1,
    work: Workspace | None = None,
) -> np.bool_ | NDArray[np.bool_]:
    if (answer := _single(CLOSER_THAN, a, b, pose_a, pose_b, method, workers, work, clearance)) is not None:
        return answer
    ask = partial(search_of(a, b, method, work).closer_than, clearance)
    batch, parts = _asked(ask, a, b, pose_a, pose_b, workers)
    answers: NDArray[np.bool_] = batch.shaped(np.concatenate(parts))
    return answers


def distance(
    a: ConvexHull,
    b: ConvexHull,
    pose_a: ArrayLike | None,
    pose_b: ArrayLike | None,
    method: str = "auto",
    workers: int = 1,
    work: Workspace | None = None,
) -> Distance:
    if _single(DISTANCE, a, b, pose_a, pose_b, method, workers, work) is not None:
        used = work or own.workspace
        assert used is not None
        return Distance.of_hulls(used.nearest)
    batch, parts = _asked(search_of(a, b, method, work).distance, a, b, pose_a, pose_b, workers)
    values, points, features = map(np.concatenate, zip(*parts, strict=True))
    kind_a, index_a, face_a, kind_b, index_b, face_b = (batch.shaped(column.copy()) for column in features.T)
    return Distance(
        value=batch.shaped(values),
        point_a=batch.shaped(points[:, :3].copy()),
        point_b=batch.shaped(points[:, 3:].copy()),
        face_a=face_a,
        face_b=face_b,
        feature_a=Feature(kind_of(kind_a), index_a),
        feature_b=Feature(kind_of(kind_b), index_b),
    )


def penetration(
    a: ConvexHull,
    b: ConvexHull,
    pose_a: ArrayLike | None,
    pose_b: ArrayLike | None,
    method: str = "auto",
    workers: int = 1,
    work: Workspace | None = None,
) -> Penetration:
    batch, parts = _asked(search_of(a, b, method, work).penetration, a, b, pose_a, pose_b, workers)
    depths, directions, points, bounds = map(np.concatenate, zip(*parts, strict=True))
    return Penetration(
        depth=batch.shaped(depths),
        direction=batch.shaped(directions),
        point_a=batch.shaped(points[:, :3].copy()),
        point_b=batch.shaped(points[:, 3:].copy()),
        lower=batch.shaped(bounds[:, 0].copy()),
        upper=batch.shaped(bounds[:, 1].copy()),
        method="epa",
    )


def with_faces_of_hulls(found: Distance, a: Body, b: Body) -> Distance:
    """A distance between meshes, where one stood for a hull: its triangles become faces of the hull."""
    return replace(found, face_a=_face_of_hull(found.face_a, a), face_b=_face_of_hull(found.face_b, b))


def _face_of_hull(face: Any, body: Body) -> Any:
    if not isinstance(body, ConvexHull):
        return face
    faces = body.mesh.polygon if body.dimension > 1 else np.full(1, -1, dtype=np.int32)
    return np.where(face < 0, np.int32(-1), faces[face])[()]


def _asked(
    ask: Callable[[Floats, Floats], Result],
    a: ConvexHull,
    b: ConvexHull,
    pose_a: ArrayLike | None,
    pose_b: ArrayLike | None,
    workers: int,
) -> tuple[Batch, list[Result]]:
    """Answers to a batch whose poses the kernel checks: numpy takes longer to do that than the kernel to answer."""
    batch = Batch(a, b, pose_a, pose_b, workers, checked_by_kernel=True)
    try:
        return batch, batch.run(ask)
    except NotRigid:
        Batch(a, b, pose_a, pose_b)  # raises the error that names the pose
        raise


def kind_of(numbers: np.int32 | NDArray[np.int32]) -> FeatureKind | NDArray[np.int8]:
    """One kind, or the numbers of many."""
    return numbers.astype(np.int8) if isinstance(numbers, np.ndarray) else _KINDS[numbers]


def search_of(a: ConvexHull, b: ConvexHull, method: str, work: Workspace | None) -> ConvexSearch:
    if method not in _CODES:
        raise ValueError(f"method {method!r} is not one for convex hulls: {', '.join(CONVEX_METHODS)}")
    return ConvexSearch(a, b, "gjk" if method == "auto" else method, work)


def _single(
    question: int,
    a: ConvexHull,
    b: ConvexHull,
    pose_a: ArrayLike | None,
    pose_b: ArrayLike | None,
    method: str,
    workers: int,
    work: Workspace | None,
    clearance: float = 0.0,
) -> np.bool_ | None:
    """The answer to a plain question about one pose, where hulls and workspace were used before."""
    try:
        one, two, code = a._memo[HANDLE], b._memo[HANDLE], _CODES[method]
    except KeyError:
        return None
    work = work or own.workspace
    if work is None or type(workers) is not int or workers != 1:
        return None
    if code == LIN_CANNY and (one.cells is None or two.cells is None):
        return None
    poses = single_poses(pose_a, pose_b)
    if poses is None:
        return None
    if one.size > work.room or two.size > work.room:
        work.need_room(max(one.size, two.size))
    if not work.is_single:
        work.ask_single()
    work.single_poses[:] = poses
    work.ask_for(question, code)
    if question == CLOSER_THAN:
        work.numbers[LIMIT] = clearance
    return _ANSWERS.get(one.kernel(one.address, two.address, work.address))
