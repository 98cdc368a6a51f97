"""PLY, the polygon file format of the Stanford scanning repository: text and both binary orders.

Read here rather than through trimesh, which fans every polygon around its first
corner: wrong for a concave one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from io import StringIO
from itertools import islice
from struct import Struct, unpack_from
from struct import error as StructError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.io.scene import Faces, FileScene, Geometry, Instance
from impinge.io.source import Source

_TYPES = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1",
    "short": "i2", "int16": "i2", "ushort": "u2", "uint16": "u2",
    "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4",
    "float": "f4", "float32": "f4", "double": "f8", "float64": "f8",
}  # fmt: skip

_CODES = {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "f4": "f", "f8": "d"}
"""The same for the module struct, which reads few numbers faster than numpy does."""

_READ = ("vertex", "face")
"""Elements; others, of which there may be millions of empty lists, are only skipped."""

_TRUNCATED = "it is truncated, or a list has a wrong length"


@dataclass
class _Property:
    name: str
    kind: str
    count_kind: str | None = None
    """The type of the length, where the property is a list."""


@dataclass
class _Element:
    name: str
    count: int
    by_name: dict[str, _Property] = field(default_factory=dict)

    @property
    def properties(self) -> list[_Property]:
        """In the order of the file."""
        return list(self.by_name.values())

    def add(self, new: _Property) -> None:
        if new.name in self.by_name:
            raise ValueError(f"its header gives element {self.name!r} two properties {new.name[:60]!r}")
        self.by_name[new.name] = new


Column = NDArray[Any] | list[NDArray[Any]] | list[tuple[Any, ...]]
"""One value, or one list, for each row of an element."""


def read_ply(data: bytes, source: Source) -> FileScene:
    order, elements, body = _header(data)
    columns: dict[str, dict[str, Column]] = {}
    if order == "ascii":
        lines = (words for words in map(str.split, StringIO(body.decode("ascii"), newline=None)) if words)
        for element in elements:
            some = islice(lines, min(element.count, len(body)))
            rows = list(some) if element.name in _READ else []
            if (len(rows) or sum(1 for _ in some)) < element.count:
                raise ValueError(f"it is truncated in element {element.name!r}")
            if element.name in _READ:
                columns[element.name] = _text_rows(element, rows)
    else:
        start = 0
        for element in elements:
            columns[element.name], start = _binary_rows(element, body, start, order)
    return FileScene([Instance(source.path.stem, _geometry(columns))])


def _geometry(columns: dict[str, dict[str, Column]]) -> Geometry:
    vertex, face = columns.get("vertex", {}), columns.get("face", {})
    if not {"x", "y", "z"} <= vertex.keys():
        raise ValueError("it has no vertices with x, y and z")
    vertices = np.column_stack([np.asarray(vertex[axis], dtype=np.float64) for axis in "xyz"])
    corners = face.get("vertex_indices", face.get("vertex_index"))
    if corners is None:
        raise ValueError("it has no faces with vertex_indices")
    faces: Faces
    if isinstance(corners, np.ndarray):
        if corners.dtype.kind not in "iu" or corners.ndim != 2:
            raise ValueError("the vertex indices of its faces are not lists of integers")
        faces = corners.astype(np.int64)
        fewest = corners.shape[1]
    else:
        faces = [row.tolist() if isinstance(row, np.ndarray) else row for row in corners]
        fewest = min((len(row) for row in faces), default=3)
    if fewest < 3:
        raise ValueError("a face has fewer than three corners")
    return Geometry(vertices, faces)


def _header(data: bytes) -> tuple[str, list[_Element], bytes]:
    order = ""
    elements: dict[str, _Element] = {}
    latest: _Element | None = None
    position = 0
    while True:
        end = data.find(b"\n", position)
        words = data[position : end if end >= 0 else len(data)].decode("ascii", errors="replace").split()
        if position == 0 and words != ["ply"]:
            raise ValueError("it does not start with the line 'ply'")
        if end < 0:
            raise ValueError("its header has no end")
        position = end + 1
        match words:
            case ["format", ("ascii" | "binary_little_endian" | "binary_big_endian") as name, _]:
                order = {"ascii": "ascii", "binary_little_endian": "<", "binary_big_endian": ">"}[name]
            case ["element", name, count] if count.isdecimal():
                if name in elements:
                    raise ValueError(f"its header has two elements {name[:60]!r}")
                elements[name] = latest = _Element(name, int(count))
            case ["property", "list", count_kind, kind, name] if latest:
                latest.add(_Property(name, _type(kind), _type(count_kind)))
            case ["property", kind, name] if latest:
                latest.add(_Property(name, _type(kind)))
            case ["end_header"] if order:
                return order, list(elements.values()), data[position:]
            case ["ply"] | ["comment", *_] | ["obj_info", *_] | []:
                pass
            case _:
                raise ValueError(f"its header has the unknown line {' '.join(words)[:60]!r}")


def _type(name: str) -> str:
    if name not in _TYPES:
        raise ValueError(f"its header has the unknown type {name[:20]!r}")
    return _TYPES[name]


def _text_rows(element: _Element, lines: list[list[str]]) -> dict[str, Column]:
    values: dict[str, list[Any]] = {p.name: [] for p in element.properties}
    for row, words in enumerate(lines):
        position = 0
        for p in element.properties:
            try:
                if p.count_kind is None:
                    values[p.name].append(float(words[position]))
                    position += 1
                    continue
                end = position + 1 + int(words[position])
                if not position < end <= len(words):
                    raise IndexError(end)
                values[p.name].append(
                    [float(word) if p.kind[0] == "f" else int(word) for word in words[position + 1 : end]]
                )
                position = end
            except (IndexError, ValueError) as error:
                raise ValueError(
                    f"row {row} of element {element.name!r} is not complete: {' '.join(words)[:60]!r}"
                ) from error
    columns: dict[str, Column] = {}
    for p in element.properties:
        if p.count_kind is None:
            columns[p.name] = np.array(values[p.name], dtype=np.float64)
        else:
            columns[p.name] = _table(values[p.name], "f8" if p.kind[0] == "f" else "i8")
    return columns


def _table(rows: list[list[Any]], kind: str) -> Column:
    if rows and len({len(row) for row in rows}) == 1:
        return np.array(rows, dtype=kind)
    return [np.array(row, dtype=kind) for row in rows]


def _binary_rows(element: _Element, body: bytes, start: int, order: str) -> tuple[dict[str, Column], int]:
    """The element's columns and the place where the next element starts."""
    smallest = sum(np.dtype(p.count_kind or p.kind).itemsize for p in element.properties)
    if start + smallest * element.count > len(body):
        raise ValueError(f"it is truncated in element {element.name!r}")
    if not element.properties or not element.count:
        return {p.name: np.empty((0,)) if p.count_kind is None else [] for p in element.properties}, start
    rows = _equal_rows(element, body, start, order)
    if rows is not None:
        return {p.name: rows[p.name] for p in element.properties}, start + rows.nbytes
    return _unequal_rows(element, body, start, order)


