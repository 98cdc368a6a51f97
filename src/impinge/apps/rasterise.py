"""A z-buffer: which triangle is seen at each pixel, and how deep it lies.

Orthographic, as drawings are.  Pictures are for looking at: nothing here takes part in an exact answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from impinge.geometry.cast import Floats
from impinge.jit import kernel


@dataclass(frozen=True, eq=False)
class Camera:
    """Looks along ``forward`` at ``centre``; the picture is ``span`` units high."""

    centre: Floats
    forward: Floats
    span: float
    width: int
    height: int

    @property
    def axes(self) -> Floats:
        """(3, 3) rows: right, down, forward."""
        up = np.array([0.0, 0.0, 1.0]) if abs(self.forward[2]) < 0.999 else np.array([0.0, 1.0, 0.0])
        right = np.cross(self.forward, up)
        right /= np.linalg.norm(right)
        return np.stack([right, np.cross(self.forward, right), self.forward])

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

    depth: Floats
    """(height, width), infinite where nothing is seen."""
    face: NDArray[np.int32]
    """(height, width) row of the triangle array, -1 where nothing is seen."""

    @property
    def seen(self) -> NDArray[np.bool_]:
        return self.face >= 0


def rasterise(camera: Camera, triangles: Floats) -> Layer:
    """(m, 3, 3) world triangles through the z-buffer."""
    depth = np.full((camera.height, camera.width), np.inf)
    face = np.full((camera.height, camera.width), -1, dtype=np.int32)
    fill_triangles(np.ascontiguousarray(camera.project(triangles)), depth, face)
    return Layer(depth, face)


@kernel
def fill_triangles(corners: Floats, depth: Floats, face: NDArray[np.int32]) -> None:
    """Enter (m, 3, 3) projected triangles into the two buffers; nearer ones win."""
    height, width = depth.shape
    for i in range(len(corners)):
        ax, ay, az = corners[i, 0, 0], corners[i, 0, 1], corners[i, 0, 2]
        bx, by, bz = corners[i, 1, 0], corners[i, 1, 1], corners[i, 1, 2]
        cx, cy, cz = corners[i, 2, 0], corners[i, 2, 1], corners[i, 2, 2]
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        if area == 0.0:
            continue  # edge on
        # Clamp before rounding: far off the picture the number may not fit an integer.
        left = int(min(width + 0.0, max(0.0, np.floor(min(ax, bx, cx)))))
        right = int(max(-1.0, min(width - 1.0, np.ceil(max(ax, bx, cx)))))
        top = int(min(height + 0.0, max(0.0, np.floor(min(ay, by, cy)))))
        bottom = int(max(-1.0, min(height - 1.0, np.ceil(max(ay, by, cy)))))
        for y in range(top, bottom + 1):
            py = y + 0.5
            for x in range(left, right + 1):
                px = x + 0.5
                wa = ((bx - px) * (cy - py) - (by - py) * (cx - px)) / area
                wb = ((cx - px) * (ay - py) - (cy - py) * (ax - px)) / area
                wc = 1.0 - wa - wb
                if wa >= 0.0 and wb >= 0.0 and wc >= 0.0:
                    z = wa * az + wb * bz + wc * cz
                    if z < depth[y, x]:
                        depth[y, x] = z
                        face[y, x] = i
