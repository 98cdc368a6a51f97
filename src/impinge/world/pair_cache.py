"""The pair cache of a world: what the narrow phase keeps of each pair from frame to frame, for a warm start."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats
from impinge.broadphase.pair_keys import Keys
from impinge.kernels.interruptible import stop_if_abandoned
from impinge.world.stages.object_table import ObjectTable
from impinge.world.stages.pair_table import PairRow, PairTable, follow_pairs

FEWEST = 64
_WITH_PAIRS = ("keys", "objects", "clearances", "states", "slots", "last_keys", "last_slots", "free")


class PairCache:
    """The pairs that are followed, sorted, and the row of each: what kernels keep, and the last answer.

    A pair has its row for as long as its boxes overlap.  In new rows nothing is known.
    Memory is in proportion to the largest number of pairs that were followed at once; it is given back where that falls
    to an eighth.
    """

    def __init__(self) -> None:
        self.table = PairTable(new=PairRow(hull_waits=1))  # there is no plane yet
        self.fewest = FEWEST
        """Room that is never given back."""
        self._allocate(FEWEST)
        self.table.free_count = FEWEST
        self._free[:] = np.arange(FEWEST)[::-1]

    def _allocate(self, room: int) -> None:
        self.room = room
        self._keys: Keys = np.zeros(room, dtype=np.int64)
        self._objects = np.zeros((room, 2), dtype=np.int64)
        self._clearances = np.zeros(room)
        self._states = np.zeros(room, dtype=np.int8)
        self._slots = np.zeros(room, dtype=np.int64)
        self._last_keys, self._last_slots = np.zeros((2, room), dtype=np.int64)
        self._free = np.zeros(room, dtype=np.int64)
        self.rows: Any = np.zeros(room, dtype=PairRow.dtype)
        table = self.table
        for name in _WITH_PAIRS:
            setattr(table, name, getattr(self, f"_{name}"))
        table.rows = self.rows

    def __len__(self) -> int:
        return int(self.table.count)

    @property
    def keys(self) -> Keys:
        """Both ids of each pair."""
        return self._keys[: self.table.count]

    @property
    def objects(self) -> NDArray[np.int64]:
        """(k, 2) numbers of objects."""
        return self._objects[: self.table.count]

    @property
    def clearances(self) -> Floats:
        return self._clearances[: self.table.count]

    @property
    def states(self) -> NDArray[np.int8]:
        """What is still to be done with each (``stages.pair_table``)."""
        return self._states[: self.table.count]

    @property
    def slots(self) -> NDArray[np.int64]:
        """The row of each."""
        return self._slots[: self.table.count]

    @property
    def bytes_held(self) -> int:
        return int(self.rows.nbytes + sum(getattr(self, f"_{name}").nbytes for name in _WITH_PAIRS))

    def put(self, keys: Keys, objects: NDArray[np.int64], clearances: Floats) -> None:
        """The pairs of this frame, sorted."""
        self.make_room(len(keys))
        self.table.count = len(keys)
        self.keys[:], self.objects[:], self.clearances[:] = keys, objects, clearances

    def follow(self, objects: ObjectTable) -> None:
        """Give the pairs of this frame their rows, and say which are open."""
        count, done = self.table.count, -1
        while done < count:
            stop_if_abandoned()
            done = follow_pairs(objects.address, self.table.address, max(done, 0))
        if count * 8 <= self.room and self.room > 2 * self.fewest:
            self._shrink(max(self.fewest, 2 * count))

    def make_room(self, count: int) -> None:
        """For so many pairs."""
        if count > self.room:
            old = {name: getattr(self, f"_{name}") for name in _WITH_PAIRS}
            rows, room = self.rows, self.room
            self._allocate(2 * count)
            for name, array in old.items():
                getattr(self, f"_{name}")[:room] = array
            used = self._last_slots[: self.table.last_count]
            self.rows[used] = rows[used]  # others would only take time, and memory that is not needed yet
            free = self.table.free_count
            self._free[free : free + self.room - room] = np.arange(room, self.room)[::-1]
            self.table.free_count = free + self.room - room

    def _shrink(self, room: int) -> None:
        """To this room, after pairs were followed; rows are moved together."""
        count = len(self)
        kept: dict[str, Any] = {
            name: getattr(self, f"_{name}")[:count] for name in ("keys", "objects", "clearances", "states")
        }
        rows = self.rows[self.slots]
        self._allocate(room)
        for name, array in kept.items():
            getattr(self, f"_{name}")[:count] = array
        self.rows[:count] = rows
        self._slots[:count] = self._last_slots[:count] = np.arange(count)
        self._last_keys[:count] = self._keys[:count]
        self._free[: room - count] = np.arange(count, room)[::-1]
        self.table.free_count = room - count
