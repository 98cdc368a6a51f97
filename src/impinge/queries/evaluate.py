"""Queries about batches of poses, each written once: from a method and a batch to the result."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.queries.batch import Batch
from impinge.queries.contact_columns import contacts_of
from impinge.queries.method import ContactColumns, DistanceColumns, Method, PenetrationColumns
from impinge.results import Contacts, Distance, Feature, FeatureKind, Penetration

_KINDS = tuple(FeatureKind)


def collides(batch: Batch, method: Method) -> np.bool_ | NDArray[np.bool_]:
    answers: NDArray[np.bool_] = batch.shaped(np.concatenate(batch.run(method.collides)))
    return answers


def closer_than(batch: Batch, method: Method, clearance: float) -> np.bool_ | NDArray[np.bool_]:
    ask = partial(method.closer_than, clearance)
    answers: NDArray[np.bool_] = batch.shaped(np.concatenate(batch.run(ask)))
    return answers


def distance(batch: Batch, method: Method) -> Distance:
    found = DistanceColumns(*_joined(batch.run(method.distance)))
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


def contacts(batch: Batch, method: Method, most: int | None) -> Contacts:
    parts = batch.run(partial(method.contacts, most=most))
    for start, part in zip(batch.starts, parts, strict=False):
        part.pairs[:, 0] += start
    found = ContactColumns(*_joined(parts))
    if most is not None and len(found.pairs) > most:
        return contacts_of(
            ContactColumns(found.pairs[:most], found.segments[:most], found.normals[:most]), batch.shape, complete=False
        )
    return contacts_of(found, batch.shape)


def penetration(batch: Batch, method: Method) -> Penetration:
    found = PenetrationColumns(*_joined(batch.run(method.penetration)))
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
