"""The hierarchical spatial hash table of [Mirtich1997] section 2, from scratch or with coherence.

Boxes are stored in an order of space: then what belongs to neighbours lies together in memory, and much of it is in the
cache when it is needed.  A box's label is its place in this order; objects that are added later have the labels after.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.arrays import Floats, real_array
from impinge.broadphase.aabb_tree.curve_order import curve_order
from impinge.broadphase.broad_phase import BroadPhase, Edit, Ids, Statistics
from impinge.broadphase.pair_keys import PairChange, change_by, change_to
from impinge.broadphase.spatial_hashing.bucket_table import BucketTable, empty_bucket_table
from impinge.broadphase.spatial_hashing.coherent_hash import (
    Stored,
    drop_removed,
    empty_coherent_table,
    hash_moved,
    with_parts,
)
from impinge.broadphase.spatial_hashing.hash_levels import (
    STRETCH,
    automatic_resolutions,
    half_margin,
    inverses_of,
    resolutions_for,
    sizes_of,
    survey,
    with_all_of_space,
)
from impinge.broadphase.spatial_hashing.standard_hash import hash_all
from impinge.geometry.float_errors import default_float_errors

_FEW_EVERYWHERE = 8
"""So many boxes may be close to all others before resolutions are chosen anew."""

_SLACK = 1.5
"""How far beyond alpha and beta sizes may be before that.

