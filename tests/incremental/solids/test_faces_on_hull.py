"""Faces on the hull, against rational arithmetic over all faces and all planes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impinge.convex.hull.convex_hull import ConvexHull
from impinge.incremental.solids.faces_on_hull import faces_on_hull
from impinge.lab.scenes import shapes
from impinge.mesh.mesh import Mesh


def volume(points) -> Fraction:
    a, b, c, d = ([Fraction(x) for x in point] for point in points)
    u, v, w = ([q - p for p, q in zip(a, other, strict=True)] for other in (b, c, d))
    return u[0] * (v[1] * w[2] - v[2] * w[1]) - u[1] * (v[0] * w[2] - v[2] * w[0]) + u[2] * (v[0] * w[1] - v[1] * w[0])


def expected(mesh: Mesh, hull: ConvexHull) -> list[int]:
    answer = []
    for triangle in mesh.triangles.tolist():
        for number, polygon in enumerate(hull.faces):
            plane = hull.vertices[polygon[:3]].tolist()
            if all(volume([*plane, corner]) == 0 for corner in triangle):
                answer.append(number)
                break
        else:
            answer.append(-1)
    return answer


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([(1, 1, 1), (1, 1, 1e-9), (1e9, 1, 1e-9), (1, 1e-200, 1)]))
def test_soups_on_a_grid_and_stretched_to_needles(seed, stretch):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 4, size=(12, 3)) * np.array(stretch, dtype=float)
    mesh = Mesh(points, rng.integers(0, 12, size=(12, 3)))
    hull = ConvexHull(mesh)
    if hull.dimension == 3:
        assert faces_on_hull(mesh, hull).tolist() == expected(mesh, hull)


@pytest.mark.parametrize("winding", [1, -1])
def test_needles_on_a_face_and_beside_it_by_an_ulp(winding):
    # Slivers on the top of a box; one of them has a corner an ulp below.
    box = shapes.box(1, 1, 1)
    below = np.nextafter(1.0, 0.0)
    points = np.concatenate([box.vertices, [[0.1, 0.5, 1], [0.9, 0.5, 1], [0.5, 0.5 + 1e-15, 1], [0.5, 0.5, below]]])
    mesh = Mesh(points, [*box.faces.tolist(), [8, 9, 10][::winding], [8, 9, 11][::winding]])
    found = faces_on_hull(mesh, ConvexHull(mesh))
    assert (found[:-1] >= 0).all()
    assert found[-1] == -1
