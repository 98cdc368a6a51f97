"""Axes for an oriented box around a group of triangles, by four rules.

- ``"fast"`` (the default): the principal axes of the surface of the triangles themselves.  A group that is about as
  long as wide is turned level instead, about its shortest axis, and a box along the coordinate axes is taken where
  it has less surface.
- ``"vertices"``: the principal axes of the vertices, from their mean and covariance; a vertex counts for every
  triangle that it belongs to.  A dense patch of vertices inside the group turns the box.
- ``"hull"``: the same over the vertices of the convex hull, so that only the outside counts.  A dense collection of
  vertices on the hull still turns the box.
- ``"hull-area"``: mean and covariance of the whole surface of the convex hull, every point of which counts the same.

``"vertices"`` and ``"hull"`` are those of Lin, Manocha, Cohen and Gottschalk (1996), "Collision detection: algorithms
and applications", ``"hull-area"`` is that of Gottschalk, Lin and Manocha (1996), "OBBTree: a hierarchical structure for
rapid interference detection".  The first two are computed for all slots of a tree at once, from the leaves up,
by bvh.volumes.oriented_boxes.
A single triangle gets the box of its longest edge and its normal by every rule.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, get_args

import numpy as np

from impinge.arrays import Floats
from impinge.geometry.qhull import convex_hull

Fit = Literal["fast", "vertices", "hull", "hull-area"]
FITS: Final[tuple[str, ...]] = get_args(Fit)


def principal_axes(points: Floats) -> Floats:
    """(3, 3): the eigenvectors of the covariance of points (k, 3), as columns."""
    near = around_zero(points)
    return _eigenvectors(near.T @ near)


def hull_axes(points: Floats) -> Floats:
    """The principal axes of the corners of the convex hull."""
    return principal_axes(points[convex_hull(points).vertices])


def hull_area_axes(points: Floats) -> Floats:
    """The principal axes of the surface of the convex hull, in closed form over its triangles."""
    near = around_zero(points)
    hull = convex_hull(near)
    corner = near[hull.faces]
    area = np.linalg.norm(np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]), axis=1)
    total = area.sum()
    if total == 0.0:  # points on a line
        return principal_axes(near[hull.vertices])
    weight = area / total
    corner = corner - weight @ corner.mean(axis=1)
    centre = corner.mean(axis=1)
    nine = 9.0 * np.einsum("i,ij,ik->jk", weight, centre, centre)
    return _eigenvectors(nine + np.einsum("i,icj,ick->jk", weight, corner, corner))


AXES_OF: Final[dict[str, Callable[[Floats], Floats]]] = {
    "fast": principal_axes,
    "vertices": principal_axes,
    "hull": hull_axes,
    "hull-area": hull_area_axes,
}


def around_zero(points: Floats) -> Floats:
    """Moved and scaled to about one, so that squares neither cancel nor underflow."""
    away: Floats = points - points.mean(axis=0)
    size = float(np.abs(away).max())
    if size == 0.0:
        return away
    near: Floats = np.ldexp(away, -int(np.frexp(size)[1]))
    return near


def _eigenvectors(matrix: Floats) -> Floats:
    vectors: Floats = np.linalg.eigh(matrix)[1]
    return vectors
