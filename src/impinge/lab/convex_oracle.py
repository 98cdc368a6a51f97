"""The oracle for pairs of small convex bodies: rational arithmetic, and answers that carry their own proof.

A body is the convex hull of a list of points (posed vertices; any order, any dimension, repeated points too).  All
answers are about D = A - B, the set of differences: the bodies meet where D holds the origin, their distance is the
distance of D from the origin, and their penetration depth is the distance of the origin from the boundary of D.

* ``nearest`` is Wolfe's algorithm (1976, "Finding the nearest point in a polytope") in fractions.  How it arrives does
  not matter: the result is checked by the conditions that only the nearest point fulfils.  v is a convex
  combination of differences, and v . w >= v . v for every difference w.
* ``penetration`` tries every direction that can be normal to a facet of D: cross products of two differences of points
  of one body each.  Each direction n gives the upper bound h(n) / |n|, h the support function of D, and the
  facets of D are among them.  O((n^2 + m^2)^2 (n + m)): for bodies of up to ten points.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from numpy.typing import ArrayLike

from impinge.arrays import as_points

Vector = tuple[Fraction, Fraction, Fraction]


@dataclass(frozen=True)
class Nearest:
    """Two nearest points."""

    squared: Fraction
    point_a: Vector
    point_b: Vector


@dataclass(frozen=True)
class Depth:
    """How far b must move along ``direction`` (not normalised) until the bodies only touch; None where any will do."""

    squared: Fraction
    direction: Vector | None


def meets(a: ArrayLike, b: ArrayLike) -> bool:
    """Whether the hulls of two lists of points have a common point.

    >>> meets([[0, 0, 0], [2, 2, 0]], [[1, 1, 0]]), meets([[0, 0, 0], [2, 2, 0]], [[1, 1, 5e-324]])
    (True, False)
    """
    return nearest(a, b).squared == 0


def squared_distance(a: ArrayLike, b: ArrayLike) -> Fraction:
    """The exact squared distance of two hulls."""
    return nearest(a, b).squared


def nearest(a: ArrayLike, b: ArrayLike) -> Nearest:
    """The exact squared distance of two hulls and two points that have it.

    >>> nearest([[0, 0, 0], [4, 0, 0]], [[1, 2, 0], [1, 5, 7]]).squared
    Fraction(4, 1)
    """
    points_a, points_b = _rational(a, "a"), _rational(b, "b")
    pairs = [(points_a[0], points_b[0])]
    weights = [Fraction(1)]
    while True:
        v = _combination(weights, [_minus(p, q) for p, q in pairs])
        p = min(points_a, key=lambda x: _dot(v, x))
        q = max(points_b, key=lambda x: _dot(v, x))
        if _dot(v, _minus(p, q)) >= _dot(v, v):
            break
        pairs.append((p, q))
        weights.append(Fraction(0))
        pairs, weights = _minor_cycles(pairs, weights)
    point_a = _combination(weights, [p for p, _ in pairs])
    point_b = _combination(weights, [q for _, q in pairs])
    answer = Nearest(_dot(v, v), point_a, point_b)
    _check(answer, weights, points_a, points_b)
    return answer


def penetration(a: ArrayLike, b: ArrayLike) -> Depth | None:
    """The exact squared penetration depth; None for bodies without a common point.

    >>> cube = [[x, y, z] for x in (0, 2) for y in (0, 2) for z in (0, 2)]
    >>> penetration(cube, [[1.5, 1, 1], [7, 1, 1], [7, 2, 1]]).squared
    Fraction(1, 4)
    """
    points_a, points_b = _rational(a, "a"), _rational(b, "b")
    if nearest(a, b).squared > 0:
        return None
    edges = [_minus(q, p) for points in (points_a, points_b) for p, q in combinations(dict.fromkeys(points), 2)]
    best = Depth(Fraction(0), None)
    for normal in _distinct_lines(_cross(u, v) for u, v in combinations(_distinct_lines(edges), 2)):
        for n in (normal, _negative(normal)):
            height = max(_dot(n, p) for p in points_a) - min(_dot(n, q) for q in points_b)
            squared = height * height / _dot(n, n)
            if best.direction is None or squared < best.squared:
                best = Depth(squared, n)
    return best


def _check(answer: Nearest, weights: list[Fraction], points_a: list[Vector], points_b: list[Vector]) -> None:
    """The proof: the points are in the bodies, and a plane between them has each body on its side."""
    v = _minus(answer.point_a, answer.point_b)
    if min(weights) < 0 or sum(weights) != 1 or _dot(v, v) != answer.squared:
        raise AssertionError("the nearest points are not convex combinations")
    if min(_dot(v, p) for p in points_a) - max(_dot(v, q) for q in points_b) < answer.squared:
        raise AssertionError("the points are not nearest")


def _minor_cycles(
    pairs: list[tuple[Vector, Vector]], weights: list[Fraction]
) -> tuple[list[tuple[Vector, Vector]], list[Fraction]]:
    """Wolfe's minor cycles: to the nearest point of the affine hull, dropping points that are passed on the way."""
    while True:
        target = _affine_minimum([_minus(p, q) for p, q in pairs])
        if min(target) > 0:
            return pairs, target
        # How far one can go before the first weight is used up.
        step = min(w / (w - t) for w, t in zip(weights, target, strict=True) if t <= 0)
        moved = [w + step * (t - w) for w, t in zip(weights, target, strict=True)]
        kept = [i for i, w in enumerate(moved) if w > 0]
        pairs, weights = [pairs[i] for i in kept], [moved[i] for i in kept]


def _affine_minimum(points: list[Vector]) -> list[Fraction]:
    """Weights (sum 1, any sign) of the nearest point to the origin in the affine hull of independent points."""
    size = len(points)
    rows = [[Fraction(1) + _dot(p, q) for q in points] + [Fraction(1)] for p in points]  # Wolfe's (E E^T + P P^T) x = 1
    for i in range(size):
        pivot = next(k for k in range(i, size) if rows[k][i] != 0)
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for k in range(size):
            if k != i and rows[k][i] != 0:
                rows[k] = [x - rows[k][i] * y for x, y in zip(rows[k], rows[i], strict=True)]
    total = sum(row[-1] for row in rows)
    return [row[-1] / total for row in rows]


def _distinct_lines(vectors: Iterable[Vector]) -> list[Vector]:
    """The vectors without zero ones, and without multiples of others."""
    lines: dict[Vector, Vector] = {}
    for v in vectors:
        leading = next((x for x in v if x != 0), None)
        if leading is not None:
            lines.setdefault((v[0] / leading, v[1] / leading, v[2] / leading), v)
    return list(lines.values())


def _rational(points: ArrayLike, what: str) -> list[Vector]:
    given = as_points(points, what)
    if len(given) == 0:
        raise ValueError(f"{what}: a convex body has at least one point")
    return [(Fraction(x), Fraction(y), Fraction(z)) for x, y, z in given.tolist()]


def _minus(a: Vector, b: Vector) -> Vector:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def _negative(a: Vector) -> Vector:
    return -a[0], -a[1], -a[2]


def _dot(a: Vector, b: Vector) -> Fraction:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _cross(a: Vector, b: Vector) -> Vector:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def _combination(weights: list[Fraction], points: list[Vector]) -> Vector:
    x, y, z = (sum((w * p[i] for w, p in zip(weights, points, strict=True)), Fraction(0)) for i in range(3))
    return x, y, z
