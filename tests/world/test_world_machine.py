"""A world that is changed in every way, against what the verbs and the filters say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import impinge
from impinge.lab.scenes.poses import poses, turns
from impinge.lab.scenes.shapes import box, torus

BODIES: tuple[Any, ...] = (
    box(1, 1, 1),
    impinge.ConvexHull(box(1, 1, 1)),
    torus(0.6, 0.2, 8, 4),
    box(0.25, 0.25, 0.25),
    impinge.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]),
)
GROUPS = (None, "g", "h")
# Coarse steps: boxes touch, coincide and are nested often.
coordinate = st.integers(-4, 4).map(lambda k: 0.5 * k)
quarter_turns = st.integers(0, 3).map(lambda k: turns([0.0, 0.0, 0.5 * np.pi * k]).round())
any_turn = st.tuples(*[st.floats(-3.0, 3.0)] * 3).map(lambda v: turns(np.array(v)))
pose = st.builds(lambda turn, x, y, z: poses(turn, [x, y, z]), quarter_turns | any_turn, *[coordinate] * 3)


class Worlds(RuleBasedStateMachine):
    """The model: objects by id, and a list of filters in the order in which they were given."""

    def __init__(self) -> None:
        super().__init__()
        self.world = impinge.World(clearance=0.25)
        self.objects: dict[int, tuple[Any, Any, str | None, bool]] = {}
        self.filters: list[tuple[Any, Any, bool, float | None]] = []
        self.last: dict[str, set[tuple[int, int]]] = {}
        self.next_id = 0
        self.used_groups: set[str] = set()

    @rule(body=st.sampled_from(BODIES), at=pose, group=st.sampled_from(GROUPS), fixed=st.booleans())
    def add(self, body: Any, at: Any, group: str | None, fixed: bool) -> None:
        if len(self.objects) == 7:
            return
        assert self.world.add(body, at, group=group, fixed=fixed) == self.next_id
        self.objects[self.next_id] = body, at, group, fixed
        self.next_id += 1
        if group:
            self.used_groups.add(group)

    @precondition(lambda self: self.objects)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        gone = data.draw(st.sampled_from(sorted(self.objects)))
        self.world.remove(gone)
        del self.objects[gone]
        self.filters = [each for each in self.filters if gone not in each[:2]]

    @precondition(lambda self: any(not each[3] for each in self.objects.values()))
    @rule(data=st.data(), at=pose)
    def move(self, data: st.DataObject, at: Any) -> None:
        free = [number for number, each in self.objects.items() if not each[3]]
        who = data.draw(st.sampled_from(free))
        self.world.move(who, at)
        body, _, group, fixed = self.objects[who]
        self.objects[who] = body, at, group, fixed

    @precondition(lambda self: self.objects)
    @rule(data=st.data(), allowed=st.booleans(), clearance=st.sampled_from([None, 0.0, 0.5, 1.0]))
    def set_rule(self, data: st.DataObject, allowed: bool, clearance: float | None) -> None:
        whoever = st.sampled_from([*sorted(self.objects), *sorted(self.used_groups)])
        a, b = data.draw(whoever), data.draw(whoever)
        if a == b and isinstance(a, int):
            return
        if allowed:
            self.world.allow(a, b)
        else:
            self.world.forbid(a, b, clearance)
        self.filters.append((a, b, allowed, None if allowed else clearance))

    def judged(self, a: int, b: int) -> tuple[bool, float]:
        """Whether two objects are tested, and their clearance."""
        allowed, clearance, rank = False, None, -1
        for first, second, is_allowed, own in self.filters:
            concerns = any(self.means(x, first) and self.means(y, second) for x, y in ((a, b), (b, a)))
            objects = isinstance(first, int) + isinstance(second, int)
            if concerns and objects >= rank:
                allowed, clearance, rank = is_allowed, own, objects
        return not allowed, 0.25 if clearance is None else clearance

    def means(self, identity: int, who: Any) -> bool:
        return bool(identity == who if isinstance(who, int) else self.objects[identity][2] == who)

    @rule(query=st.sampled_from(["collides", "contacts", "closer_than", "distance"]))
    def detect(self, query: str) -> None:
        frame = self.world.detect(query)
        found = {(a, b): i for i, (a, b) in enumerate(frame.pairs.tolist())}
        expected = set()
        numbers = sorted(self.objects)
        for i, a in enumerate(numbers):
            for b in numbers[i + 1 :]:
                body_a, pose_a, _, fixed_a = self.objects[a]
                body_b, pose_b, _, fixed_b = self.objects[b]
                tested, clearance = self.judged(a, b)
                if not tested or (fixed_a and fixed_b):
                    continue
                given = body_a, body_b
                if query == "distance":
                    expected.add((a, b))
                    value = impinge.distance(*given, pose_a, pose_b).value
                    assert frame.distance is not None
                    assert frame.distance.value[found[a, b]] == value
                elif query == "closer_than":
                    if impinge.closer_than(*given, clearance, pose_a, pose_b):
                        expected.add((a, b))
                elif impinge.collides(*given, pose_a, pose_b):
                    expected.add((a, b))
                    if query == "contacts":
                        contacts = impinge.contacts(*given, pose_a, pose_b)
                        assert frame.contacts is not None
                        own = frame.contacts.pose == found[a, b]
                        assert np.array_equal(frame.contacts.face_a[own], contacts.face_a)
                        assert np.array_equal(frame.contacts.segments[own], contacts.segments)
        assert set(found) == expected
        last = self.last.get(query, set())
        assert {(a, b) for a, b in frame.began.tolist()} == expected - last
        assert {(a, b) for a, b in frame.ended.tolist()} == last - expected
        assert {(a, b) for a, b in frame.persist.tolist()} == last & expected
        self.last[query] = expected

    @invariant()
    def objects_are_as_they_should_be(self) -> None:
        assert [each.id for each in self.world] == sorted(self.objects)
        for each in self.world:
            body, at, group, fixed = self.objects[each.id]
            assert each.body is body
            assert np.array_equal(each.pose, at)
            assert (each.group, each.fixed) == (group, fixed)


TestWorlds = pytest.mark.nojit_slow(Worlds.TestCase)
TestWorlds.settings = settings(max_examples=60, stateful_step_count=30)
