"""Records in compiled code: the type of a view, and what a field costs (one load or store).

The addresses of arrays, and all of a constant record, are loaded with ``!invariant.load``: within one call of a kernel
they stay the same, so LLVM loads each of them once and need not ask whether a store might have changed it.
"""

from __future__ import annotations

import operator
import zlib
from math import prod
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_global, signature
from numba.extending import (
    infer_getattr,
    intrinsic,
    lower_builtin,
    lower_getattr_generic,
    lower_setattr_generic,
    models,
    register_model,
)
from numba.np.arrayobj import populate_array

from impinge.kernels.mode import with_bounds_checks
from impinge.kernels.record import Field, Record
from impinge.kernels.with_numba.tables import Table, as_integers

_BYTES = ir.IntType(8).as_pointer()
_INT64 = ir.IntType(64)
_COUNT_OF = "n_"
_ADDRESS = 8
"""Bytes of an address; the number of rows follows it."""


class View(types.Type):  # type: ignore[misc]
    """The type of a record in compiled code: a pointer."""

    def __init__(self, record: type[Record]) -> None:
        self.instance_class = record
        super().__init__(name=_name(record))


class Rows(types.Type):  # type: ignore[misc]
    """The type of an array of records: where it begins, and the number of its rows."""

    def __init__(self, record: type[Record], row_shape: tuple[int, ...]) -> None:
        self.record = record
        self.row_shape = row_shape
        super().__init__(name=f"Rows({_name(record)}, {row_shape})")


def _name(record: type[Record]) -> str:
    """Short: the names of functions hold those of their arguments, and with all fields in it code was three times as
    large.

    Records of one name that differ must not be taken for each other.
    """
    fields = [(name, str(field.element), field.shape, field.elsewhere) for name, field in record.fields.items()]
    return f"{record.__name__}{zlib.crc32(repr((record.__module__, record.__qualname__, fields)).encode()):08x}"


@register_model(View)
class _ViewModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, view: View) -> None:
        super().__init__(manager, view, _BYTES)


@register_model(Rows)
class _RowsModel(models.StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, rows: Rows) -> None:
        super().__init__(manager, rows, [("start", types.voidptr), ("count", types.int64)])


def view_at(record: type[Record]) -> Any:
    """Make ``f(address)``: the view of a record at an address whose owner keeps it alive."""

    @intrinsic  # type: ignore[untyped-decorator]
    def at(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], _BYTES)

        return View(record)(types.int64), generate

    return at


def _number(field: Field) -> types.Type:
    return numba.from_dtype(field.number)


def _type_of(field: Field) -> types.Type:
    if field.rows is not None:
        if field.elsewhere:
            return Rows(field.rows, field.shape)
        return Rows(field.rows, field.shape[1:]) if field.shape else View(field.rows)
    if not field.elsewhere and field.shape == ():
        return _number(field)
    row_shape = field.shape if field.elsewhere else field.shape[1:]
    if with_bounds_checks():
        return types.Array(_number(field), 1 + len(row_shape), "C")
    return Table(_number(field), row_shape)


@infer_getattr
class _Fields(AttributeTemplate):  # type: ignore[misc]
    key = View

    def generic_resolve(self, view: View, name: str) -> types.Type | None:
        fields = view.instance_class.fields
        if name in fields:
            return _type_of(fields[name])
        counted = fields.get(name.removeprefix(_COUNT_OF))
        return types.int64 if counted is not None and counted.elsewhere else None


def _place(builder: Any, start: Any, distance: int) -> Any:
    return builder.gep(start, [ir.Constant(_INT64, distance)])


def _load(builder: Any, place: Any, kind: Any, unchanging: bool) -> Any:
    value = builder.load(builder.bitcast(place, kind.as_pointer()))
    if unchanging:
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value


@lower_getattr_generic(View)  # type: ignore[untyped-decorator]
def _get(context: Any, builder: Any, view: View, start: Any, name: str) -> Any:
    record = view.instance_class
    if name not in record.fields:
        place = _place(builder, start, record.offsets[name[len(_COUNT_OF) :]] + _ADDRESS)
        return _load(builder, place, _INT64, True)
    field, place = record.fields[name], _place(builder, start, record.offsets[name])
    if field.elsewhere:
        first = builder.inttoptr(_load(builder, place, _INT64, True), _BYTES)
        count = _load(builder, _place(builder, place, _ADDRESS), _INT64, True)
        return _array(context, builder, field, first, [count, *_constants(field.shape)])
    if field.shape:
        return _array(context, builder, field, place, _constants(field.shape))
    if field.rows is not None:
        return place
    model = context.data_model_manager[_number(field)]
    return model.from_data(builder, _load(builder, place, model.get_data_type(), record.constant))


