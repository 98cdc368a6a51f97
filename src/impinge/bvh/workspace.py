# mypy: allow-untyped-defs, allow-incomplete-defs
"""Mutable state of a traversal: the stack of open pairs, counters, the best answer so far, a buffer for contacts.

It lives outside the kernel, so that a traversal can be stopped and resumed, and so that asking a question
allocates nothing.  One thread uses a workspace at a time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.core import config
from numpy.typing import NDArray

from impinge.arrays import Floats
from impinge.bvh.layout import WIDTH
from impinge.bvh.relative_motion import MOTION_COLUMNS, VIEW_COLUMNS
from impinge.kernels.jit import inlined
from impinge.kernels.memory import address_of, table

# Places in ``counters``.
OPEN = 0
"""Open pairs of volumes on the stack."""
BOX_TESTS = 1
TRIANGLE_TESTS = 2
FOUND = 3
"""Rows used of ``pairs``."""
BUDGET = 4
"""The number of box tests at which the traversal stops."""
FACE_A = 5
FACE_B = 6
"""The witness: places of two triangles that meet, or that are nearest.  Kept from one question to the next."""
POSE = 7
"""The pose that is being answered."""
RESUMED = 8
"""Whether the traversal for this pose was begun before."""
MODE = 9
"""How the traversal deals with the front: see front."""
FRONT = 10
"""Entries of the front; negative where there is none."""
COHERENT = 11
"""Whether poses follow each other closely, so that a front pays."""
WITNESS = 12
"""Whether there is a witness."""
SWEPT = 13
"""Entries of the front that were visited in this pose."""
SWEEP_END = 14
"""Entries that it had before."""
SEEN = 15
"""Whether there was a pose before."""
FRONT_FULL = 16
"""Whether a front was given up because its buffer was full."""
TESTS_BEFORE = 17
"""Comparisons of volumes before this pose."""
PLAIN_TESTS = 18
"""Comparisons that a traversal from scratch took when the front was made; for contacts, and for distances."""
PAUSE = 20
"""For so many poses no front is tried."""
LAST_PAUSE = 21
RECORDED = 22
"""Entries of the front when it was made."""
HEAP = 23
"""Pairs at the bottom of the stack that form a heap."""
HEAP_LEFT = 24
"""So many volumes may still be opened best first."""
_COUNTERS = 25
# What is counted for one question only; the rest lasts.
OF_ONE_QUESTION = np.array([OPEN, BOX_TESTS, TRIANGLE_TESTS, FRONT_FULL])

NO_BUDGET = 1 << 62
AT_ONCE = 1 << 16
"""Box tests after which a kernel returns, so that a question can be interrupted (``kernels.interruptible``).  A test
takes some 10 ns, a pair of triangles for each of them up to a microsecond, and calling the kernel again about one."""
FOR_EVER = 1 << 62

# Places in ``sizes``.
ASKED = 0
"""Where the poses end that are asked about,"""
PAIRS_ROOM = 1
FRONT_ROOM = 2
FIRST = 3
"""and where they begin."""
_SIZES = 4

LARGEST_FRONT = 1 << 24
"""Entries; 320 MB."""

# Places in ``numbers``.
BEST = 0
"""The smallest distance so far, in world units."""
POINTS = 1
"""Two points that have it."""
REACH = 7
"""The distance that is still of interest, in world units."""
MOVED = 8
"""How far any point may have moved since the front was made, in world units: the length of its way."""
CLEARANCE = 9
"""The clearance that is asked about."""
ORIGINS_APART = 10
"""In far view (see far_view) how far the posed origins are apart, in world units; otherwise zero."""
_NUMBERS = 11


BEST_FIRST = 300
"""So many volumes are opened best first, which soon finds a small distance; then depth first, nearest child first,
which needs no heap.  Depth first alone takes 3.2 times as many comparisons on the torus on land, 4.5 times on the
pipes and 1.6 times on the tori.  Volumes that overlap come in order of how deep they do, for a first contact too."""

# What squared bounds may exceed the truth by, relative, as a distance: see leaf_operations.
_BELOW = 1.0 - 2.0**-18


class TraversalTables(NamedTuple):
    """The arrays of a workspace, as kernels see them."""

    refs: Any
    """(n, 2) int32: slots of a and b."""
    bounds: Any
    """(n,) float32: squared lower bounds of their distance, in local units of a (in far view: bounds there)."""
    pairs: Any
    """(m,) int64: contacts, see contact_keys."""
    front_refs: Any
    """(k, 3) int32: entries of the front."""
    front_keys: Any
    """(k,) their keys: lower bounds of the distances there and the way that was gone by then, in world units."""
    counters: Any
    numbers: Any
    reach: Any
    """(2,) float32: what bounds are compared with, in local units of a and of b: the square of numbers[REACH], or, in
    far view, what it exceeds the distance of the origins by."""
    lanes: Any
    """(8,) float32: lower bounds for volumes."""
    corner_lanes: Any
    """(8,) float32: lower bounds for triangles."""
    motions: Any
    """(2, 15) float32: b seen from a, a seen from b (see relative_motion)."""
    views: Any
    """(2, 22) float32: far view, from a and from b."""
    placements: Any
    """(2, 12) float64: b seen from a in world units: now, and in the pose before."""
    poses: Any
    """(2, 4, 4) the poses of a and b."""
    sizes: Any
    asked_a: Any
    asked_b: Any
    """(n, 4, 4) the poses that are asked about."""
    answers: Any
    """(n,) int8, or:"""
    values: Any
    """(n,) distances,"""
    points: Any
    """(n * 6,) the points that have them,"""
    faces: Any
    """(n * 2,) int32: and their faces."""


_COLUMNS = len(TraversalTables._fields)
_ASKED_AT = TraversalTables._fields.index("asked_a")


class Results(NamedTuple):
    """Where the results of a question go, as far as it has them."""

    answers: NDArray[np.bool_] | NDArray[np.int8] = np.zeros(0, dtype=np.int8)
    values: Floats = np.zeros(0)
    points: Floats = np.zeros(0)
    faces: NDArray[np.int32] = np.zeros(0, dtype=np.int32)


class TraversalWorkspace:
    """Mutable state of traversals: owns the arrays and knows their address."""

    def __init__(self, front: int = 0) -> None:
        self.counters = np.zeros(_COUNTERS, dtype=np.int64)
        self.counters[FRONT] = -1
        self.counters[BUDGET] = NO_BUDGET
        self.counters[COHERENT] = front > 0
        self.numbers = np.zeros(_NUMBERS)
        self.poses = np.zeros((2, 4, 4))
        self._small = (
            np.zeros(2, dtype=np.float32),
            np.zeros(WIDTH, dtype=np.float32),
            np.zeros(WIDTH, dtype=np.float32),
            np.zeros((2, MOTION_COLUMNS), dtype=np.float32),
            np.zeros((2, VIEW_COLUMNS), dtype=np.float32),
            np.zeros((2, 12)),
        )
        self.pairs = np.zeros(1 << 14, dtype=np.int64)
        self.front = front
        self._sizes = np.zeros(_SIZES, dtype=np.int64)
        self.stack = 4096
        self._allocate(self.stack)
        self.single_poses = self.poses.data.cast("B")
        """Both poses as bytes: filling them this way takes a quarter of the time of an assignment to the array."""
        self.ask_single()

    def _allocate(self, stack: int) -> None:
        nowhere = Results()
        self._work = TraversalTables(
            np.zeros((stack, 2), dtype=np.int32),
            np.zeros(stack, dtype=np.float32),
            self.pairs,
            np.zeros((self.front, 3), dtype=np.int32),
            np.zeros(self.front),
            self.counters,
            self.numbers,
            *self._small,
            self.poses,
            self._sizes,
            self.poses[:1],
            self.poses[1:],
            *nowhere,
        )
        self._sizes[:] = 1, len(self.pairs), self.front, 0
        if config.DISABLE_JIT:
            self.address: Any = self
            return
        self._header = np.array([address_of(array) for array in self._work] + [stack], dtype=np.int64)
        self.address = address_of(self._header)

    def ask(self, poses_a: Floats, poses_b: Floats, results: Results) -> None:
        """Say which poses the next question is about, and where its results go."""
        self.is_single = False
        asked = (poses_a, poses_b, *(result.reshape(-1) for result in results))
        self._work = TraversalTables(*self._work[:_ASKED_AT], *asked)
        self.ask_part(0, len(poses_a))
        if not config.DISABLE_JIT:
            self._header[_ASKED_AT:_COLUMNS] = [address_of(array) for array in asked]

    def ask_part(self, first: int, end: int) -> None:
        """The next call is about these of the poses."""
        self._sizes[FIRST] = first
        self._sizes[ASKED] = end
        self.counters[POSE] = first

    def ask_single(self) -> None:
        """The next questions are about the poses in ``single_poses``."""
        self.first_pose()
        self.answers = np.zeros(1, dtype=np.bool_)
        self.values = np.zeros(1)
        self.points = np.zeros((2, 3))
        self.faces = np.zeros(2, dtype=np.int32)
        self.ask(self.poses[:1], self.poses[1:], Results(self.answers, self.values, self.points, self.faces))
        self.is_single = True

    def begin(self, stack: int) -> None:
        """Get ready for a question with a stack of this size."""
        if stack > self.stack or self.counters[FRONT_FULL]:
            stack = max(self.stack, stack)
            self.stack = 0  # too small for any question, should this be interrupted
            if self.counters[FRONT_FULL]:
                self.counters[PAUSE] = 0 if self.front < LARGEST_FRONT else FOR_EVER
                self.front = min(8 * self.front, LARGEST_FRONT)
            self.counters[FRONT] = -1
            self._allocate(stack)
            self.ask_single()
            self.stack = stack
        if self.counters[COHERENT]:
            self.first_pose()
            self.counters[OF_ONE_QUESTION] = 0
        else:
            self.counters[:] = 0
            self.counters[FRONT] = -1
            self.counters[BUDGET] = NO_BUDGET

    def allow(self, box_tests: int) -> None:
        """Let the question stop after so many more comparisons of volumes."""
        self.counters[BUDGET] = self.counters[BOX_TESTS] + box_tests

    def open_bound(self, unit: float) -> float:
        """No pair that is still open is nearer than this; ``unit`` is that of a."""
        pairs = self._work.bounds[: self.counters[OPEN]]
        if len(pairs) == 0:
            return np.inf
        bound = float(pairs.min())
        if self.numbers[ORIGINS_APART] > 0.0:
            return max(0.0, float(self.numbers[ORIGINS_APART]) + bound * unit)
        return float(np.sqrt(max(0.0, bound))) * unit * _BELOW

    def set_clearance(self, clearance: float) -> None:
        self.numbers[CLEARANCE] = clearance

    def first_pose(self) -> None:
        """Begin a search for contacts at the first pose, whatever became of the last one."""
        counters = self.counters
        if counters[RESUMED]:
            counters[FRONT] = -1  # it was cut short
            counters[RESUMED] = 0
        counters[POSE] = 0
        counters[FOUND] = 0

    def found_pairs(self) -> NDArray[np.int64]:
        """The contacts found since they were last taken."""
        return self.pairs[: self.counters[FOUND]].copy()

    def take_pairs(self) -> NDArray[np.int64]:
        """The contacts found since the last time."""
        found = self.found_pairs()
        self.counters[FOUND] = 0
        return found

    def tests(self) -> tuple[int, int]:
        """How many volumes and triangles were compared."""
        return int(self.counters[BOX_TESTS]), int(self.counters[TRIANGLE_TESTS])


if config.DISABLE_JIT:

    def work_at(address: Any) -> Any:
        """The arrays of a workspace."""
        return address._work

else:
    _addresses = table(np.int64)
    _integers = table(np.int64)
    _doubles = table(np.float64)
    _floats = table(np.float32)
    _faces = table(np.int32)
    _answers = table(np.int8)
    _pairs_of_refs = table(np.int32, 2)
    _front_refs = table(np.int32, 3)
    _motions = table(np.float32, MOTION_COLUMNS)
    _views = table(np.float32, VIEW_COLUMNS)
    _placements = table(np.float64, 12)
    _poses = table(np.float64, 4, 4)

    @inlined
    def work_at(address):
        """The tables of a workspace, in the order of TraversalTables."""
        header = _addresses(address, _COLUMNS + 1)
        stack = header[_COLUMNS]
        sizes = _integers(header[14], _SIZES)
        asked = sizes[ASKED]
        return TraversalTables(
            _pairs_of_refs(header[0], stack),
            _floats(header[1], stack),
            _integers(header[2], sizes[PAIRS_ROOM]),
            _front_refs(header[3], sizes[FRONT_ROOM]),
            _doubles(header[4], sizes[FRONT_ROOM]),
            _integers(header[5], _COUNTERS),
            _doubles(header[6], _NUMBERS),
            _floats(header[7], 2),
            _floats(header[8], WIDTH),
            _floats(header[9], WIDTH),
            _motions(header[10], 2),
            _views(header[11], 2),
            _placements(header[12], 2),
            _poses(header[13], 2),
            sizes,
            _poses(header[15], asked),
            _poses(header[16], asked),
            _answers(header[17], asked),
            _doubles(header[18], asked),
            _doubles(header[19], 6 * asked),
            _faces(header[20], 2 * asked),
        )
