# mypy: allow-untyped-defs, allow-incomplete-defs
"""Oriented boxes around the triangles below every slot of a tree.

The axes of a box are the principal axes of the vertices below it, or are given (bvh.build.box_fit).  Those of a single
triangle are its longest edge, its normal and what is across.

Why a box of float32 numbers holds its vertices
-----------------------------------------------
Let Q be the stored axes (its columns), c the stored centre and h the stored half lengths, all taken as exact numbers,
and v a vertex in exact local coordinates.  Wanted: v = c + Q u with |u_i| <= h_i.

1. The axes are rounded to float32 first, so they are not quite orthonormal: Q^T Q = I + D.  With w = Q^T (v - c) we
   have (I + D) u = w.  So |u_i| <= |w_i| + d max|u| and max|u| <= max|w| / (1 - d), where d is the largest sum
   over a row of |D|, and h_i = |w_i| + max|w| d / (1 - d) will do.  d is computed from the stored numbers, not
   assumed.  Products of float32 numbers are exact in float64, so it is off by less than 2**-49, for which ``_DOUBT``
   is added.  It is some 2**-23 and never above ``_SKEWED``, so that 1 / (1 - d) is below ``_SKEW``.
2. w is computed as Q^T v - Q^T c, from the extremes of Q^T v over the vertices, with c as it is stored: that it was
   rounded only costs a less tight box.  Let r be the largest |coordinate| of the vertices and e = 2**-53.  Local
   coordinates are rounded once, which moves Q^T v by less than 1.8 r e.  A sum of three products errs by less than
   3 e times their magnitudes: by Cauchy and Schwarz these are at most 1.8 r for v, and 3.1 r for c.  The difference,
   below 4.9 r, is rounded once.  Together less than (1.8 + 5.4 + 9.3 + 4.9) r e < 2**-48 r, which is added.
3. ``rounded_up`` goes to float32 upwards.  Its quantum 2**-149 also covers local coordinates that underflow.

On top of that comes ``SURPLUS``, for the comparisons of boxes (bvh.layout).
"""

from __future__ import annotations

import math

import numpy as np

from impinge.bvh.build.arrays import doubles, node_rows
from impinge.bvh.build.leaf_triangles import in_tree_order, leaf_slots, to_local
from impinge.bvh.build.rounding import rounded_up
from impinge.bvh.layout import EMPTY, NOTHING, OBB_AXES, OBB_CENTRE, OBB_HALF, OBB_ROWS, OBB_SIZE, SURPLUS, WIDTH
from impinge.kernels.jit import inner, kernel

_TINY = 2.0**-400  # smaller squares are not squared again: they would lose digits
ORTHONORMAL = 4.0 * 2.0**-24  # by so much products of axes differ from 0 or 1, separating_axes counts on it
_SKEWED = 3.0 * ORTHONORMAL  # other axes are not used
_SKEW = 1.0 + 2.0**-20
_DOUBT = 2.0**-48
_CONVERGED = 2.0**-24  # of the trace; the last rotation leaves much less than it had to turn

# Columns of the moments of a group: its weight, the weighted sum of its points, their scatter (the upper half
# of 3 by 3 weighted sums of products of differences from the mean), and the bounds.
_WEIGHT, _SUM, _SCATTER, _LOW, _HIGH, _COLUMNS = 0, 1, 4, 13, 16, 19


@inner
def _triangle_weight(local, place, by_area):
    """The weight of a triangle: its number of vertices, or its area and a little, so that needles count."""
    if not by_area:
        return 3.0
    a, b = _edge(local, place, 0, 1), _edge(local, place, 0, 2)
    return math.sqrt(_square(_cross(a, b))) + 2.0**-20 * (_square(a) + _square(b))


@inner
def _slot_sum(entry, k, weight, local, moments):
    """Coordinate k of what is in a slot: the weighted sum, the lowest and the highest."""
    if entry >= 0:
        return moments[entry, _SUM + k], moments[entry, _LOW + k], moments[entry, _HIGH + k]
    a, b, c = local[~entry, k], local[~entry, 3 + k], local[~entry, 6 + k]
    return weight * (a + b + c) / 3.0, min(a, min(b, c)), max(a, max(b, c))


