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

MICROMETRES = {"um": 1.0, "mm": 1e3, "cm": 1e4, "m": 1e6, "in": 25_400.0, "ft": 304_800.0}
"""The units by name.  Counted in whole micrometres, every quotient of two of them is correctly rounded."""


_POLYGON = 100
"""Bytes of a short list of integers."""


@dataclass(frozen=True, eq=False)
class Geometry:
    vertices: Floats
    faces: Faces

    @property
    def size(self) -> int:
        """Bytes in memory, about."""
        faces = self.faces.nbytes if isinstance(self.faces, np.ndarray) else _POLYGON * len(self.faces)
        return self.vertices.nbytes + faces


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


def triangles_of_strip(strip: NDArray[np.int64]) -> NDArray[np.int64]:
    """Triangles of a strip, every second one turned so that all wind alike."""
    faces = np.column_stack((strip[:-2], strip[1:-1], strip[2:]))
    faces[1::2] = faces[1::2, ::-1]
    return faces


def triangles_of_fan(fan: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.column_stack((np.full(max(len(fan) - 2, 0), fan[0]), fan[1:-1], fan[2:]))


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
