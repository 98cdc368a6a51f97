# mypy: allow-untyped-defs, allow-incomplete-defs
"""The simplex of GJK: up to four points w = p - q of the Minkowski difference, in the rows of a workspace."""

from __future__ import annotations

from impinge.convex.distance.signed_volumes import segment_weights, tetrahedron_weights, triangle_weights
from impinge.convex.distance.support import posed_vertex
from impinge.convex.workspace import COUNT, IDS_A, IDS_B
from impinge.geometry.exact.predicates import cross, subtract
from impinge.kernels.jit import inner

# Columns of a row.
OF_DIFFERENCE = 0
OF_A = 3
OF_B = 6
_COLUMNS = 9


@inner
def corner(work, i):
    return (work.rows[i, 0], work.rows[i, 1], work.rows[i, 2])


@inner
def put(work, i, vertex_a, p, vertex_b, q):
    """Write a corner."""
    w = subtract(p, q)
    for k in range(3):
        work.rows[i, k] = w[k]
        work.rows[i, OF_A + k] = p[k]
        work.rows[i, OF_B + k] = q[k]
    work.counters[IDS_A + i] = vertex_a
    work.counters[IDS_B + i] = vertex_b


@inner
def put_vertices(work, i, a, b, pose_a, pose_b, vertex_a, vertex_b):
    """Write the corner of two vertices."""
    put(work, i, vertex_a, posed_vertex(a, pose_a, vertex_a), vertex_b, posed_vertex(b, pose_b, vertex_b))


@inner
def pose_anew(work, a, b, pose_a, pose_b):
    """The corners of the last simplex in a new pose."""
    for i in range(work.counters[COUNT]):
        put_vertices(work, i, a, b, pose_a, pose_b, work.counters[IDS_A + i], work.counters[IDS_B + i])


@inner
def _move(work, i, j):
    """Write corner j over corner i."""
    if i != j:
        for k in range(_COLUMNS):
            work.rows[i, k] = work.rows[j, k]
        work.counters[IDS_A + i] = work.counters[IDS_A + j]
        work.counters[IDS_B + i] = work.counters[IDS_B + j]


@inner
def holds(work, vertex_a, vertex_b):
    """Whether the pair of vertices is a corner."""
    for i in range(work.counters[COUNT]):
        if work.counters[IDS_A + i] == vertex_a and work.counters[IDS_B + i] == vertex_b:
            return True
    return False


@inner
def nearest_weights(work):
    """Weights of the point nearest to the origin; all zero where the origin is inside."""
    count = work.counters[COUNT]
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
    for i in range(work.counters[COUNT]):
        w = weights[i]
        if w != 0.0:
            _move(work, kept, i)
            if kept == 0:
                x = w
            elif kept == 1:
                y = w
            else:
                z = w
            kept += 1
    work.counters[COUNT] = kept
    return (x, y, z, 0.0)


@inner
def combined(work, weights, column):
    """The weighted sum of differences, of points of a, or of points of b."""
    x, y, z = 0.0, 0.0, 0.0
    for i in range(work.counters[COUNT]):
        x += weights[i] * work.rows[i, column]
        y += weights[i] * work.rows[i, column + 1]
        z += weights[i] * work.rows[i, column + 2]
    return (x, y, z)


@inner
def direction(work):
    """Square to the simplex (at most a triangle), away from the origin."""
    count = work.counters[COUNT]
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
    for i in range(work.counters[COUNT]):
        for k in range(OF_A, _COLUMNS):
            largest = max(largest, abs(work.rows[i, k]))
    return largest
