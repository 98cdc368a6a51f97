# mypy: allow-untyped-defs, allow-incomplete-defs
"""The entry kernel for convex pieces, on the one traversal: volumes are hulls, leaves are convex bodies.

    candidates   the children of a node whose hulls may come within reach, by bounds from GJK (distance.gap_bound)
    visit        the question about two pieces, answered exactly (convex.distance.exact_finish)

Bounds on the stack are distances, in units of the coordinates in the pose at hand.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from impinge.bvh.layout import WIDTH
from impinge.bvh.open_pairs import start
from impinge.bvh.pieces.hull_tree import PiecesBody, pieces_body
from impinge.bvh.pieces.pieces_workspace import work_at as pieces_work_at
from impinge.bvh.traverse import USED, candidates, traverse, visit
from impinge.bvh.volumes.protocol import size_of
from impinge.bvh.workspace import BEST_FIRST, work_at
from impinge.convex.distance.exact_finish import begin_anew, settle, write_nearest
from impinge.convex.distance.gap_bound import gap_bound
from impinge.convex.distance.gjk import gjk
from impinge.convex.distance.simplex import pose_anew
from impinge.convex.distance.support import pose_of, size_of_coordinates
from impinge.convex.hull.hull_handle import convex_body
from impinge.convex.workspace import CLOSER_THAN, DISTANCE
from impinge.convex.workspace import work_at as convex_work_at
from impinge.geometry.answers import MEETING
from impinge.kernels.jit import inlined, inner, kernel
from impinge.kernels.lanes import lowest_bit, nearest_slot

# Bounds and reach are rounded to float32, by 2**-24 of themselves or, if they are tiny, by less than 2**-149.
_DOWN = 1.0 - 2.0**-22
_UP = 1.0 + 2.0**-22
_UNDERFLOW = 2.0**-140


class PieceQuestion(NamedTuple):
    """The question of a convex workspace, about two pieces in one of its poses."""

    space: Any
    """The address of the convex workspace."""
    pose: int
    unit: float
    """The length of one in bounds: as large as the coordinates."""


@size_of.of(PiecesBody)
def _extent(body, ref):
    return body.sizes[ref]


@inlined
def _pose_of(leaf, side):
    space = convex_work_at(leaf.space)
    if side == 0:
        return pose_of(space.poses_a, leaf.pose)
    return pose_of(space.poses_b, leaf.pose)


@inner
def _set_reach(leaf, distance, work):
    """Only pieces that may be within the distance are of interest from now on."""
    work.reach = distance
    work.local_reach[0] = np.float32(min(distance / leaf.unit * _UP + _UNDERFLOW, 2.0**100))


@inner
def _bound(leaf, near, far, near_ref, far_ref, side, reach):
    space = convex_work_at(leaf.space)
    hull, other = convex_body(near.hulls[near_ref]), convex_body(far.hulls[far_ref])
    pose, far_pose = _pose_of(leaf, side), _pose_of(leaf, 1 - side)
    begin_anew(space, hull, other, pose, far_pose)
    return gap_bound(space, hull, other, pose, far_pose, reach)


@candidates.of(PieceQuestion)
def _hulls_in_reach(leaf, near, far, node, far_ref, side, work):
    reach = work.reach
    found = np.int64(0)
    left = np.int64(near.slots[node]) >> USED
    while left != 0:
        k = lowest_bit(left)
        left &= left - 1
        bound = _bound(leaf, near, far, node * WIDTH + k, far_ref, side, reach)
        work.lanes[k] = np.float32(bound / leaf.unit * _DOWN)
        if not bound > reach:
            found |= np.int64(1) << k
    return found


@inner
def _ask(leaf, a, b, piece_a, piece_b, work):
    """Ask about two pieces; return whether that answers the question: they meet, or are within the clearance."""
    work.triangle_tests += 1
    space = convex_work_at(leaf.space)
    address_a, address_b = a.pieces[piece_a], b.pieces[piece_b]
    one, two = convex_body(address_a), convex_body(address_b)
    pose_a, pose_b = pose_of(space.poses_a, leaf.pose), pose_of(space.poses_b, leaf.pose)
    begin_anew(space, one, two, pose_a, pose_b)
    pose_anew(space, one, two, pose_a, pose_b)
    found = gjk(space, one, two, pose_a, pose_b, space.question, space.limit)
    found = settle(address_a, address_b, leaf.space, pose_a, pose_b, leaf.pose, found)
    meeting = found == MEETING
    better = meeting
    if space.question == DISTANCE and (meeting or space.value < work.best):
        better = True
        write_nearest(space, one, two, pose_a, pose_b, leaf.pose, meeting)
        work.best = space.value
        _set_reach(leaf, space.value, work)
    if better:
        work.witness.places[0] = piece_a
        work.witness.places[1] = piece_b
    return meeting


@visit.of(PieceQuestion)
def _ask_pieces(leaf, near, far, node, slots, far_ref, side, work):
    there = np.int64(~far.child[far_ref])
    while slots != 0:
        k = nearest_slot(work.lanes, slots)
        slots &= ~(np.int64(1) << k)
        if work.lanes[k] > work.local_reach[0]:
            break
        here = np.int64(~near.child[node * WIDTH + k])
        if side == 0:
            a, b, piece_a, piece_b = near, far, here, there
        else:
            a, b, piece_a, piece_b = far, near, there, here
        if _ask(leaf, a, b, piece_a, piece_b, work):
            return True
    return False


@kernel
def ask_all(a, b, work):
    """Answer the question of a convex workspace for all its poses; the pieces that answer it go to ``faces``."""
    a, b, workspaces = pieces_body(a), pieces_body(b), pieces_work_at(work).workspaces
    work, space = work_at(workspaces[0]), convex_work_at(workspaces[1])
    question = space.question
    work.motions[0].scale = np.float32(1.0)  # sizes of a and b have one unit
    for i in range(space.first, space.end):
        unit_a = size_of_coordinates(convex_body(a.hulls[0]), pose_of(space.poses_a, i))
        unit_b = size_of_coordinates(convex_body(b.hulls[0]), pose_of(space.poses_b, i))
        leaf = PieceQuestion(workspaces[1], i, unit_a + unit_b)
        work.best = np.inf
        reach = 0.0
        if question == DISTANCE:
            reach = np.inf
        elif question == CLOSER_THAN:
            reach = space.limit
        _set_reach(leaf, reach, work)
        answered = False
        if work.witness.meets:
            answered = _ask(leaf, a, b, work.witness.places[0], work.witness.places[1], work)
        if not answered:
            # A small distance is found best first; a yes soonest depth first.
            start(work, BEST_FIRST if question == DISTANCE else 0)
            answered = traverse(leaf, a, b, work)
        work.witness.meets = work.coherent
        space.answers[i] = answered
        if question == DISTANCE:
            work.faces[i, 0] = work.witness.places[0]
            work.faces[i, 1] = work.witness.places[1]
