# mypy: allow-untyped-defs, allow-incomplete-defs
"""A z-buffer: which triangle is seen at each pixel, and how deep it lies.

Orthographic, as drawings are.  Pictures are for looking at: nothing here takes part in an exact answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from impinge.apps.clusters import Clusters
from impinge.arrays import Bools, Floats, Ints
from impinge.kernels.jit import inner, kernel
from impinge.kernels.record import Record, bool_, float64, int32, int64

Depths = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Camera:
    """Looks along ``forward`` at ``centre``; the picture is ``span`` units high."""

    centre: Floats
    forward: Floats
    span: float
    width: int
    height: int

    @cached_property
    def axes(self) -> Floats:
        """(3, 3) rows: right, down, forward."""
        x, y, z = self.forward.tolist()
        right = np.array([y, -x, 0.0] if abs(z) < 0.999 else [-z, 0.0, x])  # at right angles to the z or y axis
        u, v, w = (right / np.linalg.norm(right)).tolist()
        return np.array([[u, v, w], [y * w - z * v, z * u - x * w, x * v - y * u], [x, y, z]])

    def project(self, points: Floats) -> Floats:
        """(..., 3) world points as pixel x, pixel y and depth, all in pixels."""
        seen: Floats = (points - self.centre) @ self.axes.T * (self.height / self.span)
        seen[..., 0] += self.width / 2.0
        seen[..., 1] += self.height / 2.0
        return seen

    def resized(self, width: int, height: int) -> Camera:
        return Camera(self.centre, self.forward, self.span, width, height)


def looking_from(azimuth: float, elevation: float) -> Floats:
    """The forward direction of a viewer who stands at these angles, in degrees; azimuth 0 is -y, 90 is +x."""
    a, e = np.radians(azimuth), np.radians(elevation)
    return -np.array([np.sin(a) * np.cos(e), -np.cos(a) * np.cos(e), np.sin(e)])


@dataclass(frozen=True, eq=False)
class Layer:
    """What the camera sees of a group of triangles."""

    depth: Depths
    """(height, width), infinite where nothing is seen."""
    face: Ints
    """(height, width) row of the triangle, -1 where nothing is seen."""

    @cached_property
    def seen(self) -> Bools:
        return self.face >= 0


def rasterise(camera: Camera, clusters: Clusters, chosen: NDArray[np.int64]) -> Layer:
    """The chosen clusters through the z-buffer; of two triangles at the same depth the first wins."""
    depth = np.full((camera.height, camera.width), np.inf, dtype=np.float32)
    # From the front to the back: what is hidden is then told by boxes.
    middle, half = clusters.boxes[chosen].mean(axis=1), np.ptp(clusters.boxes[chosen], axis=1) / 2.0
    near = (middle - camera.centre) @ camera.forward - half @ np.abs(camera.forward)
    face = _fill(camera, clusters, chosen[np.argsort(near, kind="stable")], depth, False)
    return Layer(depth, face)


def hidden(camera: Camera, clusters: Clusters, chosen: NDArray[np.int64], depth: Depths) -> Bools:
    """(height, width) whether the chosen clusters hide a point at this depth; -inf asks for no answer.

    Boxes tell that most clusters are in front of no point.  ``depth`` is overwritten.
    """
    return _fill(camera, clusters, chosen, depth, True) >= 0


def trace(camera: Camera, segments: Floats) -> Depths:
    """(height, width) the depth of the nearest of (k, 2, 3) segments at each pixel, infinite where there is none."""
    depth = np.full((camera.height, camera.width), np.inf, dtype=np.float32)
    trace_segments(np.ascontiguousarray(camera.project(segments)), depth)
    return depth


def _fill(camera: Camera, clusters: Clusters, chosen: NDArray[np.int64], depth: Depths, once: bool) -> Ints:
    face = np.full(depth.shape, -1, dtype=np.int32)
    right, down, _ = camera.axes * (camera.span / camera.height)
    corner = camera.centre - right * (camera.width / 2.0) - down * (camera.height / 2.0)
    filling = Filling(
        vertices=clusters.vertices,
        faces=clusters.faces,
        first=clusters.first,
        boxes=clusters.boxes,
        chosen=chosen,
        axes=camera.axes * (camera.height / camera.span),
        corner=corner,
        once=once,
    )
    tiles = np.full((-(-camera.height // _TILE), -(-camera.width // _TILE)), np.inf, dtype=np.float32)
    fill_clusters(filling.address, depth, tiles, face)
    return face


class Filling(Record):
    """Which triangles are entered into the buffers, and how."""

    vertices = float64[:, 3]
    faces = int32[:, 3]
    first = int64[:]
    boxes = float64[:, 2, 3]
    """The arrays of ``Clusters``;"""
    chosen = int64[:]
    """the clusters that are entered, in this order."""
    axes = float64[3, 3]
    """Of the camera, in pixels to the unit;"""
    corner = float64[3]
    """the upper left corner of the picture."""
    scratch = float64[5, 3]
    """The corners of a triangle in pixels, and their bounds; made in the kernel it would double the compile time."""
    once = bool_
    """Whether a pixel is done when a triangle was entered there."""


filling_at = Filling.at

_LOW, _HIGH = 3, 4
"""Rows of the bounds in ``scratch``, after the three corners."""
_TILE = 8
"""Pixels to the side of a tile."""
_BOX_MARGIN = 1e-3
"""In pixels: more than rounding moves a box."""
_EDGE_MARGIN = 1e-6
"""Neighbours both take a pixel on their common edge, so that nothing shines through between them."""


@inner
def _first_pixel(low, size):
    """The first of ``size`` pixels whose middle is not below ``low``."""
    if not low > 0.5:
        return 0
    if not low < size:
        return size  # the number may not fit an integer
    pixel = int(low)
    return pixel if pixel + 0.5 >= low else pixel + 1


@inner
def _last_pixel(high, size):
    """The last of ``size`` pixels whose middle is not above ``high``."""
    if not high < size:
        return size - 1
    if not high > 0.0:
        return -1
    pixel = int(high)
    return pixel if pixel + 0.5 <= high else pixel - 1


@kernel("int64, float32[:, ::1], float32[:, ::1], int32[:, ::1]")
def fill_clusters(filling, depth, tiles, face):
    """Enter the triangles of the chosen clusters into the two buffers; nearer ones win."""
    filling = filling_at(filling)
    vertices, faces, boxes = filling.vertices, filling.faces, filling.boxes
    axes, origin, scratch = filling.axes, filling.corner, filling.scratch
    for n in range(filling.n_chosen):
        c = filling.chosen[n]
        for axis in range(3):
            middle, reach = 0.0, _BOX_MARGIN
            for k in range(3):
                middle += axes[axis, k] * ((boxes[c, 0, k] + boxes[c, 1, k]) / 2.0 - origin[k])
                reach += abs(axes[axis, k]) * ((boxes[c, 1, k] - boxes[c, 0, k]) / 2.0)
            scratch[_LOW, axis], scratch[_HIGH, axis] = middle - reach, middle + reach
        if not _may_be_seen(scratch, depth, tiles):
            continue
        for i in range(filling.first[c], filling.first[c + 1]):
            for axis in range(3):
                scratch[_LOW, axis], scratch[_HIGH, axis] = np.inf, -np.inf
            for corner in range(3):
                v = faces[i, corner]
                for axis in range(3):
                    place = 0.0
                    for k in range(3):
                        place += axes[axis, k] * (vertices[v, k] - origin[k])
                    scratch[corner, axis] = place
                    if place < scratch[_LOW, axis]:
                        scratch[_LOW, axis] = place
                    if place > scratch[_HIGH, axis]:
                        scratch[_HIGH, axis] = place
            if _may_be_seen(scratch, depth, tiles):
                _fill_triangle(i, scratch, filling.once, depth, face)


@inner
def _may_be_seen(scratch, depth, tiles):
    """Whether a box, in pixels, is in the picture and not behind what is in the buffer.

    A tile knows how deep its pixels were when last updated; they only come nearer.
    """
    height, width = depth.shape
    left, right = _first_pixel(scratch[_LOW, 0], width), _last_pixel(scratch[_HIGH, 0], width)
    top, bottom = _first_pixel(scratch[_LOW, 1], height), _last_pixel(scratch[_HIGH, 1], height)
    if left > right or top > bottom:
        return False  # many triangles of a fine mesh lie between the middles of the pixels
    near = scratch[_LOW, 2]
    for i in range(top // _TILE, bottom // _TILE + 1):
        for j in range(left // _TILE, right // _TILE + 1):
            if tiles[i, j] >= near:
                deepest = depth[i * _TILE, j * _TILE]
                for row in range(i * _TILE, (i + 1) * _TILE):
                    for column in range(j * _TILE, (j + 1) * _TILE):
                        if row < height and column < width and depth[row, column] > deepest:
                            deepest = depth[row, column]
                tiles[i, j] = deepest
            if tiles[i, j] >= near:
                return True
    return False


@inner
def _fill_triangle(i, scratch, once, depth, face):
    """Enter one triangle, corners in pixels, row by row."""
    height, width = depth.shape
    top, middle, bottom = 0, 1, 2
    if scratch[middle, 1] < scratch[top, 1]:
        top, middle = middle, top
    if scratch[bottom, 1] < scratch[top, 1]:
        top, bottom = bottom, top
    if scratch[bottom, 1] < scratch[middle, 1]:
        middle, bottom = bottom, middle
    ax, ay, az = scratch[top, 0], scratch[top, 1], scratch[top, 2]
    bx, by, bz = scratch[middle, 0] - ax, scratch[middle, 1] - ay, scratch[middle, 2] - az
    cx, cy, cz = scratch[bottom, 0] - ax, scratch[bottom, 1] - ay, scratch[bottom, 2] - az
    area = bx * cy - by * cx
    if area == 0.0:
        return  # edge on
    slope_x, slope_y = (bz * cy - cz * by) / area, (cz * bx - bz * cx) / area
    near, far = scratch[_LOW, 2], scratch[_HIGH, 2]
    whole, upper, lower = cx / cy, bx / by, (cx - bx) / (cy - by)
    for row in range(_first_pixel(ay, height), _last_pixel(scratch[bottom, 1], height) + 1):
        y = row + 0.5 - ay
        left = ax + y * whole
        right = ax + y * upper if y < by or by == cy else ax + bx + (y - by) * lower
        if right < left:
            left, right = right, left
        z_at_zero = az + slope_y * y - slope_x * ax
        for column in range(_first_pixel(left - _EDGE_MARGIN, width), _last_pixel(right + _EDGE_MARGIN, width) + 1):
            z = z_at_zero + slope_x * (column + 0.5)
            # A sliver's slopes are far off: it must not stand out of the plane of its neighbours.
            if z < near:
                z = near
            elif z > far:
                z = far
            rounded = np.float32(z)  # as it is kept: what lies in one plane is at the same depth
            if rounded < depth[row, column] or (rounded == depth[row, column] and i < face[row, column]):
                depth[row, column] = -np.inf if once else rounded
                face[row, column] = i


@kernel("float64[:, :, ::1], float32[:, ::1]")
def trace_segments(ends, depth):
    """Enter segments, ends in pixels, into the buffer, a point to each pixel; nearer ones win."""
    height, width = depth.shape
    for i in range(len(ends)):
        length = max(abs(ends[i, 1, 0] - ends[i, 0, 0]), abs(ends[i, 1, 1] - ends[i, 0, 1]))
        # A segment far longer than the picture needs no more points than the picture has pixels.
        steps = int(min(length, 4.0 * (width + height))) + 1
        for step in range(steps + 1):
            t = step / steps
            x = ends[i, 0, 0] * (1.0 - t) + ends[i, 1, 0] * t
            y = ends[i, 0, 1] * (1.0 - t) + ends[i, 1, 1] * t
            z = ends[i, 0, 2] * (1.0 - t) + ends[i, 1, 2] * t
            if 0.0 <= x < width and 0.0 <= y < height and z < depth[int(y), int(x)]:
                depth[int(y), int(x)] = z
