"""glTF 2.0 and its binary form GLB (specification: Khronos Group, ISO/IEC 12113).

Read here rather than through trimesh, which leaves out sparse and normalised
accessors, triangle fans and compressed meshes without an error, and cannot join
the primitives of one mesh when they have no material.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Hashable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats
from impinge.io.part_graph import Node, Use, placed_instances
from impinge.io.scene import (
    MICROMETRES,
    FileScene,
    Geometry,
    joined,
    triangles_of_fans,
    triangles_of_strips,
)
from impinge.io.source import Source

_COMPONENT = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTH = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
_POINTS_AND_LINES = (0, 1, 2, 3)
_TRIANGLES, _STRIP, _FAN = 4, 5, 6
_NUMBER = 8
"""Bytes of a coordinate or an index in memory, whatever it takes in the file."""
_HARMLESS = ("KHR_mesh_quantization", "KHR_materials_", "KHR_texture_", "EXT_texture_", "KHR_lights_punctual")
"""Extensions that change no position, or none beyond what is read here."""


def read_gltf(data: bytes, source: Source) -> FileScene:
    """Lengths are metres, as the standard says.  Points and lines are skipped."""
    document, binary = _container(data)
    for extension in document.get("extensionsRequired", []):
        if not extension.startswith(_HARMLESS):
            raise ValueError(f"it needs the glTF extension {extension}, which is not supported")
    return _Reader(document, binary, source).scene()


def _container(data: bytes) -> tuple[dict[str, Any], bytes | None]:
    """The JSON document and the binary chunk."""
    if data[:4] != b"glTF":
        return _document(data), None
    if len(data) < 20 or int.from_bytes(data[8:12], "little") > len(data):
        raise ValueError("it is truncated")
    if int.from_bytes(data[4:8], "little") != 2:
        raise ValueError("only version 2 of glTF is supported")
    chunks: dict[bytes, bytes] = {}
    position = 12
    while position + 8 <= len(data):
        length = int.from_bytes(data[position : position + 4], "little")
        kind = data[position + 4 : position + 8]
        chunks.setdefault(kind, data[position + 8 : position + 8 + length])
        position += 8 + length
    if b"JSON" not in chunks:
        raise ValueError("it has no JSON chunk")
    return _document(chunks[b"JSON"]), chunks.get(b"BIN\0", b"")


def _document(text: bytes) -> dict[str, Any]:
    document = json.loads(text.decode("utf-8"))
    if not isinstance(document, dict) or not str(document.get("asset", {}).get("version", "")).startswith("2"):
        raise ValueError("it is not a glTF document of version 2")
    return document


class _Reader:
    def __init__(self, document: dict[str, Any], binary: bytes | None, source: Source) -> None:
        self.document = document
        self.binary = binary
        self.source = source
        self.buffers: dict[int, bytes] = {}
        self.used_nodes: set[int] = set()
        self.meshes: dict[int, Geometry | None] = {}
        self.geometries: dict[tuple[tuple[int, ...], ...], Geometry | None] = {}

    def scene(self) -> FileScene:
        indices = self._roots()
        self.source.use(len(indices))
        roots = [self._use(index) for index in indices]
        return FileScene(placed_instances(roots, self._node), MICROMETRES["m"])

    def _use(self, index: int) -> Use:
        node = _item(self.document.get("nodes", []), index, "node")
        if index in self.used_nodes:
            raise ValueError(f"node {index} has two parents")
        self.used_nodes.add(index)
        return Use(index, _local_matrix(node))

    def _node(self, key: Hashable) -> Node:
        """The node of an index."""
        index = cast(int, key)
        node = _item(self.document.get("nodes", []), index, "node")
        name = str(node.get("name", ""))
        if "EXT_mesh_gpu_instancing" in node.get("extensions", {}):
            raise ValueError("it needs the glTF extension EXT_mesh_gpu_instancing, which is not supported")
        shapes = []
        if "mesh" in node:
            mesh = _item(self.document.get("meshes", []), node["mesh"], "mesh")
            if node["mesh"] not in self.meshes:  # many nodes may show a mesh of many primitives
                self.meshes[node["mesh"]] = self._geometry(mesh)
            geometry = self.meshes[node["mesh"]]
            if geometry is not None:
                shapes.append((name or str(mesh.get("name", "")) or f"node {index}", geometry))
        children = node.get("children", [])
        self.source.use(len(children))
        return Node(name, shapes, [self._use(child) for child in children])

    def _roots(self) -> list[int]:
        scenes = self.document.get("scenes", [])
        if scenes:
            return list(_item(scenes, self.document.get("scene", 0), "scene").get("nodes", []))
        nodes = self.document.get("nodes", [])
        children = {child for node in nodes for child in node.get("children", [])}
        return [index for index in range(len(nodes)) if index not in children]

    def _geometry(self, mesh: dict[str, Any]) -> Geometry | None:
        """One geometry of all triangles of a mesh; meshes over the same accessors are the same geometry."""
        primitives = []
        for primitive in mesh["primitives"]:
            if "KHR_draco_mesh_compression" in primitive.get("extensions", {}):
                raise ValueError("it needs the glTF extension KHR_draco_mesh_compression, which is not supported")
            mode = primitive.get("mode", _TRIANGLES)
            if mode not in _POINTS_AND_LINES:
                primitives.append((mode, primitive["attributes"]["POSITION"], primitive.get("indices", -1)))
        key = tuple(primitives)
        if key not in self.geometries:
            pieces = [self._primitive(*primitive) for primitive in primitives]
            self.geometries[key] = joined(pieces) if pieces else None
        return self.geometries[key]

    def _primitive(self, mode: int, position: int, indices: int) -> Geometry:
        vertices = self._accessor(position).astype(np.float64)
        if vertices.shape[1] != 3:
            raise ValueError(f"the positions in accessor {position} have no three coordinates")
        if indices < 0:
            self.source.take(len(vertices) * _NUMBER, f"the corners of accessor {position}")
            order = np.arange(len(vertices), dtype=np.int64)
        else:
            order = self._accessor(indices).astype(np.int64).reshape(-1)
        if mode == _TRIANGLES:
            if len(order) % 3:
                raise ValueError(f"a primitive with {len(order)} corners is not made of triangles")
            return Geometry(vertices, order.reshape(-1, 3))
        if mode not in (_STRIP, _FAN) or len(order) < 3:
            raise ValueError(f"a primitive of mode {mode} with {len(order)} corners makes no triangle")
        cut = triangles_of_strips if mode == _STRIP else triangles_of_fans
        return Geometry(vertices, cut(order, np.array([len(order)])))

    def _accessor(self, index: int) -> NDArray[Any]:
        """Values of an accessor as rows; normalised integers as the floats that they stand for."""
        accessor = _item(self.document.get("accessors", []), index, "accessor")
        kind = np.dtype(_COMPONENT[accessor["componentType"]])
        width, count = _WIDTH[accessor["type"]], int(accessor["count"])
        if count < 0:
            raise ValueError(f"accessor {index} has {count} values")
        values = None
        if "bufferView" in accessor:
            values = self._rows(accessor["bufferView"], accessor.get("byteOffset", 0), kind, count, width)
        elif "sparse" not in accessor:
            raise ValueError(f"accessor {index} has no data")
        # Every copy is accounted for, even the first: any number of accessors may show the same bytes.
        self.source.take(count * width * _NUMBER, f"accessor {index}")
        if values is None:
            values = np.zeros((count, width), dtype=kind)
        if "sparse" in accessor:
            values = self._with_sparse(values.copy(), accessor["sparse"], kind, width)
        if accessor.get("normalized", False):
            values = np.maximum(values / float(np.iinfo(kind).max), -1.0)
        return values

    def _with_sparse(
        self, values: NDArray[Any], sparse: dict[str, Any], kind: np.dtype[Any], width: int
    ) -> NDArray[Any]:
        count = int(sparse["count"])
        where, what = sparse["indices"], sparse["values"]
        index_kind = np.dtype(_COMPONENT[where["componentType"]])
        rows = self._rows(where["bufferView"], where.get("byteOffset", 0), index_kind, count, 1)[:, 0]
        values[rows] = self._rows(what["bufferView"], what.get("byteOffset", 0), kind, count, width)
        return values

    def _rows(self, view_index: int, offset: int, kind: np.dtype[Any], count: int, width: int) -> NDArray[Any]:
        view = _item(self.document.get("bufferViews", []), view_index, "bufferView")
        if "EXT_meshopt_compression" in view.get("extensions", {}):
            raise ValueError("it needs the glTF extension EXT_meshopt_compression, which is not supported")
        start, length = int(view.get("byteOffset", 0)), int(view["byteLength"])
        data = memoryview(self._buffer(int(view["buffer"])))[start : start + length]
        row = kind.itemsize * width
        stride = int(view.get("byteStride", row))
        if min(start, length, offset, count, stride - row) < 0 or offset + (count - 1) * stride + row > len(data):
            raise ValueError(f"bufferView {view_index} is too short for its accessor")
        return np.ndarray((count, width), dtype=kind, buffer=data, offset=offset, strides=(stride, kind.itemsize))

    def _buffer(self, index: int) -> bytes:
        if index not in self.buffers:
            self.buffers[index] = self._read_buffer(index)
        return self.buffers[index]

    def _read_buffer(self, index: int) -> bytes:
        buffer = _item(self.document.get("buffers", []), index, "buffer")
        uri, size = buffer.get("uri"), int(buffer["byteLength"])
        if size < 0:
            raise ValueError(f"buffer {index} has {size} bytes")
        if uri is not None and not uri.startswith("data:"):
            return self.source.beside(uri, size)
        if uri is not None:
            self.source.take(len(uri), f"buffer {index}")
            content = base64.b64decode(uri.partition(",")[2], validate=True)
        elif self.binary is not None and index == 0:
            content = self.binary
        else:
            raise ValueError(f"buffer {index} has no data")
        if len(content) < size:
            raise ValueError(f"buffer {index} has {len(content)} bytes, {size} are announced")
        return content


def _item(items: list[Any], index: Any, what: str) -> dict[str, Any]:
    if not isinstance(index, int) or not 0 <= index < len(items):
        raise ValueError(f"there is no {what} {index}")
    return items[index]  # type: ignore[no-any-return]


def _local_matrix(node: dict[str, Any]) -> Floats:
    if "matrix" in node:
        return np.array(node["matrix"], dtype=np.float64).reshape(4, 4).T
    matrix = np.eye(4)
    if "rotation" in node:
        matrix[:3, :3] = _rotation(np.array(node["rotation"], dtype=np.float64).reshape(4))
    if "scale" in node:
        matrix[:3, :3] *= np.array(node["scale"], dtype=np.float64).reshape(3)
    if "translation" in node:
        matrix[:3, 3] = np.array(node["translation"], dtype=np.float64).reshape(3)
    return matrix


def _rotation(quaternion: Floats) -> Floats:
    """The rotation of a quaternion x, y, z, w that is a unit one only to float32 accuracy."""
    squared = quaternion @ quaternion
    if not 0.5 < squared < 2.0:
        raise ValueError(f"a node has the rotation {quaternion.tolist()}, which is not a unit quaternion")
    x, y, z, w = quaternion
    twice = 2.0 / squared
    return np.array(
        [
            [1.0 - twice * (y * y + z * z), twice * (x * y - z * w), twice * (x * z + y * w)],
            [twice * (x * y + z * w), 1.0 - twice * (x * x + z * z), twice * (y * z - x * w)],
            [twice * (x * z - y * w), twice * (y * z + x * w), 1.0 - twice * (x * x + y * y)],
        ]
    )
