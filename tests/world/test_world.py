"""World against the verbs, pair by pair."""

from __future__ import annotations

import json
import pickle
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import impinge
from impinge.arrays import Floats
from impinge.lab.scenes.poses import poses, random_turns
from impinge.lab.scenes.shapes import box, torus
from impinge.world.contact_store import ContactStore
from impinge.world.world import World

CUBE = box(1, 1, 1)
SHEET = impinge.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
TWO_CUBES = impinge.Mesh(
    np.concatenate([0.2 * CUBE.vertices, 0.2 * CUBE.vertices + [3.0, 0.0, 0.0]]),
    np.concatenate([CUBE.faces, CUBE.faces + len(CUBE.vertices)]),
    solid=True,
)
BODIES: tuple[Any, ...] = (
    CUBE,
    torus(0.6, 0.2, 8, 4),
    impinge.ConvexHull(box(0.5, 0.5, 2)),
    SHEET,
    box(0.1, 0.1, 0.1),
    box(3, 3, 3),
    TWO_CUBES,
)
QUERIES = ("collides", "contacts", "closer_than", "distance")
CLEARANCE = 0.1


def at(x: float, y: float = 0.0, z: float = 0.0) -> Floats:
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def random_poses(rng: np.random.Generator, count: int, room: float) -> Floats:
    return poses(random_turns(rng, count), rng.uniform(0.0, room, size=(count, 3)))


def compared(world: World) -> Iterator[tuple[Any, Any]]:
    """All pairs of objects that are not both fixed."""
    objects = list(world)
    for i, a in enumerate(objects):
        for b in objects[i + 1 :]:
            if not (a.fixed and b.fixed):
                yield a, b


def assert_right(world: World, query: str) -> impinge.Frame:
    """A frame against the verbs."""
    frame = world.detect(query)
    place = {(a, b): i for i, (a, b) in enumerate(frame.pairs.tolist())}
    assert list(place) == sorted(place)
    for a, b in compared(world):
        where = place.pop((a.id, b.id), None)
        given = a.body, b.body
        if query == "distance":
            expected = impinge.distance(*given, a.pose, b.pose)
            assert where is not None
            assert frame.distance is not None
            assert frame.distance.value[where] == expected.value
            gap = np.linalg.norm(frame.distance.point_a[where] - frame.distance.point_b[where])
            assert gap == pytest.approx(float(expected.value), abs=1e-12)
            continue
        if query == "closer_than":
            assert (where is not None) == impinge.closer_than(*given, world.clearance, a.pose, b.pose)
            continue
        assert (where is not None) == impinge.collides(*given, a.pose, b.pose)
        if query == "contacts" and where is not None:
            assert_same_contacts(frame, where, impinge.contacts(*given, a.pose, b.pose))
    assert not place
    return frame


def assert_same_contacts(frame: impinge.Frame, pair: int, expected: impinge.Contacts) -> None:
    assert frame.contacts is not None
    own = frame.contacts.pose == pair
    for name in ("face_a", "face_b", "kind", "segments", "normal"):
        assert np.array_equal(getattr(frame.contacts, name)[own], getattr(expected, name)), name


@pytest.mark.parametrize("hulls", ["auto", "gjk", "vclip", "lin-canny", None])
@pytest.mark.nojit_slow
def test_all_queries_along_a_motion_of_some(hulls: str | None) -> None:
    rng = np.random.default_rng(3)
    world = World(clearance=CLEARANCE, hulls=hulls)
    for number, pose in enumerate(random_poses(rng, 21, 4.0)):
        world.add(BODIES[number % len(BODIES)], pose, fixed=number % 5 == 0)
    for query in QUERIES:
        last: set[tuple[int, int]] = set()
        for _ in range(4):
            frame = assert_right(world, query)
            now = {(a, b) for a, b in frame.pairs.tolist()}
            assert {(a, b) for a, b in frame.began.tolist()} == now - last
            assert {(a, b) for a, b in frame.ended.tolist()} == last - now
            assert {(a, b) for a, b in frame.persist.tolist()} == now & last
            last = now
            free = [each.id for each in world if not each.fixed]
            some = rng.choice(free, size=5, replace=False)
            world.set_poses(random_poses(rng, 5, 4.0), who=some.tolist())


