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
from impinge.geometry.contact import SMALLEST_CUBED, plane_crossing
from impinge.geometry.predicates import UNDERFLOW, cross, dot, orient3d, sign, subtract
from impinge.geometry.triangle import (
    joint_extent,
    load_triangle,
    projection_axis,
    segment_meets_triangle,
)
from impinge.jit import kernel

IN_BOTH = 1
ONLY_IN_A = 2
ONLY_IN_B = 4
EVERYTHING = IN_BOTH | ONLY_IN_A | ONLY_IN_B

# Rounding of a constructed point and of the float predicates below, relative to the extent at
# hand.  Both are a few hundred u at most; what is not certain goes to the exact signs.
_ROUNDING = 2.0**-36

# A sample point is described by indices into the six corners of a pair of triangles (0 to 2 are
# those of a, 3 to 5 those of b), so that everything about it can be evaluated exactly.
_X_FROM = 0  # x is this corner ...
_X_TO = 1  # ... or, where these differ, the point of the edge that lies in the plane of the other triangle
_D1_FROM = 2  # d1 leads from this corner ...
_D1_TO = 3  # ... to this one; where they are equal it is the cross product of the normals of a and b
_D1_SIGN = 4
_D2_FROM = 5
_D2_TO = 6
_D2_SIGN = 7
_FACE = 8  # d3 is normal to this face: 0 is a, 1 is b, and -1 makes d1, d2, d3 the axes y, z, x
_D3_SIGN = 9
_CODE = 10
_MOST_SAMPLES = 2 * 3 * 4 + 8  # all edges of both faces through x, and the common line of the planes


# ------------------------------------------------------------------------ exact signs


@kernel
def _normal(corners, face):
    i = 3 * face
    return exact.cross(
        exact.subtract(corners[i + 1], corners[i]),
        exact.subtract(corners[i + 2], corners[i]),
    )


@kernel
def _unit_vector(axis):
    unit = np.zeros((3, 2), dtype=np.int64)
    unit[axis, 0] = 1
    return unit


@kernel
def _direction(corners, code, order):
    """d1, d2 or d3 as an exact vector."""
    if code[_FACE] < 0:
        return _unit_vector(order % 3)
    if order == 3:
        return _normal(corners, code[_FACE])
    if order == 2:
        return exact.subtract(corners[code[_D2_TO]], corners[code[_D2_FROM]])
    if code[_D1_FROM] == code[_D1_TO]:
        return exact.cross(_normal(corners, 0), _normal(corners, 1))
    return exact.subtract(corners[code[_D1_TO]], corners[code[_D1_FROM]])


@kernel
def _direction_sign(code, order):
    if code[_FACE] < 0:
        return 1
    if order == 1:
        return code[_D1_SIGN]
    return code[_D2_SIGN] if order == 2 else code[_D3_SIGN]


@kernel
def _exact_rows(corners, triangle):
    """The six corners of the pair and the three of another triangle, as integers."""
    points = np.empty((9, 3))
    for k in range(3):
        for i in range(6):
            points[i, k] = corners[i, k]
        for i in range(3):
            points[6 + i, k] = triangle[i][k]
    return exact.integers(points)[0]


@kernel
def _gradient(rows, which):
    """The gradient of one of the four functions whose signs tell whether a ray in direction x crosses a triangle.

    Functions 0 to 2 vanish on the planes through an edge that contain the direction of the ray, function 3 on
    the plane of the triangle.
    """
    if which == 3:
        return exact.cross(exact.subtract(rows[7], rows[6]), exact.subtract(rows[8], rows[6]))
    return exact.cross(_unit_vector(0), exact.subtract(rows[6 + (which + 1) % 3], rows[6 + which]))


@kernel
def _base_sign_exactly(corners, code, triangle, which):
    """The sign of a function at x."""
    rows = _exact_rows(corners, triangle)
    gradient = _gradient(rows, which)
    origin = rows[6 + which % 3]
    i = code[_X_FROM]
    j = code[_X_TO]
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


@kernel
def _slope_sign_exactly(corners, code, triangle, which, order):
    """The sign of the slope of a function along d1, d2 or d3, before the sign of the direction."""
    rows = _exact_rows(corners, triangle)
    return exact.sign(exact.dot(_gradient(rows, which), _direction(rows, code, order)))


