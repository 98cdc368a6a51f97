"""Method: how the queries about two bodies are answered.

A method is a class; an instance of it is about two bodies.  ``queries.dispatch`` chooses one by the types of the
bodies and the name that the caller gives.  It has two ways to answer:

- for batches (k, 4, 4) of checked poses, the methods ``collides``, ``closer_than``, ``distance``, ``contacts``,
  ``penetration`` and ``relation``, as far as its family has them;
- for one pose of each body, ``collides_once`` and so on, straight from two (4, 4) arrays to the kernel.  For two boxes
  far apart the arithmetic takes a tenth of a microsecond; checking, broadcasting and shaping a batch of one takes
  fifty and more.  They return None for whatever is unusual, which is then left to the batch.

What is remembered between queries is the *memory* of a ``Pair``, made by ``new_memory``; what it is, only the method
knows.  From scratch it is None.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.arrays import Bools, Floats
from impinge.bvh.search import Statistics
from impinge.errors import Unsupported
from impinge.queries.batch import Batch
from impinge.results import Contacts, Distance

MethodName = Literal["auto", "obb", "incremental", "brute", "gjk", "vclip", "lin-canny"]
"""Names of methods: the first four for meshes, "auto" and the last three for convex bodies."""


class DistanceColumns(NamedTuple):
    """Distances in k poses."""

    values: Floats
    points: Floats
    """(k, 2, 3) the witness points on a and b."""
    faces: NDArray[np.int32]
    """(k, 2)"""
    features: NDArray[np.int32] | None = None
    """(k, 4) kind and index of the nearest feature of a, then of b; for convex bodies."""


class ContactColumns(NamedTuple):
    """Contacts, in the order of poses and faces."""

    pairs: NDArray[np.int64]
    """(n, 4) pose, face of a, face of b, kind."""
    segments: Floats
    """(n, 2, 3)"""
    normals: Floats
    """(n, 3)"""


class PenetrationColumns(NamedTuple):
    """How deep two bodies are in each other in k poses."""

    depths: Floats
    directions: Floats
    """(k, 3)"""
    points: Floats
    """(k, 2, 3)"""
    bounds: Floats
    """(k, 2) certain bounds of the depths."""


class Method:
    """Two bodies, and how queries about them are answered."""

    checks_poses: ClassVar[bool] = False
    """Whether its kernels check poses themselves, and raise ``NotRigid``."""
    has_triangles: ClassVar[bool] = False
    """Whether it answers contacts and relation."""
    has_depths: ClassVar[bool] = False
    """Whether it answers penetration."""
    remembers: ClassVar[bool] = True
    """Whether a ``Pair`` has any use for it."""

    def __init__(self, a: Any, b: Any, memory: Any = None) -> None:
        self.a = a
        self.b = b

    @classmethod
    def batch(
        cls,
        a: Any,
        b: Any,
        pose_a: ArrayLike | None,
        pose_b: ArrayLike | None,
        workers: int = 1,
        in_one: bool = False,
    ) -> Batch:
        """The poses of a query, checked unless its kernels do that."""
        return Batch(a, b, pose_a, pose_b, workers, in_one, checked_by_kernel=cls.checks_poses)

    # --- what a Pair keeps

    @classmethod
    def new_memory(cls, a: Any, b: Any) -> Any:
        """What is remembered between queries, if anything; options of the method are its other parameters."""
        return None

    @staticmethod
    def statistics(memory: Any) -> Statistics:
        """What the last query with this memory took."""
        return Statistics(0, 0, 0)

    @staticmethod
    def problems(a: Any, b: Any) -> tuple[str, ...]:
        """What of the method's assumptions does not hold for these bodies."""
        return ()

    # --- one pose of each body; None: take the general way

    @staticmethod
    def collides_once(
        a: Any, b: Any, memory: Any, pose_a: ArrayLike | None, pose_b: ArrayLike | None
    ) -> np.bool_ | None:
        return None

    @staticmethod
    def closer_than_once(
        a: Any, b: Any, memory: Any, clearance: float, pose_a: ArrayLike | None, pose_b: ArrayLike | None
    ) -> np.bool_ | None:
        return None

    @staticmethod
    def distance_once(
        a: Any, b: Any, memory: Any, pose_a: ArrayLike | None, pose_b: ArrayLike | None
    ) -> Distance | None:
        return None

    @staticmethod
    def contacts_once(
        a: Any, b: Any, memory: Any, pose_a: ArrayLike | None, pose_b: ArrayLike | None
    ) -> Contacts | None:
        return None

    # --- batches of poses (k, 4, 4), k may be 0; those that a family has not are never called

    def collides(self, poses_a: Floats, poses_b: Floats) -> Bools:
        raise Unsupported("collides")

    def closer_than(self, clearance: float, poses_a: Floats, poses_b: Floats) -> Bools:
        raise Unsupported("closer_than")

    def distance(self, poses_a: Floats, poses_b: Floats) -> DistanceColumns:
        raise Unsupported("distance")

    def contacts(self, poses_a: Floats, poses_b: Floats, most: int | None = None) -> ContactColumns:
        """All contacts; at most ``most`` and one, which tells that there are more."""
        raise Unsupported("contacts")

    def penetration(self, poses_a: Floats, poses_b: Floats) -> PenetrationColumns:
        raise Unsupported("penetration")

    def relation(
        self, poses_a: Floats, poses_b: Floats, pairs: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.int64], Bools]:
        """The cells of ``geometry.solids.cells``, and whether surfaces touch; ``pairs`` are contacts, if known."""
        raise Unsupported("relation")
