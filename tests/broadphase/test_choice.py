"""All broad phases give the same pairs and the same events as the definition, whatever happens."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, multiple, rule

from impinge.broadphase.broad_phase import BroadPhase
from impinge.broadphase.choice import MEMBERS, broad_phase

Box = tuple[tuple[float, ...], tuple[float, ...]]

CONTENDERS: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name in MEMBERS},
    "hash, cells that do not suit": ("hash", {"resolutions": [0.5, 3.0], "alpha": 0.3, "beta": 1.5}),
    "hash-standard, cells that do not suit": ("hash-standard", {"resolutions": [2.0], "beta": 3.0}),
    "hash, many resolutions": ("hash", {"alpha": 0.9}),
}


def contenders(margin: float) -> dict[str, BroadPhase]:
    return {title: broad_phase(name, margin=margin, **options) for title, (name, options) in CONTENDERS.items()}


def overlap(a: Box, b: Box, margin: float) -> bool:
    """The definition, in Python's own floats."""
    return all(b[0][axis] - a[1][axis] <= margin and a[0][axis] - b[1][axis] <= margin for axis in range(3))


def true_gap(a: Box, b: Box) -> Fraction:
    """The largest gap along an axis in rational arithmetic; not positive if the boxes have a common point."""
    return max(
        max(Fraction(b[0][axis]) - Fraction(a[1][axis]), Fraction(a[0][axis]) - Fraction(b[1][axis]))
        for axis in range(3)
    )


def definition(boxes: dict[int, Box], fixed: set[int], margin: float) -> set[tuple[int, int]]:
    pairs = set()
    for i, j in combinations(sorted(boxes), 2):
        if i in fixed and j in fixed:
            continue
        overlaps = overlap(boxes[i], boxes[j], margin)
        gap = true_gap(boxes[i], boxes[j])
        if margin == 0.0:
            assert overlaps == (gap <= 0)
        elif gap <= Fraction(margin):
            assert overlaps
        if overlaps:
            pairs.add((i, j))
    return pairs


def as_set(pairs: Any) -> set[tuple[int, int]]:
    return {(int(i), int(j)) for i, j in pairs}


def require_sorted(pairs: Any) -> None:
    assert pairs.dtype == np.int64
    assert pairs.ndim == 2
    assert pairs.shape[1] == 2
    listed = [tuple(pair) for pair in pairs.tolist()]
    assert listed == sorted(set(listed))
    assert all(i < j for i, j in listed)


# Coordinates on a small grid touch and coincide; others are huge, tiny, or far away and close together.
COORDINATES = [
    0.0,
    1.0,
    2.0,
    3.0,
    -1.0,
    0.1,
    0.2,
    0.3,
    1e15,
    1e15 + 0.125,
    -1e15,
    1e-300,
    5e-324,
    1e300,
    -1.7e308,
    1.7e308,
]
SIZES = [0.0, 0.0, 1.0, 1.0, 2.0, 0.1, 0.7, 100.0, 1e-12, 1e20, 5e-324, 1e308]


def interval(low: float, size: float) -> tuple[float, float]:
    return low, low + size if math.isfinite(low + size) else low


intervals = st.builds(interval, st.sampled_from(COORDINATES), st.sampled_from(SIZES))
boxes = st.tuples(intervals, intervals, intervals).map(lambda axes: tuple(zip(*axes, strict=True)))


