"""Resolutions after Lemma 1 of [Mirtich1997]."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from impinge.broadphase.spatial_hashing.hash_levels import (
    MOST_LEVELS,
    HashedObjects,
    Survey,
    automatic_resolutions,
    half_margin,
    resolutions_for,
    sizes_of,
    survey,
    with_all_of_space,
)

size_lists = st.lists(st.one_of(st.floats(1e-3, 1e3), st.integers(-8, 8).map(lambda k: 2.0**k)), min_size=1)
alphas = st.sampled_from([0.5, 0.25, 0.9, 0.1])
betas = st.sampled_from([1.0, 2.0, 1.5])


@given(size_lists, alphas, betas)
def test_lemma_1(sizes: list[float], alpha: float, beta: float) -> None:
    resolutions = resolutions_for(np.array(sizes), alpha, beta)
    assert (np.diff(resolutions) < 0).all()  # from coarse to fine
    for size in sizes:  # (2)
        assert any(alpha * rho <= size <= beta * rho for rho in resolutions)
    bound = math.log(max(sizes) / min(sizes)) / math.log(beta / alpha)
    assert 1 <= len(resolutions) <= max(1, math.ceil(bound + 1e-9))
    # Minimal: the largest sizes of any two resolutions are too different for one.
    largest = resolutions * beta
    assert (largest[:-1] > largest[1:] * (beta / alpha) * (1 - 1e-12)).all()


def test_where_the_lemma_slips() -> None:
    assert resolutions_for(np.array([3.0, 3.0]), 0.5, 1.0).tolist() == [3.0]  # the bound says none
    assert resolutions_for(np.array([1.0, 2.0]), 0.5, 1.0).tolist() == [2.0]
    assert resolutions_for(np.array([1.0, 2.0, 4.0]), 0.5, 1.0).tolist() == [4.0, 1.0]
    assert resolutions_for(np.array([1.0, 1e6, 1e12]), 0.5, 1.0).tolist() == [1e12, 1e6, 1.0]  # three sizes, three


def rows_of(sizes: list[float], low: float = 0.0) -> np.ndarray:
    rows = np.zeros((len(sizes), 6))
    rows[:] = low
    rows[:, 3] += sizes
    return rows


def test_sizes_of_zero_and_beyond_all_numbers() -> None:
    assert sizes_of(rows_of([0.0, 2.0])).tolist() == [2.0]
    assert sizes_of(rows_of([0.0, 2.0]), margin=0.5).tolist() == [0.5, 2.5]
    assert sizes_of(np.array([[-1.7e308, 0, 0, 1.7e308, 0, 0]])).tolist() == [np.finfo(float).max]
    assert sizes_of(np.empty((0, 6))).tolist() == []
    # Far away, a box counts as no smaller than what coordinates there can tell apart.
    assert sizes_of(np.array([[2.0**60, 0, 0, 2.0**60, 1e-9, 0]])).tolist() == [2.0**12]


def test_automatic_resolutions() -> None:
    resolutions, alpha = automatic_resolutions(rows_of([1.0, 1.7]), 0.0, None, 1.0)
    assert resolutions.tolist() == [1.7]
    assert alpha == 0.5
    resolutions, alpha = automatic_resolutions(rows_of([2.0**k for k in range(20)]), 0.0, None, 1.0)
    assert len(resolutions) <= MOST_LEVELS
    assert alpha < 0.5
    resolutions, alpha = automatic_resolutions(rows_of([2.0**k for k in range(11)]), 0.0, 0.5, 1.0)
    assert len(resolutions) == 6
    assert alpha == 0.5
    assert len(automatic_resolutions(rows_of([10.0**k for k in range(-300, 300)]), 0.0, None, 1.0)[0]) < 600


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (np.empty((0, 6)), 1.0),
        (np.zeros((5, 6)), 1.0),
        (np.tile(np.array([[0.0], [8.0]] * 4), (1, 6)), 4.0),
        (np.array([[-1.7e308] * 6, [1.7e308] * 6]), 1.0),
    ],
)
def test_boxes_without_size_get_cells_like_their_spacing(rows: np.ndarray, expected: float) -> None:
    resolutions, _ = automatic_resolutions(rows, 0.0, None, 1.0)
    assert resolutions.tolist() == pytest.approx([expected])


def surveyed(rows: np.ndarray, margin: float = 0.0, slack: float = 1.0) -> tuple[int, int]:
    """Boxes that are outside, and those that are everywhere."""
    resolutions = with_all_of_space(np.array([10.0, 1.0]))
    objects = HashedObjects(rows=rows, half_margin=half_margin(margin), resolutions=resolutions, alpha=0.5, beta=1.0)
    found = Survey(slack=slack)
    survey(objects.address, found.address)
    return found.outside, found.everywhere


def test_survey() -> None:
    assert surveyed(rows_of([10.0, 5.0, 1.0, 0.5, 0.0])) == (0, 0)
    assert surveyed(rows_of([3.0, 0.1, 39.0])) == (3, 0)
    assert surveyed(rows_of([3.0, 0.1, 39.0]), slack=2.0) == (2, 0)
    assert surveyed(rows_of([41.0, 1e300])) == (2, 2)
    assert surveyed(rows_of([39.0]), margin=3.0) == (1, 1)
    assert half_margin(0.0) == 0.0
    assert half_margin(5e-324) > 0.0
