"""All pairs of triangles, by brute force: the referee of every faster method.

Each kernel takes two meshes as (vertices, faces) and a batch of poses for each, (k, 4, 4), and
handles one pose after the other.  A pair of bounding boxes is compared before a pair of
triangles; nothing else is left out.
"""

from __future__ import annotations

import numpy as np

from impinge.geometry.contact import MOST_POINTS, construct_contact
from impinge.geometry.triangle import DISJOINT, contact_kind, load_triangle
from impinge.geometry.triangle_distance import triangle_distance, triangles_within
from impinge.jit import kernel


@kernel
def pose_triangles(pose, vertices, faces, world, triangles):
    """World coordinates of vertices and triangles; the order of operations is that of geometry.pose."""
    for i in range(len(vertices)):
        x = vertices[i, 0]
        y = vertices[i, 1]
        z = vertices[i, 2]
        for j in range(3):
            world[i, j] = ((pose[j, 0] * x + pose[j, 1] * y) + pose[j, 2] * z) + pose[j, 3]
    for i in range(len(faces)):
        for j in range(3):
            for k in range(3):
                triangles[i, j, k] = world[faces[i, j], k]


@kernel
def bounding_boxes(triangles, boxes):
    """(n, 2, 3): lowest and highest coordinates of each triangle."""
    for i in range(len(triangles)):
        for k in range(3):
            x, y, z = triangles[i, 0, k], triangles[i, 1, k], triangles[i, 2, k]
            boxes[i, 0, k] = min(x, y, z)
            boxes[i, 1, k] = max(x, y, z)


@kernel
def boxes_meet(box_a, box_b):
    for k in range(3):
        if box_a[0, k] > box_b[1, k] or box_b[0, k] > box_a[1, k]:
            return False
    return True


@kernel
def _padded_square(distance):
    """A square that no rounded squared gap of boxes exceeds which are within the distance.

    _squared_gap is at most (1 + 8 u) of the true one, plus 2**-1073 where squares underflow.
    """
    return distance * distance * (1.0 + 2.0**-48) + 2.0**-1060


@kernel
def _squared_gap(box_a, box_b):
    """Squared distance of two boxes, rounded."""
    total = 0.0
    for k in range(3):
        gap = max(box_b[0, k] - box_a[1, k], box_a[0, k] - box_b[1, k], 0.0)
        total += gap * gap
    return total


@kernel
def meeting_pairs(triangles_a, triangles_b, limit, pose, pairs, count):
    """Append (pose, i, j, kind) for the pairs that meet, in order, up to ``limit`` of them in all."""
    boxes_a = np.empty((len(triangles_a), 2, 3))
    boxes_b = np.empty((len(triangles_b), 2, 3))
    bounding_boxes(triangles_a, boxes_a)
    bounding_boxes(triangles_b, boxes_b)
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
            if count >= limit:
                return pairs, count
    return pairs, count


@kernel
def find_contacts(vertices_a, faces_a, vertices_b, faces_b, poses_a, poses_b):
    """All (pose, face a, face b, kind) in order, with chords (k, 2, 3) and normals (k, 3)."""
    world_a = np.empty_like(vertices_a)
    world_b = np.empty_like(vertices_b)
    triangles_a = np.empty((len(faces_a), 3, 3))
    triangles_b = np.empty((len(faces_b), 3, 3))
    pairs = np.empty((16, 4), dtype=np.int64)
    segments = np.empty((16, 2, 3))
    normals = np.empty((16, 3))
    points = np.empty((2 * MOST_POINTS, 3))
    count = 0
    for pose in range(len(poses_a)):
        pose_triangles(poses_a[pose], vertices_a, faces_a, world_a, triangles_a)
        pose_triangles(poses_b[pose], vertices_b, faces_b, world_b, triangles_b)
        done = count
        pairs, count = meeting_pairs(triangles_a, triangles_b, np.iinfo(np.int64).max, pose, pairs, count)
        if count > len(segments):
            longer_segments = np.empty((len(pairs), 2, 3))
            longer_normals = np.empty((len(pairs), 3))
            for k in range(done):
                longer_segments[k] = segments[k]
                longer_normals[k] = normals[k]
            segments = longer_segments
            normals = longer_normals
        for k in range(done, count):
            a = load_triangle(triangles_a, pairs[k, 1])
            b = load_triangle(triangles_b, pairs[k, 2])
            _, normal = construct_contact(a, b, pairs[k, 3], points)
            for m in range(3):
                segments[k, 0, m] = points[0, m]
                segments[k, 1, m] = points[1, m]
                normals[k, m] = normal[m]
    return pairs[:count], segments[:count], normals[:count]


@kernel
def nearest_pair(triangles_a, triangles_b, points):
    """The pair of triangles with the smallest distance, the first one in order among equals."""
    boxes_a = np.empty((len(triangles_a), 2, 3))
    boxes_b = np.empty((len(triangles_b), 2, 3))
    bounding_boxes(triangles_a, boxes_a)
    bounding_boxes(triangles_b, boxes_b)
    scratch = np.empty((2 * MOST_POINTS, 3))
    best = np.inf
    reach = np.inf
    best_i = -1
    best_j = -1
    for i in range(len(triangles_a)):
        a = load_triangle(triangles_a, i)
        for j in range(len(triangles_b)):
            if _squared_gap(boxes_a[i], boxes_b[j]) > reach:
                continue
            value, point_a, point_b = triangle_distance(a, load_triangle(triangles_b, j), scratch)
            if value < best:
                best, best_i, best_j = value, i, j
                reach = _padded_square(best)
                for k in range(3):
                    points[0, k] = point_a[k]
                    points[1, k] = point_b[k]
                if best == 0.0:
                    return best, best_i, best_j
    return best, best_i, best_j


@kernel
def any_pair_within(triangles_a, triangles_b, clearance):
    """Whether some pair of triangles comes no farther apart than the clearance; exact."""
    reach = _padded_square(clearance)
    boxes_a = np.empty((len(triangles_a), 2, 3))
    boxes_b = np.empty((len(triangles_b), 2, 3))
    bounding_boxes(triangles_a, boxes_a)
    bounding_boxes(triangles_b, boxes_b)
    for i in range(len(triangles_a)):
        a = load_triangle(triangles_a, i)
        for j in range(len(triangles_b)):
            if _squared_gap(boxes_a[i], boxes_b[j]) <= reach:
                if triangles_within(a, load_triangle(triangles_b, j), clearance):
                    return True
    return False
