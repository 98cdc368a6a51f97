"""The separating axis test of oriented boxes: 15 axes, one box against eight children of a node.

Gottschalk, Lin, Manocha (1996), "OBBTree"; Lin et al. (1996), section 4.2.2.  Two boxes are disjoint if and only
if they are on one of 15 axes: the three face normals of each and the nine cross products of their edges.

A box is the set c + Q u with |u_i| <= h_i, for float32 numbers Q, c and h that are taken as they are: Q need not be a
rotation to the last bit.  For any vector L whatsoever, points of boxes A and B fulfil

    |L.(b - a)|  >=  |L.T| - sum |L.qa_i| ha_i - sum |L.qb_j| hb_j,        T the vector between the centres,

so an axis on which the right side is positive separates, and only the rounding of its evaluation
must be bounded (u = 2**-24).

  - T is known up to ``margin`` (see relative_motion), which is added to the radii of the six face axes in full, and to
    those of cross axes too, since these are shorter than one.
  - If boxes meet then |T| <= |ha| + |hb|, so everything else rounds relative to the half lengths: r = Qa^T R Qb is off
    by at most 8 u (Q and R are rounded, three products are summed), t = Qa^T T by 5 u |T|, products with Q by the 4 u
    that Q deviates from a rotation.  Together that is below 24 u (ha_1 + ha_2 + ha_3 + hb_1 + hb_2 + hb_3) on a face
    axis.  Every stored half length carries a surplus of 2**-19 = 32 u times the sum of its box (layout.SURPLUS).
  - On the cross axis of edges i and j an error of r meets t only in the two directions across edge i, where |t| is at
    most the radii of that axis, and an error of t is multiplied by the sine of the angle of the edges, as are the
    radii.  The surplus thus covers it but for parallel edges, where ``PARALLEL`` = 16 u is added to |r|.
  - A sum that is fused or not rounds by no more than counted.

A NaN or an infinite margin compares as not separated.

Operations, counted as the paper does (an addition, product, absolute value or comparison is one): for two boxes in
general position 18 for t, 45 for r, 9 for |r|, 3 x 8 for the first three axes (t is the projection on them), 3 x 13 for
the next three and 9 x 12 for the cross products: 243, or 180 where r and t are given, which is what the paper's
at most 200 counts.  Early exit halves that.  The vector form has none: it always evaluates all axes, for eight
boxes at once, and the margins add 9 + 15 operations.  What it gains is that eight comparisons take little more than one
in scalar code, and that nothing is mispredicted; docs/benchmarks.md has the times.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from impinge.bvh.layout import AABB_CENTRE, AABB_HALF, OBB_AXES, OBB_CENTRE, OBB_HALF
from impinge.kernels.lanes import eight_lanes, larger, smaller, where

PARALLEL = 2.0**-20


def oriented_view(rows: Any, other: Any) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    """The other box seen from eight oriented ones: r (3 x 3), t, their half lengths and its own."""
    q = [rows[OBB_AXES + i] for i in range(9)]
    d = [other[9 + i] - rows[OBB_CENTRE + i] for i in range(3)]
    r = [q[i] * other[j] + q[3 + i] * other[3 + j] + q[6 + i] * other[6 + j] for i in range(3) for j in range(3)]
    t = [q[i] * d[0] + q[3 + i] * d[1] + q[6 + i] * d[2] for i in range(3)]
    return r, t, [rows[OBB_HALF + i] for i in range(3)], list(other[12:15])


def aligned_view(rows: Any, other: Any) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    """The other box seen from eight axis-aligned ones."""
    t = [other[9 + i] - rows[AABB_CENTRE + i] for i in range(3)]
    return list(other[:9]), t, [rows[AABB_HALF + i] for i in range(3)], list(other[12:15])


def _separated(r: Any, t: Any, h: Any, s: Any, margin: Any) -> Any:
    """Whether one of the 15 axes separates boxes of half lengths h and s."""
    a = [abs(x) for x in r]
    apart = None
    for i in range(3):
        radii = a[3 * i] * s[0] + (a[3 * i + 1] * s[1] + (a[3 * i + 2] * s[2] + (h[i] + margin)))
        apart = _either(apart, abs(t[i]) > radii)
    for j in range(3):
        radii = a[j] * h[0] + (a[3 + j] * h[1] + (a[6 + j] * h[2] + (s[j] + margin)))
        apart = _either(apart, abs(r[j] * t[0] + r[3 + j] * t[1] + r[6 + j] * t[2]) > radii)
    a = [x + PARALLEL for x in a]
    for i in range(3):
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            j1, j2 = (j + 1) % 3, (j + 2) % 3
            radii = a[3 * i2 + j] * h[i1] + (
                a[3 * i1 + j] * h[i2] + (a[3 * i + j2] * s[j1] + (a[3 * i + j1] * s[j2] + margin))
            )
            apart = _either(apart, abs(r[3 * i1 + j] * t[i2] - r[3 * i2 + j] * t[i1]) > radii)
    return apart


def _either(known: Any, new: Any) -> Any:
    return new if known is None else known | new


def _along_normals(r: Any, t: Any, h: Any, s: Any, margin: Any) -> tuple[list[Any], list[Any]]:
    """The distance of the centres and the sum of the radii, along the normals of either box."""
    a = [abs(x) for x in r]
    ours = []
    theirs = []
    for i in range(3):
        radii = a[3 * i] * s[0] + (a[3 * i + 1] * s[1] + (a[3 * i + 2] * s[2] + (h[i] + margin)))
        ours.append((abs(t[i]), radii))
    for j in range(3):
        radii = a[j] * h[0] + (a[3 + j] * h[1] + (a[6 + j] * h[2] + (s[j] + margin)))
        theirs.append((abs(r[j] * t[0] + r[3 + j] * t[1] + r[6 + j] * t[2]), radii))
    return ours, theirs


def _squared_gap(r: Any, t: Any, h: Any, s: Any, margin: Any) -> Any:
    """A lower bound of the squared distance: the gaps along the normals of either box, which are at right angles."""
    squared = []
    for axes in _along_normals(r, t, h, s, margin):
        x, y, z = (larger(apart - radii, 0.0) for apart, radii in axes)
        squared.append(x * x + y * y + z * z)
    return larger(*squared)


def _overlap(r: Any, t: Any, h: Any, s: Any, margin: Any) -> Any:
    """How deep boxes are in each other: -2 if their centres coincide, -1 if they touch, not more if they are apart.

    Relative to their sizes, so that boxes of all levels compare: where surfaces cross, their boxes are as deep in
    each other from level to level, where they run side by side less and less.
    """
    ours, theirs = _along_normals(r, t, h, s, margin)
    return smaller(reduce(larger, (apart / radii for apart, radii in ours + theirs)), 1.0) - 2.0


def _gap_or_overlap(*view: Any) -> tuple[Any, Any]:
    """The squared gap; and the same, with the (negative) overlap in place of zero."""
    gap = _squared_gap(*view)
    return gap, where(gap > 0.0, gap, _overlap(*view))


# The numbers of the formulas: the other box (three axes as columns, centre, half lengths), margin, squared reach.


@eight_lanes
def oriented_boxes_meet(rows: Any, numbers: Any) -> Any:
    return ~_separated(*oriented_view(rows, numbers), numbers[15])


@eight_lanes
def oriented_boxes_overlap(rows: Any, numbers: Any) -> Any:
    view = oriented_view(rows, numbers)
    return ~_separated(*view, numbers[15]), _overlap(*view, numbers[15])


@eight_lanes
def oriented_boxes_within(rows: Any, numbers: Any) -> Any:
    gap = _squared_gap(*oriented_view(rows, numbers), numbers[15])
    return ~(gap > numbers[16]), gap


@eight_lanes
def oriented_boxes_in_order(rows: Any, numbers: Any) -> Any:
    gap, order = _gap_or_overlap(*oriented_view(rows, numbers), numbers[15])
    return ~(gap > numbers[16]), order


@eight_lanes
def aligned_boxes_meet(rows: Any, numbers: Any) -> Any:
    return ~_separated(*aligned_view(rows, numbers), numbers[15])


@eight_lanes
def aligned_boxes_overlap(rows: Any, numbers: Any) -> Any:
    view = aligned_view(rows, numbers)
    return ~_separated(*view, numbers[15]), _overlap(*view, numbers[15])


@eight_lanes
def aligned_boxes_within(rows: Any, numbers: Any) -> Any:
    gap = _squared_gap(*aligned_view(rows, numbers), numbers[15])
    return ~(gap > numbers[16]), gap


@eight_lanes
def aligned_boxes_in_order(rows: Any, numbers: Any) -> Any:
    gap, order = _gap_or_overlap(*aligned_view(rows, numbers), numbers[15])
    return ~(gap > numbers[16]), order