def _equal_rows(element: _Element, body: bytes, start: int, order: str) -> NDArray[Any] | None:
    """All rows at once, if every list is as long as in the first row (most files hold triangles only)."""
    fields: list[Any] = []
    lengths: dict[str, int] = {}
    position = start
    for p in element.properties:
        if p.count_kind is not None:
            length = int(_read(body, order + p.count_kind, position, 1)[0])
            if not 0 <= length <= len(body):  # told by the reading row by row
                return None
            lengths[p.name] = length
            fields.append((p.name + " length", order + p.count_kind))
            fields.append((p.name, order + p.kind, (length,)))
            position += np.dtype(p.count_kind).itemsize + length * np.dtype(p.kind).itemsize
        else:
            fields.append((p.name, order + p.kind))
            position += np.dtype(p.kind).itemsize
    row = np.dtype(fields)
    if start + row.itemsize * element.count > len(body):
        return None
    rows = np.frombuffer(body, dtype=row, count=element.count, offset=start)
    if any((rows[name + " length"] != length).any() for name, length in lengths.items()):
        return None
    return rows


def _unequal_rows(element: _Element, body: bytes, start: int, order: str) -> tuple[dict[str, Column], int]:
    values: dict[str, list[Any]] = {p.name: [] for p in element.properties}
    readers = [
        (
            values[p.name],
            None if p.count_kind is None else Struct(order + _CODES[p.count_kind]),
            order + "{}" + _CODES[p.kind],
            np.dtype(p.kind).itemsize,
        )
        for p in element.properties
    ]
    position, read = start, element.name in _READ
    try:
        for _ in range(element.count):
            for column, counter, form, size in readers:
                if counter is None:
                    if read:
                        column.append(unpack_from(form.format(1), body, position)[0])
                    position += size
                    continue
                length = int(counter.unpack_from(body, position)[0])
                position += counter.size
                if not 0 <= length * size <= len(body) - position:
                    raise ValueError(_TRUNCATED)
                if read:
                    column.append(unpack_from(form.format(length), body, position))
                position += length * size
    except StructError as error:
        raise ValueError(_TRUNCATED) from error
    if position > len(body):
        raise ValueError(_TRUNCATED)
    return {
        p.name: values[p.name] if p.count_kind is not None else np.array(values[p.name]) for p in element.properties
    }, position


def _read(body: bytes, kind: str, position: int, count: int) -> NDArray[Any]:
    if count < 0 or position + np.dtype(kind).itemsize * count > len(body):
        raise ValueError(_TRUNCATED)
    return np.frombuffer(body, dtype=kind, count=count, offset=position)