The coarsest resolution is that of the largest box as it was.  Boxes that breathe, as those of swept volumes do, would
otherwise be stored anew in every other update.
"""


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
        have become too different.  If some are given, coarser ones are added for boxes that are far too large for them.
    alpha, beta:
        A box is stored in cells with ``alpha <= longest side / side of the cell <= beta``, where 0 < alpha < 1 <= beta.
        Boxes beyond the resolutions are stored too, at some loss of speed.
    margin:
        As for all broad phases.
    """

    @default_float_errors
    def __init__(
        self,
        *,
        coherent: bool = True,
        resolutions: ArrayLike | None = None,
        alpha: float | None = None,
        beta: float = 1.0,
        margin: float = 0.0,
    ) -> None:
        if alpha is not None and not 0.0 < alpha < 1.0:
            raise ValueError(f"alpha is {alpha}; it must be between 0 and 1")
        if not 1.0 <= beta < np.inf:
            raise ValueError(f"beta is {beta}; it must be a finite number, 1 or more")
        self._coherent = bool(coherent)
        self._given_alpha = None if alpha is None else float(alpha)
        self._beta = float(beta)
        self._given = None if resolutions is None else _as_resolutions(resolutions)
        super().__init__(margin=margin)
        self._half_margin = half_margin(self._margin)

    def _forget(self) -> None:
        self._planned_for = 0
        self._alpha = 0.5 if self._given_alpha is None else self._given_alpha
        self._order = np.empty(0, dtype=np.int64)  # the number of each label
        self._resolutions = with_all_of_space(np.ones(1) if self._given is None else self._given)
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
        relabelled = self._relabel(edit)
        outside, everywhere = self._survey()
        anew = self._suits_badly(outside, everywhere) and self._plan()
        if anew:
            outside, everywhere = self._survey()
        change, close, cells = (
            self._with_coherence(edit, relabelled, anew) if self._coherent else self._from_scratch(edit)
        )
        self._statistics = HashStatistics(int(close), len(change.now), int(close), int(cells), outside, everywhere)
        return change

    def _survey(self, slack: float = 1.0) -> tuple[int, int]:
        counts: tuple[int, int] = survey(
            self._rows, self._half_margin, self._resolutions, self._alpha / slack, self._beta * slack
        )
        return counts

    def _suits_badly(self, outside: int, everywhere: int) -> bool:
        """Whether resolutions and order should be chosen anew, because boxes have changed or many have come."""
        if everywhere > _FEW_EVERYWHERE or len(self) > 2 * self._planned_for:
            return True
        if self._given is not None or 4 * outside <= len(self):
            return False
        return 4 * self._survey(_SLACK)[0] > len(self)

    def _relabel(self, edit: Edit) -> _Relabelled | None:
        """Labels for the objects as they are now; None if none came or went."""
        if edit.kept == len(edit.numbers) == len(self):
            return None
        numbers = edit.numbers[self._order]
        relabelled = _Relabelled(numbers >= 0, edit.ids[self._order])
        self._order = np.concatenate([numbers[relabelled.stays], np.arange(edit.kept, len(self))])
        return relabelled

    @default_float_errors
    def _plan(self) -> bool:
        """Choose resolutions and an order for the boxes as they are now; False if all stays as it is."""
        many_more = len(self) > 2 * self._planned_for
        self._planned_for = len(self)
        resolutions, alpha = self._chosen_resolutions()
        if not many_more and alpha == self._alpha and np.array_equal(resolutions, self._resolutions):
            return False
        self._alpha, self._resolutions, self._inverses = alpha, resolutions, inverses_of(resolutions)
        self._order = curve_order(self._rows, np.arange(len(self)))[0].astype(np.int64)
        return True

    def _chosen_resolutions(self) -> tuple[Floats, float]:
        if self._given is None:
            resolutions, alpha = automatic_resolutions(self._rows, self._margin, self._given_alpha, self._beta)
            return with_all_of_space(resolutions), alpha
        sizes = sizes_of(self._rows, self._margin)
        too_large = sizes[sizes > STRETCH * self._beta * self._given[0]]
        coarser = resolutions_for(too_large, self._alpha, self._beta)
        return with_all_of_space(np.concatenate([coarser, self._given])), self._alpha

    def _kernel_arguments(self, *more: Any) -> tuple[Any, ...]:
        return (
            self._ids[self._order], self._rows[self._order], self._fixed[self._order], self._margin, self._half_margin,
            self._resolutions, self._inverses, self._alpha, self._beta, *more,
        )  # fmt: skip

    def _from_scratch(self, edit: Edit) -> tuple[PairChange, int, int]:
        guess = 2 * len(edit.keys) + 8 * len(self)
        now, table, close, cells = hash_all(*self._kernel_arguments(self._table, guess))
        self._table = BucketTable(*table)
        return change_to(edit.keys, np.sort(now)), close, cells

    def _with_coherence(self, edit: Edit, relabelled: _Relabelled | None, anew: bool) -> tuple[PairChange, int, int]:
        lost = np.empty(0, dtype=np.int64)
        if anew:
            self._kept = empty_coherent_table(len(self), len(self._resolutions))
        elif relabelled is not None:
            lost = drop_removed(self._kept, relabelled.labels, relabelled.ids)
            self._kept = self._kept._replace(stored=_edited(self._kept.stored, relabelled.stays, len(self)))
        parts, began, ended, cells = hash_moved(*self._kernel_arguments(self._kept))
        self._kept = with_parts(self._kept, parts)
        if anew:  # an empty table takes all pairs for new ones
            change = change_to(edit.keys, np.sort(began))
        else:
            change = change_by(edit.keys, began, np.concatenate([lost, ended]))
        return change, int(self._kept.close.pairs.size[0]), cells


class _Relabelled(NamedTuple):
    """What became of the labels of the last update."""

    stays: NDArray[np.bool_]
    ids: Ids

    @property
    def labels(self) -> NDArray[np.int64]:
        """The new label of each, or -1: those that stay move up."""
        return np.where(self.stays, np.cumsum(self.stays) - 1, -1)


def _edited(stored: Stored, stays: NDArray[np.bool_], count: int) -> Stored:
    """Rows of removed boxes taken out, rows for new ones added."""
    new = empty_coherent_table(count - int(np.count_nonzero(stays)), stored.cells.shape[1]).stored
    return Stored(*(np.concatenate([rows[stays], more]) for rows, more in zip(stored, new, strict=True)))


def _as_resolutions(value: ArrayLike) -> Floats:
    """From coarse to fine, whatever the order given."""
    resolutions = np.atleast_1d(real_array(value, "resolutions"))
    if resolutions.ndim != 1 or len(resolutions) == 0:
        raise ValueError(f"resolutions: expected shape (n,) with n at least 1, got {np.shape(value)}")
    if not ((resolutions > 0.0) & (resolutions < np.inf)).all():
        raise ValueError(f"resolutions are {resolutions.tolist()}; they must be positive and finite")
    return np.unique(resolutions)[::-1]