# ------------------------------------------------- the same in floats, where certain


@kernel
def _float_function(triangle, which):
    """Gradient and a bound on the size of the terms that it was computed from."""
    if which == 3:
        e = subtract(triangle[1], triangle[0])
        g = subtract(triangle[2], triangle[0])
        return cross(e, g), _size(e) * _size(g)
    start = triangle[which]
    end = triangle[(which + 1) % 3]
    return (0.0, start[2] - end[2], end[1] - start[1]), max(abs(end[1] - start[1]), abs(end[2] - start[2]))


@kernel
def _size(v):
    return max(abs(v[0]), abs(v[1]), abs(v[2]))


@kernel
def _certain_sign(value, bound):
    return sign(value) if abs(value) > bound + UNDERFLOW else 0


@kernel
def _base_sign(x, rounding, corners, code, triangle, which):
    gradient, size = _float_function(triangle, which)
    w = subtract(x, triangle[which % 3])
    s = _certain_sign(dot(gradient, w), size * (_ROUNDING * _size(w) + 4.0 * rounding))
    return s if s != 0 else _base_sign_exactly(corners, code, triangle, which)


@kernel
def _float_directions(pair, code, directions):
    """d1, d2, d3 in floats, each with a bound on the size of the terms that it was computed from."""
    normals = (
        cross(subtract(pair[0][1], pair[0][0]), subtract(pair[0][2], pair[0][0])),
        cross(subtract(pair[1][1], pair[1][0]), subtract(pair[1][2], pair[1][0])),
    )
    sizes = (
        _size(subtract(pair[0][1], pair[0][0])) * _size(subtract(pair[0][2], pair[0][0])),
        _size(subtract(pair[1][1], pair[1][0])) * _size(subtract(pair[1][2], pair[1][0])),
    )
    if code[_D1_FROM] == code[_D1_TO]:
        d1 = cross(normals[0], normals[1])
        size1 = sizes[0] * sizes[1]
    else:
        d1 = subtract(_corner(pair, code[_D1_TO]), _corner(pair, code[_D1_FROM]))
        size1 = _size(d1)
    d2 = subtract(_corner(pair, code[_D2_TO]), _corner(pair, code[_D2_FROM]))
    d3 = normals[code[_FACE]]
    for k in range(3):
        directions[0, k] = d1[k]
        directions[1, k] = d2[k]
        directions[2, k] = d3[k]
    directions[0, 3] = size1
    directions[1, 3] = _size(d2)
    directions[2, 3] = sizes[code[_FACE]]


