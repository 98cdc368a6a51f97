# mypy: allow-untyped-defs, allow-incomplete-defs
"""Whether two triangles come within a clearance of each other: a yes/no question, and therefore exact.

Where the float distance is too close to the clearance to tell, the comparison is repeated on
integers: over all pairs of features, squared distance times a square of normals against squared
clearance, which are polynomials of degree six at most.
"""

from __future__ import annotations

import numpy as np

from impinge.geometry.exact import big_integers
from impinge.geometry.exact.predicates import UNDERFLOW, dot, subtract
from impinge.geometry.triangles.all_pairs import bounding_boxes, padded_square, squared_gap
from impinge.geometry.triangles.crossing import extent_of_pair, largest_coordinate
from impinge.geometry.triangles.distance import DISTANCE_ERROR, careful_cross, disjoint_distance
from impinge.geometry.triangles.intersection import DISJOINT, contact_kind, load_triangle, pair_array
from impinge.kernels.jit import POINTER, array_at, cold, inner, kernel, pointer_to


@inner
def _vertex_within(p, t, limit):
    """Whether p is within the distance (given as its square, an integer) of the triangle's vertices and edges."""
    for i in range(3):
        w = big_integers.subtract(p, t[i])
        if big_integers.compare(big_integers.dot(w, w), limit) <= 0:
            return True
        e = big_integers.subtract(t[(i + 1) % 3], t[i])
        ee = big_integers.dot(e, e)
        along = big_integers.dot(w, e)
        if big_integers.sign(along) > 0 and big_integers.compare(along, ee) < 0:
            c = big_integers.cross(w, e)
            if big_integers.compare(big_integers.dot(c, c), big_integers.multiply(limit, ee)) <= 0:
                return True
    return False


@inner
def _face_within(p, t, limit):
    """Whether p lies over the face of the triangle and within the distance of its plane."""
    n = big_integers.cross(big_integers.subtract(t[1], t[0]), big_integers.subtract(t[2], t[0]))
    nn = big_integers.dot(n, n)
    if big_integers.sign(nn) == 0:
        return False
    for i in range(3):
        inward = big_integers.cross(n, big_integers.subtract(t[(i + 1) % 3], t[i]))
        if big_integers.sign(big_integers.dot(big_integers.subtract(p, t[i]), inward)) < 0:
            return False
    height = big_integers.dot(n, big_integers.subtract(p, t[0]))
    return big_integers.compare(big_integers.multiply(height, height), big_integers.multiply(limit, nn)) <= 0


@inner
def _edges_within(p, u, q, v, limit):
    """Whether the lines p + s u and q + t v come within the distance inside both edges."""
    n = big_integers.cross(u, v)
    nn = big_integers.dot(n, n)
    if big_integers.sign(nn) == 0:
        return False
    w = big_integers.subtract(q, p)
    s = big_integers.dot(big_integers.cross(w, v), n)
    if big_integers.sign(s) < 0 or big_integers.compare(s, nn) > 0:
        return False
    t = big_integers.dot(big_integers.cross(w, u), n)
    if big_integers.sign(t) < 0 or big_integers.compare(t, nn) > 0:
        return False
    height = big_integers.dot(w, n)
    return big_integers.compare(big_integers.multiply(height, height), big_integers.multiply(limit, nn)) <= 0


@cold(f"boolean({POINTER}, float64)")
def _within_exactly(pair, clearance):
    """Whether two disjoint triangles have points no farther apart than the clearance; exact."""
    points = np.zeros((7, 3))
    corners = array_at(pair, (6, 3))
    for i in range(6):
        for k in range(3):
            points[i, k] = corners[i, k]
    points[6, 0] = clearance
    rows, _ = big_integers.integers(points)
    limit = big_integers.multiply(rows[6, 0], rows[6, 0])
    a = rows[0:3]
    b = rows[3:6]
    for i in range(3):
        if _vertex_within(a[i], b, limit) or _vertex_within(b[i], a, limit):
            return True
        if _face_within(a[i], b, limit) or _face_within(b[i], a, limit):
            return True
        u = big_integers.subtract(a[(i + 1) % 3], a[i])
        for j in range(3):
            if _edges_within(a[i], u, b[j], big_integers.subtract(b[(j + 1) % 3], b[j]), limit):
                return True
    return False


@inner
def _vertices_within(a, b, clearance):
    """Whether some vertices are certainly within the clearance: squares round by 4 u, or underflow (padded_square)."""
    nearest = np.inf
    for i in range(3):
        for j in range(3):
            w = subtract(b[j], a[i])
            nearest = min(nearest, dot(w, w))
    return nearest + 2.0**-1060 < clearance * clearance * (1.0 - 2.0**-48)


@inner
def _plane_farther(t, other, clearance):
    """Whether the plane of t certainly keeps another triangle farther away than the clearance.

    The normal is good to 2**-46, so that t itself is off the plane and the heights of the other are wrong by less than
    2**-44 of the extent of the pair.  No answer is given for normals so short that squares underflow.
    """
    n, nn = careful_cross(subtract(t[1], t[0]), subtract(t[2], t[0]))
    h0 = dot(n, subtract(other[0], t[0]))
    h1 = dot(n, subtract(other[1], t[0]))
    h2 = dot(n, subtract(other[2], t[0]))
    gap = max(min(h0, h1, h2), -max(h0, h1, h2), 0.0)
    far = clearance + 2.0**-43 * extent_of_pair(t, other)
    return nn > UNDERFLOW and gap * gap > nn * (far * far)


@inner
def triangles_within(a, b, clearance):
    """Whether two triangles have points no farther apart than the clearance; exact."""
    if _vertices_within(a, b, clearance):
        return True
    if _plane_farther(a, b, clearance) or _plane_farther(b, a, clearance):
        return False
    if contact_kind(a, b) != DISJOINT:
        return True
    distance = disjoint_distance(a, b)[0]
    # The second term is the rounding of a foot point, whose coordinates may be far from the origin.
    error = DISTANCE_ERROR * extent_of_pair(a, b) + 2.0**-48 * largest_coordinate(a, b)
    if distance + error < clearance:
        return True
    if distance - error > clearance:
        return False
    return _within_exactly(pointer_to(pair_array(a, b)), clearance)


@inner
def any_pair_within(triangles_a, triangles_b, clearance):
    """Whether some pair of triangles comes no farther apart than the clearance; exact."""
    reach = padded_square(clearance)
    boxes_a = bounding_boxes(triangles_a)
    boxes_b = bounding_boxes(triangles_b)
    for i in range(len(triangles_a)):
        a = load_triangle(triangles_a, i)
        for j in range(len(triangles_b)):
            if squared_gap(boxes_a[i], boxes_b[j]) <= reach:
                if triangles_within(a, load_triangle(triangles_b, j), clearance):
                    return True
    return False


# ---------------------------------------------------------------------------- batches


@kernel("float64[:, :, ::1], float64[:, :, ::1], float64[::1], boolean[::1]")
def _closer(a, b, clearance, answers):
    for i in range(len(a)):
        answers[i] = triangles_within(load_triangle(a, i), load_triangle(b, i), clearance[i])


def triangles_closer_than(a, b, clearance):
    """Whether triangle a[i] and triangle b[i] are no farther apart than clearance[i]."""
    answers = np.empty(len(a), dtype=np.bool_)
    _closer(a, b, clearance, answers)
    return answers
