"""OFF, the object file format of Geomview, as text.

Read here rather than through trimesh, which fans every polygon around its first
corner: wrong for a concave one.
"""

from __future__ import annotations

import re
from itertools import islice

import numpy as np

from impinge.io.scene import FileScene, Geometry, Instance
from impinge.io.source import Source


def read_off(data: bytes, source: Source) -> FileScene:
    """Colours, normals and texture coordinates after the position are skipped."""
    stripped = (line.partition("#")[0].split() for line in data.decode("utf-8", errors="replace").splitlines())
    filled = (words for words in stripped if words)
    lines = list(islice(filled, 2))
    if not lines or not re.fullmatch(r"(ST)?C?N?OFF", lines[0][0]):
        raise ValueError("it does not start with the word OFF")
    if "BINARY" in lines[0]:
        raise ValueError("binary OFF is not supported")
    counts = lines[0][1:] if len(lines[0]) > 1 else lines[1] if len(lines) > 1 else []
    body = lines[1 if len(lines[0]) > 1 else 2 :]
    if len(counts) < 2 or not all(word.isdecimal() for word in counts[:2]):
        raise ValueError("the line with the numbers of vertices and faces is missing")
    vertex_count, face_count = int(counts[0]), int(counts[1])
    body.extend(
        islice(filled, max(0, min(vertex_count + face_count, len(data)) - len(body)))
    )  # what follows is skipped
    if len(body) < vertex_count + face_count:
        raise ValueError(
            f"it is truncated: {vertex_count} vertices and {face_count} faces announced, {len(body)} lines found"
        )
    vertices = np.empty((vertex_count, 3))
    for i, words in enumerate(body[:vertex_count]):
        try:
            vertices[i] = [float(words[0]), float(words[1]), float(words[2])]
        except (IndexError, ValueError) as error:
            raise ValueError(f"vertex {i} is not three numbers: {' '.join(words)[:60]!r}") from error
    faces = []
    for i, words in enumerate(body[vertex_count : vertex_count + face_count]):
        try:
            corners = [int(word) for word in words[1 : int(words[0]) + 1]]
        except ValueError as error:
            raise ValueError(f"face {i} is not a list of integers: {' '.join(words)[:60]!r}") from error
        if len(corners) != int(words[0]) or len(corners) < 3:
            raise ValueError(f"face {i} announces {words[0]} corners and has {len(corners)}")
        faces.append(corners)
    return FileScene([Instance(source.path.stem, Geometry(vertices, faces))])
