# mypy: allow-untyped-defs, allow-incomplete-defs
"""Mutable state of queries on two convex bodies, with the warm start that one leaves to the next.

It lives outside the kernel, so that asking allocates nothing.  One thread uses a workspace at a time.  A new one, all
zero, is a legal start.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.core import config
from numpy.typing import NDArray

from impinge.arrays import Floats
from impinge.convex.features.feature_pair import PAIR
from impinge.kernels.jit import inlined
from impinge.kernels.memory import address_of, table

# Places in ``counters``.
COUNT = 0
"""Corners of the simplex."""
IDS_A = 1
"""Their four vertices of a,"""
IDS_B = 5
"""and of b."""
KNOWN = 9
"""Whether simplex, pair and plane are those of an earlier pose."""
PLANE_A = 10
PLANE_B = 11
"""The vertices that are nearest to the kept plane."""
HAS_PLANE = 12
STEPS = 13
"""Directions that GJK has asked for."""
CAREFUL = 14
"""Walks in double-double arithmetic,"""
EXACT = 15
"""and in integers."""
CORRECTED = 16
"""Walks over features that claimed some which were not the nearest."""
STAMP = 17
"""The mark of the plateau that was visited last."""
_COUNTERS = 18

# Places in ``numbers``.
VALUE = 0
WEIGHTS = 1
"""Of the four corners: the nearest points are these combinations."""
LIMIT = 5
"""The clearance that is asked about."""
PLANE = 6
"""The normal of the kept plane, in the frame of a."""
LOWER = 9
"""The lower bound that GJK has found last."""
DIRECTION = 10
"""From b to a, square to the nearest simplex of bodies that are apart."""
_NUMBERS = 13

# Places in ``orders``: what is asked.
ASKED = 0
"""Where the poses end that are asked about (FIRST is where they begin)."""
QUESTION = 1
METHOD = 2
COHERENT = 3
"""Whether a pose begins with what the one before it has left."""
ROOM = 4
"""Vertices that the queue has room for."""
FIRST = 5
_ORDERS = 6

COLLIDES = 0
CLOSER_THAN = 1
DISTANCE = 2
BOUND = 3
"""A lower bound of the distance; only kernels ask for it."""

GJK = 0
VCLIP = 1
LIN_CANNY = 2

FEATURES = 6
"""Columns of the closest features: kind, index and face for a, then for b."""


class ConvexTables(NamedTuple):
    """The arrays of a workspace, as kernels see them."""

    rows: Any
    """(4, 9) the simplex: w = p - q, p of a, q of b in each row."""
    counters: Any
    numbers: Any
    pair: Any
    """The pair of features (``convex.features.feature_pair``)."""
    orders: Any
    queue: Any
    """(room,) int64: the vertices of a plateau, for as many vertices as the bodies have,"""
    stamps: Any
    """(room,) int64: and which of them were seen."""
    poses_a: Any
    poses_b: Any
    """(n, 4, 4)"""
    answers: Any
    """(n,) int8"""
    values: Any
    """(n,) distances,"""
    points: Any
    """(n, 6) the points that have them,"""
    features: Any
    """(n, 6) int32: and the features that carry these."""


_COLUMNS = len(ConvexTables._fields)
_ROOM = 256
_QUEUE_AT = ConvexTables._fields.index("queue")
_ASKED_AT = ConvexTables._fields.index("poses_a")


class ConvexWorkspace:
    """Mutable state of queries on two convex bodies: owns the arrays and knows their address."""

    __slots__ = (
        "_asked", "_header", "_plateaus", "_single", "address", "answers", "counters", "features", "nearest", "numbers",
        "orders", "pair", "points", "poses", "ready_for", "room", "rows", "single_poses", "values",
    )  # fmt: skip

    def __init__(self, coherent: bool = False) -> None:
        self.rows = np.zeros((4, 9))
        self.counters = np.zeros(_COUNTERS, dtype=np.int64)
        self.numbers = np.zeros(_NUMBERS)
        self.pair = np.zeros(PAIR, dtype=np.int64)
        self.orders = np.zeros(_ORDERS, dtype=np.int64)
        self.orders[COHERENT] = coherent
        self.poses = np.zeros((2, 4, 4))
        self.answers = np.zeros(1, dtype=np.int8)
        # In one piece, so that a single distance can be taken out at once.
        self.nearest = np.zeros(1 + 6 + FEATURES // 2)
        self.values = self.nearest[:1]
        self.points = self.nearest[1:7].reshape(1, 6)
        self.features = self.nearest[7:].view(np.int32).reshape(1, FEATURES)
        self._plateaus = [np.zeros((2, _ROOM), dtype=np.int64)]
        self.room = _ROOM
        queue, stamps = self._plateaus[0]
        own = (self.rows, self.counters, self.numbers, self.pair, self.orders, queue, stamps)
        single = (self.poses[:1], self.poses[1:], self.answers, self.values, self.points, self.features)
        self.single_poses: Any = self.poses.data.cast("B")
        """Where the bytes of two poses go, for a single question."""
        self._single = [address_of(array) for array in single]
        self.ready_for: tuple[Any, ...] | None = None
        """The single question that all is set for, by whatever name its asker gives it; None after any other."""
        self._asked: tuple[Any, ...] = ()
        if config.DISABLE_JIT:
            self.address: Any = self
            self._header: Any = ConvexTables(*own, *single)
        else:
            self._header = np.array([address_of(array) for array in own] + self._single, dtype=np.int64)
            self.address = address_of(self._header)
        self.orders[[ASKED, ROOM]] = 1, _ROOM

    def need_room(self, vertices: int) -> None:
        """For bodies with so many vertices."""
        if vertices > self.room:
            # In this order, so that no kernel uses memory that is not there, wherever this is interrupted.
            self._plateaus.append(np.zeros((2, 2 * vertices), dtype=np.int64))
            self._set(_QUEUE_AT, [address_of(array) for array in self._plateaus[-1]])
            self.orders[ROOM] = 2 * vertices
            self.room = 2 * vertices
            del self._plateaus[:-1]

    def ask(
        self, poses_a: Floats, poses_b: Floats, answers: NDArray[Any], values: Floats, points: Floats, features: Any
    ) -> None:
        """The next question is about these poses, and its results go there."""
        self.ready_for = None
        self._asked = (poses_a, poses_b, answers, values, points, features)  # keeps them alive
        self._set(_ASKED_AT, [address_of(array) for array in self._asked])
        self.ask_part(0, len(poses_a))

    def ask_part(self, first: int, end: int) -> None:
        """The next call is about these of the poses."""
        self.orders[FIRST] = first
        self.orders[ASKED] = end

    def ask_for(self, question: int, method: int) -> None:
        """What the next question is, and how it is to be answered."""
        self.ready_for = None
        self.orders[QUESTION] = question
        self.orders[METHOD] = method

    def ask_single(self, question: int, method: int, name: tuple[Any, ...]) -> None:
        """The next question is about ``single_poses``, and so are all that have the same name."""
        self.ask_for(question, method)
        self._set(_ASKED_AT, self._single)
        self.ask_part(0, 1)
        self._asked = ()
        self.ready_for = name

    def _set(self, place: int, addresses: list[Any]) -> None:
        end = place + len(addresses)
        if config.DISABLE_JIT:
            self._header = ConvexTables(*self._header[:place], *addresses, *self._header[end:])
        else:
            self._header[place:end] = addresses

    @property
    def tables(self) -> Any:
        """Without the compiler: the arrays."""
        return self._header


if config.DISABLE_JIT:

    def work_at(address: Any) -> Any:
        return address.tables

else:
    _header = table(np.int64)
    _simplex = table(np.float64, 9)
    _doubles = table(np.float64)
    _poses = table(np.float64, 4, 4)
    _bytes = table(np.int8)
    _points = table(np.float64, 6)
    _features = table(np.int32, FEATURES)

    @inlined
    def work_at(address):
        header = _header(address, _COLUMNS)
        orders = _header(header[4], _ORDERS)
        asked = orders[ASKED]
        return ConvexTables(
            _simplex(header[0], 4),
            _header(header[1], _COUNTERS),
            _doubles(header[2], _NUMBERS),
            _header(header[3], PAIR),
            orders,
            _header(header[5], orders[ROOM]),
            _header(header[6], orders[ROOM]),
            _poses(header[7], asked),
            _poses(header[8], asked),
            _bytes(header[9], asked),
            _doubles(header[10], asked),
            _points(header[11], asked),
            _features(header[12], asked),
        )