def _constants(numbers: tuple[int, ...]) -> list[Any]:
    return [ir.Constant(_INT64, number) for number in numbers]


def _array(context: Any, builder: Any, field: Field, first: Any, shape: list[Any]) -> Any:
    """What kernels see of an array, given its first byte and its shape."""
    kind = _type_of(field)
    if isinstance(kind, Table):
        return builder.bitcast(first, context.get_value_type(kind))
    if isinstance(kind, Rows):
        rows = cgutils.create_struct_proxy(kind)(context, builder)
        rows.start, rows.count = first, shape[0]
        return rows._getvalue()
    # As an array, whose indices Numba checks.
    array = context.make_array(kind)(context, builder)
    item = kind.dtype.bitwidth // 8 if hasattr(kind.dtype, "bitwidth") else 1
    inner = field.shape if field.elsewhere else field.shape[1:]
    strides = _constants(tuple(item * prod(inner[axis:]) for axis in range(len(inner) + 1)))
    data = builder.bitcast(first, context.get_data_type(kind.dtype).as_pointer())
    populate_array(array, data, shape, strides, item, None)
    return array._getvalue()


@lower_setattr_generic(View)  # type: ignore[untyped-decorator]
def _set(context: Any, builder: Any, signature: Any, arguments: Any, name: str) -> None:
    record = signature.args[0].instance_class
    field = record.fields[name]
    if record.constant or field.elsewhere or field.shape:
        raise TypeError(f"{record.__name__}.{name} cannot be set by kernels")
    place = _place(builder, arguments[0], record.offsets[name])
    if field.rows is not None:
        cgutils.raw_memcpy(builder, place, arguments[1], ir.Constant(_INT64, field.rows.size_in_bytes), 1)
        return
    model = context.data_model_manager[_number(field)]
    builder.store(model.as_data(builder, arguments[1]), builder.bitcast(place, model.get_data_type().as_pointer()))


@infer_global(operator.getitem)
class _Row(AbstractTemplate):  # type: ignore[misc]
    def generic(self, args: tuple[types.Type, ...], kws: Any) -> Any:
        rows, index = args
        if not isinstance(rows, Rows):
            return None
        count, index = as_integers(index)
        if count != 1 + len(rows.row_shape):
            return None
        return signature(View(rows.record), rows, index)


@infer_global(operator.setitem)
class _CopyRow(AbstractTemplate):  # type: ignore[misc]
    def generic(self, args: tuple[types.Type, ...], kws: Any) -> Any:
        rows, index, row = args
        if not isinstance(rows, Rows) or row != View(rows.record):
            return None
        count, index = as_integers(index)
        return signature(types.none, rows, index, row) if count == 1 + len(rows.row_shape) else None


def _row_place(context: Any, builder: Any, kind: Rows, rows: Any, index_type: types.Type, index: Any) -> Any:
    view = cgutils.create_struct_proxy(kind)(context, builder, value=rows)
    indices = [builder.extract_value(index, i) for i in range(len(index_type))] if index_type != types.intp else [index]
    if with_bounds_checks():
        for axis, (place, length) in enumerate(zip(indices, [view.count, *_constants(kind.row_shape)], strict=True)):
            cgutils.do_boundscheck(context, builder, place, length, axis)
    total = ir.Constant(_INT64, 0)
    for axis, place in enumerate(indices):
        size = kind.record.size_in_bytes * prod(kind.row_shape[axis:])
        total = builder.add(total, builder.mul(place, ir.Constant(_INT64, size)))
    return builder.gep(view.start, [total])


@lower_builtin(operator.getitem, Rows, types.Integer)  # type: ignore[untyped-decorator]
@lower_builtin(operator.getitem, Rows, types.BaseTuple)  # type: ignore[untyped-decorator]
def _get_row(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind, index_type = signature.args
    return _row_place(context, builder, kind, arguments[0], index_type, arguments[1])


@lower_builtin(operator.setitem, Rows, types.Integer, View)  # type: ignore[untyped-decorator]
@lower_builtin(operator.setitem, Rows, types.BaseTuple, View)  # type: ignore[untyped-decorator]
def _copy_row(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind, index_type, _ = signature.args
    place = _row_place(context, builder, kind, arguments[0], index_type, arguments[1])
    cgutils.raw_memcpy(builder, place, arguments[2], ir.Constant(_INT64, kind.record.size_in_bytes), 1)
    return context.get_dummy_value()
