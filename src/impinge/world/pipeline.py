"""The collision pipeline of a world: broad phase, filters and narrow phase for one query, with a warm start.

objects, poses ──box_stage──> boxes, grown by half a clearance
                                 │  candidates: pairs that overlap and pass the filters
                                 ▼
                     pair cache: rows of what each pair remembers; open: new, or an object moved
                                 │  narrow phase
                                 ▼
                      hulls ──> trees ──> insides of solids ──> Frame
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import read_only
from impinge.broadphase.pair_keys import Keys, as_pairs, change_to
from impinge.kernels.interruptible import in_parts
from impinge.queries.method import DistanceColumns
from impinge.results import Distance
from impinge.world.candidates import Candidates, Reach
from impinge.world.contact_store import ContactStore
from impinge.world.filters import Filters
from impinge.world.frame import Frame, FrameStatistics
from impinge.world.objects import Objects
from impinge.world.pair_cache import PairCache
from impinge.world.stages.narrow_phase import NarrowPhase
from impinge.world.stages.narrow_phase import Query as Query
from impinge.world.stages.object_table import ObjectTables
from impinge.world.stages.pair_table import BY_VERBS, MAYBE_NESTED, NO_POINT, OPEN
from impinge.world.stages.red_stage import FEATURES_MEET, GREEN_GREEN, RED_GREEN, RED_RED
from impinge.world.stages.shape_groups import (
    PosedPairs,
    answers_by_verbs,
    are_nested,
    built_contacts,
    distances_by_verbs,
    points_of_contact,
    put_nested,
)

_VERB_COSTS = 2000
"""What the verbs take for a pair, in comparisons of volumes."""

_GATHERED_AT_ONCE = 50_000
"""Rows of the pair cache whose distances are copied without a look at signals; two million take half a second."""


class Clock:
    """Seconds of each stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def stage(self, name: str) -> None:
        """What was done since the last stage belongs to this one."""
        now = time.perf_counter()
        self.seconds[name] = now - self._last
        self._last = now


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
NO_PAIRS = read_only(np.empty((0, 2), dtype=np.int64))


