"""Mesh: a validated, immutable polygon soup."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.geometry.cast import Floats, Ints, as_indices, as_points

Derived = TypeVar("Derived")


class Mesh:
    """Triangles or polygons over shared vertices; a closed surface may be declared a solid."""

    def __init__(self, vertices: ArrayLike, faces: ArrayLike | Sequence[Sequence[int]], solid: bool = False) -> None:
        points = as_points(vertices, "vertices").copy()
        triangles = as_indices(faces, "faces", len(points)).copy()
        if triangles.ndim != 2 or triangles.shape[1] != 3 or len(triangles) == 0:
            raise ValueError(f"faces: expected shape (m, 3) with m > 0, got {triangles.shape}")
        polygon = np.arange(len(triangles), dtype=np.int32)
        for array in (points, triangles, polygon):
            array.flags.writeable = False
        self.vertices: Floats = points
        self.faces: Ints = triangles
        self.polygon: NDArray[np.int32] = polygon
        self.solid = solid
        self._memo: dict[Hashable, Any] = {}
        self._lock = threading.RLock()

    def memo(self, key: Hashable, make: Callable[[Mesh], Derived]) -> Derived:
        """What was derived from this mesh under ``key``, made at the first request."""
        with self._lock:
            if key not in self._memo:
                self._memo[key] = make(self)
            return self._memo[key]  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        n, m = len(self.vertices), len(self.faces)
        what = "solid" if self.solid else "surface"
        return f"Mesh({n} vertices, {m} triangle{'s' * (m != 1)}, {what})"
