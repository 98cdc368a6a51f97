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
from impinge.kernels.jit import inlined, inner, kernel
from impinge.kernels.record import Record, bool_, float64, int64, records


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


class Corner(Record):
    """A corner of a polygon."""

    point = float64[3]
    height = float64
    """Over the plane that the polygon is being clipped by."""
    behind = int64
    """The face behind the edge that leaves this corner."""


class Walk(Record):
    """A walk over the surface of the region; faces of b are numbered behind those of a."""

    stack = int64[:]
    """Faces that are still to be visited,"""
    waiting = int64
    """and how many these are."""
    seen = bool_[:]
    """Whether a face was ever on the stack,"""
    inside = bool_[:]
    """and whether it bounds the region."""
    nearly = float64
    """What is nearer to a plane than this counts as inside."""
    polygon = records(Corner)[:]
    """What is left of a face, while it is clipped,"""
    clipped = records(Corner)[:]
    """and what the next plane leaves of that."""
    farthest = int64[6, 3]
    """The three planes that meet in the corner farthest along -x, -y, -z, x, y, z,"""
    values = float64[6]
    """and how far that is."""


hull_at = PosedHull.at
walk_at = Walk.at

_OFFSET = 3
"""The column of a plane behind its normal."""


@inlined
def _height(planes, face, p):
    return planes[face, 0] * p[0] + planes[face, 1] * p[1] + planes[face, 2] * p[2] + planes[face, _OFFSET]


@inner
def _clip(walk, count, name):
    """Write the part of the polygon inside a plane, given heights over it; returns its number of corners.

    ``name`` is the face that lies in the plane.
    """
    nearly, clipped = walk.nearly, walk.clipped
    found = 0
    for i in range(count):
        here, there = walk.polygon[i], walk.polygon[i + 1 if i + 1 < count else 0]
        inside, next_inside = here.height <= nearly, there.height <= nearly
        if inside and found < walk.n_clipped:
            clipped[found] = here
            found += 1
        if inside != next_inside and found < walk.n_clipped:
            s = (nearly - here.height) / (there.height - here.height)
            for k in range(3):
                clipped[found].point[k] = here.point[k] + s * (there.point[k] - here.point[k])
            clipped[found].behind = name if inside else here.behind
            found += 1
    return found


@inner
def _load_face(walk, hull, face, first):
    """Make the polygon a face of a hull whose faces have numbers from ``first`` on; returns its number of corners."""
    start = hull.starts[face]
    count = hull.starts[face + 1] - start
    for i in range(count):
        corner = walk.polygon[i]
        for k in range(3):
            corner.point[k] = hull.vertices[hull.corners[start + i], k]
        corner.behind = first + hull.neighbours[start + i]
    return count


@inner
def _clip_by_hull(walk, count, hull, first):
    """Cut off the polygon what is outside a hull; returns its number of corners."""
    for plane in range(hull.n_planes):
        outside = 0
        for i in range(count):
            corner = walk.polygon[i]
            corner.height = _height(hull.planes, plane, corner.point)
            outside += corner.height > walk.nearly
        if outside == count:
            return 0
        if outside:
            count = _clip(walk, count, first + plane)
            for i in range(count):
                walk.polygon[i] = walk.clipped[i]
    return count


@inner
def _note_farthest(walk, count, face):
    """Keep the planes that meet in the corners that are farthest along the axes."""
    for i in range(count):
        corner, before = walk.polygon[i], walk.polygon[i - 1 if i > 0 else count - 1]
        for k in range(6):
            value = -corner.point[k] if k < 3 else corner.point[k - 3]
            if value > walk.values[k]:
                walk.values[k] = value
                walk.farthest[k, 0] = face
                walk.farthest[k, 1] = before.behind
                walk.farthest[k, 2] = corner.behind


@kernel
def walk_region(a, b, walk):
    """Walk from the faces on the stack over the surface of the region; returns how many faces bound it."""
    a, b, walk = hull_at(a), hull_at(b), walk_at(walk)
    count_a = a.n_planes
    found = 0
    while walk.waiting > 0:
        walk.waiting -= 1
        face = walk.stack[walk.waiting]
        if face < count_a:
            count = _clip_by_hull(walk, _load_face(walk, a, face, 0), b, count_a)
        else:
            count = _clip_by_hull(walk, _load_face(walk, b, face - count_a, count_a), a, 0)
        if count == 0:
            continue
        found += 1
        walk.inside[face] = True
        _note_farthest(walk, count, face)
        for i in range(count):
            behind = walk.polygon[i].behind
            if not walk.seen[behind]:
                walk.seen[behind] = True
                walk.stack[walk.waiting] = behind
                walk.waiting += 1
    return found


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
        room = faces + len(a.corners) + len(b.corners)
        walk = Walk(
            stack=np.zeros(faces + len(start), dtype=np.int64),
            waiting=len(start),
            seen=np.zeros(faces, dtype=np.bool_),
            inside=np.zeros(faces, dtype=np.bool_),
            nearly=NEARLY * max(a.largest, b.largest),
            polygon=np.empty(room, dtype=Corner.dtype),
            clipped=np.empty(room, dtype=Corner.dtype),
            values=-np.inf,
        )
        walk.stack[: len(start)] = start
        walk.seen[start] = True
        if walk_region(a.address, b.address, walk.address) == 0:
            return None
        middle = 0.5 * (walk.values[3:] - walk.values[:3])
        return region_of(a, b, walk.inside, walk.farthest, middle)


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
    inside = heights.max(axis=1) <= NEARLY * max(hull.largest, other.largest)
    return np.asarray(corners[inside], dtype=np.int32)
