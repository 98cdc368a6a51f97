# mypy: allow-untyped-defs, allow-incomplete-defs
"""The closest-feature walk of Lin and Canny, over cells with few planes and with pyramids inside.

Lin and Canny (1991); Lin, Manocha, Cohen and Gottschalk (1996, 4.1); Ponamgi, Manocha and Lin (1995, 3.2 and 4.1).  A
pair of features holds the nearest points of two bodies if the nearest points x, y of the two features lie in each
other's Voronoi cells: then y is nearest to x in all of B and x to y in all of A, and a plane square to x - y parts
them.  Otherwise a violated plane of a cell names the neighbour to go to.

Which pairs there are
---------------------
A nearest pair is always found among vertex-vertex, vertex-edge, edge-edge and vertex-face, and only these are walked.
From a pair at distance d > 0 with y outside the cell of x's feature (or the same with A and B exchanged):

1. y is kept, and its cell in A is looked for (``_locate``).  From a vertex an edge leads nearer to y, from an edge a
   face does; from an edge to its end, and from a face to the edge whose plane is violated most, the distance of
   y stays as it is, since those hold the nearest point of the edge and of the face.  So the distance falls.
2. Where y is below a face F in whose prism it lies, F is seen from the wrong side.  The walk follows the straight line
   from the foot of y on F down to y, through the pyramids (``_plunge``).  If it arrives, y is inside: penetration.  If
   it leaves through another face G, the place of leaving is nearer to y than the foot was, so the distance of y from G
   is less than that from F, and the search goes on from G.  (The pyramid that y lies in would lead outside as well,
   but to a face which may be farther from y than F, and from there back to F.)
3. y is an inner point of an edge of B and lies above a face F of A.  Both would be an edge-face pair.  Instead the walk
   goes along the edge, to the side on which it does not rise above F (``_slide``), until the edge crosses F
   (penetration), ends (vertex-face) or passes over an edge of F (edge-edge).  Each is at most as far as y was from F,
   which is less than d.
4. x is a vertex above a face of B, and its foot y there is beyond the plane of an edge of A: the edge goes down towards
   the face.  The same slide along it ends at a smaller height, so the distance falls again.

So every new pair is nearer than the one before, and no pair comes twice.  Within a search of one kind there is no cycle
either: the pieces of a feature form a tree and no diagonal is crossed in both directions, and on a line with the
direction u through the pyramids the slope n.u / b of the face (n.x <= b around the centroid) rises with each one.

Rounding
--------
A new pair is taken only if its computed distance is smaller.  Where it is not, either the plane was violated by no more
than rounding (a tie between cells: parallel faces and edges, contact), and the pair stays; or the step is right and
gains too little to be seen, as the first one along an edge that is inclined by 1e-9 to a face does.  Then it is
taken if the distance stays the same up to rounding.  Whether a plane is violated is asked of the gap
(``convex.features.feature_gap``), not of the point, which may be too near to tell.

Rounding can lead in a circle in three places: such ties between pairs, the cells around a line on which the point lies
that is looked for, and the pyramids around a line.  What a circle holds is equally good as far as floats can tell, so
the search ends there; Brent (1980) notices a circle by comparing with one mark that is renewed after 1, 2, 4... steps.
No search has a limit of steps.

The functions that see both bodies are inlined: a walk that has nothing to do takes 80 ns instead of 370.
"""

from __future__ import annotations

import numpy as np

from impinge.convex.features.cell_view import (
    FIRST_SIDE,
    HEAD,
    TAIL,
    cell_of,
    direction_of,
    kind_of,
    length_of,
    most_violated,
    moved,
    name_of,
    normal_of,
    same_feature,
    slope,
    steepest,
    tail_of,
    value,
    vertex_of,
)
from impinge.convex.features.feature_gap import nearest_points, noise_of_points
from impinge.convex.features.feature_pair import NEAREST, PENETRATING, carried, turned
from impinge.convex.features.voronoi_cells import EDGE, FACE, FLOOR, INSIDE, MOST_SIDES
from impinge.geometry.exact.predicates import dot, subtract
from impinge.kernels.jit import inlined, inner


@inner
def lin_canny(a, b, b_to_a, a_to_b, pair):
    """Walk from this pair to the nearest one, leave it there, and say how it ended, and after how many steps.

    ``b_to_a`` and ``a_to_b`` are from ``convex.features.feature_pair.placements``.
    """
    cell_a = cell_of(a, pair.kind_a, pair.feature_a, pair.piece_a)
    cell_b = cell_of(b, pair.kind_b, pair.feature_b, pair.piece_b)
    cell_a, cell_b = _without_edge_face(a, b, b_to_a, a_to_b, cell_a, cell_b)
    cell_a, cell_b, steps = _settle_face(a, b, b_to_a, a_to_b, cell_a, cell_b)
    outcome = PENETRATING
    if kind_of(a, cell_a) != INSIDE and kind_of(b, cell_b) != INSIDE:
        outcome, cell_a, cell_b, more = _descend(a, b, b_to_a, a_to_b, cell_a, cell_b)
        steps += more
    pair.kind_a, pair.feature_a, pair.piece_a = name_of(a, cell_a)
    pair.kind_b, pair.feature_b, pair.piece_b = name_of(b, cell_b)
    return outcome, steps


