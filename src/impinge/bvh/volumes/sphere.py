"""SphereTree: a tree of bounding spheres.

Spheres are cheap to test and do not turn with the body, but fit flat and long groups badly: next to OBBTree it shows
what oriented boxes are worth.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Bools, Floats
from impinge.bvh.layout import SPHERE_ROWS, WIDTH
from impinge.bvh.tree import Tree, Triple
from impinge.mesh.mesh import Mesh


class SphereTree(Tree):
    """A tree of spheres.

    Rows: 0 to 2 the centre, 3 the radius.
    """

    ROWS: ClassVar[int] = SPHERE_ROWS

    def __init__(self, mesh: Mesh) -> None:
        from impinge.bvh.build.binned_sah import binned_sah
        from impinge.bvh.volumes.bounding_spheres import bound_by_spheres

        frame, order, child, ranges, depth = binned_sah(mesh.vertices, mesh.faces)
        volumes = bound_by_spheres(mesh.vertices, mesh.faces, frame, order, child, ranges)
        self._fill(frame, order, child, depth, volumes, {})

    def _surely_inside(self, ref: NDArray[np.int64], points: Floats) -> Bools:
        numbers = self.rows[ref // WIDTH, :, ref % WIDTH].astype(np.float64)
        away = np.linalg.norm(points - numbers[:, None, :3], axis=2)
        # One rounding of each coordinate and difference; squares that underflow are below 2**-1000.
        doubt = 2.0**-51 * np.abs(points).max(axis=2) + 2.0**-49 * away + 2.0**-500
        sure: Bools = away + doubt <= numbers[:, None, 3] * (1.0 - 2.0**-50)
        return sure

    @staticmethod
    def _inside(numbers: list[Fraction], point: Triple) -> bool:
        return numbers[3] >= 0 and sum((point[k] - numbers[k]) ** 2 for k in range(3)) <= numbers[3] ** 2