class AllAtOnce(RuleBasedStateMachine):
    """Every member and a dictionary of boxes go through the same life."""

    ids = Bundle("ids")

    @initialize(margin=st.sampled_from([0.0, 0.0, 0.1, 1.0, 5e-324, 1e15, 1e300]))
    def begin(self, margin: float) -> None:
        self.margin = margin
        self.members = contenders(margin)
        self.boxes: dict[int, Box] = {}
        self.fixed: set[int] = set()
        self.pairs: set[tuple[int, int]] = set()

    @rule(target=ids, new=st.lists(boxes, max_size=6), fixed=st.sampled_from([False, False, True]))
    def add(self, new: list[Box], fixed: bool) -> Any:
        given = np.array(new, dtype=np.float64).reshape(-1, 2, 3)
        for member in self.members.values():
            ids = [int(i) for i in member.add(given, fixed=fixed)]  # type: ignore[union-attr]
        assert not set(ids) & set(self.boxes)
        self.boxes.update(zip(ids, new, strict=True))
        self.fixed.update(ids if fixed else [])
        return multiple(*ids)

    @rule(i=consumes(ids))
    def remove(self, i: int) -> None:
        for member in self.members.values():
            member.remove(i)
        del self.boxes[i]
        self.fixed.discard(i)

    @rule(some=st.lists(ids, unique=True, max_size=5), data=st.data())
    def move(self, some: list[int], data: st.DataObject) -> None:
        some = [i for i in some if i not in self.fixed]
        new = [data.draw(boxes) for _ in some]
        self.boxes.update(zip(some, new, strict=True))
        self.compare(np.array(new, dtype=np.float64).reshape(-1, 2, 3), some)

    @rule(shift=st.sampled_from([0.0, 0.1, 1.0, -1.0, 1e15]), axis=st.integers(0, 2))
    def move_all(self, shift: float, axis: int) -> None:
        """Every other one, so that they pass each other."""
        movable = [i for i in sorted(self.boxes) if i not in self.fixed]
        for i in movable[::2]:
            low, high = ([*corner] for corner in self.boxes[i])
            low[axis] += shift
            high[axis] += shift
            self.boxes[i] = (tuple(low), tuple(high))
        self.compare(np.array([self.boxes[i] for i in movable], dtype=np.float64).reshape(-1, 2, 3))

    @rule()
    def stay(self) -> None:
        self.compare()

    @rule()
    def pickle(self) -> None:
        self.members = pickle.loads(pickle.dumps(self.members))

    @rule(box=boxes)
    def ask_for_a_box(self, box: Box) -> None:
        expected = [i for i in sorted(self.boxes) if overlap(self.boxes[i], box, self.margin)]
        for title, member in self.members.items():
            assert member.overlapping(np.array(box)).tolist() == expected, title

    def compare(self, *arguments: Any) -> None:
        now = definition(self.boxes, self.fixed, self.margin)
        for title, member in self.members.items():
            changes = member.update(*arguments)
            for pairs in (changes.began, changes.ended, changes.persist, changes.pairs, member.pairs):
                require_sorted(pairs)
            assert as_set(changes.pairs) == as_set(member.pairs) == now, title
            assert as_set(changes.began) == now - self.pairs, title
            assert as_set(changes.ended) == self.pairs - now, title
            assert as_set(changes.persist) == self.pairs & now, title
            assert member.statistics.overlapping == len(now)
            assert member.ids.tolist() == sorted(self.boxes)
            assert [tuple(map(tuple, box)) for box in member.boxes.tolist()] == [
                self.boxes[i] for i in sorted(self.boxes)
            ]
        self.pairs = now


TestAllAtOnce = AllAtOnce.TestCase
TestAllAtOnce.settings = settings(settings.get_profile(settings.get_current_profile_name()), stateful_step_count=25)


# ---------------------------------------------------------------------- longer lives, seeded


def some_boxes(rng: np.random.Generator, count: int, kind: str) -> Any:
    shape = (count, 3)
    if kind == "grid":
        low, size = rng.integers(0, 6, shape) * 1.0, rng.integers(0, 3, shape) * 1.0
    elif kind == "spread":
        low, size = rng.uniform(0, 6, shape), rng.uniform(0, 1, shape)
    elif kind == "far away":
        low, size = 1e15 + rng.integers(0, 8, shape), rng.integers(0, 4, shape) / 8.0
    else:
        scale = 10.0 ** rng.integers(-200, 200, (count, 1))
        low, size = (
            rng.uniform(-1, 1, shape) * scale,
            rng.uniform(0, 1, shape) * scale * 10.0 ** rng.integers(-3, 3, (count, 1)),
        )
    return np.stack([low, low + size], axis=1)


