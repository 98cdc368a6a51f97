"""Formulas over eight float32 numbers at once, written once.

A formula is ordinary arithmetic on ``rows`` (eight children of a node, one after the other in
memory) and on numbers that are the same for all eight.  Numba cannot be relied on to vectorise such a loop: left to
LLVM it stops at four lanes, and a loop that stores is not vectorised at all.  So the formula is run
once, at compile time, on objects that write down ``<8 x float>`` instructions.  Without the compiler the same formula
runs on numpy rows of float32.

Products and sums may be fused (``contract``), which rounds less often; nothing else is licensed, so
that infinities and NaN compare as IEEE 754 says: every comparison with a NaN is false.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from impinge.kernels.jit import imported_for_kernels, in_compiled_code, inlined
from impinge.kernels.mode import without_compiler

LANES: Final = 8
"""Float32 numbers in one vector register of AVX."""


def where(condition: Any, yes: Any, no: Any) -> Any:
    return np.where(condition, yes, no) if isinstance(condition, np.ndarray) else condition.choose(yes, no)


def larger(a: Any, b: Any) -> Any:
    """The larger of two numbers; the second where one is NaN."""
    return where(a > b, a, b)


def smaller(a: Any, b: Any) -> Any:
    """The smaller of two numbers; the second where one is NaN."""
    return where(a < b, a, b)


def square_root(a: Any) -> Any:
    return np.sqrt(a) if isinstance(a, np.ndarray) else a.square_root()


def eight_lanes(formula: Callable[..., Any]) -> Callable[..., Any]:
    """Make ``f(rows, node, numbers, out)`` of ``formula(rows, numbers)``.

    ``rows`` is a table or an array (nodes, any, 8) of float32, ``numbers`` a tuple of float32, the same for all eight.
    The formula gives eight truth values, which f returns as the bits of an integer; or a pair of these and
    eight numbers, which f stores in ``out``.
    """
    if without_compiler():
        return _on_numpy(formula)

    def make() -> Any:
        from impinge.kernels.with_numba.vector_code import vector_code

        return vector_code(formula)

    return in_compiled_code(make, formula.__name__)  # type: ignore[no-any-return]


def _on_numpy(formula: Callable[..., Any]) -> Callable[..., int]:
    def on_rows(rows: Any, node: int, numbers: Any, out: Any) -> int:
        with np.errstate(all="ignore"):  # as in machine code
            result = formula(rows[node], [np.full(LANES, number, dtype=np.float32) for number in numbers])
        if isinstance(result, tuple):
            result, values = result
            out[:] = values
        return int(np.packbits(result, bitorder="little")[0])

    return on_rows


if without_compiler():

    def lowest_bit(bits: Any) -> int:
        """The number of the lowest bit that is set."""
        return int(bits & -bits).bit_length() - 1

    def count_bits(bits: Any) -> int:
        """How many bits are set."""
        return int(bits).bit_count()

else:
    lowest_bit = imported_for_kernels("impinge.kernels.with_numba.vector_code", "lowest_bit")
    count_bits = imported_for_kernels("impinge.kernels.with_numba.vector_code", "count_bits")


@inlined
def nearest_slot(bounds: Any, slots: Any) -> Any:
    """The slot (of those with a bit) that has the smallest bound."""
    best = lowest_bit(slots)
    slots &= slots - 1
    while slots != 0:
        k = lowest_bit(slots)
        slots &= slots - 1
        if bounds[k] < bounds[best]:
            best = k
    return best
