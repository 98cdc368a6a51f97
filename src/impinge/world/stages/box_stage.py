# mypy: allow-untyped-defs, allow-incomplete-defs
"""The first stage of the pipeline: the boxes of what moved, and in small worlds which pairs of them overlap.

A pair within a clearance c has boxes with a gap of at most c along each axis.  Each box is grown by half of the
largest clearance that its object may have, so the two grown boxes of such a pair overlap; rounding is monotonic and
halves are never rounded down (those of odd subnormal numbers are rounded up, all others are exact), so this holds for
the numbers that are compared.

Comparing all pairs of 100 boxes takes 10 us, less than any list or tree of them takes to be kept.
"""

from __future__ import annotations

from impinge.broadphase.body_boxes.local_bounds import balls_overlap, boxes_overlap, pose_bounds
from impinge.broadphase.pair_keys import in_order
from impinge.geometry.rigid_pose import pose_is_rigid
from impinge.kernels.jit import kernel
from impinge.kernels.record import Record, bool_, float64, int64
from impinge.world.stages.pair_table import objects_at, pairs_at

NOT_RIGID = -1
"""A pose is no rigid motion."""

_AT_ONCE = 1 << 22
"""Pairs of boxes; each takes a nanosecond or two."""


class BoxStage(Record):
    """Which pairs are compared."""

    takes_part = bool_[:]
    """For each object: whether filters leave any of its pairs."""
    grow_by = float64[:]
    """Half of the largest clearance it may have."""
    clearance = float64
    """Of pairs without a filter."""
    left_out = bool_[:]
    """For each two objects, row by row: whether a filter takes their pair out.  Empty where there are no filters."""
    clearances = float64[:]
    """The same of their clearances."""
    box_pairs = int64
    """How many pairs of boxes overlap."""
    row = int64
    """The first object whose pairs were not yet compared."""


stage_at = BoxStage.at


@kernel
def place_boxes(objects, pairs, stage):
    """Boxes of all objects that moved; return how many, or NOT_RIGID where poses are checked and one is not."""
    objects = objects_at(objects)
    moved = 0
    for i in range(objects.n_bodies):
        if objects.times[i] > objects.since:
            moved += 1
            pose = objects.poses[objects.first_pose + i]
            if objects.check_poses and not pose_is_rigid(pose):
                return NOT_RIGID
            pose_bounds(objects.bodies[i].local, pose, objects.posed[i])
    return moved


@kernel
def compare_boxes(objects, pairs, stage):
    """Find all pairs whose boxes overlap and that pass the filters.

    Returns how many objects have been compared with those after them.  Called again it goes on; there is not
    enough room for the pairs of the next one, or it has taken long.
    """
    objects, pairs, stage = objects_at(objects), pairs_at(pairs), stage_at(stage)
    count = objects.n_bodies
    filtered = stage.n_left_out > 0
    if stage.row == 0:
        pairs.count = 0
        stage.box_pairs = 0
    tested = 0
    while stage.row < count and pairs.count + (count - stage.row) <= pairs.n_keys and tested < _AT_ONCE:
        i = stage.row
        stage.row += 1
        if not stage.takes_part[i]:
            continue
        tested += count - i
        found = pairs.count
        for j in range(i + 1, count):
            grown = (stage.grow_by[i], stage.grow_by[j])
            if not boxes_overlap(objects.posed[i], objects.posed[j], grown):
                continue
            if (objects.fixed[i] and objects.fixed[j]) or not stage.takes_part[j]:
                continue
            if not balls_overlap(objects.posed[i], objects.posed[j], grown[0] + grown[1]):
                continue
            stage.box_pairs += 1
            clearance = stage.clearance
            if filtered:
                if stage.left_out[i * count + j]:
                    continue
                clearance = stage.clearances[i * count + j]
            pairs.keys[found] = in_order(objects.ids[i], objects.ids[j])
            pairs.objects[found, 0] = i
            pairs.objects[found, 1] = j
            pairs.clearances[found] = clearance
            found += 1
        pairs.count = found
    return stage.row
