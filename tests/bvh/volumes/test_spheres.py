"""One sphere against eight, against rational arithmetic on the same float32 numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from impinge import Mesh
from impinge.bvh.layout import EMPTY, SURPLUS, WIDTH
from impinge.bvh.volumes.sphere import SphereTree
from impinge.bvh.volumes.spheres import spheres_in_order, spheres_meet, spheres_overlap, spheres_within
from impinge.kernels.jit import kernel

Singles = NDArray[np.float32]
U = 2.0**-24


@kernel
def meeting_bits(rows: Any, others: Any, bits: Any) -> None:
    out = np.zeros(WIDTH, dtype=np.float32)
    for n in range(len(others)):
        o = others[n]
        bits[n] = spheres_meet(rows, n, (o[0], o[1], o[2], o[3], o[4]), out)


@kernel
def overlap_bits(rows: Any, others: Any, bits: Any, depths: Any) -> None:
    out = np.zeros(WIDTH, dtype=np.float32)
    for n in range(len(others)):
        o = others[n]
        bits[n] = spheres_overlap(rows, n, (o[0], o[1], o[2], o[3], o[4]), out)
        for k in range(WIDTH):
            depths[n, k] = out[k]


@kernel
def bits_within(rows: Any, others: Any, bits: Any, gaps: Any, in_order: Any, orders: Any) -> None:
    out = np.zeros(WIDTH, dtype=np.float32)
    for n in range(len(others)):
        o = others[n]
        numbers = (o[0], o[1], o[2], o[3], o[4], o[5])
        bits[n] = spheres_within(rows, n, numbers, out)
        for k in range(WIDTH):
            gaps[n, k] = out[k]
        in_order[n] = spheres_in_order(rows, n, numbers, out)
        for k in range(WIDTH):
            orders[n, k] = out[k]


def unpacked(bits: NDArray[np.int64]) -> NDArray[np.bool_]:
    return (bits[:, None] >> np.arange(WIDTH) & 1).astype(np.bool_).ravel()


def rows_of(spheres: Singles) -> Singles:
    return np.ascontiguousarray(spheres.reshape(-1, WIDTH, 4).swapaxes(1, 2))


def may_meet(eights: Singles, others: Singles, margin: float = 0.0) -> NDArray[np.bool_]:
    bits = np.empty(len(others), dtype=np.int64)
    column = np.full((len(others), 1), margin, dtype=np.float32)
    meeting_bits(rows_of(eights), np.hstack([others, column]), bits)
    return unpacked(bits)


def overlap_of(eights: Singles, others: Singles) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    bits = np.empty(len(others), dtype=np.int64)
    depths = np.empty((len(others), WIDTH), dtype=np.float32)
    overlap_bits(rows_of(eights), np.hstack([others, np.zeros((len(others), 1), dtype=np.float32)]), bits, depths)
    return unpacked(bits), depths.ravel().astype(np.float64)


def gaps_of(
    eights: Singles, others: Singles, margin: float = 0.0, reach: float = 0.0
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    bits = np.empty(len(others), dtype=np.int64)
    gaps = np.empty((len(others), WIDTH), dtype=np.float32)
    columns = np.tile(np.array([margin, reach], dtype=np.float32), (len(others), 1))
    in_order, orders = np.empty_like(bits), np.empty_like(gaps)
    bits_within(rows_of(eights), np.hstack([others, columns]), bits, gaps, in_order, orders)
    assert np.array_equal(bits, in_order)
    assert np.array_equal(np.maximum(orders, 0.0), gaps)
    assert (orders[gaps == 0.0] <= -1.0).all()
    return unpacked(bits), gaps.ravel().astype(np.float64)


def with_surplus(spheres: Singles) -> Singles:
    grown = spheres.copy()
    grown[:, 3] = np.nextafter((spheres[:, 3] * (1.0 + SURPLUS)).astype(np.float32), np.float32(np.inf))
    return grown


def nearly_touching(seed: int, n: int, tiny: bool = False) -> tuple[Singles, Singles]:
    """8 n spheres and the n they nearly touch."""
    rng = np.random.default_rng(seed)
    other = np.hstack([rng.uniform(-1, 1, (n, 3)), rng.random((n, 1)) + 0.01]).astype(np.float32)
    radius = (rng.random(8 * n) * (10.0 ** rng.uniform(-9, 0, 8 * n) if tiny else 1.0)).astype(np.float32)
    direction = rng.normal(size=(8 * n, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    direction[::5] = np.eye(3)[rng.integers(3, size=len(direction[::5]))]
    repeated = np.repeat(other, WIDTH, axis=0).astype(np.float64)
    miss = rng.choice([-1, 0, 1], 8 * n) * 10.0 ** rng.uniform(-8, -2, 8 * n)
    centre = repeated[:, :3] + direction * ((repeated[:, 3] + radius) * (1 + miss))[:, None]
    return np.hstack([centre, radius[:, None]]).astype(np.float32), other


def slack(eights: Singles, others: Singles) -> list[Fraction]:
    """The square of the distance of the centres less that of the sum of the radii, exactly: positive if apart."""
    result = []
    for i, sphere in enumerate(eights.tolist()):
        other = others[i // WIDTH].tolist()
        square = sum((Fraction(sphere[k]) - Fraction(other[k])) ** 2 for k in range(3))
        result.append(square - (Fraction(sphere[3]) + Fraction(other[3])) ** 2)
    return result


@pytest.mark.parametrize("tiny", [False, True])
def test_spheres_that_meet_are_never_separated(tiny: bool) -> None:
    eights, others = nearly_touching(1, 100, tiny)
    truth = np.array([x <= 0 for x in slack(eights, others)])
    found = may_meet(with_surplus(eights), with_surplus(others))
    assert 0.2 < truth.mean() < 0.8
    assert not (truth & ~found).any()
    apart = np.array([x > 0 for x in slack(with_surplus(with_surplus(eights)), with_surplus(with_surplus(others)))])
    assert apart.sum() > 50
    assert not (apart & found).any()
    found, depth = overlap_of(with_surplus(eights), with_surplus(others))
    assert not (truth & ~found).any()
    assert not (apart & found).any()
    assert (depth <= -1.0).all()
    assert np.abs(depth + 1.0).max() < 0.02
    halfway = np.repeat(others, WIDTH, axis=0)
    halfway[:, :3] = (halfway[:, :3] + eights[:, :3]) / 2.0
    halfway[:, 3] = eights[:, 3]
    assert np.abs(overlap_of(halfway, others)[1] + 1.5).max() < 0.02


def test_spheres_of_trees_carry_the_surplus() -> None:
    rng = np.random.default_rng(5)
    points = rng.random((40, 1, 3)) + rng.normal(size=(40, 3, 3)) * 10.0 ** rng.uniform(-7, 0, (40, 1, 1))
    tree = SphereTree(Mesh(points.reshape(-1, 3), np.arange(120).reshape(-1, 3)))
    for ref in np.flatnonzero((tree.child < 0) & (tree.child != EMPTY)):
        *centre, radius = tree.rows[ref // WIDTH, :, ref % WIDTH].astype(np.float64)
        needed = np.linalg.norm(tree.local(tree.triangles[~tree.child[ref]]) - centre, axis=1).max()
        assert radius >= needed * (1.0 + SURPLUS * (1.0 - 1e-6))


@pytest.mark.parametrize("spread", [1.0, 1.01, 3.0, 1e6])
def test_gap_is_no_more_than_the_distance(spread: float) -> None:
    eights, others = nearly_touching(2, 60)
    eights[:, :3] *= np.float32(spread)
    _, gap = gaps_of(with_surplus(eights), with_surplus(others))
    repeated = np.repeat(others, WIDTH, axis=0).astype(np.float64)
    exact = np.linalg.norm(eights[:, :3] - repeated[:, :3], axis=1) - repeated[:, 3] - eights[:, 3]
    assert (np.sqrt(gap) <= np.maximum(exact, 0.0) * (1.0 + 4 * U)).all()
    if spread > 1.1:
        assert (np.sqrt(gap) >= exact - 1e-5 * np.linalg.norm(eights[:, :3], axis=1) - 1e-4).all()
    some = float(np.sort(gap)[len(gap) // 2])
    near, _ = gaps_of(with_surplus(eights), with_surplus(others), reach=some)
    assert np.array_equal(near, gap <= np.float32(some))


@pytest.mark.parametrize("margin", [np.inf, np.nan])
def test_infinite_margin_never_separates(margin: float) -> None:
    eights, others = nearly_touching(3, 4)
    eights[:, :3] += np.float32(100.0)
    assert not may_meet(eights, others).any()
    assert may_meet(eights, others, margin).all()
    near, gap = gaps_of(eights, others, margin)
    assert near.all()
    assert (gap == 0.0).all()
    assert may_meet(eights, others, 200.0).all()


def test_empty_slots_meet_nothing() -> None:
    eights, others = nearly_touching(4, 4)
    eights[:, 3] = -(2.0**60)
    assert not may_meet(eights, others).any()
    near, gap = gaps_of(eights, others, reach=1e30)
    assert not near.any()
    assert (gap > 2.0**100).all()