@pytest.mark.parametrize("broadphase", ["auto", "sweep", "hash", "hash-standard", "brute"])
def test_every_broad_phase(broadphase: str) -> None:
    rng = np.random.default_rng(4)
    world = World(broadphase)
    for pose in random_poses(rng, 8, 2.0):
        world.add(CUBE, pose)
    for _ in range(3):
        assert assert_right(world, "collides")
        world.set_poses(random_poses(rng, 8, 2.0))


def test_objects_come_and_go() -> None:
    rng = np.random.default_rng(5)
    world = World()
    for pose in random_poses(rng, 6, 1.5):
        world.add(CUBE, pose)
    last = {(a, b) for a, b in world.detect().pairs.tolist()}
    for number in range(6):
        world.remove(number)
        added = world.add(CUBE, random_poses(rng, 1, 1.5)[0], name=f"new {number}")
        assert added == 6 + number
        frame = assert_right(world, "collides")
        now = {(a, b) for a, b in frame.pairs.tolist()}
        assert {(a, b) for a, b in frame.ended.tolist()} == last - now
        assert all(isinstance(frame.names[i], str) for i in frame.ended.ravel().tolist())
        last = now
    assert [each.id for each in world] == list(range(6, 12))
    assert world["new 3"].id == 9
    assert world[9].name == "new 3"
    assert "new 3" in world
    assert 9 in world
    assert 3 not in world
    assert "object 3" not in world


def test_nothing_moved() -> None:
    world = World()
    world.add(CUBE)
    world.add(CUBE, at(0.5))
    first = world.detect("contacts")
    assert len(first.began) == 1
    again = world.detect("contacts")
    assert again.pairs is first.pairs
    assert again.contacts is first.contacts
    assert len(again.began) == len(again.ended) == 0
    assert again.persist.tolist() == [[0, 1]]
    assert again.statistics.narrow_pairs == again.statistics.hull_pairs == 0
    world.set_poses(np.stack([np.eye(4), at(0.5)]))
    assert world.detect("contacts").contacts is first.contacts
    world.move(1, at(0.25))
    assert world.detect("contacts").contacts is not first.contacts


def test_only_what_moved_goes_to_the_narrow_phase() -> None:
    world = World()
    for i in range(10):
        world.add(CUBE, at(0.9 * i))
    assert world.detect().statistics.narrow_pairs == 9
    world.move(0, at(0.1))
    statistics = world.detect().statistics
    assert (statistics.moved, statistics.narrow_pairs, statistics.filtered_pairs) == (1, 1, 9)


def test_solids_inside_each_other() -> None:
    world = World()
    world.add(box(3, 3, 3), at(-1.0, -1.0, -1.0), name="outer")
    world.add(box(0.1, 0.1, 0.1), name="inner")
    world.add(SHEET, at(-0.5, -0.5, -0.5), name="sheet")
    assert set(world.detect()) == {("outer", "inner"), ("outer", "sheet")}
    contacts = world.detect("contacts")
    assert set(contacts) == {("outer", "inner"), ("outer", "sheet")}
    assert contacts.contacts is not None
    assert len(contacts.contacts) == 0
    assert_right(world, "distance")


def test_one_piece_of_several_inside() -> None:
    """The box of all pieces is not inside."""
    world = World()
    world.add(TWO_CUBES)
    world.add(CUBE, at(-0.4, -0.4, -0.4))
    assert world.detect()
    assert_right(world, "distance")


