# mypy: allow-untyped-defs, allow-incomplete-defs
"""All stages for one configuration after the other, without Python in between.

A configuration is a frame: boxes, pairs, hulls and trees are those of a frame, called through their addresses.  What is
kept of a pair from one to the next saves work where they follow a motion; it never changes an answer.
"""

from __future__ import annotations

from impinge.kernels.jit import call_kernel, inner, kernel
from impinge.kernels.record import Record, address, bool_, float64, int8, int32, int64
from impinge.world.stages.box_stage import stage_at as box_stage_at
from impinge.world.stages.hull_stage import stage_at as hull_stage_at
from impinge.world.stages.pair_table import OPEN, SETTLED, objects_at, pairs_at
from impinge.world.stages.tree_stage import PAUSED as OUT_OF_BUDGET
from impinge.world.stages.tree_stage import stage_at as tree_stage_at

# Why the kernel returns.
DONE = 0
NO_ROOM = 1
"""The pair cache must grow."""
FULL = 2
"""Results have to be taken."""
PAUSED = 3
"""So that signals are handled."""
NOT_RIGID = 4
"""A pose is no rigid motion."""

# What comes next.
_BOXES, _ROWS, _HULLS, _TREES = 0, 1, 2, 3

_AT_ONCE = 1 << 12
"""Pairs; some microseconds each."""


class ConfigurationStage(Record):
    """Kernels, their records, and the results."""

    place_boxes = address
    compare_boxes = address
    follow_pairs = address
    hull_kernel = address
    tree_kernel = address
    boxes = address
    hulls = address
    trees = address
    use_hulls = bool_
    first_only = bool_
    """Whether one yes is enough for a configuration."""
    configuration = int64
    """The one that is being answered;"""
    end = int64
    """the first that is not to be answered now."""
    next = int64
    """What comes next for it."""
    found = int64
    """How many results there are:"""
    configurations = int64[:]
    objects = int64[:, 2]
    """(m, 2) pairs with a yes, or with"""
    states = int8[:]
    """(m,) something that is still to be done;"""
    clearances = float64[:]
    values = float64[:]
    points = float64[:, 6]
    faces = int32[:, 2]
    """(m,) for distances."""


stage_at = ConfigurationStage.at


@inner
def _keep(pairs, stage, i):
    """Write a result."""
    place, row = stage.found, pairs.rows[pairs.slots[i]]
    stage.found += 1
    stage.configurations[place] = stage.configuration
    stage.objects[place, 0] = pairs.objects[i, 0]
    stage.objects[place, 1] = pairs.objects[i, 1]
    stage.states[place] = pairs.states[i]
    stage.clearances[place] = pairs.clearances[i]
    stage.values[place] = row.value
    for k in range(6):
        stage.points[place, k] = row.points[k]
    for k in range(2):
        stage.faces[place, k] = row.faces[k]


@inner
def _collect(pairs, stage):
    """Write all pairs with a yes, and those that are not decided; only one of the first, if that is enough."""
    if stage.first_only:
        for i in range(pairs.count):
            if pairs.states[i] == SETTLED and pairs.rows[pairs.slots[i]].yes:
                _keep(pairs, stage, i)
                return
    for i in range(pairs.count):
        state = pairs.states[i]
        if state > OPEN or (state == SETTLED and pairs.rows[pairs.slots[i]].yes):
            _keep(pairs, stage, i)


@inner
def _begin_narrow_phase(hulls, trees):
    hulls.first = 0
    hulls.met = 0
    trees.first = 0
    trees.met = 0


@kernel
def answer_configurations(objects_address, pairs_address, stage):
    """Answer from ``configuration`` to ``end``; called again after anything but DONE and NOT_RIGID it goes on."""
    objects, pairs, stage = objects_at(objects_address), pairs_at(pairs_address), stage_at(stage)
    boxes, hulls, trees = box_stage_at(stage.boxes), hull_stage_at(stage.hulls), tree_stage_at(stage.trees)
    while stage.configuration < stage.end:
        if stage.next == _BOXES:
            objects.first_pose = stage.configuration * objects.n_bodies
            if call_kernel(stage.place_boxes, objects_address, pairs_address, stage.boxes) < 0:
                return NOT_RIGID
            boxes.row = 0
            stage.next = _ROWS
        if stage.next == _ROWS:
            if boxes.row < objects.n_bodies or objects.n_bodies == 0:
                compared = call_kernel(stage.compare_boxes, objects_address, pairs_address, stage.boxes)
                if compared < objects.n_bodies:
                    return NO_ROOM
            if stage.found + pairs.count > stage.n_states:
                return FULL
            done = 0
            while done < pairs.count or done == 0:
                done = call_kernel(stage.follow_pairs, objects_address, pairs_address, done)
                if pairs.count == 0:
                    break
            _begin_narrow_phase(hulls, trees)
            stage.next = _HULLS
        if stage.next == _HULLS:
            while stage.use_hulls and hulls.first < pairs.count and not (stage.first_only and hulls.met > 0):
                hulls.end = min(hulls.first + _AT_ONCE, pairs.count)
                call_kernel(stage.hull_kernel, objects_address, pairs_address, stage.hulls)
                hulls.first = hulls.end
                if hulls.first < pairs.count:
                    return PAUSED
            stage.next = _TREES
        while trees.first < pairs.count and not (stage.first_only and hulls.met + trees.met > 0):
            trees.end = min(trees.first + _AT_ONCE, pairs.count)
            if call_kernel(stage.tree_kernel, objects_address, pairs_address, stage.trees) == OUT_OF_BUDGET:
                return PAUSED
            if trees.first == trees.end < pairs.count:
                return PAUSED
        _collect(pairs, stage)
        stage.configuration += 1
        stage.next = _BOXES
    return DONE
