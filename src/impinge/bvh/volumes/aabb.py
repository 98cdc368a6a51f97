"""AABBTree: a tree of axis-aligned boxes."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Bools, Floats
from impinge.bvh.layout import AABB_ROWS, WIDTH
from impinge.bvh.tree import Tree, Triple
from impinge.mesh.mesh import Mesh


class AABBTree(Tree):
    """A tree of axis-aligned boxes.

    Rows: 0 to 2 the centre, 3 to 5 the half lengths, 6 the largest of these, 7 zero.
    """

    ROWS: ClassVar[int] = AABB_ROWS

    def __init__(self, mesh: Mesh) -> None:
        from impinge.bvh.build.binned_sah import binned_sah
        from impinge.bvh.volumes.aligned_boxes import bound_by_boxes

        frame, order, child, _, depth = binned_sah(mesh.vertices, mesh.faces)
        volumes = bound_by_boxes(mesh.vertices, mesh.faces, frame, order, child)
        self._fill(frame, order, child, depth, volumes, {})

    def _surely_inside(self, ref: NDArray[np.int64], points: Floats) -> Bools:
        numbers = self.rows[ref // WIDTH, :, ref % WIDTH].astype(np.float64)
        away = np.abs(points - numbers[:, None, :3])
        doubt = 2.0**-52 * (np.abs(points) + away) + 2.0**-1070  # one rounding each
        sure: Bools = np.all(away + doubt <= numbers[:, None, 3:6] * (1.0 - 2.0**-50), axis=2)
        return sure

    @staticmethod
    def _inside(numbers: list[Fraction], point: Triple) -> bool:
        return all(abs(point[k] - numbers[k]) <= numbers[3 + k] for k in range(3))
