"""What a scene of two bodies consists of.

All bodies are surfaces, as in the papers and in other libraries: a body within another without touching it is apart.
"""

from __future__ import annotations

from dataclasses import dataclass

from impinge.arrays import Floats
from impinge.mesh.mesh import Mesh


@dataclass(frozen=True, eq=False)
class PairScene:
    """A body at rest in the world's frame, and another one in many poses."""

    name: str
    fixed: Mesh
    mover: Mesh
    poses: Floats
    """(k, 4, 4) independent poses of the mover."""
    path: Floats
    """(m, 4, 4) a smooth motion of the mover in small steps."""

    def __repr__(self) -> str:
        return (
            f"PairScene({self.name}: {len(self.fixed.faces)} x {len(self.mover.faces)} triangles, "
            f"{len(self.poses)} poses, a path of {len(self.path)})"
        )
