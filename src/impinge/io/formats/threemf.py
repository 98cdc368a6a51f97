"""3MF (3D Manufacturing Format, core specification 1.3, with the production extension's paths).

Read here rather than through trimesh, which takes every mesh of a referenced
model file, whichever object is referred to.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable
from typing import cast
from xml.etree import ElementTree

import numpy as np

from impinge.arrays import Floats
from impinge.io.archive import Archive
from impinge.io.part_graph import Node, Use, placed_instances
from impinge.io.scene import MICROMETRES, FileScene, Geometry
from impinge.io.source import Source
from impinge.io.xml_tree import elements_of, floats_in

_UNITS = {"micron": "um", "millimeter": "mm", "centimeter": "cm", "inch": "in", "foot": "ft", "meter": "m"}

_MOST_KINDS = 10_000
"""Names of elements.  The core and all extensions have some hundred; three million different ones took 9 s."""


def read_3mf(data: bytes, source: Source) -> FileScene:
    """The items of ``<build>`` and their components become parts; the unit is millimetre by default."""
    package = _Package(Archive(data, source), source)
    names = package.archive.names
    root_name = next((name for name in names if name.lower() == "3d/3dmodel.model"), None)
    root_name = root_name or next((name for name in names if name.lower().endswith(".model")), None)
    if root_name is None:
        raise ValueError("the archive holds no .model file")
    model = package.model(root_name)
    unit = model.get("unit", "millimeter")
    if unit not in _UNITS:
        raise ValueError(f"its unit {unit!r} is not one of {', '.join(_UNITS)}")
    items = package.uses(model.findall("{*}build/{*}item"), root_name)
    return FileScene(placed_instances(items, package.node), MICROMETRES[_UNITS[unit]])


class _Package:
    """The model files of the archive, each parsed once."""

    def __init__(self, archive: Archive, source: Source) -> None:
        self.archive = archive
        self.source = source
        self.models: dict[str, ElementTree.Element] = {}
        self.objects: dict[tuple[str, str], ElementTree.Element] = {}
        self.geometries: dict[ElementTree.Element, Geometry] = {}  # by <mesh>

    def model(self, name: str) -> ElementTree.Element:
        if name not in self.models:
            self.models[name] = self._parsed(name)
            for element in self.models[name].findall("{*}resources/{*}object"):
                self.objects[name, element.get("id", "")] = element
        return self.models[name]

    def node(self, key: Hashable) -> Node:
        """The object of a key (name of the model file, id)."""
        file_name, identity = cast(tuple[str, str], key)
        self.model(file_name)
        if (file_name, identity) not in self.objects:
            raise ValueError(f"there is no object {identity!r} in {file_name}")
        element = self.objects[file_name, identity]
        mesh = element.find("{*}mesh")
        geometry = None if mesh is None else self.geometries.get(mesh)
        return Node(
            element.get("name") or element.get("partnumber") or f"object {identity}",
            [] if geometry is None else [("", geometry)],
            self.uses(element.findall("{*}components/{*}component"), file_name),
        )

    def uses(self, elements: list[ElementTree.Element], file_name: str) -> list[Use]:
        self.source.use(len(elements))
        return [_use(element, file_name) for element in elements]

    def _parsed(self, name: str) -> ElementTree.Element:
        """The model's tree; the content of each ``<mesh>``, most of the file, is moved into arrays on the way."""
        vertices, corners = array("d"), array("q")
        kinds: dict[str, str] = {}  # tags without their name space
        element = None
        content = self.archive.read(name)
        for element in elements_of(content, self.source, f"{name!r} in the archive", (b"vertex", b"triangle")):
            kind = kinds.get(element.tag) or kinds.setdefault(element.tag, element.tag.rpartition("}")[2])
            if len(kinds) > _MOST_KINDS:
                raise ValueError(f"{name!r} in the archive has more than {_MOST_KINDS:,} kinds of elements")
            if kind == "vertex":
                vertices.extend((float(element.attrib["x"]), float(element.attrib["y"]), float(element.attrib["z"])))
                element.clear()
            elif kind == "triangle":
                corners.extend((int(element.attrib["v1"]), int(element.attrib["v2"]), int(element.attrib["v3"])))
                element.clear()
            elif kind.endswith("mesh"):  # those of extensions are skipped
                if kind == "mesh" and corners:
                    self.geometries[element] = Geometry(
                        np.array(vertices, dtype=np.float64).reshape(-1, 3),
                        np.array(corners, dtype=np.int64).reshape(-1, 3),
                    )
                vertices, corners = array("d"), array("q")
                element.clear()
        assert element is not None  # a document without an element is an error of the parser
        return element


def _use(element: ElementTree.Element, file_name: str) -> Use:
    """An ``<item>`` or a ``<component>``."""
    file_name = _path_of(element) or file_name
    return Use((file_name, element.get("objectid", "")), _matrix(element), element.get("partnumber", ""))


def _path_of(use: ElementTree.Element) -> str | None:
    """The ``path`` attribute of the production extension, whatever the name of its namespace."""
    return next((value.lstrip("/") for key, value in use.attrib.items() if key.endswith("}path")), None)


def _matrix(use: ElementTree.Element) -> Floats:
    """3MF multiplies row vectors: the first nine numbers are the transposed linear part."""
    matrix = np.eye(4)
    text = use.get("transform")
    if text is not None:
        matrix[:3] = floats_in(text).reshape(4, 3).T
    return matrix
