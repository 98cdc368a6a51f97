"""What a world costs beside its geometry: small frames, still frames, first frames, and many configurations at once.

Everybody in turn, one thread, the best of several rounds.  The loop over coal has its objects for free, and
compares their boxes first; poses are numpy arrays, as planners in Python have them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from rich.table import Table

from impinge.arrays import Floats
from impinge.lab.bench.peers import coal_model
from impinge.lab.scenes import shapes
from impinge.lab.scenes.arm import Arm, arm
from impinge.lab.scenes.parts_feeder import parts_feeder
from impinge.lab.scenes.poses import poses
from impinge.mesh.mesh import Mesh
from impinge.world.world import World

CONFIGURATIONS = 10_000
_CALLS = 1000
_DISTINCT = 500
_OBJECTS = 9


@dataclass(frozen=True)
class Figure:
    """One row."""

    what: str
    value: float
    unit: str
    goal: str


def best_of(rounds: int, call: Callable[[], object]) -> float:
    """Seconds of a call."""
    spent = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        spent.append(time.perf_counter() - start)
    return min(spent)


def measure(rounds: int, configurations: int = CONFIGURATIONS) -> list[Figure]:
    ours, coal, share = _configurations(rounds, configurations)
    _first_frame("auto", 20)  # kernels are compiled, or loaded
    return [
        Figure(f"a frame of {_OBJECTS} moving boxes that are apart", 1e6 * _fixed_cost(rounds), "us", "below 100"),
        Figure("a frame in which nothing moved", 1e6 * _still_cost(rounds), "us", "below 5"),
        Figure(f"the first frame of {_DISTINCT} distinct parts", _first_frame("auto"), "s", "near the next row"),
        Figure("the same with hulls=None", _first_frame(None), "s", ""),
        Figure(f"{configurations:,} configurations of 9 links, {share:.0%} colliding", ours, "s", ""),
        Figure("the same in a loop over coal", coal, "s", ""),
        Figure("times as fast as that", coal / ours, "", "10 or more"),
    ]


def _apart() -> tuple[World, Floats]:
    world, cube = World(), shapes.box(1, 1, 1)
    for i in range(_OBJECTS):
        world.add(cube, poses(np.eye(3), [3.0 * i, 0.0, 0.0]))
    return world, np.array([each.pose for each in world])


def _fixed_cost(rounds: int) -> float:
    world, placed = _apart()
    shown = placed, placed @ poses(np.eye(3), [0.0, 0.1, 0.0])

    def frames() -> None:
        for i in range(_CALLS):
            world.set_poses(shown[i % 2])
            world.detect()

    return best_of(rounds, frames) / _CALLS


def _still_cost(rounds: int) -> float:
    world, _ = _apart()

    def frames() -> None:
        for _ in range(_CALLS):
            world.detect()

    return best_of(rounds, frames) / _CALLS


def _first_frame(hulls: str | None, count: int = _DISTINCT) -> float:
    """From meshes for which nothing was made yet."""
    feeder = parts_feeder(count)
    rng = np.random.default_rng(1)
    bodies = [Mesh(body.vertices * rng.uniform(0.9, 1.1), body.faces, solid=body.solid) for body in feeder.bodies]
    world = World(hulls=hulls)
    for body, pose in zip(bodies, feeder.poses(0), strict=True):
        world.add(body, pose)
    return best_of(1, world.detect)


def world_of(scene: Arm) -> World:
    world = World()
    for link in scene.links:
        world.add(link)
    for a, b in scene.neighbours:
        world.allow(a, b)
    return world


class CoalArm:
    """A loop over configurations and pairs, until one collides."""

    def __init__(self, scene: Arm) -> None:
        self._coal: Any = import_module("coal")
        models = {id(link): coal_model(link) for link in scene.links}
        self._objects = [self._coal.CollisionObject(models[id(link)]) for link in scene.links]
        count = len(scene.links)
        self._pairs = [(a, b) for a in range(count) for b in range(a + 2, count)]
        self._request = self._coal.CollisionRequest(self._coal.CollisionRequestFlag.NO_REQUEST, 1)

    def __call__(self, configurations: Floats) -> list[bool]:
        return [self._collides(placed) for placed in configurations]

    def _collides(self, placed: Floats) -> bool:
        coal, objects, request = self._coal, self._objects, self._request
        for each, pose in zip(objects, placed, strict=True):
            each.setTransform(coal.Transform3s(pose[:3, :3], pose[:3, 3]))
            each.computeAABB()
        boxes = [each.getAABB() for each in objects]
        return any(
            boxes[a].overlap(boxes[b]) and coal.collide(objects[a], objects[b], request, coal.CollisionResult())
            for a, b in self._pairs
        )


def _configurations(rounds: int, count: int) -> tuple[float, float, float]:
    """Seconds of one call, and of a loop over coal; and how many configurations collide."""
    scene = arm()
    placed, world = scene.configurations(count), world_of(scene)
    found = world.detect(poses=placed, first=True).colliding
    ours = best_of(rounds, lambda: world.detect(poses=placed, first=True))
    try:
        coal = CoalArm(scene)
    except ImportError:
        return ours, np.nan, float(found.mean())
    if (differ := np.count_nonzero(np.array(coal(placed)) != found)) > len(found) // 1000:
        raise AssertionError(f"coal finds otherwise in {differ} of {len(found)} configurations")
    return ours, best_of(rounds, lambda: coal(placed)), float(found.mean())


def table(rows: list[Figure]) -> Table:
    made = Table("", "", "goal", title="What a world costs beside its geometry")
    for row in rows:
        made.add_row(row.what, f"{row.value:.3g} {row.unit}".strip(), row.goal)
    made.columns[1].justify = "right"
    return made
