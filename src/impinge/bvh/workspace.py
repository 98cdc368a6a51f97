# mypy: allow-untyped-defs, allow-incomplete-defs
"""Mutable state of a traversal: the stack of open pairs, counters, the best answer so far, a buffer for contacts.

It lives outside the kernel, so that a traversal can be stopped and resumed, and so that asking a question
allocates nothing.  One thread uses a workspace at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats
from impinge.bvh.far_view import View
from impinge.bvh.layout import WIDTH
from impinge.bvh.relative_motion import Motion, Placement
from impinge.kernels.record import Record, bool_, float32, float64, int8, int32, int64, records

NO_BUDGET = 1 << 62
AT_ONCE = 1 << 16
"""Box tests after which a kernel returns, so that a question can be interrupted (``kernels.interruptible``).  A test
takes some 10 ns, a pair of triangles for each of them up to a microsecond, and calling the kernel again about one."""
FOR_EVER = 1 << 62

LARGEST_FRONT = 1 << 24
"""Entries; 320 MB."""

BEST_FIRST = 300
"""So many volumes are opened best first, which soon finds a small distance; then depth first, nearest child first,
which needs no heap.  Depth first alone takes 3.2 times as many comparisons on the torus on land, 4.5 times on the
pipes and 1.6 times on the tori.  Volumes that overlap come in order of how deep they do, for a first contact too."""

_STACK = 4096
_PAIRS = 1 << 14

# What squared bounds may exceed the truth by, relative, as a distance: see leaves.distance_leaves.
_BELOW = 1.0 - 2.0**-18


class Witness(Record):
    """Two triangles that met, or that were nearest; kept from one question to the next."""

    meets = bool_
    """Whether they met."""
    places = int64[2]
    """Of the triangles of a and b, in tree order."""


class Results(NamedTuple):
    """Where the results of a question go, as far as it has them."""

    answers: NDArray[np.bool_] | NDArray[np.int8] = np.zeros(0, dtype=np.int8)
    values: Floats = np.zeros(0)
    points: Floats = np.zeros(0)
    faces: NDArray[np.int32] = np.zeros(0, dtype=np.int32)


_NOWHERE = Results()


class TraversalWorkspace(Record):
    """Mutable state of traversals."""

    __slots__ = ("is_single", "single_poses", "stack")

    # --- the pairs of volumes that are open

    refs = int32[:, 2]
    """Slots of a and b."""
    bounds = float32[:]
    """Squared lower bounds of their distance, in local units of a (in far view: bounds there)."""
    open_count = int64
    """How many there are."""
    heap = int64
    """Those at the bottom of the stack that form a heap."""
    heap_left = int64
    """So many volumes may still be opened best first."""

    # --- what is sought, and what was found

    witness = records(Witness)
    best = float64
    """The smallest distance so far, in world units."""
    nearest_points = float64[6]
    """Two points that have it."""
    clearance = float64
    """The clearance that is asked about."""
    reach = float64
    """The distance that is still of interest, in world units;"""
    local_reach = float32[2]
    """and what bounds are compared with, in local units of a and of b: its square, or, in far view, what it exceeds the
    distance of the origins by."""
    pairs = int64[:]
    """Contacts, see contact_keys."""
    found = int64
    """Rows used of them."""

    # --- what it took

    box_tests = int64
    triangle_tests = int64
    budget = int64
    """The number of box tests at which the traversal stops."""
    tests_before = int64
    """Box tests before this pose."""

    # --- the front: see there

    mode = int64
    """How the traversal deals with it."""
    front_refs = int32[:, 3]
    front_keys = float64[:]
    """Lower bounds of the distances there and the way that was gone by then, in world units."""
    front_size = int64
    """Entries; negative where there is no front."""
    front_full = bool_
    """Whether it was given up because its buffer was full."""
    recorded = int64
    """Entries when it was made."""
    swept = int64
    """Entries that were visited in this pose,"""
    sweep_end = int64
    """of so many that it had before."""
    plain_tests = int64[2]
    """Comparisons that a traversal from scratch took when the front was made; for contacts, and for distances."""
    pause = int64
    """For so many poses no front is tried."""
    last_pause = int64

    # --- where the bodies are

    poses = float64[2, 4, 4]
    motions = records(Motion)[2]
    """b seen from a, a seen from b."""
    views = records(View)[2]
    """Far view, from a and from b."""
    origins_apart = float64
    """In far view (see far_view) how far the posed origins are apart, in world units; otherwise zero."""
    placement = records(Placement)
    last_placement = records(Placement)
    """In the pose before."""
    coherent = bool_
    """Whether poses follow each other closely, so that a front pays."""
    has_last_pose = bool_
    moved = float64
    """How far any point may have moved since the front was made, in world units: the length of its way."""

    # --- for one comparison of a volume with the children of a node

    lanes = float32[WIDTH]
    """Lower bounds for volumes,"""
    corner_lanes = float32[WIDTH]
    """and for triangles."""

    # --- the question

    poses_a = float64[:, 4, 4]
    poses_b = float64[:, 4, 4]
    """The poses that are asked about,"""
    first_pose = int64
    end_pose = int64
    """of which these are next."""
    pose = int64
    """The pose that is being answered."""
    resumed = bool_
    """Whether the traversal for this pose was begun before."""
    answers = int8[:]
    values = float64[:]
    points = float64[:, 6]
    faces = int32[:, 2]

    def __init__(self, front: int = 0) -> None:
        super().__init__(front_size=-1, budget=NO_BUDGET, coherent=front > 0, pairs=np.zeros(_PAIRS, dtype=np.int64))
        self.single_poses = self.poses.data.cast("B")
        """Both poses as bytes: filling them this way takes a quarter of the time of an assignment to the array."""
        self._allocate(_STACK, front)
        self.stack = _STACK
        """Room for open pairs."""
        self.ask_single()

    def _allocate(self, stack: int, front: int) -> None:
        self.refs, self.bounds = np.zeros((stack, 2), dtype=np.int32), np.zeros(stack, dtype=np.float32)
        self.front_refs, self.front_keys = np.zeros((front, 3), dtype=np.int32), np.zeros(front)

    def ask(self, poses_a: Floats, poses_b: Floats, results: Results) -> None:
        """Say which poses the next question is about, and where its results go."""
        self.is_single = False
        self.ask_part(0, 0)  # should this be interrupted
        self.poses_a, self.poses_b = poses_a, poses_b
        # What a question does not have stays as it was: to set an array takes a microsecond.
        answers, values, points, faces = results
        if answers is not _NOWHERE.answers:
            self.answers = answers.view(np.int8)
        if values is not _NOWHERE.values:
            self.values = values
        if points is not _NOWHERE.points:
            self.points = points.reshape(-1, 6)
        if faces is not _NOWHERE.faces:
            self.faces = faces.reshape(-1, 2)
        self.ask_part(0, len(poses_a))

    def ask_part(self, first: int, end: int) -> None:
        """The next call is about these of the poses."""
        self.end_pose = end
        self.first_pose = self.pose = first

    def ask_single(self) -> None:
        """The next questions are about the poses in ``single_poses``."""
        self.rewind()
        results = Results(np.zeros(1, dtype=np.int8), np.zeros(1), np.zeros(6), np.zeros(2, dtype=np.int32))
        self.ask(self.poses[:1], self.poses[1:], results)
        self.is_single = True

    def begin(self, stack: int) -> None:
        """Get ready for a question with a stack of this size."""
        if stack > self.stack or self.front_full:
            stack, front = max(self.stack, stack), len(self.front_keys)
            self.stack = 0  # too small for any question, should this be interrupted
            if self.front_full:
                self.pause = 0 if front < LARGEST_FRONT else FOR_EVER
                front = min(8 * front, LARGEST_FRONT)
            self.front_size = -1
            self._allocate(stack, front)
            self.ask_single()
            self.stack = stack
        self.rewind()
        self.box_tests = self.triangle_tests = self.open_count = 0
        self.front_full = False
        if not self.coherent:
            self.witness = _NO_WITNESS
            self.budget = NO_BUDGET

    def allow(self, box_tests: int) -> None:
        """Let the question stop after so many more comparisons of volumes."""
        self.budget = self.box_tests + box_tests

    def open_bound(self, unit: float) -> float:
        """No pair that is still open is nearer than this; ``unit`` is that of a."""
        pairs = self.bounds[: self.open_count]
        if len(pairs) == 0:
            return np.inf
        bound = float(pairs.min())
        if self.origins_apart > 0.0:
            return max(0.0, float(self.origins_apart) + bound * unit)
        return float(np.sqrt(max(0.0, bound))) * unit * _BELOW

    def rewind(self) -> None:
        """Begin a search for contacts at the first pose, whatever became of the last one."""
        if self.resumed:
            self.front_size = -1  # it was cut short
            self.resumed = False
        self.pose = self.found = 0

    def found_pairs(self) -> NDArray[np.int64]:
        """The contacts found since they were last taken."""
        found: NDArray[np.int64] = self.pairs[: self.found].copy()
        return found

    def take_pairs(self) -> NDArray[np.int64]:
        """The contacts found since the last time."""
        found = self.found_pairs()
        self.found = 0
        return found

    def tests(self) -> tuple[int, int]:
        """How many volumes and triangles were compared."""
        return int(self.box_tests), int(self.triangle_tests)


_NO_WITNESS = Witness()
work_at = TraversalWorkspace.at
