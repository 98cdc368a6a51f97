# mypy: allow-untyped-defs, allow-incomplete-defs
"""Brute force: every pair of boxes is compared, at every update.

The reference implementation for all other broad phases.
"""

from __future__ import annotations

import numpy as np

from impinge.arrays import Bools, Floats
from impinge.broadphase.boxes import overlap
from impinge.broadphase.broad_phase import BroadPhase, Edit, Ids, Statistics
from impinge.broadphase.pair_keys import Keys, PairChange, change_to, first_keys, new_keys, pair_key
from impinge.kernels.interruptible import in_parts
from impinge.kernels.jit import inner, kernel

_FIRST_PAIRS = 1 << 22
"""Pairs of boxes to begin with; each takes a few nanoseconds."""


@inner
def compare_all(first, stop, ids, rows, fixed, margin, keys):
    """How many pairs overlap, of these boxes and those after them, and how many were compared.

    Writes the keys of the first ones, as many as there is room for.
    """
    found, tested = 0, 0
    for i in range(first, stop):
        for j in range(i + 1, len(ids)):
            if fixed[i] and fixed[j]:
                continue
            tested += 1
            if overlap(rows, i, j, margin):
                if found < len(keys):
                    keys[found] = pair_key(ids, i, j)
                found += 1
    return found, tested


@kernel("int64, int64, int64[::1], float64[:, ::1], boolean[::1], float64, int64")
def overlaps_from(first, stop, ids, rows, fixed, margin, guess):
    """Sorted keys of overlapping pairs, except of two fixed objects, whose former box is one from first to stop.

    And how many were compared.  ``guess`` is how many there may be: if there are more, all is done twice.
    """
    keys = new_keys(guess)
    found, tested = compare_all(first, stop, ids, rows, fixed, margin, keys)
    if found > guess:
        keys = new_keys(found)
        compare_all(first, stop, ids, rows, fixed, margin, keys)
    return first_keys(keys, found), tested


def all_overlaps(ids: Ids, rows: Floats, fixed: Bools, margin: float, guess: int) -> tuple[Keys, int]:
    """Sorted keys of all overlapping pairs, except of two fixed objects; and how many were compared."""
    found, compared = [np.empty(0, dtype=np.int64)], 0
    for part in in_parts(len(ids), max(1, _FIRST_PAIRS // (len(ids) or 1))):
        keys, tested = overlaps_from(part.start, part.stop, ids, rows, fixed, margin, guess)
        found.append(keys)
        compared += tested
    return np.concatenate(found), compared


class BruteForce(BroadPhase):
    """Compares every pair of boxes: quadratic time, and nothing that could go wrong."""

    def _forget(self) -> None:
        self._tested = 0

    def _advance(self, edit: Edit) -> PairChange:
        guess = 2 * len(edit.keys) + 8 * len(self)
        now, self._tested = all_overlaps(self._ids, self._rows, self._fixed, self._margin, guess)
        return change_to(edit.keys, now)

    @property
    def statistics(self) -> Statistics:
        return Statistics(tested=self._tested, overlapping=len(self._last.keys))
