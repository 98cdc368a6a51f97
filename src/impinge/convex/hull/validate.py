"""Exact check, from scratch, of what a ConvexHull promises about its shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impinge.arrays import Ints
from impinge.geometry.exact.integers import collinear, newell_normal, orient2d

if TYPE_CHECKING:
    from impinge.convex.hull.convex_hull import ConvexHull


def validate(hull: ConvexHull) -> None:
    """A ValueError names the first broken promise.

    Closed and oriented, Euler's formula, no vertex above a face, no other vertex in its plane, and convex corners:
    together these say that the faces are all facets of the hull of the vertices, and that every vertex is a corner.
    """
    v, e, f = len(hull.vertices), len(hull.edges), len(hull.starts) - 1
    if hull.dimension < 2:
        if (v, e, f) != (hull.dimension + 1, hull.dimension, 0) or len(np.unique(hull.vertices, axis=0)) != v:
            raise ValueError(f"a hull of dimension {hull.dimension} has {v} vertices, {e} edges and {f} faces")
        return
    if v - e + f != 2 or (hull.dimension == 2 and f != 2):
        raise ValueError(f"Euler's formula: {v} vertices, {e} edges and {f} faces")
    _check_directed_edges(hull)
    for number, face in enumerate(hull.faces):
        _check_corners(hull, number, face)
        _check_sides(hull, number, face)


def _check_directed_edges(hull: ConvexHull) -> None:
    runs = {(int(a), int(b)) for face in hull.faces for a, b in zip(face, np.roll(face, -1), strict=True)}
    if len(runs) != len(hull.corners):
        raise ValueError("a directed edge occurs in two faces")
    edges = {(a, b) for a, b in hull.edges.tolist()}
    if runs != edges | {(b, a) for a, b in edges}:
        raise ValueError("an edge does not have two faces that run through it in opposite directions")
    if np.unique(hull.corners).tolist() != list(range(len(hull.vertices))):
        raise ValueError("a vertex belongs to no face")


def _check_corners(hull: ConvexHull, number: int, face: Ints) -> None:
    """Three corners in a row are never on one line; that they turn left follows from the sides of all edges."""
    points = hull.vertices[face].tolist()
    for i in range(len(points)):
        if collinear(points[i - 2], points[i - 1], points[i]):
            raise ValueError(f"face {number} has a straight angle at vertex {face[i - 1]}")


def _check_sides(hull: ConvexHull, number: int, face: Ints) -> None:
    from impinge.convex.hull.exact_quickhull import sides

    count = len(hull.vertices)
    side = sides(hull.vertices, np.tile(face[:3], (count, 1)), np.arange(count, dtype=np.int32))
    if (side > 0).any():
        raise ValueError(f"vertex {int(np.argmax(side > 0))} lies above face {number}")
    level = np.flatnonzero(side == 0)
    if sorted(face.tolist()) != level.tolist():
        raise ValueError(
            f"face {number} has the corners {face.tolist()}, but the vertices {level.tolist()} in its plane"
        )
    if not _is_convex(hull.vertices[face].tolist()):
        raise ValueError(f"face {number} is not a convex polygon")


def _is_convex(points: list[list[float]]) -> bool:
    """Whether the polygon turns one way everywhere, and once around: exact, in its widest shadow.

    It does if every corner lies on the left of the chord from the first corner to the one before, and on the left
    of the edge before it.
    """
    normal = newell_normal(points)
    axis = max(range(3), key=lambda i: abs(normal[i]))
    u, v = ((1, 2), (2, 0), (0, 1))[axis]
    flat = [(p[u], p[v]) for p in points]
    way = 1 if normal[axis] > 0 else -1
    fan = all(orient2d(*flat[0], *flat[i], *flat[i + 1]) == way for i in range(1, len(flat) - 1))
    return fan and all(orient2d(*flat[i - 2], *flat[i - 1], *flat[i]) == way for i in range(len(flat)))
