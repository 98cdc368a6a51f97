# mypy: allow-untyped-defs, allow-incomplete-defs
"""All pairs of triangles, by brute force: the reference implementation for every faster method.

The kernels take posed triangles, (n, 3, 3).  A pair of bounding boxes is compared before a pair
of triangles; nothing else is left out.
"""

from __future__ import annotations

import numpy as np

from impinge.geometry.posing import posed_coordinate
from impinge.geometry.triangles.distance import disjoint_distance
from impinge.geometry.triangles.intersection import DISJOINT, contact_kind, load_triangle
from impinge.kernels.jit import inner, kernel


@inner
def pose_triangles(pose, vertices, faces, world, triangles):
    """Write the world coordinates of vertices and of triangles."""
    for i in range(len(vertices)):
        x = vertices[i, 0]
        y = vertices[i, 1]
        z = vertices[i, 2]
        for j in range(3):
            world[i, j] = posed_coordinate(pose[j, 0], pose[j, 1], pose[j, 2], pose[j, 3], x, y, z)
    for i in range(len(faces)):
        for j in range(3):
            for k in range(3):
                triangles[i, j, k] = world[faces[i, j], k]


@inner
def bounding_boxes(triangles):
    """(n, 2, 3): lowest and highest coordinates of each triangle."""
    boxes = np.empty((len(triangles), 2, 3))
    for i in range(len(triangles)):
        for k in range(3):
            x, y, z = triangles[i, 0, k], triangles[i, 1, k], triangles[i, 2, k]
            boxes[i, 0, k] = min(x, y, z)
            boxes[i, 1, k] = max(x, y, z)
    return boxes


@inner
def boxes_meet(box_a, box_b):
    for k in range(3):
        if box_a[0, k] > box_b[1, k] or box_b[0, k] > box_a[1, k]:
            return False
    return True


@inner
def padded_square(distance):
    """A square that no rounded squared gap of boxes exceeds which are within the distance.

    squared_gap is at most (1 + 8 u) of the true one, plus 2**-1073 where squares underflow.
    """
    return distance * distance * (1.0 + 2.0**-48) + 2.0**-1060


@inner
def squared_gap(box_a, box_b):
    """Squared distance of two boxes, rounded."""
    total = 0.0
    for k in range(3):
        gap = max(box_b[0, k] - box_a[1, k], box_a[0, k] - box_b[1, k], 0.0)
        total += gap * gap
    return total


@inner
def meeting_pairs(triangles_a, triangles_b, pose, pairs, count):
    """Append (pose, i, j, kind) for the pairs that meet, in order; return the (longer) array and the count."""
    boxes_a = bounding_boxes(triangles_a)
    boxes_b = bounding_boxes(triangles_b)
    for i in range(len(triangles_a)):
        a = load_triangle(triangles_a, i)
        for j in range(len(triangles_b)):
            if not boxes_meet(boxes_a[i], boxes_b[j]):
                continue
            kind = contact_kind(a, load_triangle(triangles_b, j))
            if kind == DISJOINT:
                continue
            if count == len(pairs):
                longer = np.empty((2 * count, 4), dtype=np.int64)
                for k in range(count):
                    for m in range(4):
                        longer[k, m] = pairs[k, m]
                pairs = longer
            pairs[count, 0] = pose
            pairs[count, 1] = i
            pairs[count, 2] = j
            pairs[count, 3] = kind
            count += 1
    return pairs, count


@kernel("float64[:, :, ::1], float64[:, :, ::1]")
def any_pair_meets(triangles_a, triangles_b):
    """Whether some pair of triangles meets; exact."""
    boxes_a = bounding_boxes(triangles_a)
    boxes_b = bounding_boxes(triangles_b)
    for i in range(len(triangles_a)):
        a = load_triangle(triangles_a, i)
        for j in range(len(triangles_b)):
            if boxes_meet(boxes_a[i], boxes_b[j]) and contact_kind(a, load_triangle(triangles_b, j)) != DISJOINT:
                return True
    return False


@inner
def nearest_pair(triangles_a, triangles_b, first, stop, best, best_i, best_j, points):
    """The pair of triangles with the smallest distance, the first one in order among equals.

    Of the triangles of a, only those from ``first`` to ``stop``; ``best`` is the pair among those before, at infinity
    if there are none.  The two points that have it are written unless the triangles meet.  Also returns whether they
    do, which ends the search.
    """
    boxes_a = bounding_boxes(triangles_a)
    boxes_b = bounding_boxes(triangles_b)
    reach = padded_square(best)
    for i in range(first, stop):
        a = load_triangle(triangles_a, i)
        for j in range(len(triangles_b)):
            if squared_gap(boxes_a[i], boxes_b[j]) > reach:
                continue
            b = load_triangle(triangles_b, j)
            if contact_kind(a, b) != DISJOINT:
                return 0.0, i, j, True
            value, point_a, point_b = disjoint_distance(a, b)
            if value < best:
                best, best_i, best_j = value, i, j
                reach = padded_square(best)
                for k in range(3):
                    points[0, k] = point_a[k]
                    points[1, k] = point_b[k]
    return best, best_i, best_j, False
