"""Trees of axis-aligned boxes."""

from __future__ import annotations

import numpy as np

from impinge import Mesh
from impinge.bvh.layout import EMPTY, SURPLUS, WIDTH
from impinge.bvh.volumes.aabb import AABBTree


def test_boxes_are_the_bounds_of_what_is_below_them() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(200, 3, 3)) * 0.1 + rng.normal(size=(200, 1, 3))
    tree = AABBTree(Mesh(points.reshape(-1, 3), np.arange(600).reshape(-1, 3)))
    tree.validate()
    assert tree.rows.shape[1:] == (8, WIDTH)
    assert (tree.rows[:, 7] == 0.0).all()
    local = tree.local(tree.triangles)

    def below(ref: int) -> list[int]:
        entry = int(tree.child[ref])
        if entry < 0:
            return [] if entry == EMPTY else [~entry]
        return [place for slot in range(WIDTH) for place in below(entry * WIDTH + slot)]

    for ref in np.flatnonzero(tree.child != EMPTY).tolist():
        mine = local[below(ref)].reshape(-1, 3)
        rows = tree.rows[ref // WIDTH, :, ref % WIDTH].astype(np.float64)
        low, high = mine.min(axis=0), mine.max(axis=0)
        assert np.abs(rows[:3] - 0.5 * (low + high)).max() <= 2.0**-25
        assert (rows[3:6] >= 0.5 * (high - low)).all()
        half = 0.5 * (high - low)
        assert (rows[3:6] <= half * (1 + 2.0**-21) + SURPLUS * half.sum() + 2.0**-24).all()


def test_flat_boxes_stay_flat() -> None:
    points = np.random.default_rng(0).normal(size=(50, 3, 3)) * [1, 1, 0]
    tree = AABBTree(Mesh(points.reshape(-1, 3), np.arange(150).reshape(-1, 3)))
    used = (tree.child != EMPTY).reshape(-1, WIDTH)
    assert (tree.rows[:, 5] <= 3.01 * SURPLUS * tree.rows[:, 6])[used].all()
