"""3MF (3D Manufacturing Format, core specification 1.3, with the production extension's paths).

Read here rather than through trimesh, which takes every mesh of a referenced
model file, whichever object was asked for.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from impinge.adapters.scene import MICROMETRES, FileScene, Geometry, Instance
from impinge.geometry.cast import Floats

_UNITS = {"micron": "um", "millimeter": "mm", "centimeter": "cm", "inch": "in", "foot": "ft", "meter": "m"}
_DEEPEST = 500
"""Components nested deeper than this are taken for an object that contains itself."""


def read_3mf(data: bytes, path: Path, whole: bool) -> FileScene:
    """The items of ``<build>`` and their components become parts; the unit is millimetre by default."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        package = _Package(archive)
        root_name = next((name for name in package.names if name.lower() == "3d/3dmodel.model"), None)
        root_name = root_name or next((name for name in package.names if name.lower().endswith(".model")), None)
        if root_name is None:
            raise ValueError("the archive holds no .model file")
        model = package.model(root_name)
        unit = model.get("unit", "millimeter")
        if unit not in _UNITS:
            raise ValueError(f"its unit {unit!r} is not one of {', '.join(_UNITS)}")
        outermost: tuple[str, ...] = ()
        stack = [(item, np.eye(4), root_name, outermost) for item in reversed(model.findall("{*}build/{*}item"))]
        instances = []
        while stack:
            use, parent, file_name, inside = stack.pop()
            if len(inside) > _DEEPEST:
                raise ValueError("an object contains itself")
            matrix = parent @ _matrix(use)
            file_name = _path_of(use) or file_name
            element = package.object(file_name, use.get("objectid", ""))
            geometry = package.geometry(file_name, element)
            name = use.get("partnumber") or element.get("name") or element.get("partnumber")
            name = name or f"object {element.get('id')}"
            if geometry is not None:
                instances.append(Instance(name, geometry, matrix, inside))
            inner = element.findall("{*}components/{*}component")
            stack.extend((component, matrix, file_name, (*inside, name)) for component in reversed(inner))
        return FileScene(instances, MICROMETRES[_UNITS[unit]])


class _Package:
    """The model files of the archive, each parsed once."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive = archive
        self.names = archive.namelist()
        self.models: dict[str, ElementTree.Element] = {}
        self.objects: dict[tuple[str, str], ElementTree.Element] = {}
        self.geometries: dict[tuple[str, str], Geometry | None] = {}

    def model(self, name: str) -> ElementTree.Element:
        if name not in self.models:
            if name not in self.names:
                raise ValueError(f"the archive holds no {name!r}")
            self.models[name] = ElementTree.fromstring(self.archive.read(name))
            for element in self.models[name].findall("{*}resources/{*}object"):
                self.objects[name, element.get("id", "")] = element
        return self.models[name]

    def object(self, file_name: str, identity: str) -> ElementTree.Element:
        self.model(file_name)
        if (file_name, identity) not in self.objects:
            raise ValueError(f"there is no object {identity!r} in {file_name}")
        return self.objects[file_name, identity]

    def geometry(self, file_name: str, element: ElementTree.Element) -> Geometry | None:
        key = (file_name, element.get("id", ""))
        if key not in self.geometries:
            mesh = element.find("{*}mesh")
            self.geometries[key] = None if mesh is None else _geometry(mesh)
        return self.geometries[key]


def _geometry(mesh: ElementTree.Element) -> Geometry | None:
    vertices = [
        (float(v.attrib["x"]), float(v.attrib["y"]), float(v.attrib["z"]))
        for v in mesh.findall("{*}vertices/{*}vertex")
    ]
    faces = [
        (int(t.attrib["v1"]), int(t.attrib["v2"]), int(t.attrib["v3"]))
        for t in mesh.findall("{*}triangles/{*}triangle")
    ]
    if not faces:
        return None
    return Geometry(np.array(vertices, dtype=np.float64).reshape(-1, 3), np.array(faces, dtype=np.int64))


def _path_of(use: ElementTree.Element) -> str | None:
    """The ``path`` attribute of the production extension, whatever the name of its namespace."""
    return next((value.lstrip("/") for key, value in use.attrib.items() if key.endswith("}path")), None)


def _matrix(use: ElementTree.Element) -> Floats:
    """3MF multiplies row vectors: the first nine numbers are the transposed linear part."""
    matrix = np.eye(4)
    text = use.get("transform")
    if text is not None:
        matrix[:3] = np.array(text.split(), dtype=np.float64).reshape(4, 3).T
    return matrix
