"""How much memory the arrays of an object hold.

``tracemalloc`` does not see what kernels allocate, so the arrays are found, and each counts with the whole
allocation behind it, however small the part that it shows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np


def held_bytes(owner: object, *, without: Collection[str] = ()) -> int:
    """Bytes of all arrays that can be reached through attributes, tuples, lists and dictionaries.

    ``without`` names attributes that do not count, of the owner and of whatever it holds.

    >>> class Owner:
    ...     def __init__(self) -> None:
    ...         self.part = np.zeros(100)[:3]
    >>> held_bytes(Owner())
    800
    """
    found = _allocations(vars(owner), frozenset(without), set())
    return sum({id(memory): size for memory, size in found}.values())


def _allocations(value: Any, without: frozenset[str], seen: set[int]) -> Iterator[tuple[object, int]]:
    """What the arrays stand on, and its size."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        while isinstance(value.base, np.ndarray):
            value = value.base
        # Behind an array from a kernel stands what Numba allocated, which knows its size.
        yield (value, value.nbytes) if value.base is None else (value.base, getattr(value.base, "size", value.nbytes))
        return
    if hasattr(value, "_asdict"):  # a NamedTuple
        value = value._asdict()
    elif hasattr(value, "__dict__") and not isinstance(value, type):
        value = vars(value)
    if isinstance(value, dict):
        value = [part for name, part in value.items() if name not in without]
    if isinstance(value, (tuple, list)):
        for part in value:
            yield from _allocations(part, without, seen)
