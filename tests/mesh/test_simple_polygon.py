"""Simple polygons: told from others exactly, and turned counter-clockwise."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from impinge.mesh import simple_polygon


def twice_the_area(polygon):
    x, y = np.asarray(polygon, dtype=float).T
    return np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))


def star(corners):
    angle = np.arange(corners) * (2.0 * math.pi / corners)
    reach = np.where(np.arange(corners) % 4 < 2, 3.0, 2.0)
    return np.column_stack([reach * np.cos(angle), reach * np.sin(angle)])


def meets_itself(polygon):
    """Whether a polygon is not simple: all pairs of edges, in whole numbers."""

    def turn(a, b, c):
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    def on(a, b, p):
        return turn(a, b, p) == 0 and all(min(a[k], b[k]) <= p[k] <= max(a[k], b[k]) for k in (0, 1))

    n = len(polygon)
    for i in range(n):
        a, b, c = polygon[i - 1], polygon[i], polygon[(i + 1) % n]
        if a == b or on(a, b, c) or on(b, c, a):
            return True
        for j in range(i + 2, n - (i == 0)):
            p, q, r, s = polygon[i], polygon[i + 1], polygon[j], polygon[(j + 1) % n]
            if on(p, q, r) or on(p, q, s) or on(r, s, p) or on(r, s, q):
                return True
            if turn(p, q, r) * turn(p, q, s) < 0 and turn(r, s, p) * turn(r, s, q) < 0:
                return True
    return False


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=7))
def test_self_crossing_is_found_exactly(polygon):
    closed = [*polygon, polygon[0]]
    if meets_itself(polygon):
        with pytest.raises(ValueError, match=r"^outline: "):
            simple_polygon.simple_polygon(closed, "outline")
    else:
        ring = simple_polygon.simple_polygon(closed, "outline")
        assert twice_the_area(ring) == abs(twice_the_area(polygon)) > 0
        assert np.array_equal(ring, polygon) or np.array_equal(ring[::-1], polygon)


def test_crossings_are_found_among_many_edges(monkeypatch):
    monkeypatch.setattr(simple_polygon, "_CHUNK", 64)
    polygon = star(160)
    assert len(simple_polygon.simple_polygon(polygon, "outline")) == 160
    polygon[[100, 101]] = polygon[[101, 100]]
    with pytest.raises(ValueError, match=r"^outline: its edges 99-100 and 101-102 meet; a simple"):
        simple_polygon.simple_polygon(polygon, "outline")


@pytest.mark.parametrize("scale", [2.0**-1060, 2.0**-500, 1.0, 2.0**140])
def test_any_scale(scale):
    square = np.array([[0, 0], [4, 0], [4, 4], [2, 1], [0, 4]]) * scale
    assert np.array_equal(simple_polygon.simple_polygon(square, "outline"), square)
    assert np.array_equal(simple_polygon.simple_polygon(square[::-1], "outline"), square)
    square[3, 1] = 0.0
    with pytest.raises(ValueError, match=r"^outline: its edges 0-1 and 2-3 meet"):
        simple_polygon.simple_polygon(square, "outline")


def test_the_callers_array_stays_as_it_is():
    mine = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    simple_polygon.simple_polygon(mine, "outline")[:] = 7.0
    assert mine.tolist() == [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
