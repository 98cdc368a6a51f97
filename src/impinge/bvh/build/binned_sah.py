# mypy: allow-untyped-defs, allow-incomplete-defs
"""Top-down division of triangles by the surface area heuristic, estimated in bins.

Wald (2007), "On fast construction of SAH-based bounding volume hierarchies".  The chance that a search enters
a box grows with its surface, the work that waits there with the number of triangles: a group is divided where the
sum of their products over both sides is smallest.  Only the cuts between sixteen bins along the axis on which the
centres of the triangles spread most are tried; for small groups those between eight bins along every axis.

The float32 boxes only steer the division; bounding volumes are fitted afterwards, in float64.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from impinge.bvh.build.arrays import integer_list, integers, single_list, singles
from impinge.bvh.build.box_rows import COLUMNS, enlarge, enlarge_by_centre, exchange, forget, half_surface, unite
from impinge.bvh.build.eight_wide import FIRST, LAST, LEFT, eight_wide
from impinge.bvh.build.local_frame import local_frame
from impinge.bvh.layout import WIDTH
from impinge.kernels.jit import inner, kernel

BINS = 16
_FEW = 64
"""Groups up to this size use half the bins, but all axes that spread half as much as the longest: that costs a tenth
of the time, and two tori of a thousand triangles need 15 % fewer box tests.  For larger groups it does not pay."""
_NARROW = np.float32(2.0**-100)  # centres this close to each other, in parts of the mesh, are not told apart
_JUST_BELOW_ONE = np.float32(1.0 - 2.0**-16)


@inner
def _local_boxes(vertices, faces, frame):
    boxes = singles(len(faces), COLUMNS)
    scale = 1.0 / frame[3]
    for i in range(len(faces)):
        for k in range(3):
            low = vertices[faces[i, 0], k]
            high = low
            for j in range(1, 3):
                x = vertices[faces[i, j], k]
                low = x if x < low else low
                high = x if x > high else high
            boxes[i, k] = (low - frame[k]) * scale
            boxes[i, 4 + k] = (frame[k] - high) * scale
        boxes[i, 3] = 0.0
        boxes[i, 7] = 0.0
    return boxes


@inner
def _spread(centres, g, axis):
    return -centres[g, axis] - centres[g, 4 + axis]


@inner
def _longest_axis(centres, g):
    """The axis along which the centres of a group spread most."""
    axis = 0
    for k in range(1, 3):
        if _spread(centres, g, k) > _spread(centres, g, axis):
            axis = k
    return axis


@inner
def _bin_of(boxes, i, axis, low, scale):
    return np.int64((boxes[i, axis] - boxes[i, 4 + axis] - low) * scale)


class _Bins(NamedTuple):
    """What is in each bin, and room to look for a cut between them."""

    counts: Any
    """How many triangles,"""
    boxes: Any
    """their boxes,"""
    centres: Any
    """and the boxes of their centres."""
    sweep: Any
    """Two boxes."""
    cost_above: Any


@inner
def _fill_bins(boxes, first, last, axis, low, scale, bin_count, bins):
    for b in range(bin_count):
        bins.counts[b] = 0
        forget(bins.boxes, b)
        forget(bins.centres, b)
    for i in range(first, last):
        b = _bin_of(boxes, i, axis, low, scale)
        bins.counts[b] += 1
        enlarge(bins.boxes, b, boxes, i)
        enlarge_by_centre(bins.centres, b, boxes, i)


@inner
def _cheapest_cut(bin_count, bins):
    """The last bin of the left side, and the cost; the first and the last bin are never empty."""
    counts, sweep, cost_above = bins.counts, bins.sweep, bins.cost_above
    forget(sweep, 0)
    above = 0
    for b in range(bin_count - 1, 0, -1):
        above += counts[b]
        enlarge(sweep, 0, bins.boxes, b)
        cost_above[b] = half_surface(sweep, 0) * np.float32(above)
    forget(sweep, 0)
    below = 0
    best = 0
    least = np.float32(np.inf)
    for b in range(bin_count - 1):
        below += counts[b]
        enlarge(sweep, 0, bins.boxes, b)
        cost = half_surface(sweep, 0) * np.float32(below) + cost_above[b + 1]
        if cost < least:
            least = cost
            best = b
    return best, least


@inner
def _partition(boxes, order, first, last, axis, low, scale, cut):
    """Move the triangles of the bins up to the cut to the front (Hoare); the first place of the others."""
    i = first
    j = last - 1
    while True:
        while i <= j and _bin_of(boxes, i, axis, low, scale) <= cut:
            i += 1
        while i <= j and _bin_of(boxes, j, axis, low, scale) > cut:
            j -= 1
        if i >= j:
            return i
        exchange(boxes, i, j)
        triangle = order[i]
        order[i] = order[j]
        order[j] = triangle


@inner
def _binary_tree(boxes, order):
    """Divide until the groups are small, moving boxes and order along: groups and areas."""
    most = 2 * len(boxes)
    groups = integers(most, 3)
    areas = single_list(most)
    centres = singles(most, COLUMNS)
    bins = _Bins(
        integer_list(BINS), singles(BINS, COLUMNS), singles(BINS, COLUMNS), singles(2, COLUMNS), single_list(BINS)
    )
    # Of two groups the smaller is divided first, so at most log2(n) of them wait.
    waiting = integer_list(64)
    groups[0, FIRST] = 0
    groups[0, LAST] = len(boxes)
    areas[0] = 0.0
    forget(centres, 0)
    for i in range(len(boxes)):
        enlarge_by_centre(centres, 0, boxes, i)
    count = 1
    waiting[0] = 0
    waiting_count = 1
    while waiting_count > 0:
        waiting_count -= 1
        g = waiting[waiting_count]
        first = np.int64(groups[g, FIRST])
        last = np.int64(groups[g, LAST])
        if last - first <= WIDTH:
            groups[g, LEFT] = -1
            continue
        left = count
        count += 2
        groups[g, LEFT] = left
        axis = _longest_axis(centres, g)
        widest = _spread(centres, g, axis)
        if widest < _NARROW:
            # Centres that coincide: anywhere, but in eights, so that nodes are filled.
            middle = first + ((last - first) // 2 + WIDTH - 1) // WIDTH * WIDTH
            for side in range(left, left + 2):
                unite(centres, side, centres, g, g + 1)
                areas[side] = areas[g]
        else:
            few = last - first <= _FEW
            bin_count = BINS // 2 if few else BINS
            best = axis
            cut = 0
            least = np.float32(np.inf)
            tries = 4 if few else 1  # the three axes, and the best one for good
            for t in range(tries):
                axis = t if t < tries - 1 else best
                if _spread(centres, g, axis) < np.float32(0.5) * widest:
                    continue
                low = centres[g, axis]
                scale = np.float32(bin_count) * _JUST_BELOW_ONE / _spread(centres, g, axis)
                _fill_bins(boxes, first, last, axis, low, scale, bin_count, bins)
                cut, cost = _cheapest_cut(bin_count, bins)
                if cost < least:
                    least = cost
                    best = axis
            low = centres[g, axis]
            scale = np.float32(bin_count) * _JUST_BELOW_ONE / _spread(centres, g, axis)
            middle = _partition(boxes, order, first, last, axis, low, scale, cut)
            unite(centres, left, bins.centres, 0, cut + 1)
            unite(centres, left + 1, bins.centres, cut + 1, bin_count)
            unite(bins.sweep, 0, bins.boxes, 0, cut + 1)
            unite(bins.sweep, 1, bins.boxes, cut + 1, bin_count)
            areas[left] = half_surface(bins.sweep, 0)
            areas[left + 1] = half_surface(bins.sweep, 1)
        groups[left, FIRST] = first
        groups[left, LAST] = middle
        groups[left + 1, FIRST] = middle
        groups[left + 1, LAST] = last
        smaller = left if middle - first < last - middle else left + 1
        waiting[waiting_count] = 2 * left + 1 - smaller
        waiting[waiting_count + 1] = smaller
        waiting_count += 2
    return groups[:count], areas[:count]


@kernel("float64[:, ::1], int32[:, ::1]")
def binned_sah(vertices, faces):
    """The frame, the order of the triangles, and the nodes over them: child, ranges, depth."""
    frame = local_frame(vertices, faces)
    boxes = _local_boxes(vertices, faces, frame)
    order = integer_list(len(faces))
    for i in range(len(faces)):
        order[i] = i
    groups, areas = _binary_tree(boxes, order)
    child, ranges, depth = eight_wide(groups, areas, len(faces))
    return frame, order, child, ranges, depth
