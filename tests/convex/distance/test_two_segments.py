"""The nearest places of two segments: no other places are nearer, parallel ones included."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from impinge.convex.distance.two_segments import nearest_places
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.convex.search import ConvexSearch, effort
from impinge.convex.workspace import ConvexWorkspace
from impinge.kernels.jit import kernel

Floats = NDArray[np.float64]


@kernel
def places(u, v, r):
    return nearest_places(u, v, r)


def gap(u: Floats, v: Floats, r: Floats, s: float, t: float) -> float:
    return float(np.linalg.norm(r + s * u - t * v))


@pytest.mark.parametrize("tilt", [1.0, 1e-3, 1e-8, 1e-12, 1e-15, 0.0])
def test_no_other_places_are_nearer(tilt: float) -> None:
    rng = np.random.default_rng(1)
    steps = np.linspace(0.0, 1.0, 21)
    for _ in range(40):
        u, r = rng.normal(size=3), rng.normal(size=3) * 2.0
        v = u * rng.choice([-2.0, -1.0, 0.5, 1.0]) + tilt * rng.normal(size=3)
        s, t = places(tuple(u), tuple(v), tuple(r))
        assert 0.0 <= s <= 1.0
        assert 0.0 <= t <= 1.0
        least = min(gap(u, v, r, one, other) for one in steps for other in steps)
        assert gap(u, v, r, s, t) <= least + 1e-14


def test_segments_that_are_points() -> None:
    nothing, along, away = (0.0, 0.0, 0.0), (2.0, 0.0, 0.0), (-1.0, 1.0, 0.0)
    assert places(along, nothing, away) == (0.5, 0.0)
    assert places(nothing, along, (1.0, 1.0, 0.0)) == (0.0, 0.5)
    assert places(nothing, nothing, away) == (0.0, 0.0)


@pytest.mark.parametrize("method", ["vclip", "lin-canny"])
def test_one_step_of_gjk_proves_parallel_edges(method: str) -> None:
    """Boxes edge to edge, shifted along the edges: the simplex holds the common perpendicular."""
    box = ConvexHull([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-2.0, 2.0)])
    poses = np.tile(np.eye(4), (65, 1, 1))
    poses[:, :3, 3] = np.column_stack([np.full((65, 2), 3.0), np.linspace(-3.9, 3.9, 65)])
    for coherent in (False, True):
        work = ConvexWorkspace(coherent=coherent)
        values = ConvexSearch(box, box, method, work).distance(np.tile(np.eye(4), (65, 1, 1)), poses)[0]
        assert values == pytest.approx(np.sqrt(2.0))
        assert effort(work).corrected_walks == 0
