"""Which pairs of a world are looked at, and how near they may come.

A rule is about two objects, an object and a group, or two groups.  Where several rules are about the same
pair, that with the more objects in it counts, and of rules of one kind the one that was given last.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from impinge.broadphase.pair_keys import as_keys
from impinge.geometry.cast import Bools, Floats


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


class Rules:
    """All rules of a world.  Objects are known by their ids, groups by numbers from 0 on."""

    def __init__(self) -> None:
        self._rules: dict[Pair, Rule] = {}

    def set(self, a: Who, b: Who, rule: Rule) -> None:
        pair = (a, b) if a <= b else (b, a)
        self._rules.pop(pair, None)  # the last one counts, in the order of the dictionary
        self._rules[pair] = rule

    def forget(self, identity: int) -> None:
        """An object is no more."""
        gone = Who(False, identity)
        self._rules = {pair: rule for pair, rule in self._rules.items() if gone not in pair}

    def __iter__(self) -> Iterator[tuple[Pair, Rule]]:
        return iter(self._rules.items())

    def __len__(self) -> int:
        return len(self._rules)

    def group_table(self, count: int) -> Bools:
        """(groups, groups): whether rules about groups allow a pair of them."""
        allowed = np.zeros((count, count), dtype=np.bool_)
        for (a, b), rule in self._rules.items():
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
        sides = ids[pairs], groups[pairs]
        of_objects: dict[int, Rule] = {}
        for (a, b), rule in sorted(self._rules.items(), key=_objects_in):
            if not (a.is_group or b.is_group):
                of_objects[int(as_keys(np.array([[a.number, b.number]]))[0])] = rule
                continue
            concerned = self._concerned(a, b, sides)
            looked_at[concerned] = not rule.allowed
            clearances[concerned] = clearance if rule.clearance is None else rule.clearance
        # There may be as many of these as pairs.
        known = np.array(sorted(of_objects), dtype=np.int64)
        keys = as_keys(np.sort(sides[0], axis=1))
        for place in np.flatnonzero(np.isin(keys, known)).tolist():
            rule = of_objects[int(keys[place])]
            looked_at[place] = not rule.allowed
            clearances[place] = clearance if rule.clearance is None else rule.clearance
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
        for (a, b), rule in self._rules.items():
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
        for (a, b), rule in self._rules.items():
            if rule.allowed or rule.clearance is None:
                continue
            for who in (a, b):
                concerned = (groups if who.is_group else ids) == who.number
                largest[concerned] = np.maximum(largest[concerned], rule.clearance)
        return largest


def _objects_in(item: tuple[Pair, Rule]) -> int:
    """How many of the two are objects; sorting keeps the order of those with as many."""
    return sum(not who.is_group for who in item[0])
