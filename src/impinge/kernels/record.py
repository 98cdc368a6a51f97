"""Records: what kernels read and write, declared once, with names.

    class Search(Record):
        stack = int32[:, 2]     # an array of its own, any number of rows
        best = float64          # a number
        point = float64[3]      # numbers in the record itself

A record is a C structure.  Python makes it, ``Search(stack=array, best=1.0)``, and reads and sets its fields.  Kernels
get its address, one integer; ``Search.at(address)`` gives them a view with the same fields, ``search.stack[i, 0]``,
``search.best = 2.0``.  ``n_stack`` is the number of rows of ``stack``.  However many fields there are, the view is one
pointer, and compiled code hands nothing else from function to function; a field costs one load or store at a constant
distance, as in C.

A record keeps its arrays alive, and takes only arrays of the declared type and shape.  What kernels never change is
declared by ``class Tree(Record, constant=True)``: the compiler then need not load a number twice.  Records without
arrays of their own can be rows of an array, ``records(Kept)[:]``, or parts of another record, ``records(Kept)`` and
``records(Kept)[2]``; they are copied by assignment.

Without the compiler (NUMBA_DISABLE_JIT=1) the address of a record is the record itself.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.kernels.compiler import without_compiler


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


def _sized(number: np.dtype[Any] | None, rows: type[Record] | None, key: Any, is_address: bool = False) -> Field:
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
        return _sized(self.dtype, None, key, self.is_address)


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


class RecordType(type(ctypes.Structure)):  # type: ignore[misc]
    """Makes a C structure of the fields that a class declares."""

    fields: dict[str, Field]
    offsets: dict[str, int]
    """How many bytes of the record lie before each field."""
    constant: bool
    dtype: np.dtype[Any]

    def __new__(
        mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], constant: bool | None = None
    ) -> RecordType:
        fields = {}
        for key, value in list(namespace.items()):
            if isinstance(value, Number):
                value = Field(value.dtype, None, (), False, value.is_address)
            elif isinstance(value, RecordType):
                value = Field(None, value, (), False)
            if isinstance(value, Field):
                fields[key] = value
                del namespace[key]
        for key in fields:
            if f"n_{key}" in fields:
                raise TypeError(f"{name}.n_{key} is the number of rows of {key}")
        inherited: dict[str, Field] = {}
        for base in bases:
            inherited.update(getattr(base, "fields", {}))
        namespace.setdefault("__slots__", ())
        namespace["_fields_"] = [(_stored_as(key, field), _in_c(name, key, field)) for key, field in fields.items()]
        namespace["fields"] = {**inherited, **fields}
        if constant is not None:
            namespace["constant"] = constant
        for key, field in fields.items():
            if field.elsewhere:
                namespace[key] = _array_elsewhere(key, field)
                namespace[f"n_{key}"] = _count_of(key)
            elif field.shape:
                namespace[key] = _array_inside(key, field)
            elif without_compiler():
                if field.number == np.dtype(object):
                    namespace[key] = _thing(key)
                else:
                    namespace[key] = _number_as_numpy(key, field) if field.rows is None else _part_as_record(key)
        cls: RecordType = super().__new__(mcs, name, bases, namespace)
        cls.offsets = {key: getattr(cls, _stored_as(key, field)).offset for key, field in cls.fields.items()}
        if cls.can_be_part:
            cls.dtype = cls._as_dtype()
        return cls

    @property
    def can_be_part(cls) -> bool:
        """Whether such records can be copied byte by byte: rows of arrays, parts of other records."""
        return not any(field.elsewhere for field in cls.fields.values())

    def _as_dtype(cls) -> np.dtype[Any]:
        """For arrays of such records."""
        names = list(cls.fields)
        formats = [(field.element, field.shape) for field in cls.fields.values()]
        offsets = list(cls.offsets.values())
        layout: Any = {"names": names, "formats": formats, "offsets": offsets, "itemsize": ctypes.sizeof(cls)}
        made: np.dtype[Any] = np.dtype(layout)
        return made

    @property
    def size_in_bytes(cls) -> int:
        return ctypes.sizeof(cls)

    @property
    def at(cls) -> Any:
        """For kernels: ``view = Search.at(address)``, once a module: ``search_at = Search.at``."""
        if without_compiler():
            return _itself
        from impinge.kernels.record_views import view_at

        return view_at(cls)

    def __getitem__(cls, key: Any) -> Any:
        """The declaration of an array of such records."""
        if not cls.can_be_part:
            raise TypeError(f"a {cls.__name__} has arrays of its own and cannot be a row of another")
        return _sized(None, cls, key)

    def __init__(cls, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments)

    def __call__(cls, *arguments: Any, **values: Any) -> Any:
        """A new record.

        Its memory is an object of its own, so that views of it need not refer to the record, which keeps them: such a
        circle would keep all arrays until Python's garbage collector comes by.
        """
        memory = bytearray(ctypes.sizeof(cls))
        record = cls.from_buffer(memory)
        record._memory, record._arrays, record._owners = memory, {}, {}
        record.address = record if without_compiler() else ctypes.addressof(record)
        record.__init__(*arguments, **values)
        return record


def _itself(address: Any) -> Any:
    return address


def _stored_as(name: str, field: Field) -> str:
    """The name of the field of the C structure."""
    plain = not field.elsewhere and field.shape == () and not without_compiler()
    return name if plain else f"_c_{name}"


def _in_c(record: str, name: str, field: Field) -> Any:
    if field.elsewhere:
        return ctypes.c_int64 * 2
    if field.rows is not None:
        if not field.rows.can_be_part:
            raise TypeError(f"{record}.{name}: a {field.rows.__name__} has arrays of its own and cannot be a part")
        kind: Any = field.rows
    elif field.number == np.dtype(object):
        kind = ctypes.c_int64
    else:
        number: Any = field.number
        kind = np.ctypeslib.as_ctypes_type(number)
    return kind * prod(field.shape) if field.shape else kind


def _array_elsewhere(name: str, field: Field) -> property:
    """An array that the record keeps alive; to set it takes 0.7 us."""
    element, row, dimensions = field.element, field.shape, 1 + len(field.shape)
    out_of_line = element.alignment - 1

    def get(record: Record) -> Any:
        array = record._arrays.get(name)
        return _as_kernels_see_it(record, name, field) if array is None else array

    def put(record: Record, array: Any) -> None:
        if isinstance(array, _Rows):
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


def _count_of(name: str) -> property:
    return property(lambda record: len(getattr(record, name)))


def _array_inside(name: str, field: Field) -> property:
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
        (view.array if isinstance(view, _Rows) else view)[...] = values

    return property(get, put)


def _number_as_numpy(name: str, field: Field) -> property:
    """Without the compiler: a number of numpy's, which divides by zero and overflows as machine code does."""
    stored = f"_c_{name}"
    kind: Any = field.number.type if field.number is not None else None

    def put(record: Record, value: Any) -> None:
        setattr(record, stored, kind(value).item())

    return property(lambda record: kind(getattr(record, stored)), put)


