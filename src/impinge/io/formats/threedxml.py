"""3DXML of Dassault Systemes (SolidWorks, CATIA), with its geometry as XML.

Read here rather than through trimesh, which keeps only one of several parts that
have the same name, and repeats triangles where a surface has several faces.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import cast
from xml.etree import ElementTree

import numpy as np

from impinge.arrays import Floats
from impinge.io.archive import Archive
from impinge.io.part_graph import Node, Use, placed_instances
from impinge.io.scene import (
    MICROMETRES,
    FileScene,
    Geometry,
    Indices,
    triangles_of_fans,
    triangles_of_strips,
)
from impinge.io.source import Source
from impinge.io.xml_tree import float_runs, floats_in, integer_runs, tree_of


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
        self.source.use(len(self.shapes.get(reference, [])) + len(self.children.get(reference, [])))
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
            self.geometries[name] = _geometry_of(root)
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


def _geometry_of(root: ElementTree.Element) -> Geometry | None:
    """The finest level of each representation: its own faces, not those of a coarser PolygonalLOD inside.

    All lists of numbers are converted together: there may be a million.
    """
    faces: list[ElementTree.Element] = []
    owner: list[int] = []  # of each face
    positions: list[str] = []
    for element in root.iter():
        own = [face for group in element if _is(group, "Faces") for face in group if _is(face, "Face")]
        text = element.findtext("{*}VertexBuffer/{*}Positions") if own else None
        if text is not None:
            faces.extend(own)
            owner.extend([len(positions)] * len(own))
            positions.append(text.replace(",", " "))
    if not faces:
        return None
    coordinates, lengths = float_runs(positions)
    if (lengths % 3).any() or len(coordinates) != lengths.sum():
        raise ValueError("the positions of a vertex buffer are not three numbers each")
    triangles, rep = _triangles(faces, np.array(owner))
    shown = np.zeros(len(positions), dtype=bool)
    shown[rep] = True
    counts = lengths // 3
    vertices = coordinates.reshape(-1, 3)[np.repeat(shown, counts)]
    counts[~shown] = 0
    triangles += (np.cumsum(counts) - counts)[rep][:, None]
    return Geometry(vertices, triangles) if len(triangles) else None


def _triangles(faces: list[ElementTree.Element], owner: Indices) -> tuple[Indices, Indices]:
    """The triangles of all faces in the order of the file, and the owner of each."""
    pieces, places = [], []
    for name in ("triangles", "strips", "fans"):
        texts = [face.get(name, "") for face in faces]
        corners, lengths = integer_runs(",".join(texts))
        runs = np.array([1 + text.count(",") for text in texts])
        face_of_run = np.repeat(np.arange(len(faces)), runs)
        if name == "triangles":
            if (runs > 1).any() or (lengths % 3).any():
                raise ValueError("a list of triangles does not hold three integers for each")
            pieces.append(corners.reshape(-1, 3))
            counts = lengths // 3
        else:
            pieces.append((triangles_of_strips if name == "strips" else triangles_of_fans)(corners, lengths))
            counts = np.maximum(lengths - 2, 0)
        places.append(np.repeat(face_of_run, counts))
    place = np.concatenate(places)
    order = np.argsort(place, kind="stable")
    return np.concatenate(pieces)[order], owner[place[order]]


def _is(element: ElementTree.Element, name: str) -> bool:
    """Whether an element has a name, in any name space."""
    tag = element.tag
    return tag.endswith(name) and tag.rpartition("}")[2] == name
