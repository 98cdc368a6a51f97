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

from impinge.arrays import Floats, shown
from impinge.bodies import Body
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.convex.hull.hull_handle import HANDLE, Handle
from impinge.convex.search import METHODS, ConvexSearch, NotRigid, own
from impinge.convex.workspace import CLOSER_THAN, COLLIDES, DISTANCE, GJK, LIMIT, LIN_CANNY, Workspace
from impinge.queries.batch import Batch
from impinge.queries.single_pose import single_poses
from impinge.results import Distance, Feature, FeatureKind, Penetration

_AUTO = -1
_CODES = {"auto": _AUTO, **METHODS}
CONVEX_METHODS = tuple(_CODES)
"""Methods for two convex hulls."""

_MOST_FOR_WALKS = 2000
"""Vertices up to which "auto" finds distances by Lin-Canny.

Measured from scratch with 50, 500, 2,000 and 5,000 vertices: 1.2, 1.8, 3.8 and 7.4 us, GJK 2.3, 3.1, 3.7 and 4.9 us;
along a path 0.7, 0.8, 0.9 and 1.0 us, GJK 0.6, 0.8, 1.3 and 1.6 us.  Yes or no is GJK's: it stops at the first plane.
"""

Result = TypeVar("Result")

_ONE = 1
"""The usual number of workers; that it is the same object is quickly seen."""
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
    used = work or own.workspace
    if used and (answer := _single(used, COLLIDES, a, b, pose_a, pose_b, method, workers)) < 0:
        return _ANSWERS[answer]
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
    used = work or own.workspace
    if used and (answer := _single(used, CLOSER_THAN, a, b, pose_a, pose_b, method, workers, clearance)) < 0:
        return _ANSWERS[answer]
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
    used = work or own.workspace
    if used and _single(used, DISTANCE, a, b, pose_a, pose_b, method, workers) < 0:
        return Distance.of_hulls(used.nearest)
    batch, parts = _asked(search_of(a, b, method, work, DISTANCE).distance, a, b, pose_a, pose_b, workers)
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


def search_of(
    a: ConvexHull, b: ConvexHull, method: str, work: Workspace | None, question: int = COLLIDES
) -> ConvexSearch:
    if not isinstance(method, str) or method not in _CODES:
        raise ValueError(f"method {shown(method)} is not one for convex hulls: {', '.join(CONVEX_METHODS)}")
    if method == "auto":
        walk = _is_for_walks(question, len(a.vertices), len(b.vertices))
        method = "lin-canny" if walk else "gjk"
    return ConvexSearch(a, b, method, work)


def _is_for_walks(question: int, vertices_a: int, vertices_b: int) -> bool:
    return question == DISTANCE and vertices_a <= _MOST_FOR_WALKS and vertices_b <= _MOST_FOR_WALKS


def _single(
    work: Workspace,
    question: int,
    a: ConvexHull,
    b: ConvexHull,
    pose_a: ArrayLike | None,
    pose_b: ArrayLike | None,
    method: str,
    workers: int,
    clearance: float = 0.0,
) -> int:
    """Ask a plain question about one pose, where hulls and workspace were used before.

    What the kernel says (-1 no, -2 yes); 0 where the general way must be taken.
    """
    poses = single_poses(pose_a, pose_b)
    try:
        one, two = a._memo[HANDLE], b._memo[HANDLE]
    except KeyError:
        return 0
    if poses is None or workers is not _ONE:
        return 0
    name = (one.serial, two.serial, question, method)
    try:
        if work.ready_for != name and not _is_made_ready(work, one, two, name):
            return 0
    except (TypeError, ValueError):  # a method that is no string
        return 0
    work.single_poses[:] = poses
    if question == CLOSER_THAN:
        work.numbers[LIMIT] = clearance
    answer: int = one.kernel(one.address, two.address, work.address)
    return answer


def _is_made_ready(work: Workspace, one: Handle, two: Handle, name: tuple[int, int, int, str]) -> bool:
    _, _, question, method = name
    code = _CODES.get(method)
    if code == _AUTO:
        code = LIN_CANNY if _is_for_walks(question, one.size, two.size) else GJK
    if code is None or (code == LIN_CANNY and (one.cells is None or two.cells is None)):
        return False
    work.need_room(max(one.size, two.size))
    work.ask_single(question, code, name)
    return True
