"""Temporal coherence of two bodies: sorted lists kept from frame to frame, and the mutable state of their queries.

Ponamgi, Manocha and Lin (1995), 4.7: memory follows what interacts.  Sorted lists exist for the pairs of nodes that
were reached in the last frame, one behind the other.  A frame writes its lists behind each other in the other half of
the memory, each beginning with the order of the last frame; what it does not reach is thereby given up.  Halves grow
when they are full, and the frame is begun again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats
from impinge.incremental.hierarchy.box_hierarchy import BoxHierarchy
from impinge.incremental.hierarchy.posed_hierarchy import HIGH, LOW, posed_hierarchy
from impinge.kernels.record import Record, bool_, float64, int8, int32, int64, records

# What a kernel may answer when a buffer is full.
DONE = 0
MORE_PAIRS = 1
MORE_ITEMS = 2
MORE_CONTACTS = 3
MORE_STACK = 4

NONE = -1
"""In place of the number of a slot or an entry."""

_FEWEST_PAIRS = 64
_FEWEST_ITEMS = 1024
_FEWEST_CONTACTS = 1024
_FEWEST_OPEN = 1024
"""Sizes of the buffers at first; those of pairs and items are for each half."""
_SLOTS_OF_A_PAIR = 4
"""At most a quarter of the slots is taken."""


class NodePair(Record):
    """A pair of nodes with a sorted list."""

    node_a = int64
    node_b = int64
    axis = int64
    begin = int64
    """Where its list begins in ``items``."""


class Listing(Record):
    """The pairs of nodes that one frame has reached and their sorted lists: one half of pairs, items and slots."""

    first_pair = int64
    first_item = int64
    first_slot = int64
    """Where the half begins in each of them."""
    pairs = int64
    """How many there are,"""
    items = int64
    """and how many items are in their lists together."""


class OpenPair(Record):
    """Two items, node or entry, that are still to be compared in a search for distances."""

    gap = float64
    """The square of the gap of their boxes."""
    item_a = int32
    item_b = int32


class Effort(Record):
    """What was found so far, and what it took."""

    contacts = int64
    box_tests = int64
    triangle_tests = int64
    exchanges = int64


class Frames(Record):
    """What two hierarchies keep from frame to frame, the question they are asked, and its answers."""

    pairs = records(NodePair)[:]
    items = int32[:]
    """The sorted lists, one behind the other: the children of node a are 0, 1, ..., then come those of node b."""
    slots = int32[:]
    """Where a pair is found, by hashing."""
    before: Any = Listing
    """The half of the last frame,"""
    now: Any = Listing
    """and that which is being written."""
    spare: Any = Listing
    frame = int64
    """The number of the frame."""
    start_a = int64
    start_b = int64
    """The nodes below which all contacts of the last frame were."""
    witness_a = int64
    witness_b = int64
    """Entries that met, or were nearest, in the last frame; NONE where there are none."""

    # One list, or one search.
    low_ends = float64[:]
    """What a list is sorted by."""
    merged = int32[:]
    """Scratch to sort it."""
    active_a = int32[:]
    active_b = int32[:]
    """Its items of either body that count."""
    stack = records(OpenPair)[:]

    # The question.
    first_only = bool_
    """Whether one contact, or two faces within the clearance, are enough."""
    clearance = float64
    region = float64[2, 3]
    """Contacts are of interest in this box only, which is known to hold all of them."""
    poses_a = float64[:, 4, 4]
    poses_b = float64[:, 4, 4]
    asked = int64
    """It is about the poses before this one."""
    pose = int64
    """The pose that is being answered."""

    # The answers.
    contact_keys = int64[:]
    """Those of bvh.contact_keys, without the pose."""
    effort: Any = Effort
    effort_before: Any = Effort
    """Up to the last pose."""
    answers = int8[:]
    """For each pose APART, MEETING or FAR_APART; or whether faces are within the clearance."""
    ends = int64[:]
    """How many contacts were found up to and including this pose."""
    values = float64[:]
    points = float64[:, 2, 3]
    faces = int32[:, 2]
    """Distances: the points and the faces of a and b."""


class Results(NamedTuple):
    """Where the results of a question go, as far as it has them."""

    answers: NDArray[np.int8]
    ends: NDArray[np.int64]
    values: Floats
    points: Floats
    faces: NDArray[np.int32]


class _Asked(NamedTuple):
    poses_a: Floats
    poses_b: Floats
    results: Results


def _asked(poses_a: Floats, poses_b: Floats) -> _Asked:
    count = len(poses_a)
    results = Results(
        np.zeros(count, dtype=np.int8),
        np.zeros(count, dtype=np.int64),
        np.zeros(count),
        np.zeros((count, 2, 3)),
        np.zeros((count, 2), dtype=np.int32),
    )
    return _Asked(np.ascontiguousarray(poses_a), np.ascontiguousarray(poses_b), results)


class Memory:
    """Owns the records of two bodies.  One thread uses it at a time."""

    def __init__(self, a: BoxHierarchy, b: BoxHierarchy) -> None:
        self.a, self.b = posed_hierarchy(a), posed_hierarchy(b)
        self.frames = Frames(
            low_ends=np.empty(a.widest + b.widest),
            merged=np.empty(a.widest + b.widest, dtype=np.int32),
            active_a=np.empty(a.widest, dtype=np.int32),
            active_b=np.empty(b.widest, dtype=np.int32),
            contact_keys=np.empty(_FEWEST_CONTACTS, dtype=np.int64),
            stack=np.empty(_FEWEST_OPEN, dtype=OpenPair.dtype),
        )
        # One pose is the commonest question: its arrays stay where they are.
        self._single = _asked(np.zeros((1, 4, 4)), np.zeros((1, 4, 4)))
        self._asked: _Asked | None = None
        self._make_lists(_FEWEST_PAIRS, _FEWEST_ITEMS)
        self.anywhere()

    @property
    def room_for_pairs(self) -> int:
        return int(self.frames.n_pairs) // 2

    @property
    def room_for_items(self) -> int:
        return int(self.frames.n_items) // 2

    @property
    def room_for_contacts(self) -> int:
        return int(self.frames.n_contact_keys)

    def forget(self) -> None:
        """Give up all sorted lists and the witness."""
        self._make_lists(self.room_for_pairs, self.room_for_items)

    def _make_lists(self, pairs: int, items: int) -> None:
        """Two empty halves for so many pairs, a power of two, and items."""
        slots = _SLOTS_OF_A_PAIR * pairs
        new_pairs = np.zeros(2 * pairs, dtype=NodePair.dtype)
        new_items = np.zeros(2 * items, dtype=np.int32)
        new_slots = np.full(2 * slots, NONE, dtype=np.int32)
        frames = self.frames
        frames.pairs, frames.items, frames.slots = new_pairs, new_items, new_slots
        frames.before = Listing()
        frames.now = Listing(first_pair=pairs, first_item=items, first_slot=slots)
        frames.start_a = frames.start_b = 0
        frames.witness_a = frames.witness_b = NONE

    def grow(self, answer: int) -> None:
        """Enlarge the buffers, as a kernel has asked for; lists of the last frame are then made anew."""
        frames = self.frames
        if answer == MORE_PAIRS:
            self._make_lists(4 * self.room_for_pairs, self.room_for_items)
        elif answer == MORE_ITEMS:
            self._make_lists(self.room_for_pairs, 4 * self.room_for_items)
        elif answer == MORE_CONTACTS:
            more = np.empty(3 * self.room_for_contacts, dtype=np.int64)
            frames.contact_keys = np.concatenate([frames.contact_keys, more])
        else:
            frames.stack = np.empty(4 * len(frames.stack), dtype=OpenPair.dtype)

    def _give_back(self) -> None:
        """After a frame that needed far more than the last one: buffers become smaller, and lists are made anew."""
        frames, pairs, items = self.frames, self.room_for_pairs, self.room_for_items
        large = pairs > _FEWEST_PAIRS or items > _FEWEST_ITEMS
        if large and 16 * frames.before.pairs < pairs and 16 * frames.before.items < items:
            self._make_lists(max(pairs // 4, _FEWEST_PAIRS), max(items // 4, _FEWEST_ITEMS))
        if self.room_for_contacts > max(_FEWEST_CONTACTS, 16 * frames.effort.contacts):
            frames.contact_keys = frames.contact_keys[: self.room_for_contacts // 4].copy()

    def anywhere(self) -> None:
        """All contacts are of interest, wherever they are."""
        region = self.frames.region
        region[LOW], region[HIGH] = -np.inf, np.inf

    def within(self, box: Floats) -> None:
        """Contacts are known to be in this box (2, 3)."""
        self.frames.region = box

    def ask(self, poses_a: Floats, poses_b: Floats) -> Results:
        """Say which poses the next question is about; returns where its results will be until the next one."""
        self._give_back()
        self.anywhere()
        frames = self.frames
        frames.effort = Effort()
        frames.pose, frames.asked = 0, len(poses_a)
        if len(poses_a) == 1:
            asked = self._single
            asked.poses_a[:], asked.poses_b[:] = poses_a, poses_b
        else:
            asked = _asked(poses_a, poses_b)
        if asked is not self._asked:
            self._asked = asked
            frames.poses_a, frames.poses_b = asked.poses_a, asked.poses_b
            for name, array in asked.results._asdict().items():
                setattr(frames, name, array)
        return asked.results

    def take_contacts(self) -> NDArray[np.int64]:
        """The contacts as numbers, in the order of poses."""
        keys: NDArray[np.int64] = self.frames.contact_keys[: self.frames.effort.contacts].copy()
        return keys

    @property
    def kept_bytes(self) -> int:
        """What the sorted lists take that are kept now."""
        before, frames = self.frames.before, self.frames
        of_a_pair = NodePair.size_in_bytes + _SLOTS_OF_A_PAIR * frames.slots.itemsize
        return int(before.pairs * of_a_pair + before.items * frames.items.itemsize)
