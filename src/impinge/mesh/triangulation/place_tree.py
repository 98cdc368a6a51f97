# mypy: allow-untyped-defs, allow-incomplete-defs
"""A tree over the places where corners of a plane polygon stand: a bounding volume hierarchy for places that become
empty one after the other.

Node k of n - 1 has the children 2 k and 2 k + 1; nodes n to 2 n - 1 are the places, in the order of a space-filling
curve (Morton, 1966).  The curve runs over ranks instead of coordinates: it needs no arithmetic, and no scale or
outlier spoils it.  Corners at one place are one leaf, however many they are.

A row of the tree bounds, for all places below the node, their coordinates and their priorities.  Every column is a
maximum, of the negative where the minimum is wanted, so that a row is the maximum of two others, and -inf everywhere if
nothing is left.
"""

from __future__ import annotations

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
PRIORITY = 4
COLUMNS = 5


def places(plane: Floats, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place of each corner, counted within its polygon in the order of the curve: the same for equal corners."""
    owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    code = _spread(_ranks(plane[:, 0])) | _spread(_ranks(plane[:, 1])) << np.uint64(1)
    order = np.lexsort((code, owner))
    code, owner = code[order], owner[order]
    is_new = np.ones(len(plane), dtype=bool)
    is_new[1:] = (code[1:] != code[:-1]) | (owner[1:] != owner[:-1])
    place = np.empty(len(plane), dtype=np.int64)
    count = np.cumsum(is_new)
    place[order] = count - count[starts[:-1]][owner]
    return place


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


@inner
def set_leaf(tree, node, x, y, priority):
    """The row of a place."""
    tree[node, _MINUS_LOW_X] = -x
    tree[node, _MINUS_LOW_Y] = -y
    tree[node, _HIGH_X] = x
    tree[node, _HIGH_Y] = y
    tree[node, PRIORITY] = priority


@inner
def leaf_point(tree, node):
    """The coordinates of a place."""
    return tree[node, _HIGH_X], tree[node, _HIGH_Y]


@inner
def empty_leaf(tree, node):
    """Take a place away."""
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
    """Whether places below a node may be in a closed triangle that turns left; False is certain."""
    low_x, low_y, high_x, high_y = (
        -tree[node, _MINUS_LOW_X],
        -tree[node, _MINUS_LOW_Y],
        tree[node, _HIGH_X],
        tree[node, _HIGH_Y],
    )
    if low_x > max(ax, bx, cx) or low_y > max(ay, by, cy) or high_x < min(ax, bx, cx) or high_y < min(ay, by, cy):
        return False
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
