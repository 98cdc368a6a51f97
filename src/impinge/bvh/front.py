# mypy: allow-untyped-defs, allow-incomplete-defs
"""The front of the traversal (generalised front tracking): the warm start of a pose from the pose before.

A traversal compares volumes, and turns back where they are apart.  The front is the list of all places where the last
one turned back or came to triangles, each with a lower bound of the distance of all that is below it:

    OPENED      children (bits) of a node that were too far from a volume
    TRIANGLES   triangles (bits) of a node that were compared with one of the other body
    PAIR        two volumes that were not compared further

Together these cover all pairs of triangles.  When the bodies have moved by m since, every bound still holds if it is
made smaller by m.  So the next pose walks along the list (``SWEEP``), and takes up again only the places whose bound
has come into reach: from there the traversal goes on, and what it finds replaces the entry.  A bound is stored as a
*key*, to which the way the bodies had gone by then is added, so that nothing need be written where nothing happens.

The moving front of the literature (Ehmann and Lin 2001) compares all of its volumes in every pose.  Bounds that
last, as in the neighbour lists of Verlet (1967), save most of these: one comparison of two numbers each.

One front serves all questions, whatever their reach.  It only ever becomes finer, so it is made anew now and then.
"""

from __future__ import annotations

import numpy as np

from impinge.bvh.layout import WIDTH
from impinge.bvh.relative_motion import moved_at_most, world_rounding, write_placement
from impinge.bvh.workspace import (
    BOX_TESTS,
    COHERENT,
    FRONT,
    FRONT_FULL,
    FRONT_ROOM,
    LAST_PAUSE,
    MODE,
    MOVED,
    OPEN,
    PAUSE,
    PLAIN_TESTS,
    POSE,
    REACH,
    RECORDED,
    RESUMED,
    SEEN,
    SWEEP_END,
    SWEPT,
    TESTS_BEFORE,
)
from impinge.kernels.jit import inlined
from impinge.kernels.lanes import lowest_bit

# Kinds of questions, whose work is counted apart: those about distances take more.
CONTACTS = 0
DISTANCES = 1

# Modes.
PLAIN = 0
"""Descend from the roots."""
RECORD = 1
"""Descend from the roots, and make a front."""
SWEEP = 2
"""Walk along the front."""

# Kinds of entries, above the bits and the side in their third number.
OPENED = 0
TRIANGLES = 1
PAIR = 2
_SIDE = WIDTH
_KIND = WIDTH + 1
_ALL_SLOTS = 255

NOW = 0
BEFORE = 1

NOWHERE = -1
"""The place of an entry that is not in the list yet."""

# A bound is the square root of a float32 number which is too large by less than 2**-18 of itself, for volumes
# (leaf_operations) and for triangles (triangle_filter), and may have been converted to units of a.
_CERTAIN = 1.0 - 2.0**-17

# The sum that makes a key, and the one that it is compared with, are rounded once each.
_ROUNDED = 1.0 - 2.0**-51

# A front is made anew when it has become so many times as long.
_LONGEST = 4
_ALWAYS_ALLOWED = 256

# A comparison with what is written down about it takes so many times as long; and one takes as long as walking along
# so many entries.
_COST = 2
_ENTRIES = 8

# Where a front does not pay, it is tried again after so many poses.
_FIRST_PAUSE = 4
_LONGEST_PAUSE = 64


# --------------------------------------------------------------------- poses


@inlined
def take_pose(work, a, b):
    """Add to the way that the bodies have gone."""
    if work.counters[COHERENT] == 0:
        return
    write_placement(work.placements[NOW], a, b, work.poses[0], work.poses[1])
    if work.counters[SEEN] != 0:
        rounding = world_rounding(a, b, work.poses[0], work.poses[1])
        step = moved_at_most(work.placements[NOW], work.placements[BEFORE], a, b, rounding)
        work.numbers[MOVED] = (work.numbers[MOVED] + step) * (1.0 + 2.0**-50)  # rounded up
    for i in range(12):
        work.placements[BEFORE, i] = work.placements[NOW, i]


@inlined
def choose_mode(work):
    """How to answer the next question."""
    counters = work.counters
    counters[MODE] = PLAIN
    counters[TESTS_BEFORE] = counters[BOX_TESTS]
    counters[SWEPT] = 0
    counters[SWEEP_END] = 0
    if counters[COHERENT] == 0:
        return
    if counters[FRONT] >= 0:
        counters[MODE] = SWEEP
        counters[SWEEP_END] = counters[FRONT]
    elif counters[PAUSE] > 0:
        counters[PAUSE] -= 1
    elif counters[SEEN] != 0 and counters[FRONT_FULL] == 0:
        counters[MODE] = RECORD
        counters[FRONT] = 0
        work.numbers[MOVED] = 0.0
    counters[SEEN] = 1


