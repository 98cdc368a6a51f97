"""Polygons to triangles: a vectorised fan where it is right, ear clipping elsewhere.

A polygon is projected along the largest component of its Newell normal.  There,
with exact orientations, one fact decides everything: if no triangle of a
triangulation is turned over, the triangles tile the inside of a simple polygon
(their signed indicator functions add up to the winding number, which is 1
inside and 0 outside).  So a fan without turned triangles is as good as any other
answer, and ear clipping needs no check afterwards.

A polygon of k corners always becomes k - 2 triangles with the orientation of the
polygon; collinear and repeated corners cost triangles without area only where no
other choice exists.  Input that crosses itself has no right answer: it gets
k - 2 triangles over the same corners.  The edges of the polygon are edges of the
triangles in any case, and all others are used both ways, so a closed mesh stays closed.

Ears are clipped in plain Python where there are few corners, and by ``ear_clipping`` where there are
many: the same triangles in O(n log n) tests, but the compiler has to be loaded for it.

Ear clipping: Meisters (1975), "Polygons have ears", and the treatment of degenerate input in
Held (2001), "FIST: fast industrial-strength triangulation of polygons".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Bools, Floats, Ints
from impinge.geometry.exact.integers import SAFE_FROM_UNDERFLOW, newell_normal, orient2d
from impinge.geometry.exact.turns import turns

Longs = NDArray[np.int64]

_PLANE_OF_AXIS = np.array([[1, 2], [2, 0], [0, 1]])
"""The two coordinates that remain when one axis is dropped, in right-handed order."""


_WORTH_COMPILING = 200**2
"""Squares of corners.  Plain Python takes up to 5 us for each, and loading the compiler half a second."""


def triangulate(vertices: Floats, corners: Ints, starts: Longs) -> tuple[Ints, Ints]:
    """Triangles (m, 3) and the polygon that each of them comes from, in the order of the polygons.

    The corners of polygon ``i`` are ``corners[starts[i]:starts[i + 1]]``, three or more.
    """
    sizes = np.diff(starts)
    polygon = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes - 2)
    if (sizes == 3).all():
        return corners.reshape(-1, 3), polygon
    first = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes - 2, out=first[1:])

    local = _fan(first, polygon, sizes, apex=0)
    large = np.flatnonzero(sizes > 3)
    plane, sure = _project(vertices, corners, starts, large)
    fan_is_good, fan_is_right = _judge(local, plane, sure, starts, first, polygon)
    other_fan = _fan(first, polygon, sizes, apex=1)
    other_is_good, other_is_right = _judge(other_fan, plane, sure, starts, first, polygon)

    # A quad has only these two triangulations: without turned triangles first, without flat ones if possible.
    quad = sizes == 4
    prefer_other = ~fan_is_good & (other_is_good | (quad & ~fan_is_right & other_is_right))
    swap = prefer_other[polygon]
    local[swap] = other_fan[swap]
    clipped = np.flatnonzero((sizes > 3) & ~fan_is_good & ~prefer_other & (~quad | ~sure))
    if len(clipped):
        rings = [vertices[corners[starts[i] : starts[i + 1]]] for i in clipped]
        for i, triangles in zip(clipped, _clip_polygons(rings), strict=True):
            local[first[i] : first[i + 1]] = triangles
    return corners[local + starts[polygon][:, None]], polygon


def _fan(first: Longs, polygon: Ints, sizes: Longs, apex: int) -> Longs:
    """All triangles of the fan around one corner, as positions within the polygon."""
    step = np.arange(len(polygon), dtype=np.int64) - first[polygon]
    around = sizes[polygon]
    second = (apex + 1 + step) % around
    third = (apex + 2 + step) % around
    return np.stack([np.full_like(step, apex), second, third], axis=1)


def _project(vertices: Floats, corners: Ints, starts: Longs, large: Longs) -> tuple[Floats, Bools]:
    """Plane coordinates of every corner, such that polygons turn left; and for which polygons this is certain."""
    newell = np.zeros((len(starts) - 1, 3))
    bound = np.zeros((len(starts) - 1, 3))
    sizes = np.diff(starts)[large]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    owner = np.repeat(np.arange(len(large)), sizes)
    here = np.arange(offsets[-1]) - offsets[owner]
    here_corner = corners[starts[large][owner] + here]
    next_corner = corners[starts[large][owner] + (here + 1) % sizes[owner]]
    reference = vertices[corners[starts[large]]][owner]
    u, v = vertices[here_corner] - reference, vertices[next_corner] - reference
    # As large as 1, by powers of two: so small polygons get the triangles of large ones, and no product vanishes.
    largest = np.maximum.reduceat(np.abs(u).max(axis=1), offsets[:-1])
    exponent = np.frexp(largest)[1][owner][:, None]
    u, v = np.ldexp(u, -exponent), np.ldexp(v, -exponent)
    for axis, (i, j) in enumerate(_PLANE_OF_AXIS):
        left, right = u[:, i] * v[:, j], u[:, j] * v[:, i]
        newell[large, axis] = np.add.reduceat(left - right, offsets[:-1])
        bound[large, axis] = np.add.reduceat(np.abs(left) + np.abs(right), offsets[:-1])
    axis = np.argmax(np.abs(newell), axis=1)
    rows = np.arange(len(newell))
    normal = newell[rows, axis]
    # Each product is off by 3 roundings, their difference by one more, and a sum of k terms by at most k - 1.
    slack = (np.diff(starts) + 4) * 2.0**-52 * bound[rows, axis] + SAFE_FROM_UNDERFLOW
    sure = np.abs(normal) > slack
    keep = _PLANE_OF_AXIS[axis]
    keep[normal < 0] = keep[normal < 0][:, ::-1]  # swapping the two coordinates turns the polygon over
    corner_owner = np.repeat(rows, np.diff(starts))
    return vertices[corners[:, None], keep[corner_owner]], sure


def _judge(local: Longs, plane: Floats, sure: Bools, starts: Longs, first: Longs, polygon: Ints) -> tuple[Bools, Bools]:
    """For each polygon: whether all its triangles turn left, and whether none turns right."""
    a, b, c = (plane[local[:, i] + starts[polygon]] for i in range(3))
    turn = np.zeros(len(local), dtype=np.int8)
    known = sure[polygon]
    turn[known] = turns(a[known], b[known], c[known])
    worst = np.minimum.reduceat(turn, first[:-1])
    return sure & (worst > 0), sure & (worst >= 0)


def _clip_polygons(rings: Sequence[Floats]) -> Iterator[NDArray[np.int64] | list[tuple[int, int, int]]]:
    """Triangles of polygons in space, each projected along the largest component of its exact normal."""
    flat = [_exactly_projected(ring) for ring in rings]
    if sum(len(ring) ** 2 for ring in flat) < _WORTH_COMPILING:
        for ring in flat:
            yield clip_ears(ring[:, 0].tolist(), ring[:, 1].tolist())
        return
    from impinge.mesh.triangulation.ear_clipping import clip_large

    starts = np.cumsum([0, *map(len, flat)])
    triangles = clip_large(np.concatenate(flat), starts)
    for i, (start, end) in enumerate(pairwise(starts.tolist())):
        yield triangles[start - 2 * i : end - 2 * i - 2]


def _exactly_projected(points: Floats) -> Floats:
    normal = newell_normal(points.tolist())
    axis = max(range(3), key=lambda i: abs(normal[i]))
    keep = _PLANE_OF_AXIS[axis] if normal[axis] >= 0 else _PLANE_OF_AXIS[axis][::-1]
    return points[:, keep]


def clip_ears(x: Sequence[float], y: Sequence[float]) -> list[tuple[int, int, int]]:
    """Triangles over the corners of a plane polygon that turns left, two fewer than it has corners.

    Examples
    --------
    >>> clip_ears([0.0, 2.0, 2.0, 1.0], [0.0, 0.0, 2.0, 0.5])
    [(3, 0, 1), (1, 2, 3)]
    """
    ring = _Ring(x, y)
    triangles = []
    corner = 0
    while ring.size > 3:
        ear = ring.find_ear(corner)
        triangles.append((ring.before[ear], ear, ring.after[ear]))
        # Going on behind the neighbour spreads the ears around the polygon: rounder triangles than one long fan.
        corner = ring.after[ring.after[ear]]
        ring.remove(ear)
    triangles.append((ring.before[corner], corner, ring.after[corner]))
    return triangles


class _Ring:
    """The corners that are left, linked both ways."""

    def __init__(self, x: Sequence[float], y: Sequence[float]) -> None:
        self.x = x
        self.y = y
        self.size = len(x)
        self.before = [self.size - 1, *range(self.size - 1)]
        self.after = [*range(1, self.size), 0]
        self._left_x = np.array(x)
        self._left_y = np.array(y)

    def remove(self, corner: int) -> None:
        before, after = self.before[corner], self.after[corner]
        self.after[before], self.before[after] = after, before
        self._left_x[corner] = np.inf  # outside of every box from now on
        self.size -= 1

    def find_ear(self, start: int) -> int:
        """The next corner that can be cut off, preferably a true ear."""
        flat = turned_left = -1
        corner = start
        for _ in range(self.size):
            before, after = self.before[corner], self.after[corner]
            turn = self._turn(before, corner, after)
            if turn > 0:
                if not self._is_blocked(before, corner, after):
                    return corner
                turned_left = corner
            elif turn == 0:
                if self._same(before, corner) or self._same(corner, after):
                    return corner
                flat = corner
            corner = after
        # A simple polygon never comes here; a polygon that touches itself may, one that crosses itself does.
        if flat >= 0:
            return flat
        return turned_left if turned_left >= 0 else start

    def _turn(self, a: int, b: int, c: int) -> int:
        x, y = self.x, self.y
        return orient2d(x[a], y[a], x[b], y[b], x[c], y[c])

    def _same(self, a: int, b: int) -> bool:
        return self.x[a] == self.x[b] and self.y[a] == self.y[b]

    def _is_blocked(self, a: int, b: int, c: int) -> bool:
        """Whether another corner stands in the closed triangle."""
        x, y = self.x, self.y
        low_x, high_x = min(x[a], x[b], x[c]), max(x[a], x[b], x[c])
        low_y, high_y = min(y[a], y[b], y[c]), max(y[a], y[b], y[c])
        near = (self._left_x >= low_x) & (self._left_x <= high_x)
        near &= (self._left_y >= low_y) & (self._left_y <= high_y)
        for other in np.flatnonzero(near).tolist():
            if other in (a, b, c):
                continue
            if self._same(other, a):
                blocked = self._leaves_into(other, c, a, b)
            elif self._same(other, b):
                blocked = self._leaves_into(other, a, b, c)
            elif self._same(other, c):
                blocked = self._leaves_into(other, b, c, a)
            else:
                blocked = self._turn(a, b, other) >= 0 and self._turn(b, c, other) >= 0 and self._turn(c, a, other) >= 0
            if blocked:
                return True
        return False

    def _leaves_into(self, twin: int, before: int, tip: int, after: int) -> bool:
        """Whether an edge at ``twin``, which stands where ``tip`` does, runs into the angle at the tip.

        Such corners come from polygons with holes, joined to the outline by a cut that is run both ways.
        """
        return any(
            self._turn(before, tip, far) > 0 and self._turn(tip, after, far) > 0
            for far in (self.before[twin], self.after[twin])
        )
