"""Top-down division of triangles at the mean, the rule of the first OBBTree paper (section 4.2.1).

A group is divided by a plane across the longest axis of its box, through the mean of its vertices, according to the
side on which the centres of the triangles lie.  Where that does not divide it, the second and then the third
axis is taken.  A group that no axis divides is indivisible: as a slot holds one triangle, it is stored in
arbitrary halves.

Groups of at most eight triangles are not divided, their triangles fill the slots of a node (bvh.build.eight_wide).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Bools, Floats, Ints
from impinge.bvh.build.box_fit import AXES_OF, Fit, around_zero
from impinge.bvh.build.nodes import nodes_over
from impinge.bvh.layout import WIDTH
from impinge.mesh.mesh import Mesh


def mean_split(mesh: Mesh, fit: Fit) -> tuple[Floats, Ints, Ints, Ints, int]:
    """The frame, the order of the triangles, and the nodes over them: child, ranges, depth."""
    order, groups, areas = _binary_tree(_triangles_near_zero(mesh), AXES_OF[fit])
    frame, child, ranges, depth = nodes_over(mesh.vertices, mesh.faces, groups, areas)
    return frame, order, child, ranges, depth


def _triangles_near_zero(mesh: Mesh) -> Floats:
    return around_zero(mesh.vertices[mesh.faces].reshape(-1, 3)).reshape(-1, 3, 3)


def _binary_tree(triangles: Floats, axes_of: Callable[[Floats], Floats]) -> tuple[Ints, Ints, NDArray[np.float32]]:
    """Order of the triangles; first, last and left of each group (bvh.build.eight_wide); the surface of its box."""
    order = np.arange(len(triangles), dtype=np.int32)
    groups = [[0, len(triangles), -1]]
    areas = [0.0]
    waiting = [0]
    while waiting:
        group = waiting.pop()
        first, last, _ = groups[group]
        if last - first <= WIDTH:
            continue
        mine = triangles[order[first:last]]
        points = mine.reshape(-1, 3)
        axes = axes_of(points)
        x, y, z = extent = np.ptp(points @ axes, axis=0)
        areas[group] = float(x * y + y * z + z * x)
        left = _left_side(mine, axes[:, np.argsort(-extent, kind="stable")])
        order[first:last] = np.concatenate([order[first:last][left], order[first:last][~left]])
        middle = first + int(np.count_nonzero(left))
        groups[group][2] = len(groups)
        waiting += [len(groups), len(groups) + 1]
        groups += [[first, middle, -1], [middle, last, -1]]
        areas += [0.0, 0.0]
    return order, np.array(groups, dtype=np.int32), np.array(areas, dtype=np.float32)


def _left_side(triangles: Floats, axes: Floats) -> Bools:
    """Which triangles lie below the mean along the first of the axes that divides them."""
    centre = triangles.sum(axis=1)
    away = centre - centre.mean(axis=0)
    for axis in axes.T:
        left: Bools = away @ axis < 0.0
        if left.any() and not left.all():
            return left
    half = (len(triangles) // 2 + WIDTH - 1) // WIDTH * WIDTH  # in eights, so that nodes are filled
    return np.arange(len(triangles)) < half
