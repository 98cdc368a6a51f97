"""The hierarchical spatial hash table of [Mirtich1997] section 2, from scratch or with coherence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from impinge.broadphase.broad_phase import BroadPhase, Edit, Statistics
from impinge.broadphase.bucket_table import empty_bucket_table
from impinge.broadphase.coherent_hash import (
    CoherentTable,
    Stored,
    drop_removed,
    empty_coherent_table,
    hash_moved,
)
from impinge.broadphase.hash_levels import (
    automatic_resolutions,
    half_margin,
    inverses_of,
    with_all_of_space,
)
from impinge.broadphase.pair_keys import PairChange, change_by, change_to
from impinge.broadphase.standard_hash import hash_all
from impinge.geometry.cast import Floats, real_array

_FEW_EVERYWHERE = 8
"""So many boxes may be close to all others before resolutions are chosen anew."""


@dataclass(frozen=True)
class HashStatistics(Statistics):
    """What the last update of a spatial hash took."""

    close: int
    """Pairs with a common cell at the coarser one of their resolutions; each was compared."""
    cells: int
    """Cells that were looked up (from scratch) or newly entered (with coherence)."""
    outside: int
    """Boxes for which no resolution was planned: too large, too small or between two."""
    everywhere: int
    """Boxes that are so large that they count as close to all others."""

    @property
    def close_apart(self) -> int:
        """Close pairs that did not overlap: what a hash culls less than a comparison of all boxes."""
        return self.close - self.overlapping


class SpatialHash(BroadPhase):
    """Cells of several sizes, looked up by hashing: time in proportion to boxes and close pairs, however they lie.

    Parameters
    ----------
    coherent:
        Whether boxes stay in their cells from update to update.  If not, all are stored anew each time.
    resolutions:
        Sides of the cells.  If none are given they follow from the boxes, and are chosen anew when these
        have become too different.
    alpha, beta:
        A box is stored in cells with ``alpha <= longest side / side of the cell <= beta``, where 0 < alpha < 1 <= beta.
        Boxes beyond the resolutions are stored too, at some loss of speed.
    margin:
        As for all broad phases.
    """

    def __init__(
        self,
        *,
        coherent: bool = True,
        resolutions: ArrayLike | None = None,
        alpha: float | None = None,
        beta: float = 1.0,
        margin: float = 0.0,
    ) -> None:
        super().__init__(margin=margin)
        if alpha is not None and not 0.0 < alpha < 1.0:
            raise ValueError(f"alpha is {alpha}; it must be between 0 and 1")
        if not 1.0 <= beta < np.inf:
            raise ValueError(f"beta is {beta}; it must be a finite number, 1 or more")
        self._coherent = bool(coherent)
        self._given_alpha = None if alpha is None else float(alpha)
        self._alpha = 0.5 if alpha is None else float(alpha)
        self._beta = float(beta)
        self._half_margin = half_margin(self._margin)
        self._automatic = resolutions is None
        self._plan_is_poor = self._automatic
        self._resolutions = with_all_of_space(np.ones(1) if resolutions is None else _as_resolutions(resolutions))
        self._inverses = inverses_of(self._resolutions)
        self._table = empty_bucket_table()
        self._kept = empty_coherent_table(0, len(self._resolutions))
        self._statistics = HashStatistics(0, 0, 0, 0, 0, 0)

    @property
    def resolutions(self) -> Floats:
        """Sides of the cells, from coarse to fine."""
        return self._resolutions[1:].copy()

    @property
    def alpha(self) -> float:
        return self._alpha

    @property
    def beta(self) -> float:
        return self._beta

    @property
    def statistics(self) -> HashStatistics:
        return self._statistics

    def _advance(self, edit: Edit) -> PairChange:
        planned_anew = self._plan_is_poor and self._plan()
        if not self._coherent:
            change, close, cells, outside, everywhere = self._from_scratch()
        else:
            change, close, cells, outside, everywhere = self._with_coherence(edit, planned_anew)
        self._statistics = HashStatistics(close, len(change.now), close, cells, outside, everywhere)
        self._plan_is_poor = self._automatic and (4 * outside > len(self) or everywhere > _FEW_EVERYWHERE)
        return change

    def _plan(self) -> bool:
        """Choose resolutions for the boxes as they are now; says whether they are new ones."""
        self._plan_is_poor = False
        resolutions, alpha = automatic_resolutions(self._rows, self._margin, self._given_alpha, self._beta)
        resolutions = with_all_of_space(resolutions)
        if alpha == self._alpha and np.array_equal(resolutions, self._resolutions):
            return False
        self._alpha, self._resolutions, self._inverses = alpha, resolutions, inverses_of(resolutions)
        return True

    def _from_scratch(self) -> tuple[PairChange, int, int, int, int]:
        now, self._table, close, cells, outside, everywhere = hash_all(
            self._ids, self._rows, self._fixed, self._margin, self._half_margin,
            self._resolutions, self._inverses, self._alpha, self._beta, self._table,
        )  # fmt: skip
        return change_to(self._keys, np.sort(now)), close, cells, outside, everywhere

    def _with_coherence(self, edit: Edit, planned_anew: bool) -> tuple[PairChange, int, int, int, int]:
        lost = np.empty(0, dtype=np.int64)
        if planned_anew:
            self._kept = empty_coherent_table(len(self), len(self._resolutions))
        else:
            if edit.removed_some:
                lost = drop_removed(self._kept, edit.numbers, self._last_ids)
            self._kept = _edited(self._kept, edit, len(self))
        self._kept, began, ended, cells, outside, everywhere = hash_moved(
            self._ids, self._rows, self._fixed, self._margin, self._half_margin,
            self._resolutions, self._inverses, self._alpha, self._beta, self._kept,
        )  # fmt: skip
        if planned_anew:  # an empty table takes all pairs for new ones
            change = change_to(self._keys, np.sort(began))
        else:
            change = change_by(self._keys, began, np.concatenate([lost, ended]))
        return change, int(self._kept.close.pairs.size[0]), cells, outside, everywhere


def _edited(kept: CoherentTable, edit: Edit, count: int) -> CoherentTable:
    """Rows of removed boxes taken out, rows for new ones added."""
    if len(edit.numbers) == edit.kept == count:
        return kept
    stays = edit.numbers >= 0
    new = empty_coherent_table(count - edit.kept, kept.stored.cells.shape[1]).stored
    stored = (np.concatenate([rows[stays], more]) for rows, more in zip(kept.stored, new, strict=True))
    return kept._replace(stored=Stored(*stored))


def _as_resolutions(value: ArrayLike) -> Floats:
    """From coarse to fine, whatever the order given."""
    resolutions = np.atleast_1d(real_array(value, "resolutions"))
    if resolutions.ndim != 1 or len(resolutions) == 0:
        raise ValueError(f"resolutions: expected shape (n,) with n at least 1, got {np.shape(value)}")
    if not ((resolutions > 0.0) & (resolutions < np.inf)).all():
        raise ValueError(f"resolutions are {resolutions.tolist()}; they must be positive and finite")
    return np.unique(resolutions)[::-1]
