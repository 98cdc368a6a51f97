"""Many moving bodies in the libraries that a Python user would pick: the same loop over their managers.

Bodies and managers are made beforehand.  In a frame transforms go to each object, the manager is updated, and each pair
that it finds is tested for collision.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.lab.bench.convex_peers import coal_convex, fcl_convex
from impinge.lab.bench.peers import coal_model, fcl_model
from impinge.mesh.mesh import Mesh

Pairs = NDArray[np.int64]


class Frames(Protocol):
    """Made from bodies; called with poses (n, 4, 4), of the first n of them: others stay where they are."""

    def __call__(self, poses: Floats, box_pairs: Pairs) -> Pairs:
        """(k, 2) the pairs that collide."""
        ...


class FclWorld:
    """python-fcl: a dynamic tree; its callback, in Python, tests one pair."""

    def __init__(self, bodies: Sequence[Any], shape: Callable[[Any], Any] = fcl_model) -> None:
        fcl: Any = import_module("fcl")
        models = {id(body): shape(body) for body in {id(body): body for body in bodies}.values()}
        self._objects = [fcl.CollisionObject(models[id(body)]) for body in bodies]
        self._manager = fcl.DynamicAABBTreeCollisionManager()
        self._manager.registerObjects(self._objects)
        self._manager.setup()
        self._fcl = fcl
        self._request = fcl.CollisionRequest()

    def __call__(self, poses: Floats, box_pairs: Pairs) -> Pairs:
        fcl, request = self._fcl, self._request
        for body, pose in zip(self._objects, poses, strict=False):
            body.setTransform(fcl.Transform(pose[:3, :3], pose[:3, 3]))
        self._manager.update()
        met: list[bytes] = []

        def ask(a: Any, b: Any, _: Any) -> bool:
            if fcl.collide(a, b, request, fcl.CollisionResult()):
                # The objects are not those that were registered: what tells them apart is where they are.
                met.append(a.getTranslation().tobytes())
                met.append(b.getTranslation().tobytes())
            return False

        self._manager.collide(None, ask)
        number_at = {body.getTranslation().tobytes(): number for number, body in enumerate(self._objects)}
        return np.array([number_at[place] for place in met], dtype=np.int64).reshape(-1, 2)


class CoalWorld:
    """coal: a dynamic tree.

    Its pairs cannot be had in Python (``broad_peers.CoalManager``): they are counted by it, and given to it for free.
    """

    def __init__(self, bodies: Sequence[Any], shape: Callable[[Any], Any] = coal_model) -> None:
        coal: Any = import_module("coal")
        models = {id(body): shape(body) for body in {id(body): body for body in bodies}.values()}
        self._objects = [coal.CollisionObject(models[id(body)]) for body in bodies]
        self._manager = coal.DynamicAABBTreeCollisionManager()
        for each in self._objects:
            each.computeAABB()
            self._manager.registerObject(each)
        self._manager.setup()
        self._coal = coal
        self._request = coal.CollisionRequest(coal.CollisionRequestFlag.NO_REQUEST, 1)

    def __call__(self, poses: Floats, box_pairs: Pairs) -> Pairs:
        coal, request, objects = self._coal, self._request, self._objects
        for body, pose in zip(objects, poses, strict=False):
            body.setTransform(coal.Transform3s(pose[:3, :3], pose[:3, 3]))
            body.computeAABB()
        self._manager.update()
        self._manager.collide(coal.CollisionCallBackCollect(100 * len(objects)))
        met = [(a, b) for a, b in box_pairs.tolist() if self._collide(objects[a], objects[b], request)]
        return np.array(met, dtype=np.int64).reshape(-1, 2)

    def _collide(self, a: Any, b: Any, request: Any) -> bool:
        return bool(self._coal.collide(a, b, request, self._coal.CollisionResult()))


PEERS: dict[str, Callable[[Sequence[Mesh]], Frames]] = {"python-fcl": FclWorld, "coal": CoalWorld}
CONVEX_PEERS: dict[str, Callable[[Sequence[ConvexHull]], Frames]] = {
    "python-fcl": partial(FclWorld, shape=fcl_convex),
    "coal": partial(CoalWorld, shape=coal_convex),
}
