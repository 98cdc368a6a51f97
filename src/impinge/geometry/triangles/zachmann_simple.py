# mypy: allow-untyped-defs, allow-incomplete-defs
"""Zachmann's simple algorithm: every edge of one surface against the polygons of the other, both ways.

Zachmann (1997), section "The BoxTree algorithm", uses it as the baseline of his BoxTree.  Two
pre-checks with the bounding boxes of the whole bodies go first: only polygons in the box of the
other body are kept, and only edges that meet that box are tried.  He found them worth a
factor of 1.5; for two tori in close proximity ours are worth 6 (128 triangles each) to 25 (1152), see
``python -m impinge.lab.bench triangles``.  Two triangles meet exactly
where an edge of one meets the other, so that the answer is that of all pairs.
"""

from __future__ import annotations

import numpy as np

from impinge.geometry.triangles.all_pairs import bounding_boxes, boxes_meet
from impinge.geometry.triangles.intersection import load_triangle, segment_meets_triangle
from impinge.kernels.jit import inner, kernel


@inner
def _box_of_all(boxes):
    box = boxes[0].copy()
    for i in range(1, len(boxes)):
        for k in range(3):
            box[0, k] = min(box[0, k], boxes[i, 0, k])
            box[1, k] = max(box[1, k], boxes[i, 1, k])
    return box


@inner
def _polygons_in(box, boxes, use):
    """The polygons whose boxes meet the box, or all of them."""
    kept = np.empty(len(boxes), dtype=np.int64)
    count = 0
    for i in range(len(boxes)):
        if not use or boxes_meet(box, boxes[i]):
            kept[count] = i
            count += 1
    return kept[:count]


@inner
def _edges_meet_polygons(world, edges, triangles, boxes, kept, box, use):
    """Whether some edge meets one of the kept polygons."""
    edge_box = np.empty((2, 3))
    for i in range(len(edges)):
        p = (world[edges[i, 0], 0], world[edges[i, 0], 1], world[edges[i, 0], 2])
        q = (world[edges[i, 1], 0], world[edges[i, 1], 1], world[edges[i, 1], 2])
        for k in range(3):
            edge_box[0, k] = min(p[k], q[k])
            edge_box[1, k] = max(p[k], q[k])
        if use and not boxes_meet(edge_box, box):
            continue
        for j in kept:
            if boxes_meet(edge_box, boxes[j]) and segment_meets_triangle(p, q, load_triangle(triangles, j)):
                return True
    return False


@kernel(
    "float64[:, ::1], int32[:, ::1], float64[:, :, ::1], float64[:, ::1], int32[:, ::1], float64[:, :, ::1], boolean"
)
def surfaces_meet(world_a, edges_a, triangles_a, world_b, edges_b, triangles_b, prechecks):
    """Whether two posed surfaces have a common point; exact."""
    boxes_a = bounding_boxes(triangles_a)
    boxes_b = bounding_boxes(triangles_b)
    box_a = _box_of_all(boxes_a)
    box_b = _box_of_all(boxes_b)
    if prechecks and not boxes_meet(box_a, box_b):
        return False
    kept_a = _polygons_in(box_b, boxes_a, prechecks)
    kept_b = _polygons_in(box_a, boxes_b, prechecks)
    return _edges_meet_polygons(
        world_a, edges_a, triangles_b, boxes_b, kept_b, box_b, prechecks
    ) or _edges_meet_polygons(world_b, edges_b, triangles_a, boxes_a, kept_a, box_a, prechecks)
