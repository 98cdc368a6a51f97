"""Frame: what a world found in one look at all of its objects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats
from impinge.results import Contacts, Distance

Pairs = NDArray[np.int64]


@dataclass(frozen=True)
class FrameStatistics:
    """What each stage was given, and how long it took."""

    objects: int
    moved: int
    """Objects that moved, or came, since the last frame of this question."""
    box_pairs: int
    """Pairs whose boxes overlap (grown by half a clearance)."""
    looked_at: int
    """Those of them that the rules are about."""
    asked: int
    """Those of them with an object that moved; for all others the last answer is still right."""
    hull_pairs: int
    """Pairs whose hulls were compared,"""
    apart_by_hulls: int
    """how many of them the hulls showed to be apart,"""
    apart_by_kept_planes: int
    """and of these by a plane that separated them in an earlier frame already."""
    green_green: int
    """Pairs of hulls that overlap with two features that the hulls have made,"""
    red_green: int
    """with one of a model,"""
    red_red: int
    """and with two of models (after a walk over features: ``World(hulls="vclip")`` or ``"lin-canny"``)."""
    decided_by_features: int
    """Pairs with a yes from features of the hulls that belong to both models, without trees."""
    tree_pairs: int
    """Pairs whose triangles were compared by trees."""
    box_tests: int
    triangle_tests: int
    """Comparisons in these trees."""
    nested_pairs: int
    """Pairs with one solid that might be inside another."""
    seconds: dict[str, float]
    """Of each stage: boxes, broad phase, rules, hulls, features, trees, nested, results."""


@dataclass(frozen=True, eq=False)
class Frame:
    """The pairs of objects for which a question has the answer yes.

    Pairs are ids (k, 2), the smaller one first, sorted.  ``began``, ``ended`` and ``persist`` compare with the last
    frame of the same question.
    """

    query: str
    pairs: Pairs
    began: Pairs
    ended: Pairs
    persist: Pairs
    contacts: Contacts | None
    """For ``contacts``: ``contacts.pose`` is an index into ``pairs``."""
    distance: Distance | None
    """For ``distance``: one value, two points and two faces for each pair."""
    statistics: FrameStatistics
    names: dict[int, str]
    """Names by id, also of those that ended because they were removed."""

    def __len__(self) -> int:
        return len(self.pairs)

    def __bool__(self) -> bool:
        return len(self.pairs) > 0

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """The names of each pair."""
        for a, b in self.pairs.tolist():
            yield self.names[a], self.names[b]

    def __contains__(self, pair: object) -> bool:
        """Whether a pair of names or ids is among them, in any order."""
        if not isinstance(pair, tuple) or len(pair) != 2 or any(isinstance(each, bool) for each in pair):
            return False
        wanted = set(pair)
        return any({a, b} == wanted for a, b in self) or any({a, b} == wanted for a, b in self.pairs.tolist())

    @property
    def values(self) -> Floats:
        """For ``distance``: the distance of each pair; otherwise nothing."""
        return np.empty(0) if self.distance is None else np.asarray(self.distance.value)

    @property
    def smallest(self) -> float | None:
        """For ``distance``: the smallest value; infinity where there is no pair."""
        return None if self.distance is None else float(np.min(self.values, initial=np.inf))

    def __repr__(self) -> str:
        changes = f"{len(self.began)} began, {len(self.ended)} ended"
        return f"Frame({self.query}: {len(self)} pairs, {changes})"
