"""Fields of records: how they are declared, and what Python gets and sets.

A record keeps the arrays that kernels see through it: ``_arrays`` has them as Python sees them, ``_owners`` all that
its memory might refer to, also while one is being set.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.kernels.mode import without_compiler

if TYPE_CHECKING:
    from impinge.kernels.record import Record


class Field(NamedTuple):
    """What a field holds."""

    number: np.dtype[Any] | None
    """The type of its numbers, if it does not hold records;"""
    rows: type[Record] | None
    """the class of these."""
    shape: tuple[int, ...]
    """Of the array in the record, or of a row of the array elsewhere; () is one number or record."""
    elsewhere: bool
    """Whether the record holds only the address of an array, and the number of its rows."""
    is_address: bool = False
    """Whether its numbers are addresses, which mean nothing in another process."""

    @property
    def element(self) -> Any:
        return self.number if self.rows is None else self.rows.dtype


def sized(number: np.dtype[Any] | None, rows: type[Record] | None, key: Any, is_address: bool = False) -> Field:
    shape = key if isinstance(key, tuple) else (key,)
    elsewhere = shape[0] == slice(None)
    inside = shape[1:] if elsewhere else shape
    if not all(isinstance(length, int) and length > 0 for length in inside):
        raise TypeError(f"a field has a shape such as [:], [:, 3] or [2, 4], not {key!r}")
    return Field(number, rows, inside, elsewhere, is_address)


class Number:
    """The declaration of a field that holds one number; with [...] of one that holds an array."""

    def __init__(self, dtype: Any, is_address: bool = False) -> None:
        self.dtype = np.dtype(dtype)
        self.is_address = is_address

    def __getitem__(self, key: Any) -> Any:
        return sized(self.dtype, None, key, self.is_address)


# Any to type checkers, so that fields are.
float64: Any = Number(np.float64)
float32: Any = Number(np.float32)
int64: Any = Number(np.int64)
int32: Any = Number(np.int32)
int8: Any = Number(np.int8)
bool_: Any = Number(np.bool_)
address: Any = Number(object if without_compiler() else np.int64, is_address=True)
"""Of another record, whose owner somebody else keeps alive, or of a kernel (``jit.address_of_kernel``)."""


def addresses(found: Sequence[Any]) -> NDArray[Any]:
    """An array of addresses; 0 for None."""
    made = np.empty(len(found), dtype=address.dtype)
    for place, one in enumerate(found):
        made[place] = 0 if one is None else one
    return made


_AT_AND_COUNT = struct.Struct("qq")
_first_byte = ctypes.c_char.from_buffer
_address_of = ctypes.addressof


def array_elsewhere(name: str, field: Field) -> property:
    """An array that the record keeps alive; to set it takes 0.7 us."""
    element, row, dimensions = field.element, field.shape, 1 + len(field.shape)
    out_of_line = element.alignment - 1

    def get(record: Record) -> Any:
        array = record._arrays.get(name)
        return _as_kernels_see_it(record, name, field) if array is None else array

    def put(record: Record, array: Any) -> None:
        if isinstance(array, RowsInPython):
            array = array.array
        alike = (
            type(array) is np.ndarray
            and array.dtype is element  # types of one kind are mostly one object
            and array.ndim == dimensions
            and (dimensions == 1 or array.shape[1:] == row)
        )
        try:
            at = _address_of(_first_byte(array))  # of what is contiguous and writable; 0.3 us
        except (TypeError, ValueError, BufferError):  # it is not, or empty
            alike = False
            at = 0
        if not alike or at & out_of_line:
            _check(type(record).__name__, name, field, array)
            at = at or int(array.ctypes.data)  # 2 us
        # Whatever the address that kernels see, its array is in ``_owners``, also after an interrupt between two lines.
        owners, arrays = record._owners, record._arrays
        owners[name] = (*owners[name], array) if name in owners else (array,)
        arrays.pop(name, None)  # so that Python, too, asks the address which array it is
        _AT_AND_COUNT.pack_into(record._memory, record.offsets[name], at, len(array))  # in one step
        arrays[name] = _as_seen_by_kernels(array, field) if field.rows is not None else array
        owners[name] = (array,)

    return property(get, put)


def _as_kernels_see_it(record: Record, name: str, field: Field) -> Any:
    """The array at the address in the record: if none was set, or setting it was interrupted."""
    memory: Any = getattr(record, "_memory", record)
    seen = _AT_AND_COUNT.unpack_from(memory, record.offsets[name])
    for array in record._owners.get(name, ()):
        if (_address(array), len(array)) == seen:
            return _as_seen_by_kernels(array, field)
    return _as_seen_by_kernels(np.zeros((0, *field.shape), dtype=field.element), field)


def _check(record: str, name: str, field: Field, array: Any) -> None:
    """Refuse an array that kernels would not see as it is.  To compare the types of records takes 7 us."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{_wanted(record, name, field)}, not {type(array).__name__}")
    if array.dtype != field.element or array.ndim != 1 + len(field.shape) or array.shape[1:] != field.shape:
        raise TypeError(f"{_wanted(record, name, field)}, not of {array.dtype} with shape {array.shape}")
    if not array.flags.c_contiguous:
        raise TypeError(f"{_wanted(record, name, field)}, and contiguous")
    if not array.flags.aligned:
        raise TypeError(f"{_wanted(record, name, field)}, and aligned")


