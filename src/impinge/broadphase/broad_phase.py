"""BroadPhase, the base class of all broad phases: objects with ids and boxes, and the pairs that overlap.

Objects are numbered 0, 1, 2, ... without gaps, in the order of their ids.  New ids are larger than all before, and
removals keep the order: whatever is sorted by numbers is sorted by ids.  A member has two duties: ``_advance``, to say
how the set of pairs changed since the last update, and ``_forget``, to begin anew.

A call may be interrupted anywhere (Ctrl-C).  Objects come and go by one step.  An update says first that what members
keep no longer fits, and last, again by one step, that it does and what the pairs are.  If this is never said, the next
update begins with the boxes alone, and compares its pairs with those of the last update that came to its end.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.arrays import Floats, as_flag, as_ids, read_only, real_array, shown
from impinge.broadphase.boxes import as_box_row, as_box_rows, overlap_one
from impinge.broadphase.changes import Changes, Pairs
from impinge.broadphase.pair_keys import MOST_IDS, Keys, PairChange, as_pairs, change_to
from impinge.broadphase.ray import as_ray, touched_by_ray

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Statistics:
    """What the last update took; members add what is theirs."""

    tested: int
    """Pairs whose boxes were compared."""
    overlapping: int
    """Pairs that overlap."""


class LastUpdate(NamedTuple):
    """What the last update that came to its end found."""

    keys: Keys
    """The pairs."""
    ids: Ids
    """The objects."""
    numbers: NDArray[np.int64]
    """0, 1, 2, ... for each of them."""


_NO_IDS: Ids = np.empty(0, dtype=np.int64)


class Edit(NamedTuple):
    """Which objects came and went since the last update; all are new to a member that has forgotten everything."""

    keys: Keys
    """The pairs of the last update."""
    ids: Ids
    """Its objects."""
    numbers: NDArray[np.int64]
    """For each of these: its number now, or -1 if it was removed."""
    kept: int
    """How many of them are still there; objects with this number and above are new."""

    @property
    def removed_some(self) -> bool:
        return self.kept < len(self.numbers)


class BroadPhase(ABC):
    """A broad phase: many boxes that move, and which pairs of them overlap.

    Parameters
    ----------
    margin
        Boxes with a gap of at most this on every axis count as overlapping.  At 0, touching does.

    Examples
    --------
    >>> from impinge.broadphase.brute_force import BruteForce
    >>> broad = BruteForce()
    >>> broad.add([[[0, 0, 0], [1, 1, 1]], [[1, 0, 0], [2, 1, 1]], [[5, 0, 0], [6, 1, 1]]])
    array([0, 1, 2])
    >>> broad.update().began.tolist()  # the first two touch
    [[0, 1]]
    >>> broad.update([[[4, 0, 0], [5, 1, 1]]], ids=[1])
    Changes(1 began, 1 ended, 0 persist)
    >>> broad.pairs.tolist()
    [[1, 2]]
    """

    def __init__(self, *, margin: float = 0.0) -> None:
        self._margin = _as_margin(margin)
        self._ids: Ids = np.empty(0, dtype=np.int64)
        self._rows: Floats = np.empty((0, 6))
        self._fixed: NDArray[np.bool_] = np.empty(0, dtype=np.bool_)
        self._fixed_count = 0
        self._next_id = 0
        # Arrays of ids are replaced, never written to.
        self._last = LastUpdate(_NO_IDS, self._ids, _NO_IDS)
        self._kept_from: LastUpdate | None = self._last
        """What members keep is of this update; of none while it changes."""
        self._forget()

    @abstractmethod
    def _forget(self) -> None:
        """Begin with nothing: whatever is kept from update to update may be half changed, or is not there yet."""

    @abstractmethod
    def _advance(self, edit: Edit) -> PairChange:
        """How the set of overlapping pairs ``edit.keys`` changed.

        Objects are in the arrays ``_ids``, ``_rows`` and ``_fixed``.
        """

    @property
    @abstractmethod
    def statistics(self) -> Statistics:
        """What the last update took."""

    def add(self, boxes: ArrayLike, *, fixed: bool = False) -> np.int64 | Ids:
        """Add objects, given their boxes (n, 2, 3): low corner, high corner.

        Returns their ids, ascending and never used again; for a single box (2, 3) one id.  Their pairs appear in
        ``began`` of the next update.  ``fixed`` objects stay where they are, and no pair of two of them is reported.
        """
        rows = as_box_rows(boxes)
        if self._next_id + len(rows) > MOST_IDS:
            raise ValueError(f"{self._next_id} ids are used up, and {len(rows)} more would be beyond {MOST_IDS}")
        ids = np.arange(self._next_id, self._next_id + len(rows), dtype=np.int64)
        self._become(
            _next_id=self._next_id + len(rows),
            _ids=np.concatenate([self._ids, ids]),
            _rows=np.concatenate([self._rows, rows]),
            _fixed=np.concatenate([self._fixed, np.full(len(rows), as_flag(fixed, "fixed"))]),
            _fixed_count=self._fixed_count + (len(rows) if fixed else 0),
        )
        return ids[0] if np.ndim(boxes) == 2 else ids

    def remove(self, ids: ArrayLike) -> None:
        """Remove objects.  Their pairs appear in ``ended`` of the next update."""
        stays = np.ones(len(self._ids), dtype=np.bool_)
        stays[self._numbers_of(ids)] = False
        self._become(
            _ids=self._ids[stays],
            _rows=self._rows[stays],
            _fixed=self._fixed[stays],
            _fixed_count=int(np.count_nonzero(self._fixed[stays])),
        )

    def _become(self, **attributes: Any) -> None:
        """All of them in one step."""
        vars(self).update(attributes)

    def update(self, boxes: ArrayLike | None = None, ids: ArrayLike | None = None) -> Changes:
        """Move objects to new boxes, and say which pairs began to overlap, ended, or persist.

        ``boxes`` are those of all objects that are not fixed, in the order of their ids; or of ``ids``, and
        all others stay where they are.  Without any, only what was added and removed is accounted for.

        If this is interrupted, the boxes may have moved already; the next update then tells what changed since the one
        before.
        """
        if boxes is None and ids is not None:
            raise ValueError("ids without boxes: say where they are")
        rows = None if boxes is None else as_box_rows(boxes)
        where = None if rows is None else self._movable_numbers(len(rows), ids)
        known = self._kept_from is self._last
        if known:
            edit = self._edit()
        else:
            self._forget()
            edit = Edit(_NO_IDS, _NO_IDS, _NO_IDS, 0)
        self._kept_from = None
        if where is not None:
            self._rows[where] = rows
        change = self._advance(edit)
        if not known:
            change = change_to(self._last.keys, change.now)
        changes = Changes.of(change)
        numbers = self._last.numbers if self._last.ids is self._ids else np.arange(len(self))
        self._kept_from = LastUpdate(change.now, self._ids, numbers)
        # One line, and no call that might be interrupted between the note and the caller.
        return self._finish(self._kept_from) or changes  # type: ignore[func-returns-value]

    def _finish(self, last: LastUpdate) -> None:
        self._last = last

    @property
    def _is_current(self) -> bool:
        """Whether what members keep is of the objects as they are now."""
        return self._kept_from is self._last and self._last.ids is self._ids

    @property
    def pairs(self) -> Pairs:
        """Ids of all pairs that overlapped at the last update, (k, 2), smaller id first, sorted."""
        return as_pairs(self._last.keys)  # type: ignore[no-any-return]

    def overlapping(self, box: ArrayLike) -> Ids:
        """Ids of the objects whose boxes, as they are now, overlap this one up to the margin; ascending."""
        return self._ids[overlap_one(self._rows, as_box_row(box), self._margin)]

    def along_ray(self, origin: ArrayLike, direction: ArrayLike, length: float = math.inf) -> Ids:
        """Ids of the objects whose boxes, as they are now, are touched by a ray, ascending.

        The ray begins at ``origin`` and has this ``length``, whatever that of ``direction``.  No box is ever missed;
        one that the ray passes within a few roundings may be among them.  The margin plays no part.
        """
        return self._ids[touched_by_ray(self._rows, as_ray(origin, direction, length))]

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def margin(self) -> float:
        return self._margin

    @property
    def ids(self) -> Ids:
        """Ids of all objects, ascending."""
        return read_only(self._ids.view())

    @property
    def boxes(self) -> Floats:
        """The boxes of all objects as they are now, (n, 2, 3), in the order of their ids."""
        return self._rows.reshape(-1, 2, 3).copy()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} objects, {len(self._last.keys)} pairs)"

    def _numbers_of(self, ids: ArrayLike) -> NDArray[np.int64]:
        """Where these ids stand among the objects; each must be there, and once."""
        wanted = as_ids(ids if np.ndim(ids) else [ids], "ids")
        if wanted.size == 0:
            return wanted
        numbers = np.searchsorted(self._ids, wanted)
        known = numbers < len(self._ids)
        known[known] = self._ids[numbers[known]] == wanted[known]
        if not known.all():
            raise ValueError(f"ids[{int(np.argmin(known))}] is {wanted[~known][0]}, and there is no such object")
        if (np.bincount(numbers) > 1).any():
            raise ValueError(f"id {self._ids[np.argmax(np.bincount(numbers))]} appears more than once")
        return numbers

    def _movable_numbers(self, count: int, ids: ArrayLike | None) -> Any:
        """An index to the rows of the objects that so many boxes are for; they must be there, and not fixed."""
        if ids is not None:
            numbers = self._numbers_of(ids)
            if len(numbers) != count:
                raise ValueError(f"there are {count} boxes for {len(numbers)} ids")
            if self._fixed[numbers].any():
                raise ValueError(f"object {self._ids[numbers[self._fixed[numbers]][0]]} is fixed and cannot be moved")
            return numbers
        movable = len(self) - self._fixed_count
        if count != movable:
            raise ValueError(f"there are {count} boxes for {movable} objects that can move")
        return ~self._fixed if self._fixed_count else slice(None)

    def _edit(self) -> Edit:
        last, ids = self._last.ids, self._ids
        if last is ids:
            return Edit(*self._last, len(ids))
        numbers = np.searchsorted(ids, last)
        there = numbers < len(ids)
        there[there] = ids[numbers[there]] == last[there]
        return Edit(self._last.keys, last, np.where(there, numbers, -1), int(np.count_nonzero(there)))


def _as_margin(value: float) -> float:
    margin = real_array(value, "margin")
    if margin.ndim != 0 or not 0.0 <= margin < math.inf:
        raise ValueError(f"margin is {shown(value)}; it must be a finite number, 0 or more")
    return float(margin)
