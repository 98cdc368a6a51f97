"""Write a mesh to a file, every coordinate with all of its digits: what is read back is the same bit by bit."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from impinge.mesh.mesh import Mesh

SUFFIXES = (".obj", ".off", ".stl")
"""The file name endings that can be written, in small letters."""


def save(mesh: Mesh, path: str | PathLike[str]) -> None:
    """Write the triangles of a mesh as OBJ, OFF or STL (as text: the binary form would round to float32)."""
    lines = {".obj": _obj, ".off": _off, ".stl": _stl}[known_suffix(path)](mesh)
    Path(path).write_text("\n".join(lines) + "\n", encoding="ascii")


def known_suffix(path: str | PathLike[str]) -> str:
    """The ending of a file name, if such files can be written."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"{path}: files ending in {suffix!r} cannot be written; known are {' '.join(SUFFIXES)}")
    return suffix


def _points(mesh: Mesh) -> list[str]:
    return [f"{x!r} {y!r} {z!r}" for x, y, z in mesh.vertices.tolist()]


def _obj(mesh: Mesh) -> list[str]:
    return [f"v {point}" for point in _points(mesh)] + [f"f {a} {b} {c}" for a, b, c in (mesh.faces + 1).tolist()]


def _off(mesh: Mesh) -> list[str]:
    faces = [f"3 {a} {b} {c}" for a, b, c in mesh.faces.tolist()]
    return ["OFF", f"{len(mesh.vertices)} {len(mesh.faces)} 0", *_points(mesh), *faces]


def _stl(mesh: Mesh) -> list[str]:
    points = _points(mesh)
    facets = [
        # Readers compute the normal from the corners; the format allows to leave that to them.
        f"facet normal 0 0 0\nouter loop\nvertex {points[a]}\nvertex {points[b]}\nvertex {points[c]}\nendloop\nendfacet"
        for a, b, c in mesh.faces.tolist()
    ]
    return ["solid impinge", *facets, "endsolid impinge"]
