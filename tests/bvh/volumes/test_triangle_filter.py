"""What the filters of triangles call certain is so, for exact coordinates anywhere within the margin."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from impinge.bvh.layout import WIDTH
from impinge.bvh.volumes.triangle_filter import (
    maybe_meeting,
    no_plane_separates,
    planes_within,
    surely_crossing,
    triangle_bounds,
)
from impinge.geometry.triangles.distance import triangle_distances
from impinge.geometry.triangles.intersection import DISJOINT, _contact_kinds
from impinge.kernels.jit import kernel
from impinge.lab.hard_input import FAMILIES, triangle_pairs
from impinge.results import ContactKind

Triangles = NDArray[np.float64]
Maker = Callable[[np.random.Generator, int], tuple[Triangles, Triangles]]


@kernel
def sort_lanes(corners, singles, planes, maybe, crossing):  # type: ignore[no-untyped-def]
    for i in range(len(singles)):
        x = singles[i]
        numbers = (x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9])
        planes[i] = no_plane_separates(corners, i, numbers, corners)
        maybe[i] = maybe_meeting(corners, i, numbers, corners)
        crossing[i] = surely_crossing(corners, i, numbers, corners)


@kernel
def bound_lanes(corners, singles, planes, near, bounds):  # type: ignore[no-untyped-def]
    for i in range(len(singles)):
        x = singles[i]
        numbers = (x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9], x[10])
        planes[i] = planes_within(corners, i, numbers, bounds[i])
        near[i] = triangle_bounds(corners, i, numbers, bounds[i])


class Answers(NamedTuple):
    """Of each pair, in its lane."""

    planes: NDArray[np.bool_]
    maybe: NDArray[np.bool_]
    crossing: NDArray[np.bool_]
    within_planes: NDArray[np.bool_]
    within: NDArray[np.bool_]
    bound: NDArray[np.float64]


def ask(a: Triangles, b: Triangles, margin: float, reach: float = np.inf) -> Answers:
    """Pair i in lane i % 8 of node i; the other lanes have triangles of other pairs."""
    count = len(a)
    rows, lanes = np.arange(count), np.arange(count) % WIDTH
    others = np.random.default_rng(1).integers(count, size=(count, WIDTH))
    others[rows, lanes] = rows
    corners = np.ascontiguousarray(a.reshape(count, 9)[others].transpose(0, 2, 1).astype(np.float32))
    singles = np.empty((count, 11), dtype=np.float32)
    singles[:, :9], singles[:, 9], singles[:, 10] = b.reshape(count, 9), margin, reach * reach
    bits = np.zeros((5, count), dtype=np.int64)
    bounds = np.zeros((count, WIDTH), dtype=np.float32)
    sort_lanes(corners, singles[:, :10].copy(), *bits[:3])
    bound_lanes(corners, singles, *bits[3:], bounds)
    truths = (bits >> lanes & 1).astype(bool)
    return Answers(*truths, np.sqrt(bounds[rows, lanes].astype(np.float64)))


def kinds_of(a: Triangles, b: Triangles) -> NDArray[np.int8]:
    kinds = np.empty(len(a), dtype=np.int8)
    _contact_kinds(a, b, kinds)
    return kinds


def margin_of(a: Triangles, b: Triangles) -> float:
    points = np.concatenate([a, b]).reshape(-1, 3)
    size = max(np.abs(points).max(), np.ptp(points, axis=0).max())
    return float(np.float32(32.0 * 2.0**-24 * size))


def in_single_precision(a: Triangles, b: Triangles, shift: float = 0.0) -> tuple[Triangles, Triangles]:
    return (a + shift).astype(np.float32).astype(np.float64), (b + shift).astype(np.float32).astype(np.float64)


# ---------------------------------------------------------------- families of pairs


def powers(rng: np.random.Generator, low: float, high: float, shape: tuple[int, ...]) -> NDArray[np.float64]:
    return 10.0 ** rng.uniform(low, high, shape)


def any_size(rng: np.random.Generator, k: int) -> tuple[Triangles, Triangles]:
    a, b = rng.uniform(-1, 1, (2, k, 3, 3)) * powers(rng, -5, 0, (2, k, 1, 1))
    return a, b + rng.normal(size=(k, 1, 3)) * powers(rng, -6, 0, (k, 1, 1))


def needles(rng: np.random.Generator, k: int) -> tuple[Triangles, Triangles]:
    a, b = any_size(rng, k)
    for t in (a, b):
        part = rng.random((k, 1))
        t[:, 2] = part * t[:, 0] + (1 - part) * t[:, 1] + rng.normal(size=(k, 3)) * powers(rng, -9, -2, (k, 1))
    return a, b


def nearly_parallel_edges(rng: np.random.Generator, k: int) -> tuple[Triangles, Triangles]:
    a, b = rng.uniform(-1, 1, (2, k, 3, 3))
    edge = a[:, 1] - a[:, 0]
    b[:, 0] = a[:, 0] + rng.normal(size=(k, 3)) * powers(rng, -6, -1, (k, 1)) + edge * rng.uniform(-1.5, 1.5, (k, 1))
    b[:, 1] = b[:, 0] + edge * rng.uniform(0.1, 2, (k, 1)) + rng.normal(size=(k, 3)) * powers(rng, -8, -1, (k, 1))
    return a, b


def nearly_coplanar(rng: np.random.Generator, k: int) -> tuple[Triangles, Triangles]:
    a, b = rng.uniform(-1, 1, (2, k, 3, 3))
    a[:, :, 2] = 0.0
    b[:, :, 2] = rng.normal(size=(k, 3)) * powers(rng, -8, -1, (k, 1)) * rng.integers(0, 2, (k, 1))
    b[:, :, 2] += powers(rng, -7, -1, (k, 1)) * rng.integers(0, 2, (k, 1))
    turn = np.linalg.qr(rng.normal(size=(k, 3, 3)))[0]
    return a @ turn, b @ turn


def nearly_touching(rng: np.random.Generator, k: int) -> tuple[Triangles, Triangles]:
    a, b = rng.uniform(-1, 1, (2, k, 3, 3)) * np.array([np.ones((k, 1, 1)), powers(rng, -3, 0, (k, 1, 1))])
    weights = rng.dirichlet([0.3, 0.3, 0.3], (2, k))
    weights[:, ::2, 2] = 0.0  # on edges
    weights /= weights.sum(axis=2, keepdims=True)
    on_a, on_b = (weights[0, :, :, None] * a).sum(axis=1), (weights[1, :, :, None] * b).sum(axis=1)
    return a, b + (on_a - on_b + rng.normal(size=(k, 3)) * powers(rng, -8, -2, (k, 1)))[:, None]


def hard(family: str) -> Maker:
    def make(rng: np.random.Generator, k: int) -> tuple[Triangles, Triangles]:
        a, b = triangle_pairs(rng, k, family)
        middle = np.concatenate([a, b], axis=1).mean(axis=1, keepdims=True)
        a, b = a - middle, b - middle
        size = np.maximum(np.abs(a), np.abs(b)).max(axis=(1, 2), keepdims=True)
        return a / np.where(size > 0, size, 1.0), b / np.where(size > 0, size, 1.0)

    return make


MAKERS: dict[str, Maker] = {
    "any size": any_size,
    "needles": needles,
    "nearly parallel edges": nearly_parallel_edges,
    "nearly coplanar": nearly_coplanar,
    "nearly touching": nearly_touching,
    **{f"hard: {family}": hard(family) for family in FAMILIES},
}


@pytest.mark.parametrize("family", list(MAKERS))
@pytest.mark.nojit_slow
def test_nothing_is_called_certain_that_is_not(family: str) -> None:
    rng = np.random.default_rng(21)
    for shift in (0.0, 3.0):
        a, b = in_single_precision(*MAKERS[family](rng, 2000), shift)
        margin = margin_of(a, b)
        answers = ask(a, b, margin)
        assert not (answers.maybe & ~answers.planes).any()
        apart, crossing = ~answers.maybe, answers.maybe & answers.crossing
        assert (answers.within & answers.within_planes).all()  # the reach is infinite
        for move in (0.0, 0.25):
            moved = []
            for t in (a, b):
                direction = rng.normal(size=t.shape)
                moved.append(t + move * margin * direction / np.linalg.norm(direction, axis=2, keepdims=True))
            kinds = kinds_of(*moved)
            assert (kinds[apart] == DISJOINT).all()
            assert (kinds[crossing] == ContactKind.CROSSING).all()
            assert (answers.bound <= triangle_distances(*moved)[0]).all()


@pytest.mark.nojit_slow
def test_ordinary_pairs_are_decided() -> None:
    a, b = in_single_precision(*np.random.default_rng(22).random((2, 4000, 3, 3)))
    answers = ask(a, b, margin_of(a, b))
    kinds, distances = kinds_of(a, b), triangle_distances(a, b)[0]
    assert np.mean(answers.maybe == (kinds != DISJOINT)) > 0.999
    assert np.mean((answers.maybe & answers.crossing) == (kinds == ContactKind.CROSSING)) > 0.99
    assert np.mean(answers.planes) < 0.8
    loss = (distances - margin_of(a, b) - answers.bound)[distances > 0.01] / distances[distances > 0.01]
    assert np.median(loss) < 2e-6
    assert np.quantile(loss, 0.99) < 1e-4


@pytest.mark.nojit_slow
def test_reach_is_compared_with_the_bound() -> None:
    a, b = in_single_precision(*np.random.default_rng(23).random((2, 2000, 3, 3)))
    distances = triangle_distances(a, b)[0]
    reach = float(np.float32(0.2))
    answers = ask(a, b, margin_of(a, b), reach)
    assert answers.within[distances <= reach].all()
    assert not answers.within[distances > reach * 1.001].any()
    assert answers.within_planes[distances <= reach].all()
    assert not answers.within_planes.all()


def one(a: object, b: object, margin: float = 2.0**-18, reach: float = np.inf) -> tuple[bool, bool, float]:
    """Whether a pair may meet, whether it crosses for sure, and the bound of its distance."""
    answers = ask(np.array([a], dtype=np.float64), np.array([b], dtype=np.float64), margin, reach)
    maybe = bool(answers.maybe[0])
    return maybe, maybe and bool(answers.crossing[0]), float(answers.bound[0])


FLAT = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize(
    ("b", "distance", "separated"),
    [
        ([[0.25, 0.25, 0.5], [0.25, 0.25, 1], [0.5, 0.25, 1]], 0.5, True),  # vertex over face
        ([[0.25, -0.5, -1], [0.25, -0.5, 1], [0.25, -1, 0]], 0.5, True),  # edge and edge
        ([[0.25, 0.25, 0.5]] * 3, 0.5, True),  # a point
        ([[2, 0, 0], [2, 0, 1], [2, 0, 0.5]], 1.0, True),  # a segment
        ([[0, 0, 0.5], [1, 0, 0.5], [0, 1, 0.5]], 0.5, True),  # parallel
        ([[2, 0, 0], [3, 0, 0], [2, 1, 0]], 1.0, False),  # in one plane
    ],
)
def test_by_hand(b: list[list[float]], distance: float, separated: bool) -> None:
    for first, second in ((FLAT, b), (b, FLAT)):
        maybe, _, bound = one(first, second)
        assert maybe != separated
        assert distance - 2.0**-17 <= bound <= distance


def test_two_points() -> None:
    maybe, _, bound = one([[0, 0, 0]] * 3, [[0.6, 0.8, 0]] * 3)
    assert maybe  # no normal and no edge: left to the exact test
    assert bound == pytest.approx(1.0, abs=2.0**-17)
    assert one([[0.5, 0.5, 0.5]] * 3, [[0.5, 0.5, 0.5]] * 3) == (True, False, 0.0)


def test_crossing_and_touching() -> None:
    through = [[0.25, 0.25, -1], [0.3, 0.2, 1], [2, 2.5, 1]]
    assert one(FLAT, through) == (True, True, 0.0)
    assert one(through, FLAT) == (True, True, 0.0)
    touching = [[0.25, 0.25, 0], [0.25, 0.25, 1], [2, 2, 1]]
    assert one(FLAT, touching) == (True, False, 0.0)
    assert one(FLAT, FLAT) == (True, False, 0.0)


@pytest.mark.parametrize("unused", [FLAT, [[0, 0, 0]] * 3])
def test_infinite_margin_decides_nothing(unused: list[list[float]]) -> None:
    far = [[0, 0, 1e6], [1, 0, 1e6], [0, 1, 1e6]]
    assert one(unused, far, np.inf) == (True, False, 0.0)
    assert one(unused, [[0.25, 0.25, -1], [0.25, 0.25, 1], [2, 2, 1]], np.inf) == (True, False, 0.0)


@pytest.mark.parametrize("size", [2.0**-140, 2.0**-70, 2.0**-40, 2.0**-12])
def test_tiny_triangles_a_unit_apart(size: float) -> None:
    """Products of their edges underflow: the bound is then smaller, not wrong."""
    small = np.array(FLAT) * size
    far = small + [0, 0, 1]
    _, crossing, bound = one(small, far)
    assert not crossing
    assert 0.99 <= bound <= 1.0
    _, crossing, bound = one(small, small + [0, 0, size])
    assert not crossing
    assert bound <= size


def test_sizes_up_to_the_limit() -> None:
    """Squares of gaps would overflow here."""
    large = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0.5]]) * 2.0**39
    away = large + np.array([0, 0, 2.0**38])
    distance = float(triangle_distances(large[None], away[None])[0][0])
    _, crossing, bound = one(large, away, 32.0 * 2.0**-24 * 2.0**40)
    assert not crossing
    assert 0.99 * distance <= bound <= distance
