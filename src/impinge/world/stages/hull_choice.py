"""Whether the hulls of a pair are tested before its trees: a rule for each pair, from measurements.

``python -m impinge.lab.bench choice`` measures what is said here; docs/methods/auto.md has the figures.

- Where distances up to a limit are asked for, always: hulls take the place of the long search for the nearest
  triangles, and make a frame four to eleven times as fast.
- For yes or no they pay as long as the kept plane answers.  Trees tell in about the same time that small bodies are
  apart, and quicker than hulls whose plane no longer separates.  So pairs of small meshes go to the trees, as do pairs
  with a yes in the last frame (their two triangles probably meet again), those that are new, and for some frames those
  for which no kept plane was enough twice in a row: they move too far from frame to frame, or their hulls overlap.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Bools
from impinge.world.pair_slots import PairSlots

FEWEST_TRIANGLES = 200
"""Of the larger one of two meshes."""
PAUSE = 8
"""Frames; a world that jumps then asks hulls twice in ten frames for nothing."""


def hulls_are_worth_it(kept: PairSlots, slots: NDArray[np.int64], triangles: NDArray[np.int64]) -> Bools:
    """Which pairs ask their hulls first, for yes or no; ``triangles`` are those of the larger body."""
    waits = kept.hull_waits[slots]
    kept.hull_waits[slots] = np.maximum(waits - 1, 0)
    return np.asarray((waits == 0) & ~kept.yes[slots] & (triangles >= FEWEST_TRIANGLES))


def learn(kept: PairSlots, slots: NDArray[np.int64], plane_held: Bools) -> None:
    """Remember of these pairs whether a kept plane was enough (there was none, or it failed)."""
    again = kept.hull_missed[slots] & ~plane_held
    kept.hull_waits[slots[again]] = PAUSE
    kept.hull_missed[slots] = ~plane_held & ~again
