"""Worlds that are changed in every way between frames, with every setting, against the verbs.

What ``test_world_machine`` leaves out: ways to compare hulls, broad phases, clearances and reaches that change, copies,
bodies of convex pieces, and frames that fail.
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import impinge
from impinge import ConvexHull, ConvexPieces, Frame, Mesh, World
from impinge.arrays import Floats
from impinge.lab.hard_input import EXACT_ROTATIONS
from impinge.lab.scenes import hollows
from impinge.lab.scenes.poses import poses, random_turns
from impinge.lab.scenes.shapes import blocks, box, torus

HULLS = (None, "gjk", "vclip", "lin-canny")
BROAD_PHASES = ("auto", "sweep", "hash", "hash-standard", "brute")
QUERIES = ("collides", "contacts", "closer_than", "distance")
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


class Changing:
    """A world, and what is known about it."""

    def __init__(self, seed: int, hulls: str | None, broadphase: str, bodies: tuple[Any, ...]) -> None:
        self.rng = np.random.default_rng(seed)
        self.bodies = bodies
        self.queries = QUERIES if bodies is MESHES else ("collides", "closer_than", "distance")
        self.world = World(broadphase, clearance=0.25, hulls=hulls)
        self.within: float | None = None
        self.last: dict[str, set[tuple[int, int]]] = {}
        for _ in range(6):
            self.add()

    def pose(self) -> Floats:
        if self.rng.random() < 0.5:
            turn, place = EXACT_ROTATIONS[self.rng.integers(24)], self.rng.integers(-2, 3, size=3) * 0.5
        else:
            turn, place = random_turns(self.rng, 1)[0], self.rng.uniform(-1.0, 1.0, size=3)
        return poses(turn, place)

    def anyone(self) -> int:
        return int(self.rng.choice([each.id for each in self.world]))

    def add(self) -> None:
        body = self.bodies[self.rng.integers(len(self.bodies))]
        group = (None, "g", "h")[self.rng.integers(3)]
        self.world.add(body, self.pose(), group=group, fixed=bool(self.rng.random() < 0.2))

    def remove(self) -> None:
        if len(self.world) > 3:
            self.world.remove(self.anyone())

    def move(self) -> None:
        who = self.anyone()
        if not self.world[who].fixed:
            self.world.move(who, self.pose())

    def nudge(self) -> None:
        free = [each for each in self.world if not each.fixed]
        placed = np.array([each.pose for each in free]).reshape(-1, 4, 4)
        placed[:, :3, 3] += 0.01 * self.rng.normal(size=(len(free), 3))
        self.world.set_poses(placed)

    def change_clearance(self) -> None:
        self.world.clearance = float(self.rng.choice([0.0, 0.25, 0.5]))

    def change_reach(self) -> None:
        self.within = (None, 0.0, 0.5)[self.rng.integers(3)]

    def copy(self) -> None:
        """A copy has seen no frame yet."""
        self.world = pickle.loads(pickle.dumps(self.world))
        self.last = {}
        self.bodies = tuple(dict.fromkeys(each.body for each in self.world)) or self.bodies

    def step(self) -> None:
        deeds = (self.move, self.move, self.nudge, self.nudge, self.add, self.remove)
        rare = (self.change_clearance, self.change_reach, self.copy)
        chosen = rare if self.rng.random() < 0.2 else deeds
        chosen[self.rng.integers(len(chosen))]()

    def assert_frame(self, query: str) -> Frame:
        within = {"within": self.within} if query == "distance" else {}
        frame = self.world.detect(query, **within)
        found = {(a, b): i for i, (a, b) in enumerate(frame.pairs.tolist())}
        expected, objects = set(), list(self.world)
        for i, a in enumerate(objects):
            for b in objects[i + 1 :]:
                if a.fixed and b.fixed:
                    continue
                given = a.body, b.body, a.pose, b.pose
                pair = a.id, b.id
                if query == "distance":
                    value = float(impinge.distance(*given).value)
                    if self.within is None or value <= self.within:
                        expected.add(pair)
                        assert frame.values[found[pair]] == value
                elif query == "closer_than":
                    if impinge.closer_than(*given[:2], self.world.clearance, *given[2:]):
                        expected.add(pair)
                elif impinge.collides(*given):
                    expected.add(pair)
        assert set(found) == expected, query
        last = self.last.get(query, set())
        assert {(a, b) for a, b in frame.began.tolist()} == expected - last
        assert {(a, b) for a, b in frame.ended.tolist()} == last - expected
        assert {(a, b) for a, b in frame.persist.tolist()} == expected & last
        assert all(isinstance(frame.names[i], str) for i in frame.ended.ravel().tolist())
        self.last[query] = expected
        return frame


def run(seed: int, hulls: str | None, broadphase: str, bodies: tuple[Any, ...], steps: int) -> None:
    changing = Changing(seed, hulls, broadphase, bodies)
    for _ in range(steps):
        for _ in range(int(changing.rng.integers(3))):
            changing.step()
        changing.assert_frame(str(changing.rng.choice(changing.queries)))


@pytest.mark.nojit_slow
@pytest.mark.parametrize("broadphase", BROAD_PHASES)
@pytest.mark.parametrize("hulls", HULLS)
@pytest.mark.parametrize("bodies", [MESHES, PIECES], ids=["meshes", "pieces"])
def test_every_setting(bodies: tuple[Any, ...], hulls: str | None, broadphase: str) -> None:
    for seed in range(2):
        run(seed, hulls, broadphase, bodies, 20)


@pytest.mark.long
@pytest.mark.parametrize("broadphase", BROAD_PHASES)
@pytest.mark.parametrize("hulls", HULLS)
@pytest.mark.parametrize("bodies", [MESHES, PIECES], ids=["meshes", "pieces"])
def test_every_setting_for_long(bodies: tuple[Any, ...], hulls: str | None, broadphase: str) -> None:
    for seed in range(100, 120):
        run(seed, hulls, broadphase, bodies, 100)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("hulls", HULLS)
def test_frames_that_fail(hulls: str | None) -> None:
    """Convex pieces have no triangles: a frame that needs some is refused, and the next one is right."""
    changing = Changing(3, hulls, "auto", MESHES)
    failed = 0
    for number in range(40):
        changing.step()
        before = changing.last.get("contacts")
        guest = changing.world.add(PIECES[0], changing.pose())
        try:
            changing.world.detect(("collides", "contacts", "closer_than", "distance")[number % 4])
        except impinge.Unsupported:
            failed += 1
        else:
            changing.last = {}  # a frame of which nothing is known
            changing.world = pickle.loads(pickle.dumps(changing.world))
            before = None
        changing.world.remove(guest)
        changing.assert_frame("contacts" if before is not None else "collides")
    assert failed > 10


@pytest.mark.nojit_slow
@pytest.mark.parametrize("far", [0.0, 1.0, 1e5, 2.0**40])
@pytest.mark.parametrize("hulls", HULLS)
def test_inside_by_some_ulps(hulls: str | None, far: float) -> None:
    """A box around a body that has vertices beside the corners of its hull is rounded outward, and yet inside."""
    rng = np.random.default_rng(6)
    steps = np.linspace(0.0, 1.0, 4)
    inner = blocks(steps, steps, steps)
    nested = 0
    for number in range(12):
        thick = float(np.spacing(max(far, 1.0)) * rng.integers(1, 8))
        outer = Mesh(CUBE.vertices * (1.0 + 2.0 * thick) - thick, CUBE.faces, solid=True)
        pose = poses(random_turns(rng, 1)[0] if number % 2 else np.eye(3), far * rng.uniform(-1.0, 1.0, size=3))
        world = World(hulls=hulls)
        world.add(outer, pose)
        world.add(inner, pose)
        given = outer, inner, pose, pose
        assert impinge.collides(*given, method="brute")
        for query in QUERIES[:3]:
            assert len(world.detect(query)) == 1, query
        assert world.detect("distance").smallest == 0.0
        nested += len(impinge.contacts(*given, method="brute")) == 0
    assert nested > 2
