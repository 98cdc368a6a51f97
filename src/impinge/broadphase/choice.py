"""Broad phases by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from impinge.broadphase.broad_phase import BroadPhase


def _brute(**options: Any) -> BroadPhase:
    from impinge.broadphase.brute_force import BruteForce

    return BruteForce(**options)


MEMBERS: dict[str, Callable[..., BroadPhase]] = {"brute": _brute}
"""Each is imported when it is chosen: its kernels are compiled or loaded by then."""


def broad_phase(name: str, **options: Any) -> BroadPhase:
    """A broad phase by its name, with the options of its class.

    >>> broad_phase("brute", margin=0.5)
    BruteForce(0 objects, 0 pairs)
    """
    if name not in MEMBERS:
        raise ValueError(f"there is no broad phase {name!r}; there are {', '.join(map(repr, MEMBERS))}")
    return MEMBERS[name](**options)