def live(members: dict[str, BroadPhase], rng: np.random.Generator, kind: str, steps: int, crowd: int) -> list[bytes]:
    """Adds, removals, drifting and teleports; every member is compared with brute force.  Returns what happened."""
    reference = members["brute"]
    story = []
    for step in range(steps):
        if step == 0 or rng.random() < 0.3:
            new, fixed = some_boxes(rng, int(rng.integers(0, crowd)), kind), bool(rng.random() < 0.3)
            for member in members.values():
                member.add(new, fixed=fixed)
        if rng.random() < 0.25:
            gone = rng.choice(reference.ids, len(reference) // 3, replace=False)
            for member in members.values():
                member.remove(gone)
        movable = reference.ids[~reference._fixed]
        some = rng.permutation(movable)[: rng.integers(0, len(movable) + 1)]
        here = reference.boxes[np.searchsorted(reference.ids, some)]
        drifting = here + rng.normal(size=(len(some), 1, 3)) * 0.05 * (here[:, 1:] - here[:, :1])
        moves: tuple[Any, ...] = [
            (), (some_boxes(rng, len(movable), kind),), (some_boxes(rng, len(some), kind), some), (drifting, some),
            (drifting, some),
        ][rng.integers(5)]  # fmt: skip
        expected = reference.update(*moves)
        for title, member in members.items():
            changes = expected if member is reference else member.update(*moves)
            for name in ("began", "ended", "persist", "pairs"):
                assert np.array_equal(getattr(changes, name), getattr(expected, name)), (title, step, name)
            assert np.array_equal(member.pairs, expected.pairs), (title, step)
        story += [expected.began.tobytes(), expected.ended.tobytes(), expected.persist.tobytes()]
    return story


@pytest.mark.parametrize("margin", [0.0, 0.25])
@pytest.mark.parametrize("kind", ["grid", "spread", "far away", "all sizes"])
def test_long_lives_are_equal(kind: str, margin: float) -> None:
    for seed in range(3):
        live(contenders(margin), np.random.default_rng(seed), kind, steps=12, crowd=14)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("kind", ["grid", "spread", "far away", "all sizes"])
def test_long_lives_of_crowds_are_equal(kind: str) -> None:
    live(contenders(0.0), np.random.default_rng(7), kind, steps=80, crowd=150)


def test_the_same_life_has_the_same_story() -> None:
    stories = [live(contenders(0.0), np.random.default_rng(3), "spread", steps=10, crowd=12) for _ in range(2)]
    assert stories[0] == stories[1]


@pytest.mark.parametrize("name", MEMBERS)
def test_a_crowd_that_comes_late_and_grows_in_size_is_no_burden(name: str) -> None:
    """Resolutions chosen for no boxes, or for small boxes, must not make all boxes close to each other."""
    count = 60 if name == "brute" else 300
    broad = broad_phase(name)
    broad.update()
    low = np.arange(count)[:, None] * [3.0, 0.0, 0.0]
    broad.add(np.stack([low, low + 2.0], axis=1))
    for scale in (1.0, 1000.0, 1e-6, 1e30):
        assert len(broad.update(np.stack([low, low + 2.0], axis=1) * scale).pairs) == 0
        if name != "brute":
            assert broad.statistics.tested <= 30 * count


@pytest.mark.parametrize("name", MEMBERS)
def test_all_pairs_overlap(name: str) -> None:
    """The worst case of [Ponamgi1995] Fig. 1a."""
    broad = broad_phase(name)
    broad.add(np.tile([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]], (40, 1, 1)))
    assert len(broad.update().began) == 40 * 39 // 2
    assert len(broad.update().persist) == 40 * 39 // 2
    apart = np.arange(40)[:, None, None] * 2.0 + np.array([[0.0] * 3, [1.0] * 3])
    assert len(broad.update(apart).ended) == 40 * 39 // 2


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="no broad phase 'quick'; there are 'auto', 'tree', 'brute'"):
        broad_phase("quick")
