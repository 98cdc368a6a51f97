"""Trimmed faces: the pieces in the cells cover the whole face, however they round."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from impinge.convex.hull.hull_handle import radius_of
from impinge.incremental.hierarchy.octree import octree_cuts
from impinge.incremental.hierarchy.trimming import MOST_CORNERS, TRIMMED, trim


@given(
    seed=st.integers(0, 2**32 - 1),
    offset=st.sampled_from([0.0, 1e3, 1e15]),
    shape=st.sampled_from(["uniform", "grid", "needle", "point"]),
)
def test_pieces_cover_the_face(seed: int, offset: float, shape: str) -> None:
    rng = np.random.default_rng(seed)
    triangle = rng.uniform(size=(3, 3)) if shape != "grid" else rng.integers(0, 3, size=(3, 3)) * 0.5
    if shape == "needle":
        triangle[2] = triangle[0] + 1e-14 * triangle[2]
    if shape == "point":
        triangle[:] = triangle[0]
    triangle = triangle + offset * rng.integers(-1, 2, size=3)
    low, high = triangle.min(axis=0), triangle.max(axis=0)
    cuts = octree_cuts(low, high, triangle, (3, 2, 2))
    outward = TRIMMED * radius_of(triangle)
    weights = rng.dirichlet(np.full(3, 0.5), size=60)
    samples = np.concatenate([weights @ triangle, triangle])
    covered = np.zeros(len(samples), dtype=bool)
    pieces, counts = np.zeros((1, MOST_CORNERS, 3)), np.zeros(1, dtype=np.int32)
    for cell in cuts.cells(low, high):
        trim(triangle[None], cell[0].copy(), cell[1].copy(), outward, pieces, counts)
        if counts[0] == 0:
            continue
        corners = pieces[0, : counts[0]]
        assert (corners >= cell[0] - 2.0 * outward).all()
        assert (corners <= cell[1] + 2.0 * outward).all()
        covered |= ((samples >= corners.min(axis=0) - outward) & (samples <= corners.max(axis=0) + outward)).all(axis=1)
    assert covered.all()


def test_a_face_in_general_position_has_a_polygon_in_a_cell() -> None:
    triangle = np.array([[[-2.0, -2.0, -2.0], [3.0, -2.0, 0.5], [-2.0, 3.0, 0.5]]])
    pieces, counts = np.zeros((1, MOST_CORNERS, 3)), np.zeros(1, dtype=np.int32)
    trim(triangle, np.full(3, -1.0), np.full(3, 1.0), 0.0, pieces, counts)
    assert 3 <= counts[0] <= 9
    trim(triangle, np.full(3, 5.0), np.full(3, 6.0), 0.0, pieces, counts)
    assert counts[0] == 0
