"""Which broad phases would take too long with so many boxes, known before they are tried.

Trying is no way: of the peers, some would take hours to take in 100,000 bodies, and some more memory than there is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from impinge.arrays import Floats
from impinge.lab.bench.broad_peers import Finder
from impinge.lab.scenes.boxes import box_world

_FEWEST = 100
"""Boxes; fewer are never too many."""


class Cost(NamedTuple):
    """Seconds."""

    make: float
    """To take in the boxes of a first frame."""
    frame: float

    @property
    def is_hopeless(self) -> bool:
        return self.make > 30.0 or self.frame > 3.0


_OUTRUN = 3.0
"""So many times the cost of the best with 10,000 boxes: with 100,000, minutes would be spent on what cannot win."""

_MOST = {"coal, tree in an array": 10_000}
"""Boxes; when 100,000 go back from the last frame to the first one, its tree takes minutes for one update."""

_NOTHING = Cost(0.0, 0.0)


def seconds_of(find: Finder, boxes: Floats) -> float:
    start = time.perf_counter()
    find(boxes)
    return time.perf_counter() - start


class Costs:
    """What is known of the costs in each world, for each number of boxes."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, int], Cost] = {}

    def note(self, name: str, world: str, count: int, cost: Cost) -> None:
        self._known[name, world, count] = cost

    def expected(self, name: str, make: Callable[[Floats], Finder], world: str, count: int) -> Cost:
        """From a tenth and a hundredth of the boxes, which are tried if they are not known."""
        if count < 10 * _FEWEST:
            return _NOTHING
        tenth = self._of(name, make, world, count // 10)
        if tenth.is_hopeless or count < 100 * _FEWEST:
            return Cost(10.0 * tenth.make, 10.0 * tenth.frame)
        hundredth = self._of(name, make, world, count // 100)
        return Cost(_continued(hundredth.make, tenth.make), _continued(hundredth.frame, tenth.frame))

    def is_outrun(self, name: str, names: Iterable[str], world: str, count: int) -> bool:
        """Whether it took much longer than the best of some with a tenth of the boxes, or is known to get lost."""
        if count > _MOST.get(name, count):
            return True
        known = {other: self._known.get((other, world, count // 10)) for other in (name, *names)}
        own = known[name]
        best = min((cost.frame for cost in known.values() if cost is not None), default=np.inf)
        return own is not None and count >= 1000 * _FEWEST and own.frame > _OUTRUN * best

    def _of(self, name: str, make: Callable[[Floats], Finder], world: str, count: int) -> Cost:
        if (name, world, count) not in self._known:
            expected = self.expected(name, make, world, count)
            self.note(name, world, count, expected if expected.is_hopeless else _tried(make, world, count))
        return self._known[name, world, count]


def _continued(hundredth: float, tenth: float) -> float:
    """The next of a series.  Growth is linear at least, and quadratic at most."""
    return min(max(10.0, tenth / max(hundredth, 1e-6)), 100.0) * tenth


def _tried(make: Callable[[Floats], Finder], world: str, count: int) -> Cost:
    scene = box_world(world, count)
    start = time.perf_counter()
    find = make(scene.frame(0))
    made = time.perf_counter() - start
    find(scene.frame(1))  # compiles, and warms the caches
    return Cost(made, min(seconds_of(find, scene.frame(number)) for number in (2, 3)))
