"""Trees of spheres."""

from __future__ import annotations

import numpy as np
import pytest

from impinge import Mesh
from impinge.bvh.layout import EMPTY, SURPLUS, WIDTH
from impinge.bvh.volumes.sphere import SphereTree


def test_spheres_touch_the_farthest_vertex() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(100, 3, 3)) * 0.1 + rng.normal(size=(100, 1, 3))
    tree = SphereTree(Mesh(points.reshape(-1, 3), np.arange(300).reshape(-1, 3)))
    tree.validate()
    local = tree.local(tree.triangles)
    leaf = np.flatnonzero((tree.child < 0) & (tree.child != EMPTY))
    rows = tree.rows[leaf // WIDTH, :, leaf % WIDTH].astype(np.float64)
    farthest = np.linalg.norm(local[~tree.child[leaf]] - rows[:, None, :3], axis=2).max(axis=1)
    assert (rows[:, 3] >= farthest).all()
    assert (rows[:, 3] <= farthest * (1 + SURPLUS + 2.0**-21)).all()


def test_the_first_sphere_is_about_the_middle_of_everything() -> None:
    tree = SphereTree(Mesh([[1, 1, 1], [7, 1, 1], [7, 9, 1]], [[0, 1, 2]]))
    assert tree.origin.tolist() == [4.0, 5.0, 1.0]
    assert tree.rows[0, :3, 0].tolist() == [0.0, 0.0, 0.0]
    assert tree.rows[0, 3, 0] * tree.unit == pytest.approx(5.0, rel=2 * SURPLUS)
