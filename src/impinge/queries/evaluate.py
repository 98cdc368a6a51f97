"""Queries about batches of poses, each written once: for any method, from scratch or with the memory of a ``Pair``."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.queries.batch import Batch
from impinge.queries.contact_columns import contacts_of
from impinge.queries.method import ContactColumns, DistanceColumns, Method, PenetrationColumns
from impinge.results import Contacts, Distance, Feature, FeatureKind, Penetration

_KINDS = tuple(FeatureKind)


def collides(
    method: type[Method],
    a: Any,
    b: Any,
    memory: Any,
    pose_a: ArrayLike | None,
    pose_b: ArrayLike | None,
    workers: int = 1,
) -> np.bool_ | NDArray[np.bool_]:
    batch = Batch(a, b, pose_a, pose_b, workers, checked_by_kernel=method.checks_poses)
    answers: NDArray[np.bool_] = batch.shaped(np.concatenate(batch.run(method(a, b, memory).collides)))
    return answers


def closer_than(
    method: type[Method],
    a: Any,
    b: Any,
    memory: Any,
    clearance: float,
    pose_a: ArrayLike | None,
    pose_b: ArrayLike | None,
    workers: int = 1,
) -> np.bool_ | NDArray[np.bool_]:
    batch = Batch(a, b, pose_a, pose_b, workers, checked_by_kernel=method.checks_poses)
    ask = partial(method(a, b, memory).closer_than, clearance)
    answers: NDArray[np.bool_] = batch.shaped(np.concatenate(batch.run(ask)))
    return answers


def distance(
    method: type[Method],
    a: Any,
    b: Any,
    memory: Any,
    pose_a: ArrayLike | None,
    pose_b: ArrayLike | None,
    workers: int = 1,
) -> Distance:
    batch = Batch(a, b, pose_a, pose_b, workers, checked_by_kernel=method.checks_poses)
    found = DistanceColumns(*_joined(batch.run(method(a, b, memory).distance)))
    feature_a = feature_b = None
    if found.features is not None:
        kind_a, index_a, kind_b, index_b = (batch.shaped(column.copy()) for column in found.features.T)
        feature_a, feature_b = Feature(_kinds(kind_a), index_a), Feature(_kinds(kind_b), index_b)
    return Distance(
        value=batch.shaped(found.values),
        point_a=batch.shaped(found.points[:, 0].copy()),
        point_b=batch.shaped(found.points[:, 1].copy()),
        face_a=batch.shaped(found.faces[:, 0].copy()),
        face_b=batch.shaped(found.faces[:, 1].copy()),
        feature_a=feature_a,
        feature_b=feature_b,
    )


def contacts(
    method: type[Method],
    a: Any,
    b: Any,
    memory: Any,
    most: int | None,
    pose_a: ArrayLike | None,
    pose_b: ArrayLike | None,
    workers: int = 1,
) -> Contacts:
    # Which contacts are left out must not depend on how the poses are shared out.
    batch = Batch(a, b, pose_a, pose_b, workers, in_one=most is not None)
    parts = batch.run(partial(method(a, b, memory).contacts, most=most))
    for start, part in zip(batch.starts, parts, strict=False):
        part.pairs[:, 0] += start
    found = ContactColumns(*_joined(parts))
    if most is not None and len(found.pairs) > most:
        return contacts_of(
            ContactColumns(found.pairs[:most], found.segments[:most], found.normals[:most]), batch.shape, complete=False
        )
    return contacts_of(found, batch.shape)


def penetration(
    method: type[Method],
    a: Any,
    b: Any,
    memory: Any,
    pose_a: ArrayLike | None,
    pose_b: ArrayLike | None,
    workers: int = 1,
) -> Penetration:
    batch = Batch(a, b, pose_a, pose_b, workers, checked_by_kernel=method.checks_poses)
    found = PenetrationColumns(*_joined(batch.run(method(a, b, memory).penetration)))
    return Penetration(
        depth=batch.shaped(found.depths),
        direction=batch.shaped(found.directions),
        point_a=batch.shaped(found.points[:, 0].copy()),
        point_b=batch.shaped(found.points[:, 1].copy()),
        lower=batch.shaped(found.bounds[:, 0].copy()),
        upper=batch.shaped(found.bounds[:, 1].copy()),
        method="epa",
    )


def _joined(parts: list[Any]) -> Any:
    """The columns of all parts of a batch, one after the other."""
    if len(parts) == 1:
        return parts[0]
    return (None if column[0] is None else np.concatenate(column) for column in zip(*parts, strict=True))


def _kinds(numbers: np.int32 | NDArray[np.int32]) -> FeatureKind | NDArray[np.int8]:
    """One kind, or the numbers of many."""
    return numbers.astype(np.int8) if isinstance(numbers, np.ndarray) else _KINDS[numbers]
