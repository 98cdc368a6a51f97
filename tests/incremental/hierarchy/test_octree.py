"""Both ways to cut a cell: the parts fill it, and every point has one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from impinge.incremental.hierarchy.median_octree import median_cuts
from impinge.incremental.hierarchy.octree import octree_cuts

WAYS = {"octree": octree_cuts, "median": median_cuts}


@pytest.mark.parametrize("way", WAYS)
@given(
    seed=st.integers(0, 2**32 - 1),
    parts=st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(1, 3)),
    scale=st.sampled_from([1.0, 1e-300, 1e40]),
)
def test_cells_fill_the_box_and_hold_their_points(
    way: str, seed: int, parts: tuple[int, int, int], scale: float
) -> None:
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 4, size=(rng.integers(1, 30), 3)) * rng.choice([scale, 0.0], size=3, p=[0.8, 0.2])
    low, high = points.min(axis=0), points.max(axis=0)
    cuts = WAYS[way](low, high, points, parts)
    assert cuts.parts == parts
    cells = cuts.cells(low, high)
    assert cells.shape == (np.prod(parts), 2, 3)
    assert (cells[:, 0] <= cells[:, 1]).all()
    where = cuts.locate(points)
    assert (points >= cells[where, 0]).all()
    assert (points <= cells[where, 1]).all()
    # Any point of the box is in a cell, also those between the given ones.
    others = low + (high - low) * rng.uniform(size=(20, 3))
    inside = cells[cuts.locate(others)]
    assert (others >= inside[:, 0]).all()
    assert (others <= inside[:, 1]).all()


def test_medians_share_points_out_evenly() -> None:
    points = np.random.default_rng(1).normal(size=(800, 3)) ** 3
    low, high = points.min(axis=0), points.max(axis=0)
    even = np.bincount(median_cuts(low, high, points, (2, 2, 2)).locate(points), minlength=8)
    assert even.tolist() == [100] * 8
    uniform = np.bincount(octree_cuts(low, high, points, (2, 2, 2)).locate(points), minlength=8)
    assert uniform.max() > 200
