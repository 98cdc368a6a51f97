"""Inside and outside by parity, exactly."""

from __future__ import annotations

import numpy as np
import pytest

from impinge.lab.scenes import shapes
from impinge.mesh.winding import point_inside


@pytest.mark.parametrize(
    ("point", "expected"),
    [
        ((1, 1, 1), True),  # the ray passes through an edge and a corner
        ((0.5, 1.0, 1.5), True),
        ((1e-300, 1, 1), True),
        ((-1e-300, 1, 1), False),
        ((3, 1, 1), False),
        ((-1, 2, 2), False),  # along an edge
        ((-1, 0, 0), False),
        ((0, 1, 1), False),  # on the surface
        ((1, 2, 1), False),
    ],
)
def test_points_and_a_box(point, expected):
    box = shapes.blocks((0, 1, 2), (0, 1, 2), (0, 1, 2))
    assert point_inside(np.array(point, dtype=float), box.triangles) is expected


def test_points_and_a_torus():
    torus = shapes.torus(3, 1)
    rng = np.random.default_rng(4)
    for point in rng.uniform(-4.5, 4.5, size=(300, 3)) * [1, 1, 0.25]:
        ring = np.hypot(point[0], point[1]) - 3.0
        tube = np.hypot(ring, point[2])
        if tube < 0.85 or tube > 1.0:
            assert point_inside(point, torus.triangles) == (tube < 0.85), point
