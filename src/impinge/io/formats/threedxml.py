"""3DXML of Dassault Systemes (SolidWorks, CATIA), with its geometry as XML.

Read here rather than through trimesh, which keeps only one of several parts that
have the same name, and repeats triangles where a surface has several faces.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import cast
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats
from impinge.io.archive import Archive
from impinge.io.part_graph import Node, Use, placed_instances
from impinge.io.scene import (
    MICROMETRES,
    FileScene,
    Geometry,
    joined,
    triangles_of_fan,
    triangles_of_strip,
)
from impinge.io.source import Source
from impinge.io.xml_tree import floats_in, integers_in, tree_of


def read_3dxml(data: bytes, source: Source) -> FileScene:
    """The leaves of the product structure become parts.  The format's lengths are millimetres."""
    archive = Archive(data, source)
    manifest = tree_of(archive.read("Manifest.xml"), source, "the manifest")
    root_file = (manifest.findtext("{*}Root") or "").strip()
    structure = tree_of(archive.read(root_file), source, f"{root_file!r} in the archive").find("{*}ProductStructure")
    if structure is None:
        raise ValueError(f"{root_file!r} has no product structure")
    products = _Structure(archive, structure, source)
    root = Use(structure.get("root", ""), np.eye(4))
    return FileScene(placed_instances([root], products.node), MICROMETRES["mm"])


class _Structure:
    """References (products), the instances inside each of them, and their representations."""

    def __init__(self, archive: Archive, structure: ElementTree.Element, source: Source) -> None:
        self.archive = archive
        self.source = source
        self.names = {r.get("id", ""): r.get("name", "") for r in structure.findall("{*}Reference3D")}
        self.children = _by_owner(structure.findall("{*}Instance3D"))
        self.shapes = _by_owner(structure.findall("{*}InstanceRep"))
        self.files = {
            rep.get("id", ""): rep.get("associatedFile", "").rpartition(":")[2]
            for rep in structure.findall("{*}ReferenceRep")
            if rep.get("format") == "TESSELLATED"
        }
        self.geometries: dict[str, Geometry | None] = {}  # by name of the file

    def node(self, key: Hashable) -> Node:
        """The reference with the id ``key``."""
        reference = cast(str, key)
        geometries = [self._geometry(_target(shape)) for shape in self.shapes.get(reference, [])]
        return Node(
            self.names.get(reference) or reference,
            [("", geometry) for geometry in geometries if geometry is not None],
            [
                Use(_target(child), _relative_matrix(child), child.get("name", ""))
                for child in self.children.get(reference, [])
            ],
        )

    def _geometry(self, representation: str) -> Geometry | None:
        if representation not in self.files:  # a representation that is no tessellation
            return None
        name = self.files[representation]
        if name not in self.geometries:
            root = tree_of(self.archive.read(name), self.source, f"{name!r} in the archive")
            pieces = [piece for rep in root.iter() if (piece := _polygonal_rep(rep)) is not None]
            self.geometries[name] = joined(pieces) if pieces else None
        return self.geometries[name]


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
        values = floats_in(text).reshape(4, 3)
        matrix[:3, :3] = values[:3].T  # the columns of the rotation follow each other
        matrix[:3, 3] = values[3]
    return matrix


def _polygonal_rep(rep: ElementTree.Element) -> Geometry | None:
    """The finest level of one representation: its own faces, not those of a coarser PolygonalLOD inside."""
    faces = [face for group in rep.findall("{*}Faces") for face in group.findall("{*}Face")]
    positions = rep.findtext("{*}VertexBuffer/{*}Positions")
    if not faces or positions is None:
        return None
    vertices = floats_in(positions.replace(",", " ")).reshape(-1, 3)
    pieces: list[NDArray[np.int64]] = []
    for face in faces:
        pieces.append(integers_in(face.get("triangles", "")).reshape(-1, 3))
        for cut, name in ((triangles_of_strip, "strips"), (triangles_of_fan, "fans")):
            runs = (integers_in(run) for run in face.get(name, "").split(","))
            pieces.extend(cut(run) for run in runs if len(run) >= 3)
    triangles = np.concatenate(pieces)
    return Geometry(vertices, triangles) if len(triangles) else None
