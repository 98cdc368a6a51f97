"""The fast way to a chord: right wherever it answers, accurate, and not lost for ordinary pairs."""

from __future__ import annotations

from fractions import Fraction

import numba
import numpy as np
import pytest
from numba import config
from numpy.typing import NDArray

from impinge.geometry.contacts.construction import MOST_POINTS, _construct_carefully
from impinge.geometry.triangles.certain_crossing import PAIR_SHAPE, put_certain_crossing
from impinge.geometry.triangles.intersection import CROSSING
from impinge.kernels.jit import pointer_to
from impinge.lab import oracle
from impinge.lab.hard_input import FAMILIES, random_pose, triangle_pairs
from impinge.results import ContactKind

Floats = NDArray[np.float64]
ROUNDOFF = 2.0**-53
FLAT = [[0, 0, 0], [4, 0, 0], [0, 4, 0]]


def _both_ways(a, b, certain, fast_points, fast_normals, careful_points, careful_normals):
    points = np.empty((2 * MOST_POINTS, 3))
    pair = np.empty(PAIR_SHAPE)
    for i in range(len(a)):
        pair[0, :, :3] = a[i]
        pair[1, :, :3] = b[i]
        certain[i] = put_certain_crossing(pair, points, fast_normals[i])
        fast_points[i] = points[:2]
        _construct_carefully(pointer_to(pair), CROSSING, pointer_to(points), pointer_to(careful_normals[i]))
        careful_points[i] = points[:2]


_compiled = _both_ways if config.DISABLE_JIT else numba.njit(error_model="numpy")(_both_ways)


class BothWays:
    """The fast and the careful answer for pairs of triangles."""

    def __init__(self, a: Floats, b: Floats) -> None:
        k = len(a)
        self.certain = np.zeros(k, dtype=np.bool_)
        self.points, self.careful_points = np.zeros((k, 2, 3)), np.zeros((k, 2, 3))
        self.normals, self.careful_normals = np.zeros((k, 3)), np.zeros((k, 3))
        with np.errstate(all="ignore"):
            _compiled(a, b, self.certain, self.points, self.normals, self.careful_points, self.careful_normals)


def crossing(a: Floats, b: Floats, most: int = 120) -> tuple[Floats, Floats]:
    """The pairs that cross, according to the reference implementation."""
    rows = np.flatnonzero(oracle.kinds(a, b) == ContactKind.CROSSING)[:most]
    return a[rows], b[rows]


def uniform(rng: np.random.Generator) -> tuple[Floats, Floats]:
    return rng.random((500, 3, 3)), rng.random((500, 3, 3))


def posed(rng: np.random.Generator) -> tuple[Floats, Floats]:
    pose = random_pose(rng)
    a, b = uniform(rng)
    return a @ pose[:3, :3].T + pose[:3, 3], b @ pose[:3, :3].T + pose[:3, 3]


