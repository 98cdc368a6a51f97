"""The input boundary: whatever the caller passes becomes a checked, contiguous array here, once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.constants import LARGEST_COORDINATE

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


def real_array(value: ArrayLike, what: str) -> Floats:
    """A float64 array of real numbers; ``what`` names the argument in errors."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{what}: rows of different lengths do not form an array") from error
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{what}: expected real numbers, got dtype {array.dtype}")
    return np.ascontiguousarray(array, dtype=np.float64)


def _first(bad: NDArray[np.bool_]) -> str:
    return "[" + ", ".join(str(i) for i in np.argwhere(bad)[0]) + "]"


def require_in_range(array: Floats, what: str) -> None:
    """Refuse NaN, infinity and magnitudes beyond the range of the exact predicates."""
    with np.errstate(invalid="ignore"):
        fine = np.abs(array) <= LARGEST_COORDINATE
    if fine.all():
        return
    place = _first(~fine)
    value = array[~fine][0]
    if not np.isfinite(value):
        raise ValueError(f"{what}{place} is {value}; coordinates must be finite")
    raise ValueError(f"{what}{place} is {value:g}, beyond the exact range of {LARGEST_COORDINATE:.2g}")


def as_points(value: ArrayLike, what: str) -> Floats:
    """An (n, 3) array of coordinates."""
    array = real_array(value, what)
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(f"{what}: expected shape (n, 3), got {array.shape}")
    require_in_range(array, what)
    return array


def as_indices(value: ArrayLike, what: str, vertex_count: int) -> Ints:
    """An integer array whose entries all name a vertex."""
    array = np.asarray(value)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{what}: expected integers, got dtype {array.dtype}")
    bad = (array < 0) | (array >= vertex_count)
    if bad.any():
        raise ValueError(f"{what}{_first(bad)} is {array[bad][0]}, but there are {vertex_count} vertices")
    return np.ascontiguousarray(array, dtype=np.int32)


def as_clearance(value: Any) -> float:
    """A distance that is a real number, finite and not negative."""
    array = real_array(value, "clearance")
    if array.ndim != 0:
        raise ValueError(f"clearance: expected one number, got shape {array.shape}")
    number = float(array)
    if not 0.0 <= number <= LARGEST_COORDINATE:
        raise ValueError(f"clearance is {number:g}; it must be between 0 and {LARGEST_COORDINATE:.2g}")
    return number


def is_ragged(faces: ArrayLike | Sequence[Sequence[int]]) -> bool:
    """Whether ``faces`` is a sequence of polygons rather than one rectangular array."""
    if isinstance(faces, np.ndarray):
        return faces.dtype == object
    return isinstance(faces, Sequence) and len({len(face) for face in faces if hasattr(face, "__len__")}) > 1
