"""Worlds that live long: objects come and go, pairs meet and part, and nothing adds up."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from typing import Any

import numpy as np
import pytest

from impinge import Mesh, World
from impinge.arrays import Floats
from impinge.lab.scenes.shapes import box
from impinge.world import candidates
from impinge.world.pair_cache import PairCache
from impinge.world.pipeline import Pipeline, Query
from impinge.world.stages.object_table import ObjectTable
from impinge.world.stages.pair_table import SETTLED

CUBE = box(1, 1, 1)
BROAD_PHASES = ("tree", "sweep", "hash", "hash-standard", "brute")


def at(x: float, y: float = 0.0, z: float = 0.0) -> Floats:
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def pipeline_of(world: World, query: str = "collides") -> Pipeline:
    pipeline = world._trackers[Query(query)]._pipeline
    assert pipeline is not None
    return pipeline


def slots_of(world: World, query: str = "collides") -> PairCache:
    return pipeline_of(world, query)._pairs


def cycle(world: World, number: int, query: str = "collides") -> None:
    """One comes, touches the cube that stays, and goes."""
    identity = world.add(CUBE, at(0.5, 0.1 * (number % 7)), name=f"guest {number}", group=f"group {number % 3}")
    if number % 10 == 0:
        world.allow(identity, 0)
    if number % 5 < 2:  # a frame for some; the others are never seen
        frame = world.detect(query)
        assert len(frame) == (number % 10 != 0)
        assert len(frame.names) <= 3
    world.remove(identity)


def sizes(world: World, query: str = "collides") -> dict[str, int]:
    """Of the tables that could grow."""
    objects, pipeline = world._state.objects, pipeline_of(world, query)
    found = pipeline._candidates
    return {
        "filters": len(world._state.filters),
        "names": len(objects.by_name),
        "names by id": len(objects.name_by_id),
        "shapes": len(objects.shapes),
        "known shapes": len(objects._known),
        "room for objects": len(objects._rows),
        "room for pairs": pipeline._pairs.room,
        "bytes of pairs": pipeline._pairs.bytes_held,
        "ids of the broad phase": len(found._broad_ids),
        "reaches": len(found._grown_by),
    }


@pytest.mark.nojit_slow
def test_ten_thousand_guests() -> None:
    world = World()
    world.add(CUBE, name="host")
    for number in range(500):
        cycle(world, number)
    before = sizes(world)
    for number in range(500, 10_000):
        cycle(world, number)
    assert sizes(world) == before
    assert world.add(CUBE) == 10_001
    assert [each.id for each in world] == [0, 10_001]


@pytest.mark.long
@pytest.mark.parametrize("query", [each.value for each in Query])
def test_memory_of_guests(query: str) -> None:
    """Python's and numpy's: some ten bytes a guest for ids of the broad phase, until it is made anew, and caches."""
    world = World(clearance=0.1)
    world.add(CUBE, name="host")
    count = 2000

    def guests(first: int) -> None:
        for number in range(first, first + count):
            identity = world.add(CUBE, at(0.5), name=f"guest {number}")
            assert len(world.detect(query)) == 1
            world.remove(identity)

    guests(0)
    tracemalloc.start()
    try:
        guests(count)
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        guests(2 * count)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 60 * count


def test_names_of_those_that_went() -> None:
    """A frame names those of its own pairs that ended, and nobody who went before."""
    world = World()
    world.add(CUBE, name="host")
    for number in range(20):
        world.add(CUBE, at(0.5), name=f"guest {number}")
        if number:
            world.remove(f"guest {number - 1}")
        frame = world.detect()
        assert list(frame) == [("host", f"guest {number}")]
        expected = {0: "host", number + 1: f"guest {number}"}
        if number:
            expected[number] = f"guest {number - 1}"
            assert [frame.names[i] for i in frame.ended[0].tolist()] == ["host", f"guest {number - 1}"]
        assert dict(frame.names) == expected


@pytest.mark.parametrize("broadphase", BROAD_PHASES)
def test_a_broad_phase_is_made_anew(monkeypatch: pytest.MonkeyPatch, broadphase: str) -> None:
    """When too many of its ids are out of use; nobody notices."""
    monkeypatch.setattr(candidates, "_MOST_UNUSED_IDS", 10)
    world = World(broadphase)
    for x in range(4):
        world.add(CUBE, at(0.75 * x), fixed=x == 2)
    largest = 0
    for number in range(40):
        identity = world.add(CUBE, at(0.75 * 4), fixed=number % 3 == 0)
        frame = world.detect()
        assert frame.pairs.tolist() == [[0, 1], [1, 2], [2, 3], [3, identity]]
        assert frame.persist.tolist() == ([[0, 1], [1, 2], [2, 3]] if number else [])
        assert frame.statistics.narrow_pairs == (1 if number else 4)
        largest = max(largest, *pipeline_of(world)._candidates._broad_ids.values())
        world.remove(identity)
    assert 10 <= largest <= 20


def test_bodies_are_freed() -> None:
    """After the next frame: a question that is never asked again keeps what it saw last."""
    world = World()
    world.add(CUBE)
    for query in Query:
        guest = Mesh(CUBE.vertices, CUBE.faces, solid=True)
        gone = weakref.ref(guest)
        identity = world.add(guest, at(0.5))
        world.detect(query.value)
        world.remove(identity)
        world.detect(query.value)
        del guest
        gc.collect()
        assert gone() is None, query


# --- pairs


@pytest.mark.nojit_slow
@pytest.mark.parametrize("query", [each.value for each in Query])
def test_what_pairs_remember_is_freed_when_boxes_part(query: str) -> None:
    count = 24
    world = World()
    for _ in range(count):
        world.add(CUBE)
    near = np.stack([at(0.01 * i) for i in range(count)])
    far = np.stack([at(3.0 * i) for i in range(count)])
    within: dict[str, Any] = {"within": 0.0} if query == "distance" else {}
    empty = None
    for _ in range(3):
        world.set_poses(near)
        frame = world.detect(query, **within)
        slots = slots_of(world, query)
        assert len(frame) == len(slots) == count * (count - 1) // 2
        assert len(slots) <= slots.room <= 2 * len(slots)
        assert len(set(slots.slots.tolist())) == len(slots)
        full = slots.bytes_held
        world.set_poses(far)
        frame = world.detect(query, **within)
        assert len(frame) == len(slots) == 0
        assert len(frame.ended) == count * (count - 1) // 2
        assert slots.room <= 64
        assert slots.bytes_held < full // 4
        empty = empty or slots.bytes_held
        assert slots.bytes_held == empty
        if query == "contacts":
            store = pipeline_of(world, query)._contacts
            assert len(store._keys) == sum(map(len, store._columns)) == 0


def test_rows_follow_their_pairs() -> None:
    """Pairs come and go at random; each keeps its own row, of which no other pair has it too."""
    rng = np.random.default_rng(3)
    slots, marks = PairCache(), dict[int, int]()
    none_moved = ObjectTable(times=np.zeros(1, dtype=np.int64))
    for number in range(400):
        largest = 10 if number % 50 < 25 else 2000
        keys = np.unique(rng.choice(3000, size=rng.integers(0, largest)))
        slots.put(keys, np.zeros((len(keys), 2), dtype=np.int64), np.zeros(len(keys)))
        slots.follow(none_moved)
        known = slots.states == SETTLED
        assert np.array_equal(slots.keys, keys)
        assert known.tolist() == [key in marks for key in keys.tolist()]
        rows = slots.slots
        assert len(np.unique(rows)) == len(rows)
        assert rows.min(initial=0) >= 0
        assert rows.max(initial=0) < slots.room
        assert slots.rows["hulls"]["count"][rows[known]].tolist() == [marks[key] for key in keys[known].tolist()]
        assert not slots.rows["hulls"]["count"][rows[~known]].any()
        assert not slots.rows["triangles"]["places"][rows[~known]].any()
        slots.rows["hulls"]["count"][rows] = slots.rows["triangles"]["places"][rows, 0] = keys + number
        marks = dict(zip(keys.tolist(), (keys + number).tolist(), strict=True))
        assert len(keys) <= slots.room <= max(64, 16 * len(keys))


# --- one that moves


def single_mover(frames: int) -> World:
    """A cube among many: its pairs are asked about, all others stay as they are."""
    rng = np.random.default_rng(4)
    world = World()
    for x in range(6):
        for y in range(6):
            world.add(CUBE, at(1.5 * x, 1.5 * y), fixed=True)
    world.add(CUBE, name="mover")
    place = np.array([4.0, 4.0, 0.0])
    gaps = np.array([1.5 * x for x in range(6)])
    world.detect()
    for _ in range(frames):
        place[:2] = np.clip(place[:2] + 0.1 * rng.normal(size=2), -2.0, 10.0)
        world.move("mover", at(*place))
        frame = world.detect()
        beside = np.abs(place[:2, None] - gaps) <= 1.0
        assert len(frame) == np.count_nonzero(beside[0]) * np.count_nonzero(beside[1])
        assert frame.statistics.narrow_pairs <= 9
        assert frame.statistics.moved == 1
    return world


@pytest.mark.nojit_slow
def test_a_thousand_frames_of_one_mover() -> None:
    assert slots_of(single_mover(1000)).room == 64


@pytest.mark.long
def test_memory_of_one_mover() -> None:
    single_mover(1000)
    tracemalloc.start()
    try:
        world = single_mover(1000)
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        world = single_mover(20_000)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert slots_of(world).room == 64
    assert after - before < 20_000


# --- names and ids


def test_unnamed_objects_take_no_name_that_is_in_use() -> None:
    world = World()
    world.add(CUBE, name="object 1")
    assert world[world.add(CUBE)].name == "object 1'"
    world.add(CUBE, name="another", group="object 3")
    assert world[world.add(CUBE)].name == "object 3'"
    with pytest.raises(ValueError, match="'one' cannot be the name of an object and of its group"):
        world.add(CUBE, name="one", group="one")
    assert world.add(CUBE, name="one") == 4
    for name in ("one", "another", "object 1", "object 1'", "object 3'"):
        world.remove(name)
    assert len(world) == 0


def test_ids_as_frames_give_them() -> None:
    world = World()
    world.add(CUBE)
    world.add(CUBE, at(0.5))
    a, b = world.detect().pairs[0]
    assert a in world
    assert world[b].id == 1
    world.move(b, at(5.0))
    world.remove(b)
    assert b not in world
    unknown: tuple[Any, ...] = (0.0, 0.5, None, (0,), 10**30, -1)
    for who in unknown:
        assert who not in world
        with pytest.raises(KeyError, match="no object"):
            world[who]
    with pytest.raises(KeyError, match="no object"):
        world.remove(unknown[0])
    assert len(world) == 1
