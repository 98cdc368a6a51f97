"""Vertices that are equal but for rounding, against all pairs; what is farther apart, or a fine detail, is none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from impinge.mesh.repair.cracks import PART_OF_EDGE, ROUNDING, find_cracks

TWO_EDGES = np.array([[0, 1], [2, 3]], dtype=np.int32)


def two_edges(gap: float, length: float = 1.0, origin: float = 0.0) -> np.ndarray:
    """Two edges along x, one after the other, with a gap between them."""
    points = np.array([[0, 0, 0], [length, 0, 0], [length + gap, 0, 0], [2 * length + gap, 0, 0]])
    return points + [origin, 0.0, 0.0]


@given(st.integers(0, 10**6), st.integers(1, 20), st.integers(-1000, 100))
def test_against_all_pairs(seed: int, count: int, exponent: int) -> None:
    """At any scale; each vertex with fewer than eight others in reach."""
    rng = np.random.default_rng(seed)
    starts = rng.integers(0, 4, size=(count, 3)) + 2.0**-22 * rng.integers(0, 3, size=(count, 3))
    points = np.unique(np.concatenate([starts, starts + 2.0 ** rng.integers(-21, 1, size=(count, 1))]), axis=0)
    edges = np.array([(i, i + 1) for i in range(0, len(points) - 1, 2)], dtype=np.int32)
    lengths = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
    reach = np.repeat(
        np.minimum(ROUNDING * np.ptp(points[edges].reshape(-1, 3), axis=0).max(), PART_OF_EDGE * lengths), 2
    )
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    expected = [
        [a, b] for a in range(len(reach)) for b in range(a + 1, len(reach)) if apart[a, b] <= min(reach[a], reach[b])
    ]
    crowded = np.bincount(np.array(expected, dtype=int).ravel(), minlength=1).max() >= 8
    found = find_cracks(np.ldexp(points, exponent), edges, edges).tolist()
    assert all(pair in expected for pair in found) if crowded else found == expected


def test_only_vertices_of_open_edges() -> None:
    points = two_edges(1e-9)
    assert find_cracks(points, TWO_EDGES, TWO_EDGES).tolist() == [[1, 2]]
    assert find_cracks(points, TWO_EDGES, TWO_EDGES[:1]).tolist() == []
    assert find_cracks(points, TWO_EDGES, TWO_EDGES[:0]).tolist() == []


@pytest.mark.parametrize(("gap", "found"), [(1e-6, 1), (1e-5, 0), (0.2, 0)])
def test_rounding_is_a_millionth_of_the_size_and_no_more(gap: float, found: int) -> None:
    assert len(find_cracks(two_edges(gap), TWO_EDGES, TWO_EDGES)) == found


def test_far_from_the_origin_only_what_single_precision_has_written_counts() -> None:
    """Survey coordinates: a door of 3 m in a building of 40 m is no rounding, one unit of float32 there is."""
    assert len(find_cracks(two_edges(3.0, 20.0, 5e7 + 0.1), TWO_EDGES, TWO_EDGES)) == 0
    step = float(np.spacing(np.float32(5e7)))
    assert step == 4.0
    points = two_edges(step, 8 * step, 5e7)
    assert len(find_cracks(points, TWO_EDGES, TWO_EDGES)) == 1
    assert len(find_cracks(points + [0.0, 0.1, 0.0], TWO_EDGES, TWO_EDGES)) == 0


def test_a_fine_detail_is_no_crack() -> None:
    points = np.concatenate([two_edges(1e-8, 1e-8), [[1.0, 0, 0], [2.0, 0, 0]]])
    edges = np.array([[0, 1], [2, 3], [4, 5]], dtype=np.int32)
    assert len(find_cracks(points, edges, edges)) == 0


def test_a_crowd_takes_no_time() -> None:
    """20,000 edges within rounding of each other: 200 million pairs, of which some are enough."""
    rng = np.random.default_rng(3)
    ends = np.concatenate([1e-9 * rng.random((20_000, 3)), 1.0 + 1e-9 * rng.random((20_000, 3))])
    edges = np.stack([np.arange(20_000), np.arange(20_000, 40_000)], axis=1).astype(np.int32)
    assert 20_000 <= len(find_cracks(ends, edges, edges)) <= 8 * 40_000
