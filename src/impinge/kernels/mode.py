"""How kernels run: ready-made from a library, compiled here by Numba, or as plain Python.

The environment decides.  ``NUMBA_DISABLE_JIT=1`` and ``NUMBA_BOUNDSCHECK=1`` mean what they mean to Numba.
``IMPINGE_KERNELS=jit`` leaves the library alone, ``=library`` insists on it, ``=x86-64`` and other feature levels on
that one; without it the library is used if there is one that fits.  Numba is not imported to tell.
"""

from __future__ import annotations

import os
import sys
from functools import cache

from impinge.errors import MissingExtra
from impinge.kernels.library.loader import Library, Unusable, load
from impinge.kernels.messages import say

_CHOICE = "IMPINGE_KERNELS"
JIT, LIBRARY = "jit", "library"
"""What the variable may say, besides a feature level."""

building = False
"""Whether kernels are compiled for a library, and none is called: set by the processes of the builder."""


@cache
def without_compiler() -> bool:
    """Whether kernels run as plain Python (NUMBA_DISABLE_JIT=1)."""
    return _is_set("DISABLE_JIT")


@cache
def with_bounds_checks() -> bool:
    """Whether kernels check every index (NUMBA_BOUNDSCHECK=1)."""
    return _is_set("BOUNDSCHECK")


def _is_set(option: str) -> bool:
    if (numba := sys.modules.get("numba.core.config")) is not None:
        return bool(getattr(numba, option))
    try:
        return bool(int(os.environ.get(f"NUMBA_{option}") or 0))
    except ValueError:  # Numba warns of it, and does as if it were not there
        return False


@cache
def library() -> Library | None:
    """The library that kernels come from, or None if they are compiled here or run as plain Python."""
    choice = os.environ.get(_CHOICE, "")
    if without_compiler() or with_bounds_checks() or choice == JIT:
        return None
    try:
        return load(None if choice in ("", LIBRARY) else choice)
    except Unusable as why:
        if choice:
            raise ImportError(f"{_CHOICE}={choice}, but {why}") from None
        if not _numba_is_installed():
            raise MissingExtra(f"{why}; to compile the kernels instead", "numba", "jit") from None
        if why.is_worth_telling:
            say(f"impinge: kernels are compiled by Numba, because {why}")
        return None


def _numba_is_installed() -> bool:
    from importlib.util import find_spec

    try:
        return find_spec("numba") is not None
    except (ImportError, ValueError):
        return False
