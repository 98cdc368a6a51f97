"""The shortest way for single poses: the same answers and the same errors as the general way, whatever is passed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import impinge
from impinge import Mesh, Pair
from impinge.geometry.pose import IDENTITY
from impinge.lab.hard_input import random_pose
from impinge.lab.scenes.shapes import box

Floats = NDArray[np.float64]
A, B = box(1, 1, 1), Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
SURFACE = Mesh(A.vertices, A.faces)


def shift(x: float, y: float = 0.0, z: float = 0.0) -> Floats:
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


class OwnArray(np.ndarray[Any, Any]):
    """A user's subclass."""


def not_contiguous(pose: Floats) -> Floats:
    wide = np.zeros((8, 8))
    wide[::2, ::2] = pose
    return wide[::2, ::2]


def closed(pose: Floats) -> Floats:
    copied = pose.copy()
    copied.flags.writeable = False
    return copied


LAYOUTS: dict[str, Callable[[Floats], Any]] = {
    "as it is": lambda pose: pose,
    "list": lambda pose: pose.tolist(),
    "tuple of rows": lambda pose: tuple(tuple(row) for row in pose.tolist()),
    "not contiguous": not_contiguous,
    "reversed": lambda pose: pose[::-1, ::-1].copy()[::-1, ::-1],
    "fortran": np.asfortranarray,
    "transposed twice": lambda pose: pose.T.copy().T,
    "read only": closed,
    "subclass": lambda pose: pose.view(OwnArray),
    "matrix of long doubles": lambda pose: pose.astype(np.longdouble),
    "other byte order": lambda pose: pose.astype(pose.dtype.newbyteorder()),
    "broadcast view": lambda pose: np.broadcast_to(pose, (1, 4, 4))[0],
}

VERBS: dict[str, Callable[..., Any]] = {
    "collides": lambda a, b, *poses, **options: bool(impinge.collides(a, b, *poses, **options)),
    "closer_than": lambda a, b, *poses, **options: bool(impinge.closer_than(a, b, 0.3, *poses, **options)),
    "distance": lambda a, b, *poses, **options: flat_distance(impinge.distance(a, b, *poses, **options)),
    "contacts": lambda a, b, *poses, **options: flat_contacts(impinge.contacts(a, b, *poses, **options)),
}
PAIR_VERBS: dict[str, Callable[..., Any]] = {
    "collides": lambda pair, *poses: bool(pair.collides(*poses)),
    "closer_than": lambda pair, *poses: bool(pair.closer_than(0.3, *poses)),
    "distance": lambda pair, *poses: flat_distance(pair.distance(*poses)),
    "contacts": lambda pair, *poses: flat_contacts(pair.contacts(*poses)),
}


def flat_distance(found: impinge.Distance) -> tuple[Any, ...]:
    assert type(found.value) is np.float64
    assert type(found.face_a) is type(found.face_b) is np.int32
    assert found.point_a.shape == found.point_b.shape == (3,)
    assert found.point_a.flags.owndata or found.point_a.base is not None
    return float(found.value), found.point_a.tolist(), found.point_b.tolist(), int(found.face_a), int(found.face_b)


def flat_contacts(found: impinge.Contacts) -> tuple[Any, ...]:
    assert found.shape == ()
    assert found.complete
    assert found.face_a.dtype == found.face_b.dtype == np.int32
    assert found.kind.dtype == np.int8
    assert found.pose.dtype == np.int64
    columns = (found.pose, found.face_a, found.face_b, found.kind, found.segments, found.normal)
    return tuple(column.tolist() for column in columns)


def general(verb: str, a: Mesh, b: Mesh, pose_a: Any, pose_b: Any) -> Any:
    """The answer through a batch of one."""
    if verb == "collides":
        return bool(impinge.collides(a, b, pose_a[None], pose_b[None])[0])
    if verb == "closer_than":
        return bool(impinge.closer_than(a, b, 0.3, pose_a[None], pose_b[None])[0])
    if verb == "contacts":
        found = impinge.contacts(a, b, pose_a[None], pose_b[None])
        return flat_contacts(impinge.Contacts(**{**vars(found), "shape": ()}))
    found = impinge.distance(a, b, pose_a[None], pose_b[None])
    return flat_distance(
        impinge.Distance(**{name: column[0] for name, column in vars(found).items() if column is not None})
    )


