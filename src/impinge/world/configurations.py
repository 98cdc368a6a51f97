"""Many configurations of a world at once, for planners and recorded motion: ``World.detect(poses=...)``.

Each worker answers its part of the configurations with tables of its own; kernels do it without Python in between
(``stages.configuration_stage``).  What they leave, containment and points of contact, is settled afterwards for all
configurations of a part together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Bools, Floats, read_only
from impinge.bvh.workspace import AT_ONCE
from impinge.convex.search import NotRigid
from impinge.geometry.pose import as_pose
from impinge.kernels.interruptible import in_parts, in_threads, stop_if_abandoned
from impinge.kernels.jit import address_of_kernel
from impinge.queries.contact_columns import contacts_of
from impinge.queries.method import DistanceColumns
from impinge.results import Distance
from impinge.world.candidates import Reach
from impinge.world.filters import Filters
from impinge.world.frames import Frames
from impinge.world.objects import Objects
from impinge.world.pair_cache import PairCache
from impinge.world.stages.box_stage import compare_boxes, place_boxes
from impinge.world.stages.configuration_stage import (
    FULL,
    NO_ROOM,
    NOT_RIGID,
    ConfigurationStage,
    answer_configurations,
)
from impinge.world.stages.hull_stage import hull_stage
from impinge.world.stages.narrow_phase import NarrowPhase, Query
from impinge.world.stages.object_table import ObjectTables
from impinge.world.stages.pair_table import BY_VERBS, MAYBE_NESTED, NO_POINT, follow_pairs
from impinge.world.stages.shape_groups import (
    PosedPairs,
    all_contacts,
    answers_by_verbs,
    are_nested,
    distances_by_verbs,
    points_of_contact,
    put_nested,
)
from impinge.world.stages.tree_stage import tree_stage

_FIRST_CONFIGURATIONS = 64
_ROOM = 1 << 12
_COLUMNS = ("configurations", "objects", "states", "clearances", "values", "points", "faces")


@dataclass(frozen=True)
class Asked:
    """What is asked about each configuration."""

    query: Query
    reach: float
    first: bool
    """Whether one pair is enough for each."""
    hulls: str | None


@dataclass(frozen=True, eq=False)
class _Found:
    """Pairs with a yes, in the order of configurations."""

    configurations: NDArray[np.int64]
    objects: NDArray[np.int64]
    """(m, 2) numbers."""
    nearest: DistanceColumns


class _Worker:
    """The stages for a part of the configurations."""

    def __init__(self, asked: Asked, objects: Objects, filters: Filters, poses: Floats) -> None:
        self._asked, self._poses = asked, poses
        self._tables, self._pairs = ObjectTables(asked.hulls), PairCache()
        self._tables.prepare(objects)
        table = self._tables.table
        # All objects move in each configuration, fixed ones too.
        table.times, table.since, table.check_poses = np.zeros(len(objects), dtype=np.int64), -1, True
        self._tables.place(poses.reshape(-1, 4, 4))
        with_triangles = [i for i, shape in enumerate(self._tables.shapes) if shape.has_triangles]
        self._tables.need_trees(np.array(with_triangles, dtype=np.int64))
        self._boxes = Reach(objects, filters, asked.reach, asked.query is Query.CLOSER_THAN).box_stage()
        # Of contacts only the pairs are found here.
        stages = Query.COLLIDES if asked.query is Query.CONTACTS else asked.query
        self._narrow = NarrowPhase(stages, asked.hulls, self._tables, self._pairs)
        self._narrow.hulls.first_only = self._narrow.trees.first_only = asked.first
        self._pairs.table.all_anew = True
        # Which of several nearest pairs of triangles is found depends on where the search begins.
        self._pairs.table.forget = asked.query is Query.DISTANCE

    def run(self) -> _Found:
        """Answer all configurations."""
        narrow, table = self._narrow, self._pairs.table
        narrow.begin()
        work = narrow.need_workspace()
        stage = ConfigurationStage(
            use_hulls=narrow.need_hulls(), first_only=self._asked.first, boxes=self._boxes.address,
            hulls=narrow.hulls.address, trees=narrow.trees.address,
            place_boxes=address_of_kernel(place_boxes), compare_boxes=address_of_kernel(compare_boxes),
            follow_pairs=address_of_kernel(follow_pairs), tree_kernel=address_of_kernel(tree_stage),
        )  # fmt: skip
        if stage.use_hulls:
            stage.hull_kernel = address_of_kernel(hull_stage)
        _make_room(stage, _ROOM)
        taken: list[dict[str, Any]] = []
        for part in in_parts(len(self._poses), _FIRST_CONFIGURATIONS):
            stage.end = part.stop
            while reason := answer_configurations(self._tables.table.address, table.address, stage.address):
                stop_if_abandoned()
                work.allow(AT_ONCE)
                if reason == NOT_RIGID:
                    raise NotRigid
                if reason == NO_ROOM:
                    self._pairs.make_room(table.count + len(self._tables.posed) - self._boxes.row)
                elif reason == FULL:
                    taken.append(_take(stage))
                    _make_room(stage, max(_ROOM, 2 * table.count))
        taken.append(_take(stage))
        return self._settled({name: np.concatenate([each[name] for each in taken]) for name in _COLUMNS})

    def _settled(self, found: dict[str, Any]) -> _Found:
        """Decide what kernels have left open, and leave out what is no yes."""
        states, query = found["states"], self._asked.query
        yes = np.ones(len(states), dtype=np.bool_)
        first_poses = found["configurations"] * len(self._tables.posed)
        posed = PosedPairs(self._tables.shape_by_object, found["objects"], self._tables.poses, first_poses)
        others, nested = np.flatnonzero(states == BY_VERBS), np.flatnonzero(states == MAYBE_NESTED)
        nearest = DistanceColumns(found["values"], found["points"].reshape(-1, 2, 3), found["faces"])
        if query is Query.DISTANCE:
            self._measure(posed, nearest, others, nested, np.flatnonzero(states == NO_POINT))
            yes = nearest.values <= found["clearances"]
        else:
            yes[others] = answers_by_verbs(query, posed.only(others), found["clearances"][others])
            yes[nested] = are_nested(posed.only(nested))
        if self._asked.first:
            yes &= _is_first(found["configurations"], yes)
        columns = DistanceColumns(nearest.values[yes], nearest.points[yes], nearest.faces[yes])
        return _Found(found["configurations"][yes], found["objects"][yes], columns)

    @staticmethod
    def _measure(posed: PosedPairs, nearest: DistanceColumns, others: Any, nested: Any, meeting: Any) -> None:
        for i, each in zip(others.tolist(), distances_by_verbs(posed.only(others)), strict=True):
            nearest.values[i] = each.value
            nearest.points[i] = each.point_a, each.point_b
            nearest.faces[i] = each.face_a, each.face_b
        nearest.points[meeting] = points_of_contact(posed.only(meeting), nearest.faces[meeting])[:, None]
        some = DistanceColumns(nearest.values[nested], nearest.points[nested], nearest.faces[nested])
        put_nested(posed.only(nested), some)
        nearest.values[nested], nearest.points[nested], nearest.faces[nested] = some[:3]


def _make_room(stage: ConfigurationStage, room: int) -> None:
    stage.configurations, stage.objects = np.zeros(room, dtype=np.int64), np.zeros((room, 2), dtype=np.int64)
    stage.states, stage.clearances = np.zeros(room, dtype=np.int8), np.zeros(room)
    stage.values, stage.points, stage.faces = np.zeros(room), np.zeros((room, 6)), np.zeros((room, 2), dtype=np.int32)
    stage.found = 0


def _take(stage: ConfigurationStage) -> dict[str, Any]:
    """The results so far."""
    return {name: getattr(stage, name)[: stage.found] for name in _COLUMNS}


def _is_first(configurations: NDArray[np.int64], yes: Bools) -> Bools:
    """Which are the first with a yes of their configuration."""
    where = np.flatnonzero(yes)
    first = np.zeros(len(yes), dtype=np.bool_)
    first[where[np.unique(configurations[where], return_index=True)[1]]] = True
    return first


def frames_of(asked: Asked, objects: Objects, filters: Filters, poses: Any, workers: int) -> Frames:
    """The answers for configurations (n, k, 4, 4), shared out to threads."""
    given = as_pose(poses, "poses", check=False)
    if given.ndim != 4 or given.shape[1] != len(objects):
        raise ValueError(
            f"poses: expected shape (n, {len(objects)}, 4, 4), one pose for each object of each configuration, got "
            f"{given.shape}"
        )
    array = np.ascontiguousarray(given)
    bounds = np.linspace(0, len(array), min(workers, max(len(array), 1)) + 1).astype(int).tolist()
    parts = [_Worker(asked, objects, filters, array[start:stop]) for start, stop in pairwise(bounds)]
    try:
        found = [parts[0].run()] if len(parts) == 1 else in_threads([partial(_Worker.run, part) for part in parts])
    except NotRigid:
        as_pose(given, "poses")  # says which, and what is wrong
        raise
    return _joined(asked.query, objects, array, bounds, found)


def _joined(query: Query, objects: Objects, poses: Floats, starts: list[int], found: list[_Found]) -> Frames:
    frame = np.concatenate([each.configurations + start for each, start in zip(found, starts[:-1], strict=True)])
    numbers = np.concatenate([each.objects for each in found])
    colliding = np.zeros(len(poses), dtype=np.bool_)
    colliding[frame] = True
    values, points, faces = (np.concatenate([each.nearest[i] for each in found]) for i in range(3))
    contacts = distance = None
    if query is Query.DISTANCE:
        distance = Distance(values, points[:, 0].copy(), points[:, 1].copy(), faces[:, 0].copy(), faces[:, 1].copy())
    elif query is Query.CONTACTS:
        posed = PosedPairs(objects.shapes.tolist(), numbers, poses.reshape(-1, 4, 4), frame * len(objects))
        contacts = contacts_of(all_contacts(posed), (len(frame),))
    pairs = objects.ids[numbers]
    return Frames(query.value, read_only(colliding), read_only(frame), read_only(pairs), contacts, distance)
