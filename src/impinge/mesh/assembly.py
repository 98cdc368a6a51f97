"""Assembly: named instances of shared meshes, each with its pose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from impinge.arrays import Floats
from impinge.mesh.mesh import Mesh


@dataclass(frozen=True, eq=False)
class Part:
    """One instance: several parts may share one Mesh."""

    name: str
    mesh: Mesh
    pose: Floats
    """(4, 4), rigid."""


@dataclass(frozen=True, eq=False)
class Assembly:
    """Parts in the order of the file.  Names are unique."""

    parts: tuple[Part, ...]
    unit: str | None = None
    """The unit of all coordinates ("m", "mm", ...), None where the file does not say."""

    def __len__(self) -> int:
        return len(self.parts)

    def __iter__(self) -> Iterator[Part]:
        return iter(self.parts)

    def __getitem__(self, name: str) -> Part:
        for part in self.parts:
            if part.name == name:
                return part
        raise KeyError(f"no part named {name!r}")

    def __repr__(self) -> str:
        meshes = {id(part.mesh): part.mesh for part in self.parts}
        triangles = sum(len(part.mesh.faces) for part in self.parts)
        unit = self.unit or "not given"
        return f"Assembly({len(self)} parts of {len(meshes)} meshes, {triangles} triangles, unit {unit})"
