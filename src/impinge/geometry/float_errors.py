"""What numpy does where arithmetic underflows or overflows: always the same, whatever ``np.seterr`` says.

A product that vanishes is no error here: bounds are rounded outward, and what is smaller than that plays no part.  A
program that has ``np.seterr(all="raise")`` for its own arithmetic would get a FloatingPointError from ours.  So the
public functions that compute with numpy, and all that is derived from a body (``mesh.memo``), do so in numpy's
default state.  Where an infinity or NaN is expected, it is silenced in the place where that is known.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
T = TypeVar("T")

_DEFAULTS: dict[str, Any] = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}


def default_state() -> np.errstate:
    """A context in numpy's default state."""
    return np.errstate(**_DEFAULTS)


def default_float_errors(function: Callable[P, T]) -> Callable[P, T]:
    """The function in numpy's default state (``np.errstate`` itself would share one state among threads)."""

    @wraps(function)
    def in_default_state(*arguments: P.args, **options: P.kwargs) -> T:
        with default_state():
            return function(*arguments, **options)

    return in_default_state
