"""OBBTree: a tree of oriented boxes.

Gottschalk, Lin and Manocha (1996), "OBBTree: a hierarchical structure for rapid interference detection".
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Bools, Floats, Ints
from impinge.bvh.build.box_fit import AXES_OF, FITS, Fit, around_zero
from impinge.bvh.layout import OBB_ROWS, WIDTH
from impinge.bvh.tree import Tree, Triple
from impinge.mesh.mesh import Mesh

Split = Literal["sah", "mean"]
SPLITS: Final[tuple[str, ...]] = get_args(Split)


class OBBTree(Tree):
    """A tree of oriented boxes.

    Rows: 0 to 8 the axes, row 3 * i + j being coordinate i of axis j; 9 to 11 the centre; 12 to 14 the half lengths;
    15 the largest of these.  A box is the set of centre + axes @ u with ``|u|`` at most the half lengths.
    """

    ROWS: ClassVar[int] = OBB_ROWS

    @classmethod
    def of(cls, mesh: Mesh, fit: Fit = "fast", split: Split = "sah") -> OBBTree:
        """The tree of a mesh, built at the first request and kept with the mesh."""
        return mesh.memo((cls.__name__, fit, split), lambda mesh: cls(mesh, fit, split))

    def __init__(self, mesh: Mesh, fit: Fit = "fast", split: Split = "sah") -> None:
        """Build a tree: ``fit`` turns the boxes (bvh.build.box_fit), ``split`` divides the triangles.

        ``"sah"`` is bvh.build.binned_sah, ``"mean"`` is bvh.build.mean_split.
        """
        from impinge.bvh.build.binned_sah import binned_sah
        from impinge.bvh.volumes.oriented_boxes import fit_boxes

        if fit not in FITS:
            raise ValueError(f"fit is {fit!r}, expected one of {', '.join(FITS)}")
        if split not in SPLITS:
            raise ValueError(f"split is {split!r}, expected one of {', '.join(SPLITS)}")
        if split == "sah":
            frame, order, child, ranges, depth = binned_sah(mesh.vertices, mesh.faces)
        else:
            from impinge.bvh.build.mean_split import mean_split

            frame, order, child, ranges, depth = mean_split(mesh, fit)
        given = _hull_axes(mesh, fit, order, child, ranges) if fit.startswith("hull") else np.empty((0, 3, 3))
        volumes = fit_boxes(mesh.vertices, mesh.faces, frame, order, child, ranges, given, fit == "fast")
        self._fill(frame, order, child, depth, volumes, {"fit": fit, "split": split})

    def validate(self) -> None:
        """Check the structure, the axes of all boxes, and that each holds what is below it."""
        from impinge.bvh.volumes.oriented_boxes import ORTHONORMAL

        super().validate()
        axes = self.rows[:, :9].reshape(-1, 3, 3, WIDTH).astype(np.float64)
        skew = np.abs(np.einsum("nijs,niks->nsjk", axes, axes) - np.eye(3)).max(axis=(2, 3))
        if skew.max() > ORTHONORMAL:
            node, slot = divmod(int(skew.argmax()), WIDTH)
            raise ValueError(f"the axes of node {node}, slot {slot} are not at right angles")

    def _surely_inside(self, ref: NDArray[np.int64], points: Floats) -> Bools:
        numbers = self.rows[ref // WIDTH, :, ref % WIDTH].astype(np.float64)
        axes, centre, half = numbers[:, :9].reshape(-1, 3, 3), numbers[:, None, 9:12], numbers[:, None, 12:15]
        # Step 1 of bvh.volumes.oriented_boxes, and bounds of the roundings of its w.
        skew = np.abs(axes.swapaxes(1, 2) @ axes - np.eye(3)).sum(axis=2).max(axis=1)[:, None] + 2.0**-49
        away = points - centre
        along = np.abs(away @ axes)
        largest = along.max(axis=2)
        doubt = 2.0**-52 * np.abs(points).max(axis=2) + 2.0**-49 * np.abs(away).max(axis=2) + 2.0**-1070
        reach = along + (skew / (1.0 - skew) * largest + doubt)[..., None]
        sure: Bools = np.all(reach <= half * (1.0 - 2.0**-50), axis=2) & (skew < 0.5)
        return sure

    @staticmethod
    def _inside(numbers: list[Fraction], point: Triple) -> bool:
        x, y, z = (numbers[0:7:3], numbers[1:8:3], numbers[2:9:3])
        away = [point[i] - numbers[9 + i] for i in range(3)]
        # Cramer's rule
        determinant = _dot(x, _cross(y, z))
        products = (_dot(away, _cross(y, z)), _dot(away, _cross(z, x)), _dot(away, _cross(x, y)))
        return determinant != 0 and all(
            abs(product) <= half * abs(determinant) for product, half in zip(products, numbers[12:15], strict=True)
        )


def _hull_axes(mesh: Mesh, fit: Fit, order: Ints, child: Ints, ranges: Ints) -> Floats:
    """(8 N, 3, 3): the axes of the boxes around inner nodes."""
    axes = np.zeros((len(child), 3, 3))
    triangles = around_zero(mesh.vertices[mesh.faces[order]].reshape(-1, 3))
    for ref in np.flatnonzero(child >= 0).tolist():
        first, last = ranges[ref].tolist()
        axes[ref] = AXES_OF[fit](triangles[3 * first : 3 * last])
    return axes


def _dot(a: list[Fraction], b: list[Fraction]) -> Fraction:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _cross(a: list[Fraction], b: list[Fraction]) -> list[Fraction]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