@inlined
def must_grow(work):
    """Whether the front was given up because its buffer was full: a new query waits for TraversalWorkspace.begin."""
    return work.counters[FRONT_FULL] != 0 and work.counters[RESUMED] == 0 and work.counters[POSE] == 0


@inlined
def finish(work, question):
    """A question, about CONTACTS or DISTANCES, is answered.

    What is left on the stack belongs to the front; and it is decided whether that pays.
    """
    counters = work.counters
    if counters[MODE] == PLAIN:
        return
    for place in range(counters[OPEN]):
        keep_pair(work, np.int64(work.refs[place, 0]), np.int64(work.refs[place, 1]), np.float32(0.0), 1.0)
    counters[OPEN] = 0
    taken = counters[BOX_TESTS] - counters[TESTS_BEFORE]
    if counters[FRONT_FULL] != 0:
        counters[FRONT] = -1
    elif counters[MODE] == RECORD:
        counters[RECORDED] = counters[FRONT]
        counters[PLAIN_TESTS + question] = taken
    elif counters[FRONT] > _LONGEST * counters[RECORDED] + _ALWAYS_ALLOWED:
        counters[FRONT] = -1
    elif _COST * taken + counters[SWEEP_END] // _ENTRIES > counters[PLAIN_TESTS + question] > 0:
        counters[FRONT] = -1
        counters[PAUSE] = counters[LAST_PAUSE] = min(max(2 * counters[LAST_PAUSE], _FIRST_PAUSE), _LONGEST_PAUSE)
    elif 4 * taken < counters[PLAIN_TESTS + question]:
        counters[LAST_PAUSE] = 0


# ------------------------------------------------------------------- entries


@inlined
def _write(work, entry, first, second, code, bound, unit):
    """Write an entry, or add it to the list; ``bound`` is a squared distance in these units."""
    if entry == NOWHERE:
        entry = work.counters[FRONT]
        if entry >= work.sizes[FRONT_ROOM]:
            work.counters[FRONT_FULL] = 1
            return
        work.counters[FRONT] = entry + 1
    work.front_refs[entry, 0] = first
    work.front_refs[entry, 1] = second
    work.front_refs[entry, 2] = code
    work.front_keys[entry] = (work.numbers[MOVED] + np.sqrt(np.float64(bound)) * unit * _CERTAIN) * _ROUNDED


@inlined
def _smallest(bounds, bits):
    """NaN where nothing is known."""
    least = np.float32(np.inf)
    while bits != 0:
        bound = bounds[lowest_bit(bits)]
        bits &= bits - 1
        if not bound >= least:
            least = bound
    return least


@inlined
def keep_children(work, entry, node, far_ref, bits, side, unit):
    """Children that were found to be apart from a volume; their bounds are in work.lanes, in units of a."""
    if bits != 0 or entry != NOWHERE:
        _write(work, entry, node, far_ref, bits | side << _SIDE | OPENED << _KIND, _smallest(work.lanes, bits), unit)


@inlined
def keep_triangles(work, entry, node, far_ref, bits, side, unit):
    """Triangles that were compared; their bounds are in work.corner_lanes, in units of near."""
    bound = _smallest(work.corner_lanes, bits)
    _write(work, entry, node, far_ref, bits | side << _SIDE | TRIANGLES << _KIND, bound, unit)


@inlined
def keep_pair(work, ref_a, ref_b, bound, unit):
    """Volumes that were not compared further; the bound is in units of a."""
    _write(work, NOWHERE, ref_a, ref_b, PAIR << _KIND, bound, unit)


@inlined
def next_entry(work):
    """The next entry whose bound is in reach by now, or NOWHERE."""
    limit = work.numbers[MOVED] + work.numbers[REACH]
    entry = work.counters[SWEPT]
    end = work.counters[SWEEP_END]
    while entry < end and work.front_keys[entry] > limit:
        entry += 1
    work.counters[SWEPT] = entry + 1
    return entry if entry < end else NOWHERE


@inlined
def strike(work, entry):
    """Empty an entry whose volumes are taken up again."""
    for i in range(3):
        work.front_refs[entry, i] = 0
    work.front_keys[entry] = np.inf


@inlined
def read_entry(work, entry):
    """The two numbers of an entry, its bits, side and kind."""
    code = np.int64(work.front_refs[entry, 2])
    return (
        np.int64(work.front_refs[entry, 0]),
        np.int64(work.front_refs[entry, 1]),
        code & _ALL_SLOTS,
        (code >> _SIDE) & 1,
        code >> _KIND,
    )


@inlined
def roots_are_apart(work):
    """Whether a front says that not even the roots meet: they are compared first, in its first entry."""
    return work.counters[FRONT] > 0 and work.front_refs[0, 0] == 0 and work.front_refs[0, 2] == 1 | OPENED << _KIND
