"""The hash table of triples, as the merging of equal positions uses it."""

from __future__ import annotations

import numpy as np
import pytest

from impinge.convex.hull.hull_polygons import hull_polygons


def leaders(points: np.ndarray) -> list[int]:
    first: dict[tuple[float, ...], int] = {}
    return [first.setdefault(tuple(point), i) for i, point in enumerate(points.tolist())]


@pytest.mark.parametrize("scale", [1.0, 2.0**-1074, 2.0**140, 1.0 / 3.0])
def test_every_point_knows_the_first_one_at_its_position(scale: float) -> None:
    rng = np.random.default_rng(1)
    for count, size in ((1, 1), (40, 2), (300, 5), (300, 2**20)):
        points = rng.integers(-size, size + 1, (count, 3)) * scale + 0.0
        found = hull_polygons(points, np.ones(count, dtype=np.bool_))[1]
        assert found.tolist() == leaders(points)


def test_points_that_are_not_used_lead_nobody() -> None:
    points = np.zeros((4, 3))
    points[2] = 1.0
    dimension, leader, source, *_ = hull_polygons(points, np.array([False, True, True, True]))
    assert leader.tolist() == [-1, 1, 2, 1]
    assert dimension == 1 and sorted(source.tolist()) == [1, 2]
