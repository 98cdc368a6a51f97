"""Sphere against sphere tests: one against the eight children of a node.

Everything rounds relative to the distance of the centres, which is at most the sum of the radii for spheres that meet:
3 u for the differences and squares, covered by the surplus of the radii (layout.SURPLUS).  Where a gap is wanted
the distance may be larger than the radii; then it is shortened by 8 u.
"""

from __future__ import annotations

from typing import Any

from impinge.bvh.layout import SPHERE_CENTRE, SPHERE_RADIUS
from impinge.kernels.lanes import eight_lanes, larger, smaller, square_root, where

_SHORTENED = 1.0 - 2.0**-21


def _squared_distance(rows: Any, other: Any) -> Any:
    d = [other[i] - rows[SPHERE_CENTRE + i] for i in range(3)]
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2]


# The numbers of the formulas: centre and radius of the other sphere, margin, squared reach.


def _radii(rows: Any, numbers: Any) -> Any:
    return rows[SPHERE_RADIUS] + (numbers[3] + numbers[4])


def _overlap(apart: Any, radii: Any) -> Any:
    """As that of boxes (see separating_axes)."""
    return smaller(apart / radii, 1.0) - 2.0


def _meeting(squared: Any, radii: Any) -> Any:
    # The radius of an unused slot is negative.
    return ~((squared > radii * radii) | (radii < 0.0))


@eight_lanes
def spheres_meet(rows: Any, numbers: Any) -> Any:
    return _meeting(_squared_distance(rows, numbers), _radii(rows, numbers))


@eight_lanes
def spheres_overlap(rows: Any, numbers: Any) -> Any:
    squared, radii = _squared_distance(rows, numbers), _radii(rows, numbers)
    return _meeting(squared, radii), _overlap(square_root(squared), radii)


@eight_lanes
def spheres_within(rows: Any, numbers: Any) -> Any:
    gap = larger(square_root(_squared_distance(rows, numbers)) * _SHORTENED - _radii(rows, numbers), 0.0)
    squared = gap * gap
    return ~(squared > numbers[5]), squared


@eight_lanes
def spheres_in_order(rows: Any, numbers: Any) -> Any:
    apart, radii = square_root(_squared_distance(rows, numbers)), _radii(rows, numbers)
    gap = larger(apart * _SHORTENED - radii, 0.0)
    squared = gap * gap
    return ~(squared > numbers[5]), where(squared > 0.0, squared, _overlap(apart, radii))
