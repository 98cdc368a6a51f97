# mypy: allow-untyped-defs, allow-incomplete-defs
"""Red features against red: where overlapping features of two hulls belong to both models, a yes needs no tree.

Lin, Manocha, Cohen and Gottschalk (1996, 4.1.4).  The walk over features has ended at a pair that crosses, or with one
inside the other body.  The triangles of both features are compared exactly; what they do not decide goes on to the
trees.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.core import config

from impinge.bvh.leaf_operations import posed_triangle
from impinge.bvh.tree_handle import obb_body
from impinge.convex.features.feature_pair import FEATURE_A, FEATURE_B, KIND_A, KIND_B
from impinge.convex.features.voronoi_cells import INSIDE
from impinge.geometry.triangles.intersection import DISJOINT, contact_kind
from impinge.kernels.jit import inlined, inner, kernel
from impinge.kernels.memory import table
from impinge.world.stages.hull_stage import KEPT_NUMBERS, PAIR_AT
from impinge.world.stages.tree_stage import WITNESS_NUMBERS

GREEN_GREEN, RED_GREEN, RED_RED = 0, 1, 2
FEATURES_MEET = 3
"""Two red features, and triangles on them meet."""

_addresses = table(np.int64)
_numbers = table(np.int64)
_pairs = table(np.int64, 2)
_poses = table(np.float64, 4, 4)
_answers = table(np.int8)
_kept = table(np.int64, KEPT_NUMBERS)
_witnesses = table(np.int64, WITNESS_NUMBERS)


class _Lists(NamedTuple):
    firsts: Any
    starts: Any
    places: Any


if config.DISABLE_JIT:

    def _lists_at(address: Any) -> Any:
        return _Lists(address.firsts, address.starts, address.places)

else:

    @inlined
    def _lists_at(address):
        header = _addresses(address, 5)
        return _Lists(_numbers(header[0], 3), _numbers(header[1], header[3] + 1), _numbers(header[2], header[4]))


@inner
def _list_of(lists, kind, feature):
    """Where the triangles of a feature begin and end."""
    if kind >= INSIDE:
        return 0, 0
    place = lists.firsts[kind] + feature
    return lists.starts[place], lists.starts[place + 1]


@kernel
def red_stage(count, objects, room, pairs, slots, lists, trees, poses, kept, witnesses, answers):
    """What kinds of features each pair of hulls overlaps with; FEATURES_MEET where triangles on red ones do.

    Triangles that meet become the witness of their pair.
    """
    pairs, slots, answers = _pairs(pairs, count), _numbers(slots, count), _answers(answers, count)
    lists, trees, poses = _addresses(lists, objects), _addresses(trees, objects), _poses(poses, objects)
    kept, witnesses = _kept(kept, room), _witnesses(witnesses, room)
    for i in range(count):
        a, b, slot = pairs[i, 0], pairs[i, 1], slots[i]
        lists_a, lists_b = _lists_at(lists[a]), _lists_at(lists[b])
        first_a, end_a = _list_of(lists_a, kept[slot, PAIR_AT + KIND_A], kept[slot, PAIR_AT + FEATURE_A])
        first_b, end_b = _list_of(lists_b, kept[slot, PAIR_AT + KIND_B], kept[slot, PAIR_AT + FEATURE_B])
        answers[i] = int(first_a < end_a) + int(first_b < end_b)
        if answers[i] != RED_RED:
            continue
        body_a, body_b = obb_body(trees[a]), obb_body(trees[b])
        for place_a in range(first_a, end_a):
            triangle_a = posed_triangle(poses, a, body_a, lists_a.places[place_a])
            for place_b in range(first_b, end_b):
                triangle_b = posed_triangle(poses, b, body_b, lists_b.places[place_b])
                if contact_kind(triangle_a, triangle_b) != DISJOINT:
                    answers[i] = FEATURES_MEET
                    witnesses[slot, 0] = 1
                    witnesses[slot, 1] = lists_a.places[place_a]
                    witnesses[slot, 2] = lists_b.places[place_b]
                    break
            if answers[i] == FEATURES_MEET:
                break
    return count