@inner
def _add_triangle_scatter(moments, node, mean, local, place, by_area):
    """Add the scatter of a triangle about the mean of the node.

    The second moment of a surface is that of a twelfth of its weight at each vertex and the rest at the centre.
    """
    weight = _triangle_weight(local, place, by_area)
    at_vertex = weight / (12.0 if by_area else 3.0)
    at_centre = weight / 12.0 if by_area else 0.0  # nine twelfths, and the centre is a third of the sum
    for i in range(3):
        a, b, c = local[place, i] - mean[i], local[place, 3 + i] - mean[i], local[place, 6 + i] - mean[i]
        for j in range(i, 3):
            d, e, f = local[place, j] - mean[j], local[place, 3 + j] - mean[j], local[place, 6 + j] - mean[j]
            added = at_vertex * (a * d + b * e + c * f) + at_centre * (a + b + c) * (d + e + f)
            moments[node, _SCATTER + 3 * i + j] += added


@inner
def _mean(moments, node):
    weight = moments[node, _WEIGHT]
    return moments[node, _SUM] / weight, moments[node, _SUM + 1] / weight, moments[node, _SUM + 2] / weight


@inner
def _add_group_scatter(moments, node, mean, entry):
    """Add the scatter of the group below another node."""
    other = _mean(moments, entry)
    for i in range(3):
        for j in range(i, 3):
            k = _SCATTER + 3 * i + j
            between = (other[i] - mean[i]) * (other[j] - mean[j])
            moments[node, k] += moments[entry, k] + moments[entry, _WEIGHT] * between


@inner
def _gather_moments(node, child, local, by_area, moments):
    """The moments of all that is below a node, from those of the nodes it refers to: of vertices, or of the surface.

    Differences from the mean are taken before squaring: nothing cancels, however small and far away the group is.
    """
    for k in range(_COLUMNS):
        moments[node, k] = 0.0 if k < _LOW else np.inf if k < _HIGH else -np.inf
    for ref in range(node * WIDTH, node * WIDTH + WIDTH):
        entry = child[ref]
        if entry == EMPTY:
            continue
        weight = moments[entry, _WEIGHT] if entry >= 0 else _triangle_weight(local, ~entry, by_area)
        moments[node, _WEIGHT] += weight
        for k in range(3):
            total, low, high = _slot_sum(entry, k, weight, local, moments)
            moments[node, _SUM + k] += total
            moments[node, _LOW + k] = min(moments[node, _LOW + k], low)
            moments[node, _HIGH + k] = max(moments[node, _HIGH + k], high)
    if moments[node, _WEIGHT] < _TINY:
        return
    mean = _mean(moments, node)
    for ref in range(node * WIDTH, node * WIDTH + WIDTH):
        entry = child[ref]
        if entry == EMPTY:
            continue
        if entry < 0:
            _add_triangle_scatter(moments, node, mean, local, ~entry, by_area)
        elif moments[entry, _WEIGHT] >= _TINY:
            _add_group_scatter(moments, node, mean, entry)


@inner
def _set_identity(axes):
    for i in range(3):
        for j in range(3):
            axes[i, j] = 1.0 if i == j else 0.0


@inner
def _rotate(matrix, axes, p, q):
    """One Jacobi rotation: makes matrix[p, q] zero.  Only the upper triangle of the matrix is kept."""
    cotangent = (matrix[q, q] - matrix[p, p]) / (2.0 * matrix[p, q])  # of twice the angle
    tangent = 1.0 / (abs(cotangent) + math.sqrt(cotangent * cotangent + 1.0))
    if cotangent < 0.0:
        tangent = -tangent
    cosine = 1.0 / math.sqrt(tangent * tangent + 1.0)
    sine = tangent * cosine
    shift = tangent * matrix[p, q]
    matrix[p, p] -= shift
    matrix[q, q] += shift
    matrix[p, q] = 0.0
    r = 3 - p - q
    i, j = min(p, r), max(p, r)
    k, m = min(q, r), max(q, r)
    x, y = matrix[i, j], matrix[k, m]
    matrix[i, j] = cosine * x - sine * y
    matrix[k, m] = sine * x + cosine * y
    for k in range(3):
        x, y = axes[k, p], axes[k, q]
        axes[k, p] = cosine * x - sine * y
        axes[k, q] = sine * x + cosine * y