def test_touching_far_from_the_origin() -> None:
    world = World()
    far = 2.0**40
    world.add(CUBE, at(far))
    world.add(CUBE, at(far + 1.0))
    world.add(CUBE, at(far, 1.0 + 2.0**-12))
    assert world.detect().pairs.tolist() == [[0, 1]]


@pytest.mark.parametrize("hulls", [None, "auto", "gjk"])
def test_within_is_compared_with_what_is_reported(hulls: Any) -> None:
    """Rounded as it is; closer_than is exact."""
    rng = np.random.default_rng(5)
    triangles = [np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), *rng.random((5, 3, 3))]
    differ = 0
    for i, triangle in enumerate(triangles):
        a, b = (impinge.Mesh(triangle + [0.0, 0.0, z], [[0, 1, 2]]) for z in (0.0, 5e-324 if i == 0 else 1.1))
        value = float(impinge.distance(a, b).value)
        world = World(clearance=value, hulls=hulls)
        world.add(a)
        world.add(b)
        assert world.detect("distance", within=value).distance.value.tolist() == [value]
        assert len(world.detect("distance", within=np.nextafter(value, 0.0))) == 0
        assert len(world.detect("closer_than")) == impinge.closer_than(a, b, value)
        differ += not impinge.closer_than(a, b, value) or impinge.closer_than(a, b, np.nextafter(value, 0.0))
    assert differ  # or this says nothing


def test_distances_within() -> None:
    world = World()
    for x in (0.0, 1.5, 4.0):
        world.add(CUBE, at(x))
    near = world.detect("distance", within=1.0)
    assert near.pairs.tolist() == [[0, 1]]
    assert near.smallest == 0.5
    everything = world.detect("distance")
    assert everything.pairs.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert everything.distance is not None
    assert everything.distance.value.tolist() == [0.5, 3.0, 1.5]
    assert world.detect("distance", within=0.25).smallest == np.inf


@pytest.mark.parametrize("kind", [impinge.ConvexHull, lambda points: impinge.Mesh(points * 3, [[0, 1, 2]])])
def test_the_smallest_clearances(kind: Any) -> None:
    """Half of an odd subnormal number is none."""
    for steps in range(8):
        clearance = steps * 5e-324
        world = World(clearance=clearance)
        world.add(kind([[0.0, 0.0, 0.0]]))
        world.add(kind([[clearance, 0.0, 0.0]]))
        assert len(world.detect("closer_than").pairs) == 1
        assert len(world.detect("distance", within=clearance).pairs) == 1


def test_convex_pieces() -> None:
    pieces = impinge.ConvexPieces([impinge.ConvexHull(CUBE), impinge.ConvexHull(CUBE.vertices + [2.0, 0.0, 0.0])])
    world = World(clearance=0.5)
    world.add(pieces, name="pieces")
    world.add(impinge.ConvexHull(box(0.5, 0.5, 0.5)), at(1.25), name="between")
    assert not world.detect()
    assert list(world.detect("closer_than")) == [("pieces", "between")]
    assert world.detect("distance").smallest == 0.25
    world.move("between", at(2.0))
    assert list(world.detect()) == [("pieces", "between")]
    with pytest.raises(impinge.Unsupported):
        world.detect("contacts")


def test_filters_of_objects_and_groups() -> None:
    world = World(clearance=0.1)
    for name, x, group in (("a", 0.0, "robot"), ("b", 0.5, "robot"), ("c", 1.2, "table"), ("d", 1.9, None)):
        world.add(CUBE, at(x), name=name, group=group)
    assert set(world.detect()) == {("a", "b"), ("b", "c"), ("c", "d")}
    world.allow("robot", "robot")
    assert set(world.detect()) == {("b", "c"), ("c", "d")}
    world.forbid("a", "b")
    assert set(world.detect()) == {("a", "b"), ("b", "c"), ("c", "d")}
    world.allow("c", "robot")
    assert set(world.detect()) == {("a", "b"), ("c", "d")}
    world.forbid("robot", "table")
    assert set(world.detect()) == {("a", "b"), ("c", "d")}
    world.forbid("b", "c")
    assert set(world.detect()) == {("a", "b"), ("b", "c"), ("c", "d")}
    world.allow("d", "c")
    assert set(world.detect()) == {("a", "b"), ("b", "c")}


