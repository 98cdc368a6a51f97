"""The collision pipeline of a world: broad phase, filters and narrow phase for one query, with a warm start.

objects, poses ──BodyBoxes──> boxes, grown by half a clearance
                                 │  broad phase: pairs that began and ended
                                 ▼
               filters ──> pairs that are followed (PairSlots: the warm start of each)
                                 │  narrow phase: those with an object that moved
                                 ▼
                      hulls ──> trees ──> insides of solids ──> Frame
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Bools, read_only
from impinge.broadphase.pair_keys import Keys, as_pairs, change_to
from impinge.bvh.answers import APART, MEETING
from impinge.convex.workspace import CLOSER_THAN, DISTANCE
from impinge.geometry.float_errors import default_float_errors
from impinge.queries import verbs
from impinge.queries.contact_columns import NO_CONTACTS
from impinge.results import Distance
from impinge.world.candidates import Candidates
from impinge.world.contact_store import ContactStore
from impinge.world.filters import Filters
from impinge.world.frame import Frame, FrameStatistics
from impinge.world.objects import Objects
from impinge.world.pair_slots import PairSlots
from impinge.world.stages.hull_choice import hulls_are_worth_it, learn
from impinge.world.stages.hull_stage import HULLS_NEAR, HULLS_STILL_APART
from impinge.world.stages.narrow_stages import Asked, NarrowStages, Nearest
from impinge.world.stages.red_stage import FEATURES_MEET, GREEN_GREEN, RED_GREEN, RED_RED


class Query(Enum):
    """What ``World.detect`` finds, by the names of the verbs."""

    COLLIDES = "collides"
    CONTACTS = "contacts"
    DISTANCE = "distance"
    CLOSER_THAN = "closer_than"


class Clock:
    """Seconds of each stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def stage(self, name: str) -> None:
        """What was done since the last stage belongs to this one."""
        now = time.perf_counter()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._last
        self._last = now


@dataclass
class Counts:
    """What the narrow phase did in one frame."""

    narrow_pairs: int
    hull_pairs: int = 0
    apart_by_hulls: int = 0
    apart_by_kept_planes: int = 0
    green_green: int = 0
    red_green: int = 0
    red_red: int = 0
    decided_by_features: int = 0
    tree_pairs: int = 0
    box_tests: int = 0
    triangle_tests: int = 0
    nested_pairs: int = 0


class Detection(NamedTuple):
    """The result of one pass of the pipeline, and of what state of the world it is true."""

    frame: Frame
    yes: Keys
    """The pairs of the frame."""
    state: tuple[int, int, float]
    """Of objects, of filters, and how far apart pairs may be where no filter says otherwise."""
    time: int
    """Of the last change of a pose."""


_NEVER = (-1, -1, -1.0)
_NOTHING: Keys = np.empty(0, dtype=np.int64)


