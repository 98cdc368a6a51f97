"""COLLADA 1.4 and 1.5 (DAE), and its zipped form ZAE.

Read here rather than through trimesh and pycollada, which round coordinates to
float32, fan polygons, cut a geometry at its materials and copy every instance.
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
    Instance,
    joined,
    triangles_of_fans,
    triangles_of_strips,
)
from impinge.io.source import Source
from impinge.io.xml_tree import floats_in, integer_runs, integers_in, tree_of


def read_zae(data: bytes, source: Source) -> FileScene:
    archive = Archive(data, source)
    for name in archive.names:
        if name.lower().endswith(".dae"):
            return read_dae(archive.read(name), source)
    raise ValueError("the archive holds no .dae file")


def read_dae(data: bytes, source: Source) -> FileScene:
    """Nodes that show a geometry become parts; the unit is the one of the ``<asset>`` (metre by default)."""
    root = tree_of(data, source)
    if not root.tag.endswith("COLLADA"):
        raise ValueError("it is not a COLLADA document")
    unit = root.find("{*}asset/{*}unit")
    metres = float(unit.get("meter", "1")) if unit is not None else 1.0
    if not 0.0 < metres < 1e9:
        raise ValueError(f"its unit is {metres} metres")
    micrometres = next((size for size in MICROMETRES.values() if size / MICROMETRES["m"] == metres), metres * 1e6)
    return FileScene(_Reader(root, source).instances(), micrometres)


class _Reader:
    def __init__(self, root: ElementTree.Element, source: Source) -> None:
        self.root = root
        self.source = source
        self.by_id = {element.get("id", ""): element for element in root.iter() if element.get("id")}
        self.geometries: dict[str, Geometry | None] = {}
        self.coordinates: dict[ElementTree.Element, Floats] = {}  # by <source>
        self.matrices: dict[ElementTree.Element, Floats] = {}  # by <node>: many may use one of many transformations

    def instances(self) -> list[Instance]:
        shown = self.root.find("{*}scene/{*}instance_visual_scene")
        if shown is None:
            raise ValueError("it shows no scene")
        roots = self._target(shown).findall("{*}node")
        self.source.use(len(roots))
        return placed_instances([self._use(node) for node in roots], self._node)

    def _node(self, key: Hashable) -> Node:
        """What a ``<node>`` shows; the element is its own key."""
        node = cast(ElementTree.Element, key)
        if node.find("{*}instance_controller") is not None:
            raise ValueError(f"node {node.get('id')!r} has a skin or morph, which is not supported")
        name = node.get("name") or node.get("id")
        shapes = []
        geometries, references = node.findall("{*}instance_geometry"), node.findall("{*}instance_node")
        nodes = node.findall("{*}node")
        self.source.use(len(geometries) + len(references) + len(nodes))
        for shown in geometries:
            element = self._target(shown)
            geometry = self._geometry(element)
            if geometry is not None:
                shapes.append((name or element.get("name") or element.get("id") or "node", geometry))
        inner = nodes + [self._target(use) for use in references]
        return Node(name or "node", shapes, [self._use(child) for child in inner])

    def _use(self, node: ElementTree.Element) -> Use:
        if node not in self.matrices:
            self.matrices[node] = _local_matrix(node)
        return Use(node, self.matrices[node])

    def _target(self, reference: ElementTree.Element) -> ElementTree.Element:
        """The element that ``url`` or ``source`` points to."""
        url = reference.get("url") or reference.get("source") or ""
        if not url.startswith("#") or url[1:] not in self.by_id:
            raise ValueError(f"its reference {url!r} leads nowhere inside the file")
        return self.by_id[url[1:]]

    def _geometry(self, element: ElementTree.Element) -> Geometry | None:
        key = element.get("id", "")
        if key not in self.geometries:
            mesh = element.find("{*}mesh")
            pieces = [] if mesh is None else self._pieces(mesh)
            self.geometries[key] = joined(pieces) if pieces else None
        return self.geometries[key]

    def _pieces(self, mesh: ElementTree.Element) -> list[Geometry]:
        """One piece for each vertex list: the primitives over the same list stay connected."""
        faces_of: dict[str, list[list[int]]] = {}
        vertices_of: dict[str, Floats] = {}
        for primitive in mesh:
            kind = primitive.tag.rpartition("}")[2]
            if kind not in ("triangles", "polylist", "polygons", "tristrips", "trifans"):
                continue
            inputs = primitive.findall("{*}input")
            corner = next((item for item in inputs if item.get("semantic") == "VERTEX"), None)
            if corner is None:
                raise ValueError(f"a {kind} element has no VERTEX input")
            offsets = [int(item.get("offset", "0")) for item in inputs]
            if min(offsets) < 0:
                raise ValueError(f"a {kind} element has an input with the offset {min(offsets)}")
            source = corner.get("source", "")
            if source not in vertices_of:
                vertices_of[source] = self._positions(self._target(corner))
            columns = slice(int(corner.get("offset", "0")), None, 1 + max(offsets))
            faces_of.setdefault(source, []).extend(_faces(primitive, kind, columns))
        return [Geometry(vertices_of[source], faces) for source, faces in faces_of.items() if faces]

    def _positions(self, element: ElementTree.Element) -> Floats:
        position = next((item for item in element.findall("{*}input") if item.get("semantic") == "POSITION"), None)
        if position is None:
            raise ValueError("a vertices element has no POSITION input")
        source = self._target(position)
        if source not in self.coordinates:
            self.coordinates[source] = _coordinates(source)
        vertices = self.coordinates[source]
        self.source.take(vertices.nbytes, "its vertices")  # several geometries may show the same ones
        return vertices


def _coordinates(source: ElementTree.Element) -> Floats:
    accessor = source.find("{*}technique_common/{*}accessor")
    stride = int(accessor.get("stride", "1")) if accessor is not None else 3
    offset = int(accessor.get("offset", "0")) if accessor is not None else 0
    values = floats_in(source.findtext("{*}float_array") or "")
    count = int(accessor.get("count", "0")) if accessor is not None else len(values) // 3
    if stride < 3 or min(count, offset) < 0 or offset + stride * count > len(values):
        raise ValueError(f"the source {source.get('id')!r} is too short or has no three coordinates")
    return values[offset : offset + stride * count].reshape(count, stride)[:, :3]


def _faces(primitive: ElementTree.Element, kind: str, columns: slice) -> list[list[int]]:
    if primitive.find("{*}ph") is not None:
        raise ValueError("it has polygons with holes, which are not supported")
    corners, lengths = _columns([p.text or "" for p in primitive.findall("{*}p")], columns)
    faces: list[list[int]] = []
    if kind == "polygons":
        faces = _cut(corners, lengths)
    elif kind in ("tristrips", "trifans"):
        faces = (triangles_of_strips if kind == "tristrips" else triangles_of_fans)(corners, lengths).tolist()
    else:
        sizes = (
            integers_in(primitive.findtext("{*}vcount") or "") if kind == "polylist" else np.full(len(corners) // 3, 3)
        )
        if sizes.sum() != len(corners) or (
            kind == "triangles" and len(sizes) != int(primitive.get("count", len(sizes)))
        ):
            raise ValueError(f"a {kind} element has {len(corners)} corners, which do not match its counts")
        faces = corners.reshape(-1, 3).tolist() if kind == "triangles" else _cut(corners, sizes)
    if any(len(face) < 3 for face in faces):
        raise ValueError(f"a {kind} element has a face with fewer than three corners")
    return faces


def _columns(texts: list[str], columns: slice) -> tuple[Indices, Indices]:
    """The corners of all ``<p>`` in one row, without what stands between them, and how many each of them has."""
    if any("," in text for text in texts):
        raise ValueError("a list of integers holds a comma")
    if not texts:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    values, lengths = integer_runs(",".join(texts))
    if columns.step > 1:
        place = np.arange(len(values)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        values = values[place % columns.step == columns.start]
        lengths = -((columns.start - lengths) // columns.step)
        lengths = np.maximum(lengths, 0)
    return values, lengths


def _cut(corners: Indices, sizes: Indices) -> list[list[int]]:
    """Polygons of so many corners each."""
    if len(sizes) and sizes.min() < 0:
        raise ValueError("a face has a negative number of corners")
    numbers, ends = corners.tolist(), np.cumsum(sizes).tolist()
    return [numbers[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def _local_matrix(node: ElementTree.Element) -> Floats:
    """The product of the node's transformations, in the order of the file."""
    matrix = np.eye(4)
    for element in node:
        kind = element.tag.rpartition("}")[2]
        if kind not in ("matrix", "translate", "rotate", "scale", "lookat", "skew"):
            continue
        values = floats_in(element.text or "")
        step = np.eye(4)
        if kind == "matrix":
            step = values.reshape(4, 4)
        elif kind == "translate":
            step[:3, 3] = values.reshape(3)
        elif kind == "scale":
            step[:3, :3] = np.diag(values.reshape(3))
        elif kind == "rotate":
            step[:3, :3] = _rotation(values.reshape(4))
        else:
            raise ValueError(f"node {node.get('id')!r} has a <{kind}> transformation, which is not supported")
        matrix = matrix @ step
    return matrix


def _rotation(values: Floats) -> Floats:
    """Rodrigues' formula for an axis and an angle in degrees; quarter turns come out exact."""
    axis, degrees = values[:3], float(values[3])
    length = float(np.linalg.norm(axis))
    if not 0.0 < length < np.inf or not np.isfinite(degrees):
        if degrees == 0.0:
            return np.eye(3)
        raise ValueError(f"a rotation about the axis {axis.tolist()} has no meaning")
    x, y, z = axis / length
    quarter = {0.0: (1.0, 0.0), 90.0: (0.0, 1.0), 180.0: (-1.0, 0.0), 270.0: (0.0, -1.0)}
    angle = np.radians(degrees)
    cosine, sine = quarter.get(degrees % 360.0, (float(np.cos(angle)), float(np.sin(angle))))
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    rotation: Floats = np.eye(3) + sine * cross + (1.0 - cosine) * (cross @ cross)
    return rotation