class Pipeline:
    """All stages for one query, with what they keep between frames.

    A pass that ends with an exception leaves it half changed, and no other must follow (see ``world.tracker``).
    """

    def __init__(self, query: Query, broadphase: str, hull_method: str | None) -> None:
        self._query = query
        self._objects = ObjectTables(hull_method)
        self._pairs = PairCache()
        self._candidates = Candidates(broadphase, self._objects, self._pairs)
        self._narrow = NarrowPhase(query, hull_method, self._objects, self._pairs)
        self._contacts = ContactStore()
        self._seen = _NEVER
        self._then = -1

    def detect(self, objects: Objects, filters: Filters, reach: float, now: int, last: Detection | None) -> Detection:
        """One pass over all objects; the frame tells what has changed since the ``last`` one.

        ``now`` is the time of the last change of a pose.  Pairs may be ``reach`` apart, where no filter says otherwise.
        """
        clock = Clock()
        state = objects.edits, filters.version, reach
        pairs, table = self._pairs, self._objects.table
        if self._seen != state:
            moved = int(np.count_nonzero(objects.moved > self._then))
            self._renew(objects, Reach(objects, filters, reach, self._query is Query.CLOSER_THAN))
        else:
            moved = self._candidates.move(objects, self._then)
        clock.stage("boxes")
        self._candidates.find(objects, filters)
        clock.stage("broad phase")
        table.since = self._then
        pairs.table.all_anew = self._seen[1:] != state[1:] and self._query in (Query.CLOSER_THAN, Query.DISTANCE)
        pairs.follow(table)
        clock.stage("filters")
        self._narrow.begin()
        tested = pairs.table.open
        nested = self._answer(clock) if tested else self._nothing_open(clock)
        frame, yes = self._framed(objects, clock, last, (moved, tested, nested))
        self._seen, self._then = state, now
        return Detection(frame, yes, state, now)

    def _renew(self, objects: Objects, reach: Reach) -> None:
        if self._seen[0] != objects.edits:
            self._objects.prepare(objects)
        self._candidates.renew(objects, reach)

    @staticmethod
    def _nothing_open(clock: Clock) -> int:
        for name in ("hulls", "trees", "nested"):
            clock.stage(name)
        return 0

    def _answer(self, clock: Clock) -> int:
        """The narrow phase; answers are written into the rows of pairs.  How many pairs might be nested."""
        narrow, has_contacts = self._narrow, self._query is Query.CONTACTS
        open_before = self._pairs.states == OPEN if has_contacts else ()
        narrow.compare_hulls()
        clock.stage("hulls")
        if narrow.hulls.by_verbs:
            self._ask_verbs()
        if narrow.walks:
            narrow.compare_features()
            clock.stage("features")
        keys = narrow.search_trees()
        if has_contacts:
            self._keep_contacts(np.flatnonzero(open_before), keys)
        if narrow.trees.no_points:
            self._put_points_of_contact()
        clock.stage("trees")
        nested: int = narrow.trees.maybe_nested
        if nested:
            self._settle_nested()
        if self._objects.table.hulls_wanted:
            self._objects.build_wanted_hulls()
        clock.stage("nested")
        return nested

    def _posed(self, where: NDArray[np.intp]) -> PosedPairs:
        return PosedPairs(self._objects.shape_by_object, self._pairs.objects[where], self._objects.poses)

    def _in_state(self, state: int) -> tuple[PosedPairs, NDArray[np.int64], NDArray[np.intp]]:
        """All pairs for which this is still to be done, their rows, and which they are."""
        where = np.flatnonzero(self._pairs.states == state)
        return self._posed(where), self._pairs.slots[where], where

    def _ask_verbs(self) -> None:
        """Settle pairs of bodies that have no triangles."""
        posed, slots, where = self._in_state(BY_VERBS)
        rows, clearances = self._pairs.rows, self._pairs.clearances[where]
        if self._query is Query.DISTANCE:
            for slot, found in zip(slots.tolist(), distances_by_verbs(posed), strict=True):
                rows["value"][slot] = found.value
                rows["points"][slot] = [*found.point_a, *found.point_b]
                rows["faces"][slot] = found.face_a, found.face_b
            rows["yes"][slots] = rows["value"][slots] <= clearances
        else:
            rows["yes"][slots] = answers_by_verbs(self._query, posed, clearances)
        apart = posed.pairs[~rows["yes"][slots]]
        self._objects.note_cost(apart, _VERB_COSTS)

    def _keep_contacts(self, where: NDArray[np.intp], keys: list[Keys]) -> None:
        ends = self._narrow.trees.ends
        columns = built_contacts(self._posed(where), np.concatenate(keys), ends[where])
        renewed = self._pairs.keys[where]
        self._contacts.replace(renewed, renewed[columns[0][:, 0]], columns)

    def _distances_of(self, slots: NDArray[np.int64]) -> DistanceColumns:
        rows = self._pairs.rows
        values, points, faces = rows["value"], rows["points"], rows["faces"]
        if len(slots) <= _GATHERED_AT_ONCE:
            return DistanceColumns(values[slots], points[slots].reshape(-1, 2, 3), faces[slots])
        columns = tuple(np.empty((len(slots), *each.shape[1:]), each.dtype) for each in (values, points, faces))
        for part in in_parts(len(slots), _GATHERED_AT_ONCE):
            some = slots[part]
            for column, each in zip(columns, (values, points, faces), strict=True):
                column[part] = each[some]
        return DistanceColumns(columns[0], columns[1].reshape(-1, 2, 3), columns[2])

    def _put_points_of_contact(self) -> None:
        """Where the distance is zero the search has found two faces, but no point."""
        posed, slots, _ = self._in_state(NO_POINT)
        rows = self._pairs.rows
        rows["points"][slots] = np.tile(points_of_contact(posed, rows["faces"][slots]), 2)

    def _settle_nested(self) -> None:
        """Where surfaces are apart, one body may be inside the other."""
        posed, slots, where = self._in_state(MAYBE_NESTED)
        rows = self._pairs.rows
        if self._query is not Query.DISTANCE:
            rows["yes"][slots] = are_nested(posed)
            return
        found = self._distances_of(slots)
        put_nested(posed, found)
        rows["value"][slots], rows["faces"][slots] = found.values, found.faces
        rows["points"][slots] = found.points.reshape(-1, 6)
        rows["yes"][slots] = found.values <= self._pairs.clearances[where]

    def _framed(
        self, objects: Objects, clock: Clock, last: Detection | None, counts: tuple[int, int, int]
    ) -> tuple[Frame, Keys]:
        """The frame, and its pairs; ``counts`` are those of objects that moved, of pairs tested and maybe nested."""
        keys, slots = self._pairs.keys, self._pairs.slots
        yes = self._pairs.rows["yes"][slots]
        now = keys[yes]
        began, ended, persist, _ = change_to(_NOTHING if last is None else last.yes, now)
        names = objects.name_by_id
        if last is not None and len(ended):
            # Those of this frame only: names of all that ever went would add up.
            names = {i: last.frame.names[i] for i in as_pairs(ended).ravel().tolist()} | names
        contacts = self._contacts.of(now) if self._query is Query.CONTACTS else None
        distance = distance_of(self._distances_of(slots[yes])) if self._query is Query.DISTANCE else None
        clock.stage("results")
        (moved, tested, nested), narrow = counts, self._narrow
        kinds = narrow.features.counts.tolist()
        hulls, trees = narrow.hulls, narrow.trees
        statistics = FrameStatistics(
            len(objects), moved, self._candidates.pair_count, len(keys), tested, hulls.compared, hulls.apart,
            hulls.by_kept_planes, kinds[GREEN_GREEN], kinds[RED_GREEN], kinds[RED_RED] + kinds[FEATURES_MEET],
            kinds[FEATURES_MEET], trees.compared, narrow.box_tests, narrow.triangle_tests, nested, clock.seconds,
        )  # fmt: skip
        all_, new, gone, old = (_as_pairs(each) for each in (now, began, ended, persist))
        return Frame(self._query.value, all_, new, gone, old, contacts, distance, statistics, names), now


def _as_pairs(keys: Keys) -> NDArray[np.int64]:
    return read_only(as_pairs(keys)) if len(keys) else NO_PAIRS


def distance_of(found: DistanceColumns) -> Distance:
    """As users see it."""
    points, faces = found.points, found.faces
    return Distance(
        found.values, points[:, 0].copy(), points[:, 1].copy(), faces[:, 0].copy(), faces[:, 1].copy()
    )  # fmt: skip
