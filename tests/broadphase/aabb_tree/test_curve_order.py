"""The order of objects along a curve, class by class."""

from __future__ import annotations

import numpy as np
import pytest

from impinge.broadphase.aabb_tree.curve_order import CLASSES, curve_order


def cubes(middles: np.ndarray, size: float | np.ndarray = 1.0) -> np.ndarray:
    half = np.broadcast_to(size, len(middles))[:, None] / 2.0
    return np.hstack([middles - half, middles + half])


@pytest.mark.parametrize("count", [0, 1, 2, 7, 300])
def test_every_chosen_object_comes_once(count: int) -> None:
    rng = np.random.default_rng(count)
    rows = cubes(rng.normal(size=(400, 3)), 10.0 ** rng.uniform(-9, 3, size=400))
    chosen = np.sort(rng.permutation(400)[:count])
    order, starts = curve_order(rows, chosen)
    assert sorted(order.tolist()) == chosen.tolist()
    assert starts[0] == 0 and starts[CLASSES] == count and (np.diff(starts) >= 0).all()


def test_sizes_of_a_class_are_within_a_factor_of_four() -> None:
    rng = np.random.default_rng(1)
    sizes = 4.0 ** rng.uniform(0, 12, size=500)
    order, starts = curve_order(cubes(rng.normal(size=(500, 3)), sizes), np.arange(500))
    for kind in range(CLASSES - 1):
        here = sizes[order[starts[kind] : starts[kind + 1]]]
        assert here.size == 0 or here.max() < 4.0 * here.min() * (1.0 + 1e-9)
    assert starts[1] > 0, "the largest boxes are in the first class"


def test_neighbours_on_the_curve_are_neighbours_in_space() -> None:
    middles = np.stack(np.meshgrid(*[np.arange(8.0)] * 3), axis=-1).reshape(-1, 3)
    shuffled = np.random.default_rng(2).permutation(middles)
    order, _ = curve_order(cubes(shuffled), np.arange(len(shuffled)))
    runs = shuffled[order].reshape(-1, 8, 3)
    assert (np.ptp(runs, axis=1) == 1.0).all(), "every run of eight is a block of 2 x 2 x 2"


def test_one_that_is_far_away_does_not_spoil_the_order() -> None:
    middles = np.random.default_rng(3).uniform(size=(512, 3))
    middles[100] = 1e3
    order, _ = curve_order(cubes(middles, 0.01), np.arange(512))
    runs = np.delete(middles[order], order.tolist().index(100), axis=0)[:504].reshape(-1, 8, 3)
    assert np.median(np.ptp(runs, axis=1)) < 0.4


@pytest.mark.parametrize("scale", [1e-300, 1e300, 0.0])
def test_tiny_huge_and_coincident_boxes(scale: float) -> None:
    rows = cubes(np.random.default_rng(4).normal(size=(50, 3)) * scale, scale)
    assert sorted(curve_order(rows, np.arange(50))[0].tolist()) == list(range(50))