# The trees exist, and this thread has a workspace: from now on the quick way is gone.
for _verb in VERBS.values():
    _verb(A, B)
    _verb(SURFACE, B)

POSES = [np.eye(4), shift(0.5), shift(1.0), shift(1.2), shift(5.0), random_pose(np.random.default_rng(1))]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("verb", VERBS)
def test_any_array_of_one_pose(verb: str, layout: str) -> None:
    laid_out = LAYOUTS[layout]
    pair = Pair(SURFACE, B)
    for pose in POSES:
        still, original = shift(0.125, 0.0, 0.25), pose.copy()
        expected = general(verb, SURFACE, B, pose, still)
        assert VERBS[verb](SURFACE, B, laid_out(pose), laid_out(still)) == expected
        assert VERBS[verb](SURFACE, B, laid_out(pose), still) == expected
        assert VERBS[verb](SURFACE, B, pose, laid_out(still)) == expected
        if verb != "distance":  # of several nearest pairs a Pair may name another one
            assert PAIR_VERBS[verb](pair, laid_out(pose), laid_out(still)) == expected
        else:
            assert PAIR_VERBS[verb](pair, laid_out(pose), laid_out(still))[0] == expected[0]
        assert np.array_equal(pose, original)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.int64, np.uint32])
@pytest.mark.parametrize("verb", VERBS)
def test_other_dtypes(verb: str, dtype: Any) -> None:
    pose = shift(1.0).astype(dtype)
    assert VERBS[verb](SURFACE, B, pose) == general(verb, SURFACE, B, shift(1.0), np.eye(4))
    assert PAIR_VERBS[verb](Pair(SURFACE, B), pose)[:1] if verb == "distance" else True


@pytest.mark.parametrize("verb", VERBS)
def test_no_pose_is_the_identity(verb: str) -> None:
    expected = general(verb, A, B, np.eye(4), np.eye(4))
    assert VERBS[verb](A, B) == VERBS[verb](A, B, None, None) == VERBS[verb](A, B, IDENTITY, np.eye(4)) == expected
    assert np.array_equal(IDENTITY, np.eye(4))


BAD: dict[str, tuple[Any, str]] = {
    "nan": (shift(np.nan), r"\[0, 3\] is nan"),
    "infinite rotation": (np.diag([np.inf, 1.0, 1.0, 1.0]), r"\[0, 0\] is inf"),
    "scaled": (np.diag([2.0, 2.0, 2.0, 1.0]), "scales"),
    "a little scaled": (np.diag([1.0 + 1e-8, 1.0, 1.0, 1.0]), "only to within"),
    "sheared": (np.eye(4) + np.eye(4, k=1) * [0, 0.5, 0, 0], "shears"),
    "mirrored": (np.diag([1.0, 1.0, -1.0, 1.0]), "mirrors"),
    "singular": (np.diag([1.0, 1.0, 0.0, 1.0]), "singular"),
    "zeros": (np.zeros((4, 4)), "last row"),
    "last row": (np.eye(4) + np.eye(4, k=-3), "last row"),
    "homogeneous scale": (np.diag([1.0, 1.0, 1.0, 2.0]), "last row"),
    "too far": (shift(1e300), "beyond"),
    "just too far": (shift(2.0**151), "beyond"),
    "3 x 3": (np.eye(3), "expected shape"),
    "3 x 4": (np.eye(4)[:3], "expected shape"),
    "flat": (np.eye(4).ravel(), "expected shape"),
    "complex": (np.eye(4) * 1j, "expected real numbers"),
    "bools": (np.eye(4, dtype=bool), "expected real numbers"),
    "objects": (np.eye(4).astype(object), "expected real numbers"),
    "text": ("identity", "expected real numbers"),
    "ragged": ([[1, 0], [0]], "rows of different lengths"),
}


