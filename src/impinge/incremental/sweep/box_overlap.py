# mypy: allow-untyped-defs, allow-incomplete-defs
"""Boxes along the axes: whether they overlap, and what they have in common.  Closed sets: touching is overlapping."""

from __future__ import annotations

from impinge.incremental.hierarchy.posed_hierarchy import HIGH, LOW
from impinge.kernels.jit import inlined


@inlined
def overlap(m, i, n, j):
    """Whether box i of m and box j of n have a point in common."""
    return (
        (m[i, LOW, 0] <= n[j, HIGH, 0])
        & (n[j, LOW, 0] <= m[i, HIGH, 0])
        & (m[i, LOW, 1] <= n[j, HIGH, 1])
        & (n[j, LOW, 1] <= m[i, HIGH, 1])
        & (m[i, LOW, 2] <= n[j, HIGH, 2])
        & (n[j, LOW, 2] <= m[i, HIGH, 2])
    )


@inlined
def loaded_box(box):
    """An array (2, 3) as tuples: the low corner and the high corner."""
    return (box[LOW, 0], box[LOW, 1], box[LOW, 2]), (box[HIGH, 0], box[HIGH, 1], box[HIGH, 2])


@inlined
def common_box(m, i, n, j, within):
    """What two boxes and a third have in common: where contacts of what is in the first two can be."""
    low, high = within
    return (
        (
            max(m[i, LOW, 0], n[j, LOW, 0], low[0]),
            max(m[i, LOW, 1], n[j, LOW, 1], low[1]),
            max(m[i, LOW, 2], n[j, LOW, 2], low[2]),
        ),
        (
            min(m[i, HIGH, 0], n[j, HIGH, 0], high[0]),
            min(m[i, HIGH, 1], n[j, HIGH, 1], high[1]),
            min(m[i, HIGH, 2], n[j, HIGH, 2], high[2]),
        ),
    )


@inlined
def reaches(boxes, i, common):
    """Whether a box reaches into a common one."""
    low, high = common
    return (
        (boxes[i, LOW, 0] <= high[0])
        & (low[0] <= boxes[i, HIGH, 0])
        & (boxes[i, LOW, 1] <= high[1])
        & (low[1] <= boxes[i, HIGH, 1])
        & (boxes[i, LOW, 2] <= high[2])
        & (low[2] <= boxes[i, HIGH, 2])
    )
