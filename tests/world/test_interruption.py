"""A KeyboardInterrupt at every line of every call of a world: it has happened or not, and later answers are right."""

from __future__ import annotations

import itertools
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest

import impinge
from impinge import World
from impinge.arrays import Floats
from impinge.broadphase.choice import MEMBERS
from impinge.lab.interruption import interrupted, interruptions, line_count
from impinge.lab.scenes.shapes import box, torus

BOX, HULL, RING = box(1, 1, 1), impinge.ConvexHull(box(1, 1, 1)), torus(0.6, 0.2, 8, 4)
QUERIES = ("collides", "contacts", "closer_than", "distance")
Frames = dict[str, impinge.Frame]


def at(x: float, y: float = 0.0) -> Floats:
    pose = np.eye(4)
    pose[:2, 3] = x, y
    return pose


def scene(broadphase: str = "auto", hulls: str | None = "auto") -> World:
    world = World(broadphase, clearance=0.25, hulls=hulls)
    world.add(BOX, at(0.0), name="a", group="g")
    world.add(HULL, at(0.75), name="b")
    world.add(RING, at(0.0, 1.0), name="c", group="h")
    world.add(RING, at(0.9, 1.1), name="d", fixed=True)
    world.add(BOX, at(-1.1), name="e")
    world.forbid("g", "h", clearance=0.5)
    world.allow("a", "e")
    return world


def rebuilt(world: World) -> World:
    """Another world in the same state, as far as it can be seen from outside, built step by step."""
    told = world.to_dict()
    fresh = World(told["broadphase"], clearance=told["clearance"], hulls=told["hulls"])
    new_ids = {
        each.id: fresh.add(each.body, each.pose, name=each.name, group=each.group, fixed=each.fixed) for each in world
    }
    groups = {each.group for each in world}
    for rule in told["filters"]:
        if any(side.get("group") not in groups for side in (rule["a"], rule["b"]) if "group" in side):
            continue  # without a member, it is about nothing
        a, b = (side["group"] if "group" in side else new_ids[side["object"]] for side in (rule["a"], rule["b"]))
        if rule["allowed"]:
            fresh.allow(a, b)
        else:
            fresh.forbid(a, b, rule["clearance"])
    return fresh


def require_in_order(world: World) -> None:
    """All that a world tells of itself agrees."""
    listed = list(world)
    assert len(world) == len(listed)
    assert len({each.name for each in listed}) == len({each.id for each in listed}) == len(listed)
    for each in listed:
        assert each.id in world
        assert each.name in world
        assert world[each.name].id == world[each.id].id == each.id
        assert world[each.id].name == each.name
        np.testing.assert_array_equal(world[each.id].pose, each.pose)
    told = world.to_dict()
    assert [each["name"] for each in told["objects"]] == [each.name for each in listed]
    for rule in told["filters"]:
        for side in (rule["a"], rule["b"]):
            assert "group" in side or side["object"] in world


def named(frame: impinge.Frame, pairs: Any) -> set[tuple[str, str]]:
    return {(frame.names[a], frame.names[b]) for a, b in np.asarray(pairs).tolist()}


_answers: dict[str, Frames] = {}


def right_answers(world: World) -> Frames:
    """Those of another world in the same state."""
    state = repr(world.to_dict())
    if state not in _answers:
        _answers[state] = frames_of(rebuilt(world))
    return _answers[state]


def require_right(world: World, last: Frames, queries: Iterable[str] = QUERIES) -> None:
    """The next answers are right, and refer to the last frames that were returned."""
    require_in_order(world)
    for query in queries:
        frame, expected = detect(world, query), right_answers(world)[query]
        assert list(frame) == list(expected), query
        np.testing.assert_array_equal(frame.values, expected.values)
        if query == "contacts":
            assert frame.contacts is not None
            assert expected.contacts is not None
            for column in ("pose", "face_a", "face_b", "segments", "normal"):
                np.testing.assert_array_equal(getattr(frame.contacts, column), getattr(expected.contacts, column))
        now, then = (set(map(tuple, each.pairs.tolist())) for each in (frame, last[query]))
        assert set(map(tuple, frame.began.tolist())) == now - then, query
        assert set(map(tuple, frame.ended.tolist())) == then - now, query
        assert set(map(tuple, frame.persist.tolist())) == now & then, query
        assert named(frame, frame.ended) == named(last[query], frame.ended)
        last[query] = frame


def detect(world: World, query: str) -> impinge.Frame:
    return world.detect(query, **({"within": 0.6} if query == "distance" else {}))


def frames_of(world: World) -> Frames:
    return {each: detect(world, each) for each in QUERIES}


EDITS: dict[str, Callable[[World], Any]] = {
    "add": lambda world: world.add(BOX, at(0.5), name="new"),
    "add unnamed": lambda world: world.add(impinge.ConvexHull(RING), at(0.4)),
    "add to a new group": lambda world: world.add(HULL, at(0.3), group="new", fixed=True),
    "remove": lambda world: world.remove("a"),
    "remove by id": lambda world: world.remove(2),
    "move": lambda world: world.move("b", at(-0.5)),
    "set poses": lambda world: world.set_poses(np.stack([at(0.4), at(3.0), at(0.0, 0.5), at(1.0)])),
    "set some poses": lambda world: world.set_poses(np.stack([at(0.4), at(3.0)]), ["e", "c"]),
    "allow": lambda world: world.allow("a", "b"),
    "allow again": lambda world: world.allow("g", "h"),
    "forbid": lambda world: world.forbid("a", "e"),
    "forbid nearer": lambda world: world.forbid("b", "h", clearance=1.0),
    "clearance": lambda world: setattr(world, "clearance", 0.75),
}
"""Each changes what some query answers."""


