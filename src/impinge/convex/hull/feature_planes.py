# mypy: allow-untyped-defs, allow-incomplete-defs
"""The planes of a feature graph inside kernels: local frame, normals of faces, planes between features.

All in floats, bit by bit what the functions of ``directions`` give.  Where a cross product cancels, the direction is
marked as uncertain, and the caller has it evaluated in integers.
"""

from __future__ import annotations

import numpy as np

from impinge.convex.hull.directions import LEAST_PART_OF_TERMS, NO_UNDERFLOW
from impinge.convex.hull.exact_quickhull import point_of
from impinge.convex.hull.unit_vectors import direction, exponent_of, length_of, scaled_by_two
from impinge.geometry.exact.predicates import cross, subtract
from impinge.kernels.jit import inner, kernel


@kernel("float64[:, ::1], int32[::1], int32[::1]")
def frame_and_normals(vertices, corners, starts):
    """(centre, exponent, local vertices, centroid, unit normals of the faces, which of these are certain)."""
    low = np.empty(3)
    high = np.empty(3)
    centre = np.empty(3)
    for k in range(3):
        low[k] = high[k] = vertices[0, k]
        for i in range(1, len(vertices)):
            low[k] = min(low[k], vertices[i, k])
            high[k] = max(high[k], vertices[i, k])
        centre[k] = 0.5 * low[k] + 0.5 * high[k]
    middle = (centre[0], centre[1], centre[2])
    exponent = exponent_of((0.0, 0.0, 0.0))
    largest = 0.0
    for i in range(len(vertices)):
        away = subtract(point_of(vertices, i), middle)
        size = max(abs(away[0]), abs(away[1]), abs(away[2]))
        if size > largest:
            largest = size
            exponent = exponent_of(away)
    local = np.empty((len(vertices), 3))
    total = (0.0, 0.0, 0.0)
    for i in range(len(vertices)):
        x = scaled_by_two(subtract(point_of(vertices, i), middle), exponent)
        local[i, 0], local[i, 1], local[i, 2] = x
        total = (total[0] + x[0], total[1] + x[1], total[2] + x[2]) if i > 0 else x
    centroid = np.empty(3)
    for k in range(3):
        centroid[k] = total[k] / len(vertices)
    extent = exponent_of((high[0] - low[0], high[1] - low[1], high[2] - low[2]))
    normals = np.empty((len(starts) - 1, 3))
    certain = np.empty(len(starts) - 1, dtype=np.bool_)
    for f in range(len(starts) - 1):
        # Corners that are spread over the polygon: three neighbours on a fine circle would be a needle.
        count = starts[f + 1] - starts[f]
        a = point_of(vertices, corners[starts[f]])
        b = point_of(vertices, corners[starts[f] + count // 3])
        c = point_of(vertices, corners[starts[f] + 2 * count // 3])
        certain[f] = cross_direction(
            scaled_by_two(subtract(b, a), extent), scaled_by_two(subtract(c, a), extent), normals[f]
        )
    return centre, exponent, local, centroid, normals, certain


@inner
def cross_direction(u, v, unit):
    """Write the direction of u x v; False where floats have cancelled too much of it."""
    vector = cross(u, v)
    unit[0], unit[1], unit[2] = direction(vector)
    a = (abs(u[0]), abs(u[1]), abs(u[2]))
    b = (abs(v[0]), abs(v[1]), abs(v[2]))
    inner_product = (a[0] * b[0] + a[2] * b[2]) + a[1] * b[1]
    terms = ((a[0] + a[1]) + a[2]) * ((b[0] + b[1]) + b[2]) - inner_product
    length = length_of(vector)
    return length >= LEAST_PART_OF_TERMS * terms and length > NO_UNDERFLOW


@kernel(
    "float64[:, ::1], float64[:, ::1], float64[::1], int32[:, ::1], int32[::1], int32[::1], int32[:, ::1], "
    "float64[:, ::1]"
)
def feature_planes(vertices, local, centroid, edges, corners, starts, edge_faces, normals):
    """(directions, face planes, end planes, side planes, inside planes, which of the last are certain).

    A flat polygon has no inside, and a segment has no faces either: these planes are zero.
    """
    along = np.empty((len(edges), 3))
    faces = np.empty((len(normals), 4))
    ends = np.empty((len(edges), 2, 4))
    sides = np.zeros((len(edges), 2, 4))
    inside = np.zeros((len(edges), 4))
    certain = np.ones(len(edges), dtype=np.bool_)
    for f in range(len(normals)):
        write_plane(faces[f], point_of(normals, f), point_of(local, corners[starts[f]]))
    middle = (centroid[0], centroid[1], centroid[2])
    for e in range(len(edges)):
        tail = point_of(local, edges[e, 0])
        d = direction(subtract(point_of(vertices, edges[e, 1]), point_of(vertices, edges[e, 0])))
        back = (-d[0], -d[1], -d[2])
        along[e, 0], along[e, 1], along[e, 2] = d
        write_plane(ends[e, 0], d, tail)
        write_plane(ends[e, 1], back, point_of(local, edges[e, 1]))
        if len(normals) > 0:
            write_plane(sides[e, 0], direction(cross(point_of(normals, edge_faces[e, 0]), d)), tail)
            write_plane(sides[e, 1], direction(cross(point_of(normals, edge_faces[e, 1]), back)), tail)
        if len(normals) > 2:
            # The direction of the edge instead of its head: a short edge would make the product cancel.
            certain[e] = cross_direction(subtract(tail, middle), d, inside[e])
            write_plane(inside[e], point_of(inside, e), middle)
    return along, faces, ends, sides, inside, certain


@inner
def write_plane(plane, normal, point):
    """The plane with this normal through a point."""
    plane[0], plane[1], plane[2] = normal
    # numpy's sum begins with 0.0.
    plane[3] = -(((0.0 + normal[0] * point[0]) + normal[1] * point[1]) + normal[2] * point[2])
