"""Checks of arguments: whatever the caller passes becomes a checked, contiguous array here, once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.constants import LARGEST_COORDINATE

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Bools = NDArray[np.bool_]
AnyArray = TypeVar("AnyArray", bound=NDArray[Any])

_LONGEST = 60
"""Letters of a value in an error."""


def real_array(value: ArrayLike, what: str) -> Floats:
    """A float64 array of real numbers; ``what`` names the argument in errors."""
    array = _as_array(value, what)
    if array.dtype.kind not in "fiu":
        raise ValueError(f"{what}: expected real numbers, got {_kind_of(value, array)}")
    if array.dtype == np.float64 and array.flags.c_contiguous:
        return array
    with np.errstate(over="ignore"):  # a long double beyond float64 becomes inf, which the range check names
        return np.asarray(array, dtype=np.float64, order="C")


def _as_array(value: Any, what: str) -> NDArray[Any]:
    _require_unmasked(value, what)
    try:
        return np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{what}: rows of different lengths do not form an array") from error


def _require_unmasked(value: Any, what: str) -> None:
    """Refuse masked entries, of which numpy would take what happens to stand below the mask."""
    if isinstance(value, np.ma.MaskedArray):
        if np.ma.is_masked(value):
            place = place_of_first(np.ma.getmaskarray(value))
            raise ValueError(f"{what}{place} is masked; fill the entry or leave it out")
    elif isinstance(value, list | tuple) and any(issubclass(kind, np.ma.MaskedArray) for kind in set(map(type, value))):
        for i, row in enumerate(value):
            _require_unmasked(row, f"{what}[{i}]")


def _kind_of(value: Any, array: NDArray[Any]) -> str:
    """What an array of no numbers was made from, to print."""
    if array.dtype != object or array.size == 0:
        return f"dtype {array.dtype}"
    if all(isinstance(entry, int) for entry in array.flat):
        return "an integer of more than 64 bits"
    return "dtype object" if array.ndim else shown(value)


def shown(value: Any) -> str:
    """A value that is not what it should be, to print: on one line, and not too much of it."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python refuses to write out very long integers
        text = f"an integer of {int(value).bit_length()} bits"
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def place_of_first(bad: Bools) -> str:
    """Where the first True stands, as an index to print: ``[3, 1]``, or nothing for a single value."""
    if bad.ndim == 0:
        return ""
    return "[" + ", ".join(str(i) for i in np.argwhere(bad)[0]) + "]"


def require_in_range(array: Floats, what: str) -> None:
    """Refuse NaN, infinity and magnitudes beyond the range of the exact predicates."""
    fine = np.abs(array) <= LARGEST_COORDINATE  # NaN compares False
    if fine.all():
        return
    place = place_of_first(~fine)
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
    array = _as_array(value, what)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{what}: expected integers, got {_kind_of(value, array)}")
    bad = (array < 0) | (array >= vertex_count)
    if bad.any():
        raise ValueError(f"{what}{place_of_first(bad)} is {array[bad][0]}, but there are {vertex_count} vertices")
    return np.ascontiguousarray(array, dtype=np.int32)


def as_polygons(
    faces: ArrayLike | Sequence[Sequence[int]], what: str, vertex_count: int
) -> tuple[Ints, NDArray[np.int64]]:
    """All corners in one row, and where each polygon starts in it (with one entry more, the end).

    Examples
    --------
    >>> as_polygons([[0, 1, 2], [3, 2, 1, 0]], "faces", 4)[1].tolist()
    [0, 3, 7]
    """
    _require_unmasked(faces, what)
    try:
        array = np.asarray(faces)
    except ValueError:  # numpy refuses rows of different lengths
        return _as_mixed_polygons(faces, what, vertex_count)  # type: ignore[arg-type]
    if array.dtype == object and array.ndim > 0:
        return _as_mixed_polygons(list(array), what, vertex_count)
    if array.size == 0:
        raise ValueError(f"{what}: an empty mesh, there is not one face")
    if array.ndim != 2:
        raise ValueError(f"{what}: expected shape (m, k) or a list of polygons, got shape {array.shape}")
    if array.shape[1] < 3:
        raise ValueError(f"{what}: a polygon has at least 3 corners, got shape {array.shape}")
    corners = as_indices(array, what, vertex_count).ravel()
    return corners, np.arange(0, len(corners) + 1, array.shape[1], dtype=np.int64)


