"""The convex hull of points, as plain geometry: Qhull in space, an exact chain in the plane.

Barber, Dobkin and Huhdanpaa (1996), "The quickhull algorithm for convex hulls"; Andrew (1979),
"Another efficient algorithm for convex hulls in two dimensions".

What is guaranteed:

- The dimension is that of the point set up to ``FLAT`` parts of its extent.  Each
  axis is first centred and scaled to an extent of one by a power of two (the
  combinatorial hull does not change), so a thin plate along the axes is a solid
  at any thinness, and neither tiny nor huge nor far away input matters.
- The faces form a closed surface, wound outward.  All points are inside of all
  face planes, up to rounding errors of some 1e-15 of the extents: Qhull decides
  in float64.  Points are never jiggled: the corners of the hull are input points.
- Flat and collinear input is decided exactly in the projection along its
  dominant axis, and only strictly convex corners are listed.  In space, a point
  in the interior of a face or an edge may or may not be a vertex of the hull.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.arrays import Floats, Ints, as_points
from impinge.geometry.exact.integers import orient2d

FLAT = 2.0**-46
"""A set thinner than this part of its extent is flat: some 60 roundings, where Qhull begins to fail."""


@dataclass(frozen=True, eq=False)
class Hull:
    """A convex hull over given points."""

    vertices: Ints
    """(v,) indices of the points that are corners: ascending, but around the polygon where the dimension is 2."""
    faces: Ints
    """(m, 3) indices of points, wound outward.  In dimension 2 a fan over the polygon, below that none."""
    dimension: int
    """3, or 2 (all points in a plane), 1 (on a line), 0 (one position)."""


def convex_hull(points: ArrayLike) -> Hull:
    """The convex hull of one or more points.

    >>> hull = convex_hull([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.1, 0.1, 0.1]])
    >>> hull.dimension, hull.vertices.tolist(), hull.faces.shape
    (3, [0, 1, 2, 3], (4, 3))
    """
    given = as_points(points, "points")
    if len(given) == 0:
        raise ValueError("points: the hull of no points does not exist")
    local = _normalised(given)
    direction = _farthest_pair(local)
    if direction is None:
        return Hull(_indices([0]), _indices([]).reshape(0, 3), 0)
    first, second = direction
    away = local - local[first]
    along = away[second]
    beside = np.cross(away, along)
    third = int(np.argmax(np.abs(beside).max(axis=1)))
    normal = beside[third]
    if np.abs(normal).max() <= FLAT * np.abs(along).max():
        return _hull_on_line(given, int(np.argmax(np.abs(along))))
    height = np.abs(away @ normal) / np.abs(normal).max()
    if height.max() > FLAT:
        hull = _hull_in_space(local)
        if hull is not None:
            return hull
    return hull_in_plane(given, int(np.argmax(np.abs(normal))))


def _indices(values: ArrayLike) -> Ints:
    return np.asarray(values, dtype=np.int32)


def _normalised(points: Floats) -> Floats:
    """Each axis around its middle, with an extent between one half and one (or zero)."""
    low, high = points.min(axis=0), points.max(axis=0)
    around_middle = points - (0.5 * low + 0.5 * high)
    scaled: Floats = np.ldexp(around_middle, -np.frexp(high - low)[1])
    return scaled


def _farthest_pair(points: Floats) -> tuple[int, int] | None:
    """Two points that span the longest axis."""
    axis = int(np.argmax(np.ptp(points, axis=0)))
    first, second = int(np.argmin(points[:, axis])), int(np.argmax(points[:, axis]))
    return None if points[first, axis] == points[second, axis] else (first, second)


def _hull_on_line(points: Floats, axis: int) -> Hull:
    ends = [int(np.argmin(points[:, axis])), int(np.argmax(points[:, axis]))]
    return Hull(_indices(sorted(ends)), _indices([]).reshape(0, 3), 1)


def hull_in_plane(points: Floats, axis: int) -> Hull:
    """Andrew's monotone chain over the projection along ``axis``, with exact turns."""
    u, v = ((1, 2), (2, 0), (0, 1))[axis]
    x, y = points[:, u], points[:, v]
    coordinates = list(zip(x.tolist(), y.tolist(), strict=True))
    by_position: dict[tuple[float, float], int] = {}
    for i in np.lexsort((y, x)).tolist():  # stable, so the first of several points at one position stands for all
        by_position.setdefault(coordinates[i], i)
    order = list(by_position.values())
    outline = _half_chain(order, coordinates)[:-1] + _half_chain(order[::-1], coordinates)[:-1]
    fan = [(outline[0], outline[i], outline[i + 1]) for i in range(1, len(outline) - 1)]
    return Hull(_indices(outline), _indices(fan).reshape(-1, 3), 2)


def _half_chain(order: list[int], points: list[tuple[float, float]]) -> list[int]:
    chain: list[int] = []
    for i in order:
        while len(chain) > 1 and orient2d(*points[chain[-2]], *points[chain[-1]], *points[i]) <= 0:
            chain.pop()
        chain.append(i)
    return chain


def _hull_in_space(local: Floats) -> Hull | None:
    """Qhull's answer, or None where it finds the points flat."""
    from scipy.spatial import ConvexHull, QhullError  # type: ignore[import-untyped]

    try:
        found = ConvexHull(local)
    except QhullError:
        return None
    faces = _wound_alike(found.simplices, found.neighbors)
    corners = local[faces]
    middle = local[np.unique(faces)].mean(axis=0)
    a, b, c = (corners[:, i] - middle for i in range(3))
    if np.einsum("ij,ij->i", a, np.cross(b, c)).sum() < 0.0:
        faces = faces[:, [0, 2, 1]]
    return Hull(_indices(np.unique(faces)), np.ascontiguousarray(faces, dtype=np.int32), 3)


def _wound_alike(simplices: NDArray[np.int32], neighbours: NDArray[np.int32]) -> NDArray[np.int32]:
    """Turn triangles over until every edge is run both ways: Qhull lists corners in no particular order.

    Going from neighbour to neighbour also settles triangles without area, whose normals say nothing.
    """
    faces = simplices.tolist()
    across = neighbours.tolist()
    done = [False] * len(faces)
    done[0] = True
    waiting = [0]
    while waiting:
        here = waiting.pop()
        face = faces[here]
        for other in across[here]:
            if other < 0 or done[other]:
                continue
            ahead = faces[other]
            runs = {(face[0], face[1]), (face[1], face[2]), (face[2], face[0])}
            if any(run in runs for run in ((ahead[0], ahead[1]), (ahead[1], ahead[2]), (ahead[2], ahead[0]))):
                faces[other] = [ahead[0], ahead[2], ahead[1]]
            done[other] = True
            waiting.append(other)
    return np.asarray(faces, dtype=np.int32)
