"""How two closed surfaces lie to each other, exactly: inside, outside, touching, overlapping.

A solid is its closed surface together with all points from which a ray crosses the surface
an odd number of times.  Two solids cut space into cells; three bits say all that the relation
needs: is there a cell inside both, one inside a only, one inside b only?

Every cell whose boundary carries contact has, near some contact point x of two triangles, a
sector between the faces and edges that meet there.  One point is taken from each sector:

    y = x + e*d1 + e**2*d2 + e**3*d3      for an infinitesimal e > 0,

with d1 along an edge through x or along the common line of the two planes, d2 into a face, d3
to either side of it.  Orientation predicates are affine in their last argument, so their
sign at y is the first non-zero of four exact numbers, and nothing is ever rounded or
degenerate: y lies on no face, no edge, and no ray through y grazes either.  (That is Edelsbrunner and Muecke's
simulation of simplicity, 1990, with directions chosen to fit the question.)  Surfaces without contact are
settled by one vertex of each connected piece.

The surfaces must not cross themselves: cells that only a self-crossing makes may be missed.
"""

from __future__ import annotations

import numpy as np

from impinge.geometry import exact
from impinge.geometry.crossing import extent_of_pair, largest_coordinate, plane_crossing
from impinge.geometry.predicates import UNDERFLOW, cross, dot, orient3d, sign, subtract
from impinge.geometry.triangle import (
    load_triangle,
    pair_array,
    projection_axis,
    same_point,
    segment_meets_triangle,
    segments_meet,
)
from impinge.jit import POINTER, array_at, cold, inner, pointer_to

IN_BOTH = 1
ONLY_IN_A = 2
ONLY_IN_B = 4
EVERYTHING = IN_BOTH | ONLY_IN_A | ONLY_IN_B

# Rounding of a constructed point (below 2**-41, see geometry.crossing) and of the float signs below (products of
# at most six differences, some 1000 u), relative to the sizes at hand.  What is not certain goes to the exact signs.
_ROUNDING = 2.0**-36

# A normal that underflows by 2**-1075 may be magnified by another one and by the gradient, below 2**307 each.
_SLOPE_UNDERFLOW = 2.0**-440

# Everything about a sample point is a function of the six corners of a pair of triangles (0 to 2 are
# those of a, 3 to 5 those of b), so that it can be evaluated exactly.  x is corner i, or the point where the
# edge from corner i to corner j meets the plane of the other triangle.  A direction is a number:
# 0 to 5 lead from that corner to the next one of its triangle, then there are
_COMMON_LINE = 6  # the cross product of both normals,
_NORMAL = 7  # the normal of a, and 8 that of b,
_AXES = 9  # and the axes x, y, z, for points that belong to no pair.
_DIRECTIONS = 12
_UNKNOWN = 2
_MOST_POINTS = 12
_MOST_SAMPLES = 2 * 3 * 4 + 8  # all edges of both faces through x, and the common line of the planes


# ------------------------------------------------------------------------ exact signs


@inner
def _normal(corners, face):
    i = 3 * face
    return exact.cross(
        exact.subtract(corners[i + 1], corners[i]),
        exact.subtract(corners[i + 2], corners[i]),
    )


@inner
def _unit_vector(axis):
    unit = np.zeros((3, 2), dtype=np.int64)
    unit[axis, 0] = 1
    return unit


@inner
def _next_corner(i):
    return i + 1 if i % 3 < 2 else i - 2


@inner
def _direction(corners, direction):
    """A direction as an exact vector."""
    if direction < 6:
        return exact.subtract(corners[_next_corner(direction)], corners[direction])
    if direction == _COMMON_LINE:
        return exact.cross(_normal(corners, 0), _normal(corners, 1))
    if direction < _AXES:
        return _normal(corners, direction - _NORMAL)
    return _unit_vector(direction - _AXES)