def _wanted(record: str, name: str, field: Field) -> str:
    """For messages only: numpy takes 2 us to write the name of a dtype."""
    return f"{record}.{name} is an array of {field.element} with shape {('n', *field.shape)}"


def _address(array: Any) -> int:
    try:
        return _address_of(_first_byte(array))
    except (TypeError, ValueError, BufferError):
        return int(array.ctypes.data)


def count_of(name: str) -> property:
    return property(lambda record: len(getattr(record, name)))


def array_inside(name: str, field: Field) -> property:
    """A view of numbers in the record, made once (but for parts of other records)."""

    def view_of(memory: Any, offset: int) -> Any:
        view = np.frombuffer(memory, field.element, prod(field.shape), offset)
        view = _as_seen_by_kernels(view.reshape(field.shape), field)
        # In Python, too, rows have fields.
        return view.view(np.recarray) if field.rows is not None and isinstance(view, np.ndarray) else view

    def get(record: Record) -> Any:
        try:
            arrays = record._arrays
        except AttributeError:
            # A part of another record, which ctypes has made.  The view refers to the part, so the part must not
            # refer to it: in a circle the two would stay for ever, with all arrays of the record around them, since the
            # garbage collector does not look into arrays.
            return view_of(record, record.offsets[name])
        if name not in arrays:
            arrays[name] = view_of(record._memory, record.offsets[name])
        return arrays[name]

    def put(record: Record, values: Any) -> None:
        if type(values) is np.ndarray and values.dtype is field.number and values.shape == field.shape:
            start = record.offsets[name]
            memory = getattr(record, "_memory", None)
            if memory is not None:  # without a view, which takes 2 us the first time
                memory[start : start + values.nbytes] = values.tobytes()
                return
        view = get(record)
        (view.array if isinstance(view, RowsInPython) else view)[...] = values

    return property(get, put)


def number_as_numpy(name: str, field: Field) -> property:
    """Without the compiler: a number of numpy's, which divides by zero and overflows as machine code does."""
    stored = f"_c_{name}"
    kind: Any = field.number.type if field.number is not None else None

    def put(record: Record, value: Any) -> None:
        setattr(record, stored, kind(value).item())

    return property(lambda record: kind(getattr(record, stored)), put)


def thing(name: str) -> property:
    """Without the compiler: what stands for an address."""
    return property(
        lambda record: record._arrays.get(name, 0), lambda record, value: record._arrays.update({name: value})
    )


def part_as_record(name: str) -> property:
    stored = f"_c_{name}"
    return property(lambda record: getattr(record, stored), lambda record, part: setattr(record, stored, part))


class RowsInPython:
    """Without the compiler: an array of records whose rows have fields."""

    def __init__(self, array: NDArray[Any], rows: Any) -> None:
        self.array = array
        self._rows = rows
        self._start = _address(array)

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, key: Any) -> Any:
        if (
            self.array.ndim == 1 and isinstance(key, int | np.integer) and 0 <= key < len(self.array)
        ):  # in a fifth of the time
            row = self._rows.from_address(self._start + int(key) * self._rows.size_in_bytes)
            row._owners = {"array": (self.array,)}
            return row
        part = self.array[key]
        if isinstance(part, np.ndarray):
            return RowsInPython(part, self._rows)
        place = self.array[key if isinstance(key, tuple) else (key,)]
        start = place.__array_interface__["data"][0]
        row = self._rows.from_address(start)
        row._owners = {"array": (self.array,)}
        return row

    def __setitem__(self, key: Any, row: Any) -> None:
        if type(row) is not self._rows:  # compiled code does not take it either
            raise TypeError(f"a row is a {self._rows.__name__}, not a {type(row).__name__}")
        ctypes.memmove(ctypes.addressof(self[key]), ctypes.addressof(row), ctypes.sizeof(row))


def _as_seen_by_kernels(array: NDArray[Any], field: Field) -> Any:
    return RowsInPython(array, field.rows) if field.rows is not None and without_compiler() else array
