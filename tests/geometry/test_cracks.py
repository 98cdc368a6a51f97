"""Pairs within reach, against all pairs."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from impinge.geometry.cracks import crack_reach, find_close_vertices


@given(st.integers(0, 10**6), st.integers(2, 40), st.floats(-30, 30))
def test_against_all_pairs(seed, count, exponent):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 6, size=(count, 3)) * 2.0**exponent + rng.choice([0.0, 1e6])
    reach = rng.choice([0.0, 0.5, 1.0, 2.5], size=count) * 2.0**exponent
    vertices = np.flatnonzero(rng.random(count) < 0.8).astype(np.int32)
    expected = []
    for i, a in enumerate(vertices):
        for b in vertices[i + 1 :]:
            apart = np.abs(points[a] - points[b]).max()
            if 0.0 < apart <= min(reach[a], reach[b]):
                expected.append([a, b])
    assert find_close_vertices(points, vertices, reach).tolist() == expected


def test_reach_is_a_small_part_of_the_shortest_edge():
    points = np.array([[1e16, 0, 0], [1e16, 1, 0], [1e16, 0, 1], [0, 0, 0]])
    reach = crack_reach(points, np.array([[0, 1], [1, 2], [0, 2]], dtype=np.int32))
    assert reach[:3].tolist() == [2.0**-20] * 3
    assert reach[3] <= 16 * np.spacing(0.0)
