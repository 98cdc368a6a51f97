"""What every file reader returns: geometries, their placed instances and the length unit.

A reader fills a :class:`FileScene` with what stands in the file, untouched:
no vertex is merged or rounded, no face is dropped, polygons stay polygons.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats
from impinge.geometry.pose import IDENTITY

Faces = NDArray[np.integer] | Sequence[Sequence[int]]
"""(m, 3) triangles, or a list of polygons."""

Indices = NDArray[np.int64]

MICROMETRES = {"um": 1.0, "mm": 1e3, "cm": 1e4, "m": 1e6, "in": 25_400.0, "ft": 304_800.0}
"""The units by name.  Counted in whole micrometres, every quotient of two of them is correctly rounded."""


_POLYGON = 100
"""Bytes of a short list of integers."""

_LARGE_POLYGON = 1_000
"""Corners.  Those of smaller polygons take no longer to be cut than to be read."""


@dataclass(frozen=True, eq=False)
class Geometry:
    vertices: Floats
    faces: Faces

    @property
    def size(self) -> int:
        """Bytes in memory, about."""
        faces = self.faces.nbytes if isinstance(self.faces, np.ndarray) else _POLYGON * len(self.faces)
        return self.vertices.nbytes + faces

    @property
    def corners_of_large_polygons(self) -> int:
        if isinstance(self.faces, np.ndarray):
            return self.faces.size if self.faces.shape[1] > _LARGE_POLYGON else 0
        return sum(size for size in map(len, self.faces) if size > _LARGE_POLYGON)


@dataclass(frozen=True, eq=False)
class Instance:
    name: str
    geometry: Geometry
    matrix: Floats = field(default_factory=lambda: IDENTITY)
    """(4, 4), from the geometry's frame to the world; any affine matrix."""
    inside: tuple[str, ...] = ()
    """The names of the assemblies around it, outermost first."""


@dataclass(frozen=True, eq=False)
class FileScene:
    instances: list[Instance]
    """In the order of the file.  Instances of one geometry hold the same object."""
    micrometres: float | None = None
    """Length of one unit of the coordinates; None where the file does not say."""

    @property
    def unit(self) -> str | None:
        """The unit's name; an unusual one reads "0.5 m"."""
        if self.micrometres is None:
            return None
        for name, size in MICROMETRES.items():
            if size == self.micrometres:
                return name
        return f"{self.micrometres / MICROMETRES['m']!r} m"


def triangles_of_strips(corners: Indices, lengths: Indices) -> Indices:
    """Triangles of strips of so many corners, every second one turned so that all wind alike."""
    first, place = _runs_of_triangles(lengths)
    faces: Indices = corners[first[:, None] + (0, 1, 2)]
    odd = place % 2 == 1
    faces[odd] = faces[odd, ::-1]
    return faces


def triangles_of_fans(corners: Indices, lengths: Indices) -> Indices:
    first, place = _runs_of_triangles(lengths)
    faces: Indices = corners[np.column_stack((first - place, first + 1, first + 2))]
    return faces


def _runs_of_triangles(lengths: Indices) -> tuple[Indices, Indices]:
    """Where the corners of every triangle begin, and its place in its run; a run of fewer than three has none."""
    counts = np.maximum(lengths - 2, 0)
    place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(np.cumsum(lengths) - lengths, counts) + place, place


def joined(pieces: Sequence[Geometry]) -> Geometry:
    """One geometry of several, for readers whose format cuts a part into patches."""
    if len(pieces) == 1:
        return pieces[0]
    vertices = np.concatenate([piece.vertices for piece in pieces])
    starts = np.cumsum([0] + [len(piece.vertices) for piece in pieces[:-1]]).tolist()
    arrays = [piece.faces for piece in pieces if isinstance(piece.faces, np.ndarray)]
    if len(arrays) == len(pieces):
        return Geometry(vertices, np.concatenate([faces + start for faces, start in zip(arrays, starts, strict=True)]))
    polygons: list[list[int]] = []
    for piece, start in zip(pieces, starts, strict=True):
        polygons.extend([int(vertex) + start for vertex in face] for face in piece.faces)
    return Geometry(vertices, polygons)
