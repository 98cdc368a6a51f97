# mypy: allow-untyped-defs, allow-incomplete-defs
"""The expanding polytope of EPA: an exact incremental hull, with normals of known accuracy.

The triangles are those of the incremental hull of ``convex.hull.exact_quickhull``, all signs exact: never inconsistent,
never degenerate.  Every triangle knows its unit normal, right to 24 u also where it is a needle, and the height of its
plane above the origin.  All of it is part of a workspace (``convex.workspace.DepthWork``).
"""

from __future__ import annotations

import numpy as np

from impinge.convex.distance.sign_arithmetic import near_one
from impinge.convex.hull.exact_quickhull import collect_horizon, find_visible, make_cone, point_of
from impinge.geometry.contacts.face_normal import cross_and_terms, normalised
from impinge.geometry.exact import big_integers
from impinge.geometry.exact.double_double import accurate_cross, two_sum
from impinge.geometry.exact.predicates import cross, dot, subtract
from impinge.kernels.jit import POINTER, array_at, cold, inner, pointer_to

# Parts of the sum of all terms above which a normal in floats, or by accurate products, is right to 24 u.
_CERTAIN_PART = 2.0**-2
_CERTAIN_ACCURATE_PART = 2.0**-40
_LEAST_SQUARE = 2.0**-800


@cold(f"int64({POINTER})")
def _exact_normal(pointer):
    """The normal of the triangle in the first three rows goes to the fourth, times some power of two."""
    points = array_at(pointer, (4, 3))
    rows, _ = big_integers.integers(points[:3])
    big_integers.make_relative(rows)
    points[3, 0], points[3, 1], points[3, 2] = near_one(big_integers.cross(rows[1], rows[2]))
    return 0


@inner
def _rests(a, b):
    """What a - b lacks in floats."""
    return (two_sum(a[0], -b[0])[1], two_sum(a[1], -b[1])[1], two_sum(a[2], -b[2])[1])


@inner
def _is_certain(n, terms, part):
    least = part * (terms[0] + terms[1] + terms[2])
    square = dot(n, n)
    return square >= least * least and square > _LEAST_SQUARE


@inner
def unit_normal_of(a, b, c):
    """The unit normal of a triangle that is not degenerate, right to 24 u.

    In floats the cross product is off by less than 5 u times the sum t of its terms (``contacts.face_normal``), so its
    direction by 20 u where it is longer than t / 4.  With accurate products, and with what the differences of the
    corners lack, it is off by 3 u of itself and 16 u**2 t, which is enough down to 2**-40 t.
    """
    u, v = subtract(b, a), subtract(c, a)
    n, terms = cross_and_terms(u, v)
    if _is_certain(n, terms, _CERTAIN_PART):
        return normalised(n[0], n[1], n[2])
    main = accurate_cross(u, v)
    first = cross(_rests(b, a), v)
    second = cross(u, _rests(c, a))
    n = (main[0] + (first[0] + second[0]), main[1] + (first[1] + second[1]), main[2] + (first[2] + second[2]))
    if _is_certain(n, terms, _CERTAIN_ACCURATE_PART):
        return normalised(n[0], n[1], n[2])
    rows = np.empty((4, 3))
    for k in range(3):
        rows[0, k], rows[1, k], rows[2, k] = a[k], b[k], c[k]
    _exact_normal(pointer_to(rows))
    return normalised(rows[3, 0], rows[3, 1], rows[3, 2])


@inner
def measure(work, f):
    """Write normal and height of a triangle."""
    a = point_of(work.differences, work.triangles[f, 0])
    b = point_of(work.differences, work.triangles[f, 1])
    c = point_of(work.differences, work.triangles[f, 2])
    n = unit_normal_of(a, b, c)
    for k in range(3):
        work.normals[f, k] = n[k]
    # The largest of three that differ by rounding: a support point that is a corner is then not above.
    work.heights[f] = max(dot(n, a), dot(n, b), dot(n, c))


@inner
def take_in(work, f, p):
    """Replace the triangles that point p sees, f among them (strictly); how many new ones are listed in ``fresh``."""
    triangles, across, visible, fresh, marks = work.triangles, work.across, work.visible, work.fresh, work.marks
    stamp = p + 1  # no point is taken in twice
    seen = find_visible(work.differences, triangles, across, f, p, visible, marks, stamp)
    edges = collect_horizon(triangles, across, visible, seen, marks, stamp, work.horizon)
    used = work.used_triangles
    for i in range(seen):
        work.heights[visible[i]] = np.inf
        if i < edges:
            fresh[i] = visible[i]
    for i in range(seen, edges):
        fresh[i] = used
        marks[used] = 0
        used += 1
    work.used_triangles = used
    make_cone(triangles, across, work.horizon, edges, p, fresh, work.leaving)
    for i in range(edges):
        measure(work, fresh[i])
    return edges
