"""Rules in all combinations, against a plain reading of docs/concepts/world.md.

Of several rules about one pair that with the more objects counts, then the one that was given last.  It counts as a
whole: a rule without a clearance means that of the world, whatever rules it overrides.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, combinations_with_replacement, product
from typing import NamedTuple

import numpy as np
import pytest

from impinge import World
from impinge.lab.scenes.shapes import box
from impinge.world.rules import Rule, Rules, Who

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
WHO = tuple(
    (a, b) for a, b in combinations_with_replacement(OBJECTS + GROUPS, 2) if a != b or a in GROUPS
)  # objects, objects and groups, groups, and a group with itself
EVERY_RULE = tuple(Given(a, b, *deed) for (a, b), deed in product(WHO, DEEDS))


def concerns(rule: Given, one: str, other: str) -> bool:
    def means(who: str, name: str) -> bool:
        return GROUP_OF[name] == who if who in GROUPS else name == who

    return any(means(rule.a, x) and means(rule.b, y) for x, y in ((one, other), (other, one)))


def expected(rules: list[Given], one: str, other: str) -> tuple[bool, float]:
    """Whether a pair is looked at, and its clearance."""
    about = [rule for rule in rules if concerns(rule, one, other)]
    for objects in (2, 1, 0):
        of_this_kind = [rule for rule in about if (rule.a in OBJECTS) + (rule.b in OBJECTS) == objects]
        if of_this_kind:
            last = of_this_kind[-1]
            return not last.allowed, CLEARANCE if last.clearance is None else last.clearance
    return True, CLEARANCE


def gap(one: str, other: str) -> float:
    """Of two cubes that overlap along z."""
    apart = np.abs(np.subtract(PLACE[one], PLACE[other])) - 1.0
    return float(np.linalg.norm(np.maximum(apart, 0.0)))


# --- the judgement


def judged(rules: list[Given]) -> dict[tuple[str, str], tuple[bool, float]]:
    numbers = {name: Who(False, i) for i, name in enumerate(OBJECTS)}
    numbers |= {name: Who(True, 1 + i) for i, name in enumerate(GROUPS)}
    table = Rules()
    for rule in rules:
        table.set(numbers[rule.a], numbers[rule.b], Rule(rule.allowed, rule.clearance))
    groups = np.array([0 if group is None else 1 + GROUPS.index(group) for group in GROUP_OF.values()])
    pairs = np.array(list(combinations(range(len(OBJECTS)), 2)))
    looked_at, clearances = table.judged(np.arange(len(OBJECTS)), groups, pairs, CLEARANCE)
    left_out = table.left_out(np.arange(len(OBJECTS)), groups)
    assert not looked_at[left_out[pairs].any(axis=1)].any(), "left out, but looked at"
    largest = table.largest_clearances(np.arange(len(OBJECTS)), groups, CLEARANCE)
    assert (clearances[looked_at, None] <= largest[pairs][looked_at]).all(), "boxes are too small"
    return dict(zip(PAIRS, zip(looked_at.tolist(), clearances.tolist(), strict=True), strict=True))


def assert_judged(rules: list[Given]) -> None:
    assert judged(rules) == {pair: expected(rules, *pair) for pair in PAIRS}, rules


def test_no_rule_and_one() -> None:
    assert_judged([])
    for rule in EVERY_RULE:
        assert_judged([rule])
        assert_judged([rule._replace(a=rule.b, b=rule.a)])


def test_two_rules() -> None:
    for rules in product(EVERY_RULE, repeat=2):
        assert_judged(list(rules))


def about(one: str, other: str) -> list[Given]:
    return [rule for rule in EVERY_RULE if concerns(rule, one, other)]


@pytest.mark.parametrize("pair", ["ab", "ad", "ac"], ids=["two groups", "one group", "no group"])
def test_three_rules_about_one_pair(pair: str) -> None:
    """Four kinds of who for members of groups; two, where one object has no group."""
    rules = about(*pair)
    assert len(rules) == len(DEEDS) * (2 if pair == "ac" else 4)
    for three in product(rules, repeat=3):
        assert_judged(list(three))


# --- worlds


def world_of_cubes(fixed: str = "") -> World:
    world = World(clearance=CLEARANCE)
    for name in OBJECTS:
        pose = np.eye(4)
        pose[:2, 3] = PLACE[name]
        world.add(CUBE, pose, name=name, group=GROUP_OF[name], fixed=name in fixed)
    return world


def give(world: World, rule: Given) -> None:
    if rule.allowed:
        world.allow(rule.a, rule.b)
    else:
        world.forbid(rule.a, rule.b, rule.clearance)


def assert_world(world: World, rules: list[Given], fixed: str = "") -> None:
    """All queries."""
    seen = {}
    for pair in PAIRS:
        looked_at, clearance = expected(rules, *pair)
        if looked_at and not set(pair) <= set(fixed):
            seen[pair] = clearance
    touching = [pair for pair in seen if gap(*pair) == 0.0]
    assert list(world.detect()) == touching, rules
    contacts = world.detect("contacts")
    assert list(contacts) == touching, rules
    assert contacts.contacts is not None
    assert np.unique(contacts.contacts.pose).tolist() == list(range(len(touching)))
    assert list(world.detect("closer_than")) == [pair for pair in seen if gap(*pair) <= seen[pair]], rules
    distances = world.detect("distance")
    assert list(distances) == list(seen), rules
    assert distances.values.tolist() == [gap(*pair) for pair in seen]
    # What rules say of clearances is not about distances.
    assert list(world.detect("distance", within=0.5)) == [pair for pair in seen if gap(*pair) <= 0.5], rules


def sequences() -> Iterator[list[Given]]:
    """One rule, and any two about one pair."""
    yield from ([rule] for rule in EVERY_RULE)
    for pair in ("ab", "ac"):
        yield from map(list, product(about(*pair), repeat=2))


@pytest.mark.nojit_slow
def test_new_worlds() -> None:
    for rules in sequences():
        world = world_of_cubes()
        for rule in rules:
            give(world, rule)
        assert_world(world, rules)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("fixed", ["", "bc", "abcd"])
def test_one_world_with_one_rule_after_the_other(fixed: str) -> None:
    """Each rule follows on each kind of rule about the same two, and on many about others."""
    rng = np.random.default_rng(17)
    world, rules = world_of_cubes(fixed), list[Given]()
    assert_world(world, rules, fixed)
    for number in chain.from_iterable(rng.permutation(len(EVERY_RULE)) for _ in range(3)):
        rule = EVERY_RULE[number]
        give(world, rule)
        rules = [each for each in rules if {each.a, each.b} != {rule.a, rule.b}] + [rule]
        assert_world(world, rules, fixed)


def test_some_rules_for_plain_python() -> None:
    world = world_of_cubes()
    rules: list[Given] = []
    for rule in (Given("g", "h", True), Given("g", "b", False, 0.75), Given("g", "g", True), Given("a", "d", False)):
        give(world, rule)
        rules.append(rule)
        assert_world(world, rules)


def test_rules_of_who_is_gone_are_forgotten() -> None:
    """Ids are never used again, names are: a new object with an old name has none of its rules."""
    world = world_of_cubes()
    world.allow("a", "b")
    world.allow("a", "h")
    world.forbid("b", "c", clearance=0.0)
    world.remove("a")
    world.add(CUBE, name="a", group="g")
    assert list(world.detect()) == [("b", "a")]
    assert list(world.detect("closer_than")) == [("b", "a")]
    assert len(world.to_dict()["rules"]) == 1
