"""Filters of a world: which pairs of objects are tested at all, and how near they may come.

A filter is about two objects, an object and a group, or two groups.  Where several filters are about the same
pair, that with the more objects in it counts, and of filters of one kind the one that was given last.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Bools, Floats
from impinge.broadphase.pair_keys import Keys, as_keys


@dataclass(frozen=True)
class Filter:
    """What holds for the pairs of two subjects."""

    allowed: bool
    """Whether the two may collide: then they are not tested."""
    clearance: float | None = None
    """How near they may come; None for that of the world."""


@dataclass(frozen=True, order=True)
class Subject:
    """What a filter is about: an object or a group, by its number."""

    is_group: bool
    number: int


Pair = tuple[Subject, Subject]


class _Sorted(NamedTuple):
    """The filters in the order in which they are applied."""

    with_groups: list[tuple[Pair, Filter]]
    """Those that count more come later."""
    keys: Keys
    """Ascending: the pairs of objects that have a filter of their own; there may be thousands."""
    allowed: Bools
    clearances: Floats
    """NaN for that of the world."""


class Filters:
    """All filters of a world.  Objects are known by their ids, groups by numbers from 0 on."""

    def __init__(self, filters: dict[Pair, tuple[int, Filter]] | None = None, version: int = 0) -> None:
        self._filters: dict[Pair, tuple[int, Filter]] = {} if filters is None else filters
        """Each with the version that it made: the last one counts."""
        self.version = version
        """Larger after each change."""
        self._sorted: _Sorted | None = None

    def set(self, a: Subject, b: Subject, entry: Filter) -> None:
        """One step, after all that is derived from the filters is known to be old: it may be interrupted anywhere."""
        self.version += 1
        self._sorted = None
        self._filters[(a, b) if a <= b else (b, a)] = self.version, entry

    def without(self, identity: int) -> Filters:
        """The filters after an object has gone."""
        gone = Subject(False, identity)
        return Filters({pair: entry for pair, entry in self._filters.items() if gone not in pair}, self.version)

    def __iter__(self) -> Iterator[tuple[Pair, Filter]]:
        """In the order in which they were given."""
        for pair, (_, entry) in sorted(self._filters.items(), key=lambda item: item[1][0]):
            yield pair, entry

    def __len__(self) -> int:
        return len(self._filters)

    def group_table(self, count: int) -> Bools:
        """(groups, groups): whether filters about groups allow a pair of them."""
        allowed = np.zeros((count, count), dtype=np.bool_)
        for (a, b), (_, entry) in self._filters.items():
            if a.is_group and b.is_group:
                allowed[a.number, b.number] = allowed[b.number, a.number] = entry.allowed
        return allowed

    def apply(
        self, ids: NDArray[np.int64], groups: NDArray[np.int64], pairs: NDArray[np.int64], clearance: float
    ) -> tuple[Bools, Floats]:
        """For pairs (k, 2) of numbers of objects: whether they are tested, and the clearance of each.

        ``ids`` and ``groups`` are those of the objects; ``clearance`` is that of the world.
        """
        tested = np.ones(len(pairs), dtype=np.bool_)
        clearances = np.full(len(pairs), clearance)
        if not self._filters or len(pairs) == 0:
            return tested, clearances
        if self._sorted is None:
            self._sorted = _as_sorted(list(self))
        filters = self._sorted
        sides = ids[pairs], groups[pairs]
        for (a, b), entry in filters.with_groups:
            concerned = self._concerned(a, b, sides)
            tested[concerned] = not entry.allowed
            clearances[concerned] = clearance if entry.clearance is None else entry.clearance
        keys = as_keys(np.sort(sides[0], axis=1))
        concerned = np.isin(keys, filters.keys)
        place = np.searchsorted(filters.keys, keys[concerned])
        tested[concerned] = ~filters.allowed[place]
        own = filters.clearances[place]
        clearances[concerned] = np.where(np.isnan(own), clearance, own)
        return tested, clearances

    def left_out(self, ids: NDArray[np.int64], groups: NDArray[np.int64]) -> Bools:
        """Which objects have no pair that is tested, as far as filters about groups can tell."""
        if not self._filters:
            return np.zeros(len(ids), dtype=np.bool_)
        numbers = [subject.number for pair in self._filters for subject in pair if subject.is_group]
        count = 1 + max(int(groups.max(initial=0)), *numbers, 0)
        allowed = self.group_table(count)
        present = np.bincount(groups, minlength=count)
        busy = np.array([(~allowed[g] & (present > (np.arange(count) == g))).any() for g in range(count)], dtype=bool)
        out: Bools = ~busy[groups]
        for (a, b), (_, entry) in self._filters.items():
            if entry.allowed or (a.is_group and b.is_group):
                continue
            for subject in (a, b):
                out[(groups if subject.is_group else ids) == subject.number] = False
        return out

    @staticmethod
    def _concerned(a: Subject, b: Subject, sides: tuple[NDArray[np.int64], NDArray[np.int64]]) -> Bools:
        of_a, of_b = (sides[subject.is_group] == subject.number for subject in (a, b))
        concerned: Bools = (of_a[:, 0] & of_b[:, 1]) | (of_a[:, 1] & of_b[:, 0])
        return concerned

    def largest_clearances(self, ids: NDArray[np.int64], groups: NDArray[np.int64], clearance: float) -> Floats:
        """The largest clearance that any pair of each object may have."""
        largest = np.full(len(ids), clearance)
        for (a, b), (_, entry) in self._filters.items():
            if entry.allowed or entry.clearance is None:
                continue
            for subject in (a, b):
                concerned = (groups if subject.is_group else ids) == subject.number
                largest[concerned] = np.maximum(largest[concerned], entry.clearance)
        return largest


def _objects_in(item: tuple[Pair, Filter]) -> int:
    """How many of the two are objects; sorting keeps the order of those with as many."""
    return sum(not subject.is_group for subject in item[0])


def _as_sorted(filters: list[tuple[Pair, Filter]]) -> _Sorted:
    items = sorted(filters, key=_objects_in)
    first = next((i for i, item in enumerate(items) if _objects_in(item) == 2), len(items))
    of_objects = items[first:]
    numbers = np.array([[subject.number for subject in pair] for pair, _ in of_objects], dtype=np.int64).reshape(-1, 2)
    clearances = np.array([np.nan if entry.clearance is None else entry.clearance for _, entry in of_objects])
    allowed = np.array([entry.allowed for _, entry in of_objects], dtype=np.bool_)
    order = np.argsort(as_keys(numbers))
    return _Sorted(items[:first], as_keys(numbers)[order], allowed[order], clearances[order])
