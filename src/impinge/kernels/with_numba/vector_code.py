"""Formulas over eight numbers as vector instructions: what ``kernels.lanes`` is in compiled code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from impinge.kernels.lanes import LANES
from impinge.kernels.with_numba.tables import Table, data_of

_FLOAT = ir.FloatType()
_VECTOR = ir.VectorType(_FLOAT, LANES)
_INT64 = ir.IntType(64)
_INT32 = ir.IntType(32)
_FLAGS = ("contract", "nsz")


class Lanes:
    """Eight numbers, or eight truth values, in the code that is being written."""

    __slots__ = ("_builder", "_value")

    def __init__(self, builder: Any, value: Any) -> None:
        self._builder = builder
        self._value = value

    def _lanes(self, other: Lanes | float) -> Any:
        if isinstance(other, Lanes):
            return other._value
        return ir.Constant(_VECTOR, [float(np.float32(other))] * LANES)

    def _with(self, instruction: Callable[..., Any], other: Lanes | float) -> Lanes:
        return Lanes(self._builder, instruction(self._value, self._lanes(other), flags=_FLAGS))

    def __add__(self, other: Lanes | float) -> Lanes:
        return self._with(self._builder.fadd, other)

    def __sub__(self, other: Lanes | float) -> Lanes:
        return self._with(self._builder.fsub, other)

    def __mul__(self, other: Lanes | float) -> Lanes:
        return self._with(self._builder.fmul, other)

    def __truediv__(self, other: Lanes | float) -> Lanes:
        return self._with(self._builder.fdiv, other)

    def _call(self, name: str) -> Lanes:
        function = cgutils.get_or_insert_function(
            self._builder.module, ir.FunctionType(_VECTOR, [_VECTOR]), f"llvm.{name}.v{LANES}f32"
        )
        return Lanes(self._builder, self._builder.call(function, [self._value]))

    def __abs__(self) -> Lanes:
        return self._call("fabs")

    def _compare(self, relation: str, other: Lanes | float) -> Lanes:
        return Lanes(self._builder, self._builder.fcmp_ordered(relation, self._value, self._lanes(other)))

    def __lt__(self, other: Lanes | float) -> Lanes:
        return self._compare("<", other)

    def __le__(self, other: Lanes | float) -> Lanes:
        return self._compare("<=", other)

    def __gt__(self, other: Lanes | float) -> Lanes:
        return self._compare(">", other)

    def __ge__(self, other: Lanes | float) -> Lanes:
        return self._compare(">=", other)

    def __and__(self, other: Lanes) -> Lanes:
        return Lanes(self._builder, self._builder.and_(self._value, other._value))

    def __or__(self, other: Lanes) -> Lanes:
        return Lanes(self._builder, self._builder.or_(self._value, other._value))

    def __invert__(self) -> Lanes:
        return Lanes(self._builder, self._builder.not_(self._value))

    def choose(self, yes: Lanes | float, no: Lanes | float) -> Lanes:
        return Lanes(self._builder, self._builder.select(self._value, self._lanes(yes), self._lanes(no)))

    def square_root(self) -> Lanes:
        return self._call("sqrt")

    def bits(self) -> Any:
        """The truth values as an integer, lane 0 in bit 0."""
        return self._builder.zext(self._builder.bitcast(self._value, ir.IntType(LANES)), _INT64)


class _RowsInMemory:
    """rows[i] of the formula: loaded where it is first used."""

    def __init__(self, builder: Any, start: Any) -> None:
        self._builder = builder
        self._start = start
        self._loaded: dict[int, Lanes] = {}

    def __getitem__(self, row: int) -> Lanes:
        if row not in self._loaded:
            place = self._builder.gep(self._start, [ir.Constant(_INT64, row * LANES)])
            vector = self._builder.load(self._builder.bitcast(place, _VECTOR.as_pointer()), align=4)
            self._loaded[row] = Lanes(self._builder, vector)
        return self._loaded[row]


def _in_all_lanes(builder: Any, number: Any) -> Lanes:
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(undefined, number, ir.Constant(_INT32, 0))
    zeros = ir.Constant(ir.VectorType(_INT32, LANES), [0] * LANES)
    return Lanes(builder, builder.shuffle_vector(first, undefined, zeros))


def _start_of_node(context: Any, builder: Any, kind: types.Type, rows: Any, node: Any) -> Any:
    """Where the rows of a node begin."""
    node = builder.sext(node, _INT64)
    if isinstance(kind, Table):
        return builder.gep(rows, [kind.offset(builder, [node])])
    array = context.make_array(kind)(context, builder, rows)
    row = builder.udiv(cgutils.unpack_tuple(builder, array.strides)[0], ir.Constant(_INT64, 4))
    return builder.gep(array.data, [builder.mul(node, row)])


def vector_code(formula: Callable[..., Any]) -> Any:
    """The function of ``lanes.eight_lanes`` for kernels."""

    @intrinsic  # type: ignore[untyped-decorator]
    def on_lanes(typing_context: Any, rows: Any, node: Any, numbers: Any, out: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            start = _start_of_node(context, builder, signature.args[0], arguments[0], arguments[1])
            count = len(signature.args[2])
            same = [_in_all_lanes(builder, builder.extract_value(arguments[2], i)) for i in range(count)]
            result = formula(_RowsInMemory(builder, start), same)
            if isinstance(result, Lanes):
                return result.bits()
            condition, values = result
            target = data_of(context, builder, signature.args[3], arguments[3])
            builder.store(values._value, builder.bitcast(target, _VECTOR.as_pointer()), align=4)
            return condition.bits()

        return types.int64(rows, node, numbers, out), generate

    return on_lanes


@intrinsic  # type: ignore[untyped-decorator]
def lowest_bit(typing_context: Any, bits: Any) -> Any:
    """The number of the lowest bit that is set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def count_bits(typing_context: Any, bits: Any) -> Any:
    """How many bits are set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), generate
