"""Libraries that are timed for all contacts: impinge, and coal and python-fcl where they are installed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from rich.progress import track

import impinge
from impinge.arrays import Floats
from impinge.errors import MissingExtra
from impinge.lab.bench.peers import Coal, Fcl, PairQueries
from impinge.mesh.mesh import Mesh

OURS, COAL, FCL = "impinge", "coal", "python-fcl"

_STRETCH = 32
"""Steps of a path that one contender walks before it is another's turn."""

Contender = Callable[[Floats], int]
"""From a pose (4, 4) of the mover to the number of contacts."""


@dataclass(frozen=True)
class Score:
    """Of one contender over all poses."""

    seconds: float
    contacts: int


def contenders(mover: Mesh, fixed: Mesh) -> dict[str, Contender]:
    """Ready to be called: trees are built, kernels compiled."""
    found: dict[str, Contender] = {OURS: lambda pose: len(impinge.contacts(mover, fixed, pose))}
    for name, peer in ((COAL, Coal), (FCL, Fcl)):
        try:
            found[name] = _counted(peer(mover, fixed))
        except MissingExtra:
            continue
    for ask in found.values():
        ask(np.eye(4))
    return found


def _counted(bodies: PairQueries) -> Contender:
    rest = np.eye(4)
    return lambda pose: len(bodies.contacts(pose, rest))


def in_turn(candidates: Mapping[str, Contender], poses: Floats, what: str) -> dict[str, Score]:
    """Each candidate walks a stretch of the path, then the next one walks the same stretch.

    So all share whatever else the machine does, and none finds its data driven out of the caches at every step.
    """
    seconds = dict.fromkeys(candidates, 0.0)
    contacts = dict.fromkeys(candidates, 0)
    for first in track(range(0, len(poses), _STRETCH), what, transient=True, disable=len(poses) < 2):
        stretch = [np.ascontiguousarray(pose) for pose in poses[first : first + _STRETCH]]
        for name, ask in candidates.items():
            start = time.perf_counter()
            contacts[name] += sum(map(ask, stretch))
            seconds[name] += time.perf_counter() - start
    return {name: Score(seconds[name], contacts[name]) for name in candidates}
