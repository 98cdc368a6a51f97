"""The pair cache of a world: what the narrow phase keeps of each pair from frame to frame, for a warm start."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.broadphase.pair_keys import Keys, change_to
from impinge.world.stages.hull_stage import KEPT_NUMBERS, KEPT_PLANE
from impinge.world.stages.tree_stage import WITNESS_NUMBERS

_FEWEST = 64


class PairSlots:
    """The pairs that are followed, sorted, and the row of each in tables: what kernels keep, and the last answer.

    A pair has its row for as long as its boxes overlap.  In new rows nothing is known.  (``hull_waits`` and
    ``hull_missed``: see ``hull_choice``.)
    Memory is in proportion to the largest number of pairs that were followed at once; it is given back where that falls
    to an eighth.
    """

    def __init__(self) -> None:
        self.keys: Keys = np.empty(0, dtype=np.int64)
        self.slots: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._allocate(_FEWEST)

    def _allocate(self, room: int) -> None:
        self.room = room
        self.kept = np.zeros((room, KEPT_NUMBERS), dtype=np.int64)
        self.planes = np.zeros((room, KEPT_PLANE))
        self.witnesses = np.zeros((room, WITNESS_NUMBERS), dtype=np.int64)
        self.yes = np.zeros(room, dtype=np.bool_)
        self.hull_waits = np.zeros(room, dtype=np.int8)
        self.hull_missed = np.zeros(room, dtype=np.bool_)
        self.values = np.zeros(room)
        self.points = np.zeros((room, 6))
        self.faces = np.zeros((room, 2), dtype=np.int32)
        self._free = np.arange(room)[::-1]

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def _tables(self) -> tuple[NDArray[Any], ...]:
        return (
            self.kept, self.planes, self.witnesses, self.yes, self.hull_waits, self.hull_missed, self.values,
            self.points, self.faces,
        )  # fmt: skip

    @property
    def bytes_held(self) -> int:
        return sum(array.nbytes for array in (*self._tables, self.keys, self.slots, self._free))

    def keys_of(self, slots: NDArray[np.int64]) -> Keys:
        """The pairs that have these rows."""
        keys = np.zeros(self.room, dtype=np.int64)
        keys[self.slots] = self.keys
        return keys[slots]

    def follow(self, keys: Keys) -> NDArray[np.bool_]:
        """From now on these pairs, sorted; return which of them were followed before."""
        began, ended, _ = change_to(self.keys, keys)[:3]
        if len(began) == 0 == len(ended):
            return np.ones(len(keys), dtype=np.bool_)
        goes = np.zeros(len(self.keys), dtype=np.bool_)
        goes[np.searchsorted(self.keys, ended)] = True
        is_new = np.zeros(len(keys), dtype=np.bool_)
        is_new[np.searchsorted(keys, began)] = True
        slots = np.empty(len(keys), dtype=np.int64)
        slots[~is_new] = self.slots[~goes]
        self._free = np.concatenate([self._free, self.slots[goes]])
        self.keys, self.slots = keys, slots
        self._make_room(len(keys), is_new)
        count = len(began)
        fresh, self._free = self._free[len(self._free) - count :], self._free[: len(self._free) - count]
        slots[is_new] = fresh
        self.kept[fresh] = 0
        self.witnesses[fresh] = 0
        self.yes[fresh] = False
        self.hull_waits[fresh] = 1  # there is no plane yet
        self.hull_missed[fresh] = False
        return ~is_new

    def _make_room(self, count: int, is_new: NDArray[np.bool_]) -> None:
        """Move what is kept to tables of another size, where there are too few rows or far too many."""
        if count <= self.room and (count > self.room // 8 or self.room == _FEWEST):
            return
        old = self.slots[~is_new]
        rows = [table[old] for table in self._tables]
        self._allocate(max(_FEWEST, 2 * count))
        for table, kept in zip(self._tables, rows, strict=True):
            table[: len(old)] = kept
        self.slots[~is_new] = np.arange(len(old))
        self._free = self._free[: self.room - len(old)]
