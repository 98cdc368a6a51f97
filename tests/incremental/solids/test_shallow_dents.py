"""Dents of some ulps count as hull, deeper ones do not."""

from __future__ import annotations

import numpy as np
import pytest

from impinge.incremental.solids.hull_surface import hull_surface
from impinge.incremental.solids.shallow_dents import faces_near_hull
from impinge.lab.scenes import shapes
from impinge.mesh.mesh import Mesh


@pytest.mark.parametrize(
    ("depth", "near"), [(0.0, True), (2.0**-52, True), (2.0**-50, True), (2.0**-40, False), (0.1, False)]
)
@pytest.mark.parametrize("offset", [0.0, 0.5])
def test_a_dent_in_the_top_of_a_box(depth, near, offset):
    box = shapes.blocks((0, 1, 2), (0, 1, 2), (0, 1))
    points = box.vertices.copy()
    middle = int(np.flatnonzero((points == [1, 1, 1]).all(axis=1))[0])
    points[:, 0] += offset
    points[middle, 2] -= depth
    mesh = Mesh(points, box.faces)
    at_middle = (box.faces == middle).any(axis=1)
    found = faces_near_hull(hull_surface(mesh))
    assert (found[at_middle] == near).all()
    assert found[~at_middle].all()
