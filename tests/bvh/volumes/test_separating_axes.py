"""The separating axis test in eight lanes, against rational arithmetic on the same float32 numbers.

A box is the set c + Q u with |u_i| <= h_i, all numbers taken as they are.  The difference of two boxes is a zonotope
with six generators, and the cross products of all pairs of these are the normals of its facets; that stays true
in the limit of half lengths that are zero.  So 15 axes decide whether boxes meet, exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from impinge import Mesh
from impinge.bvh.build.box_fit import FITS
from impinge.bvh.layout import EMPTY, SURPLUS, WIDTH
from impinge.bvh.volumes import separating_axes
from impinge.bvh.volumes.aabb import AABBTree
from impinge.bvh.volumes.obb import OBBTree
from impinge.bvh.volumes.separating_axes import (
    aligned_boxes_in_order,
    aligned_boxes_meet,
    aligned_boxes_overlap,
    aligned_boxes_within,
    aligned_view,
    oriented_boxes_in_order,
    oriented_boxes_meet,
    oriented_boxes_overlap,
    oriented_boxes_within,
    oriented_view,
)
from impinge.kernels import lanes
from impinge.kernels.jit import kernel
from impinge.lab.hard_input import random_pose, triangle_pairs

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

U = 2.0**-24


# --------------------------------------------------------------------- the tested code


@kernel
def meeting_bits(aligned: Any, rows: Any, others: Any, bits: Any) -> None:
    """Bits for each node of rows (n, 16 or 8, 8) against its box in others (n, 17)."""
    out = np.zeros(WIDTH, dtype=np.float32)
    for n in range(len(others)):
        o = others[n]
        numbers = (
            o[0], o[1], o[2], o[3], o[4], o[5], o[6], o[7], o[8], o[9], o[10], o[11], o[12], o[13], o[14], o[15]
        )  # fmt: skip
        bits[n] = aligned_boxes_meet(rows, n, numbers, out) if aligned else oriented_boxes_meet(rows, n, numbers, out)


@kernel
def overlap_bits(aligned: Any, rows: Any, others: Any, bits: Any, depths: Any) -> None:
    out = np.zeros(WIDTH, dtype=np.float32)
    for n in range(len(others)):
        o = others[n]
        numbers = (
            o[0], o[1], o[2], o[3], o[4], o[5], o[6], o[7], o[8], o[9], o[10], o[11], o[12], o[13], o[14], o[15]
        )  # fmt: skip
        if aligned:
            bits[n] = aligned_boxes_overlap(rows, n, numbers, out)
        else:
            bits[n] = oriented_boxes_overlap(rows, n, numbers, out)
        for k in range(WIDTH):
            depths[n, k] = out[k]


@kernel
def bits_within(aligned: Any, rows: Any, others: Any, bits: Any, gaps: Any, in_order: Any, orders: Any) -> None:
    out = np.zeros(WIDTH, dtype=np.float32)
    for n in range(len(others)):
        o = others[n]
        numbers = (
            o[0], o[1], o[2], o[3], o[4], o[5], o[6], o[7], o[8], o[9], o[10], o[11], o[12], o[13], o[14], o[15], o[16]
        )  # fmt: skip
        if aligned:
            bits[n] = aligned_boxes_within(rows, n, numbers, out)
        else:
            bits[n] = oriented_boxes_within(rows, n, numbers, out)
        for k in range(WIDTH):
            gaps[n, k] = out[k]
        if aligned:
            in_order[n] = aligned_boxes_in_order(rows, n, numbers, out)
        else:
            in_order[n] = oriented_boxes_in_order(rows, n, numbers, out)
        for k in range(WIDTH):
            orders[n, k] = out[k]


class Boxes:
    """n boxes of float32 numbers."""

    def __init__(self, axes: Floats, centre: Floats, half: Floats) -> None:
        self.axes = axes.astype(np.float32)
        """(n, 3, 3), axes as columns."""
        self.centre = centre.astype(np.float32)
        self.half = half.astype(np.float32)

    def __len__(self) -> int:
        return len(self.half)

    def with_surplus(self, times: float = 1.0) -> Boxes:
        half = self.half.astype(np.float64)
        grown = (half + times * SURPLUS * half.sum(axis=1, keepdims=True)).astype(np.float32)
        return Boxes(self.axes, self.centre, np.nextafter(grown, np.float32(np.inf)))

    def rows(self, aligned: bool = False) -> Singles:
        """Eight boxes a node."""
        columns = [self.centre, self.half] if aligned else [self.axes.reshape(-1, 9), self.centre, self.half]
        table = np.concatenate([*columns, self.half.max(axis=1, keepdims=True)], axis=1)
        if aligned:
            table = np.pad(table, ((0, 0), (0, 1)))
        return np.ascontiguousarray(table.reshape(-1, WIDTH, table.shape[1]).swapaxes(1, 2))

    def numbers(self, margin: float = 0.0, reach: float = 0.0) -> Singles:
        """(n, 17) for the other side of the test."""
        rest = np.tile(np.array([margin, reach], dtype=np.float32), (len(self), 1))
        return np.concatenate([self.axes.reshape(-1, 9), self.centre, self.half, rest], axis=1)


def may_meet(eights: Boxes, others: Boxes, aligned: bool = False, margin: float = 0.0) -> NDArray[np.bool_]:
    """(n,) for n eights and n / 8 others, each of which is compared with eight."""
    bits = np.empty(len(others), dtype=np.int64)
    meeting_bits(aligned, eights.rows(aligned), others.numbers(margin), bits)
    return unpacked(bits)


def overlap_of(
    eights: Boxes, others: Boxes, aligned: bool = False, margin: float = 0.0
) -> tuple[NDArray[np.bool_], Floats]:
    """Whether boxes may meet, and how deep they are in each other."""
    bits = np.empty(len(others), dtype=np.int64)
    depths = np.empty((len(others), WIDTH), dtype=np.float32)
    overlap_bits(aligned, eights.rows(aligned), others.numbers(margin), bits, depths)
    return unpacked(bits), depths.ravel().astype(np.float64)


def gaps_of(
    eights: Boxes, others: Boxes, aligned: bool = False, margin: float = 0.0, reach: float = 0.0
) -> tuple[NDArray[np.bool_], Floats]:
    """Whether boxes may be within the reach, and the bounds of their squared distances."""
    bits = np.empty(len(others), dtype=np.int64)
    gaps = np.empty((len(others), WIDTH), dtype=np.float32)
    in_order, orders = np.empty_like(bits), np.empty_like(gaps)
    bits_within(aligned, eights.rows(aligned), others.numbers(margin, reach), bits, gaps, in_order, orders)
    assert np.array_equal(bits, in_order)
    assert np.array_equal(np.maximum(orders, 0.0), gaps)
    assert (orders[gaps == 0.0] <= -1.0).all()
    return unpacked(bits), gaps.ravel().astype(np.float64)


def unpacked(bits: NDArray[np.int64]) -> NDArray[np.bool_]:
    assert ((bits >= 0) & (bits < 256)).all()
    return (bits[:, None] >> np.arange(WIDTH) & 1).astype(np.bool_).ravel()


# --------------------------------------------------------------------------- the truth


def integers(array: NDArray[Any]) -> NDArray[Any]:
    """float32 numbers times 2**149, as Python integers."""
    return np.array([int(float(x) * 2.0**149) for x in array.ravel()], dtype=object).reshape(array.shape)


def truly_meet(a: Boxes, b: Boxes) -> NDArray[np.bool_]:
    """Whether boxes have a common point, exactly."""
    directions = [integers(box.axes[:, :, i]) for box in (a, b) for i in range(3)]
    half = [integers(box.half[:, i]) for box in (a, b) for i in range(3)]
    between = integers(b.centre) - integers(a.centre)
    meet = np.ones(len(a), dtype=np.bool_)
    for p, q in combinations(directions, 2):
        normal = np.stack([p[:, i - 2] * q[:, i - 1] - p[:, i - 1] * q[:, i - 2] for i in range(3)], axis=1)
        radii = sum(h * abs((normal * d).sum(axis=1)) for h, d in zip(half, directions, strict=True))
        # An axis and a half length carry the factor 2**149 each, the vector between centres one of them.
        meet &= (abs((normal * between).sum(axis=1)) * 2**149 <= radii).astype(np.bool_)
    return meet


def scale_of_touching(a: Boxes, b: Boxes) -> Floats:
    """By what the vector between the centres must be multiplied so that boxes just touch."""
    directions = [box.axes[:, :, i].astype(np.float64) for box in (a, b) for i in range(3)]
    half = [box.half[:, i].astype(np.float64) for box in (a, b) for i in range(3)]
    between = b.centre.astype(np.float64) - a.centre
    scale = np.full(len(a), np.inf)
    for p, q in combinations(directions, 2):
        normal = np.cross(p, q)
        radii = sum(h * np.abs((normal * d).sum(axis=1)) for h, d in zip(half, directions, strict=True))
        along = np.abs((normal * between).sum(axis=1))
        # Cross products of nearly parallel edges are all rounding here; face normals bound the result anyway.
        sound = np.linalg.norm(normal, axis=1) > 1e-5
        scale = np.minimum(scale, np.where(sound & (along > 0), radii / np.where(along > 0, along, 1.0), np.inf))
    return scale


def distances(a: Boxes, b: Boxes) -> Floats:
    """Distances of boxes, from above: those of two points that projected gradients have brought near."""
    generators = np.concatenate([a.axes, -b.axes], axis=2).astype(np.float64)
    limits = np.concatenate([a.half, b.half], axis=1).astype(np.float64)
    offset = a.centre.astype(np.float64) - b.centre
    place = np.zeros_like(limits)
    ahead, speed = place, 1.0
    for _ in range(800):  # Nesterov (1983); the matrix has norm sqrt(2)
        vector = offset + np.einsum("nij,nj->ni", generators, ahead)
        new = np.clip(ahead - 0.49 * np.einsum("nij,ni->nj", generators, vector), -limits, limits)
        faster = 0.5 + np.sqrt(0.25 + speed * speed)
        ahead = new + (speed - 1.0) / faster * (new - place)
        place, speed = new, faster
    return np.linalg.norm(offset + np.einsum("nij,nj->ni", generators, place), axis=1)


# ------------------------------------------------------------------------------- boxes


def rotations(rng: np.random.Generator, n: int) -> Floats:
    return np.array([random_pose(rng)[:3, :3] for _ in range(n)])


def half_lengths(rng: np.random.Generator, n: int, shape: str) -> Floats:
    half = rng.random((n, 3)) + 0.05
    if shape == "flat":
        half[np.arange(n), rng.integers(3, size=n)] = 0.0
    elif shape == "needle":
        half *= rng.permuted(np.tile([1.0, 1e-5, 1e-9], (n, 1)), axis=1)
    elif shape == "segment":
        half *= rng.permuted(np.tile([1.0, 0.0, 0.0], (n, 1)), axis=1)
    elif shape == "any size":
        half *= 10.0 ** rng.uniform(-6, 0, (n, 3))
    return half * 10.0 ** rng.uniform(-3, 0, (n, 1))


def turned_a_little(rng: np.random.Generator, axes: Floats) -> Floats:
    """Axes that are parallel to the given ones, in any order, up to an angle of 0 or 1e-9 to 1e-2."""
    n = len(axes)
    angle = 10.0 ** rng.uniform(-9, -2, (n, 1, 1)) * rng.integers(0, 2, (n, 1, 1))
    skew = rng.normal(size=(n, 3, 3))
    skew = (skew - skew.swapaxes(1, 2)) * angle
    small = np.eye(3) + skew + 0.5 * skew @ skew
    order = rng.permuted(np.tile(np.arange(3), (n, 1)), axis=1)
    return np.take_along_axis(small @ axes, order[:, None], axis=2)


SHAPES = ["thick", "flat", "needle", "segment", "any size"]


def boxes_that_nearly_touch(
    seed: int, n: int, shape: str, parallel: bool, aligned: bool = False
) -> tuple[Boxes, Boxes, Floats]:
    """8 n boxes, the n they are compared with repeated eight times, and by how much (of their distance) they miss."""
    rng = np.random.default_rng(seed)
    axes = np.repeat(rotations(rng, n), WIDTH, axis=0)
    other_half = np.concatenate([half_lengths(rng, n // 2, shape), half_lengths(rng, n - n // 2, "thick")])
    other = Boxes(axes, np.zeros((8 * n, 3)), np.repeat(other_half, WIDTH, axis=0))
    own_axes = turned_a_little(rng, axes) if parallel else rotations(rng, 8 * n)
    if aligned:
        own_axes = np.tile(np.eye(3), (8 * n, 1, 1))
    own = Boxes(own_axes, np.zeros((8 * n, 3)), half_lengths(rng, 8 * n, shape))
    # Towards a point of the sum of the boxes (in any direction thin boxes would touch only when they coincide), any
    # direction, or an axis.
    weights = rng.uniform(-1, 1, (2, 8 * n, 3))
    direction = sum(
        np.einsum("nij,nj->ni", box.axes, box.half * w) for box, w in zip((own, other), weights, strict=True)
    )
    choice = rng.random(8 * n)
    direction[choice < 0.2] = rng.normal(size=(8 * n, 3))[choice < 0.2]
    direction[choice > 0.8] = own_axes[choice > 0.8, :, 0]
    own.centre = direction.astype(np.float32)
    miss = rng.choice([-1.0, 1.0], 8 * n) * 10.0 ** rng.uniform(-8, -2, 8 * n)
    miss[rng.random(8 * n) < 0.3] = 0.0
    reach = scale_of_touching(own, other) * (1.0 + miss)
    own.centre = (own.centre * reach[:, None]).astype(np.float32)
    return own, other, miss


def single(boxes: Boxes) -> Boxes:
    """One of each eight equal boxes."""
    return Boxes(boxes.axes[::WIDTH], boxes.centre[::WIDTH], boxes.half[::WIDTH])


# ------------------------------------------------------------------------------- tests


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_boxes_that_meet_are_never_separated(shape: str, parallel: bool, aligned: bool) -> None:
    own, other, _ = boxes_that_nearly_touch(SHAPES.index(shape) + 10 * parallel, 40, shape, parallel, aligned)
    truth = truly_meet(own, other)
    found = may_meet(own.with_surplus(), single(other).with_surplus(), aligned)
    assert 0.1 < truth.mean() < 0.9
    assert not (truth & ~found).any()
    # The other way: boxes that stay apart with eight times the surplus are told apart.
    clear = ~truly_meet(own.with_surplus(8.0), other.with_surplus(8.0))
    assert clear.sum() > 10
    assert not (clear & found).any()
    found, _ = overlap_of(own.with_surplus(), single(other).with_surplus(), aligned)
    assert not (truth & ~found).any()
    assert not (clear & found).any()


def test_the_surplus_is_needed() -> None:
    """Rounding alone separates boxes that meet: the tests above have teeth."""
    wrong = 0
    for seed in range(3):
        own, other, _ = boxes_that_nearly_touch(seed, 100, "thick", False)
        wrong += np.count_nonzero(truly_meet(own, other) & ~may_meet(own, single(other)))
    assert wrong > 0


@pytest.mark.parametrize("family", ["needles", "posed at random", "nearly coplanar", "repeated vertices", "uniform"])
def test_axes_of_trees_are_orthonormal(family: str) -> None:
    """To 4 u, as is counted on; also for needles, whose normals are all rounding."""
    for triangles in triangle_pairs(np.random.default_rng(6), 60, family):
        mesh = Mesh(triangles.reshape(-1, 3), np.arange(180).reshape(-1, 3))
        for fit in FITS:
            rows = OBBTree(mesh, fit).rows.astype(np.float64)
            axes = rows[:, :9].reshape(-1, 3, 3, WIDTH)
            products = np.einsum("nijs,niks->nsjk", axes, axes)
            assert np.abs(products - np.eye(3)).max() <= 4 * U


@pytest.mark.parametrize("kind", [OBBTree, AABBTree])
def test_boxes_of_trees_carry_the_surplus(kind: type[OBBTree] | type[AABBTree]) -> None:
    rng = np.random.default_rng(4)
    points = rng.random((40, 1, 3)) + rng.normal(size=(40, 3, 3)) * 10.0 ** rng.uniform(-7, 0, (40, 1, 1))
    tree = kind(Mesh(points.reshape(-1, 3), np.arange(120).reshape(-1, 3)))
    leaves = np.flatnonzero((tree.child < 0) & (tree.child != EMPTY))
    assert len(leaves) == 40
    for ref in leaves:
        numbers = tree.rows[ref // WIDTH, :, ref % WIDTH].astype(np.float64)
        axes, centre, half = np.eye(3), numbers[0:3], numbers[3:6]
        if kind is OBBTree:
            axes, centre, half = numbers[:9].reshape(3, 3), numbers[9:12], numbers[12:15]
        needed = np.abs(np.linalg.solve(axes, (tree.local(tree.triangles[~tree.child[ref]]) - centre).T)).max(axis=1)
        assert (half >= needed + SURPLUS * needed.sum() * (1.0 - 1e-6)).all()


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_gap_is_no_more_than_the_distance(shape: str, parallel: bool, aligned: bool) -> None:
    own, other, _ = boxes_that_nearly_touch(20 + SHAPES.index(shape), 24, shape, parallel, aligned)
    rng = np.random.default_rng(1)
    spread = rng.choice([0.0, 0.001, 0.5, 10.0], len(own))
    size = (own.half + other.half).sum(axis=1)
    own.centre += (spread * size)[:, None].astype(np.float32) * rng.normal(size=(len(own), 3)).astype(np.float32)
    above = distances(own, other)
    _, gap = gaps_of(own.with_surplus(), single(other).with_surplus(), aligned)
    assert (gap >= 0.0).all()
    assert (np.sqrt(gap) <= above * (1.0 + 32 * U)).all()
    far = spread == 10.0
    assert np.median(np.sqrt(gap[far]) / above[far]) > 0.99
    # The same in bits: a reach below the gap is missed, the gap itself is not.
    for factor, expected in ((1.0, True), (0.99, False)):
        for gap_here in np.unique(gap[gap > 1e-20])[:3]:
            near, again = gaps_of(
                own.with_surplus(), single(other).with_surplus(), aligned, reach=float(np.float32(gap_here * factor))
            )
            assert np.array_equal(again, gap)
            assert (near[gap == gap_here] == expected).all()


@pytest.mark.parametrize("aligned", [False, True])
def test_margin_moves_the_boxes_together(aligned: bool) -> None:
    own, other, _ = boxes_that_nearly_touch(5, 20, "thick", False, aligned)
    own.centre *= np.float32(1.5)
    assert not may_meet(own.with_surplus(), single(other).with_surplus(), aligned).all()
    length = float(np.linalg.norm(own.centre.astype(np.float64), axis=1).max())
    assert may_meet(own.with_surplus(), single(other).with_surplus(), aligned, margin=length).all()
    _, gap = gaps_of(own, single(other), aligned, margin=length)
    assert (gap == 0.0).all()
    _, without = gaps_of(own, single(other), aligned)
    _, shrunk = gaps_of(own, single(other), aligned, margin=0.01)
    assert (shrunk <= without).all()
    assert (shrunk < without).any()


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("margin", [np.inf, np.nan])
def test_infinite_margin_never_separates(margin: float, aligned: bool) -> None:
    own, other, _ = boxes_that_nearly_touch(6, 4, "thick", False, aligned)
    own.centre *= np.float32(100.0)
    assert may_meet(own, single(other), aligned, margin=margin).all()
    near, gap = gaps_of(own, single(other), aligned, margin=margin)
    assert near.all()
    assert (gap == 0.0).all()


@pytest.mark.parametrize("aligned", [False, True])
def test_nan_never_separates(aligned: bool) -> None:
    own, other, _ = boxes_that_nearly_touch(7, 4, "thick", False, aligned)
    own.centre[:] = np.nan
    assert may_meet(own, single(other), aligned).all()
    assert gaps_of(own, single(other), aligned)[0].all()


@pytest.mark.parametrize("aligned", [False, True])
def test_overlap_is_relative_to_the_sizes(aligned: bool) -> None:
    """From -2 (one centre) over -1 (touching along a normal) and no further, whatever the size of the boxes."""
    own, other, _ = boxes_that_nearly_touch(11, 40, "thick", True, aligned)
    touching = own.centre.copy()
    normals_decide = np.abs(overlap_of(own, single(other), aligned)[1] + 1.0) < 0.02
    assert normals_decide.mean() > 0.5
    for part in (0.0, 0.25, 0.5, 0.75):
        own.centre = (touching * part).astype(np.float32)
        found, depth = overlap_of(own, single(other), aligned)
        assert found.all()
        assert np.abs(depth[normals_decide] + 2.0 - part).max() < 0.02
        assert (depth <= -1.0).all() and (depth >= -2.0).all()
    own.centre = touching * np.float32(100.0)
    found, depth = overlap_of(own, single(other), aligned)
    assert not found.any()
    assert (depth == -1.0).all()


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("strange", [np.inf, np.nan, 0.0])
def test_overlap_never_exceeds_that_of_touching_boxes(strange: float, aligned: bool) -> None:
    """A larger number would be taken for a distance, and the pair dropped."""
    own, other, _ = boxes_that_nearly_touch(12, 4, "thick", False, aligned)
    for name in ("centre", "half"):
        changed = Boxes(own.axes, own.centre, own.half)
        setattr(changed, name, np.full_like(own.half, strange))
        assert (overlap_of(changed, single(other), aligned)[1] <= -1.0).all()
    points = Boxes(own.axes, np.zeros_like(own.centre), np.zeros_like(own.half))
    assert (overlap_of(points, single(points), aligned)[1] <= -1.0).all()


@pytest.mark.parametrize("aligned", [False, True])
def test_empty_slots_meet_nothing(aligned: bool) -> None:
    """Their half lengths are far below zero."""
    own, other, _ = boxes_that_nearly_touch(8, 4, "thick", False, aligned)
    own.half[:] = -(2.0**60)
    assert not may_meet(own, single(other), aligned).any()
    near, gap = gaps_of(own, single(other), aligned, reach=1e30)
    assert not near.any()
    assert (gap > 2.0**100).all()


FORMULAS: dict[str, tuple[bool, Callable[[Any, Any], Any]]] = {
    "oriented meet": (False, lambda rows, n: ~separating_axes._separated(*oriented_view(rows, n), n[15])),
    "aligned meet": (True, lambda rows, n: ~separating_axes._separated(*aligned_view(rows, n), n[15])),
    "oriented within": (
        False,
        lambda rows, n: (np.ones(8, dtype=bool), separating_axes._squared_gap(*oriented_view(rows, n), n[15])),
    ),
    "aligned within": (
        True,
        lambda rows, n: (np.ones(8, dtype=bool), separating_axes._squared_gap(*aligned_view(rows, n), n[15])),
    ),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_compiled_code_and_numpy_agree_up_to_rounding(name: str) -> None:
    aligned, formula = FORMULAS[name]
    on_numpy = lanes._on_numpy(formula)
    own, other, miss = boxes_that_nearly_touch(9, 30, "any size", False, aligned)
    rows, numbers = own.rows(aligned), single(other).numbers()
    out = np.zeros((len(numbers), WIDTH), dtype=np.float32)
    bits = np.array([on_numpy(rows, n, numbers[n], out[n]) for n in range(len(numbers))])
    if "meet" in name:
        same = unpacked(bits) == may_meet(own, single(other), aligned)
        assert same[np.abs(miss) > 64 * U].all()
    else:
        expected = np.sqrt(out.ravel().astype(np.float64))
        length = np.linalg.norm(own.centre.astype(np.float64), axis=1)
        assert (np.abs(np.sqrt(gaps_of(own, single(other), aligned)[1]) - expected) <= 64 * U * length).all()


class Counted:
    """A number that counts what is done with it, as the paper counts operations."""

    operations: ClassVar[Counter[str]] = Counter()

    def _counted(self, operation: str) -> Counted:
        Counted.operations[operation] += 1
        return Counted()

    def __add__(self, _: object) -> Counted:
        return self._counted("arithmetic")

    __sub__ = __mul__ = __add__

    def __abs__(self) -> Counted:
        return self._counted("arithmetic")

    def __gt__(self, _: object) -> Counted:
        return self._counted("arithmetic")

    def __or__(self, _: object) -> Counted:
        return self._counted("or")


def test_operations_are_those_that_the_documentation_counts() -> None:
    Counted.operations.clear()
    view = oriented_view([Counted() for _ in range(16)], [Counted() for _ in range(17)])
    turning = Counted.operations["arithmetic"]
    separating_axes._separated(*view, Counted())
    everything = Counted.operations["arithmetic"]
    margins = 9 + 15
    assert turning == 18 + 45
    assert everything - turning - margins == 9 + 3 * 8 + 3 * 13 + 9 * 12 == 180 <= 200
    assert everything - margins == 243
    documentation = separating_axes.__doc__ or ""
    assert "243" in documentation
    assert "180" in documentation
