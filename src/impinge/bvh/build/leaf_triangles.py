# mypy: allow-untyped-defs, allow-incomplete-defs
"""The triangles of a bounding volume hierarchy: their coordinates in tree order, and in the slots that hold them."""

from __future__ import annotations

import numpy as np

from impinge.bvh.build.arrays import doubles, integer_list, node_rows
from impinge.bvh.layout import EMPTY, WIDTH
from impinge.kernels.jit import inner


@inner
def in_tree_order(vertices, faces, order):
    """(n, 3, 3): the triangles in tree order."""
    triangles = np.empty((len(order), 3, 3))
    for i in range(len(order)):
        for j in range(3):
            v = faces[order[i], j]
            for k in range(3):
                triangles[i, j, k] = vertices[v, k]
    return triangles


@inner
def to_local(triangles, frame):
    """(n, 9): local coordinates, each with one rounding (two where it is subnormal)."""
    local = doubles(len(triangles), 9)
    scale = 1.0 / frame[3]
    for i in range(len(triangles)):
        for j in range(3):
            for k in range(3):
                local[i, 3 * j + k] = (triangles[i, j, k] - frame[k]) * scale
    return local


@inner
def leaf_slots(child, local):
    """slots and corners of all nodes."""
    nodes = len(child) // WIDTH
    slots = integer_list(nodes)
    corners = node_rows(nodes, 9)
    for node in range(nodes):
        bits = 0
        for slot in range(WIDTH):
            entry = child[node * WIDTH + slot]
            is_triangle = EMPTY < entry < 0
            if entry != EMPTY:
                bits |= 256 << slot
            if is_triangle:
                bits |= 1 << slot
            for k in range(9):
                corners[node, k, slot] = local[~entry, k] if is_triangle else 0.0
        slots[node] = bits
    return slots, corners
