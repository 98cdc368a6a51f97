"""Hard pairs of triangles, by family: the input on which inexact collision tests fail.

A family is a function of a seeded generator and a number k; it returns two arrays
(k, 3, 3).  ``FAMILIES`` documents the mix.  Pairs of small hard solids are made in
``impinge.lab.hard_solids``.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.geometry.pose import posed_vertices

Triangles = NDArray[np.float64]
Pairs = tuple[Triangles, Triangles]
Maker = Callable[[np.random.Generator, int], Pairs]


class Family(NamedTuple):
    make: Maker
    share: float
    """Its part of the mix; what is cheap to check has the larger part."""
    what: str


# ---------------------------------------------------------------- poses


def _exact_rotations() -> NDArray[np.float64]:
    """The 24 rotations by multiples of 90 degrees."""
    matrices = []
    for axes, signs in product(permutations(range(3)), product((1.0, -1.0), repeat=3)):
        matrix = np.eye(3)[list(axes)] * np.array(signs)[:, None]
        if np.linalg.det(matrix) > 0:
            matrices.append(matrix)
    return np.array(matrices)


EXACT_ROTATIONS = _exact_rotations()


def quarter_turn(rng: np.random.Generator, largest_offset: int = 0) -> NDArray[np.float64]:
    """A pose with an exact rotation by a multiple of 90 degrees and an integer translation."""
    pose = np.eye(4)
    pose[:3, :3] = EXACT_ROTATIONS[rng.integers(24)]
    pose[:3, 3] = rng.integers(-largest_offset, largest_offset + 1, 3)
    return pose


def random_pose(rng: np.random.Generator, largest_offset: float = 1.0) -> NDArray[np.float64]:
    """A pose with a uniform random rotation, orthonormal up to rounding."""
    w, x, y, z = (q := rng.normal(size=4)) / np.linalg.norm(q)
    pose = np.eye(4)
    pose[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    pose[:3, 3] = rng.uniform(-largest_offset, largest_offset, 3)
    return pose


def _posed(pose: NDArray[np.float64], triangles: Triangles) -> Triangles:
    return posed_vertices(pose, np.ascontiguousarray(triangles.reshape(-1, 3))).reshape(-1, 3, 3)


# ---------------------------------------------------------------- families


def _grid(size: int) -> Maker:
    def make(rng: np.random.Generator, k: int) -> Pairs:
        points = rng.integers(0, size + 1, (2, k, 3, 3)).astype(np.float64)
        return points[0], points[1]

    return make


grid2 = _grid(2)
grid4 = _grid(4)


def coplanar_grid(rng: np.random.Generator, k: int) -> Pairs:
    """Grid points of one random lattice plane; every fourth pair has one vertex lifted out of it."""
    steps = rng.integers(-2, 3, (k, 1, 2, 3))
    size = rng.integers(2, 5)
    counts = rng.integers(0, size + 1, (k, 6, 2, 1))
    points = (counts * steps).sum(axis=2)
    lifted = np.flatnonzero(rng.random(k) < 0.25)
    points[lifted, rng.integers(6, size=len(lifted))] += rng.integers(-1, 2, (len(lifted), 3))
    points = points.astype(np.float64)
    return points[:, :3], points[:, 3:]


def repeated(rng: np.random.Generator, k: int) -> Pairs:
    """Grid triangles that are segments or points: repeated vertices, or three points of a line."""
    pairs = rng.integers(0, 3, (2, k, 3, 3)).astype(np.float64)
    for triangles in pairs:
        choice = rng.random(k)
        segment, point, collinear = choice < 0.35, choice > 0.9, (choice > 0.35) & (choice < 0.55)
        triangles[segment, 2] = triangles[segment, 0]
        triangles[point] = triangles[point, :1]
        triangles[collinear, 2] = 2 * triangles[collinear, 1] - triangles[collinear, 0]
    order = rng.permuted(np.tile(np.arange(3), (2, k, 1)), axis=2)
    pairs = np.take_along_axis(pairs, order[..., None], axis=2)
    return pairs[0], pairs[1]


def uniform(rng: np.random.Generator, k: int) -> Pairs:
    """Random triangles in the unit cube."""
    points = rng.random((2, k, 3, 3))
    return points[0], points[1]


def shared(rng: np.random.Generator, k: int) -> Pairs:
    """One or two common vertices, or a vertex on (or, by rounding, beside) an edge or a face of the other."""
    a, b = uniform(rng, k)
    a, b = a * rng.choice([1.0, 100.0]), b.copy()
    rows = np.arange(k)
    first, second = rng.integers(3, size=k), rng.integers(3, size=k)
    b[rows, first] = a[rows, second]
    both = rng.random(k) < 0.4
    b[rows[both], (first[both] + 1) % 3] = a[rows[both], (second[both] + rng.integers(1, 3, both.sum())) % 3]
    middle = rng.random(k) < 0.3
    weights = rng.choice([[0.5, 0.5, 0.0], [0.25, 0.75, 0.0], [0.25, 0.25, 0.5], [0.375, 0.5, 0.125]], size=k)
    b[rows[middle], first[middle]] = (weights[:, :, None] * a).sum(axis=1)[middle]
    return a, b


def needles(rng: np.random.Generator, k: int) -> Pairs:
    """A needle or sliver of aspect 1e8 to 1e15, and a triangle or needle that passes through or near it."""
    a, b = _needle(rng, k), np.where(rng.random((k, 1, 1)) < 0.5, _needle(rng, k), rng.random((k, 3, 3)))
    # Bring a point of b onto a point of a (mostly of an edge, or a vertex), up to rounding and in part
    # up to the width of the needle.
    target, source = (_weighted_corners(rng, triangles) for triangles in (a, b))
    miss = rng.normal(size=(k, 3)) * 10.0 ** rng.uniform(-16, -7, (k, 1)) * rng.integers(0, 2, (k, 1))
    return a, b + (target - source + miss)[:, None]


def _weighted_corners(rng: np.random.Generator, triangles: Triangles) -> Triangles:
    """A random point of each triangle: inside, on an edge, or a vertex."""
    weights = rng.random((len(triangles), 3)) * (rng.random((len(triangles), 3)) < 0.6)
    weights[weights.sum(axis=1) == 0.0, 0] = 1.0
    weights /= weights.sum(axis=1, keepdims=True)
    points: Triangles = (weights[:, :, None] * triangles).sum(axis=1)
    return points


def _needle(rng: np.random.Generator, k: int) -> Triangles:
    start, direction = rng.random((k, 3)), rng.normal(size=(k, 3))
    # 0 or 1: the short edge is at one end (needle); between: the flat corner is in the middle (sliver).
    place = rng.choice([0.0, 1.0, 0.5, 0.3], size=(k, 1))
    width = 10.0 ** rng.uniform(-15, -8, (k, 1))
    third = start + place * direction + width * rng.normal(size=(k, 3))
    corners = np.stack([start, start + direction, third], axis=1)
    return np.take_along_axis(corners, rng.permuted(np.tile(np.arange(3), (k, 1)), axis=1)[..., None], axis=1)


def one_ulp(rng: np.random.Generator, k: int) -> Pairs:
    """Grid or sharing pairs of which one or two coordinates are moved by one ulp."""
    parts = [grid2(rng, k), coplanar_grid(rng, k), shared(rng, k), repeated(rng, k)]
    source = rng.integers(len(parts), size=k)
    both = np.array([np.stack([a, b], axis=1) for a, b in parts])[source, np.arange(k)]
    # 0 has subnormal neighbours: move away from it in half of the pairs, exactly.
    both += rng.choice([0.0, 1.0, 3.0], size=(k, 1, 1, 1)) * (source != 2)[:, None, None, None]
    flat = both.reshape(k, 18)
    for _ in range(int(rng.integers(1, 3))):
        where = rng.integers(18, size=k)
        flat[np.arange(k), where] = np.nextafter(flat[np.arange(k), where], rng.choice([-np.inf, np.inf], size=k))
    return flat[:, :9].reshape(k, 3, 3), flat[:, 9:].reshape(k, 3, 3)


def far_away(rng: np.random.Generator, k: int) -> Pairs:
    """Grid and random pairs, moved by 1e6 or 2**40 along each axis (random ones are rounded there)."""
    a, b = _any(rng, k, (grid2, grid4, coplanar_grid, repeated, uniform, shared))
    offset = rng.choice([1e6, -1e6, 2.0**40, -(2.0**40), 123456.789], size=(k, 1, 3))
    return a + offset, b + offset


def scaled_by_ten(rng: np.random.Generator, k: int) -> Pairs:
    """Grid pairs times a number of 1e-9 to 1e9: what touched is now off by roundings."""
    a, b = _any(rng, k, (grid2, grid4, coplanar_grid, repeated))
    scale = 10.0 ** rng.uniform(-9, 9, (k, 1, 1))
    round_scale = 10.0 ** rng.integers(-9, 10, (k, 1, 1))
    scale = np.where(rng.random((k, 1, 1)) < 0.5, scale, round_scale)
    return a * scale, b * scale


def scaled_by_two(rng: np.random.Generator, k: int) -> Pairs:
    """Grid pairs times 2**-1070 to 2**145, exactly: subnormal to the largest allowed coordinates."""
    a, b = _any(rng, k, (grid2, grid4, coplanar_grid, repeated))
    exponents = rng.choice([-1070, -1000, -500, -200, -100, -30, 30, 100, 140], size=(k, 1, 1))
    exponents += rng.integers(-2, 6, (k, 1, 1))
    return np.ldexp(a, exponents), np.ldexp(b, exponents)


def wild_exponents(rng: np.random.Generator, k: int) -> Pairs:
    """Each coordinate has its own magnitude, from 1e-12 to 1e12, or is zero."""
    points = rng.choice([-1.0, 0.0, 1.0, 1.0], size=(2, k, 3, 3)) * np.exp2(rng.uniform(-40, 40, (2, k, 3, 3)))
    rounded = np.exp2(np.round(np.log2(np.maximum(np.abs(points), 1e-30)))) * np.sign(points)
    points = np.where(rng.random((2, k, 1, 1)) < 0.5, points, rounded)
    return points[0], points[1]


def nearly_coplanar(rng: np.random.Generator, k: int) -> Pairs:
    """Two triangles in a common oblique plane up to the rounding of their coordinates."""
    frame = rng.normal(size=(k, 1, 2, 3))
    weights = np.where(rng.random((k, 1, 1)) < 0.5, rng.random((k, 6, 2)), rng.integers(0, 4, (k, 6, 2)) / 3.0)
    points = (weights[..., None] * frame).sum(axis=2) + rng.normal(size=(k, 1, 3))
    return points[:, :3], points[:, 3:]


def posed_at_random(rng: np.random.Generator, k: int) -> Pairs:
    """Touching grid pairs under one random pose, with the rounding of the contract."""
    pairs = _any(rng, k, (grid2, grid4, coplanar_grid, repeated))
    return _posed_in_groups(pairs, lambda: (random_pose(rng, float(rng.choice([1.0, 1e3]))),) * 2)


def posed_by_quarters(rng: np.random.Generator, k: int) -> Pairs:
    """Grid pairs under two exact rotations by multiples of 90 degrees and integer translations."""
    # About the middle of a small grid, or turned triangles would seldom meet.
    a, b = _any(rng, k, (grid2, repeated))
    return _posed_in_groups((a - 1.0, b - 1.0), lambda: (quarter_turn(rng), quarter_turn(rng, 1)))


def _posed_in_groups(pairs: Pairs, poses: Callable[[], tuple[Any, Any]]) -> Pairs:
    a, b = pairs
    # One pose for up to 64 pairs keeps the making cheaper than the checking.
    for start in range(0, len(a), 64):
        group = slice(start, start + 64)
        pose_a, pose_b = poses()
        a[group], b[group] = _posed(pose_a, a[group]), _posed(pose_b, b[group])
    return a, b


def _any(rng: np.random.Generator, k: int, makers: tuple[Maker, ...]) -> Pairs:
    """Each pair from a random one of the families."""
    source = rng.integers(len(makers), size=k)
    a, b = np.empty((k, 3, 3)), np.empty((k, 3, 3))
    for number, make in enumerate(makers):
        rows = np.flatnonzero(source == number)
        a[rows], b[rows] = make(rng, len(rows))
    return a, b


FAMILIES: dict[str, Family] = {
    "grid 0..2": Family(grid2, 0.16, "corners on the grid {0, 1, 2}^3"),
    "grid 0..4": Family(grid4, 0.14, "corners on the grid {0 .. 4}^3"),
    "coplanar grid": Family(coplanar_grid, 0.12, "corners on one lattice plane; a quarter with one corner lifted"),
    "repeated vertices": Family(repeated, 0.10, "triangles that are segments or points, on a grid"),
    "posed by quarters": Family(posed_by_quarters, 0.10, "grid pairs, each under its own exact 90 degree rotation"),
    "scaled by two": Family(scaled_by_two, 0.08, "grid pairs times 2**-1072 to 2**145"),
    "one ulp": Family(one_ulp, 0.06, "touching pairs with a coordinate moved by one ulp"),
    "far away": Family(far_away, 0.05, "pairs at 1e6 or 2**40 from the origin"),
    "scaled by ten": Family(scaled_by_ten, 0.04, "grid pairs times 1e-9 to 1e9, rounded"),
    "shared vertices": Family(shared, 0.04, "common vertices, common edges, vertices on edges and faces"),
    "needles": Family(needles, 0.04, "aspect ratios of 1e8 to 1e15"),
    "nearly coplanar": Family(nearly_coplanar, 0.03, "one oblique plane, up to rounding"),
    "posed at random": Family(posed_at_random, 0.02, "grid pairs under a random rotation, rounded"),
    "wild exponents": Family(wild_exponents, 0.01, "each coordinate with its own magnitude, 1e-12 to 1e12"),
    "uniform": Family(uniform, 0.01, "random triangles in the unit cube"),
}


def triangle_pairs(rng: np.random.Generator, k: int, family: str) -> Pairs:
    """k pairs of the named family, as two C-contiguous arrays (k, 3, 3)."""
    a, b = FAMILIES[family].make(rng, k)
    return np.ascontiguousarray(a), np.ascontiguousarray(b)
