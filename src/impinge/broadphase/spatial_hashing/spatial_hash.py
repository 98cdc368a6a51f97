"""The hierarchical spatial hash table of [Mirtich1997] section 2, from scratch or with coherence.

Boxes are stored in an order of space: then what belongs to neighbours lies together in memory, and much of it is in the
cache when it is needed.  A box's label is its place in this order; objects that are added later have the labels after.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.arrays import Floats, real_array
from impinge.broadphase.aabb_tree.curve_order import curve_order
from impinge.broadphase.broad_phase import BroadPhase, Edit, Ids, Statistics
from impinge.broadphase.pair_keys import PairChange, change_by, change_to
from impinge.broadphase.spatial_hashing.bucket_table import make_room, put_room
from impinge.broadphase.spatial_hashing.coherent_hash import (
    drop_removed,
    empty_close_pairs,
    empty_coherent_table,
    hash_moved,
    keep_boxes,
    make_room_for_close,
)
from impinge.broadphase.spatial_hashing.hash_levels import (
    STRETCH,
    HashedObjects,
    Survey,
    automatic_resolutions,
    half_margin,
    inverses_of,
    resolutions_for,
    sizes_of,
    survey,
    with_all_of_space,
)
from impinge.broadphase.spatial_hashing.standard_hash import NO_ROOM, StandardTable, hash_all
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
        self._anew = StandardTable()
        put_room(self._anew, 0, 0)
        self._kept, self._close = empty_coherent_table(0, len(self._resolutions)), empty_close_pairs()
        self._objects: HashedObjects | None = None
        self._suits = Survey(slack=1.0)
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
        objects = self._labelled(anew=relabelled is not None)
        survey(objects.address, self._suits.address)
        anew = self._suits_badly(objects) and self._plan()
        if anew:
            objects = self._labelled(anew=True)
            survey(objects.address, self._suits.address)
        change, close, cells = (
            self._with_coherence(objects, edit, relabelled, anew)
            if self._coherent
            else self._from_scratch(objects, edit)
        )
        self._statistics = HashStatistics(
            close, len(change.now), close, cells, int(self._suits.outside), int(self._suits.everywhere)
        )
        return change

    def _labelled(self, anew: bool) -> HashedObjects:
        """The objects by their labels; only boxes have changed unless these or the resolutions are new."""
        if self._objects is None or anew:
            self._objects = HashedObjects(
                ids=self._ids[self._order],
                rows=self._rows[self._order],
                fixed=self._fixed[self._order],
                margin=self._margin,
                half_margin=self._half_margin,
                resolutions=self._resolutions,
                inverses=self._inverses,
                alpha=self._alpha,
                beta=self._beta,
            )
        else:
            np.take(self._rows, self._order, axis=0, out=self._objects.rows, mode="clip")  # else numpy takes a detour
        return self._objects

    def _suits_badly(self, objects: HashedObjects) -> bool:
        """Whether resolutions and order should be chosen anew, because boxes have changed or many have come."""
        if self._suits.everywhere > _FEW_EVERYWHERE or len(self) > 2 * self._planned_for:
            return True
        if self._given is not None or 4 * self._suits.outside <= len(self):
            return False
        with_slack = Survey(slack=_SLACK)
        return bool(4 * survey(objects.address, with_slack.address) > len(self))

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

    def _from_scratch(self, objects: HashedObjects, edit: Edit) -> tuple[PairChange, int, int]:
        table, count, levels = self._anew, len(self), len(self._resolutions)
        if (len(table.order), len(table.place)) != (count, levels):
            table.resolution, table.order = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
            table.own = np.empty((count, 6), dtype=np.int64)
            table.population, table.place = np.empty(levels, dtype=np.int64), np.empty(levels, dtype=np.int64)
        guess = 2 * len(edit.keys) + 8 * count
        if len(table.keys) < guess:
            table.keys = np.empty(guess, dtype=np.int64)
        found = hash_all(objects.address, table.address)
        if found == NO_ROOM:
            put_room(table, 2 * table.cells, 2 * table.cells)
            found = hash_all(objects.address, table.address)
        if found > len(table.keys):  # once more, from the beginning
            table.keys = np.empty(found, dtype=np.int64)
            hash_all(objects.address, table.address)
        return change_to(edit.keys, np.sort(table.keys[:found])), int(table.close), int(table.looked_up)

    def _with_coherence(
        self, objects: HashedObjects, edit: Edit, relabelled: _Relabelled | None, anew: bool
    ) -> tuple[PairChange, int, int]:
        lost = np.empty(0, dtype=np.int64)
        if anew:
            self._kept, self._close = empty_coherent_table(len(self), len(self._resolutions)), empty_close_pairs()
        elif relabelled is not None:
            lost = drop_removed(self._kept.address, self._close.address, relabelled.labels, relabelled.ids)
            keep_boxes(self._kept, relabelled.stays, len(self))
        table, close = self._kept, self._close
        table.reached = table.entered = 0
        while hash_moved(objects.address, table.address, close.address) < len(self):
            make_room(table, table.cells_ahead)
            make_room_for_close(close, table.labels_ahead)
        began, ended = close.began[: close.began_count], close.ended[: close.ended_count]
        if anew:  # an empty table takes all pairs for new ones
            change = change_to(edit.keys, np.sort(began))
        else:
            change = change_by(edit.keys, began, np.concatenate([lost, ended]))
        return change, int(close.size), int(table.entered)


class _Relabelled(NamedTuple):
    """What became of the labels of the last update."""

    stays: NDArray[np.bool_]
    ids: Ids

    @property
    def labels(self) -> NDArray[np.int64]:
        """The new label of each, or -1: those that stay move up."""
        return np.where(self.stays, np.cumsum(self.stays) - 1, -1)


def _as_resolutions(value: ArrayLike) -> Floats:
    """From coarse to fine, whatever the order given."""
    resolutions = np.atleast_1d(real_array(value, "resolutions"))
    if resolutions.ndim != 1 or len(resolutions) == 0:
        raise ValueError(f"resolutions: expected shape (n,) with n at least 1, got {np.shape(value)}")
    if not ((resolutions > 0.0) & (resolutions < np.inf)).all():
        raise ValueError(f"resolutions are {resolutions.tolist()}; they must be positive and finite")
    return np.unique(resolutions)[::-1]
