# mypy: allow-untyped-defs, allow-incomplete-defs
"""The simplex of GJK: up to four points w = p - q of the Minkowski difference, in a workspace."""

from __future__ import annotations

from impinge.convex.distance.signed_volumes import segment_weights, tetrahedron_weights, triangle_weights
from impinge.convex.distance.support import posed_vertex
from impinge.geometry.exact.predicates import cross, subtract
from impinge.kernels.jit import inner


@inner
def corner(work, i):
    return (work.corners[i, 0], work.corners[i, 1], work.corners[i, 2])


@inner
def put(work, i, vertex_a, p, vertex_b, q):
    """Write a corner."""
    w = subtract(p, q)
    for k in range(3):
        work.corners[i, k] = w[k]
        work.corners_a[i, k] = p[k]
        work.corners_b[i, k] = q[k]
    work.kept.vertices_a[i] = vertex_a
    work.kept.vertices_b[i] = vertex_b


@inner
def put_vertices(work, i, a, b, pose_a, pose_b, vertex_a, vertex_b):
    """Write the corner of two vertices."""
    put(work, i, vertex_a, posed_vertex(a, pose_a, vertex_a), vertex_b, posed_vertex(b, pose_b, vertex_b))


@inner
def pose_anew(work, a, b, pose_a, pose_b):
    """The corners of the last simplex in a new pose."""
    for i in range(work.kept.count):
        put_vertices(work, i, a, b, pose_a, pose_b, work.kept.vertices_a[i], work.kept.vertices_b[i])


@inner
def move(work, i, j):
    """Write corner j over corner i."""
    if i != j:
        for k in range(3):
            work.corners[i, k] = work.corners[j, k]
            work.corners_a[i, k] = work.corners_a[j, k]
            work.corners_b[i, k] = work.corners_b[j, k]
        work.kept.vertices_a[i] = work.kept.vertices_a[j]
        work.kept.vertices_b[i] = work.kept.vertices_b[j]


@inner
def holds(work, vertex_a, vertex_b):
    """Whether the pair of vertices is a corner."""
    for i in range(work.kept.count):
        if work.kept.vertices_a[i] == vertex_a and work.kept.vertices_b[i] == vertex_b:
            return True
    return False


@inner
def nearest_weights(work):
    """Weights of the point nearest to the origin; all zero where the origin is inside."""
    count = work.kept.count
    if count == 1:
        return (1.0, 0.0, 0.0, 0.0)
    if count == 2:
        x, y = segment_weights(corner(work, 0), corner(work, 1))
        return (x, y, 0.0, 0.0)
    if count == 3:
        x, y, z = triangle_weights(corner(work, 0), corner(work, 1), corner(work, 2))
        return (x, y, z, 0.0)
    return tetrahedron_weights(corner(work, 0), corner(work, 1), corner(work, 2), corner(work, 3))


@inner
def reduce(work, weights):
    """Drop the corners that the nearest point does not need; return the weights of those that stay."""
    kept = 0
    x, y, z = 0.0, 0.0, 0.0
    for i in range(work.kept.count):
        w = weights[i]
        if w != 0.0:
            move(work, kept, i)
            if kept == 0:
                x = w
            elif kept == 1:
                y = w
            else:
                z = w
            kept += 1
    work.kept.count = kept
    return (x, y, z, 0.0)


@inner
def combined(corners, count, weights):
    """The weighted sum of the first corners: of differences, of points of a, or of points of b."""
    x, y, z = 0.0, 0.0, 0.0
    for i in range(count):
        x += weights[i] * corners[i, 0]
        y += weights[i] * corners[i, 1]
        z += weights[i] * corners[i, 2]
    return (x, y, z)


@inner
def direction(work):
    """Square to the simplex (at most a triangle), away from the origin."""
    count = work.kept.count
    a = corner(work, 0)
    if count == 1:
        return a
    u = subtract(corner(work, 1), a)
    if count == 2:
        return cross(u, cross(a, u))
    n = cross(u, subtract(corner(work, 2), a))
    if n[0] * a[0] + n[1] * a[1] + n[2] * a[2] < 0.0:
        return (-n[0], -n[1], -n[2])
    return n


@inner
def largest_coordinate(work):
    largest = 0.0
    for i in range(work.kept.count):
        for k in range(3):
            largest = max(largest, abs(work.corners_a[i, k]), abs(work.corners_b[i, k]))
    return largest
