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

NOWHERE = -1
"""The place of an entry that is not in the list yet."""

# A bound is the square root of a float32 number which is too large by less than 2**-18 of itself, for volumes
# (leaves.distance_leaves) and for triangles (triangle_filter), and may have been converted to units of a.
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
    if not work.coherent:
        return
    write_placement(work.placement, a, b, work.poses[0], work.poses[1])
    if work.has_last_pose:
        rounding = world_rounding(a, b, work.poses[0], work.poses[1])
        step = moved_at_most(work.placement, work.last_placement, a, b, rounding)
        work.moved = (work.moved + step) * (1.0 + 2.0**-50)  # rounded up
    work.last_placement = work.placement


@inlined
def choose_mode(work):
    """How to answer the next question."""
    work.mode = PLAIN
    work.tests_before = work.box_tests
    work.swept = 0
    work.sweep_end = 0
    if not work.coherent:
        return
    if work.front_size >= 0:
        work.mode = SWEEP
        work.sweep_end = work.front_size
    elif work.pause > 0:
        work.pause -= 1
    elif work.has_last_pose and not work.front_full:
        work.mode = RECORD
        work.front_size = 0
        work.moved = 0.0
    work.has_last_pose = True


@inlined
def must_grow(work):
    """Whether the front was given up because its buffer was full: a new query waits for TraversalWorkspace.begin."""
    return work.front_full and not work.resumed and work.pose == 0


@inlined
def finish(work, question):
    """A question, about CONTACTS or DISTANCES, is answered.

    What is left on the stack belongs to the front; and it is decided whether that pays.
    """
    if work.mode == PLAIN:
        return
    for place in range(work.open_count):
        keep_pair(work, np.int64(work.refs[place, 0]), np.int64(work.refs[place, 1]), np.float32(0.0), 1.0)
    work.open_count = 0
    taken = work.box_tests - work.tests_before
    if work.front_full:
        work.front_size = -1
    elif work.mode == RECORD:
        work.recorded = work.front_size
        work.plain_tests[question] = taken
    elif work.front_size > _LONGEST * work.recorded + _ALWAYS_ALLOWED:
        work.front_size = -1
    elif _COST * taken + work.sweep_end // _ENTRIES > work.plain_tests[question] > 0:
        work.front_size = -1
        work.pause = work.last_pause = min(max(2 * work.last_pause, _FIRST_PAUSE), _LONGEST_PAUSE)
    elif 4 * taken < work.plain_tests[question]:
        work.last_pause = 0


# ------------------------------------------------------------------- entries


@inlined
def _write(work, entry, first, second, code, bound, unit):
    """Write an entry, or add it to the list; ``bound`` is a squared distance in these units."""
    if entry == NOWHERE:
        entry = work.front_size
        if entry >= work.n_front_refs:
            work.front_full = True
            return
        work.front_size = entry + 1
    work.front_refs[entry, 0] = first
    work.front_refs[entry, 1] = second
    work.front_refs[entry, 2] = code
    work.front_keys[entry] = (work.moved + np.sqrt(np.float64(bound)) * unit * _CERTAIN) * _ROUNDED


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
    limit = work.moved + work.reach
    entry = work.swept
    end = work.sweep_end
    while entry < end and work.front_keys[entry] > limit:
        entry += 1
    work.swept = entry + 1
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
    return work.front_size > 0 and work.front_refs[0, 0] == 0 and work.front_refs[0, 2] == 1 | OPENED << _KIND
