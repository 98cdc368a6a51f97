# mypy: allow-untyped-defs, allow-incomplete-defs
"""The pairs of objects whose boxes overlap, and what each keeps from frame to frame: the records of all stages."""

from __future__ import annotations

from impinge.bvh.workspace import Witness
from impinge.convex.workspace import KeptPair
from impinge.kernels.jit import inner, kernel
from impinge.kernels.record import Record, bool_, float64, int8, int32, int64, records
from impinge.world.stages.object_table import ObjectTable

# What is still to be done with a pair in this frame.
SETTLED = 0
"""Nothing: its row has the answer."""
OPEN = 1
"""All stages that come."""
BY_VERBS = 2
"""The verbs answer, one pair after the other: there is a body without triangles."""
MAYBE_NESTED = 3
"""The surfaces are apart, and one body may be inside the other."""
NO_POINT = 4
"""The surfaces meet, and the point that they have in common is wanted."""

_AT_ONCE = 1 << 16
"""Pairs; a new one writes a row of some 300 bytes."""


class PairRow(Record):
    """What a pair keeps for as long as its boxes overlap: the warm start of each stage, and the last answer."""

    hulls = records(KeptPair)
    """Simplex, features and plane."""
    hull_waits = int8
    """For so many frames hulls are not compared (see ``hull_choice``);"""
    hull_missed = bool_
    """whether no kept plane was enough the last time."""
    triangles = records(Witness)
    """Two that met; of distances the nearest ones."""
    yes = bool_
    """The answer."""
    value = float64
    """Of distances: the value,"""
    points = float64[6]
    """the witness points"""
    faces = int32[2]
    """and their faces."""


class PairTable(Record):
    """The pairs of this frame, sorted, and the rows of all that are followed."""

    keys = int64[:]
    """Both ids (``pair_keys``)."""
    objects = int64[:, 2]
    """Numbers of objects."""
    clearances = float64[:]
    states = int8[:]
    slots = int64[:]
    """The row of each."""
    count = int64
    """How many pairs there are."""
    last_keys = int64[:]
    last_slots = int64[:]
    last_count = int64
    """Those of the frame before, until ``follow_pairs`` has come to its end."""
    free = int64[:]
    free_count = int64
    """Rows that no pair has."""
    rows = records(PairRow)[:]
    new = records(PairRow)
    """What the row of a new pair is like."""
    all_anew = bool_
    """Whether all pairs are open in this frame, wherever they are."""
    forget = bool_
    """Whether they begin with new rows."""
    done = int64
    last_done = int64
    """How far ``follow_pairs`` has come."""
    open = int64
    """How many pairs are open."""


objects_at, pairs_at = ObjectTable.at, PairTable.at


@inner
def _free_rows(pairs):
    """Give the rows of pairs that ended back."""
    i = 0
    for j in range(pairs.last_count):
        key = pairs.last_keys[j]
        while i < pairs.count and pairs.keys[i] < key:
            i += 1
        if i == pairs.count or pairs.keys[i] != key:
            pairs.free[pairs.free_count] = pairs.last_slots[j]
            pairs.free_count += 1


@inner
def _slot_of(pairs, i):
    """The row of pair i, and whether it is new."""
    key = pairs.keys[i]
    j = pairs.last_done
    while j < pairs.last_count and pairs.last_keys[j] < key:
        j += 1
    pairs.last_done = j
    if j < pairs.last_count and pairs.last_keys[j] == key:
        return pairs.last_slots[j], False
    pairs.free_count -= 1
    return pairs.free[pairs.free_count], True


@kernel
def follow_pairs(objects, pairs, first):
    """Give the pairs of this frame their rows, and say which are open: new ones, and those that moved.

    Returns how many pairs are done.  Called again with that it goes on.
    """
    objects, pairs = objects_at(objects), pairs_at(pairs)
    if first == 0:
        pairs.last_done = 0
        pairs.open = 0
        _free_rows(pairs)
    end = min(first + _AT_ONCE, pairs.count)
    for i in range(first, end):
        slot, is_new = _slot_of(pairs, i)
        pairs.slots[i] = slot
        if is_new or pairs.forget:
            pairs.rows[slot] = pairs.new
        a, b = pairs.objects[i, 0], pairs.objects[i, 1]
        moved = objects.times[a] > objects.since or objects.times[b] > objects.since
        is_open = is_new or moved or pairs.all_anew
        pairs.states[i] = OPEN if is_open else SETTLED
        pairs.open += int(is_open)
    if end == pairs.count:
        for i in range(end):
            pairs.last_keys[i] = pairs.keys[i]
            pairs.last_slots[i] = pairs.slots[i]
        pairs.last_count = end
    return end


@inner
def put_poses(work, objects, a, b):
    """Put two objects into the single poses of a workspace, of trees or of hulls."""
    first = objects.first_pose
    for i in range(4):
        for j in range(4):
            work.poses_a[0, i, j] = objects.poses[first + a, i, j]
            work.poses_b[0, i, j] = objects.poses[first + b, i, j]
