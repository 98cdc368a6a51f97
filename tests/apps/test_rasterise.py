"""The z-buffer against a plain one in numpy, and what it need not look at."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impinge.apps.clusters import Clusters, cluster_starts
from impinge.apps.rasterise import Camera, Layer, hidden, looking_from, rasterise, trace

FRONTAL = Camera(np.zeros(3), looking_from(0.0, 0.0), 2.0, 20, 20)
"""Looks along +y; ten pixels to the unit."""


def clusters_of(triangles: np.ndarray, size: int | None = None) -> Clusters:
    count = len(triangles)
    first = cluster_starts(count) if size is None else np.append(np.arange(0, count, size), count)
    return Clusters.of(triangles.reshape(-1, 3), np.arange(3 * count, dtype=np.int32).reshape(-1, 3), first)


def picture_of(camera: Camera, triangles: np.ndarray, size: int | None = None) -> Layer:
    clusters = clusters_of(triangles, size)
    return rasterise(camera, clusters, np.arange(len(clusters)))


def test_camera_keeps_right_and_up() -> None:
    camera = Camera(np.zeros(3), looking_from(0.0, 0.0), 2.0, 100, 50)
    centre, right, up, back = camera.project(np.array([[0.0, 0, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0]]))
    assert centre.tolist() == [50, 25, 0]
    assert right == pytest.approx([75, 25, 0])
    assert up == pytest.approx([50, 0, 0])
    assert back == pytest.approx([50, 25, 25])


@pytest.mark.parametrize("elevation", [-90.0, -20.0, 45.0, 90.0])
def test_camera_axes_are_a_rotation(elevation: float) -> None:
    axes = Camera(np.zeros(3), looking_from(30.0, elevation), 1.0, 10, 10).axes
    assert axes @ axes.T == pytest.approx(np.eye(3))
    assert np.linalg.det(axes) == pytest.approx(1.0)


def test_nearer_triangle_wins_and_edge_on_ones_are_invisible() -> None:
    camera = Camera(np.zeros(3), looking_from(0.0, 0.0), 2.0, 20, 20)
    far = np.array([[-1, 1, -1], [1, 1, -1], [0, 1, 1]], dtype=float)
    near = far * [0.5, 0, 0.5] + [0, -1, 0]
    edge_on = np.array([[0, -2, 0], [0, 2, 0], [0, -2, 1]], dtype=float)
    layer = picture_of(camera, np.stack([far, near, edge_on]))
    assert set(np.unique(layer.face)) == {-1, 0, 1}
    assert layer.face[10, 10] == 1
    assert layer.depth[10, 10] == pytest.approx(-10.0)
    assert np.array_equal(layer.seen, np.isfinite(layer.depth))


def test_triangles_far_off_the_picture_are_harmless() -> None:
    camera = Camera(np.zeros(3), looking_from(0.0, 0.0), 2.0, 20, 20)
    away = np.array([[[5, 0, 0], [6, 0, 0], [5, 0, 1]], [[-1e40, 0, 1e40], [-2e40, 0, 1e40], [-1e40, 0, 2e40]]])
    assert not picture_of(camera, away).seen.any()
    assert not picture_of(camera, np.empty((0, 3, 3))).seen.any()


def plain_depths(camera: Camera, triangles: np.ndarray) -> np.ndarray:
    """The nearest depth at the middle of each pixel, by barycentric coordinates."""
    y, x = np.mgrid[: camera.height, : camera.width] + 0.5
    depth = np.full((camera.height, camera.width), np.inf)
    for (ax, ay, az), (bx, by, bz), (cx, cy, cz) in camera.project(triangles):
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        if area == 0.0:
            continue
        a = ((bx - x) * (cy - y) - (by - y) * (cx - x)) / area
        b = ((cx - x) * (ay - y) - (cy - y) * (ax - x)) / area
        inside = (a >= 0.0) & (b >= 0.0) & (1.0 - a - b >= 0.0)
        depth = np.where(inside, np.minimum(depth, a * az + b * bz + (1.0 - a - b) * cz), depth)
    return depth


@given(st.integers(0, 10_000), st.integers(1, 5), st.sampled_from([0.2, 1.0, 4.0]))
@settings(max_examples=20)
def test_depths_are_those_of_a_plain_z_buffer(seed: int, size: int, extent: float) -> None:
    rng = np.random.default_rng(seed)
    triangles = rng.uniform(-1.2, 1.2, (12, 1, 3)) + extent * rng.uniform(-0.5, 0.5, (12, 3, 3))
    camera = Camera(np.zeros(3), looking_from(20.0, 30.0), 2.0, 27, 21)
    assert picture_of(camera, triangles, size).depth == pytest.approx(
        plain_depths(camera, triangles), rel=1e-4, abs=1e-3
    )


def test_neighbours_leave_no_gap() -> None:
    corners = np.array([[-1.5, 0, -1.5], [1.5, 0, -1.5], [1.5, 0, 1.5], [-1.5, 0, 1.5]])
    for turn in np.linspace(0.0, 2.0, 7):
        middle = 0.3 * np.array([np.cos(turn), 0.0, np.sin(turn)])
        fan = np.stack([[middle, corners[k], corners[(k + 1) % 4]] for k in range(4)])
        assert picture_of(FRONTAL, fan).seen.all()


def test_at_the_same_depth_the_first_triangle_wins_in_any_order_of_clusters() -> None:
    sheet = np.array([[-3, 0, -1], [3, 0, -1], [0, 0, 5]], dtype=float)
    behind = sheet + [0, 1, 0]
    slanted = np.array([[-3, 0, -1], [3, 0, -1], [0, -1, -5]], dtype=float)  # its cluster begins nearer
    assert (picture_of(FRONTAL, np.stack([sheet, behind, sheet, slanted]), 2).face[:10][FRONTAL.height // 4] == 0).all()


def moved_to_the_front(clusters: Clusters, cluster: int) -> Clusters:
    """Where the triangles of one cluster are not where its box is: if they are looked at, they are seen."""
    vertices = clusters.vertices.copy()
    rows = clusters.faces[clusters.first[cluster] : clusters.first[cluster + 1]]
    vertices[rows.ravel()] = np.tile([[-9.0, -5, -9], [9, -5, -9], [0, -5, 9]], (len(rows), 1))
    return Clusters(vertices, clusters.faces, clusters.first, clusters.boxes)


@pytest.mark.parametrize("away", [[0.0, 1, 0], [50, 0, 0], [0, 0, -50]])
def test_clusters_behind_or_beside_the_picture_are_not_looked_at(away: list[float]) -> None:
    sheet = np.array([[-9, 0, -9], [9, 0, -9], [0, 0, 9]], dtype=float)
    clusters = moved_to_the_front(clusters_of(np.stack([sheet, sheet + away]), 1), 1)
    assert (rasterise(FRONTAL, clusters, np.arange(2)).face == 0).all()


def test_hidden_points_and_what_is_in_front_of_none() -> None:
    left = np.array([[-9, 0, -9], [0, 0, -9], [0, 0, 99]], dtype=float)
    clusters = clusters_of(np.stack([left, left + [9, 3, 0]]), 1)
    depth = np.full((20, 20), -np.inf, dtype=np.float32)
    depth[10, [4, 6, 14]] = [5.0, -5.0, 5.0]  # behind, in front of, and beside the nearer triangle
    assert np.argwhere(hidden(FRONTAL, clusters, np.arange(2), depth.copy())).tolist() == [[10, 4]]
    depth[10, 4] = -np.inf
    spoiled = moved_to_the_front(clusters, 1)
    assert not hidden(FRONTAL, spoiled, np.arange(2), depth).any()


def test_trace_enters_the_nearest_point_of_segments() -> None:
    across = np.array([[-0.75, 1, 0.05], [0.75, 1, 0.05]])
    depth = trace(FRONTAL, np.stack([across, across - [0.5, 1, 0]]))
    assert np.unique(np.nonzero(depth < np.inf)[0]).tolist() == [9]
    assert depth[9, 2:10] == pytest.approx(np.zeros(8))
    assert depth[9, 14:17] == pytest.approx(np.full(3, 10.0))
    assert trace(FRONTAL, np.array([[[-1e30, 0, 0.05], [1e30, 0, 0.05]]])).shape == (20, 20)
    assert (trace(FRONTAL, np.empty((0, 2, 3))) == np.inf).all()
