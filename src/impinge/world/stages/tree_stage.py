# mypy: allow-untyped-defs, allow-incomplete-defs
"""The last stage of the pipeline: trees of many pairs, in one call.

A pair keeps two triangles from frame to frame: those that met are asked first whether they still do, and the distance
of those that were nearest is where the search for a smaller one begins.
"""

from __future__ import annotations

from impinge.broadphase.body_boxes.local_bounds import may_hold
from impinge.bvh.answers import APART, MEETING, UNFINISHED
from impinge.bvh.workspace import work_at
from impinge.kernels.jit import call_kernel, inner, kernel
from impinge.kernels.record import Record, address, bool_, int64
from impinge.world.stages.hull_choice import FEWEST_TRIANGLES
from impinge.world.stages.pair_table import MAYBE_NESTED, NO_POINT, OPEN, SETTLED, objects_at, pairs_at, put_poses

# What is wanted.
YES_OR_NO = 0
DISTANCES = 1
"""Distance, points and faces."""
CONTACTS = 2
"""Contacts, as numbers in the workspace (``bvh.leaves``)."""

# Why the kernel returns.
DONE = 0
PAUSED = 1
"""A search is out of budget, or there is no room for more contacts."""


class TreeStage(Record):
    """What is asked, and what it took."""

    query = address
    """The kernel for two trees,"""
    work = address
    """and its workspace."""
    wanted = int64
    first_only = bool_
    """Whether one yes is enough."""
    choose = bool_
    """Whether only pairs of large bodies would ask their hulls."""
    ends = int64[:]
    """For contacts: how many there are of all pairs so far; of pairs that are not open, the same as before them,"""
    taken = int64
    """and how many were taken out of the workspace."""
    first = int64
    end = int64
    """Pairs to go through."""
    compared = int64
    maybe_nested = int64
    no_points = int64
    met = int64
    """Pairs that were compared, that may be nested, that need a point of contact, and with a yes."""


stage_at = TreeStage.at


@inner
def _keep_distance(work, row):
    row.value = work.values[0]
    row.faces[0] = work.faces[0, 0]
    row.faces[1] = work.faces[0, 1]
    for k in range(6):
        row.points[k] = work.points[0, k]


@inner
def _may_be_in(objects, a, b):
    """Whether some of object a may be inside object b, a solid; a body of several pieces may have one of them there."""
    body = objects.bodies[a]
    if not objects.bodies[b].solid:
        return False
    return not body.in_one_piece or may_hold(objects.posed[b], body.local, objects.poses[objects.first_pose + a])


@inner
def _note_cost(objects, stage, a, b, tests):
    """What trees spent on a pair that is apart, its hulls might have saved."""
    body_a, body_b = objects.bodies[a], objects.bodies[b]
    if stage.choose and max(body_a.triangles, body_b.triangles) < FEWEST_TRIANGLES:
        return
    for shape in (body_a.shape, body_b.shape):
        objects.spent[shape] += tests
        if objects.spent[shape] > objects.hull_price[shape]:
            objects.hulls_wanted = 1


@inner
def _finish(objects, pairs, stage, work, i, answer, tests):
    """Write the answer about a pair, and what is left to be done."""
    a, b, row = pairs.objects[i, 0], pairs.objects[i, 1], pairs.rows[pairs.slots[i]]
    pairs.states[i] = SETTLED
    meets = answer == MEETING
    if stage.wanted == CONTACTS:
        before = stage.ends[i - 1] if i > 0 else 0
        meets = stage.ends[i] > before
        if objects.bodies[a].convex and objects.bodies[b].convex:
            return  # hulls have decided
    elif stage.wanted == DISTANCES:
        _keep_distance(work, row)
        meets = row.value == 0.0
    if stage.wanted != CONTACTS:
        row.triangles = work.witness
    row.yes = row.value <= pairs.clearances[i] if stage.wanted == DISTANCES else meets
    stage.met += int(row.yes)
    if not row.yes:
        _note_cost(objects, stage, a, b, tests)
    if meets:
        if stage.wanted == DISTANCES:
            pairs.states[i] = NO_POINT
            stage.no_points += 1
    elif (stage.wanted != YES_OR_NO or answer == APART) and (_may_be_in(objects, a, b) or _may_be_in(objects, b, a)):
        pairs.states[i] = MAYBE_NESTED
        stage.maybe_nested += 1


@kernel
def tree_stage(objects, pairs, stage):
    """Ask a kernel of trees about all open pairs from ``first`` to ``end``; their trees have been built.

    Returns DONE or PAUSED; called again after that it goes on, at ``first``.
    """
    objects, pairs, stage = objects_at(objects), pairs_at(pairs), stage_at(stage)
    work = work_at(stage.work)
    while stage.first < stage.end:
        i = stage.first
        if pairs.states[i] == OPEN:
            a, b = pairs.objects[i, 0], pairs.objects[i, 1]
            tests = work.box_tests
            if not work.resumed:
                put_poses(work, objects, a, b)
                work.witness = pairs.rows[pairs.slots[i]].triangles
                work.clearance = pairs.clearances[i]
                work.pose = 0
                stage.compared += 1
            answer = call_kernel(stage.query, objects.trees[a], objects.trees[b], stage.work)
            if answer == UNFINISHED or (stage.wanted == CONTACTS and work.resumed):
                return PAUSED
            if stage.wanted == CONTACTS:
                stage.ends[i] = stage.taken + work.found
            _finish(objects, pairs, stage, work, i, answer, work.box_tests - tests)
            if stage.first_only and stage.met > 0:
                return DONE
        elif stage.wanted == CONTACTS:
            stage.ends[i] = stage.ends[i - 1] if i > 0 else 0
        stage.first += 1
    return DONE