def test_clearances_of_pairs() -> None:
    world = World(clearance=0.25)
    for name, x in (("a", 0.0), ("b", 1.5), ("c", 2.75)):
        world.add(CUBE, at(x), name=name, group="all")
    assert list(world.detect("closer_than")) == [("b", "c")]
    world.forbid("a", "b", clearance=0.5)
    assert list(world.detect("closer_than")) == [("a", "b"), ("b", "c")]
    world.forbid("all", "all", clearance=0.0)
    assert list(world.detect("closer_than")) == [("a", "b")]
    world.forbid("a", "c", clearance=1.75)
    assert list(world.detect("closer_than")) == [("a", "b"), ("a", "c")]
    assert not world.detect()
    world.clearance = 5.0
    assert list(world.detect("closer_than")) == [("a", "b"), ("a", "c")]


def test_groups_that_meet_nobody_stay_out_of_the_broad_phase() -> None:
    world = World()
    for i in range(6):
        world.add(CUBE, at(0.1 * i), group="dust" if i < 4 else "things")
    assert world.detect().statistics.box_pairs == 15
    world.allow("dust", "dust")
    world.allow("dust", "things")
    frame = world.detect()
    assert frame.statistics.box_pairs == 1
    assert frame.pairs.tolist() == [[4, 5]]
    world.forbid(0, "things")
    assert world.detect().pairs.tolist() == [[0, 4], [0, 5], [4, 5]]


def test_fixed_objects() -> None:
    world = World()
    world.add(CUBE, name="floor", fixed=True)
    world.add(CUBE, at(0.5), fixed=True)
    world.add(CUBE, at(1.2))
    assert world.detect().pairs.tolist() == [[1, 2]]
    with pytest.raises(ValueError, match="'floor' is fixed"):
        world.move("floor", np.eye(4))
    with pytest.raises(ValueError, match="fixed"):
        world.set_poses([np.eye(4)], who=["floor"])
    world.set_poses([at(0.9)])
    assert world.detect().pairs.tolist() == [[0, 2], [1, 2]]


def test_pickles_and_dictionaries() -> None:
    world = World("sweep", clearance=0.5)
    world.add(CUBE, name="a", group="g")
    world.add(CUBE, at(0.5), name="b")
    world.add(CUBE, at(1.2), name="c", fixed=True)
    world.remove("b")
    world.forbid("g", "c", clearance=0.3)
    world.detect("closer_than")
    copy = pickle.loads(pickle.dumps(world))
    assert json.loads(json.dumps(copy.to_dict())) == world.to_dict()
    assert copy["a"].body is copy["c"].body
    assert list(copy.detect("closer_than")) == list(world.detect("closer_than")) == [("a", "c")]
    assert copy.add(CUBE) == 3


def test_a_bool_is_no_id() -> None:
    """For Python True is 1."""
    world = World()
    for x in (0.0, 0.5, 3.0):
        world.add(CUBE, at(x))
    assert True not in world
    for call in (
        lambda: world.move(True, at(7.0)),
        lambda: world.remove(False),
        lambda: world[True],
        lambda: world.allow(True, 0),
        lambda: world.forbid(0, True),
        lambda: world.set_poses(np.stack([at(7.0)]), [True]),
    ):
        with pytest.raises(KeyError, match=r"there is no object (True|False)"):
            call()
    frame = world.detect()
    assert (0, 1) in frame
    assert (False, True) not in frame
    assert (0, True) not in frame


