# mypy: allow-untyped-defs, allow-incomplete-defs
"""How two closed surfaces lie to each other, exactly: inside, outside, touching, overlapping.

A solid is its closed surface together with all points from which a ray crosses the surface
an odd number of times.  Two solids cut space into cells; three bits say all that the relation
needs: is there a cell inside both, one inside a only, one inside b only?

Every cell whose boundary carries contact has, near some contact point x of two triangles, a
sector between the faces and edges that meet there.  One point is taken from each sector, infinitesimally beside x (see
ray_parity): first along an edge through x or along the common line of the two planes, then into a face, then to
either side of it.  Surfaces without contact are settled by one vertex of each connected piece.

The surfaces must not cross themselves: cells that only a self-crossing makes may be missed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from impinge.geometry.exact.predicates import orient3d
from impinge.geometry.solids.ray_parity import COMMON_LINE, NORMAL, ROUNDING, samples_inside
from impinge.geometry.triangles.crossing import extent_of_pair, largest_coordinate, plane_crossing
from impinge.geometry.triangles.intersection import (
    degenerate_ends,
    projection_axis,
    same_point,
    seen_turn,
    segments_meet,
)
from impinge.kernels.jit import generic, inner

IN_BOTH = 1
ONLY_IN_A = 2
ONLY_IN_B = 4
EVERYTHING = IN_BOTH | ONLY_IN_A | ONLY_IN_B

_MOST_POINTS = 12
_MOST_SAMPLES = 2 * 3 * 4 + 8  # all edges of both faces through x, and the common line of the planes


# ------------------------------------------------------------------------- surfaces


@generic
def triangles_on_ray(surface, x, rounding):
    """The posed triangles (n, 3, 3) of a surface that a ray in direction x may meet, from any point within
    ``rounding`` of x; there may be others among them."""


class AllTriangles(NamedTuple):
    """A surface without a hierarchy: each ray is tested against all of it."""

    triangles: Any


@triangles_on_ray.of(AllTriangles)
def _all_triangles(surface, x, rounding):
    return surface.triangles


# ------------------------------------------------------------- samples of a contact


@inner
def _is_corner(p, t):
    return same_point(p, t[0]) or same_point(p, t[1]) or same_point(p, t[2])


@inner
def _side(p, t):
    """On which side of the plane of a triangle a point lies: -1, 0 or 1."""
    return 0 if _is_corner(p, t) else orient3d(t[0], t[1], t[2], p)


@inner
def _sides(t, other):
    return (_side(t[0], other), _side(t[1], other), _side(t[2], other))


@inner
def _passes_through(p, q, t):
    """Whether the line of a segment passes through a triangle, and not through a vertex of it."""
    s0 = orient3d(p, q, t[0], t[1])
    s1 = orient3d(p, q, t[1], t[2])
    s2 = orient3d(p, q, t[2], t[0])
    at_vertex = (s0 == 0 and s1 == 0) or (s1 == 0 and s2 == 0) or (s2 == 0 and s0 == 0)
    return not at_vertex and (min(s0, s1, s2) >= 0 or max(s0, s1, s2) <= 0)


@inner
def _in_triangle(p, t):
    """Whether a point in the plane of a triangle lies in the triangle."""
    axis, turn = projection_axis(t)
    if axis < 0:
        q, r = degenerate_ends(t)
        return segments_meet(p, p, q, r)
    for k in range(3):
        if turn * seen_turn(t[k], t[(k + 1) % 3], p, axis) < 0:
            return False
    return True


@inner
def _contact_points(pair, sides, points):
    """Write the corners of the intersection as (i, j), each position once; return their number.

    (i, i) is corner i of the pair, (i, j) the point where the edge from i to j pierces the other triangle.
    ``sides`` tells on which side of the other plane each corner lies.
    """
    count = 0
    for face in range(2):
        t = pair[face]
        other = pair[1 - face]
        for k in range(3):
            p = t[k]
            here = sides[face][k]
            there = sides[face][(k + 1) % 3]
            if here == 0:
                shared = _is_corner(p, other)
                if (shared and face == 0) or (not shared and _in_triangle(p, other)):
                    points[count, 0] = points[count, 1] = 3 * face + k
                    count += 1
            elif here * there < 0 and _passes_through(p, t[(k + 1) % 3], other):
                points[count, 0] = 3 * face + k
                points[count, 1] = 3 * face + (k + 1) % 3
                count += 1
    return count


@inner
def _has_edge_in_plane(sides):
    return (sides[0] == 0) + (sides[1] == 0) + (sides[2] == 0) >= 2


@inner
def _edge_across(pair, sides):
    """An edge of a that is not parallel to the plane of b; -1 if the planes are parallel, or if one needs no samples.

    Where the common line runs along an edge of both triangles, the samples along these edges are enough.
    Triangles that meet are not strictly on one side of each other, so that some edge of a ends on different sides of b
    unless all of a lies in that plane.
    """
    if projection_axis(pair[0])[0] < 0 or (_has_edge_in_plane(sides[0]) and _has_edge_in_plane(sides[1])):
        return -1
    if sides[0][0] != sides[0][1]:
        return 0
    return 1 if sides[0][1] != sides[0][2] else -1


@inner
def _on_edge(pair, i, j, edge):
    """Whether x lies on an edge, named by its first corner, of a face that is not degenerate."""
    face = edge // 3
    t = pair[face]
    k = edge % 3
    if i != j:
        if i // 3 == face:
            return edge == i
        return orient3d(pair[i // 3][i % 3], pair[j // 3][j % 3], t[k], t[(k + 1) % 3]) == 0
    x = pair[i // 3][i % 3]
    if _is_corner(x, t):
        return not same_point(x, t[(k + 2) % 3])
    return segments_meet(x, x, t[k], t[(k + 1) % 3])


@inner
def _seen_before(pair, face, i, j, seen):
    """Whether x is a corner of the face at which samples were taken already; note that they are taken now."""
    if i == j:
        for k in range(3):
            if same_point(pair[face][k], pair[i // 3][i % 3]):
                before = seen[k]
                seen[k] = True
                return before
    return False


@inner
def _write_sample(sample, first, along, second, across, third, side):
    sample[0, 0], sample[0, 1] = first, along
    sample[1, 0], sample[1, 1] = second, across
    sample[2, 0], sample[2, 1] = third, side


@inner
def _samples_along_edges(pair, face, i, j, samples, count):
    """Append samples on both sides of a face, beside each of its edges through x."""
    if projection_axis(pair[face])[0] < 0:
        return count
    for edge in range(3 * face, 3 * face + 3):
        if _on_edge(pair, i, j, edge):
            into_face = 3 * face + (edge + 2) % 3  # this edge leads back from the opposite corner
            for along in range(-1, 2, 2):
                for side in range(-1, 2, 2):
                    _write_sample(samples[count], edge, along, into_face, -1, NORMAL + face, side)
                    count += 1
    return count


@inner
def _samples_along_line(edge_across, samples, count):
    """Append samples in the four sectors around the common line of the planes, in both directions."""
    for along in range(-1, 2, 2):
        for across in range(-1, 2, 2):
            for side in range(-1, 2, 2):
                _write_sample(samples[count], COMMON_LINE, along, edge_across, across, NORMAL, side)
                count += 1
    return count


@inner
def _write_point(pair, i, j, point):
    """Write the coordinates of a contact point x, and a bound of their rounding."""
    p = pair[i // 3][i % 3]
    rounding = 0.0
    if i != j:
        p = plane_crossing(p, pair[j // 3][j % 3], pair[1 - i // 3])
        # The ratio in which x divides the edge is rounded, and then its coordinates, which may be far from the origin.
        rounding = ROUNDING * extent_of_pair(pair[0], pair[1]) + 2.0**-50 * largest_coordinate(pair[0], pair[1])
    for k in range(3):
        point[k] = p[k]
    point[3] = rounding


@inner
def _cells_of_samples(in_a, in_b, count):
    """The cells of points, of which bits say whether they are in a and in b."""
    every = (1 << count) - 1
    cells = 0
    if in_a & in_b:
        cells |= IN_BOTH
    if in_a & ~in_b & every:
        cells |= ONLY_IN_A
    if in_b & ~in_a & every:
        cells |= ONLY_IN_B
    return cells


@inner
def cells_around_contact(a, b, surface_a, surface_b, seen_a, seen_b, cells):
    """Which cells (IN_BOTH, ONLY_IN_A, ONLY_IN_B) meet at the contact of triangles a and b, or are known already.

    ``seen`` (3,) marks the corners of a and b around which samples have been taken.
    """
    pair = (a, b)
    corners = np.empty((6, 3))
    for i in range(3):
        for k in range(3):
            corners[i, k] = a[i][k]
            corners[3 + i, k] = b[i][k]
    points = np.empty((_MOST_POINTS, 2), dtype=np.int64)
    samples = np.empty((_MOST_SAMPLES, 3, 2), dtype=np.int64)
    point = np.empty(4)
    sides = (_sides(a, b), _sides(b, a))
    point_count = _contact_points(pair, sides, points)
    edge_across = _edge_across(pair, sides) if point_count > 1 else -1
    for n in range(point_count):
        i = points[n, 0]
        j = points[n, 1]
        count = 0
        if not _seen_before(pair, 0, i, j, seen_a):
            count = _samples_along_edges(pair, 0, i, j, samples, count)
        if not _seen_before(pair, 1, i, j, seen_b):
            count = _samples_along_edges(pair, 1, i, j, samples, count)
        if edge_across >= 0:
            count = _samples_along_line(edge_across, samples, count)
        if count > 0:
            _write_point(pair, i, j, point)
            x, rounding = point[:3], point[3]
            near_a = triangles_on_ray(surface_a, x, rounding)
            near_b = triangles_on_ray(surface_b, x, rounding)
            in_a = samples_inside(corners, i, j, point, samples[:count], near_a)
            in_b = samples_inside(corners, i, j, point, samples[:count], near_b)
            cells |= _cells_of_samples(in_a, in_b, count)
        if cells == EVERYTHING:
            break
    return cells
