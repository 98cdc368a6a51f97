"""The order of space: a permutation in which neighbours are near."""

from __future__ import annotations

import numpy as np

from impinge.broadphase.spatial_order import spatial_order


def test_it_is_a_permutation() -> None:
    rng = np.random.default_rng(0)
    for count in (0, 1, 2, 7, 100):
        assert sorted(spatial_order(rng.normal(size=(count, 6))).tolist()) == list(range(count))
    assert spatial_order(np.zeros((4, 6))).tolist() != []


def test_octants_stay_together() -> None:
    corners = np.array([[x, y, z] for x in range(4) for y in range(4) for z in range(4)], dtype=np.float64)
    order = spatial_order(np.hstack([corners, corners + 1.0]))
    octants = (corners[order] >= 2).astype(int) @ [1, 2, 4]
    assert np.count_nonzero(np.diff(octants)) == 7


def test_steps_are_short_however_boxes_are_distributed() -> None:
    rng = np.random.default_rng(1)
    points = np.concatenate([rng.normal(size=(500, 3)), 1e30 + 1e20 * rng.normal(size=(500, 3))])
    order = spatial_order(np.hstack([points, points]))
    assert np.count_nonzero(np.diff(order >= 500)) == 1
