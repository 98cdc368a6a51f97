"""Triangles in small clusters that lie close together, each with its box.

A picture of a corner of a large assembly looks at boxes first and then at few triangles.  Clusters are runs along
a space-filling curve: Morton (1966), "A computer oriented geodetic data base".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats, Ints

_SIZE = 64
"""Triangles to a cluster; with half or twice as many, pictures of 376,520 triangles take the same within a tenth."""
_BITS = 10
"""Of each coordinate on the curve: cells finer than a thousandth of the mesh make no better clusters."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """Triangles by the rows of their corners; those of one cluster stand side by side."""

    vertices: Floats
    """(n, 3)."""
    faces: Ints
    """(m, 3) rows of ``vertices``."""
    first: NDArray[np.int64]
    """(c + 1,) where each cluster begins in ``faces``, and the end."""
    boxes: Floats
    """(c, 2, 3) the lowest and the highest corner of each."""

    @classmethod
    def of(cls, vertices: Floats, faces: Ints, first: NDArray[np.int64]) -> Clusters:
        """Triangles that stand in the order of clusters already."""
        boxes = np.empty((len(first) - 1, 2, 3))
        if len(boxes):
            for axis in range(3):
                a, b, c = (vertices[:, axis][faces[:, corner]] for corner in range(3))
                boxes[:, 0, axis] = np.minimum.reduceat(np.minimum(np.minimum(a, b), c), first[:-1])
                boxes[:, 1, axis] = np.maximum.reduceat(np.maximum(np.maximum(a, b), c), first[:-1])
        return cls(vertices, faces, first, boxes)

    def __len__(self) -> int:
        return len(self.boxes)


def cluster_starts(count: int) -> NDArray[np.int64]:
    """Where the clusters of so many triangles begin, and the end."""
    return np.append(np.arange(0, count, _SIZE, dtype=np.int64), count)


def curve_order(vertices: Floats, faces: Ints) -> NDArray[np.int64]:
    """The rows of the triangles along the curve, by the sum of their corners."""
    if not len(faces):
        return np.empty(0, dtype=np.int64)
    key = np.zeros(len(faces), dtype=np.int64)
    for axis in range(3):
        place = vertices[:, axis][faces].sum(axis=1)
        low, high = place.min(), place.max()
        scale = (2**_BITS - 1) / (high - low) if high > low else 0.0
        key |= _spread(((place - low) * scale).astype(np.int64)) << axis
    return np.argsort(key, kind="stable")


def _spread(x: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bits of a 10-bit number, two zeros after each."""
    x = (x | (x << 16)) & 0x030000FF
    x = (x | (x << 8)) & 0x0300F00F
    x = (x | (x << 4)) & 0x030C30C3
    return (x | (x << 2)) & 0x09249249
