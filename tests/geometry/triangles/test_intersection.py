"""Every way in which two closed triangles can lie to each other, made by hand."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from numpy.typing import NDArray

from impinge.geometry.contacts.construction import triangle_intersections
from impinge.geometry.triangles.intersection import DISJOINT, triangles_meet
from impinge.results import ContactKind

Triangle = NDArray[np.float64]
CROSSING, TOUCHING, COPLANAR = (int(kind) for kind in ContactKind)

FLAT = [[0, 0, 0], [4, 0, 0], [0, 4, 0]]
SEGMENT = [[0, 0, 0], [4, 4, 0], [2, 2, 0]]
POINT = [[1, 1, 0]] * 3

CASES = {
    # name: first triangle, second triangle, what they do
    "far apart": (FLAT, [[9, 9, 9], [10, 9, 9], [9, 10, 9]], DISJOINT),
    "parallel planes": (FLAT, [[0, 0, 1], [4, 0, 1], [0, 4, 1]], DISJOINT),
    "crosses the plane beside the triangle": (FLAT, [[5, 5, -1], [6, 5, 1], [5, 6, 1]], DISJOINT),
    "boxes overlap beyond the long edge": (FLAT, [[3, 3, -1], [3, 3, 1], [4, 4, 0]], DISJOINT),
    "in one plane, boxes overlap": (FLAT, [[4, 4, 0], [3, 2, 0], [2, 4, 0]], DISJOINT),
    "one edge through the face": (FLAT, [[1, 1, -1], [1, 1, 1], [9, 9, 0]], CROSSING),
    "two edges through the face": (FLAT, [[1, 1, -1], [2, 1, 1], [1, 2, 1]], CROSSING),
    "linked like a chain": (FLAT, [[1, 1, -1], [1, 1, 1], [-3, 1, 0]], CROSSING),
    "one passes through the vertex of the other": (FLAT, [[-1, -1, 0], [1, 1, 1], [1, 1, -1]], CROSSING),
    "vertex on a vertex": (FLAT, [[0, 0, 0], [-1, 0, 1], [-1, 0, -1]], TOUCHING),
    "vertex on a vertex, in one plane": (FLAT, [[0, 0, 0], [-1, 0, 0], [0, -1, 0]], TOUCHING),
    "vertex on an edge": (FLAT, [[2, 0, 0], [2, -1, 1], [2, -1, -1]], TOUCHING),
    "vertex on the long edge, in one plane": (FLAT, [[2, 2, 0], [4, 2, 0], [4, 4, 0]], TOUCHING),
    "vertex in the face": (FLAT, [[1, 1, 0], [1, 1, 2], [2, 1, 2]], TOUCHING),
    "edge in the face": (FLAT, [[1, 1, 0], [2, 1, 0], [1, 1, 3]], TOUCHING),
    "edge across the face": (FLAT, [[-1, 1, 0], [9, 1, 0], [1, 1, 3]], TOUCHING),
    "common edge, at an angle": (FLAT, [[0, 0, 0], [4, 0, 0], [0, 0, 4]], TOUCHING),
    "common edge, in one plane": (FLAT, [[0, 0, 0], [4, 0, 0], [0, -4, 0]], TOUCHING),
    "part of an edge in common, in one plane": (FLAT, [[-1, 0, 0], [2, 0, 0], [0, -4, 0]], TOUCHING),
    "edge across an edge from below": (FLAT, [[2, -1, -1], [2, 1, 1], [2, -1, 5]], TOUCHING),
    "corner through the face over an edge": (FLAT, [[2, -1, -1], [2, 1, -1], [2, 0.5, 3]], CROSSING),
    "edge touches an edge": (FLAT, [[2, 0, -1], [2, 0, 1], [2, -3, 0]], TOUCHING),
    "common vertex and through the face": (FLAT, [[0, 0, 0], [2, 2, 1], [2, 2, -1]], CROSSING),
    "six corners in common": ([[0, 0, 0], [6, 0, 0], [3, 6, 0]], [[0, 4, 0], [6, 4, 0], [3, -2, 0]], COPLANAR),
    "identical": (FLAT, FLAT, COPLANAR),
    "identical, turned over": (FLAT, FLAT[::-1], COPLANAR),
    "inside": (FLAT, [[0.5, 0.5, 0], [1, 0.5, 0], [0.5, 1, 0]], COPLANAR),
    "inside, with a vertex on an edge": (FLAT, [[0, 1, 0], [1, 1, 0], [1, 0.5, 0]], COPLANAR),
    "inside, on a vertex and two edges": (FLAT, [[0, 0, 0], [2, 0, 0], [0, 2, 0]], COPLANAR),
    "overlap by a vertex": (FLAT, [[1, 1, 0], [5, 5, 0], [5, 4, 0]], COPLANAR),
    "segment in the face": (FLAT, [[1, 1, 0], [2, 1, 0], [1.5, 1, 0]], TOUCHING),
    "segment along an edge": (FLAT, [[-1, 0, 0], [9, 0, 0], [3, 0, 0]], TOUCHING),
    "segment through the face": (FLAT, [[1, 1, -1], [1, 1, 1], [1, 1, 1]], TOUCHING),
    "segment through an edge": (FLAT, [[2, 0, -1], [2, 0, 1], [2, 0, -1]], TOUCHING),
    "segment ends in the face": (FLAT, [[1, 1, 0], [1, 1, 1], [1, 1, 2]], TOUCHING),
    "segment beside the face": (FLAT, [[3, 3, -1], [3, 3, 1], [3, 3, 1]], DISJOINT),
    "segment beside the face, in its plane": (FLAT, [[3, 3, 0], [3, 2, 0], [3, 2.5, 0]], DISJOINT),
    "segment ends above the face": (FLAT, [[1, 1, 5e-324], [1, 1, 1], [1, 1, 2]], DISJOINT),
    "point in the face": (FLAT, POINT, TOUCHING),
    "point on an edge": (FLAT, [[2, 2, 0]] * 3, TOUCHING),
    "point on a vertex": (FLAT, [[4, 0, 0]] * 3, TOUCHING),
    "point above the face": (FLAT, [[1, 1, 1]] * 3, DISJOINT),
    "point beside the face, in its plane": (FLAT, [[3, 3, 0]] * 3, DISJOINT),
    "crossing segments": (SEGMENT, [[4, 0, 0], [0, 4, 0], [1, 3, 0]], TOUCHING),
    "overlapping segments of one line": (SEGMENT, [[3, 3, 0], [6, 6, 0], [5, 5, 0]], TOUCHING),
    "segments of one line, end to end": (SEGMENT, [[4, 4, 0], [6, 6, 0], [4, 4, 0]], TOUCHING),
    "segments of one line, apart": (SEGMENT, [[5, 5, 0], [6, 6, 0], [5, 5, 0]], DISJOINT),
    "parallel segments": (SEGMENT, [[1, 0, 0], [5, 4, 0], [3, 2, 0]], DISJOINT),
    "skew segments": (SEGMENT, [[4, 0, 1], [0, 4, 1], [0, 4, 1]], DISJOINT),
    "segments in one plane whose lines cross beyond an end": (SEGMENT, [[5, 0, 0], [5, 9, 0], [5, 1, 0]], DISJOINT),
    "point on a segment": (SEGMENT, POINT, TOUCHING),
    "point on the end of a segment": (SEGMENT, [[4, 4, 0]] * 3, TOUCHING),
    "point on the line of a segment, beyond": (SEGMENT, [[5, 5, 0]] * 3, DISJOINT),
    "point beside a segment": (SEGMENT, [[1, 2, 0]] * 3, DISJOINT),
    "same point": (POINT, POINT, TOUCHING),
    "different points": (POINT, [[1, 2, 0]] * 3, DISJOINT),
}


def posed(triangle: Triangle, matrix: NDArray[np.float64], offset: NDArray[np.float64]) -> Triangle:
    return np.asarray(triangle @ matrix.T + offset)


# Whole-numbered maps keep every incidence; the last two tilt all planes.
MAPS = {
    "as given": (np.eye(3), np.zeros(3)),
    "turned": (np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), np.zeros(3)),
    "tilted": (np.array([[1.0, 2.0, 3.0], [-1.0, 1.0, 2.0], [2.0, 0.0, 1.0]]), np.zeros(3)),
    "tilted and far": (
        np.array([[3.0, -1.0, 2.0], [1.0, 1.0, 1.0], [-2.0, 1.0, 5.0]]),
        np.array([2.0**30, 7.0, -(2.0**20)]),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_kind_under_all_orders_of_the_vertices(name: str) -> None:
    a, b, kind = CASES[name]
    orders = list(permutations(range(3)))
    first = np.array([np.asarray(a, dtype=float)[list(order)] for order in orders for _ in orders])
    second = np.array([np.asarray(b, dtype=float)[list(order)] for _ in orders for order in orders])
    for one, other in ((first, second), (second, first)):
        assert triangle_intersections(one, other)[0].tolist() == [kind] * 36
        assert triangles_meet(one, other).tolist() == [kind != DISJOINT] * 36


@pytest.mark.parametrize("where", MAPS)
def test_kind_is_kept_by_affine_maps_and_scales(where: str) -> None:
    # 5e-324 cannot be mapped.
    cases = [case for name, case in CASES.items() if name != "segment ends above the face"]
    a, b = (np.array([case[i] for case in cases], dtype=float) for i in (0, 1))
    kinds = [case[2] for case in cases]
    a, b = (posed(t, *MAPS[where]) for t in (a, b))
    for exponent in (0, -1000, -300, 100):
        scale = 2.0**exponent
        assert triangle_intersections(a * scale, b * scale)[0].tolist() == kinds
        assert triangle_intersections(b * scale, a * scale)[0].tolist() == kinds


def test_one_ulp_makes_the_difference() -> None:
    flat = np.array([FLAT], dtype=float)
    touching = np.array([[[1.0, 1.0, 0.0], [1.0, 1.0, 2.0], [2.0, 1.0, 2.0]]])
    above, below = touching.copy(), touching.copy()
    above[0, 0, 2], below[0, 0, 2] = 5e-324, -5e-324
    assert [triangle_intersections(flat, t)[0][0] for t in (touching, above, below)] == [TOUCHING, DISJOINT, CROSSING]
    # The long edge of FLAT is x + y = 4.
    beside = np.array([[[3.0, 1.0, -1.0], [3.0, 1.0, 1.0], [9.0, 9.0, 0.0]]])
    assert triangle_intersections(flat, beside)[0][0] == TOUCHING
    outside, inside = beside.copy(), beside.copy()
    outside[0, :2, 0], inside[0, :2, 0] = np.nextafter(3.0, 4.0), np.nextafter(3.0, 0.0)
    assert triangle_intersections(flat, outside)[0][0] == DISJOINT
    assert triangle_intersections(flat, inside)[0][0] == CROSSING


def test_empty_batch() -> None:
    nothing = np.empty((0, 3, 3))
    assert triangles_meet(nothing, nothing).shape == (0,)
    assert [len(part) for part in triangle_intersections(nothing, nothing)] == [0, 0, 0, 0]
