"""How kernels run: compiled, compiled with bounds checks, or as plain Python.  Numba is not imported to tell."""

from __future__ import annotations

import os
import sys


def without_compiler() -> bool:
    """Whether kernels run as plain Python (NUMBA_DISABLE_JIT=1)."""
    return _is_set("DISABLE_JIT")


def with_bounds_checks() -> bool:
    """Whether kernels check every index (NUMBA_BOUNDSCHECK=1)."""
    return _is_set("BOUNDSCHECK")


def _is_set(option: str) -> bool:
    numba = sys.modules.get("numba.core.config")
    return bool(int(os.environ.get(f"NUMBA_{option}") or 0) if numba is None else getattr(numba, option))
