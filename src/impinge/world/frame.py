"""Frame: the pairs that one detection of a world found, and what it took."""

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
    """What each stage of the pipeline was given in one frame, and how long it took.

    Examples
    --------
    >>> from impinge import World, shapes
    >>> world = World()
    >>> for i in range(3):
    ...     _ = world.add(shapes.box(1, 1, 1))
    >>> taken = world.detect().statistics
    >>> taken.objects, taken.box_pairs, taken.narrow_pairs
    (3, 3, 3)
    >>> sorted(taken.seconds)
    ['boxes', 'broad phase', 'filters', 'hulls', 'nested', 'results', 'trees']
    """

    objects: int
    """Objects of the world."""
    moved: int
    """Objects that moved, or came, since the last frame of this query."""
    box_pairs: int
    """Pairs from the broad phase: their boxes, grown by half a clearance, overlap."""
    filtered_pairs: int
    """Those of them that pass the filters."""
    narrow_pairs: int
    """Those of them that went to the narrow phase: an object moved.  For all others the last answer is still right."""
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
    """Pairs whose triangles were compared by bounding volume hierarchies."""
    box_tests: int
    """Comparisons of boxes in these hierarchies."""
    triangle_tests: int
    """Comparisons of triangles in these hierarchies."""
    nested_pairs: int
    """Pairs with one solid that might be inside another."""
    seconds: dict[str, float]
    """Of each stage: boxes, broad phase, filters, hulls, features, trees, nested, results."""


@dataclass(frozen=True, eq=False)
class Frame:
    """The pairs of objects for which a query of a world has the answer yes.

    A frame has a length, is true where there is any pair, and yields the names of its pairs.  ``pair in frame`` takes
    names or ids, in any order.

    Examples
    --------
    >>> from impinge import World, shapes
    >>> world = World()
    >>> for name in ("left", "right"):
    ...     _ = world.add(shapes.box(1, 1, 1), name=name)
    >>> frame = world.detect()
    >>> frame
    Frame(collides: 1 pairs, 1 began, 0 ended)
    >>> list(frame), ("right", "left") in frame
    ([('left', 'right')], True)
    >>> frame.pairs.tolist()
    [[0, 1]]
    """

    query: str
    """The query, as it was given to ``World.detect``."""
    pairs: Pairs
    """(k, 2) ids, the smaller one first, sorted."""
    began: Pairs
    """(k, 2) those of them that were not in the last frame of the same query."""
    ended: Pairs
    """(k, 2) those of the last frame of the same query that are no longer among them."""
    persist: Pairs
    """(k, 2) those of them that were in the last frame of the same query."""
    contacts: Contacts | None
    """For ``contacts``: ``contacts.pose`` is an index into ``pairs``."""
    distance: Distance | None
    """For ``distance``: one value, two witness points and two faces for each pair."""
    statistics: FrameStatistics
    """What each stage of the pipeline was given, and how long it took."""
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
        """(k,) for ``distance``: the distance of each pair; for other queries (0,).

        Examples
        --------
        >>> from impinge import World, shapes
        >>> world = World()
        >>> for x in (0.0, 3.0):
        ...     _ = world.add(shapes.box(1, 1, 1), [[1, 0, 0, x], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
        >>> frame = world.detect("distance")
        >>> frame.values.tolist(), frame.smallest
        ([2.0], 2.0)
        """
        return np.empty(0) if self.distance is None else np.asarray(self.distance.value)

    @property
    def smallest(self) -> float | None:
        """For ``distance``: the smallest value, infinity where there is no pair; for other queries None."""
        return None if self.distance is None else float(np.min(self.values, initial=np.inf))

    def __repr__(self) -> str:
        changes = f"{len(self.began)} began, {len(self.ended)} ended"
        return f"Frame({self.query}: {len(self)} pairs, {changes})"