@inner
def _principal_axes(moments, node, matrix, axes):
    """The eigenvectors of the scatter of a group (Jacobi 1846)."""
    _set_identity(axes)
    _set_identity(matrix)
    trace = moments[node, _SCATTER] + moments[node, _SCATTER + 4] + moments[node, _SCATTER + 8]
    if trace < _TINY:
        return
    for i in range(3):
        for j in range(i, 3):
            matrix[i, j] = moments[node, _SCATTER + 3 * i + j] / trace
    for _ in range(8):
        turned = False
        for p in range(2):
            for q in range(p + 1, 3):
                if abs(matrix[p, q]) > _CONVERGED:
                    _rotate(matrix, axes, p, q)
                    turned = True
        if not turned:
            return


@inner
def _cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inner
def _square(a):
    return a[0] * a[0] + a[1] * a[1] + a[2] * a[2]


@inner
def _edge(local, place, start, end):
    s, t = 3 * start, 3 * end
    return (
        local[place, t] - local[place, s],
        local[place, t + 1] - local[place, s + 1],
        local[place, t + 2] - local[place, s + 2],
    )


@inner
def _unit(a):
    scale = 1.0 / math.sqrt(_square(a))
    return a[0] * scale, a[1] * scale, a[2] * scale


@inner
def _set_two_axes(axes, first, second):
    """Axes along the first, near the second and across: at right angles also where these are not quite.

    The normal of a needle is mostly rounding.
    """
    x = _unit(first)
    z = _unit(_cross(x, _unit(second)))
    y = _cross(z, x)
    for i in range(3):
        axes[i, 0] = x[i]
        axes[i, 1] = y[i]
        axes[i, 2] = z[i]


@inner
def _triangle_axes(local, place, axes):
    """Along the longest edge, the normal, and across."""
    longest, other = _edge(local, place, 0, 1), _edge(local, place, 0, 2)
    third = _edge(local, place, 1, 2)
    if _square(other) > _square(longest):
        longest, other = other, longest
    if _square(third) > _square(longest):
        longest = third
    square = _square(longest)
    if square < _TINY:
        _set_identity(axes)
        return
    normal = _cross(longest, other)
    if _square(normal) <= 2.0**-90 * square * square:  # a needle: any direction across it
        x, y, z = longest
        normal = (-y, x, 0.0) if abs(x) > abs(z) else (0.0, -z, y)
    _set_two_axes(axes, longest, normal)


@inner
def _round_axes(axes):
    """Round the axes to float32; how far from orthonormal they are then, d of step 1."""
    for i in range(3):
        for j in range(3):
            axes[i, j] = np.float32(axes[i, j])
    worst = 0.0
    for i in range(3):
        total = 0.0
        for j in range(3):
            product = axes[0, i] * axes[0, j] + axes[1, i] * axes[1, j] + axes[2, i] * axes[2, j]
            total += abs(product - 1.0 if i == j else product)
        worst = max(worst, total)
    return worst


@inner
def _extents(local, first, last, axes, box):
    """Store the extents of a group along the axes, lows in box[0] and highs in box[1]."""
    for k in range(3):
        x, y, z = axes[0, k], axes[1, k], axes[2, k]
        low = np.inf
        high = -np.inf
        for i in range(first, last):
            for j in range(0, 9, 3):
                u = local[i, j] * x + local[i, j + 1] * y + local[i, j + 2] * z
                low = u if u < low else low
                high = u if u > high else high
        box[0, k] = low
        box[1, k] = high


@inner
def _half_surface(box):
    x, y, z = box[1, 0] - box[0, 0], box[1, 1] - box[0, 1], box[1, 2] - box[0, 2]
    return x * y + y * z + z * x


@inner
def _store_box(rows, node, slot, axes, skew, box, reach):
    """Store the box with these extents, rounded outward.  ``reach`` is the largest |coordinate| of its vertices."""
    for i in range(3):
        centre = 0.0
        for j in range(3):
            rows[node, OBB_AXES + 3 * i + j, slot] = axes[i, j]
            centre += axes[i, j] * (0.5 * (box[0, j] + box[1, j]))
        rows[node, OBB_CENTRE + i, slot] = centre
    longest = 0.0
    for j in range(3):
        centre = 0.0
        for i in range(3):
            centre += axes[i, j] * np.float64(rows[node, OBB_CENTRE + i, slot])
        half = max(box[1, j] - centre, centre - box[0, j]) + 2.0**-48 * reach
        box[0, j] = half
        longest = max(longest, half)
    surplus = SURPLUS * (box[0, 0] + box[0, 1] + box[0, 2])
    for j in range(3):
        rows[node, OBB_HALF + j, slot] = rounded_up(box[0, j] + skew * longest + surplus)
    rows[node, OBB_SIZE, slot] = rounded_up(longest + skew * longest + surplus)