@kernel
def _corner(pair, i):
    return pair[i // 3][i % 3]


@kernel
def _sign_beside(corners, code, directions, triangle, which):
    """The sign of a function at y, given that it vanishes at x: that of the first slope that is not zero."""
    gradient, size = _float_function(triangle, which)
    for order in range(1, 4):
        d = (directions[order - 1, 0], directions[order - 1, 1], directions[order - 1, 2])
        s = _certain_sign(dot(gradient, d), _ROUNDING * size * directions[order - 1, 3])
        if s == 0:
            s = _slope_sign_exactly(corners, code, triangle, which, order)
        if s != 0:
            return s * _direction_sign(code, order)
    return 0


# -------------------------------------------------------------------------- ray parity


@kernel
def _crosses(s0, s1, s2, height):
    """Whether the ray from a point in direction x crosses a triangle, by the signs of the four functions."""
    return s0 == s1 and s1 == s2 and s0 != 0 and height == -s0


@kernel
def _survey(x, rounding, corners, code, triangles, near, signs):
    """Cast a ray from x; return the parity of sure crossings and the number of triangles that need y itself.

    Those are written to ``near``, with the signs of their four functions at x, of which some are zero.
    """
    inside = False
    count = 0
    for i in range(len(triangles)):
        t = load_triangle(triangles, i)
        a, b, c = t
        if x[1] + rounding < min(a[1], b[1], c[1]) or x[1] - rounding > max(a[1], b[1], c[1]):
            continue
        if x[2] + rounding < min(a[2], b[2], c[2]) or x[2] - rounding > max(a[2], b[2], c[2]):
            continue
        if x[0] - rounding > max(a[0], b[0], c[0]):
            continue
        s0 = _base_sign(x, rounding, corners, code, t, 0)
        s1 = _base_sign(x, rounding, corners, code, t, 1)
        if s0 * s1 < 0:
            continue
        s2 = _base_sign(x, rounding, corners, code, t, 2)
        if s0 * s2 < 0 or s1 * s2 < 0:
            continue
        height = _base_sign(x, rounding, corners, code, t, 3)
        if s0 * s1 * s2 * height != 0:
            if _crosses(s0, s1, s2, height):
                inside = not inside
        else:
            near[count] = i
            signs[count, 0] = s0
            signs[count, 1] = s1
            signs[count, 2] = s2
            signs[count, 3] = height
            count += 1
    return inside, count


@kernel
def _sample_inside(inside, corners, code, directions, triangles, near, signs, count):
    """Whether y lies inside, given the survey from x."""
    here = np.empty(4, dtype=np.int64)
    for i in range(count):
        t = load_triangle(triangles, near[i])
        for which in range(4):
            here[which] = signs[i, which]
            if here[which] == 0:
                here[which] = _sign_beside(corners, code, directions, t, which)
        if _crosses(here[0], here[1], here[2], here[3]):
            inside = not inside
    return inside


@kernel
def vertex_inside(vertex, triangles):
    """Whether a point that is not on a closed surface lies inside it; exact."""
    corners = np.zeros((6, 3))
    for k in range(3):
        corners[0, k] = vertex[k]
    code = np.zeros(_CODE, dtype=np.int64)
    code[_FACE] = -1
    near = np.empty(len(triangles), dtype=np.int64)
    signs = np.empty((len(triangles), 4), dtype=np.int64)
    x = (vertex[0], vertex[1], vertex[2])
    inside, count = _survey(x, 0.0, corners, code, triangles, near, signs)
    directions = np.zeros((3, 4))
    for order in range(3):
        directions[order, (order + 1) % 3] = 1.0
        directions[order, 3] = 1.0
    return _sample_inside(inside, corners, code, directions, triangles, near, signs, count)


# ------------------------------------------------------------- samples of a contact


@kernel
def _edges_through(face, pair, i, j, found):
    """Write the edges of a face that pass through x as (from, to, opposite corner); return their number.

    x is corner i, or the point of the edge i-j in the plane of the other face.
    """
    t = pair[face]
    count = 0
    for k in range(3):
        p = t[k]
        q = t[(k + 1) % 3]
        if i == j:
            x = pair[i // 3][i % 3]
            on_edge = segment_meets_triangle(x, x, (p, q, q))
        elif i // 3 == face:
            on_edge = (i % 3 == k and j % 3 == (k + 1) % 3) or (j % 3 == k and i % 3 == (k + 1) % 3)
        else:
            on_edge = orient3d(pair[i // 3][i % 3], pair[j // 3][j % 3], p, q) == 0
        if on_edge:
            found[count, 0] = 3 * face + k
            found[count, 1] = 3 * face + (k + 1) % 3
            found[count, 2] = 3 * face + (k + 2) % 3
            count += 1
    return count


@kernel
def _transversal_edge(pair):
    """Corners of an edge of a that is not parallel to the plane of b, or (-1, -1) where the planes are parallel."""
    b = pair[1]
    axis_a, axis_b = projection_axis(pair[0])[0], projection_axis(b)[0]
    if axis_a >= 0 and axis_b >= 0:
        for k in range(3):
            if _rises(pair[0][k], pair[0][(k + 1) % 3], b):
                return k, (k + 1) % 3
    return -1, -1


@kernel
def _rises(p, q, t):
    """Whether the segment pq is not parallel to the plane of t; exact."""
    points = np.empty((5, 3))
    for k in range(3):
        points[0, k] = t[0][k]
        points[1, k] = t[1][k]
        points[2, k] = t[2][k]
        points[3, k] = p[k]
        points[4, k] = q[k]
    rows, _ = exact.integers(points)
    exact.make_relative(rows)
    return exact.sign(exact.dot(exact.cross(rows[1], rows[2]), exact.subtract(rows[4], rows[3]))) != 0


@kernel
def _samples_at(pair, i, j, codes):
    """Write the codes of all samples around one contact point; return their number."""
    count = 0
    found = np.empty((3, 3), dtype=np.int64)
    for face in range(2):
        if projection_axis(pair[face])[0] < 0:
            continue
        for k in range(_edges_through(face, pair, i, j, found)):
            for along in range(-1, 2, 2):
                for side in range(-1, 2, 2):
                    code = codes[count]
                    code[_X_FROM], code[_X_TO] = i, j
                    code[_D1_FROM], code[_D1_TO], code[_D1_SIGN] = found[k, 0], found[k, 1], along
                    code[_D2_FROM], code[_D2_TO], code[_D2_SIGN] = found[k, 0], found[k, 2], 1
                    code[_FACE], code[_D3_SIGN] = face, side
                    count += 1
    start, end = _transversal_edge(pair)
    if start >= 0:
        for along in range(-1, 2, 2):
            for across in range(-1, 2, 2):
                for side in range(-1, 2, 2):
                    code = codes[count]
                    code[_X_FROM], code[_X_TO] = i, j
                    code[_D1_FROM], code[_D1_TO], code[_D1_SIGN] = 0, 0, along
                    code[_D2_FROM], code[_D2_TO], code[_D2_SIGN] = start, end, across
                    code[_FACE], code[_D3_SIGN] = 0, side
                    count += 1
    return count


@kernel
def _cells_at(pair, corners, i, j, triangles_a, triangles_b, cells):
    """The cells around one contact point of a pair of triangles, added to those already known."""
    code = np.zeros(_CODE, dtype=np.int64)
    code[_X_FROM] = i
    code[_X_TO] = j
    x = _corner(pair, i)
    rounding = 0.0
    if i != j:
        x = plane_crossing(x, _corner(pair, j), pair[1 - i // 3])
        extent = max(joint_extent(pair[0], pair[1], 0), joint_extent(pair[0], pair[1], 1), joint_extent(pair[0], pair[1], 2))
        # Where cubes of the extent underflow, x itself cannot be trusted.
        rounding = _ROUNDING * extent if extent > SMALLEST_CUBED else extent
    near_a = np.empty(len(triangles_a), dtype=np.int64)
    near_b = np.empty(len(triangles_b), dtype=np.int64)
    signs_a = np.empty((len(triangles_a), 4), dtype=np.int64)
    signs_b = np.empty((len(triangles_b), 4), dtype=np.int64)
    inside_a, count_a = _survey(x, rounding, corners, code, triangles_a, near_a, signs_a)
    inside_b, count_b = _survey(x, rounding, corners, code, triangles_b, near_b, signs_b)
    codes = np.empty((_MOST_SAMPLES, _CODE), dtype=np.int64)
    directions = np.empty((3, 4))
    for k in range(_samples_at(pair, i, j, codes)):
        _float_directions(pair, codes[k], directions)
        in_a = _sample_inside(inside_a, corners, codes[k], directions, triangles_a, near_a, signs_a, count_a)
        in_b = _sample_inside(inside_b, corners, codes[k], directions, triangles_b, near_b, signs_b, count_b)
        cells |= (IN_BOTH if in_b else ONLY_IN_A) if in_a else (ONLY_IN_B if in_b else 0)
        if cells == EVERYTHING:
            break
    return cells


@kernel
def cells_around_contact(a, b, triangles_a, triangles_b, cells):
    """Which cells (IN_BOTH, ONLY_IN_A, ONLY_IN_B) meet near the contact of triangles a and b, or are known already."""
    pair = (a, b)
    corners = np.empty((6, 3))
    for i in range(6):
        for k in range(3):
            corners[i, k] = pair[i // 3][i % 3][k]
    for face in range(2):
        t = pair[face]
        other = pair[1 - face]
        for k in range(3):
            p = t[k]
            q = t[(k + 1) % 3]
            i = 3 * face + k
            if segment_meets_triangle(p, p, other):
                cells = _cells_at(pair, corners, i, i, triangles_a, triangles_b, cells)
            side_p = orient3d(other[0], other[1], other[2], p)
            side_q = orient3d(other[0], other[1], other[2], q)
            if side_p * side_q < 0 and segment_meets_triangle(p, q, other):
                cells = _cells_at(pair, corners, i, 3 * face + (k + 1) % 3, triangles_a, triangles_b, cells)
            if cells == EVERYTHING:
                return cells
    return cells
