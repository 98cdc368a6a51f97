"""3DXML of Dassault Systemes (SolidWorks, CATIA), with its geometry as XML.

Read here rather than through trimesh, which keeps only one of several parts that
have the same name, and repeats triangles where a surface has several faces.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from impinge.adapters.scene import (
    MICROMETRES,
    FileScene,
    Geometry,
    Instance,
    joined,
    triangles_of_fan,
    triangles_of_strip,
)
from impinge.geometry.cast import Floats

_DEEPEST = 500
"""Products nested deeper than this are taken for a product that contains itself."""


def read_3dxml(data: bytes, path: Path, whole: bool) -> FileScene:
    """The leaves of the product structure become parts.  The format's lengths are millimetres."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        manifest = ElementTree.fromstring(archive.read("Manifest.xml"))
        root_file = (manifest.findtext("{*}Root") or "").strip()
        structure = ElementTree.fromstring(archive.read(root_file)).find("{*}ProductStructure")
        if structure is None:
            raise ValueError(f"{root_file!r} has no product structure")
        return FileScene(_Structure(archive, structure).instances(), MICROMETRES["mm"])


class _Structure:
    """References (products), the instances inside each of them, and their representations."""

    def __init__(self, archive: zipfile.ZipFile, structure: ElementTree.Element) -> None:
        self.archive = archive
        self.root = structure.get("root", "")
        self.names = {r.get("id", ""): r.get("name", "") for r in structure.findall("{*}Reference3D")}
        self.children = _by_owner(structure.findall("{*}Instance3D"))
        self.shapes = _by_owner(structure.findall("{*}InstanceRep"))
        self.files = {
            rep.get("id", ""): rep.get("associatedFile", "").rpartition(":")[2]
            for rep in structure.findall("{*}ReferenceRep")
            if rep.get("format") == "TESSELLATED"
        }
        self.geometries: dict[str, Geometry | None] = {}

    def instances(self) -> list[Instance]:
        outermost: tuple[str, ...] = ()
        stack = [(self.root, self.names.get(self.root, ""), np.eye(4), outermost)]
        found = []
        while stack:
            reference, name, matrix, inside = stack.pop()
            if len(inside) > _DEEPEST:
                raise ValueError("a product contains itself")
            name = name or self.names.get(reference) or reference
            for shape in self.shapes.get(reference, []):
                geometry = self._geometry(_target(shape))
                if geometry is not None:
                    found.append(Instance(name, geometry, matrix, inside))
            for child in reversed(self.children.get(reference, [])):
                placed = matrix @ _relative_matrix(child)
                stack.append((_target(child), child.get("name", ""), placed, (*inside, name)))
        return found

    def _geometry(self, representation: str) -> Geometry | None:
        if representation not in self.files:  # a representation that is no tessellation
            return None
        if representation not in self.geometries:
            content = self.archive.read(self.files[representation])
            try:
                root = ElementTree.fromstring(content)
            except ElementTree.ParseError as error:
                raise ValueError(f"{self.files[representation]!r} in it is binary or broken") from error
            pieces = [piece for rep in root.iter() if (piece := _polygonal_rep(rep)) is not None]
            self.geometries[representation] = joined(pieces) if pieces else None
        return self.geometries[representation]


def _by_owner(elements: list[ElementTree.Element]) -> dict[str, list[ElementTree.Element]]:
    owned: dict[str, list[ElementTree.Element]] = {}
    for element in elements:
        owned.setdefault((element.findtext("{*}IsAggregatedBy") or "").strip(), []).append(element)
    return owned


def _target(instance: ElementTree.Element) -> str:
    return (instance.findtext("{*}IsInstanceOf") or "").strip().rpartition("#")[2]


def _relative_matrix(instance: ElementTree.Element) -> Floats:
    matrix = np.eye(4)
    text = instance.findtext("{*}RelativeMatrix")
    if text is not None:
        values = np.array(text.split(), dtype=np.float64).reshape(4, 3)
        matrix[:3, :3] = values[:3].T  # the columns of the rotation follow each other
        matrix[:3, 3] = values[3]
    return matrix


def _polygonal_rep(rep: ElementTree.Element) -> Geometry | None:
    """The finest level of one representation: its own faces, not those of a coarser PolygonalLOD inside."""
    faces = [face for group in rep.findall("{*}Faces") for face in group.findall("{*}Face")]
    positions = rep.findtext("{*}VertexBuffer/{*}Positions")
    if not faces or positions is None:
        return None
    vertices = np.array(positions.replace(",", " ").split(), dtype=np.float64).reshape(-1, 3)
    pieces: list[NDArray[np.int64]] = []
    for face in faces:
        pieces.append(_integers(face.get("triangles", "")).reshape(-1, 3))
        for cut, name in ((triangles_of_strip, "strips"), (triangles_of_fan, "fans")):
            runs = (_integers(run) for run in face.get(name, "").split(","))
            pieces.extend(cut(run) for run in runs if len(run) >= 3)
    triangles = np.concatenate(pieces)
    return Geometry(vertices, triangles) if len(triangles) else None


def _integers(text: str) -> NDArray[np.int64]:
    return np.array(text.split(), dtype=np.int64)