@inlined
def _descend(a, b, b_to_a, a_to_b, cell_a, cell_b):
    """The walk proper: look from both bodies in turn, until neither leads to a nearer pair."""
    cell_a, cell_b, x, gap, noise = nearest_points(a, b, b_to_a, a_to_b, cell_a, cell_b)
    squared = dot(gap, gap)
    steps = np.int64(0)
    idle = 0
    ties, next_mark = 0, 1
    marked_a, marked_b = cell_a, cell_b
    from_a = True
    while idle < 2:
        if from_a:
            y = moved(x, gap, 1.0)
            crossed, new_a, new_b, more = _look(a, b, b_to_a, a_to_b, cell_a, cell_b, y, gap)
        else:
            there, away = carried(a_to_b, x), turned(a_to_b, (-gap[0], -gap[1], -gap[2]))
            crossed, new_b, new_a, more = _look(b, a, a_to_b, b_to_a, cell_b, cell_a, there, away)
        steps += more
        if crossed:
            return PENETRATING, new_a, new_b, steps
        if same_feature(a, cell_a, new_a) and same_feature(b, cell_b, new_b):
            cell_a, cell_b = new_a, new_b
            idle += 1
        else:
            new_a, new_b, new_x, new_gap, new_noise = nearest_points(a, b, b_to_a, a_to_b, new_a, new_b)
            new_squared = dot(new_gap, new_gap)
            nearer = new_squared < squared
            if not nearer and (_violation(a, cell_a, gap) if from_a else _violation(b, cell_b, away)) > noise:
                hidden = noise_of_points(b_to_a, x, gap)
                touching = squared <= hidden * hidden
                tie = new_squared <= squared + hidden * (hidden + 2.0 * np.sqrt(squared))
                nearer = tie and not touching
                if nearer:
                    if ties > 0 and new_a == marked_a and new_b == marked_b:
                        break
                    ties += 1
                    if ties == next_mark:
                        marked_a, marked_b, next_mark = new_a, new_b, 2 * ties
            if nearer:
                cell_a, cell_b, x, gap, noise, squared = new_a, new_b, new_x, new_gap, new_noise, new_squared
                idle = 0
            else:
                idle += 1
        from_a = not from_a
    return NEAREST, cell_a, cell_b, steps


@inlined
def _look(mine, other, to_mine, to_other, cell, other_cell, point, gap):
    """One move, if ``point``, the other's nearest point in my frame, is not in my cell; ``gap`` leads to it from mine.

    Returns whether the bodies were found to meet, both cells, and the number of steps.
    """
    if kind_of(mine, cell) == FACE:  # a face is entered only where the other's vertex is above it
        return False, cell, other_cell, np.int64(0)
    found, steps = _leave(mine, cell, gap)
    if same_feature(mine, cell, found):
        return False, found, other_cell, steps
    if kind_of(other, other_cell) == FACE:
        at_tail = mine.edge_vertices[found - mine.first_edge, 0] == mine.cell_features[cell]
        start = carried(to_other, vertex_of(mine, cell))
        crossed, other_cell, found, more = _slide(other, other_cell, mine, to_other, found, start, at_tail)
        return crossed, found, other_cell, steps + more
    neighbour = found
    found, more = _locate(mine, neighbour, point)
    steps += more
    if same_feature(mine, cell, found):  # the point is too near to be told from the edge, the gap is not
        found = neighbour
    kind = kind_of(mine, found)
    if kind == FACE and kind_of(other, other_cell) == EDGE:
        along = turned(to_mine, direction_of(other, other_cell))
        to_head = slope(mine, found, FLOOR, along) <= 0.0
        crossed, found, other_cell, more = _slide(mine, found, other, to_mine, other_cell, point, to_head)
        return crossed, found, other_cell, steps + more
    return kind == INSIDE, found, other_cell, steps


@inlined
def _leave(body, cell, gap):
    """Where a gap that begins on a vertex or an edge leads: to a piece or an edge of the vertex, a face of the edge.

    The planes pass through the feature, so their normals tell, with the digits of the gap.
    """
    steps = np.int64(0)
    first = FIRST_SIDE if cell >= body.first_edge else 0
    while True:
        place, _ = steepest(body, cell, first, gap)
        if place < 0:
            break
        cell = np.int64(body.beyond[cell, place])
        steps += 1
        if cell >= body.first_edge:
            break
    return cell, steps


@inner
def _locate(body, cell, point):
    """The cell that holds a point, and the number of steps to it.

    A point on the common border of several cells may be sent around by rounding: any of them holds it.
    """
    steps = np.int64(0)
    depth = np.inf
    marked, next_mark = cell, np.int64(2)
    while True:
        place = _way_out(body, cell, point)
        if place < 0:
            break
        if place == FLOOR:
            below = -value(body, cell, FLOOR, point)
            if below >= depth:  # it falls from face to face, unless the point lies on the surface up to rounding
                break
            depth = below
            if body.inside_shift > 0:
                cell, more = _plunge(body, cell, point)
                steps += more
                if kind_of(body, cell) == INSIDE:
                    break
                continue
        cell = np.int64(body.beyond[cell, place])
        steps += 1
        if cell == marked:
            break
        if steps >= next_mark:
            marked, next_mark = cell, 2 * steps
    return cell, steps


