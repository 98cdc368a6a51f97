"""The broad phases by name, as users choose them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from impinge.arrays import shown
from impinge.broadphase.broad_phase import BroadPhase


def _tree(**options: Any) -> BroadPhase:
    from impinge.broadphase.aabb_tree.kept_tree import KeptTree

    return KeptTree(**options)


def _brute(**options: Any) -> BroadPhase:
    from impinge.broadphase.brute_force import BruteForce

    return BruteForce(**options)


def _sweep(**options: Any) -> BroadPhase:
    from impinge.broadphase.sweep_prune import SweepAndPrune

    return SweepAndPrune(**options)


def _hash(**options: Any) -> BroadPhase:
    from impinge.broadphase.spatial_hashing.spatial_hash import SpatialHash

    return SpatialHash(coherent=True, **options)


def _hash_standard(**options: Any) -> BroadPhase:
    from impinge.broadphase.spatial_hashing.spatial_hash import SpatialHash

    return SpatialHash(coherent=False, **options)


MEMBERS: dict[str, Callable[..., BroadPhase]] = {
    "tree": _tree,
    "brute": _brute,
    "sweep": _sweep,
    "hash": _hash,
    "hash-standard": _hash_standard,
}
"""Each is imported when it is first chosen, and its kernels with it."""


_FEW = 1000


def for_one_frame(count: int) -> str:
    """The name of the broad phase for so many boxes whose overlaps are wanted only once.

    For few of them the kernels of the AABB tree need not be compiled.
    """
    return "brute" if count <= _FEW else "auto"


def broad_phase(name: str = "auto", **options: Any) -> BroadPhase:
    """A broad phase by its name, with the options of its class.

    ``auto`` is the tree, which was the fastest for every number, size and motion of boxes that we measured (see the
    benchmark ``broad``).  It adapts to their motion, frame by frame, and its ``statistics`` say what it picked.

    Examples
    --------
    >>> broad_phase("sweep", margin=0.5)
    SweepAndPrune(0 objects, 0 pairs)
    """
    if isinstance(name, str) and name == "auto":
        name = "tree"
    if not isinstance(name, str) or name not in MEMBERS:
        raise ValueError(f"there is no broad phase {shown(name)}; there are 'auto', {', '.join(map(repr, MEMBERS))}")
    return MEMBERS[name](**options)
