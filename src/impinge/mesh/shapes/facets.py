"""Solids of flat facets that are known as triangles, and the sizes that shapes accept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats, is_id, real_array, shown
from impinge.constants import LARGEST_COORDINATE
from impinge.mesh.mesh import Mesh, mesh_of_arrays

Longs = NDArray[np.int64]

SMALLEST_SIZE = 2.0**-970
"""Sizes below 1e-292 are refused: their coordinates would be subnormal numbers, which keep fewer digits."""


def length_of(value: Any, what: str) -> float:
    """A length that is positive, finite and within the range of coordinates."""
    number = real_array(value, what)
    if number.ndim != 0:
        raise ValueError(f"{what}: expected one number, got shape {number.shape}")
    if not (0.0 < number < np.inf):
        raise ValueError(f"{what} is {shown(float(number))}; it must be positive and finite")
    if not SMALLEST_SIZE <= number <= LARGEST_COORDINATE:
        limits = f"{SMALLEST_SIZE:.2g} and {LARGEST_COORDINATE:.2g}"
        raise ValueError(f"{what} is {float(number):g}; it must be between {limits}")
    return float(number)


def count_of(value: Any, what: str, least: int, most: int | None = None) -> int:
    """A whole number within limits."""
    if not is_id(value) or value < least or (most is not None and value > most):
        limits = f"of {least} or more" if most is None else f"from {least} to {most}"
        raise ValueError(f"{what} is {shown(value)}; it must be a whole number {limits}")
    return int(value)


def solid_of(vertices: Floats, facets: Iterable[Longs]) -> Mesh:
    """A solid of flat facets, each given as its (k, 3) triangles.

    The triangles are known, so that ``Mesh`` has none to choose: its choice among those of a tiny quad is another one.
    """
    triangles = list(facets)
    polygon = np.repeat(np.arange(len(triangles), dtype=np.int32), [len(facet) for facet in triangles])
    return mesh_of_arrays(vertices + 0.0, np.concatenate(triangles).astype(np.int32), polygon, True)


def fans(polygons: Longs) -> Longs:
    """(m, k - 2, 3) the triangles of convex polygons (m, k), as fans around their first corners."""
    around = np.arange(1, polygons.shape[1] - 1)
    first = np.broadcast_to(polygons[:, :1], (len(polygons), len(around)))
    return np.stack([first, polygons[:, around], polygons[:, around + 1]], axis=-1)


def band(low: Longs, high: Longs) -> Longs:
    """The polygons between two counter-clockwise rings of vertices, one above the other; a ring of one is a tip."""
    if len(low) == 1:
        corners = [np.full(len(high), low[0]), np.roll(high, -1), high]
    elif len(high) == 1:
        corners = [low, np.roll(low, -1), np.full(len(low), high[0])]
    else:
        corners = [low, np.roll(low, -1), np.roll(high, -1), high]
    return np.stack(corners, axis=-1)
