"""Assembly: named instances of shared meshes, each with its pose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from impinge.arrays import Floats
from impinge.mesh.mesh import Mesh


@dataclass(frozen=True, eq=False)
class Part:
    """A named instance of a mesh in an assembly; several parts may share one Mesh.

    Examples
    --------
    >>> import numpy as np
    >>> from impinge import Part, shapes
    >>> part = Part("bolt", shapes.cylinder(1, 8), np.eye(4))
    >>> part.name, part.mesh.solid
    ('bolt', True)
    """

    name: str
    """Its name, which no other part of the assembly has."""
    mesh: Mesh
    """Its shape, in its own coordinates."""
    pose: Floats
    """(4, 4), rigid: from its own coordinates to those of the assembly."""


@dataclass(frozen=True, eq=False)
class Assembly:
    """The parts of a file, in its order: what ``load_assembly`` returns.

    An assembly has a length and yields its parts; ``assembly[name]`` is one of them.

    Examples
    --------
    >>> import numpy as np
    >>> from impinge import Assembly, Part, shapes
    >>> bolt, aside = shapes.cylinder(1, 8), np.eye(4)
    >>> aside[0, 3] = 20.0
    >>> assembly = Assembly((Part("bolt", bolt, np.eye(4)), Part("bolt_1", bolt, aside)), unit="mm")
    >>> assembly
    Assembly(2 parts of 1 meshes, 248 triangles, unit mm)
    >>> [part.name for part in assembly], assembly["bolt_1"].pose[0, 3]
    (['bolt', 'bolt_1'], np.float64(20.0))
    """

    parts: tuple[Part, ...]
    """The parts; their names are unique."""
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