def test_one_thread_at_a_time() -> None:
    world = World()
    world.add(CUBE)
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with world._alone:
            entered.set()
            leave.wait(10.0)

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait(10.0)
    try:
        with pytest.raises(RuntimeError, match="another thread"):
            world.detect()
        with pytest.raises(RuntimeError, match="another thread"):
            world.move(0, np.eye(4))
    finally:
        leave.set()
        thread.join()
    assert not world.detect()


def test_worlds_share_bodies_between_threads() -> None:
    def crowd(seed: int) -> World:
        rng = np.random.default_rng(seed)
        world = World()
        for number, pose in enumerate(random_poses(rng, 20, 3.0)):
            world.add(BODIES[number % 2], pose)
        return world

    expected = [crowd(seed).detect("contacts").pairs.tolist() for seed in range(4)]
    found: dict[int, Any] = {}
    worlds = [crowd(seed) for seed in range(4)]
    threads = [
        threading.Thread(target=lambda i=i: found.update({i: worlds[i].detect("contacts").pairs.tolist()}))
        for i in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[i] for i in range(4)] == expected


@pytest.mark.nojit_slow
def test_more_contacts_than_there_is_room_for() -> None:
    """A workspace holds some ten thousand."""
    ring = torus(1.0, 0.3, 32, 16)
    world = World()
    for _ in range(4):
        world.add(ring)
    frame = world.detect("contacts")
    assert frame.contacts is not None
    assert len(frame.contacts) > 1 << 15
    for i, (a, b) in enumerate(frame.pairs.tolist()):
        assert_same_contacts(frame, i, impinge.contacts(ring, ring, world[a].pose, world[b].pose))


def test_an_interrupted_frame_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    world.add(CUBE)
    world.add(CUBE, at(5.0))
    assert len(world.detect("contacts")) == 0
    world.add(CUBE, at(0.5))

    def interrupt(self: ContactStore, pairs: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(ContactStore, "of", interrupt)
        with pytest.raises(KeyboardInterrupt):
            world.detect("contacts")
    frame = world.detect("contacts")
    assert frame.began.tolist() == frame.pairs.tolist() == [[0, 2]]
    world.move(2, at(10.0))
    assert world.detect("contacts").ended.tolist() == [[0, 2]]


def test_wrong_input() -> None:
    world = World()
    world.add(CUBE, name="a", group="g")
    for wrong, message in (
        (lambda: world.add("a"), "expected Mesh"),
        (lambda: world.add(CUBE, np.zeros((4, 4))), "pose"),
        (lambda: world.add(CUBE, np.eye(3)), "shape"),
        (lambda: world.add(CUBE, name="a"), "already"),
        (lambda: world.add(CUBE, name="g"), "group"),
        (lambda: world.add(CUBE, group="a"), "object"),
        (lambda: world.add(CUBE, name=3), "string"),
        (lambda: world.set_poses(np.zeros((1, 4, 4))), "poses"),
        (lambda: world.set_poses(np.eye(4)), "shape"),
        (lambda: world.set_poses(np.stack([np.eye(4)] * 2)), "shape"),
        (lambda: world.move("a", np.full((4, 4), np.nan)), "pose"),
        (lambda: world.detect("what"), "collides, contacts"),
        (lambda: world.detect("collides", within=1.0), "distances"),
        (lambda: world.detect("distance", within=-1.0), "within is -1"),
        (lambda: world.allow("a", "a"), "two"),
        (lambda: world.forbid("a", "g", clearance=np.nan), "clearance"),
        (lambda: World("best"), "broad phase"),
        (lambda: World(hulls="best"), "gjk"),
    ):
        with pytest.raises(ValueError, match=message):
            wrong()
    for unknown in (lambda: world.remove("b"), lambda: world["b"], lambda: world[7], lambda: world.allow("a", "h")):
        with pytest.raises(KeyError, match="no object"):
            unknown()
    assert len(world) == 1
    assert not world.detect()


def test_an_empty_world() -> None:
    for query in QUERIES:
        assert len(World().detect(query)) == 0
