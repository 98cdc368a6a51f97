"""Rows of boxes as vector instructions: what ``box_rows`` is in compiled code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from impinge.bvh.build.box_rows import COLUMNS

_VECTOR = ir.VectorType(ir.FloatType(), COLUMNS)
_INT64 = ir.IntType(64)
_HALVES_SWAPPED = ir.Constant(ir.VectorType(ir.IntType(32), COLUMNS), [4, 5, 6, 7, 0, 1, 2, 3])


def _row(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """A pointer to a row of a contiguous array."""
    start = context.make_array(array_type)(context, builder, array).data
    vectors = builder.bitcast(start, _VECTOR.as_pointer())
    return builder.gep(vectors, [builder.sext(index, _INT64) if index.type.width < 64 else index])


def _smaller_in_each_column(of_boxes: Callable[[Any, Any], Any]) -> Any:
    def code(typing_context: Any, bounds: Any, i: Any, boxes: Any, j: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            target = _row(context, builder, signature.args[0], arguments[0], arguments[1])
            source = _row(context, builder, signature.args[2], arguments[2], arguments[3])
            rows = [builder.load(target, align=4), of_boxes(builder, builder.load(source, align=4))]
            # A comparison and a choice would become a masked store, four times as slow.
            minimum = cgutils.get_or_insert_function(
                builder.module, ir.FunctionType(_VECTOR, [_VECTOR, _VECTOR]), f"llvm.minnum.v{COLUMNS}f32"
            )
            builder.store(builder.call(minimum, rows, fastmath=("nnan", "nsz")), target, align=4)
            return context.get_dummy_value()

        return types.void(bounds, i, boxes, j), generate

    return intrinsic(code)


def _doubled_centre(builder: Any, box: Any) -> Any:
    return builder.fsub(box, builder.shuffle_vector(box, box, _HALVES_SWAPPED))


enlarge = _smaller_in_each_column(lambda builder, box: box)
enlarge_by_centre = _smaller_in_each_column(_doubled_centre)


@intrinsic  # type: ignore[untyped-decorator]
def exchange(typing_context: Any, boxes: Any, i: Any, j: Any) -> Any:
    """Let two rows change places."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first = _row(context, builder, signature.args[0], arguments[0], arguments[1])
        second = _row(context, builder, signature.args[0], arguments[0], arguments[2])
        row, other = builder.load(first, align=4), builder.load(second, align=4)
        builder.store(other, first, align=4)
        builder.store(row, second, align=4)
        return context.get_dummy_value()

    return types.void(boxes, i, j), generate
