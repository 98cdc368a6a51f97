"""The parts of an assembly as bodies: a closed part is a solid, as it is or once its cracks are welded.

Welding is kept only where it closes a part: nothing moves without need.  Of faces that are there twice one is left out,
or the part would have no inside.  What stays open is a surface.
"""

from __future__ import annotations

from dataclasses import dataclass

from impinge.mesh import topology
from impinge.mesh.assembly import Assembly, Part
from impinge.mesh.mesh import Mesh, mesh_of_arrays
from impinge.mesh.repair.repair import without_copies
from impinge.mesh.repair.weld import Weld, weld


@dataclass(frozen=True, eq=False)
class WeldedMesh:
    """A mesh that welding closed."""

    parts: tuple[str, ...]
    """The parts that share it."""
    vertices: int
    """Vertices that were taken for another one."""
    largest_move: float


@dataclass(frozen=True, eq=False)
class OpenPart:
    """A part that is no solid: nothing can lie inside it."""

    name: str
    open_edges: int


@dataclass(frozen=True, eq=False)
class Bodies:
    """One body for each part, and what was done to get it."""

    bodies: tuple[Mesh, ...]
    """In the order of the parts; parts that share a mesh share a body."""
    welded: tuple[WeldedMesh, ...]
    open_parts: tuple[OpenPart, ...]


def as_bodies(assembly: Assembly, reach: Weld) -> Bodies:
    """Every part as the solid that it bounds, if it bounds one; each mesh is welded once."""
    sharing: dict[int, list[Part]] = {}
    for part in assembly:
        sharing.setdefault(id(part.mesh), []).append(part)
    body_of: dict[int, Mesh] = {}
    welded: list[WeldedMesh] = []
    for key, parts in sharing.items():
        names = tuple(part.name for part in parts)
        body_of[key], done = _as_body(parts[0].mesh, names, reach)
        welded += done
    bodies = tuple(body_of[id(part.mesh)] for part in assembly)
    open_parts = tuple(
        OpenPart(part.name, len(topology.open_edges(body)))
        for part, body in zip(assembly, bodies, strict=True)
        if not body.solid
    )
    return Bodies(bodies, tuple(welded), open_parts)


def _as_body(mesh: Mesh, names: tuple[str, ...], reach: Weld) -> tuple[Mesh, list[WeldedMesh]]:
    if mesh.is_closed:
        return _solid(mesh), []
    if reach is None:
        return mesh, []
    try:
        done = weld(mesh, reach)
    except ValueError:  # the length is larger than most faces of this part
        return mesh, []
    if not done.mesh.is_closed:
        return mesh, []
    return _solid(done.mesh), [WeldedMesh(names, done.vertices, done.largest_move)]


def _solid(mesh: Mesh) -> Mesh:
    single = without_copies(mesh)
    return single if single.solid else mesh_of_arrays(single.vertices, single.faces, single.polygon, True)
