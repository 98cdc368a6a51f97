"""Filters in all combinations, against a plain reading of docs/concepts/world.md.

Of several filters about one pair that with the more objects counts, then the one that was given last.  It counts as a
whole: a filter without a clearance means that of the world, whatever filters it overrides.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, combinations_with_replacement, product
from typing import NamedTuple

import numpy as np
import pytest

from impinge import World
from impinge.lab.scenes.shapes import box
from impinge.world.filters import Filter, Filters, Subject

OBJECTS = "abcd"
GROUP_OF = {"a": "g", "b": "h", "c": None, "d": "g"}
GROUPS = "gh"
# Unit cubes: a touches b, b and c are 0.125 apart, d is 0.5 above a and b, all others farther away.
PLACE = {"a": (0.0, 0.0), "b": (1.0, 0.0), "c": (2.125, 0.0), "d": (0.5, 1.5)}
PAIRS = tuple(combinations(OBJECTS, 2))
CLEARANCE = 0.25
CUBE = box(1, 1, 1)


class Given(NamedTuple):
    """One call of ``allow`` or ``forbid``."""

    a: str
    b: str
    allowed: bool
    clearance: float | None = None


DEEDS = ((True, None), (False, None), (False, 0.0), (False, 0.75))
SUBJECTS = tuple(
    (a, b) for a, b in combinations_with_replacement(OBJECTS + GROUPS, 2) if a != b or a in GROUPS
)  # objects, objects and groups, groups, and a group with itself
EVERY_FILTER = tuple(Given(a, b, *deed) for (a, b), deed in product(SUBJECTS, DEEDS))


def concerns(given: Given, one: str, other: str) -> bool:
    def means(subject: str, name: str) -> bool:
        return GROUP_OF[name] == subject if subject in GROUPS else name == subject

    return any(means(given.a, x) and means(given.b, y) for x, y in ((one, other), (other, one)))


def expected(filters: list[Given], one: str, other: str) -> tuple[bool, float]:
    """Whether a pair is tested, and its clearance."""
    about = [given for given in filters if concerns(given, one, other)]
    for objects in (2, 1, 0):
        of_this_kind = [given for given in about if (given.a in OBJECTS) + (given.b in OBJECTS) == objects]
        if of_this_kind:
            last = of_this_kind[-1]
            return not last.allowed, CLEARANCE if last.clearance is None else last.clearance
    return True, CLEARANCE


def gap(one: str, other: str) -> float:
    """Of two cubes that overlap along z."""
    apart = np.abs(np.subtract(PLACE[one], PLACE[other])) - 1.0
    return float(np.linalg.norm(np.maximum(apart, 0.0)))


# --- which pairs pass


def applied(filters: list[Given]) -> dict[tuple[str, str], tuple[bool, float]]:
    numbers = {name: Subject(False, i) for i, name in enumerate(OBJECTS)}
    numbers |= {name: Subject(True, 1 + i) for i, name in enumerate(GROUPS)}
    table = Filters()
    for given in filters:
        table.set(numbers[given.a], numbers[given.b], Filter(given.allowed, given.clearance))
    groups = np.array([0 if group is None else 1 + GROUPS.index(group) for group in GROUP_OF.values()])
    pairs = np.array(list(combinations(range(len(OBJECTS)), 2)))
    tested, clearances = table.apply(np.arange(len(OBJECTS)), groups, pairs, CLEARANCE)
    left_out = table.left_out(np.arange(len(OBJECTS)), groups)
    assert not tested[left_out[pairs].any(axis=1)].any(), "left out, but tested"
    largest = table.largest_clearances(np.arange(len(OBJECTS)), groups, CLEARANCE)
    assert (clearances[tested, None] <= largest[pairs][tested]).all(), "boxes are too small"
    return dict(zip(PAIRS, zip(tested.tolist(), clearances.tolist(), strict=True), strict=True))


def assert_applied(filters: list[Given]) -> None:
    assert applied(filters) == {pair: expected(filters, *pair) for pair in PAIRS}, filters


def test_no_filter_and_one() -> None:
    assert_applied([])
    for given in EVERY_FILTER:
        assert_applied([given])
        assert_applied([given._replace(a=given.b, b=given.a)])


def test_two_filters() -> None:
    for filters in product(EVERY_FILTER, repeat=2):
        assert_applied(list(filters))


def about(one: str, other: str) -> list[Given]:
    return [given for given in EVERY_FILTER if concerns(given, one, other)]


@pytest.mark.parametrize("pair", ["ab", "ad", "ac"], ids=["two groups", "one group", "no group"])
def test_three_filters_about_one_pair(pair: str) -> None:
    """Four kinds of subjects for members of groups; two, where one object has no group."""
    filters = about(*pair)
    assert len(filters) == len(DEEDS) * (2 if pair == "ac" else 4)
    for three in product(filters, repeat=3):
        assert_applied(list(three))


# --- worlds


def world_of_cubes(fixed: str = "") -> World:
    world = World(clearance=CLEARANCE)
    for name in OBJECTS:
        pose = np.eye(4)
        pose[:2, 3] = PLACE[name]
        world.add(CUBE, pose, name=name, group=GROUP_OF[name], fixed=name in fixed)
    return world


def give(world: World, given: Given) -> None:
    if given.allowed:
        world.allow(given.a, given.b)
    else:
        world.forbid(given.a, given.b, given.clearance)


def assert_world(world: World, filters: list[Given], fixed: str = "") -> None:
    """All queries."""
    seen = {}
    for pair in PAIRS:
        tested, clearance = expected(filters, *pair)
        if tested and not set(pair) <= set(fixed):
            seen[pair] = clearance
    touching = [pair for pair in seen if gap(*pair) == 0.0]
    assert list(world.detect()) == touching, filters
    contacts = world.detect("contacts")
    assert list(contacts) == touching, filters
    assert contacts.contacts is not None
    assert np.unique(contacts.contacts.pose).tolist() == list(range(len(touching)))
    assert list(world.detect("closer_than")) == [pair for pair in seen if gap(*pair) <= seen[pair]], filters
    distances = world.detect("distance")
    assert list(distances) == list(seen), filters
    assert distances.values.tolist() == [gap(*pair) for pair in seen]
    # What filters say of clearances is not about distances.
    assert list(world.detect("distance", within=0.5)) == [pair for pair in seen if gap(*pair) <= 0.5], filters


def sequences() -> Iterator[list[Given]]:
    """One filter, and any two about one pair."""
    yield from ([given] for given in EVERY_FILTER)
    for pair in ("ab", "ac"):
        yield from map(list, product(about(*pair), repeat=2))


@pytest.mark.nojit_slow
def test_new_worlds() -> None:
    for filters in sequences():
        world = world_of_cubes()
        for given in filters:
            give(world, given)
        assert_world(world, filters)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("fixed", ["", "bc", "abcd"])
def test_one_world_with_one_filter_after_the_other(fixed: str) -> None:
    """Each filter follows on each kind of filter about the same two, and on many about others."""
    rng = np.random.default_rng(17)
    world, filters = world_of_cubes(fixed), list[Given]()
    assert_world(world, filters, fixed)
    for number in chain.from_iterable(rng.permutation(len(EVERY_FILTER)) for _ in range(3)):
        given = EVERY_FILTER[number]
        give(world, given)
        filters = [each for each in filters if {each.a, each.b} != {given.a, given.b}] + [given]
        assert_world(world, filters, fixed)


def test_some_filters_for_plain_python() -> None:
    world = world_of_cubes()
    filters: list[Given] = []
    for given in (Given("g", "h", True), Given("g", "b", False, 0.75), Given("g", "g", True), Given("a", "d", False)):
        give(world, given)
        filters.append(given)
        assert_world(world, filters)


def test_filters_of_removed_objects_are_forgotten() -> None:
    """Ids are never used again, names are: a new object with an old name has none of its filters."""
    world = world_of_cubes()
    world.allow("a", "b")
    world.allow("a", "h")
    world.forbid("b", "c", clearance=0.0)
    world.remove("a")
    world.add(CUBE, name="a", group="g")
    assert list(world.detect()) == [("b", "a")]
    assert list(world.detect("closer_than")) == [("b", "a")]
    assert len(world.to_dict()["filters"]) == 1