@inner
def _way_out(body, cell, point):
    """The plane to cross, or -1: ends of an edge before its faces, sides of a face before its floor."""
    kind = kind_of(body, cell)
    if kind == EDGE:
        place = most_violated(body, cell, TAIL, FIRST_SIDE, point)
        if place >= 0:
            return place
        return most_violated(body, cell, FIRST_SIDE, MOST_SIDES, point)
    place = most_violated(body, cell, 0, MOST_SIDES, point)
    if place < 0 and kind == FACE and value(body, cell, FLOOR, point) < 0.0:
        return FLOOR
    return place


@inner
def _plunge(body, cell, point):
    """Straight from the foot of a point below a face to the point: the pyramid around it, or a face on the way."""
    floor = value(body, cell, FLOOR, point)
    foot = moved(point, normal_of(body, cell, FLOOR), -floor)
    cell = np.int64(body.beyond[cell, FLOOR])
    steps = np.int64(1)
    marked, next_mark = cell, np.int64(2)
    while True:
        first, place = 2.0, -1
        for k in range(MOST_SIDES + 1):
            end = value(body, cell, k, point)
            if end < 0.0:
                start = value(body, cell, k, foot)
                if start > end:
                    reached = max(start, 0.0) / (max(start, 0.0) - end)
                    if reached < first:
                        first, place = reached, k
        if place < 0:
            break
        cell = np.int64(body.beyond[cell, place])
        steps += 1
        if place == FLOOR or cell == marked:
            break
        if steps == next_mark:
            marked, next_mark = cell, 2 * steps
    return cell, steps


@inner
def _slide(body, face, other, to_body, edge, start, to_head):
    """Along an edge of the other body from a point above a face: to its end, or until it passes an edge or the face.

    Returns whether it crosses the face, a cell of this body and one of the other, and the number of steps.
    """
    tail = carried(to_body, tail_of(other, edge))
    along = turned(to_body, direction_of(other, edge))
    length = length_of(other, edge)
    place = HEAD if to_head else TAIL
    passed = dot(subtract(start, tail), along)
    end = length - passed if to_head else passed
    if not to_head:
        along = (-along[0], -along[1], -along[2])
    falling = slope(body, face, FLOOR, along)
    bottom = value(body, face, FLOOR, start) / -falling if falling < 0.0 else np.inf
    steps = np.int64(1)
    while True:
        first, side = np.inf, -1
        for k in range(MOST_SIDES):
            falls = slope(body, face, k, along)
            if falls < 0.0:
                way = value(body, face, k, start) / -falls
                if way < first:
                    first, side = way, k
        if first >= end or first >= bottom:
            break
        face = np.int64(body.beyond[face, side])
        steps += 1
        if face < body.face_cells[0]:
            return False, face, edge, steps
    if bottom < end:
        return True, face, edge, steps
    return False, face, np.int64(other.beyond[edge, place]), steps


@inner
def _without_edge_face(a, b, b_to_a, a_to_b, cell_a, cell_b):
    """A pair to begin with: next to a face only a vertex, of an edge the lower one."""
    kind_a, kind_b = kind_of(a, cell_a), kind_of(b, cell_b)
    if kind_a == FACE and kind_b == FACE:
        face = b.cell_features[cell_b]
        return cell_a, np.int64(b.vertex_cells[b.face_vertices[b.face_starts[face]]])
    if kind_a == FACE and kind_b == EDGE:
        return cell_a, _lower_end(a, cell_a, b, b_to_a, cell_b)
    if kind_a == EDGE and kind_b == FACE:
        return _lower_end(b, cell_b, a, a_to_b, cell_a), cell_b
    return cell_a, cell_b


@inner
def _lower_end(body, face, other, to_body, edge):
    rises = slope(body, face, FLOOR, turned(to_body, direction_of(other, edge))) > 0.0
    return np.int64(other.beyond[edge, TAIL if rises else HEAD])


@inlined
def _settle_face(a, b, b_to_a, a_to_b, cell_a, cell_b):
    """From a face of another pose to the cell that holds the vertex now."""
    steps = np.int64(0)
    if kind_of(a, cell_a) == FACE:
        cell_a, steps = _locate(a, cell_a, carried(b_to_a, vertex_of(b, cell_b)))
    elif kind_of(b, cell_b) == FACE:
        cell_b, steps = _locate(b, cell_b, carried(a_to_b, vertex_of(a, cell_a)))
    return cell_a, cell_b, steps


@inner
def _violation(body, cell, gap):
    """How far a gap leads out of the cell of the vertex or edge where it begins."""
    _, worst = steepest(body, cell, FIRST_SIDE if cell >= body.first_edge else 0, gap)
    return -worst
