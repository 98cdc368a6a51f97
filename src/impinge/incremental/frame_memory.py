# mypy: allow-untyped-defs, allow-incomplete-defs
"""Temporal coherence of two bodies: sorted lists kept from frame to frame, and the mutable state of their queries.

Ponamgi, Manocha and Lin (1995), 4.7: memory follows what interacts.  Sorted lists exist for the pairs of nodes that
were reached in the last frame, one behind the other.  A frame writes its lists behind each other in the other half of
the memory, each beginning with the order of the last frame; what it does not reach is thereby given up.  Halves grow
when they are full, and the frame is begun again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.core import config
from numpy.typing import NDArray

from impinge.arrays import Floats
from impinge.incremental.hierarchy.hierarchy_handle import HierarchyHandle
from impinge.kernels.jit import inlined
from impinge.kernels.memory import address_of, table

# Places in ``counters``.
FRAME = 0
"""The number of the frame: what was computed in an earlier one is not valid."""
HALF = 1
"""Which half holds the lists of the last frame,"""
KEPT = 2
"""how many there are,"""
LISTED = 3
"""and how many items are in them together."""
POSE = 4
"""The pose that is being answered."""
FOUND = 5
"""Contacts so far."""
BOX_TESTS = 6
TRIANGLE_TESTS = 7
EXCHANGES = 8
ENTRY_A = 9
ENTRY_B = 10
"""The witness: entries that met, or were nearest; -1 where there is none."""
START_A = 11
START_B = 12
"""The nodes below which all contacts of the last frame were."""
FIRST_ONLY = 13
"""Whether one contact is enough."""
PAIRS_ROOM = 14
ITEMS_ROOM = 15
SLOTS_ROOM = 16
FOUND_ROOM = 17
STACK_ROOM = 18
SCRATCH_ROOM = 19
ASKED = 20
_COUNTERS = 21

# Places in ``numbers``.
REGION = 0
"""Six numbers: contacts are of interest in this box only, which is known to hold all of them."""
CLEARANCE = 6
_NUMBERS = 7

# What a kernel may answer when a buffer is full.
DONE = 0
MORE_PAIRS = 1
MORE_ITEMS = 2
MORE_FOUND = 3
MORE_STACK = 4


_ROOM_FOR = {MORE_PAIRS: PAIRS_ROOM, MORE_ITEMS: ITEMS_ROOM, MORE_FOUND: FOUND_ROOM, MORE_STACK: STACK_ROOM}
_FEWEST = np.array([64, 1024, 1024, 1024])
"""Sizes of the buffers for pairs, items, contacts, and open pairs of a search for distances."""
_OF_ONE_QUESTION = np.array([POSE, FOUND, BOX_TESTS, TRIANGLE_TESTS, EXCHANGES])


class SweepTables(NamedTuple):
    """The arrays of a memory, as kernels see them."""

    boxes_a: Any
    boxes_b: Any
    """(items, 6) see box_updates, as the next four."""
    triangles_a: Any
    triangles_b: Any
    opened_a: Any
    opened_b: Any
    pairs: Any
    """(2 n, 4) pairs of nodes with sorted lists: the nodes, the axis, where the list begins."""
    items: Any
    """(2 n,) int32: the sorted lists."""
    slots: Any
    """(2 n,) int32: where a pair is found, by hashing."""
    keys: Any
    """What one list is sorted by,"""
    scratch: Any
    """(3 n,) int32: and scratch to sort it, and for its items of either body that count."""
    found: Any
    """(n,) keys of contacts (bvh.contact_keys), without the pose."""
    stack: Any
    """(n, 2) int32: open pairs of items in a search for distances,"""
    bounds: Any
    """(n,) and the squares of the gaps of their boxes."""
    counters: Any
    numbers: Any
    poses_a: Any
    poses_b: Any
    """(k, 4, 4) what is asked about."""
    answers: Any
    """(k,) int8, or:"""
    ends: Any
    """(k,) how many contacts were found up to and including this pose,"""
    values: Any
    points: Any
    faces: Any
    """or distances, points (k, 6) and faces (k, 2) int32."""


_COLUMNS = len(SweepTables._fields)
_ASKED_AT = SweepTables._fields.index("poses_a")


class Results(NamedTuple):
    """Where the results of a question go, as far as it has them."""

    answers: NDArray[np.int8]
    ends: NDArray[np.int64]
    values: Floats
    points: Floats
    faces: NDArray[np.int32]


def _room_for_results(count: int) -> Results:
    return Results(
        np.zeros(count, dtype=np.int8),
        np.zeros(count, dtype=np.int64),
        np.zeros(count),
        np.zeros((count, 6)),
        np.zeros((count, 2), dtype=np.int32),
    )


class Memory:
    """Owns the arrays and knows their address.  One thread uses it at a time."""

    def __init__(self, a: HierarchyHandle, b: HierarchyHandle) -> None:
        self.counters = np.zeros(_COUNTERS, dtype=np.int64)
        self.numbers = np.zeros(_NUMBERS)
        self.counters[[PAIRS_ROOM, ITEMS_ROOM, FOUND_ROOM, STACK_ROOM]] = _FEWEST
        self.counters[SCRATCH_ROOM] = a.widest + b.widest
        self._own = (
            np.empty((a.nodes + a.entries, 6)),
            np.empty((b.nodes + b.entries, 6)),
            np.empty((a.entries, 3, 3)),
            np.empty((b.entries, 3, 3)),
            np.zeros(a.nodes, dtype=np.int64),
            np.zeros(b.nodes, dtype=np.int64),
        )
        self._keys = np.empty(a.widest + b.widest)
        self._scratch = np.empty(3 * (a.widest + b.widest), dtype=np.int32)
        self._found = np.empty(0, dtype=np.int64)
        self._stack: tuple[Any, ...] = ()
        self._header = np.zeros(_COLUMNS + 4, dtype=np.int64)
        self._header[_COLUMNS:] = a.nodes, a.entries, b.nodes, b.entries
        # One pose is the commonest question: its arrays stay where they are.
        self._single = (np.zeros((1, 4, 4)), np.zeros((1, 4, 4)), *_room_for_results(1))
        self._asked: tuple[Any, ...] = ()
        self.forget()
        self._make_room()
        self.anywhere()

    def forget(self) -> None:
        """Give up all sorted lists and the witness."""
        counters = self.counters
        pairs, items = int(counters[PAIRS_ROOM]), int(counters[ITEMS_ROOM])
        slots = 4 * pairs  # a power of two, as pairs are; at most a quarter is taken
        self._lists = (
            np.zeros((2 * pairs, 4), dtype=np.int64),
            np.zeros(2 * items, dtype=np.int32),
            np.full(2 * slots, -1, dtype=np.int32),
        )
        self._is_new = True
        counters[SLOTS_ROOM] = slots
        counters[[KEPT, LISTED, START_A, START_B]] = 0
        counters[[ENTRY_A, ENTRY_B]] = -1

    def _make_room(self) -> None:
        found, stack = self.counters[[FOUND_ROOM, STACK_ROOM]].tolist()
        if len(self._found) < found:
            self._found = np.concatenate([self._found, np.empty(found - len(self._found), dtype=np.int64)])
        self._stack = (np.empty((stack, 2), dtype=np.int32), np.empty(stack))

    def grow(self, answer: int) -> None:
        """Enlarge the buffers, as a kernel has asked for; lists of the last frame are then made anew."""
        before = self.counters.copy()
        self._is_new = True
        self.counters[_ROOM_FOR[answer]] *= 4
        try:
            if answer in (MORE_PAIRS, MORE_ITEMS):
                self.forget()
            else:
                self._make_room()
        except BaseException:  # out of memory, or interrupted: no kernel may use memory that is not there
            self.counters[:] = before
            raise

    def _give_back(self) -> None:
        """After a frame that needed far more than the last one: buffers become smaller, and lists are made anew."""
        counters = self.counters
        room, used = counters[[PAIRS_ROOM, ITEMS_ROOM]], counters[[KEPT, LISTED]]
        if (room > _FEWEST[:2]).any() and (16 * used < room).all():
            counters[[PAIRS_ROOM, ITEMS_ROOM]] = np.maximum(room // 4, _FEWEST[:2])
            self.forget()
        if counters[FOUND_ROOM] > max(_FEWEST[2], 16 * counters[FOUND]):
            counters[FOUND_ROOM] //= 4
            self._found = self._found[: counters[FOUND_ROOM]].copy()
            self._is_new = True

    def anywhere(self) -> None:
        """All contacts are of interest, wherever they are."""
        self.numbers[REGION : REGION + 3] = -np.inf
        self.numbers[REGION + 3 : REGION + 6] = np.inf

    def within(self, box: Floats) -> None:
        """Contacts are known to be in this box (2, 3)."""
        self.numbers[REGION : REGION + 6] = box.reshape(6)

    def ask(self, poses_a: Floats, poses_b: Floats) -> Results:
        """Say which poses the next question is about; returns where its results will be until the next one."""
        self._give_back()
        self.anywhere()
        self.counters[_OF_ONE_QUESTION] = 0
        self.counters[ASKED] = len(poses_a)
        if len(poses_a) == 1:
            asked = self._single
            asked[0][:], asked[1][:] = poses_a, poses_b
        else:
            asked = (
                np.ascontiguousarray(poses_a), np.ascontiguousarray(poses_b), *_room_for_results(len(poses_a)),
            )  # fmt: skip
        if asked is not self._asked:
            self._asked = asked
            if not config.DISABLE_JIT:
                self._header[_ASKED_AT:_COLUMNS] = [address_of(array) for array in asked]
        return Results(*asked[2:])

    @property
    def address(self) -> Any:
        """Where kernels find the arrays."""
        if config.DISABLE_JIT:
            return SweepTables(*self._lasting, *self._asked)
        if self._is_new:
            self._header[:_ASKED_AT] = [address_of(array) for array in self._lasting]
            self._is_new = False
        return address_of(self._header)

    @property
    def _lasting(self) -> tuple[Any, ...]:
        """All arrays but those of one question."""
        return (
            *self._own, *self._lists, self._keys, self._scratch, self._found, *self._stack, self.counters, self.numbers,
        )  # fmt: skip

    def take_found(self) -> NDArray[np.int64]:
        """The contacts as numbers, in the order of poses."""
        return self._found[: self.counters[FOUND]].copy()

    @property
    def kept_bytes(self) -> int:
        """What the sorted lists take that are kept now."""
        return int(self.counters[KEPT] * (32 + 4 * 4) + self.counters[LISTED] * 4)


if config.DISABLE_JIT:

    def work_at(address: Any) -> Any:
        """The arrays of a memory."""
        return address

else:
    _addresses = table(np.int64)
    _integers = table(np.int64)
    _numbers = table(np.int32)
    _doubles = table(np.float64)
    _boxes = table(np.float64, 6)
    _triangles = table(np.float64, 3, 3)
    _pairs = table(np.int64, 4)
    _refs = table(np.int32, 2)
    _poses = table(np.float64, 4, 4)
    _answers = table(np.int8)
    _point_pairs = table(np.float64, 6)

    @inlined
    def work_at(address):
        """The tables of a memory, in the order of SweepTables."""
        header = _addresses(address, _COLUMNS + 4)
        nodes_a, entries_a = header[_COLUMNS], header[_COLUMNS + 1]
        nodes_b, entries_b = header[_COLUMNS + 2], header[_COLUMNS + 3]
        counters = _integers(header[14], _COUNTERS)
        asked = counters[ASKED]
        return SweepTables(
            _boxes(header[0], nodes_a + entries_a),
            _boxes(header[1], nodes_b + entries_b),
            _triangles(header[2], entries_a),
            _triangles(header[3], entries_b),
            _integers(header[4], nodes_a),
            _integers(header[5], nodes_b),
            _pairs(header[6], 2 * counters[PAIRS_ROOM]),
            _numbers(header[7], 2 * counters[ITEMS_ROOM]),
            _numbers(header[8], 2 * counters[SLOTS_ROOM]),
            _doubles(header[9], counters[SCRATCH_ROOM]),
            _numbers(header[10], 3 * counters[SCRATCH_ROOM]),
            _integers(header[11], counters[FOUND_ROOM]),
            _refs(header[12], counters[STACK_ROOM]),
            _doubles(header[13], counters[STACK_ROOM]),
            counters,
            _doubles(header[15], _NUMBERS),
            _poses(header[16], asked),
            _poses(header[17], asked),
            _answers(header[18], asked),
            _integers(header[19], asked),
            _doubles(header[20], asked),
            _point_pairs(header[21], asked),
            _refs(header[22], asked),
        )