@pytest.mark.parametrize("which", ["pose_a", "pose_b"])
@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("verb", VERBS)
def test_bad_poses(verb: str, name: str, which: str) -> None:
    pose, says = BAD[name]
    poses = (pose, shift(0.5)) if which == "pose_a" else (shift(0.5), pose)
    with pytest.raises(ValueError, match=f"{which}.*{says}"):
        VERBS[verb](A, B, *poses)
    pair = Pair(SURFACE, B)
    for _ in range(2):
        with pytest.raises(ValueError, match=f"{which}.*{says}"):
            PAIR_VERBS[verb](pair, *poses)
    # Nothing is left behind.
    assert VERBS[verb](A, B, shift(0.25)) == general(verb, A, B, shift(0.25), np.eye(4))


def test_poses_at_the_limit() -> None:
    for pose in (shift(2.0**150), np.diag([1.0 + 4e-10, 1.0, 1.0, 1.0])):
        for verb in VERBS:
            assert VERBS[verb](SURFACE, B, pose) == general(verb, SURFACE, B, pose, np.eye(4))


@pytest.mark.parametrize("workers", [True, 1.0, 0, -1, "1", None, np.float64(1.0)])
@pytest.mark.parametrize("verb", VERBS)
def test_workers_are_checked_every_time(verb: str, workers: Any) -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match="workers"):
            VERBS[verb](A, B, workers=workers)
    if verb == "contacts":
        with pytest.raises(ValueError, match="workers"):
            impinge.contacts(A, B, workers=workers, max_contacts=3)


def test_numpy_integers_are_workers() -> None:
    for verb in VERBS:
        assert VERBS[verb](A, B, workers=np.int64(1)) == VERBS[verb](A, B, workers=2) == VERBS[verb](A, B)


@pytest.mark.parametrize("verb", VERBS)
def test_not_a_mesh(verb: str) -> None:
    for bad in ("part.stl", A.vertices, None, 3, [A]):
        with pytest.raises(ValueError, match=r"a: expected Mesh"):
            VERBS[verb](bad, A)
        with pytest.raises(ValueError, match=r"b: expected Mesh"):
            VERBS[verb](A, bad)


@pytest.mark.parametrize("verb", VERBS)
def test_unknown_method(verb: str) -> None:
    for bad in ("quick", "", None, 3, ["obb"]):
        with pytest.raises(ValueError, match="method"):
            VERBS[verb](A, B, method=bad)


def test_results_do_not_share_memory() -> None:
    """The workspace is used again for the next question."""
    first = impinge.distance(SURFACE, B, shift(3.0))
    before = flat_distance(first)
    touching = impinge.distance(SURFACE, B, shift(0.5))
    contacts = impinge.contacts(SURFACE, B, shift(0.5))
    kept = flat_contacts(contacts)
    impinge.distance(SURFACE, B, shift(0.0, 7.0))
    impinge.contacts(SURFACE, B, shift(0.1, 0.2, 0.3))
    impinge.collides(SURFACE, B, shift(0.1))
    assert flat_distance(first) == before
    assert flat_contacts(contacts) == kept
    for result in (first, touching):
        assert not np.shares_memory(result.point_a, result.point_b)
        assert result.point_a.flags.writeable


@pytest.mark.nojit_slow
def test_small_meshes_after_large_ones() -> None:
    """The workspace of the thread has seen other meshes: their witnesses and unfinished searches are forgotten."""
    corner = np.random.default_rng(0).normal(size=(200, 2, 3))
    fan = np.stack([corner[:, 0], -corner[:, 0] + 0.1 * corner[:, 1], corner[:, 1]], axis=1)
    large = Mesh(fan.reshape(-1, 3), np.arange(600).reshape(-1, 3))
    far = [Mesh(B.vertices + [3.0 * i, 0.0, 0.0], B.faces) for i in range(10)]
    for mesh in (large, *far):
        impinge.collides(mesh, mesh)
    for one, other in pairwise(far):
        for verb, expected in (("collides", False), ("closer_than", False), ("contacts", 0), ("distance", 2.0)):
            impinge.collides(large, large)
            impinge.contacts(large, large, max_contacts=3)  # stops in the middle
            found = VERBS[verb](one, other)
            assert (found[0] if verb == "distance" else len(found[0]) if verb == "contacts" else found) == expected