def state_of(world: World) -> Any:
    return world.to_dict(), repr(world)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("opcodes", [False, pytest.param(True, marks=pytest.mark.long)], ids=["lines", "instructions"])
@pytest.mark.parametrize("name", EDITS)
def test_an_edit_happens_or_not(name: str, opcodes: bool) -> None:
    edit = EDITS[name]
    before, changed = state_of(scene()), scene()
    edit(changed)
    after = state_of(changed)
    worlds = [scene()]
    last = frames_of(worlds[-1])
    states = []
    for _ in interruptions(lambda: edit(worlds[-1]), instructions=opcodes):
        world = worlds[-1]
        states.append(state_of(world))
        assert states[-1] in (before, after)
        if states[-1] == before:
            require_right(world, last, QUERIES[len(states) % 4 :][:1])
        else:
            require_right(world, last)
            worlds.append(scene())
            last = frames_of(worlds[-1])
    assert len(states) > 3
    assert states[0] == before
    assert states[-1] == after


def require_right_after_each(interrupted: Iterator[impinge.Frame | None], world: World, query: str) -> int:
    """Objects go to and fro; returns how often the detection was interrupted."""
    last = {query: detect(world, query)}
    places = itertools.cycle([0.4, -0.2, 1.2, 3.0])
    count = 0
    for frame in interrupted:
        count += 1
        if frame is not None:
            last[query] = frame
        require_right(world, last, [query])
        world.move("b", at(next(places)))
        if count % 3 == 0:
            world.move("c", at(next(places), 0.8))
        if count % 7 == 0:
            world.remove("e")
            world.add(BOX, at(next(places), -0.5), name="e")
    return count


@pytest.mark.nojit_slow
@pytest.mark.parametrize("query", QUERIES)
def test_a_detection_may_be_interrupted(query: str) -> None:
    world = scene()
    interrupted = interruptions(lambda: detect(world, query), step=7)
    assert require_right_after_each(interrupted, world, query) > 20


@pytest.mark.long
@pytest.mark.parametrize("broadphase", MEMBERS)
@pytest.mark.parametrize("hulls", ["auto", None, "vclip"])
@pytest.mark.parametrize("query", QUERIES)
def test_a_detection_may_be_interrupted_at_every_line(query: str, hulls: str | None, broadphase: str) -> None:
    world = scene(broadphase, hulls)
    interrupted = interruptions(lambda: detect(world, query))
    assert require_right_after_each(interrupted, world, query) > 200


@pytest.mark.nojit_slow
@pytest.mark.parametrize("query", QUERIES)
def test_changes_refer_to_the_last_frame_that_was_returned(query: str) -> None:
    """The last lines before a frame is handed out: all that is kept knows of it already."""

    def moved_scene() -> tuple[World, Frames]:
        world = scene()
        last = {query: detect(world, query)}
        world.move("b", at(3.0))
        return world, last

    worlds = [moved_scene() for _ in range(33)]
    lines = [line_count(lambda world=world: detect(world, query)) for world, _ in worlds[:3]]
    assert lines[1] == lines[2]
    for before_the_end, (world, last) in enumerate(worlds[3:]):
        with pytest.raises(KeyboardInterrupt):
            interrupted(lambda world=world: detect(world, query), lines[2] - before_the_end)
        require_right(world, last, [query])


def test_a_call_that_was_interrupted_is_not_in_the_way() -> None:
    """Neither of the same thread nor of another one."""
    world = scene()
    for _ in interruptions(lambda: world.move("b", at(0.5))):
        answers: list[int] = []
        thread = threading.Thread(target=lambda answers=answers: answers.append(len(world.detect())))
        thread.start()
        thread.join()
        assert answers


def test_a_call_from_a_signal_handler_is_refused() -> None:
    """It would come in the middle of another one."""
    world = scene()
    refused = 0

    def handler(frame: Any, event: str, _: Any) -> Any:
        nonlocal refused
        if event == "call" and frame.f_code.co_name == "with_one_more":
            with pytest.raises(RuntimeError, match="signal handler"):
                world.detect()
            refused += 1

    before = sys.gettrace()
    sys.settrace(handler)
    try:
        world.add(BOX, at(5.0), name="far")
    finally:
        sys.settrace(before)
    assert refused == 1
    assert "far" in world


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no such signals here")
@pytest.mark.skipif(sys.version_info < (3, 11), reason="signals are handled even between the last two instructions")
@pytest.mark.nojit_slow
@pytest.mark.parametrize("query", ["collides", "distance"])
def test_signals(query: str) -> None:
    world = scene()
    last = frames_of(world)
    places = itertools.cycle([0.4, -0.2, 1.2, 3.0])
    rng = np.random.default_rng(5)
    count = 0

    def handler(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, handler)
    try:
        for rounds in range(10_000):
            if rounds >= 60 and count > 5:  # how many signals come in time depends on the machine
                break
            try:
                try:
                    signal.setitimer(signal.ITIMER_REAL, float(rng.uniform(1e-6, 1.5e-3)))
                    world.move("b", at(next(places)))
                    world.set_poses(np.stack([at(next(places), 0.8), at(next(places), 0.1)]), ["c", "a"])
                    last[query] = world.detect(query, within=0.6 if query == "distance" else None)
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0.0)
            except (KeyboardInterrupt, SystemError):  # Numba makes the second of the first while it boxes a result
                count += 1
            require_right(world, last, [query])
    finally:
        signal.signal(signal.SIGALRM, before)
    assert count > 5
