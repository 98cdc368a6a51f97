"""The parts of an assembly in the libraries that a Python user would pick, and in ``World``.

Each takes the parts in when it is made, can be told that they have moved, and has one or both of the queries which
parts collide and which are closer than a clearance.  A library that takes one pair after the other gets the pairs of
boxes for free.

trimesh's ``CollisionManager`` is python-fcl underneath.  It makes a model for each part, also where parts share their
mesh; ``add_object`` rounds poses to float32, ``set_transform`` does not.  It has no query for a clearance: the
distance of each pair is compared with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from impinge.arrays import Floats
from impinge.broadphase.choice import for_one_frame
from impinge.lab.bench.peers import coal_model, fcl_model
from impinge.mesh.mesh import Mesh
from impinge.world.world import World

Found = set[tuple[int, int]]
"""Pairs of parts, the smaller number first."""
PairsOfBoxes = Sequence[tuple[int, int]]

OURS, OURS_WITH_HULLS, OUR_DISTANCES = "World", "World with hulls", "World, by distances"
MANAGER, MANAGERS, SINGLES = "trimesh, one manager", "trimesh, manager a part", "trimesh, single parts"
FCL, COAL = "python-fcl, pair by pair", "coal, pair by pair"


def world_of(bodies: Sequence[Mesh], poses: Floats, hulls: str | None) -> World:
    world = World(for_one_frame(len(bodies)), hulls=hulls)
    for body, pose in zip(bodies, poses, strict=True):
        world.add(body, pose)
    return world


class OurWorld:
    """A world made as ``impinge check`` does it: for a single frame hulls would not pay."""

    def __init__(self, bodies: Sequence[Mesh], poses: Floats, hulls: str | None = None) -> None:
        self._world = world_of(bodies, poses, hulls)

    def move(self, poses: Floats) -> None:
        self._world.set_poses(poses)

    def collides(self, pairs: PairsOfBoxes) -> Found:
        return _as_set(self._world.detect("collides").pairs)

    def closer_than(self, clearance: float, pairs: PairsOfBoxes) -> Found:
        self._world.clearance = clearance
        return _as_set(self._world.detect("closer_than").pairs)


class OurDistances:
    """As ``impinge check`` tests a clearance: distances up to it are found too."""

    def __init__(self, bodies: Sequence[Mesh], poses: Floats) -> None:
        self._world = world_of(bodies, poses, None)

    def move(self, poses: Floats) -> None:
        self._world.set_poses(poses)

    def closer_than(self, clearance: float, pairs: PairsOfBoxes) -> Found:
        return _as_set(self._world.detect("distance", within=clearance).pairs)


def _as_set(pairs: Any) -> Found:
    return {(a, b) for a, b in pairs.tolist()}


class TrimeshManager:
    """All parts in one manager, which finds all pairs that collide in one call; of distances it tells the smallest."""

    def __init__(self, bodies: Sequence[Mesh], poses: Floats) -> None:
        self._manager = _manager()
        for number, (mesh, pose) in enumerate(zip(_trimeshes(bodies), poses, strict=True)):
            self._manager.add_object(str(number), mesh, pose)

    def move(self, poses: Floats) -> None:
        for number, pose in enumerate(poses):
            self._manager.set_transform(str(number), pose)

    def collides(self, pairs: PairsOfBoxes) -> Found:
        _, names = self._manager.in_collision_internal(return_names=True)
        found = ((int(a), int(b)) for a, b in names)
        return {(min(pair), max(pair)) for pair in found}


class TrimeshManagers:
    """A manager for each part, which keeps its model; each is tested against each that its box overlaps."""

    def __init__(self, bodies: Sequence[Mesh], poses: Floats) -> None:
        self._managers = [_manager() for _ in bodies]
        for manager, mesh, pose in zip(self._managers, _trimeshes(bodies), poses, strict=True):
            manager.add_object("part", mesh, pose)

    def move(self, poses: Floats) -> None:
        for manager, pose in zip(self._managers, poses, strict=True):
            manager.set_transform("part", pose)

    def collides(self, pairs: PairsOfBoxes) -> Found:
        return {(a, b) for a, b in pairs if self._managers[a].in_collision_other(self._managers[b])}

    def closer_than(self, clearance: float, pairs: PairsOfBoxes) -> Found:
        return {(a, b) for a, b in pairs if self.distance(a, b) <= clearance}

    def distance(self, a: int, b: int) -> float:
        return max(float(self._managers[a].min_distance_other(self._managers[b])), 0.0)


class TrimeshSingles(TrimeshManagers):
    """As before, but the second part is given as a mesh (the smaller one): its model is made in every call."""

    def __init__(self, bodies: Sequence[Mesh], poses: Floats) -> None:
        super().__init__(bodies, poses)
        self._meshes, self._poses = _trimeshes(bodies), poses

    def move(self, poses: Floats) -> None:
        super().move(poses)
        self._poses = poses

    def collides(self, pairs: PairsOfBoxes) -> Found:
        return {pair for pair in pairs if self._ask("in_collision_single", pair)}

    def closer_than(self, clearance: float, pairs: PairsOfBoxes) -> Found:
        return {pair for pair in pairs if self._ask("min_distance_single", pair) <= clearance}

    def _ask(self, query: str, pair: tuple[int, int]) -> Any:
        kept, given = sorted(pair, key=lambda number: -len(self._meshes[number].faces))
        return getattr(self._managers[kept], query)(self._meshes[given], self._poses[given])


def _manager() -> Any:
    import_module("fcl")  # without it trimesh says so by another error
    return import_module("trimesh.collision").CollisionManager()


def _trimeshes(bodies: Sequence[Mesh]) -> list[Any]:
    make = import_module("trimesh").Trimesh
    made = {id(body): make(body.vertices, body.faces, process=False) for body in _different(bodies)}
    return [made[id(body)] for body in bodies]


def _different(bodies: Sequence[Mesh]) -> list[Mesh]:
    return list({id(body): body for body in bodies}.values())


class FclPairs:
    """python-fcl itself: models are shared, poses in double precision."""

    def __init__(self, bodies: Sequence[Mesh], poses: Floats) -> None:
        self._fcl: Any = import_module("fcl")
        models = {id(body): fcl_model(body) for body in _different(bodies)}
        self._objects = [self._fcl.CollisionObject(models[id(body)]) for body in bodies]
        self._first = self._fcl.CollisionRequest(num_max_contacts=1)
        self._closest = self._fcl.DistanceRequest()
        self.move(poses)

    def move(self, poses: Floats) -> None:
        for part, pose in zip(self._objects, poses, strict=True):
            part.setTransform(self._fcl.Transform(pose[:3, :3], pose[:3, 3]))

    def collides(self, pairs: PairsOfBoxes) -> Found:
        return {(a, b) for a, b in pairs if self._collide(a, b)}

    def _collide(self, a: int, b: int) -> bool:
        return bool(self._fcl.collide(self._objects[a], self._objects[b], self._first, self._fcl.CollisionResult()))

    def closer_than(self, clearance: float, pairs: PairsOfBoxes) -> Found:
        return {(a, b) for a, b in pairs if self.distance(a, b) <= clearance}

    def distance(self, a: int, b: int) -> float:
        found = self._fcl.DistanceResult()
        return max(float(self._fcl.distance(self._objects[a], self._objects[b], self._closest, found)), 0.0)


class CoalPairs:
    """coal: models are shared; its security margin answers about a clearance."""

    def __init__(self, bodies: Sequence[Mesh], poses: Floats) -> None:
        self._coal: Any = import_module("coal")
        models = {id(body): coal_model(body) for body in _different(bodies)}
        self._models = [models[id(body)] for body in bodies]
        self._request = self._coal.CollisionRequest(self._coal.CollisionRequestFlag.NO_REQUEST, 1)
        self._closest = self._coal.DistanceRequest()
        self.move(poses)

    def move(self, poses: Floats) -> None:
        self._placed = [self._coal.Transform3s(pose[:3, :3], pose[:3, 3]) for pose in poses]

    def collides(self, pairs: PairsOfBoxes) -> Found:
        return self.closer_than(0.0, pairs)

    def closer_than(self, clearance: float, pairs: PairsOfBoxes) -> Found:
        self._request.security_margin = clearance
        return {(a, b) for a, b in pairs if self._collide(a, b)}

    def _collide(self, a: int, b: int) -> bool:
        models, placed = self._models, self._placed
        found = self._coal.CollisionResult()
        return bool(self._coal.collide(models[a], placed[a], models[b], placed[b], self._request, found))

    def distance(self, a: int, b: int) -> float:
        models, placed = self._models, self._placed
        found = self._coal.DistanceResult()
        return max(float(self._coal.distance(models[a], placed[a], models[b], placed[b], self._closest, found)), 0.0)


Make = Callable[[Sequence[Mesh], Floats], Any]

CONTENDERS: dict[str, Make] = {
    OURS: OurWorld,
    OURS_WITH_HULLS: partial(OurWorld, hulls="gjk"),
    OUR_DISTANCES: OurDistances,
    MANAGER: TrimeshManager,
    MANAGERS: TrimeshManagers,
    SINGLES: TrimeshSingles,
    FCL: FclPairs,
    COAL: CoalPairs,
}
