"""Tables: numbers at an address, indexed like arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba.core import config
from numba.core.errors import TypingError

from impinge.kernels.jit import inner, kernel
from impinge.kernels.memory import address_of, table

plain = table(np.float64)
boxes = table(np.float32, 3, 4)
small = table(np.int8)
flags = table(np.bool_)


@inner
def middle(row: Any) -> Any:
    """A part of a table is a table."""
    return row[1, 2] + row[1][3]


@kernel
def read(address: Any, count: Any) -> Any:
    rows = boxes(address, count)
    total = 0.0
    for i in range(count):
        total += rows[i, 2, 3] + middle(rows[i])
    return total


@kernel
def write(address: Any, count: Any, value: Any) -> None:
    rows = boxes(address, count)
    for i in range(count):
        rows[i, 0, 1] = value + i
        rows[i, 1, 1] += 2


@kernel
def convert(small_address: Any, flag_address: Any, number: Any) -> None:
    small(small_address, 2)[1] = number
    flags(flag_address, 2)[1] = number > 3


def test_reading() -> None:
    rows = np.random.default_rng(1).random((5, 3, 4)).astype(np.float32)
    expected = sum(row[2, 3] + (row[1, 2] + row[1, 3]) for row in rows.astype(np.float32))
    assert read(address_of(rows), 5) == pytest.approx(expected, rel=1e-6)


def test_writing() -> None:
    rows = np.zeros((4, 3, 4), dtype=np.float32)
    write(address_of(rows), 3, 10)
    expected = np.zeros_like(rows)
    expected[:3, 0, 1] = 10, 11, 12
    expected[:3, 1, 1] = 2
    assert np.array_equal(rows, expected)


def test_other_types() -> None:
    numbers, truths = np.zeros(3, dtype=np.int8), np.zeros(3, dtype=np.bool_)
    convert(address_of(numbers), address_of(truths), 7)
    assert numbers.tolist() == [0, 7, 0]
    assert truths.tolist() == [False, True, False]


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="plain Python counts no dimensions")
def test_too_many_indices_are_refused() -> None:
    @kernel
    def wrong(address: Any) -> Any:
        return plain(address, 3)[1, 2]

    with pytest.raises(TypingError):
        wrong(address_of(np.zeros(3)))


@pytest.mark.skipif(not config.BOUNDSCHECK or bool(config.DISABLE_JIT), reason="only where bounds are checked")
def test_bounds_are_checked() -> None:
    rows = np.zeros((4, 3, 4), dtype=np.float32)
    write(address_of(rows), 4, 1.0)

    @kernel
    def beyond(address: Any) -> Any:
        return boxes(address, 4)[4, 0, 0]

    with pytest.raises(IndexError):
        beyond(address_of(rows))
