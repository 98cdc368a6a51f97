"""The errors of distance and penetration depth of convex bodies, against oracles.

Distances of any body, and depths of small ones, come from rational arithmetic (``lab.convex_oracle``).  For larger
bodies the depth is the smallest height of all directions that can be normal to a facet of the difference: normals of
faces, and products of edges, in extended precision.  No direction gives less than the depth, so a wrong one does no
harm.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
from rich.table import Table

import impinge
from impinge.arrays import Floats
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.lab import convex_oracle
from impinge.lab.hard_polytopes import FAMILIES, Encounter, moved_about
from impinge.lab.scenes.polytopes import ellipsoid

ASKED_ULPS = 8.0
ASKED_DEPTH = 1e-12
LARGE = "100 vertices"

_SMALL = 7
"""Vertices of a body whose depth is checked in rationals."""
_POSES = 8
"""Of each pair of bodies."""
_BITS = 200
_NEARLY_LOWEST = 1e-6


@dataclass
class Errors:
    """The worst of one family."""

    family: str
    distances: int = 0
    distance: float = 0.0
    """In ulps of the largest posed coordinate."""
    depths: int = 0
    depth: float = 0.0
    """Parts of the size of the bodies."""
    bounds: float = 0.0
    """The widest bracket between the lower and the upper bound of a depth, in the same unit."""

    @property
    def held(self) -> bool:
        return self.distance <= ASKED_ULPS and self.depth <= ASKED_DEPTH


def root(squared: Fraction) -> Fraction:
    """The square root, to 200 bits or more of its own."""
    # Brought up to a whole number with 400 bits first, or few digits of a small square were left.
    shift = max(0, squared.denominator.bit_length() - squared.numerator.bit_length()) // 2 + _BITS + 1
    return Fraction(isqrt(int(squared * 4**shift)), 2**shift)


def distance_error(value: float, squared: Fraction, a: Floats, b: Floats) -> float:
    """In ulps of the largest coordinate of the posed vertices a and b."""
    if not np.isfinite(value):
        return float("inf")
    largest = max(float(np.abs(a).max()), float(np.abs(b).max()))
    return float(abs(Fraction(value) - root(squared)) / Fraction(float(np.spacing(largest))))


def size_of(a: Floats, b: Floats) -> float:
    """The diagonal of the larger body's box."""
    return max(float(np.linalg.norm(np.ptp(points, axis=0))) for points in (a, b))


def exact_depth(a: Floats, b: Floats) -> Fraction | None:
    depth = convex_oracle.penetration(a, b)
    return None if depth is None else root(depth.squared)


def depth_by_facets(a: Floats, b: Floats) -> float:
    """The depth of posed vertices in extended precision; for bodies with a common point.

    Floats find the directions that may be lowest, and these are evaluated again.
    """
    hulls = [ConvexHull(points) for points in (a, b)]
    edges = [np.diff(hull.vertices[hull.edges], axis=1)[:, 0] for hull in hulls]
    sides = [hull.vertices[hull.mesh.faces] for hull in hulls]
    one = [np.repeat(edges[0], len(edges[1]), axis=0), *(corner[:, 1] - corner[:, 0] for corner in sides)]
    two = [np.tile(edges[1], (len(edges[0]), 1)), *(corner[:, 2] - corner[:, 0] for corner in sides)]
    u, v = np.concatenate(one), np.concatenate(two)
    heights = _heights(u, v, a, b)
    low = heights <= heights.min() + _NEARLY_LOWEST * size_of(a, b)
    extended = (array.astype(np.longdouble) for array in (u[low], v[low], a, b))
    return float(_heights(*extended).min())


def _heights(u: Any, v: Any, a: Any, b: Any) -> Any:
    """How far the bodies reach into each other along u x v, the smaller of both ways; infinite where that is zero."""
    normal = np.cross(u, v)
    length = np.sqrt((normal * normal).sum(axis=1))
    unit = normal / np.where(length > 0.0, length, 1.0)[:, None]
    of_a, of_b = unit @ a.T, unit @ b.T
    both_ways = np.minimum(of_a.max(axis=1) - of_b.min(axis=1), of_b.max(axis=1) - of_a.min(axis=1))
    return np.where(length > 0.0, both_ways, np.inf)


def measure(family: str, poses: int, seed: int) -> Errors:
    """So many poses of one family."""
    found = Errors(family)
    number = 0
    while found.distances < poses:
        rng = np.random.default_rng([seed, 2, number])
        met = _large(rng) if family == LARGE else FAMILIES[family](rng, min(_POSES, poses), _SMALL)
        _measure(found, met, poses)
        number += 1
    return found


def _large(rng: np.random.Generator) -> Encounter:
    return moved_about(rng, ellipsoid(rng, 100, [1.0, 0.8, 0.6]), ellipsoid(rng, 100, [0.5, 1.0, 0.1]), 4)


def _measure(found: Errors, met: Encounter, poses: int) -> None:
    distances = np.asarray(impinge.distance(met.a, met.b, met.poses_a, met.poses_b).value)
    found_depths = impinge.penetration(met.a, met.b, met.poses_a, met.poses_b)
    depths = np.asarray(found_depths.depth)
    brackets = np.asarray(found_depths.upper) - np.asarray(found_depths.lower)
    for i in range(min(len(met.poses_b), poses - found.distances)):
        a, b = met.posed(i)
        squared = convex_oracle.squared_distance(a, b)
        found.distances += 1
        wrong_zero = (squared == 0) != (distances[i] == 0.0)
        error = np.inf if wrong_zero else distance_error(float(distances[i]), squared, a, b)
        found.distance = max(found.distance, error)
        if squared == 0:
            size = size_of(a, b)
            truth = depth_by_facets(a, b) if found.family == LARGE else exact_depth(a, b)
            assert truth is not None
            found.depths += 1
            found.depth = max(found.depth, float(abs(Fraction(float(depths[i])) - Fraction(truth))) / size)
            found.bounds = max(found.bounds, float(brackets[i]) / size)


def table_of_errors(errors: list[Errors]) -> Table:
    table = Table(title="Worst errors: distance in ulps of the largest posed coordinate, depth in sizes of the bodies")
    table.add_column("family", no_wrap=True)
    for head in ("distances", "worst error, ulps", "depths", "worst error", "widest bounds", "held"):
        table.add_column(head, justify="right")
    for e in errors:
        table.add_row(
            e.family, f"{e.distances:,}", f"{e.distance:.3g}", f"{e.depths:,}", f"{e.depth:.2g}", f"{e.bounds:.2g}",
            "yes" if e.held else "NO",
        )  # fmt: skip
    return table
