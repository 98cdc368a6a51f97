"""The front: what one pose leaves behind for the next, when bodies move in small steps.

A traversal from scratch opens the same volumes again and again although little has changed.  Here
it is made wider by a slack now and then, and all pairs of triangles that come within it are kept, with lower bounds
of their distances (``RECORD``).  As long as the bodies have moved by less than the slack since, no other pair can
matter, and each of these only if its bound less the movement is still in reach; so a pose is answered
by a walk along the front (``SWEEP``).  Molecular dynamics knows the idea as the neighbour list
of Verlet (1967).  The moving front of the literature on bounding volumes (Ehmann and Lin 2001), which goes up and down
in the tree with every pose, still compares all of its volumes each time; a prototype put its gain at 1.7 to 2.5.

One front serves all questions: it holds everything up to a distance of FRONT_REACH + SLACK.
"""

from __future__ import annotations

import numpy as np

from impinge.jit import inlined
from impinge.trees.lanes import lowest_bit
from impinge.trees.layout import WIDTH
from impinge.trees.relative_motion import moved_at_most, world_rounding, write_placement
from impinge.trees.work import (
    BOX_TESTS,
    COHERENT,
    FRONT,
    FRONT_FAR,
    FRONT_FULL,
    FRONT_REACH,
    FRONT_ROOM,
    MODE,
    MOVED,
    PAUSE,
    PLAIN_TESTS,
    SEEN,
    SLACK,
    STEP,
    STEPS,
    SWEPT,
    TESTS_BEFORE,
    TRIANGLES,
    WIDENED,
)

PLAIN = 0
"""Descend from the roots."""
RECORD = 1
"""Descend from the roots with slack, and make a front."""
SWEEP = 2
"""Walk along the front."""

# At first the slack lasts for so many steps of the present size.  A wider front is made less often, but it
# takes longer to make and to walk along; so it is widened while that is cheap, and narrowed when it is given up.
_STEPS = 8.0
_MOST_STEPS = 64.0
_FEWEST_STEPS = 0.5

# A front that takes more comparisons than so many traversals from scratch is given up.
_PATIENCE = 3
_ALWAYS_ALLOWED = 512

NOW = 0
BEFORE = 1
AT_FRONT = 2


@inlined
def _copy_placement(work, source, target):
    for i in range(12):
        work.placements[target, i] = work.placements[source, i]


@inlined
def take_pose(work, a, b):
    """Note how far the bodies have moved."""
    if work.counters[COHERENT] == 0:
        return
    counters = work.counters
    numbers = work.numbers
    write_placement(work.placements[NOW], a, b, work.poses[0], work.poses[1])
    rounding = world_rounding(a, b, work.poses[0], work.poses[1])
    if counters[SEEN] != 0:
        numbers[STEP] = moved_at_most(work.placements[NOW], work.placements[BEFORE], a, b, rounding)
    if counters[FRONT] >= 0:
        numbers[MOVED] = moved_at_most(work.placements[NOW], work.placements[AT_FRONT], a, b, rounding)
    _copy_placement(work, NOW, BEFORE)


@inlined
def choose_mode(work, reach):
    """How to answer a question about distances up to ``reach``."""
    counters = work.counters
    numbers = work.numbers
    counters[MODE] = PLAIN
    counters[TESTS_BEFORE] = counters[BOX_TESTS]
    numbers[WIDENED] = 0.0
    if counters[COHERENT] == 0:
        return
    if counters[FRONT] >= 0 and reach + numbers[MOVED] < numbers[FRONT_REACH] + numbers[SLACK]:
        counters[MODE] = SWEEP
        counters[SWEPT] = 0
    elif counters[SEEN] == 0:
        numbers[STEPS] = _STEPS
    elif counters[PAUSE] > 0:
        counters[PAUSE] -= 1
    elif numbers[STEP] > 0.0:
        record(work)
    counters[SEEN] = 1


@inlined
def record(work):
    """Begin a new front at the present pose."""
    counters = work.counters
    numbers = work.numbers
    counters[MODE] = RECORD
    counters[TESTS_BEFORE] = counters[BOX_TESTS]
    counters[FRONT] = 0
    counters[FRONT_FAR] = 0
    numbers[SLACK] = numbers[STEPS] * numbers[STEP]
    numbers[WIDENED] = numbers[SLACK]
    numbers[MOVED] = 0.0
    _copy_placement(work, NOW, AT_FRONT)


@inlined
def finish(work, reach, complete):
    """The traversal is over: the front is of use if it was not cut short."""
    counters = work.counters
    taken = counters[BOX_TESTS] - counters[TESTS_BEFORE]
    if not complete:
        counters[PAUSE] = max(counters[PAUSE], 1)  # bodies that meet will often still do so in the next pose
    if counters[MODE] == PLAIN and complete:
        counters[PLAIN_TESTS] = taken
    elif counters[MODE] == RECORD:
        work.numbers[FRONT_REACH] = reach
        if not complete:
            counters[FRONT] = -1
        elif taken < 2 * counters[PLAIN_TESTS]:
            work.numbers[STEPS] = min(2.0 * work.numbers[STEPS], _MOST_STEPS)


@inlined
def _give_up(work):
    """Too much would have to be kept: go on with the pairs that are in reach now."""
    counters = work.counters
    numbers = work.numbers
    counters[FRONT] = -1
    counters[MODE] = PLAIN
    numbers[WIDENED] = 0.0
    numbers[STEPS] *= 0.25
    if numbers[STEPS] < _FEWEST_STEPS:
        numbers[STEPS] = _FEWEST_STEPS
        counters[PAUSE] = 16
    for side in range(2):
        work.reach[side] = work.reach[TRIANGLES + side]
    for k in range(WIDTH):
        work.lanes[k] = np.float32(0.0)


@inlined
def keep(work, node, far_ref, triangles, side):
    """Add triangles of a node, and one of far, to the front."""
    counters = work.counters
    entry = counters[FRONT]
    if entry == work.sizes[FRONT_ROOM]:
        counters[FRONT_FULL] = 1
        _give_up(work)
        return
    counters[FRONT] = entry + 1
    bound = np.float32(np.inf)
    bits = triangles
    while bits != 0:
        bound = min(bound, work.lanes[lowest_bit(bits)])
        bits &= bits - 1
    work.front_refs[entry, 0] = node
    work.front_refs[entry, 1] = far_ref
    work.front_refs[entry, 2] = triangles | (side << WIDTH)
    work.front_bounds[entry] = np.sqrt(bound)


@inlined
def watch(work):
    """Give a front up that takes too long to make."""
    counters = work.counters
    if counters[BOX_TESTS] - counters[TESTS_BEFORE] > _PATIENCE * counters[PLAIN_TESTS] + _ALWAYS_ALLOWED:
        _give_up(work)
