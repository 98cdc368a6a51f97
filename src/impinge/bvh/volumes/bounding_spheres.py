# mypy: allow-untyped-defs, allow-incomplete-defs
"""Spheres around the triangles below every slot of a tree, each about the middle of their axis-aligned bounds.

The radius covers the largest |v - c| with c the stored centre.  The local coordinates of v are rounded once and the
difference once: less than 4 * 2**-53 of the largest |coordinate| on each axis, and sqrt(3) times that in length, which
2**-49 of it covers.  Squares, sums and the root add less than 2**-50 of the radius.  ``rounded_up`` does the rest; its
quantum covers squares that underflow.
"""

from __future__ import annotations

import math

import numpy as np

from impinge.bvh.build.leaf_triangles import in_tree_order, leaf_slots, to_local
from impinge.bvh.build.rounding import rounded_up
from impinge.bvh.layout import EMPTY, NOTHING, SPHERE_CENTRE, SPHERE_RADIUS, SPHERE_ROWS, SURPLUS, WIDTH
from impinge.kernels.jit import inner, kernel


@inner
def _centre_of_bounds(local, first, last, k):
    """The middle of the extent along axis k, and its larger magnitude."""
    low = np.inf
    high = -np.inf
    for i in range(first, last):
        for j in range(k, 9, 3):
            low = min(low, local[i, j])
            high = max(high, local[i, j])
    return np.float32(0.5 * (low + high)), max(abs(low), abs(high))


@inner
def _farthest_square(local, first, last, x, y, z):
    farthest = 0.0
    for i in range(first, last):
        for j in range(0, 9, 3):
            a, b, c = local[i, j] - x, local[i, j + 1] - y, local[i, j + 2] - z
            farthest = max(farthest, a * a + b * b + c * c)
    return farthest


@kernel("float64[:, ::1], int32[:, ::1], float64[::1], int32[::1], int32[::1], int32[:, ::1]")
def bound_by_spheres(vertices, faces, frame, order, child, ranges):
    """triangles, slots, corners and rows of a tree of spheres."""
    triangles = in_tree_order(vertices, faces, order)
    local = to_local(triangles, frame)
    slots, corners = leaf_slots(child, local)
    rows = np.zeros((len(slots), SPHERE_ROWS, WIDTH), dtype=np.float32)
    for ref in range(len(child)):
        node, slot = ref // WIDTH, ref % WIDTH
        if child[ref] == EMPTY:
            rows[node, SPHERE_RADIUS, slot] = NOTHING
            continue
        first, last = ranges[ref, 0], ranges[ref, 1]
        x, reach_x = _centre_of_bounds(local, first, last, 0)
        y, reach_y = _centre_of_bounds(local, first, last, 1)
        z, reach_z = _centre_of_bounds(local, first, last, 2)
        rows[node, SPHERE_CENTRE, slot] = x
        rows[node, SPHERE_CENTRE + 1, slot] = y
        rows[node, SPHERE_CENTRE + 2, slot] = z
        square = _farthest_square(local, first, last, np.float64(x), np.float64(y), np.float64(z))
        reach = max(reach_x, max(reach_y, reach_z))
        radius = math.sqrt(square) * (1.0 + 2.0**-50) + 2.0**-49 * reach
        rows[node, SPHERE_RADIUS, slot] = rounded_up(radius * (1.0 + SURPLUS))
    return triangles, slots, corners, rows
