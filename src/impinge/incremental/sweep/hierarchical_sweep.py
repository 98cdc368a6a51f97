# mypy: allow-untyped-defs, allow-incomplete-defs
"""Hierarchical sweep and prune: all pairs of faces that meet, level by level through two hierarchies of boxes.

Ponamgi, Manocha and Lin (1995), 4.7.  For a pair of nodes whose boxes overlap, the children of both are sorted along an
axis and swept; pairs of children that overlap come next.  Levels are (1, 1), (2, 2), ...; where one hierarchy
has ended, its last level goes on against the descending levels of the other.  At two leaves the faces are swept, and
those whose boxes overlap are tested.

What it takes, one file each: where it starts (``start_node``); the children of two nodes (``item_list``), brought in
order (``sorted_list``, with ``insertion_sort`` and ``merge_sort``); the sweep (``interval_sweep``); the pairs that were
reached (``pair_hash``).  A frame costs the lists that it reaches, each about linear in its items.
"""

from __future__ import annotations

import numpy as np

from impinge.bvh.answers import APART, FAR_APART, MEETING
from impinge.incremental.frame_memory import DONE, MORE_ITEMS, NONE, Frames
from impinge.incremental.hierarchy.box_updates import hierarchy_at, is_leaf, place, take_pose
from impinge.incremental.sweep.box_overlap import common_box, loaded_box, overlap
from impinge.incremental.sweep.face_test import HIT, witness_meets
from impinge.incremental.sweep.interval_sweep import share_out, sweep
from impinge.incremental.sweep.item_list import items_below, length_of
from impinge.incremental.sweep.pair_hash import add_pair, forget_pairs
from impinge.incremental.sweep.sorted_list import sort_list
from impinge.incremental.sweep.start_node import start_node
from impinge.kernels.jit import inner, kernel

frames_at = Frames.at


@inner
def _sweep_pair(frames, a, b, pair, region):
    """Sort and sweep the children of two nodes; returns DONE, or why it has stopped."""
    now = frames.now
    items = items_below(a, b, pair, now.first_item + now.items)
    if now.items + length_of(items) > frames.n_items // 2:
        return MORE_ITEMS
    sort_list(frames, a, b, pair, items)
    node_a, node_b = pair.node_a, pair.node_b
    common = common_box(a.boxes, node_a, b.boxes, node_b, region)
    counts = share_out(frames, a, b, items, common)
    status = sweep(frames, a, b, pair.axis, counts, is_leaf(a, node_a) and is_leaf(b, node_b))
    now.items += length_of(items)
    return status


@inner
def _descend(frames, a, b, region):
    """Sweep level by level from the start nodes on: the pairs that are swept add others behind themselves."""
    now = frames.now
    forget_pairs(frames, now)
    add_pair(frames, now, frames.start_a, frames.start_b)
    done = 0
    while done < now.pairs:
        status = _sweep_pair(frames, a, b, frames.pairs[now.first_pair + done], region)
        if status != DONE:
            return status
        done += 1
    frames.spare = frames.before
    frames.before = now
    frames.now = frames.spare
    return DONE


@inner
def _give_up_lists(frames):
    """Nothing was reached."""
    if frames.before.pairs > 0:
        forget_pairs(frames, frames.before)


@inner
def _sweep_pose(frames, a, b, i):
    """Find the contacts of one pose and write the answer; returns DONE, or what there must be more of."""
    take_pose(a, frames.poses_a, i)
    take_pose(b, frames.poses_b, i)
    frames.answers[i] = MEETING
    if frames.first_only and witness_meets(frames, a, b):
        return DONE
    frames.frame += 1
    place(a, frames.frame)
    place(b, frames.frame)
    effort = frames.effort
    effort.box_tests += 1
    if not overlap(a.boxes, 0, b.boxes, 0):
        _give_up_lists(frames)
        frames.answers[i] = FAR_APART
        return DONE
    region = common_box(a.boxes, 0, b.boxes, 0, loaded_box(frames.region))
    start_a = start_node(frames, a, frames.start_a, region)
    start_b = start_node(frames, b, frames.start_b, region)
    if start_a == NONE or start_b == NONE or not overlap(a.boxes, start_a, b.boxes, start_b):
        _give_up_lists(frames)
        frames.answers[i] = APART
        return DONE
    frames.start_a = start_a
    frames.start_b = start_b
    contacts_before = effort.contacts
    status = _descend(frames, a, b, region)
    if status == HIT:
        return DONE
    if effort.contacts == contacts_before:
        frames.answers[i] = APART
    return status


@kernel
def sweep_contacts(a, b, frames):
    """Go on with the poses that are asked about; returns DONE, or what there must be more of."""
    a, b, frames = hierarchy_at(a), hierarchy_at(b), frames_at(frames)
    while frames.pose < frames.asked:
        frames.effort_before = frames.effort
        status = _sweep_pose(frames, a, b, frames.pose)
        if status != DONE:
            frames.effort = frames.effort_before
            return status
        frames.ends[frames.pose] = frames.effort.contacts
        frames.pose += 1
    return np.int64(DONE)
