"""Brute force: every pair of boxes is compared, at every update.  The referee of all other broad phases."""

from __future__ import annotations

from impinge.broadphase.boxes import overlap
from impinge.broadphase.broad_phase import BroadPhase, Edit, Statistics
from impinge.broadphase.pair_keys import PairChange, change_to, first_keys, new_keys, pair_key, with_room
from impinge.jit import kernel


@kernel
def all_overlaps(ids, rows, fixed, margin):
    """Sorted keys of all overlapping pairs, except of two fixed objects; and how many were compared."""
    keys = new_keys(len(ids))
    found, tested = 0, 0
    for i in range(len(ids)):
        for j in range(i + 1, len(ids)):
            if fixed[i] and fixed[j]:
                continue
            tested += 1
            if overlap(rows, i, j, margin):
                keys = with_room(keys, found)
                keys[found] = pair_key(ids, i, j)
                found += 1
    return first_keys(keys, found), tested


class BruteForce(BroadPhase):
    """Compares every pair of boxes: quadratic time, and nothing that could go wrong."""

    _tested = 0

    def _advance(self, edit: Edit) -> PairChange:
        now, self._tested = all_overlaps(self._ids, self._rows, self._fixed, self._margin)
        return change_to(self._keys, now)

    @property
    def statistics(self) -> Statistics:
        return Statistics(tested=self._tested, overlapping=len(self._keys))
