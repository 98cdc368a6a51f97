"""Floats that count what is done with them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np


class Tally:
    """Of additions (and subtractions), multiplications, divisions, square roots and comparisons."""

    def __init__(self) -> None:
        self.counts = dict.fromkeys(("+", "*", "/", "sqrt", "<"), 0)

    @property
    def arithmetic(self) -> int:
        """All but comparisons, each as one operation."""
        return sum(number for name, number in self.counts.items() if name != "<")

    @property
    def comparisons(self) -> int:
        return self.counts["<"]


tally = Tally()
"""What all counted floats write on."""


class CountedFloat(float):
    """A float whose results are counted floats too; a change of sign and a magnitude count as nothing."""

    __slots__ = ()

    def __neg__(self) -> CountedFloat:
        return CountedFloat(float.__neg__(self))

    def __abs__(self) -> CountedFloat:
        return CountedFloat(float.__abs__(self))

    __hash__ = float.__hash__


def _counted(name: str, method: str) -> Callable[[Any, Any], Any]:
    plain = getattr(float, method)

    def operation(self: Any, other: Any) -> Any:
        found = plain(self, float(other))
        tally.counts[name] += 1
        return found if isinstance(found, bool) else CountedFloat(found)

    return operation


for _name, _methods in {
    "+": ("add", "radd", "sub", "rsub"),
    "*": ("mul", "rmul"),
    "/": ("truediv", "rtruediv"),
    "<": ("lt", "le", "gt", "ge", "eq", "ne"),
}.items():
    for _method in _methods:
        setattr(CountedFloat, f"__{_method}__", _counted(_name, f"__{_method}__"))


class CountingMath:
    """Stands in for the module ``math``."""

    @staticmethod
    def sqrt(x: float) -> CountedFloat:
        tally.counts["sqrt"] += 1
        return CountedFloat(math.sqrt(x))


def counted(array: Any) -> Any:
    """A copy of an array of floats whose entries count; one of whole numbers as it is."""
    given = np.asarray(array)
    if given.dtype != np.float64:
        return array
    made = np.empty(given.shape, dtype=object)
    for place, value in np.ndenumerate(given):
        made[place] = CountedFloat(value)
    return made
