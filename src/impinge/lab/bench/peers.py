"""The libraries that a Python user would pick instead: coal and python-fcl, called as such a user would.

From (4, 4) numpy poses to Python values and arrays: their transforms are made
inside every call, their models and requests beforehand.  Turning their contacts into an array adds 5 to 20 percent.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats
from impinge.errors import MissingExtra
from impinge.mesh.mesh import Mesh

_MANY = 10_000_000
"""Contacts that a peer may report: more than any scene has."""

FacePairs = NDArray[np.int64]
"""(k, 2) the triangles of each contact."""


class PairQueries(Protocol):
    """Two bodies that are ready to be queried."""

    def collides(self, pose_a: Floats, pose_b: Floats) -> bool: ...

    def contacts(self, pose_a: Floats, pose_b: Floats) -> FacePairs: ...

    def distance(self, pose_a: Floats, pose_b: Floats) -> float: ...

    def closer_than(self, clearance: float, pose_a: Floats, pose_b: Floats) -> bool: ...


class Coal:
    """coal (formerly hpp-fcl) with oriented boxes and swept spheres: its one hierarchy that answers everything."""

    def __init__(self, a: Mesh, b: Mesh) -> None:
        coal = self._coal = _peer("coal", "coal")
        self._a, self._b = coal_model(a), coal_model(b)
        self._first = coal.CollisionRequest(coal.CollisionRequestFlag.NO_REQUEST, 1)
        self._margin = coal.CollisionRequest(coal.CollisionRequestFlag.NO_REQUEST, 1)
        self._all = coal.CollisionRequest(coal.CollisionRequestFlag.CONTACT, _MANY)
        self._closest = coal.DistanceRequest()

    def _transforms(self, pose_a: Floats, pose_b: Floats) -> tuple[object, object]:
        transform = self._coal.Transform3s
        return transform(pose_a[:3, :3], pose_a[:3, 3]), transform(pose_b[:3, :3], pose_b[:3, 3])

    def collides(self, pose_a: Floats, pose_b: Floats) -> bool:
        here, there = self._transforms(pose_a, pose_b)
        return bool(self._coal.collide(self._a, here, self._b, there, self._first, self._coal.CollisionResult()))

    def contacts(self, pose_a: Floats, pose_b: Floats) -> FacePairs:
        here, there = self._transforms(pose_a, pose_b)
        found = self._coal.CollisionResult()
        self._coal.collide(self._a, here, self._b, there, self._all, found)
        return np.array([(one.b1, one.b2) for one in found.getContacts()], dtype=np.int64).reshape(-1, 2)

    def distance(self, pose_a: Floats, pose_b: Floats) -> float:
        """Nearest points are found with it; they stay in coal's result."""
        here, there = self._transforms(pose_a, pose_b)
        found = self._coal.DistanceResult()
        return max(float(self._coal.distance(self._a, here, self._b, there, self._closest, found)), 0.0)

    def closer_than(self, clearance: float, pose_a: Floats, pose_b: Floats) -> bool:
        """Through the security margin, which coal's traversal uses; several times faster than its distance."""
        here, there = self._transforms(pose_a, pose_b)
        self._margin.security_margin = clearance
        return bool(self._coal.collide(self._a, here, self._b, there, self._margin, self._coal.CollisionResult()))

    @property
    def nbytes(self) -> int:
        """Of both models."""
        return int(self._a.memUsage(False)) + int(self._b.memUsage(False))


def coal_model(mesh: Mesh) -> Any:
    coal = _peer("coal", "coal")
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(mesh.faces), len(mesh.vertices))
    model.addVertices(mesh.vertices)
    model.addTriangles(mesh.faces.astype(np.int64))
    model.endModel()
    return model


class Fcl:
    """python-fcl."""

    def __init__(self, a: Mesh, b: Mesh) -> None:
        fcl = self._fcl = _peer("fcl", "python-fcl")
        self._a, self._b = fcl.CollisionObject(fcl_model(a)), fcl.CollisionObject(fcl_model(b))
        self._first = fcl.CollisionRequest(num_max_contacts=1)
        self._all = fcl.CollisionRequest(num_max_contacts=_MANY, enable_contact=True)
        self._closest = fcl.DistanceRequest(enable_nearest_points=True)

    def _place(self, pose_a: Floats, pose_b: Floats) -> None:
        self._a.setTransform(self._fcl.Transform(pose_a[:3, :3], pose_a[:3, 3]))
        self._b.setTransform(self._fcl.Transform(pose_b[:3, :3], pose_b[:3, 3]))

    def collides(self, pose_a: Floats, pose_b: Floats) -> bool:
        self._place(pose_a, pose_b)
        return bool(self._fcl.collide(self._a, self._b, self._first, self._fcl.CollisionResult()))

    def contacts(self, pose_a: Floats, pose_b: Floats) -> FacePairs:
        self._place(pose_a, pose_b)
        found = self._fcl.CollisionResult()
        self._fcl.collide(self._a, self._b, self._all, found)
        return np.array([(one.b1, one.b2) for one in found.contacts], dtype=np.int64).reshape(-1, 2)

    def distance(self, pose_a: Floats, pose_b: Floats) -> float:
        self._place(pose_a, pose_b)
        return max(float(self._fcl.distance(self._a, self._b, self._closest, self._fcl.DistanceResult())), 0.0)

    def closer_than(self, clearance: float, pose_a: Floats, pose_b: Floats) -> bool:
        """Through the distance: there is no other way."""
        return self.distance(pose_a, pose_b) <= clearance


def fcl_model(mesh: Mesh) -> Any:
    fcl = _peer("fcl", "python-fcl")
    model = fcl.BVHModel()
    model.beginModel(len(mesh.vertices), len(mesh.faces))
    model.addSubModel(mesh.vertices, mesh.faces)
    model.endModel()
    return model


def _peer(module: str, package: str) -> ModuleType:
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra("the comparison with other libraries", package, "bench") from error
