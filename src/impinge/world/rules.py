"""Which pairs of a world are looked at, and how near they may come.

A rule is about two objects, an object and a group, or two groups.  Where several rules are about the same
pair, that with the more objects in it counts, and of rules of one kind the one that was given last.
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
class Rule:
    """About one pair."""

    allowed: bool
    """Whether the two may do as they like: then nobody looks."""
    clearance: float | None = None
    """How near they may come; None for that of the world."""


@dataclass(frozen=True, order=True)
class Who:
    """An object or a group, by its number."""

    is_group: bool
    number: int


Pair = tuple[Who, Who]


class _Sorted(NamedTuple):
    """The rules as pairs are judged by them."""

    with_groups: list[tuple[Pair, Rule]]
    """Those that count more come later."""
    keys: Keys
    """Ascending: the pairs of objects that have a rule of their own; there may be thousands."""
    allowed: Bools
    clearances: Floats
    """NaN for that of the world."""


class Rules:
    """All rules of a world.  Objects are known by their ids, groups by numbers from 0 on."""

    def __init__(self, rules: dict[Pair, tuple[int, Rule]] | None = None, version: int = 0) -> None:
        self._rules: dict[Pair, tuple[int, Rule]] = {} if rules is None else rules
        """Each with the version that it made: the last one counts."""
        self.version = version
        """Larger after each change."""
        self._sorted: _Sorted | None = None

    def set(self, a: Who, b: Who, rule: Rule) -> None:
        """One step, after all that is derived from the rules is known to be old: it may be interrupted anywhere."""
        self.version += 1
        self._sorted = None
        self._rules[(a, b) if a <= b else (b, a)] = self.version, rule

    def without(self, identity: int) -> Rules:
        """The rules after an object has gone."""
        gone = Who(False, identity)
        return Rules({pair: rule for pair, rule in self._rules.items() if gone not in pair}, self.version)

    def __iter__(self) -> Iterator[tuple[Pair, Rule]]:
        """In the order in which they were given."""
        for pair, (_, rule) in sorted(self._rules.items(), key=lambda item: item[1][0]):
            yield pair, rule

    def __len__(self) -> int:
        return len(self._rules)

    def group_table(self, count: int) -> Bools:
        """(groups, groups): whether rules about groups allow a pair of them."""
        allowed = np.zeros((count, count), dtype=np.bool_)
        for (a, b), (_, rule) in self._rules.items():
            if a.is_group and b.is_group:
                allowed[a.number, b.number] = allowed[b.number, a.number] = rule.allowed
        return allowed

    def judged(
        self, ids: NDArray[np.int64], groups: NDArray[np.int64], pairs: NDArray[np.int64], clearance: float
    ) -> tuple[Bools, Floats]:
        """For pairs (k, 2) of numbers of objects: whether they are looked at, and the clearance of each.

        ``ids`` and ``groups`` are those of the objects; ``clearance`` is that of the world.
        """
        looked_at = np.ones(len(pairs), dtype=np.bool_)
        clearances = np.full(len(pairs), clearance)
        if not self._rules or len(pairs) == 0:
            return looked_at, clearances
        if self._sorted is None:
            self._sorted = _as_sorted(list(self))
        rules = self._sorted
        sides = ids[pairs], groups[pairs]
        for (a, b), rule in rules.with_groups:
            concerned = self._concerned(a, b, sides)
            looked_at[concerned] = not rule.allowed
            clearances[concerned] = clearance if rule.clearance is None else rule.clearance
        keys = as_keys(np.sort(sides[0], axis=1))
        concerned = np.isin(keys, rules.keys)
        place = np.searchsorted(rules.keys, keys[concerned])
        looked_at[concerned] = ~rules.allowed[place]
        own = rules.clearances[place]
        clearances[concerned] = np.where(np.isnan(own), clearance, own)
        return looked_at, clearances

    def left_out(self, ids: NDArray[np.int64], groups: NDArray[np.int64]) -> Bools:
        """Which objects have no pair that is looked at, as far as rules about groups can tell."""
        if not self._rules:
            return np.zeros(len(ids), dtype=np.bool_)
        numbers = [who.number for pair in self._rules for who in pair if who.is_group]
        count = 1 + max(int(groups.max(initial=0)), *numbers, 0)
        allowed = self.group_table(count)
        present = np.bincount(groups, minlength=count)
        busy = np.array([(~allowed[g] & (present > (np.arange(count) == g))).any() for g in range(count)], dtype=bool)
        out: Bools = ~busy[groups]
        for (a, b), (_, rule) in self._rules.items():
            if rule.allowed or (a.is_group and b.is_group):
                continue
            for who in (a, b):
                out[(groups if who.is_group else ids) == who.number] = False
        return out

    @staticmethod
    def _concerned(a: Who, b: Who, sides: tuple[NDArray[np.int64], NDArray[np.int64]]) -> Bools:
        of_a, of_b = (sides[who.is_group] == who.number for who in (a, b))
        concerned: Bools = (of_a[:, 0] & of_b[:, 1]) | (of_a[:, 1] & of_b[:, 0])
        return concerned

    def largest_clearances(self, ids: NDArray[np.int64], groups: NDArray[np.int64], clearance: float) -> Floats:
        """The largest clearance that any pair of each object may have."""
        largest = np.full(len(ids), clearance)
        for (a, b), (_, rule) in self._rules.items():
            if rule.allowed or rule.clearance is None:
                continue
            for who in (a, b):
                concerned = (groups if who.is_group else ids) == who.number
                largest[concerned] = np.maximum(largest[concerned], rule.clearance)
        return largest


def _objects_in(item: tuple[Pair, Rule]) -> int:
    """How many of the two are objects; sorting keeps the order of those with as many."""
    return sum(not who.is_group for who in item[0])


def _as_sorted(rules: list[tuple[Pair, Rule]]) -> _Sorted:
    items = sorted(rules, key=_objects_in)
    first = next((i for i, item in enumerate(items) if _objects_in(item) == 2), len(items))
    of_objects = items[first:]
    numbers = np.array([[who.number for who in pair] for pair, _ in of_objects], dtype=np.int64).reshape(-1, 2)
    clearances = np.array([np.nan if rule.clearance is None else rule.clearance for _, rule in of_objects])
    allowed = np.array([rule.allowed for _, rule in of_objects], dtype=np.bool_)
    order = np.argsort(as_keys(numbers))
    return _Sorted(items[:first], as_keys(numbers)[order], allowed[order], clearances[order])
