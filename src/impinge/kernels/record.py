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
from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from impinge.kernels.jit import in_compiled_code
from impinge.kernels.mode import without_compiler

# What declarations and views need; they import it from here.
from impinge.kernels.record_fields import Field as Field
from impinge.kernels.record_fields import (
    Number,
    RowsInPython,
    array_elsewhere,
    array_inside,
    count_of,
    number_as_numpy,
    part_as_record,
    sized,
    thing,
)
from impinge.kernels.record_fields import address as address
from impinge.kernels.record_fields import addresses as addresses
from impinge.kernels.record_fields import bool_ as bool_
from impinge.kernels.record_fields import float32 as float32
from impinge.kernels.record_fields import float64 as float64
from impinge.kernels.record_fields import int8 as int8
from impinge.kernels.record_fields import int32 as int32
from impinge.kernels.record_fields import int64 as int64


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
                namespace[key] = array_elsewhere(key, field)
                namespace[f"n_{key}"] = count_of(key)
            elif field.shape:
                namespace[key] = array_inside(key, field)
            elif without_compiler():
                if field.number == np.dtype(object):
                    namespace[key] = thing(key)
                else:
                    namespace[key] = number_as_numpy(key, field) if field.rows is None else part_as_record(key)
        cls: RecordType = super().__new__(mcs, name, bases, namespace)
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

        def make() -> Any:
            from impinge.kernels.with_numba.record_views import view_at

            return view_at(cls)

        return in_compiled_code(make, f"{cls.__name__}.at")

    def __getitem__(cls, key: Any) -> Any:
        """The declaration of an array of such records."""
        if not cls.can_be_part:
            raise TypeError(f"a {cls.__name__} has arrays of its own and cannot be a row of another")
        return sized(None, cls, key)

    def __init__(cls, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments)  # from Python 3.13 on the structure has a size only after this
        cls.offsets = {key: getattr(cls, _stored_as(key, field)).offset for key, field in cls.fields.items()}
        if cls.can_be_part:
            cls.dtype = cls._as_dtype()

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
            elif isinstance(value, RowsInPython):
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
    if isinstance(value, (np.ndarray, RowsInPython)):
        array = value.array if isinstance(value, RowsInPython) else value
        return f"{array.dtype}{list(array.shape)}"
    return repr(value)


def _restored(kind: type[Record], values: dict[str, Any]) -> Record:
    made = kind()
    for name, value in values.items():
        part = kind.fields[name].rows
        setattr(made, name, _restored(part, value) if part is not None and isinstance(value, dict) else value)
    return made
