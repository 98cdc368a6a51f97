"""Points where edges meet planes: on the edge, on the plane, at every scale and in shallow crossings."""

from __future__ import annotations

from fractions import Fraction

import numba
import numpy as np
import pytest
from numba import config

from impinge.geometry.triangles.crossing import plane_crossing

Point = tuple[float, float, float]


def crossing(p: Point, q: Point, t: tuple[Point, Point, Point]) -> Point:
    return plane_crossing(p, q, t) if config.DISABLE_JIT else _call(p, q, t)


@numba.njit
def _call(p, q, t):
    return plane_crossing(p, q, t)


def exact_crossing(p: Point, q: Point, t: tuple[Point, Point, Point]) -> list[Fraction]:
    a, b, c = ([Fraction(x) for x in corner] for corner in t)
    e, g = ([y - x for x, y in zip(a, other, strict=True)] for other in (b, c))
    normal = [e[1] * g[2] - e[2] * g[1], e[2] * g[0] - e[0] * g[2], e[0] * g[1] - e[1] * g[0]]

    def height(point: Point) -> Fraction:
        return sum((n * (Fraction(x) - y) for n, x, y in zip(normal, point, a, strict=True)), Fraction(0))

    part = height(p) / (height(p) - height(q))
    return [Fraction(x) + part * (Fraction(y) - Fraction(x)) for x, y in zip(p, q, strict=True)]


@pytest.mark.parametrize("scale", [1e-80, 1e-9, 1.0, 1e40])
@pytest.mark.parametrize("rise", [1.0, 1e-3, 1e-9, 1e-14])
def test_within_eight_ulps_of_the_exact_point(scale: float, rise: float) -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        t = (rng.random((3, 3)) * scale).tolist()
        middle, along = rng.random(3), rng.normal(size=3)
        inside = np.array(t).mean(axis=0)
        shape = np.array(t) / scale
        normal = np.cross(shape[1] - shape[0], shape[2] - shape[0])
        lift = rise * scale * normal / np.linalg.norm(normal)
        p, q = inside + lift - along * scale * 0.1, inside - lift * middle[0] + along * scale * 0.1
        corners = tuple(tuple(corner) for corner in t)
        heights = [np.dot(normal, end / scale - shape[0]) for end in (p, q)]
        if heights[0] * heights[1] >= 0.0:
            continue
        point = crossing(tuple(p.tolist()), tuple(q.tolist()), corners)
        truth = exact_crossing(p.tolist(), q.tolist(), corners)
        ulp = np.spacing(np.abs([p, q]).max())
        assert max(abs(float(Fraction(x) - y)) for x, y in zip(point, truth, strict=True)) <= 8.0 * ulp


def test_an_end_on_the_plane_is_the_point() -> None:
    t = ((0.0, 0.0, 0.5), (1.0, 0.0, 0.5), (0.0, 1.0, 0.5))
    assert crossing((0.1, 0.2, 0.5), (0.3, 0.1, 2.0), t) == (0.1, 0.2, 0.5)
    assert crossing((0.3, 0.1, 2.0), (0.1, 0.2, 0.5), t) == (0.1, 0.2, 0.5)
