"""Wavefront OBJ: polygons, objects and groups.

Read here rather than through trimesh, which fans every polygon around its first
corner (wrong for a concave one) and splits vertices at texture seams.
"""

from __future__ import annotations

from array import array

import numpy as np

from impinge.arrays import Floats
from impinge.io.part_graph import MOST_PLACED
from impinge.io.scene import FileScene, Geometry, Instance
from impinge.io.source import Source


def read_obj(data: bytes, source: Source) -> FileScene:
    """Objects (``o``) become parts; in a file without any, groups (``g``) do.

    With ``Source.whole`` everything is one part.
    """
    text = data.decode("utf-8", errors="replace").replace("\\\r\n", " ").replace("\\\n", " ")
    points = array("d")
    polygons: list[list[int]] = []
    objects: list[tuple[int, str]] = []  # (index of the first face, name)
    groups: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if not words:
            continue
        key = words[0]
        try:
            if key == "v":
                points.extend((float(words[1]), float(words[2]), float(words[3])))
            elif key == "f":
                polygons.append(_polygon(words[1:], len(points) // 3))
            elif key == "o":
                objects.append((len(polygons), " ".join(words[1:])))
            elif key == "g":
                groups.append((len(polygons), " ".join(words[1:])))
        except (IndexError, ValueError) as error:
            raise ValueError(f"line {number} is not a complete {key!r} statement: {line[:60]!r}") from error
    vertices = np.array(points, dtype=np.float64).reshape(-1, 3)
    names = objects or groups
    if source.whole or not names:
        return FileScene([Instance(source.path.stem, Geometry(vertices, polygons))])
    return FileScene(_parts(vertices, polygons, names, source.path.stem))


def _polygon(words: list[str], vertex_count: int) -> list[int]:
    try:
        indices = [int(word) for word in words]
    except ValueError:  # with texture coordinates or normals
        indices = [int(word.partition("/")[0]) for word in words]
    if len(words) >= 3 and min(indices) > 0:
        return [index - 1 for index in indices]
    corners = []
    for word, index in zip(words, indices, strict=True):
        if index == 0 or index < -vertex_count:
            raise ValueError(word)
        # Indices count from 1; negative ones count back from the latest vertex.
        corners.append(index - 1 if index > 0 else vertex_count + index)
    if len(corners) < 3:
        raise ValueError("fewer than three corners")
    return corners


def _parts(vertices: Floats, polygons: list[list[int]], names: list[tuple[int, str]], default: str) -> list[Instance]:
    """Faces under the same name form one part, with the vertices that they use."""
    starts = [(0, default), *names]
    ends = [start for start, _ in names] + [len(polygons)]
    faces_of: dict[str, list[list[int]]] = {}
    for (start, name), end in zip(starts, ends, strict=True):
        if end > start:
            faces_of.setdefault(name or default, []).extend(polygons[start:end])
    if len(faces_of) > MOST_PLACED:
        raise ValueError(f"it has {len(faces_of):,} objects or groups; more than {MOST_PLACED:,} are not supported")
    parts = []
    for name, faces in faces_of.items():
        used = sorted({corner for face in faces for corner in face})
        if used[-1] >= len(vertices):
            raise ValueError(f"a face of {name!r} names vertex {used[-1] + 1}, but there are {len(vertices)}")
        new = dict(zip(used, range(len(used)), strict=True))
        parts.append(Instance(name, Geometry(vertices[used], [[new[corner] for corner in face] for face in faces])))
    return parts