def axis_aligned(rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Faces of boxes: right triangles in planes across an axis, another one for each body."""
    k = 3000
    across = rng.integers(0, 3, k)
    triangles = []
    for axis in (across, (across + rng.integers(1, 3, k)) % 3):
        t = np.repeat(rng.random((k, 1, 3)), 3, axis=1)
        rows = np.arange(k)
        t[rows, 1, (axis + 1) % 3] += rng.uniform(-1.0, 1.0, k)
        t[rows, 2, (axis + 2) % 3] += rng.uniform(-1.0, 1.0, k)
        triangles.append(t)
    return triangles[0], triangles[1]


def strips(rng: np.random.Generator) -> tuple[Floats, Floats]:
    """A thousand times as long as wide, every which way."""
    triangles = []
    for _ in range(2):
        along, across = rng.normal(size=(2, 2000, 3))
        middle = 2e-4 * rng.random((2000, 3))
        triangles.append(np.stack([middle - along, middle + along, middle + along + 2e-3 * across], axis=1))
    return triangles[0], triangles[1]


def far_away(rng: np.random.Generator) -> tuple[Floats, Floats]:
    a, b = uniform(rng)
    return a + [1e6, -3e5, 2e6], b + [1e6, -3e5, 2e6]


def tiny(rng: np.random.Generator) -> tuple[Floats, Floats]:
    a, b = uniform(rng)
    return a * 2.0**-100, b * 2.0**-100


def huge(rng: np.random.Generator) -> tuple[Floats, Floats]:
    a, b = uniform(rng)
    return a * 2.0**149, b * 2.0**149


def off_by(points: Floats, exact: list[oracle.Point]) -> float:
    """The largest coordinate difference of a point from the nearest exact end of the chord."""
    return max(
        min(max(abs(float(Fraction(x) - y)) for x, y in zip(p, q, strict=True)) for q in exact) for p in points.tolist()
    )


def assert_accurate(a: Floats, b: Floats, found: BothWays) -> None:
    for i in np.flatnonzero(found.certain):
        exact = oracle.intersection(a[i], b[i])
        both = np.concatenate([a[i], b[i]])
        edge = max(np.ptp(a[i], axis=0).max(), np.ptp(b[i], axis=0).max())
        bound = (2.0**-45 + 5.0 * ROUNDOFF) * edge + ROUNDOFF * np.abs(both).max()
        assert len(exact) == 2
        assert off_by(found.points[i], exact) <= bound
        ends = [[float(x) for x in point] for point in exact]
        assert np.abs(np.sort(found.points[i], axis=0) - np.sort(ends, axis=0)).max() <= 2.0 * bound


@pytest.mark.parametrize(
    ("make", "share"),
    [(uniform, 0.95), (posed, 0.95), (axis_aligned, 0.95), (strips, 0.5), (far_away, 0.95), (tiny, 0.95), (huge, 0.95)],
)
@pytest.mark.nojit_slow
def test_ends_are_those_of_the_reference_and_few_pairs_are_in_doubt(make, share: float) -> None:  # type: ignore[no-untyped-def]
    a, b = crossing(*make(np.random.default_rng(12)))
    found = BothWays(a, b)
    assert len(a) >= 40
    assert found.certain.mean() >= share
    assert_accurate(a, b, found)


@pytest.mark.parametrize("family", list(FAMILIES))
@pytest.mark.nojit_slow
def test_never_wrong_on_hard_input(family: str) -> None:
    a, b = crossing(*triangle_pairs(np.random.default_rng(13), 400, family), most=60)
    assert_accurate(a, b, BothWays(a, b))


@pytest.mark.parametrize("make", [uniform, posed, axis_aligned, strips, far_away, tiny, huge])
@pytest.mark.nojit_slow
def test_agrees_with_the_careful_way(make) -> None:  # type: ignore[no-untyped-def]
    a, b = crossing(*make(np.random.default_rng(14)))
    found = BothWays(a, b)
    rows = found.certain
    edge = np.maximum(np.ptp(a, axis=1).max(axis=1), np.ptp(b, axis=1).max(axis=1))
    largest = np.maximum(np.abs(a).max(axis=(1, 2)), np.abs(b).max(axis=(1, 2)))
    # 2**-43 of the edge from geometry.triangles.crossing, a quarter of that from here, and the rounding of both.
    bound = 1.25 * 2.0**-43 * edge + 2.0 * ROUNDOFF * largest
    assert (np.abs(found.points - found.careful_points).max(axis=(1, 2)) <= bound)[rows].all()
    # 2**-30 for each of two normals and two ways; the sum of two votes is seldom short.
    assert np.abs(found.normals - found.careful_normals)[rows].max() < 2.0**-26
    assert np.abs(np.linalg.norm(found.normals[rows], axis=1) - 1.0).max() < 4.0 * ROUNDOFF


def test_swapping_the_triangles_reverses_the_normal_and_keeps_the_points() -> None:
    a, b = crossing(*uniform(np.random.default_rng(15)))
    found, swapped = BothWays(a, b), BothWays(b, a)
    rows = found.certain
    assert np.array_equal(rows, swapped.certain)
    assert np.array_equal(found.normals[rows], -swapped.normals[rows])
    assert np.array_equal(np.sort(found.points[rows], axis=1), np.sort(swapped.points[rows], axis=1))


@pytest.mark.parametrize(
    "b",
    [
        FLAT,
        [[1, 1, 0], [1, 1, 2], [2, 1, 2]],
        [[0, 0, 0], [4, 0, 0], [0, 0, 4]],
        [[1, 1, -1], [1, 1, 1], [1, 1, 1]],
        [[1, 1, -1], [1, 1, 0], [2, 1, 1]],
        [[1, 1, 0]] * 3,
        [[1, 1, 1], [2, 1, 1], [1, 2, 2]],
        [[2, 0, -1], [2, 0, 1], [2, 2, 0]],
    ],
)
def test_special_positions_are_left_to_the_careful_way(b: list[list[float]]) -> None:
    found = BothWays(np.array([FLAT], dtype=np.float64), np.array([b], dtype=np.float64))
    assert not found.certain[0]
    assert not BothWays(np.array([b], dtype=np.float64), np.array([FLAT], dtype=np.float64)).certain[0]


def test_shallow_edges_are_left_to_the_careful_way() -> None:
    rng = np.random.default_rng(16)
    slope = 1e-9 * rng.random((50, 1))
    b = np.array([[[-1.0, 1.0, 0.0], [9.0, 1.0, 0.0], [1.0, 9.0, 0.0]]] * 50)
    b[:, :, 2] = slope * [[-1.0, 1.0, 1.5]]
    assert not BothWays(np.array([FLAT] * 50, dtype=np.float64), b).certain.any()
