"""One sphere against eight.

Everything rounds relative to the distance of the centres, which is at most the sum of the radii for spheres that meet:
3 u for the differences and squares, covered by the surplus of the radii (layout.SURPLUS).  Where a gap is wanted
the distance may be larger than the radii; then it is shortened by 8 u.
"""

from __future__ import annotations

from typing import Any

from impinge.trees.lanes import eight_lanes, larger, square_root

_SHORTENED = 1.0 - 2.0**-21


def _squared_distance(rows: Any, other: Any) -> Any:
    d = [other[i] - rows[i] for i in range(3)]
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2]


# The numbers of the formulas: centre and radius of the other sphere, margin, squared reach.


@eight_lanes
def spheres_meet(rows: Any, numbers: Any) -> Any:
    radii = rows[3] + (numbers[3] + numbers[4])
    # The radius of an unused slot is negative.
    return ~((_squared_distance(rows, numbers) > radii * radii) | (radii < 0.0))


@eight_lanes
def spheres_within(rows: Any, numbers: Any) -> Any:
    gap = larger(
        square_root(_squared_distance(rows, numbers)) * _SHORTENED - (rows[3] + (numbers[3] + numbers[4])), 0.0
    )
    squared = gap * gap
    return ~(squared > numbers[5]), squared
