"""World.detect(poses=): many configurations at once, against one frame after the other."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import impinge
from impinge import ConvexHull, ConvexPieces, Frames, Mesh, World
from impinge.arrays import Floats
from impinge.lab.hard_input import EXACT_ROTATIONS
from impinge.lab.scenes import hollows
from impinge.lab.scenes.poses import poses, random_turns
from impinge.lab.scenes.shapes import box, torus

CUBE = box(1, 1, 1)
MESHES: tuple[Any, ...] = (
    CUBE,
    torus(0.6, 0.2, 8, 4),
    Mesh(0.5 * hollows.angle_bar().vertices, hollows.angle_bar().faces, solid=True),
    Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]),
    ConvexHull(box(0.5, 1, 0.5)),
    box(0.25, 0.25, 0.25),
)
PIECES: tuple[Any, ...] = (
    ConvexPieces([ConvexHull(CUBE), ConvexHull(CUBE.vertices + [1.5, 0.0, 0.0])]),
    ConvexHull(CUBE),
    ConvexHull(box(0.25, 2, 0.25)),
)


def random_world(rng: np.random.Generator, hulls: str | None, bodies: tuple[Any, ...], count: int = 6) -> World:
    """With groups, filters, fixed objects, and ids that are not all in use."""
    world = World(clearance=0.25, hulls=hulls)
    for number in range(count + 1):
        body = bodies[rng.integers(len(bodies))]
        world.add(body, group=("g", "h")[number % 2], fixed=bool(rng.random() < 0.3))
    world.remove(int(rng.integers(count)))
    ids = [each.id for each in world]
    if rng.random() < 0.7:
        world.forbid("g", "h", clearance=0.5)
        world.allow(ids[0], "h")
        world.forbid(ids[0], ids[-1])
    return world


def random_poses(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    count = shape[0] * shape[1]
    turned, places = random_turns(rng, count), rng.uniform(-1.0, 1.0, size=(count, 3))
    on_grid = rng.random(count) < 0.5
    turned[on_grid] = np.asarray(EXACT_ROTATIONS)[rng.integers(24, size=count)][on_grid]
    places[on_grid] = 0.5 * rng.integers(-2, 3, size=(count, 3))[on_grid]
    return poses(turned, places).reshape(*shape, 4, 4)


def one_frame(world: World, placed: Floats, query: str, **within: Any) -> impinge.Frame:
    """Of another world, with all objects where they are in one configuration."""
    told, ids = world.to_dict(), dict[int, int]()
    other = World(clearance=world.clearance, hulls=told["hulls"])
    for each, pose in zip(world, placed, strict=True):
        ids[each.id] = other.add(each.body, pose, name=each.name, group=each.group, fixed=each.fixed)
    for rule in told["filters"]:
        a, b = (side["group"] if "group" in side else ids[side["object"]] for side in (rule["a"], rule["b"]))
        other.allow(a, b) if rule["allowed"] else other.forbid(a, b, rule["clearance"])
    return other.detect(query, **within)


def names_of(world: World, frames: Frames, i: int) -> list[tuple[str, str]]:
    return [(world[a].name, world[b].name) for a, b in frames.pairs[frames.frame == i].tolist()]


def assert_same_as_frames(world: World, placed: Floats, query: str, **within: Any) -> Frames:
    frames = world.detect(query, poses=placed, **within)
    assert len(frames) == len(placed) == len(frames.colliding)
    assert (np.diff(frames.frame) >= 0).all()
    some = world.detect(query, poses=placed, first=True, **within)
    for i, each in enumerate(placed):
        frame, here = one_frame(world, each, query, **within), frames.frame == i
        assert names_of(world, frames, i) == list(frame)
        assert frames.colliding[i] == some.colliding[i] == bool(frame)
        assert len(some.pairs[some.frame == i]) == bool(frame)
        assert set(names_of(world, some, i)) <= set(frame)
        if query == "distance":
            for column in ("value", "point_a", "point_b", "face_a", "face_b"):
                np.testing.assert_array_equal(getattr(frames.distance, column)[here], getattr(frame.distance, column))
        if query == "contacts":
            assert frames.contacts is not None
            assert frame.contacts is not None
            where = np.isin(frames.contacts.pose, np.flatnonzero(here))
            for column in ("face_a", "face_b", "segments", "normal", "kind"):
                found = getattr(frames.contacts, column)[where]
                np.testing.assert_array_equal(found, getattr(frame.contacts, column))
    return frames


@pytest.mark.nojit_slow
@pytest.mark.parametrize("hulls", [None, "auto", "gjk", "vclip", "lin-canny"])
@pytest.mark.parametrize("bodies", [MESHES, PIECES], ids=["meshes", "pieces"])
def test_as_one_frame_after_the_other(bodies: tuple[Any, ...], hulls: str | None) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        world = random_world(rng, hulls, bodies)
        placed = random_poses(rng, (6, len(world)))
        for query in ("collides", "closer_than") + (("contacts",) if bodies is MESHES else ()):
            assert_same_as_frames(world, placed, query)
        for within in (None, 0.0, 0.5):
            assert_same_as_frames(world, placed, "distance", within=within)


def test_a_few_configurations() -> None:
    rng = np.random.default_rng(7)
    world = random_world(rng, "auto", MESHES[:2], 3)
    assert_same_as_frames(world, random_poses(rng, (2, 3)), "collides")


def test_the_world_is_not_changed() -> None:
    world = World()
    for x in (0.0, 0.5):
        world.add(CUBE, poses(np.eye(3), [x, 0.0, 0.0]))
    before = world.detect()
    apart = np.tile(np.eye(4), (2, 2, 1, 1))
    apart[:, 1, 0, 3] = 5.0
    assert not world.detect(poses=apart).colliding.any()
    assert world[1].pose[0, 3] == 0.5
    after = world.detect()
    assert after.persist.tolist() == before.pairs.tolist() == [[0, 1]]


@pytest.mark.nojit_slow
@pytest.mark.parametrize("query", ["collides", "contacts", "closer_than", "distance"])
def test_workers_find_the_same(query: str) -> None:
    rng = np.random.default_rng(3)
    world = random_world(rng, "auto", MESHES, 8)
    placed = random_poses(rng, (50, len(world)))
    one, more = world.detect(query, poses=placed), world.detect(query, poses=placed, workers=3)
    for column in ("colliding", "frame", "pairs"):
        np.testing.assert_array_equal(getattr(one, column), getattr(more, column))
    for column in ("value", "point_a", "point_b", "face_a", "face_b") if query == "distance" else ():
        np.testing.assert_array_equal(getattr(one.distance, column), getattr(more.distance, column))


@pytest.mark.nojit_slow
def test_more_pairs_than_there_is_room_for() -> None:
    """Of one configuration, and of results."""
    world = World()
    for _ in range(40):
        world.add(ConvexHull(CUBE))
    placed = np.tile(np.eye(4), (30, 40, 1, 1))
    placed[::3, :, 0, 3] = 3.0 * np.arange(40)
    frames = world.detect(poses=placed)
    assert frames.colliding.tolist() == [i % 3 != 0 for i in range(30)]
    assert len(frames.pairs) == 20 * 780
    assert len(world.detect(poses=placed, first=True).pairs) == 20


def test_poses_that_are_not_rigid_are_named() -> None:
    world = World()
    for _ in range(2):
        world.add(CUBE)
    placed = np.tile(np.eye(4), (5, 2, 1, 1))
    for wrong, what in ((np.nan, "must be finite"), (2.0, "poses.3, 1. scales")):
        placed[3, 1, 0, 0] = wrong
        for workers in (1, 2):
            with pytest.raises(ValueError, match=what) as error:
                world.detect(poses=placed, workers=workers)
            assert "[3, 1" in str(error.value)


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"poses": np.eye(4)}, "expected shape"),
        ({"poses": np.tile(np.eye(4), (2, 3, 1, 1))}, "expected shape"),
        ({"poses": np.tile(np.eye(4), (2, 2, 1, 1)), "workers": 0}, "workers is 0"),
        ({"poses": np.tile(np.eye(4), (2, 2, 1, 1)), "first": 3}, "first"),
        ({"first": True}, "give their poses"),
        ({"workers": 2}, "give their poses"),
    ],
)
def test_wrong_input(given: dict[str, Any], what: str) -> None:
    world = World()
    for _ in range(2):
        world.add(CUBE)
    with pytest.raises(ValueError, match=what):
        world.detect(**given)


def test_nothing_to_answer() -> None:
    world = World()
    assert len(world.detect(poses=np.empty((3, 0, 4, 4)))) == 3
    world.add(CUBE)
    assert len(world.detect(poses=np.empty((0, 1, 4, 4)), workers=4)) == 0
    assert not world.detect("distance", poses=np.eye(4)[None, None]).colliding.any()


def test_contacts_of_pieces_are_unsupported() -> None:
    world = World()
    for _ in range(2):
        world.add(PIECES[0])
    with pytest.raises(impinge.Unsupported):
        world.detect("contacts", poses=np.tile(np.eye(4), (1, 2, 1, 1)))


@pytest.mark.nojit_slow
def test_parts_are_short() -> None:
    """Between two calls of kernels signals are handled."""
    from impinge.world import configurations

    rng = np.random.default_rng(5)
    world = random_world(rng, "auto", (torus(0.6, 0.2, 24, 24),), 8)
    placed = random_poses(rng, (400, len(world)))
    calls, kernel = [], configurations.answer_configurations
    with pytest.MonkeyPatch.context() as patch:

        def timed(*arguments: Any) -> Any:
            calls.append(time.perf_counter())
            return kernel(*arguments)

        patch.setattr(configurations, "answer_configurations", timed)
        world.detect("distance", poses=placed)
    assert len(calls) > 10
