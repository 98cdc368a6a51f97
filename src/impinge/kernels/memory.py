"""Numbers in memory, as kernels see them: a table is nothing but the address where it begins.

An array travels through compiled code as seven or more values (data, shape, strides, owner), and a traversal hands
some twenty arrays from function to function.  That is what the first compile spends its time on.  The rows of a
table have a shape that is known when the kernel is compiled, so the address is enough.  The kernel for contacts
compiles in 9 s instead of 17, the one for distances in 14 instead of 20.  Tables are indexed like C-ordered arrays,
except that negative indices do not count from the end and that there are no slices.

Under NUMBA_BOUNDSCHECK tables are made as arrays, so that indices beyond the end are noticed; without the compiler they
are the numpy arrays themselves.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from impinge.kernels.jit import in_compiled_code
from impinge.kernels.mode import without_compiler

_first_byte = ctypes.c_char.from_buffer


def address_of(array: Any) -> Any:
    """Where the numbers of a contiguous array are: an integer costs a kernel call 30 ns, an array 100.

    In plain Python the array itself.
    """
    if without_compiler():
        return array
    try:
        return ctypes.addressof(_first_byte(array))  # 0.4 us
    except (TypeError, ValueError):  # not writable, or empty
        if not array.flags.c_contiguous:
            raise ValueError(f"an array of shape {array.shape} is not contiguous") from None
        return array.ctypes.data  # 1.5 us


def table(dtype: Any, *row_shape: int) -> Callable[[Any, Any], Any]:
    """Make ``f(address, count)``: the table of so many rows of this shape at an address that its owner keeps alive."""
    if without_compiler():
        return lambda address, count: address

    def make() -> Any:
        from impinge.kernels.with_numba.tables import table_at

        return table_at(dtype, row_shape)

    return in_compiled_code(make, "a table")  # type: ignore[no-any-return]