@inner
def _exact_rows(corners, triangle):
    """The six corners of the pair and the three of another triangle, as integers."""
    points = np.empty((9, 3))
    for k in range(3):
        for i in range(6):
            points[i, k] = corners[i, k]
        for i in range(3):
            points[6 + i, k] = triangle[i, k]
    return exact.integers(points)[0]


@inner
def _gradient(rows, which):
    """The gradient of one of the four functions whose signs tell whether a ray in direction x crosses a triangle.

    Functions 0 to 2 vanish on the planes through an edge that contain the direction of the ray, function 3 on
    the plane of the triangle.
    """
    if which == 3:
        return exact.cross(exact.subtract(rows[7], rows[6]), exact.subtract(rows[8], rows[6]))
    return exact.cross(_unit_vector(0), exact.subtract(rows[6 + (which + 1) % 3], rows[6 + which]))


@cold(f"int64({POINTER}, int64, int64, {POINTER}, int64)")
def _base_sign_exactly(corners, i, j, triangle, which):
    """The sign of a function at x, which is corner i or on the edge from i to j."""
    rows = _exact_rows(array_at(corners, (6, 3)), array_at(triangle, (3, 3)))
    gradient = _gradient(rows, which)
    origin = rows[6 + which % 3]
    at_i = exact.dot(gradient, exact.subtract(rows[i], origin))
    if i == j:
        return exact.sign(at_i)
    at_j = exact.dot(gradient, exact.subtract(rows[j], origin))
    other = 0 if i >= 3 else 3
    normal = _normal(rows, other // 3)
    height_i = exact.dot(normal, exact.subtract(rows[i], rows[other]))
    height_j = exact.dot(normal, exact.subtract(rows[j], rows[other]))
    # x divides the edge in the ratio |height_i| : |height_j|, and the heights have opposite signs.
    weighted = exact.difference(exact.multiply(at_i, height_j), exact.multiply(at_j, height_i))
    return exact.sign(weighted) * exact.sign(height_j)


@cold(f"int64({POINTER}, {POINTER}, int64, int64)")
def _slope_exactly(corners, triangle, which, direction):
    """The sign of the slope of a function along a direction."""
    rows = _exact_rows(array_at(corners, (6, 3)), array_at(triangle, (3, 3)))
    return exact.sign(exact.dot(_gradient(rows, which), _direction(rows, direction)))


# ------------------------------------------------- the same in floats, where certain


@inner
def _float_function(triangle, which):
    """Gradient and a bound on the size of the terms that it was computed from."""
    if which == 3:
        e = subtract(_corner(triangle, 1), _corner(triangle, 0))
        g = subtract(_corner(triangle, 2), _corner(triangle, 0))
        return cross(e, g), _size(e) * _size(g)
    _, y, z = subtract(_corner(triangle, (which + 1) % 3), _corner(triangle, which))
    return (0.0, -z, y), max(abs(y), abs(z))


@inner
def _size(v):
    return max(abs(v[0]), abs(v[1]), abs(v[2]))


@inner
def _certain_sign(value, bound):
    return sign(value) if abs(value) > bound + UNDERFLOW else 0


@inner
def _vanishes_at(p, triangle, which):
    """Whether a function is zero at p because p is a vertex of the triangle: no arithmetic needed."""
    for k in range(3):
        if which == 3 or k == which or k == (which + 1) % 3:
            if triangle[k, 0] == p[0] and triangle[k, 1] == p[1] and triangle[k, 2] == p[2]:
                return True
    return False


@inner
def _base_sign(x, rounding, corners, i, j, triangle, which):
    """The sign of a function at x, which is corner i or on the edge from i to j."""
    if i == j and _vanishes_at(x, triangle, which):
        return 0
    gradient, size = _float_function(triangle, which)
    w = subtract(x, _corner(triangle, which % 3))
    s = _certain_sign(dot(gradient, w), size * (_ROUNDING * _size(w) + 8.0 * rounding))
    return s if s != 0 else _base_sign_exactly(pointer_to(corners), i, j, pointer_to(triangle), which)


@inner
def _corner(corners, i):
    return (corners[i, 0], corners[i, 1], corners[i, 2])


@inner
def _float_normal(corners, face):
    """The normal of a face of the pair and the size of the terms that it was computed from."""
    i = 3 * face
    e = subtract(_corner(corners, i + 1), _corner(corners, i))
    g = subtract(_corner(corners, i + 2), _corner(corners, i))
    return cross(e, g), _size(e) * _size(g)


@inner
def _float_direction(corners, direction):
    """A direction in floats and the size of the terms that it was computed from."""
    if direction < 6:
        d = subtract(_corner(corners, _next_corner(direction)), _corner(corners, direction))
        return d, _size(d)
    if direction == _COMMON_LINE:
        normal_a, size_a = _float_normal(corners, 0)
        normal_b, size_b = _float_normal(corners, 1)
        return cross(normal_a, normal_b), size_a * size_b
    if direction < _AXES:
        return _float_normal(corners, direction - _NORMAL)
    axis = direction - _AXES
    return (1.0 if axis == 0 else 0.0, 1.0 if axis == 1 else 0.0, 1.0 if axis == 2 else 0.0), 1.0


@inner
def _slope(corners, triangle, which, direction):
    """The sign of the slope of a function along a direction."""
    if direction < 6 and _vanishes_at(_corner(corners, direction), triangle, which):
        if _vanishes_at(_corner(corners, _next_corner(direction)), triangle, which):
            return 0
    gradient, size = _float_function(triangle, which)
    d, length = _float_direction(corners, direction)
    s = _certain_sign(dot(gradient, d), _ROUNDING * size * length + _SLOPE_UNDERFLOW)
    return s if s != 0 else _slope_exactly(pointer_to(corners), pointer_to(triangle), which, direction)


# -------------------------------------------------------------------------- ray parity


@inner
def _ray_misses_box(x, rounding, t):
    """Whether the ray from x in direction x surely misses the bounding box of a triangle."""
    return (
        x[1] + rounding < min(t[0, 1], t[1, 1], t[2, 1])
        or x[1] - rounding > max(t[0, 1], t[1, 1], t[2, 1])
        or x[2] + rounding < min(t[0, 2], t[1, 2], t[2, 2])
        or x[2] - rounding > max(t[0, 2], t[1, 2], t[2, 2])
        or x[0] - rounding > max(t[0, 0], t[1, 0], t[2, 0])
    )


@inner
def _misses(s, known):
    """Whether the first signs of the four functions show that the ray misses the triangle.

    It crosses where the first three are equal and the fourth is opposite; a zero may still become either.
    """
    low = 0
    high = 0
    for which in range(known):
        towards = -s[which] if which == 3 else s[which]
        low = min(low, towards)
        high = max(high, towards)
    return low < 0 and high > 0


@inner
def _no_zero(s):
    """Whether no sign is zero."""
    return s[0] != 0 and s[1] != 0 and s[2] != 0 and s[3] != 0


@inner
def _survey(x, rounding, corners, i, j, triangles, near, signs):
    """Cast a ray from x; return the parity of sure crossings and the number of triangles that need y itself.

    Those are written to ``near``, with the signs of their four functions at x, of which some are zero.
    """
    inside = False
    count = 0
    for n in range(len(triangles)):
        if _ray_misses_box(x, rounding, triangles[n]):
            continue
        missed = False
        for which in range(4):
            signs[count, which] = _base_sign(x, rounding, corners, i, j, triangles[n], which)
            missed = _misses(signs[count], which + 1)
            if missed:
                break
        if missed:
            continue
        if _no_zero(signs[count]):
            inside = not inside
        else:
            near[count] = n
            count += 1
    return inside, count


@inner
def _sign_beside(corners, triangle, which, sample, slopes):
    """The sign of a function at y, given that it vanishes at x: that of the first slope that is not zero.

    ``slopes`` remembers the slopes of this function along all directions.
    """
    for k in range(3):
        direction = sample[k, 0]
        if slopes[direction] == _UNKNOWN:
            slopes[direction] = _slope(corners, triangle, which, direction)
        if slopes[direction] != 0:
            return slopes[direction] * sample[k, 1]
    return 0


@inner
def _sample_inside(inside, corners, sample, triangles, near, signs, slopes, count):
    """Whether y lies inside, given the survey from x."""
    here = np.empty(4, dtype=np.int64)
    for n in range(count):
        for which in range(4):
            here[which] = signs[n, which]
            if here[which] == 0:
                here[which] = _sign_beside(corners, triangles[near[n]], which, sample, slopes[n, which])
        if _no_zero(here) and not _misses(here, 4):
            inside = not inside
    return inside


@inner
def vertex_inside(vertex, triangles):
    """Whether a point that is not on a closed surface lies inside it; exact."""
    corners = np.zeros((6, 3))
    for k in range(3):
        corners[0, k] = vertex[k]
    near = np.empty(len(triangles), dtype=np.int64)
    signs = np.empty((len(triangles), 4), dtype=np.int64)
    inside, count = _survey((vertex[0], vertex[1], vertex[2]), 0.0, corners, 0, 0, triangles, near, signs)
    slopes = np.full((count, 4, _DIRECTIONS), _UNKNOWN)
    sample = np.empty((3, 2), dtype=np.int64)
    for k in range(3):
        sample[k, 0] = _AXES + k
        sample[k, 1] = 1
    return _sample_inside(inside, corners, sample, triangles, near, signs, slopes, count)


# ------------------------------------------------------------- samples of a contact


@inner
def _pierces(p, q, t):
    """Whether a segment passes through a triangle from one side to the other, and not through a vertex of it."""
    if orient3d(t[0], t[1], t[2], p) * orient3d(t[0], t[1], t[2], q) >= 0:
        return False
    s0 = orient3d(p, q, t[0], t[1])
    s1 = orient3d(p, q, t[1], t[2])
    s2 = orient3d(p, q, t[2], t[0])
    at_vertex = (s0 == 0 and s1 == 0) or (s1 == 0 and s2 == 0) or (s2 == 0 and s0 == 0)
    return not at_vertex and (min(s0, s1, s2) >= 0 or max(s0, s1, s2) <= 0)


@inner
def _contact_points(pair, points):
    """Write the corners of the intersection as (i, j), each position once; return their number.

    (i, i) is corner i of the pair, (i, j) the point where the edge from i to j pierces the other triangle.
    """
    count = 0
    for face in range(2):
        t = pair[face]
        other = pair[1 - face]
        for k in range(3):
            p = t[k]
            known = face == 1 and (same_point(p, other[0]) or same_point(p, other[1]) or same_point(p, other[2]))
            if not known and segment_meets_triangle(p, p, other):
                points[count, 0] = points[count, 1] = 3 * face + k
                count += 1
            if _pierces(p, t[(k + 1) % 3], other):
                points[count, 0] = 3 * face + k
                points[count, 1] = 3 * face + (k + 1) % 3
                count += 1
    return count


@inner
def _edge_in_plane(t, other):
    """Whether an edge of t lies in the plane of the other triangle."""
    on_plane = 0
    for k in range(3):
        on_plane += orient3d(other[0], other[1], other[2], t[k]) == 0
    return on_plane >= 2


@inner
def _edge_across(pair, corners):
    """An edge of a that is not parallel to the plane of b; -1 if the planes are parallel, or if one needs no samples.

    Where the common line runs along an edge of both triangles, the samples along these edges are enough.
    """
    if _edge_in_plane(pair[0], pair[1]) and _edge_in_plane(pair[1], pair[0]):
        return -1
    for k in range(3):
        if _slope(corners, corners[3:], 3, k) != 0:
            return k
    return -1


@inner
def _on_edge(pair, i, j, edge):
    """Whether x lies on an edge of the pair, named by its first corner."""
    face = edge // 3
    p = pair[face][edge % 3]
    q = pair[face][(edge + 1) % 3]
    if i == j:
        x = pair[i // 3][i % 3]
        return segments_meet(x, x, p, q)
    if i // 3 == face:
        return edge == i
    return orient3d(pair[i // 3][i % 3], pair[j // 3][j % 3], p, q) == 0


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
                    _write_sample(samples[count], edge, along, into_face, -1, _NORMAL + face, side)
                    count += 1
    return count


@inner
def _samples_along_line(edge_across, samples, count):
    """Append samples in the four sectors around the common line of the planes, in both directions."""
    for along in range(-1, 2, 2):
        for across in range(-1, 2, 2):
            for side in range(-1, 2, 2):
                _write_sample(samples[count], _COMMON_LINE, along, edge_across, across, _NORMAL, side)
                count += 1
    return count


@inner
def _cells_of_samples(pair, corners, i, j, samples, triangles_a, triangles_b, cells):
    """The cells in which samples around x lie, added to those already known."""
    x = _corner(corners, i)
    rounding = 0.0
    if i != j:
        x = plane_crossing(x, _corner(corners, j), pair[1 - i // 3])
        # The ratio in which x divides the edge is rounded, and then its coordinates, which may be far from the origin.
        rounding = _ROUNDING * extent_of_pair(pair[0], pair[1]) + 2.0**-50 * largest_coordinate(pair[0], pair[1])
    near_a = np.empty(len(triangles_a), dtype=np.int64)
    near_b = np.empty(len(triangles_b), dtype=np.int64)
    signs_a = np.empty((len(triangles_a), 4), dtype=np.int64)
    signs_b = np.empty((len(triangles_b), 4), dtype=np.int64)
    inside_a, count_a = _survey(x, rounding, corners, i, j, triangles_a, near_a, signs_a)
    inside_b, count_b = _survey(x, rounding, corners, i, j, triangles_b, near_b, signs_b)
    slopes_a = np.full((count_a, 4, _DIRECTIONS), _UNKNOWN)
    slopes_b = np.full((count_b, 4, _DIRECTIONS), _UNKNOWN)
    for k in range(len(samples)):
        in_a = _sample_inside(inside_a, corners, samples[k], triangles_a, near_a, signs_a, slopes_a, count_a)
        in_b = _sample_inside(inside_b, corners, samples[k], triangles_b, near_b, signs_b, slopes_b, count_b)
        cells |= (IN_BOTH if in_b else ONLY_IN_A) if in_a else (ONLY_IN_B if in_b else 0)
        if cells == EVERYTHING:
            break
    return cells


@inner
def cells_around_contact(face_a, face_b, triangles_a, triangles_b, seen_a, seen_b, cells):
    """Which cells (IN_BOTH, ONLY_IN_A, ONLY_IN_B) meet at the contact of two faces, or are known already.

    ``seen`` (n, 3) marks the corners of faces around which samples have been taken.
    """
    pair = (load_triangle(triangles_a, face_a), load_triangle(triangles_b, face_b))
    corners = pair_array(pair[0], pair[1]).reshape(6, 3)
    points = np.empty((_MOST_POINTS, 2), dtype=np.int64)
    samples = np.empty((_MOST_SAMPLES, 3, 2), dtype=np.int64)
    point_count = _contact_points(pair, points)
    edge_across = _edge_across(pair, corners) if point_count > 1 else -1
    for n in range(point_count):
        i = points[n, 0]
        j = points[n, 1]
        count = 0
        if not _seen_before(pair, 0, i, j, seen_a[face_a]):
            count = _samples_along_edges(pair, 0, i, j, samples, count)
        if not _seen_before(pair, 1, i, j, seen_b[face_b]):
            count = _samples_along_edges(pair, 1, i, j, samples, count)
        if edge_across >= 0:
            count = _samples_along_line(edge_across, samples, count)
        if count > 0:
            cells = _cells_of_samples(pair, corners, i, j, samples[:count], triangles_a, triangles_b, cells)
        if cells == EVERYTHING:
            break
    return cells
