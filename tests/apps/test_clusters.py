"""Clusters hold every triangle once, in boxes that are small."""

from __future__ import annotations

import numpy as np

from impinge.apps.clusters import Clusters, cluster_starts, curve_order


def test_every_triangle_is_in_one_cluster_and_in_its_box() -> None:
    rng = np.random.default_rng(5)
    vertices = rng.normal(size=(300, 3))
    faces = rng.integers(0, 300, (500, 3)).astype(np.int32)
    order = curve_order(vertices, faces)
    assert np.array_equal(np.sort(order), np.arange(500))
    clusters = Clusters.of(vertices, faces[order], cluster_starts(500))
    assert clusters.first[0] == 0
    assert clusters.first[-1] == 500
    assert (np.diff(clusters.first) > 0).all()
    for low, high, start, end in zip(*clusters.boxes.swapaxes(0, 1), clusters.first, clusters.first[1:], strict=False):
        corners = vertices[clusters.faces[start:end]].reshape(-1, 3)
        assert np.array_equal(corners.min(axis=0), low)
        assert np.array_equal(corners.max(axis=0), high)


def test_clusters_of_a_shuffled_grid_are_compact() -> None:
    x, y = np.divmod(np.random.default_rng(2).permutation(64 * 64), 64)
    corner = np.stack([x, y, np.zeros(64 * 64)], axis=1)
    vertices = (corner[:, None] + [[0, 0, 0], [1, 0, 0], [0, 1, 0]]).reshape(-1, 3)
    faces = np.arange(3 * 64 * 64, dtype=np.int32).reshape(-1, 3)
    boxes = Clusters.of(vertices, faces[curve_order(vertices, faces)], cluster_starts(len(faces))).boxes
    assert np.ptp(boxes, axis=1)[:, :2].mean() < 12.0  # in the order given it would be about 62


def test_no_triangles_and_triangles_at_one_place() -> None:
    none, point = np.empty((0, 3), dtype=np.int32), np.zeros((1, 3))
    assert len(curve_order(np.empty((0, 3)), none)) == 0
    assert len(Clusters.of(np.empty((0, 3)), none, cluster_starts(0))) == 0
    assert curve_order(point, np.zeros((3, 3), dtype=np.int32)).tolist() == [0, 1, 2]
