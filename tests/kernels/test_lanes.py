"""Vector code: every operation gives what numpy gives, on infinities and NaN too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from impinge.kernels.jit import kernel
from impinge.kernels.lanes import (
    LANES,
    count_bits,
    eight_lanes,
    larger,
    lowest_bit,
    smaller,
    square_root,
    where,
)
from impinge.kernels.mode import without_compiler

Singles = NDArray[np.float32]
Formula = Callable[[Any, Any], Any]

SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.5, 3.0e38, 1e-45, -7e-39, np.inf, -np.inf, np.nan, 0.1, 1.0 + 2.0**-23], dtype=np.float32
)


def all_pairs_of_special() -> Singles:
    """Nodes of two rows, with all pairs of the special numbers."""
    first, second = np.meshgrid(SPECIAL, SPECIAL)
    return np.stack([first.reshape(-1, LANES), second.reshape(-1, LANES)], axis=1)


def run(function: Any, rows: Singles, numbers: tuple[float, ...] = (2.0, -0.5)) -> tuple[list[int], Singles]:
    """The bits and the stored numbers of all nodes."""
    same = tuple(np.float32(number) for number in numbers)

    def over_nodes(rows, bits, values):  # type: ignore[no-untyped-def]
        for node in range(len(rows)):
            bits[node] = function(rows, node, same, values[node])

    bits = np.full(len(rows), -1, dtype=np.int64)
    values = np.full((len(rows), LANES), 77.0, dtype=np.float32)
    kernel_of(over_nodes)(rows, bits, values)
    return bits.tolist(), values


def kernel_of(function: Any) -> Any:
    return function if without_compiler() else numba.njit(error_model="numpy")(function)


def in_numpy(formula: Formula, rows: Singles, numbers: tuple[float, ...] = (2.0, -0.5)) -> tuple[list[int], Singles]:
    bits, values = [], np.full((len(rows), LANES), 77.0, dtype=np.float32)
    for node, node_rows in enumerate(rows):
        with np.errstate(all="ignore"):
            result = formula(node_rows, [np.full(LANES, number, dtype=np.float32) for number in numbers])
        if isinstance(result, tuple):
            result, values[node] = result
            assert values.dtype == np.float32
        bits.append(sum(1 << k for k in range(LANES) if result[k]))
    return bits, values


VALUES: dict[str, Formula] = {
    "add": lambda rows, numbers: rows[0] + rows[1],
    "subtract": lambda rows, numbers: rows[0] - rows[1],
    "multiply": lambda rows, numbers: rows[0] * rows[1],
    "divide": lambda rows, numbers: rows[0] / rows[1],
    "with numbers": lambda rows, numbers: rows[0] / numbers[0] - numbers[1],
    "with constants": lambda rows, numbers: (rows[0] - 0.1) / 3.0,
    "abs": lambda rows, numbers: abs(rows[0]),
    "square root": lambda rows, numbers: square_root(rows[0]),
    "larger": lambda rows, numbers: larger(rows[0], rows[1]),
    "larger than constant": lambda rows, numbers: larger(rows[0], 0.25),
    "smaller": lambda rows, numbers: smaller(rows[0], rows[1]),
    "smaller than constant": lambda rows, numbers: smaller(rows[0], 0.25),
    "where": lambda rows, numbers: where(rows[0] < rows[1], rows[0], numbers[1]),
}

TRUTHS: dict[str, Formula] = {
    "<": lambda rows, numbers: rows[0] < rows[1],
    "<=": lambda rows, numbers: rows[0] <= rows[1],
    ">": lambda rows, numbers: rows[0] > rows[1],
    ">=": lambda rows, numbers: rows[0] >= rows[1],
    "constant": lambda rows, numbers: rows[0] >= 0.1,
    "and or not": lambda rows, numbers: ~((rows[0] < 1.0) & (rows[1] > numbers[1])) | (rows[1] >= rows[0]),
}


@pytest.mark.parametrize("name", list(VALUES))
def test_numbers_as_numpy(name: str) -> None:
    def formula(rows: Any, numbers: Any) -> Any:
        values = VALUES[name](rows, numbers)
        return values >= 0.0, values

    rows = all_pairs_of_special()
    bits, values = run(eight_lanes(formula), rows)
    expected_bits, expected = in_numpy(formula, rows)
    assert bits == expected_bits
    np.testing.assert_array_equal(values, expected)


@pytest.mark.parametrize("name", list(TRUTHS))
def test_truths_as_numpy(name: str) -> None:
    rows = all_pairs_of_special()
    bits, values = run(eight_lanes(TRUTHS[name]), rows)
    assert bits == in_numpy(TRUTHS[name], rows)[0]
    assert (values == 77.0).all()  # nothing is stored


@eight_lanes
def not_less(rows: Any, numbers: Any) -> Any:
    return rows[2] >= numbers[0], rows[1] * 2.0


@eight_lanes
def picked(rows: Any, numbers: Any) -> Any:
    return rows[0] > 0.0, larger(smaller(rows[0], numbers[0]), numbers[1])


@kernel
def bits_of(rows, node, number, out):  # type: ignore[no-untyped-def]
    return not_less(rows, node, (number,), out)


@kernel
def picked_of(rows, low, high, out):  # type: ignore[no-untyped-def]
    return picked(rows, 0, (high, low), out)


def test_lane_is_bit_and_node_is_row() -> None:
    rows = np.arange(3 * 5 * LANES, dtype=np.float32).reshape(3, 5, LANES)
    out = np.zeros(LANES, dtype=np.float32)
    for node in range(3):
        for k in range(LANES):
            bits = bits_of(rows, node, rows[node, 2, k], out)
            assert bits == (0xFF << k) & 0xFF
            np.testing.assert_array_equal(out, 2.0 * rows[node, 1])


def test_comparison_with_nan_is_false_and_second_is_taken() -> None:
    rows = np.full((1, 1, LANES), np.nan, dtype=np.float32)
    rows[0, 0, :3] = [5.0, -5.0, np.inf]
    out = np.zeros(LANES, dtype=np.float32)
    assert picked_of(rows, np.float32(-1.0), np.float32(2.0), out) == 0b101
    assert out.tolist() == [2.0, -1.0, 2.0] + [2.0] * 5


@kernel
def lowest(bits):  # type: ignore[no-untyped-def]
    return lowest_bit(bits)


@kernel
def count(bits):  # type: ignore[no-untyped-def]
    return count_bits(bits)


def test_bits() -> None:
    for bits in (1, 2, 6, 0x80, 0xFF, 0b10100, 1 << 40):
        assert lowest(bits) == bin(bits)[::-1].index("1")
        assert count(bits) == bin(bits).count("1")
    assert count(0) == 0
