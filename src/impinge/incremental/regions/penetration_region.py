# mypy: allow-untyped-defs, allow-incomplete-defs
"""The region of interpenetration of two convex hulls, by a depth-first walk over their faces.

Ponamgi, Manocha and Lin (1995), 4.6: one feature of each hull that is inside the other is known; from there the walk
goes to adjacent features as long as they are inside, or are crossed by faces of the other hull.

What is walked over is the surface of the region.  Its patches are the parts of faces of one hull that are inside the
other: a face is clipped by the planes of the other hull, and each edge of what is left knows what is behind it, the
neighbour in its own hull or the face of the other one that cut it off.  The region is convex, so its surface is
connected, and the walk reaches all of it, also where a bar goes through a plate (two patches of the plate, connected by
those of the bar).  Nested hulls have a region too: the inner one.

Planes are rounded, and what is nearer to one than that counts as inside.  So where hulls only touch, more or fewer
faces may be named than there are in exact arithmetic (``regions.dual_region`` names none); the box holds all
contacts in any case.  Flat hulls have no inside and no region.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.arrays import Floats, Ints
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.convex.search import ConvexSearch
from impinge.geometry.pose import as_pose
from impinge.incremental.regions.posed_hull import NEARLY, PosedHull, posed_hull
from impinge.incremental.regions.region_box import common_box, region_box
from impinge.kernels.jit import inner, kernel


@dataclass(frozen=True, eq=False)
class Region:
    """Where two hulls interpenetrate."""

    faces_a: Ints
    faces_b: Ints
    """The faces of each hull that bound the region, ascending."""
    vertices_a: Ints
    vertices_b: Ints
    """The corners of each hull that are inside the other."""
    box: Floats
    """(2, 3) holds the region for certain, and all contacts of what the hulls were made for."""
    inner: Floats
    """(3,) a point inside."""


# ------------------------------------------------------------------------------ kernels


@inner
def _height(planes, face, p, i):
    return planes[face, 0] * p[i, 0] + planes[face, 1] * p[i, 1] + planes[face, 2] * p[i, 2] + planes[face, 3]


@inner
def _clip(planes, face, name, nearly, points, labels, count, heights, more_points, more_labels):
    """The part of a polygon inside a plane; ``labels`` name what is behind the edge that leaves each corner."""
    found = 0
    for i in range(count):
        j = i + 1 if i + 1 < count else 0
        inside, next_inside = heights[i] <= nearly, heights[j] <= nearly
        if inside and found < len(more_points):
            for k in range(3):
                more_points[found, k] = points[i, k]
            more_labels[found] = labels[i]
            found += 1
        if inside != next_inside and found < len(more_points):
            s = (nearly - heights[i]) / (heights[j] - heights[i])
            for k in range(3):
                more_points[found, k] = points[i, k] + s * (points[j, k] - points[i, k])
            more_labels[found] = name if inside else labels[i]
            found += 1
    return found


@inner
def _patch(vertices, starts, corners, neighbours, face, own, planes, other, nearly, points, labels, heights, spare):
    """What is left of a face inside the other hull: returns its number of corners."""
    more_points, more_labels = spare
    count = starts[face + 1] - starts[face]
    for i in range(count):
        for k in range(3):
            points[i, k] = vertices[corners[starts[face] + i], k]
        labels[i] = own + neighbours[starts[face] + i]
    for plane in range(len(planes)):
        outside = 0
        for i in range(count):
            heights[i] = _height(planes, plane, points, i)
            outside += heights[i] > nearly
        if outside == count:
            return 0
        if outside:
            count = _clip(
                planes, plane, other + plane, nearly, points, labels, count, heights, more_points, more_labels
            )
            for i in range(count):
                for k in range(3):
                    points[i, k] = more_points[i, k]
                labels[i] = more_labels[i]
    return count


@inner
def _note_farthest(points, labels, count, face, farthest, values):
    """Keep the planes that meet in the corners that are farthest along the axes."""
    for i in range(count):
        before = i - 1 if i > 0 else count - 1
        for k in range(6):
            value = -points[i, k] if k < 3 else points[i, k - 3]
            if value > values[k]:
                values[k] = value
                farthest[k, 0] = face
                farthest[k, 1] = labels[before]
                farthest[k, 2] = labels[i]


@kernel
def walk_region(
    vertices_a, starts_a, corners_a, neighbours_a, planes_a, vertices_b, starts_b, corners_b, neighbours_b, planes_b,
    nearly, stack, open_count, seen, inside, farthest, values, room,
):  # fmt: skip
    """Walk from the faces on the stack; faces of b are numbered behind those of a.

    Marks those that bound the region in ``inside``, and fills ``farthest`` and ``values``.
    """
    count_a = len(planes_a)
    points, heights, labels = np.empty((room, 3)), np.empty(room), np.empty(room, dtype=np.int64)
    spare = np.empty((room, 3)), np.empty(room, dtype=np.int64)
    while open_count > 0:
        open_count -= 1
        face = stack[open_count]
        if face < count_a:
            count = _patch(
                vertices_a, starts_a, corners_a, neighbours_a, face, 0, planes_b, count_a, nearly,
                points, labels, heights, spare,
            )  # fmt: skip
        else:
            count = _patch(
                vertices_b, starts_b, corners_b, neighbours_b, face - count_a, count_a, planes_a, 0, nearly,
                points, labels, heights, spare,
            )  # fmt: skip
        if count == 0:
            continue
        inside[face] = True
        _note_farthest(points, labels, count, face, farthest, values)
        for i in range(count):
            behind = labels[i]
            if not seen[behind]:
                seen[behind] = True
                stack[open_count] = behind
                open_count += 1


# ------------------------------------------------------------------ Python interface


class PenetrationRegion:
    """The region of two hulls, found again from where it was in the last pose.

    >>> cube = ConvexHull([[x, y, z] for x in (0, 2) for y in (0, 2) for z in (0, 2)])
    >>> aside = np.eye(4)
    >>> aside[:3, 3] = 1.0, 0.5, 0.25
    >>> region = PenetrationRegion(cube, cube).region(None, aside)
    >>> len(region.faces_a), len(region.faces_b), region.vertices_a.tolist(), region.box.round(9).tolist()
    (3, 3, [7], [[1.0, 0.5, 0.25], [2.0, 2.0, 2.0]])
    """

    def __init__(self, a: ConvexHull, b: ConvexHull) -> None:
        self.a = a
        self.b = b
        self._last: NDArray[np.int64] = np.empty(0, dtype=np.int64)

    def region(self, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None) -> Region | None:
        """The region in a pose; None where there is none."""
        if self.a.dimension < 3 or self.b.dimension < 3:
            return None
        at_a, at_b = as_pose(pose_a, "pose_a"), as_pose(pose_b, "pose_b")
        a, b = posed_hull(self.a, at_a), posed_hull(self.b, at_b)
        known = common_box(a, b)
        if (known[0] > known[1]).any():
            return None
        region = self._walk(a, b, self._last) if len(self._last) else None
        if region is None:
            region = self._walk(a, b, self._witnesses(a, b, at_a, at_b))
        if region is None and ConvexSearch(self.a, self.b).collides(at_a[None], at_b[None])[0]:
            # Deepest points are where one hull would leave the other first, which need not be inside the other.
            region = self._walk(a, b, np.arange(len(a.planes) + len(b.planes)))
        self._last = np.empty(0, dtype=np.int64)
        if region is not None:
            self._last = np.concatenate([region.faces_a, region.faces_b + len(a.planes)]).astype(np.int64)
        return region

    def _witnesses(self, a: PosedHull, b: PosedHull, at_a: Floats, at_b: Floats) -> NDArray[np.int64]:
        """The faces of both hulls on which the deepest points lie."""
        points = ConvexSearch(self.a, self.b).penetration(at_a[None], at_b[None])[2].reshape(2, 3)
        heights = [hull.planes[:, :3] @ p + hull.planes[:, 3] for hull, p in ((a, points[0]), (b, points[1]))]
        return np.array([heights[0].argmax(), len(a.planes) + heights[1].argmax()], dtype=np.int64)

    def _walk(self, a: PosedHull, b: PosedHull, start: NDArray[np.int64]) -> Region | None:
        faces = len(a.planes) + len(b.planes)
        stack = np.zeros(faces + len(start), dtype=np.int64)
        stack[: len(start)] = start
        seen, inside = np.zeros(faces, dtype=np.bool_), np.zeros(faces, dtype=np.bool_)
        seen[start] = True
        farthest, values = np.zeros((6, 3), dtype=np.int64), np.full(6, -np.inf)
        room = faces + len(a.corners) + len(b.corners)
        nearly = NEARLY * max(a.size, b.size)
        walk_region(
            a.vertices, a.starts, a.corners, a.neighbours, a.planes, b.vertices, b.starts, b.corners, b.neighbours,
            b.planes, nearly, stack, len(start), seen, inside, farthest, values, room,
        )  # fmt: skip
        if not inside.any():
            return None
        middle = 0.5 * (values[3:] - values[:3])
        return region_of(a, b, inside, farthest, middle)


def region_of(a: PosedHull, b: PosedHull, inside: NDArray[np.bool_], farthest: NDArray[Any], middle: Floats) -> Region:
    """A region from the faces that bound it, and the planes that meet at the corners farthest along the axes."""
    faces = np.flatnonzero(inside).astype(np.int32)
    faces_a, faces_b = faces[faces < len(a.planes)], faces[faces >= len(a.planes)] - len(a.planes)
    return Region(
        faces_a=faces_a,
        faces_b=faces_b,
        vertices_a=_inside_vertices(a, faces_a, b),
        vertices_b=_inside_vertices(b, faces_b, a),
        box=region_box(a, b, farthest.tolist()),
        inner=middle,
    )


def _inside_vertices(hull: PosedHull, faces: Ints, other: PosedHull) -> Ints:
    """The corners of some faces that are inside the other hull."""
    if len(faces) == 0:
        return np.empty(0, dtype=np.int32)
    corners = np.unique(np.concatenate([hull.corners[hull.starts[i] : hull.starts[i + 1]] for i in faces]))
    heights = hull.vertices[corners] @ other.planes[:, :3].T + other.planes[:, 3]
    inside = heights.max(axis=1) <= NEARLY * max(hull.size, other.size)
    return np.asarray(corners[inside], dtype=np.int32)
