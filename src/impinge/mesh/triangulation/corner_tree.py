# mypy: allow-untyped-defs, allow-incomplete-defs
"""A tree over the corners of a plane polygon: a bounding volume hierarchy for corners that vanish one after the other.

Node k of n - 1 has the children 2 k and 2 k + 1; nodes n to 2 n - 1 are the corners, in the order of a space-filling
curve (Morton, 1966).  The curve runs over ranks instead of coordinates: it needs no arithmetic, and no scale or
outlier spoils it.

A row of the tree bounds, for all corners below the node, their coordinates, the directions of their edges, and
their priorities.  Every column is a maximum, of the negative where the minimum is wanted, so that a row is the maximum
of two others, and -inf everywhere if nothing is left.  Directions serve corners at one place, which boxes cannot tell
apart.  They are numbers from 0 to 4 in the order of angles, rounded: ``direction``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats
from impinge.geometry.exact.predicates import orient2d_float
from impinge.kernels.jit import inner

# The columns of a row.
_MINUS_LOW_X = 0
_MINUS_LOW_Y = 1
_HIGH_X = 2
_HIGH_Y = 3
_EDGES = 4
"""Of the direction to the corner before minus the lowest, and the highest; and so of that to the corner after."""
PRIORITY = 8
COLUMNS = 9

_DIRECTION_ERROR = 2.0**-48
"""On ``direction`` act five roundings, each of a number of at most 4: an error below 5 * 4 * 2**-53."""


def curve_order(plane: Floats, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each polygon the order of its corners on the curve, counted within the polygon.

    Corners at one place are sorted by the direction of the edge to the corner after.
    """
    sizes = np.diff(starts)
    after = np.arange(1, len(plane) + 1)
    after[starts[1:] - 1] = starts[:-1]
    edge = plane[after] - plane
    with np.errstate(invalid="ignore"):  # repeated corners have no direction
        around = _direction(edge[:, 0], edge[:, 1])
    code = _spread(_ranks(plane[:, 0])) | _spread(_ranks(plane[:, 1])) << np.uint64(1)
    order = np.lexsort((around, code, np.repeat(np.arange(len(sizes)), sizes)))
    return order - np.repeat(starts[:-1], sizes)


def _ranks(values: Floats) -> NDArray[np.uint64]:
    return np.unique(values, return_inverse=True)[1].astype(np.uint64)


def _spread(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The 32 lower bits of each number, a zero after each."""
    for shift, mask in (
        (16, 0x0000FFFF0000FFFF),
        (8, 0x00FF00FF00FF00FF),
        (4, 0x0F0F0F0F0F0F0F0F),
        (2, 0x3333333333333333),
        (1, 0x5555555555555555),
    ):
        bits = (bits | (bits << np.uint64(shift))) & np.uint64(mask)
    return bits


def _direction(dx: Any, dy: Any) -> Any:
    """0 to the right, 1 up, 2 to the left, 3 down, and between them as the angle grows; NaN for no direction.

    For numbers and for arrays.
    """
    across = dx / (abs(dx) + abs(dy))
    upward = dy >= 0.0
    return upward * (1.0 - across) + (1 - upward) * (3.0 + across)


_direction_of = inner(_direction)


@inner
def set_leaf(tree, node, points, links, corner, priority):
    """The row of a corner; ``links`` are the corners before and after."""
    x, y = points[corner, 0], points[corner, 1]
    tree[node, _MINUS_LOW_X] = -x
    tree[node, _MINUS_LOW_Y] = -y
    tree[node, _HIGH_X] = x
    tree[node, _HIGH_Y] = y
    tree[node, PRIORITY] = priority
    _set_directions(tree, node, points, links, corner)


@inner
def turn_edges(tree, node, points, links, corner):
    """Give a corner the directions to its new neighbours."""
    _set_directions(tree, node, points, links, corner)
    _join_upward(tree, node)


@inner
def _set_directions(tree, node, points, links, corner):
    for k in range(2):
        other = links[corner, k]
        value = _direction_of(points[other, 0] - points[corner, 0], points[other, 1] - points[corner, 1])
        known = value == value  # an edge between equal points runs nowhere
        tree[node, _EDGES + 2 * k] = -value if known else -np.inf
        tree[node, _EDGES + 2 * k + 1] = value if known else -np.inf


@inner
def empty_leaf(tree, node):
    """Take a corner away."""
    for k in range(COLUMNS):
        tree[node, k] = -np.inf
    _join_upward(tree, node)


@inner
def join(tree, node):
    """A row from its children; whether it has changed."""
    changed = False
    for k in range(COLUMNS):
        value = max(tree[2 * node, k], tree[2 * node + 1, k])
        changed |= tree[node, k] != value
        tree[node, k] = value
    return changed


@inner
def _join_upward(tree, node):
    """All rows above a node that has changed."""
    node //= 2
    while node >= 1 and join(tree, node):
        node //= 2


@inner
def may_block(tree, node, ax, ay, bx, by, cx, cy):
    """Whether corners below a node may stand in a triangle that turns left, or on its corners with an edge that runs
    into it; False is certain.
    """
    low_x, low_y, high_x, high_y = (
        -tree[node, _MINUS_LOW_X],
        -tree[node, _MINUS_LOW_Y],
        tree[node, _HIGH_X],
        tree[node, _HIGH_Y],
    )
    if low_x > max(ax, bx, cx) or low_y > max(ay, by, cy) or high_x < min(ax, bx, cx) or high_y < min(ay, by, cy):
        return False
    if low_x == high_x and low_y == high_y:
        if low_x == ax and low_y == ay:
            return _may_leave_into(tree, node, bx - ax, by - ay, cx - ax, cy - ay)
        if low_x == bx and low_y == by:
            return _may_leave_into(tree, node, cx - bx, cy - by, ax - bx, ay - by)
        if low_x == cx and low_y == cy:
            return _may_leave_into(tree, node, ax - cx, ay - cy, bx - cx, by - cy)
    return not (
        _is_right(low_x, low_y, high_x, high_y, ax, ay, bx, by)
        or _is_right(low_x, low_y, high_x, high_y, bx, by, cx, cy)
        or _is_right(low_x, low_y, high_x, high_y, cx, cy, ax, ay)
    )


@inner
def _is_right(low_x, low_y, high_x, high_y, ax, ay, bx, by):
    """Whether a box lies to the right of ab, by more than the error of the computation."""
    value, error = orient2d_float(ax, ay, bx, by, low_x if by > ay else high_x, high_y if bx > ax else low_y)
    return value < -error


@inner
def _may_leave_into(tree, node, first_x, first_y, last_x, last_y):
    """Whether edges of the corners below a node may run into an angle, from one direction left to another."""
    first = _direction_of(first_x, first_y) - _DIRECTION_ERROR
    last = _direction_of(last_x, last_y) + _DIRECTION_ERROR
    for k in range(2):
        low = -tree[node, _EDGES + 2 * k] - _DIRECTION_ERROR
        high = tree[node, _EDGES + 2 * k + 1] + _DIRECTION_ERROR
        if first <= last:
            if low <= last and high >= first:
                return True
        elif low <= last or high >= first:  # the angle holds the direction 0
            return True
    return False