def _thing(name: str) -> property:
    """Without the compiler: what stands for an address."""
    return property(
        lambda record: record._arrays.get(name, 0), lambda record, value: record._arrays.update({name: value})
    )


def _part_as_record(name: str) -> property:
    stored = f"_c_{name}"
    return property(lambda record: getattr(record, stored), lambda record, part: setattr(record, stored, part))


class _Rows:
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
            return _Rows(part, self._rows)
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
    return _Rows(array, field.rows) if field.rows is not None and without_compiler() else array


class _Record(ctypes.Structure, metaclass=RecordType):
    """The base of all records; see the module.

    Parameters
    ----------
    **values
        Fields that are not to be zero or empty.
    """

    # There is nothing but fields, so a misspelt one is an AttributeError.
    __slots__ = ("__weakref__", "_arrays", "_memory", "_owners", "address")
    constant = False

    def __init__(self, **values: Any) -> None:
        fields = self.fields
        for name, value in values.items():
            if name not in fields:
                raise TypeError(f"a {type(self).__name__} has no field {name!r}")
            setattr(self, name, value)

    def copy(self) -> Any:
        """A record of its own with the same numbers, which shares the arrays elsewhere; 3 us."""
        made = type(self)()
        if not type(self).can_be_part:
            made._owners.update(self._owners)
            made._arrays.update({name: self._arrays[name] for name in self._owners if name in self._arrays})
        for name, field in self.fields.items():
            if field.is_address and not field.elsewhere:
                setattr(made, name, getattr(self, name))  # in plain Python these are things, not numbers
        ctypes.memmove(ctypes.addressof(made), ctypes.addressof(self), ctypes.sizeof(self))
        return made

    def __repr__(self) -> str:
        shown = (f"{name}={_shown(getattr(self, name))}" for name in self.fields)
        return f"{type(self).__name__}({', '.join(shown)})"

    def __reduce__(self) -> tuple[Any, ...]:
        if any(field.is_address for field in self.fields.values()):
            raise TypeError(f"a {type(self).__name__} holds addresses, which mean nothing in another process")
        return _restored, (type(self), dict(self._values()))

    def _values(self) -> Iterator[tuple[str, Any]]:
        for name, field in self.fields.items():
            value = getattr(self, name)
            if field.rows is not None and field.shape == () and not field.elsewhere:
                value = dict(value._values())
            elif isinstance(value, _Rows):
                value = value.array
            yield name, value.copy() if isinstance(value, np.ndarray) and not field.elsewhere else value


if TYPE_CHECKING:  # which do not know what a metaclass makes

    class Record:
        """The base of all records."""

        fields: ClassVar[dict[str, Field]]
        offsets: ClassVar[dict[str, int]]
        constant: ClassVar[bool]
        can_be_part: ClassVar[bool]
        dtype: ClassVar[np.dtype[Any]]
        size_in_bytes: ClassVar[int]
        at: ClassVar[Any]
        address: Any
        _memory: bytearray
        _arrays: dict[str, Any]
        _owners: dict[str, Any]

        def __init_subclass__(cls, constant: bool = False) -> None: ...
        def __init__(self, **values: Any) -> None: ...
        def _values(self) -> Iterator[tuple[str, Any]]: ...
        def __getattr__(self, name: str) -> Any: ...

else:
    Record = _Record
    Record.__name__ = Record.__qualname__ = "Record"


def records(kind: type[Record]) -> Any:
    """For the declaration of a field: ``records(Kept)[:]`` is an array of records, ``records(Kept)[2]`` holds two."""
    return kind


def _shown(value: Any) -> str:
    if isinstance(value, (np.ndarray, _Rows)):
        array = value.array if isinstance(value, _Rows) else value
        return f"{array.dtype}{list(array.shape)}"
    return repr(value)


def _restored(kind: type[Record], values: dict[str, Any]) -> Record:
    made = kind()
    for name, value in values.items():
        part = kind.fields[name].rows
        setattr(made, name, _restored(part, value) if part is not None and isinstance(value, dict) else value)
    return made
