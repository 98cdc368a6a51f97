"""Tables in compiled code: the type, and what an index costs.  See ``kernels.memory``."""

from __future__ import annotations

import operator
from math import prod
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from impinge.kernels.mode import with_bounds_checks


class Table(types.Type):  # type: ignore[misc]
    """The type of a table in compiled code."""

    def __init__(self, dtype: types.Type, row_shape: tuple[int, ...]) -> None:
        self.dtype = dtype
        self.row_shape = row_shape
        self.ndim = 1 + len(row_shape)
        super().__init__(name=f"Table({dtype}, {row_shape})")

    def part(self, indices: int) -> types.Type:
        """What is found at the first ``indices`` indices: a table with fewer dimensions, or a number."""
        return self.dtype if indices == self.ndim else Table(self.dtype, self.row_shape[indices:])

    def offset(self, builder: Any, indices: list[Any]) -> Any:
        """How many numbers lie before the place."""
        total = ir.Constant(ir.IntType(64), 0)
        for i, index in enumerate(indices):
            stride = ir.Constant(ir.IntType(64), prod(self.row_shape[i:]))
            total = builder.add(total, builder.mul(index, stride))
        return total


@register_model(Table)
class _TableModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, table: Table) -> None:
        super().__init__(manager, table, manager.lookup(table.dtype).get_data_type().as_pointer())


def as_integers(index: types.Type) -> tuple[int, types.Type]:
    """How many indices there are, and the type they are converted to."""
    if isinstance(index, types.BaseTuple):
        return len(index), types.UniTuple(types.intp, len(index))
    return 1, types.intp


@infer_global(operator.getitem)
class _Get(AbstractTemplate):  # type: ignore[misc]
    def generic(self, args: tuple[types.Type, ...], kws: Any) -> Any:
        table, index = args
        if not isinstance(table, Table):
            return None
        count, index = as_integers(index)
        return signature(table.part(count), table, index) if count <= table.ndim else None


@infer_global(operator.setitem)
class _Set(AbstractTemplate):  # type: ignore[misc]
    def generic(self, args: tuple[types.Type, ...], kws: Any) -> Any:
        table, index, _ = args
        if not isinstance(table, Table):
            return None
        count, index = as_integers(index)
        return signature(types.none, table, index, table.dtype) if count == table.ndim else None


def _place(builder: Any, table: Table, start: Any, index_type: types.Type, index: Any) -> Any:
    indices = [builder.extract_value(index, i) for i in range(len(index_type))] if index_type != types.intp else [index]
    return builder.gep(start, [table.offset(builder, indices)])


@lower_builtin(operator.getitem, Table, types.Integer)  # type: ignore[untyped-decorator]
@lower_builtin(operator.getitem, Table, types.BaseTuple)  # type: ignore[untyped-decorator]
def _load(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    table, index_type = signature.args
    place = _place(builder, table, arguments[0], index_type, arguments[1])
    if isinstance(signature.return_type, Table):
        return place
    return context.unpack_value(builder, table.dtype, place)


@lower_builtin(operator.setitem, Table, types.Integer, types.Any)  # type: ignore[untyped-decorator]
@lower_builtin(operator.setitem, Table, types.BaseTuple, types.Any)  # type: ignore[untyped-decorator]
def _store(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    table, index_type, _ = signature.args
    place = _place(builder, table, arguments[0], index_type, arguments[1])
    context.pack_value(builder, table.dtype, arguments[2], place)
    return context.get_dummy_value()


def data_of(context: Any, builder: Any, kind: types.Type, value: Any) -> Any:
    """Where the numbers of a table, or of a contiguous array, begin."""
    return value if isinstance(kind, Table) else context.make_array(kind)(context, builder, value).data


def table_at(dtype: Any, row_shape: tuple[int, ...]) -> Any:
    """``f(address, count)`` for kernels: the table of so many rows of this shape at an address."""
    number = numba.from_dtype(np.dtype(dtype))

    @intrinsic  # type: ignore[untyped-decorator]
    def at(typing_context: Any, address: Any, count: Any) -> Any:
        kind = Table(number, row_shape)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(kind))

        return kind(types.int64, types.int64), generate

    if not with_bounds_checks():
        return at

    @numba.njit(no_cpython_wrapper=True)  # type: ignore[untyped-decorator]
    def array_at(address: Any, count: Any) -> Any:
        return numba.carray(_void_pointer(address), (count, *row_shape), number)

    return array_at


@intrinsic  # type: ignore[untyped-decorator]
def _void_pointer(typing_context: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(types.voidptr))

    return types.voidptr(types.int64), generate