class Pipeline:
    """All stages for one query, with what they keep between frames.

    A pass that ends with an exception leaves it half changed, and no other must follow (see ``world.tracker``).
    """

    def __init__(self, query: Query, broadphase: str, hull_method: str | None) -> None:
        self._query = query
        self._use_hulls = hull_method is not None
        self._choose_hulls = hull_method == "auto" and query is not Query.DISTANCE
        self._walks = hull_method in ("vclip", "lin-canny")
        self._candidates = Candidates(broadphase, "tight" if self._use_hulls else "vertices")
        self._stages = NarrowStages(hull_method)
        self._slots = PairSlots()
        self._contacts = ContactStore()
        self._seen = _NEVER
        self._then = -1

    def detect(self, objects: Objects, filters: Filters, reach: float, now: int, last: Detection | None) -> Detection:
        """One pass over all objects; the frame tells what has changed since the ``last`` one.

        ``now`` is the time of the last change of a pose.  Pairs may be ``reach`` apart, where no filter says otherwise.
        """
        clock = Clock()
        state = objects.edits, filters.version, reach
        renewed, other_filters = self._seen != state, self._seen[1:] != state[1:]
        moved = np.flatnonzero(objects.moved > self._then)
        if renewed:
            self._renew(objects, filters, reach)
        else:
            self._candidates.move(objects, moved)
        clock.stage("boxes")
        keys = self._candidates.pairs()
        clock.stage("broad phase")
        pairs = self._numbers(objects, keys)
        clearances = np.full(len(keys), reach)
        if len(filters):
            passed, their_own = filters.apply(objects.ids, objects.groups, pairs, reach)
            if self._query is Query.CLOSER_THAN:
                clearances = their_own
            keys, pairs, clearances = keys[passed], pairs[passed], clearances[passed]
        known = self._slots.follow(keys)
        fresh = objects.moved[pairs] > self._then
        ask = ~known | fresh[:, 0] | fresh[:, 1]
        if other_filters and self._query in (Query.CLOSER_THAN, Query.DISTANCE):
            ask[:] = True
        clock.stage("filters")
        asked = Asked(pairs, self._slots.slots, clearances).only(ask)
        counts = self._answer(asked, clock)
        frame, yes = self._framed(objects, keys, counts, len(moved), clock, last)
        self._seen, self._then = state, now
        return Detection(frame, yes, state, now)

    @default_float_errors
    def _renew(self, objects: Objects, filters: Filters, reach: float) -> None:
        self._stages.prepare(objects)
        ids, groups = objects.ids, objects.groups
        takes_part = ~filters.left_out(ids, groups)
        clearances = np.full(len(ids), reach)
        if self._query is Query.CLOSER_THAN:
            clearances = filters.largest_clearances(ids, groups, reach)
        self._candidates.renew(objects, takes_part, clearances)

    @staticmethod
    def _numbers(objects: Objects, keys: Keys) -> NDArray[np.int64]:
        """(k, 2) which objects these pairs of ids are."""
        pairs: NDArray[np.int64] = as_pairs(keys)
        if objects.next_id == len(objects):
            return pairs  # none was ever removed
        return np.searchsorted(objects.ids, pairs)

    def _answer(self, asked: Asked, clock: Clock) -> Counts:
        """The narrow phase of these pairs; the answers are written into their slots."""
        counts = Counts(narrow_pairs=len(asked))
        if self._query is Query.DISTANCE:
            self._measure(asked, counts, clock)
        else:
            self._decide(asked, counts, clock)
        return counts

    def _hulls(self, query: int, asked: Asked, counts: Counts, clock: Clock) -> tuple[Bools, Nearest]:
        """Which pairs may be near enough, as far as hulls can tell; and distances of convex bodies, if wanted."""
        near, nearest = np.ones(len(asked), dtype=np.bool_), Nearest.room_for(len(asked))
        which = self._stages.both_convex(asked.pairs)
        if self._use_hulls:
            worth = np.isfinite(asked.clearances)
            if self._choose_hulls:
                worth &= hulls_are_worth_it(self._slots, asked.slots, self._stages.triangles(asked.pairs))
            which |= worth
        where = np.flatnonzero(which)
        if len(where):
            some = asked.only(where)
            answers, found = self._stages.ask_hulls(query, some, self._slots)
            near[where] = answers == HULLS_NEAR
            nearest.put(where, found)
            counts.apart_by_kept_planes = int(np.count_nonzero(answers == HULLS_STILL_APART))
            if self._choose_hulls:
                learn(self._slots, some.slots, answers == HULLS_STILL_APART)
        counts.hull_pairs = len(where)
        counts.apart_by_hulls = int(np.count_nonzero(~near))
        clock.stage("hulls")
        return near, nearest

    def _decide(self, asked: Asked, counts: Counts, clock: Clock) -> None:
        """Yes or no."""
        yes, _ = self._hulls(CLOSER_THAN, asked, counts, clock)
        others = yes & self._stages.without_triangles(asked.pairs)
        yes[others] = self._by_verbs(asked.only(others))
        open_ = yes & ~others & ~self._stages.both_convex(asked.pairs)
        if self._walks and self._query is not Query.CONTACTS:
            open_ = self._red_against_red(asked, open_, counts, clock)
        if self._query is Query.CONTACTS:
            meeting, maybe = self._all_contacts(asked, yes & ~others, counts)
        else:
            meeting, maybe = self._trees(asked, open_, counts)
        clock.stage("trees")
        yes[open_] = meeting[open_]
        maybe &= open_
        maybe[maybe] = self._stages.maybe_nested(asked.pairs[maybe], self._candidates.tight)
        counts.nested_pairs = int(np.count_nonzero(maybe))
        if counts.nested_pairs:
            yes[maybe] = self._stages.nested(asked.only(maybe))
        clock.stage("nested")
        self._slots.yes[asked.slots] = yes

    def _red_against_red(self, asked: Asked, open_: Bools, counts: Counts, clock: Clock) -> Bools:
        """Which pairs are still undecided after a test of the overlapping features of their hulls."""
        where = np.flatnonzero(open_)
        if len(where) == 0:
            return open_
        kinds = self._stages.ask_features(asked.only(where), self._slots)
        counts.green_green, counts.red_green = (
            int(np.count_nonzero(kinds == kind)) for kind in (GREEN_GREEN, RED_GREEN)
        )
        counts.decided_by_features = int(np.count_nonzero(kinds == FEATURES_MEET))
        counts.red_red = int(np.count_nonzero(kinds == RED_RED)) + counts.decided_by_features
        clock.stage("features")
        still = open_.copy()
        still[where[kinds == FEATURES_MEET]] = False
        return still

    def _by_verbs(self, asked: Asked) -> list[bool]:
        """One pair after the other, for bodies that the stages do not know."""
        verb: dict[Query, Any] = {
            Query.COLLIDES: verbs.collides,
            Query.CLOSER_THAN: verbs.closer_than,
            Query.CONTACTS: verbs.contacts,  # says that it is Unsupported
        }
        found = []
        for pair, clearance in zip(asked.pairs, asked.clearances.tolist(), strict=True):
            a, b, pose_a, pose_b = self._stages.bodies(pair)
            limit = (clearance,) if self._query is Query.CLOSER_THAN else ()
            found.append(bool(verb[self._query](a, b, *limit, pose_a, pose_b)))
        return found

    def _trees(self, asked: Asked, which: Bools, counts: Counts) -> tuple[Bools, Bools]:
        """Which of some pairs are near enough, and of which others one may be inside the other."""
        meeting, maybe = np.zeros_like(which), np.zeros_like(which)
        counts.tree_pairs = int(np.count_nonzero(which))
        if counts.tree_pairs:
            name = self._query.value
            answers, _ = self._stages.ask_trees(name, asked.only(which), self._slots)
            counts.box_tests, counts.triangle_tests = self._stages.tests()
            meeting[which] = answers == MEETING
            maybe[which] = answers == APART
        return meeting, maybe

    def _all_contacts(self, asked: Asked, which: Bools, counts: Counts) -> tuple[Bools, Bools]:
        """As ``_trees``, and all contacts of these pairs are kept."""
        meeting = np.zeros_like(which)
        where = np.flatnonzero(which)
        some = asked.only(where)
        counts.tree_pairs = len(some)
        if len(some):
            found, ends = self._stages.ask_contacts(some, self._slots)
            counts.box_tests, counts.triangle_tests = self._stages.tests()
            columns = self._stages.built_contacts(some, found, ends)
            meeting[where] = np.diff(ends, prepend=0) > 0
        else:
            columns = NO_CONTACTS
        keys = self._slots.keys_of(asked.slots)
        self._contacts.replace(keys, keys[where][columns[0][:, 0]], columns)
        return meeting, ~meeting

    def _measure(self, asked: Asked, counts: Counts, clock: Clock) -> None:
        """Distances."""
        convex = self._stages.both_convex(asked.pairs)
        open_, nearest = self._hulls(DISTANCE, asked, counts, clock)
        nearest.values[~open_ & ~convex] = np.inf
        others = open_ & self._stages.without_triangles(asked.pairs)
        for i in np.flatnonzero(others).tolist():
            found = verbs.distance(*self._stages.bodies(asked.pairs[i]))
            nearest.values[i] = found.value
            nearest.points[i] = [*found.point_a, *found.point_b]
            nearest.faces[i] = found.face_a, found.face_b
        where = np.flatnonzero(open_ & ~others & ~convex)
        some = asked.only(where)
        counts.tree_pairs = len(some)
        if len(some):
            _, measured = self._stages.ask_trees("distance", some, self._slots)
            counts.box_tests, counts.triangle_tests = self._stages.tests()
            meeting = np.flatnonzero(measured.values == 0.0)
            self._stages.put_common_points(some, measured, meeting)
            clock.stage("trees")
            maybe = measured.values > 0.0
            maybe[maybe] = self._stages.maybe_nested(some.pairs[maybe], self._candidates.tight)
            counts.nested_pairs = int(np.count_nonzero(maybe))
            self._stages.put_nested(some, measured, np.flatnonzero(maybe))
            nearest.put(where, measured)
            clock.stage("nested")
        slots = self._slots
        slots.yes[asked.slots] = nearest.values <= asked.clearances
        slots.values[asked.slots] = nearest.values
        slots.points[asked.slots] = nearest.points
        slots.faces[asked.slots] = nearest.faces

    def _framed(
        self, objects: Objects, keys: Keys, counts: Counts, moved: int, clock: Clock, last: Detection | None
    ) -> tuple[Frame, Keys]:
        """The frame, and its pairs."""
        slots = self._slots.slots
        yes = self._slots.yes[slots]
        now = keys[yes]
        began, ended, persist, _ = change_to(_NOTHING if last is None else last.yes, now)
        names = objects.name_by_id
        if last is not None and len(ended):
            # Those of this frame only: names of all that ever went would add up.
            names = {i: last.frame.names[i] for i in as_pairs(ended).ravel().tolist()} | names
        contacts = self._contacts.of(now) if self._query is Query.CONTACTS else None
        distance = self._distances(slots[yes]) if self._query is Query.DISTANCE else None
        clock.stage("results")
        statistics = FrameStatistics(
            objects=len(objects), moved=moved, box_pairs=self._candidates.pair_count, filtered_pairs=len(keys),
            seconds=clock.seconds, **vars(counts),
        )  # fmt: skip
        all_, new, gone, old = (read_only(as_pairs(each)) for each in (now, began, ended, persist))
        return Frame(self._query.value, all_, new, gone, old, contacts, distance, statistics, names), now

    def _distances(self, slots: NDArray[np.int64]) -> Distance:
        points, faces = self._slots.points[slots], self._slots.faces[slots]
        return Distance(
            self._slots.values[slots], points[:, :3].copy(), points[:, 3:].copy(), faces[:, 0].copy(),
            faces[:, 1].copy(),
        )  # fmt: skip
