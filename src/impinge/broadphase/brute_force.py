# mypy: allow-untyped-defs, allow-incomplete-defs
"""Brute force: every pair of boxes is compared, at every update.

The reference implementation for all other broad phases.
"""

from __future__ import annotations

from impinge.broadphase.boxes import overlap
from impinge.broadphase.broad_phase import BroadPhase, Edit, Statistics
from impinge.broadphase.pair_keys import PairChange, change_to, first_keys, new_keys, pair_key
from impinge.kernels.jit import inner, kernel


@inner
def compare_all(ids, rows, fixed, margin, keys):
    """How many pairs overlap and how many were compared; the keys of the first ones, as many as there is room for."""
    found, tested = 0, 0
    for i in range(len(ids)):
        for j in range(i + 1, len(ids)):
            if fixed[i] and fixed[j]:
                continue
            tested += 1
            if overlap(rows, i, j, margin):
                if found < len(keys):
                    keys[found] = pair_key(ids, i, j)
                found += 1
    return found, tested


@kernel
def all_overlaps(ids, rows, fixed, margin, guess):
    """Sorted keys of all overlapping pairs, except of two fixed objects; and how many were compared.

    ``guess`` is how many there may be: if there are more, all is done twice.
    """
    keys = new_keys(guess)
    found, tested = compare_all(ids, rows, fixed, margin, keys)
    if found > guess:
        keys = new_keys(found)
        compare_all(ids, rows, fixed, margin, keys)
    return first_keys(keys, found), tested


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