def _as_mixed_polygons(faces: Sequence[Any], what: str, vertex_count: int) -> tuple[Ints, NDArray[np.int64]]:
    for i, face in enumerate(faces):
        if not (hasattr(face, "__len__") and hasattr(face, "__getitem__")) or isinstance(face, str | bytes | Mapping):
            raise ValueError(f"{what}[{i}]: expected a sequence of corners, got {shown(face)}")
        if len(face) < 3:
            raise ValueError(f"{what}[{i}]: a polygon has at least 3 corners, got {len(face)}")
    starts = np.zeros(len(faces) + 1, dtype=np.int64)
    np.cumsum([len(face) for face in faces], out=starts[1:])
    try:
        corners = np.asarray([corner for face in faces for corner in face])
    except ValueError:
        corners = np.zeros(0)
    if corners.dtype.kind not in "iu" or corners.ndim != 1:
        for i, face in enumerate(faces):
            if any(isinstance(corner, bool) or not isinstance(corner, (int, np.integer)) for corner in face):
                raise ValueError(f"{what}[{i}]: expected integers, got {shown(face)}")
        corners = np.asarray([min(max(int(corner), -1), vertex_count) for face in faces for corner in face])
    bad = (corners < 0) | (corners >= vertex_count)
    if bad.any():
        first = int(np.argmax(bad))
        i = int(np.searchsorted(starts, first, side="right")) - 1
        corner = first - int(starts[i])
        raise ValueError(f"{what}[{i}, {corner}] is {shown(faces[i][corner])}, but there are {vertex_count} vertices")
    return corners.astype(np.int32), starts


def as_clearance(value: Any, what: str = "clearance") -> float:
    """A distance that is a real number, finite and not negative; ``what`` names the argument in errors."""
    array = real_array(value, what)
    if array.ndim != 0:
        raise ValueError(f"{what}: expected one number, got shape {array.shape}")
    number = float(array)
    if not 0.0 <= number <= LARGEST_COORDINATE:
        raise ValueError(f"{what} is {number:g}; it must be between 0 and {LARGEST_COORDINATE:.2g}")
    return number


def as_extent(value: Any, what: str) -> float:
    """A length or a time that is not negative; it may be infinite."""
    array = real_array(value, what)
    if array.ndim != 0 or not array >= 0.0:
        raise ValueError(f"{what} is {shown(value)}; it must be a number, 0 or more")
    return float(array)


def as_count(value: Any, what: str) -> int | None:
    """A whole number that is not negative; ``None`` stays ``None``."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
        raise ValueError(f"{what} is {shown(value)}; it must be a whole number, 0 or more, or None")
    return int(value)


def is_id(value: object) -> TypeGuard[int]:
    """Whether it is a whole number; ``True`` is one for Python, but names nothing."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def as_ids(value: Any, what: str) -> NDArray[np.int64]:
    """Whole numbers (n,) that name something."""
    array = _as_array(value, what)
    # In a list beside numbers numpy takes True for 1.
    with_bools = isinstance(value, (list, tuple)) and not {bool, np.bool_}.isdisjoint(map(type, value))
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu") or with_bools:
        found = "a bool among them" if with_bools else f"{array.dtype} of shape {array.shape}"
        raise ValueError(f"{what}: expected integers of shape (n,), got {found}")
    return np.ascontiguousarray(array, dtype=np.int64)


def as_flag(value: Any, what: str) -> bool:
    """True or False, and nothing that only counts as one of them."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{what} is {shown(value)}; it must be True or False")
    return bool(value)


def read_only(array: AnyArray) -> AnyArray:
    """The same array, closed for writing."""
    array.flags.writeable = False
    return array
