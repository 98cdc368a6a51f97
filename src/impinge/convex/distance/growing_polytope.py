# mypy: allow-untyped-defs, allow-incomplete-defs
"""The expanding polytope of EPA: an exact incremental hull, with normals of known accuracy.

The triangles are those of the incremental hull of ``convex.hull.exact_quickhull``, all signs exact: never inconsistent,
never degenerate.  Every triangle knows its unit normal, right to 24 u also where it is a needle, and the height of its
plane above the origin.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.core import config

from impinge.convex.distance.sign_arithmetic import near_one
from impinge.convex.hull.exact_quickhull import collect_horizon, find_visible, make_cone, point_of
from impinge.geometry.contacts.face_normal import cross_and_terms, normalised
from impinge.geometry.exact import big_integers
from impinge.geometry.exact.double_double import accurate_cross, two_sum
from impinge.geometry.exact.predicates import cross, dot, subtract
from impinge.kernels.jit import POINTER, array_at, cold, inner, pointer_to
from impinge.kernels.memory import table

# Parts of the sum of all terms above which a normal in floats, or by accurate products, is right to 24 u.
_CERTAIN_PART = 2.0**-2
_CERTAIN_ACCURATE_PART = 2.0**-40
_LEAST_SQUARE = 2.0**-800

# Places of the counters of a polytope.
POINTS = 0
TRIANGLES = 1


class Polytope(NamedTuple):
    """Points of D, and the triangles of their hull: arrays, or tables of the same memory.

    Tables have no reference counts, which would take a third of the time.
    """

    points: Any
    """(n, 3) differences of vertices, scaled"""
    ids: Any
    """(n, 2) a vertex of a and one of b"""
    leaving: Any
    """(n,) scratch of the cone"""
    corners: Any
    """(t, 3)"""
    across: Any
    """(t, 3) as in exact_quickhull"""
    normals: Any
    """(t, 3) of length one, outward"""
    heights: Any
    """(t,) of the plane above the origin; infinite for triangles that are gone"""
    mark: Any
    visible: Any
    horizon: Any
    fresh: Any
    """(t,) scratch of one step; horizon (t, 4)"""
    counters: Any
    """How many points there are, and how many rows of triangles are used."""


_float_rows = table(np.float64, 3)
_int_rows = table(np.int32, 3)
_horizon_rows = table(np.int32, 4)
_pairs = table(np.int64, 2)
_floats = table(np.float64)
_numbers = table(np.int32)
_counters = table(np.int64)

if config.DISABLE_JIT:

    def _address(array: Any) -> Any:
        return array

else:

    @inner
    def _address(array):
        return np.int64(array.ctypes.data)


@inner
def new_arrays(room):
    # The horizon of v visible triangles has v + 2 edges at most: every point costs two more triangles at most.
    triangles = 2 * room + 4
    return Polytope(
        np.empty((room, 3)),
        np.empty((room, 2), dtype=np.int64),
        np.empty(room, dtype=np.int32),
        np.empty((triangles, 3), dtype=np.int32),
        np.empty((triangles, 3), dtype=np.int32),
        np.empty((triangles, 3)),
        np.empty(triangles),
        np.zeros(triangles, dtype=np.int32),
        np.empty(triangles, dtype=np.int32),
        np.empty((triangles, 4), dtype=np.int32),
        np.empty(triangles, dtype=np.int32),
        np.zeros(2, dtype=np.int64),
    )


@inner
def tables_of(arrays):
    """They must not be used longer than the arrays."""
    n, t = len(arrays.points), len(arrays.corners)
    return Polytope(
        _float_rows(_address(arrays.points), n),
        _pairs(_address(arrays.ids), n),
        _numbers(_address(arrays.leaving), n),
        _int_rows(_address(arrays.corners), t),
        _int_rows(_address(arrays.across), t),
        _float_rows(_address(arrays.normals), t),
        _floats(_address(arrays.heights), t),
        _numbers(_address(arrays.mark), t),
        _numbers(_address(arrays.visible), t),
        _horizon_rows(_address(arrays.horizon), t),
        _numbers(_address(arrays.fresh), t),
        _counters(_address(arrays.counters), 2),
    )


@inner
def doubled(arrays):
    """The same with room for twice as many points."""
    count, used = arrays.counters[POINTS], arrays.counters[TRIANGLES]
    larger = new_arrays(2 * len(arrays.points))
    old, new = tables_of(arrays), tables_of(larger)
    for i in range(count):
        for k in range(3):
            new.points[i, k] = old.points[i, k]
        new.ids[i, 0], new.ids[i, 1] = old.ids[i, 0], old.ids[i, 1]
    for f in range(used):
        for k in range(3):
            new.corners[f, k] = old.corners[f, k]
            new.across[f, k] = old.across[f, k]
            new.normals[f, k] = old.normals[f, k]
        new.heights[f] = old.heights[f]
        new.mark[f] = old.mark[f]
    larger.counters[POINTS], larger.counters[TRIANGLES] = count, arrays.counters[TRIANGLES]
    return larger


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
def measure(polytope, f):
    """Write normal and height of a triangle."""
    a = point_of(polytope.points, polytope.corners[f, 0])
    b = point_of(polytope.points, polytope.corners[f, 1])
    c = point_of(polytope.points, polytope.corners[f, 2])
    n = unit_normal_of(a, b, c)
    for k in range(3):
        polytope.normals[f, k] = n[k]
    # The largest of three that differ by rounding: a support point that is a corner is then not above.
    polytope.heights[f] = max(dot(n, a), dot(n, b), dot(n, c))


@inner
def take_in(polytope, f, p):
    """Replace the triangles that point p sees, f among them (strictly); how many new ones are listed in ``fresh``."""
    corners, across, visible, fresh = polytope.corners, polytope.across, polytope.visible, polytope.fresh
    stamp = p + 1  # no point is taken in twice
    seen = find_visible(polytope.points, corners, across, f, p, visible, polytope.mark, stamp)
    edges = collect_horizon(corners, across, visible, seen, polytope.mark, stamp, polytope.horizon)
    used = polytope.counters[TRIANGLES]
    for i in range(seen):
        polytope.heights[visible[i]] = np.inf
    for i in range(edges):
        fresh[i] = visible[i] if i < seen else used + i - seen
    polytope.counters[TRIANGLES] = used + max(edges - seen, 0)
    make_cone(corners, across, polytope.horizon, edges, p, fresh, polytope.leaving)
    for i in range(edges):
        measure(polytope, fresh[i])
    return edges
