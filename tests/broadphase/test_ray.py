"""Rays never miss a box, and hit others only within rounding."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from impinge.broadphase.ray import as_ray, touched_by_ray

numbers = st.one_of(
    st.integers(-4, 4).map(float),
    st.floats(-10, 10),
    st.sampled_from([1e-300, 5e-324, 1e15, -1e15, 1e300, 1.7e308, -1.7e308, 0.1, 1e-12]),
)
vectors = st.tuples(numbers, numbers, numbers)


def touches(low: tuple[float, ...], high: tuple[float, ...], origin: tuple[float, ...], way: tuple[float, ...]) -> bool:
    """An endless ray and a box, in rational arithmetic."""
    first, last = Fraction(0), None
    for axis in range(3):
        near, far = Fraction(low[axis]) - Fraction(origin[axis]), Fraction(high[axis]) - Fraction(origin[axis])
        if way[axis] == 0.0:
            if near > 0 or far < 0:
                return False
            continue
        times = sorted((near / Fraction(way[axis]), far / Fraction(way[axis])))
        first = max(first, times[0])
        last = times[1] if last is None else min(last, times[1])
    return last is None or first <= last


@given(vectors, vectors, vectors, vectors)
def test_no_box_is_missed(corner: tuple[float, ...], other: tuple[float, ...], origin: tuple[float, ...], way: tuple[float, ...]) -> None:  # fmt: skip # noqa: E501
    if not any(way):
        return
    low, high = np.minimum(corner, other), np.maximum(corner, other)
    if touches(tuple(low), tuple(high), origin, way):
        assert touched_by_ray(np.concatenate([low, high])[None], as_ray(origin, way)).all()


@given(st.integers(0, 2**32 - 1))
def test_no_box_is_missed_where_a_ray_passes_an_edge(seed: int) -> None:
    """Through a corner of the box, computed with rounding: most are hits or misses by the last bit."""
    rng = np.random.default_rng(seed)
    low = rng.uniform(-1, 1, (20, 3))
    high = low + rng.uniform(0, 1, (20, 3))
    for k in range(20):
        origin = rng.uniform(-5, 5, 3)
        way = np.where(rng.integers(0, 2, 3) == 0, low[k], high[k]) - origin
        found = touched_by_ray(np.hstack([low, high]), as_ray(origin, way))
        for i in range(20):
            assert found[i] or not touches(tuple(low[i]), tuple(high[i]), tuple(origin), tuple(way))


def test_hits_are_real_away_from_the_edges() -> None:
    rng = np.random.default_rng(5)
    low = rng.uniform(-5, 5, (300, 3))
    high = low + rng.uniform(0, 1, (300, 3))
    for _ in range(10):
        origin, way = rng.uniform(-5, 5, 3), rng.normal(size=3)
        expected = [touches(tuple(low[i]), tuple(high[i]), tuple(origin), tuple(way)) for i in range(300)]
        assert touched_by_ray(np.hstack([low, high]), as_ray(origin, way)).tolist() == expected


def test_length_is_a_distance_whatever_the_length_of_the_direction() -> None:
    rows = np.array([[3.0, 4.0, 0.0, 9.0, 9.0, 0.0]])
    for scale in (1.0, 1e-300, 1e300, 5e-324, 1e-5):
        way = np.array([3.0, 4.0, 0.0]) * scale
        assert touched_by_ray(rows, as_ray([0, 0, 0], way, 5.0)).all()
        assert touched_by_ray(rows, as_ray([0, 0, 0], way, np.inf)).all()
        assert not touched_by_ray(rows, as_ray([0, 0, 0], way, 4.99)).any()
    assert touched_by_ray(rows, as_ray([4, 5, 0], [1, 0, 0], 0.0)).all()
    assert not touched_by_ray(rows, as_ray([0, 0, 0], [-3, -4, 0])).any()
