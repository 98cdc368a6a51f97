# mypy: allow-untyped-defs, allow-incomplete-defs
"""Axis-aligned boxes around the triangles below every slot of a tree.

With c the stored centre, the half lengths cover the larger of high - c and c - low.  The local coordinates are
rounded once and the difference once: less than 4 * 2**-53 of the largest |coordinate|, which 2**-50 of it covers.
``rounded_up`` does the rest.
"""

from __future__ import annotations

import numpy as np

from impinge.bvh.build.leaf_triangles import in_tree_order, leaf_slots, to_local
from impinge.bvh.build.rounding import rounded_up
from impinge.bvh.layout import AABB_CENTRE, AABB_HALF, AABB_ROWS, AABB_SIZE, EMPTY, NOTHING, SURPLUS, WIDTH
from impinge.kernels.jit import inner, kernel


@inner
def _slot_bounds(entry, k, local, bounds):
    """The extent along axis k of what is in a slot."""
    if entry >= 0:
        return bounds[entry, 0, k], bounds[entry, 1, k]
    a, b, c = local[~entry, k], local[~entry, 3 + k], local[~entry, 6 + k]
    return min(a, min(b, c)), max(a, max(b, c))


@kernel("float64[:, ::1], int32[:, ::1], float64[::1], int32[::1], int32[::1]")
def bound_by_boxes(vertices, faces, frame, order, child):
    """triangles, slots, corners and rows of a tree of axis-aligned boxes."""
    triangles = in_tree_order(vertices, faces, order)
    local = to_local(triangles, frame)
    slots, corners = leaf_slots(child, local)
    nodes = len(slots)
    rows = np.zeros((nodes, AABB_ROWS, WIDTH), dtype=np.float32)
    bounds = np.empty((nodes, 2, 3))  # of all that is below a node
    for node in range(nodes - 1, -1, -1):
        for k in range(3):
            bounds[node, 0, k] = np.inf
            bounds[node, 1, k] = -np.inf
        for slot in range(WIDTH):
            entry = child[node * WIDTH + slot]
            size = np.float32(NOTHING)
            for k in range(3):
                half = np.float32(NOTHING)
                if entry != EMPTY:
                    low, high = _slot_bounds(entry, k, local, bounds)
                    bounds[node, 0, k] = min(bounds[node, 0, k], low)
                    bounds[node, 1, k] = max(bounds[node, 1, k], high)
                    rows[node, AABB_CENTRE + k, slot] = 0.5 * (low + high)
                    centre = np.float64(rows[node, AABB_CENTRE + k, slot])
                    half = rounded_up(max(high - centre, centre - low) + 2.0**-50 * max(abs(low), abs(high)))
                rows[node, AABB_HALF + k, slot] = half
                size = max(size, half)
            if entry != EMPTY:
                halves = rows[node, AABB_HALF : AABB_HALF + 3, slot]
                surplus = SURPLUS * (halves[0] + halves[1] + halves[2])
                for k in range(3):
                    halves[k] = rounded_up(np.float64(halves[k]) + surplus)
                size = rounded_up(np.float64(size) + surplus)
            rows[node, AABB_SIZE, slot] = size
    return triangles, slots, corners, rows