@inner
def _store_nothing(rows, node, slot):
    for k in range(OBB_ROWS):
        rows[node, k, slot] = 1.0 if k == 0 or k == 4 or k == 8 else NOTHING if k >= OBB_HALF else 0.0


@inner
def _level(matrix, axes):
    """Turn the box of a group that is about as long as wide until two axes are as level as its normal allows.

    The group was cut out along the coordinate axes, so its outline follows these.  28 % fewer box tests between two
    parallel landscapes.
    """
    shortest, longest = 0, 0
    for k in range(1, 3):
        shortest = k if matrix[k, k] < matrix[shortest, shortest] else shortest
        longest = k if matrix[k, k] >= matrix[longest, longest] else longest
    if shortest == longest or matrix[3 - shortest - longest, 3 - shortest - longest] < 0.5 * matrix[longest, longest]:
        return
    k = 0  # the coordinate axis that the normal n has least of; two of the new axes are n x e_k and n x (n x e_k)
    for i in range(1, 3):
        k = i if abs(axes[i, shortest]) < abs(axes[k, shortest]) else k
    i, j = (k + 1) % 3, (k + 2) % 3
    at_k, at_i, at_j = axes[k, shortest], axes[i, shortest], axes[j, shortest]
    length = math.sqrt(at_i * at_i + at_j * at_j)
    axes[k, 0], axes[i, 0], axes[j, 0] = at_k, at_i, at_j
    axes[k, 1], axes[i, 1], axes[j, 1] = 0.0, at_j / length, -at_i / length
    axes[k, 2], axes[i, 2], axes[j, 2] = -length, at_k * at_i / length, at_k * at_j / length


@inner
def _aligned_bounds(entry, local, moments, aligned):
    """Store the axis-aligned bounds of what is in a slot; the largest |coordinate|."""
    reach = 0.0
    for k in range(3):
        _, low, high = _slot_sum(entry, k, 0.0, local, moments)
        aligned[0, k] = low
        aligned[1, k] = high
        reach = max(reach, max(-low, high))
    return reach


@kernel(
    "float64[:, ::1], int32[:, ::1], float64[::1], int32[::1], int32[::1], int32[:, ::1], float64[:, :, ::1], boolean"
)
def fit_boxes(vertices, faces, frame, order, child, ranges, given, fast):
    """triangles, slots, corners and rows of a tree of oriented boxes.

    ``given`` are the axes of each slot, (8 N, 3, 3); if there are none, ``fast`` chooses between the first two
    rules of bvh.build.box_fit.
    """
    triangles = in_tree_order(vertices, faces, order)
    local = to_local(triangles, frame)
    slots, corners = leaf_slots(child, local)
    nodes = len(slots)
    rows = node_rows(nodes, OBB_ROWS)
    moments = doubles(nodes, _COLUMNS)
    matrix, axes = doubles(3, 3), doubles(3, 3)
    box, aligned = doubles(2, 3), doubles(2, 3)
    for node in range(nodes - 1, -1, -1):
        _gather_moments(node, child, local, fast, moments)
        for slot in range(WIDTH):
            ref = node * WIDTH + slot
            entry = child[ref]
            if entry == EMPTY:
                _store_nothing(rows, node, slot)
                continue
            if entry < 0:
                _triangle_axes(local, ~entry, axes)
            elif len(given) > 0:
                for i in range(3):
                    for j in range(3):
                        axes[i, j] = given[ref, i, j]
            else:
                _principal_axes(moments, entry, matrix, axes)
                if fast:
                    _level(matrix, axes)
            skew = _round_axes(axes) + _DOUBT
            _extents(local, ranges[ref, 0], ranges[ref, 1], axes, box)
            reach = _aligned_bounds(entry, local, moments, aligned)
            if skew > _SKEWED or (fast and _half_surface(aligned) <= _half_surface(box)):
                _set_identity(axes)
                _store_box(rows, node, slot, axes, 0.0, aligned, reach)
            else:
                _store_box(rows, node, slot, axes, skew * _SKEW, box, reach)
    return triangles, slots, corners, rows
