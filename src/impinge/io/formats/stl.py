"""STL, text and binary, through trimesh."""

from __future__ import annotations

import io
import logging
import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from impinge.io.part_graph import MOST_PLACED
from impinge.io.scene import FileScene, Geometry, Instance
from impinge.io.source import Source

_SILENT = logging.NullHandler()
_SOLID = re.compile("solid", re.IGNORECASE | re.ASCII)
_END = re.compile("endsolid", re.IGNORECASE | re.ASCII)


def read_stl(data: bytes, source: Source) -> FileScene:
    """Each ``solid`` of a text file becomes a part.  Corners are as in the file: none are merged."""
    from trimesh.exchange.stl import HeaderError, load_stl_binary
    from trimesh.util import decode_text

    # trimesh logs what it cannot read, with a traceback, and without a handler that goes to the terminal.
    logging.getLogger("trimesh").addHandler(_SILENT)
    try:
        loaded = load_stl_binary(io.BytesIO(data))
    except HeaderError:
        return FileScene(list(_solids(decode_text(data))))
    if "vertices" not in loaded:
        return FileScene([])
    return FileScene([Instance(loaded.get("metadata", {}).get("name") or source.path.stem, _geometry(loaded))])


def _solids(text: str) -> Iterator[Instance]:
    """The parts of a text file; trimesh sees one at a time, as its search for unique names is quadratic."""
    from trimesh.exchange.stl import load_stl_ascii

    if len(_END.findall(text)) > MOST_PLACED:
        raise ValueError(f"it has more than {MOST_PLACED:,} solids, which is not supported")
    nameless = position = 0
    while (start := _SOLID.search(text, position)) and (end := _END.search(text, position)):
        if start.start() > end.start():
            raise ValueError("an 'endsolid' precedes its 'solid'")
        position = end.end()
        solid = text[start.start() : position]
        with warnings.catch_warnings():
            # numpy only warns when a text with numbers ends in something else.
            warnings.filterwarnings(
                "error", category=DeprecationWarning, message=".*string or file could not be read.*"
            )
            loaded = load_stl_ascii(io.StringIO(solid))
        if "vertices" not in loaded:
            continue
        line, _, more = solid.partition("\n")
        name = line[len("solid ") :].strip() if more else ""
        nameless += not name
        yield Instance(name or f"geometry_{nameless}", _geometry(loaded))


def _geometry(loaded: dict[str, Any]) -> Geometry:
    return Geometry(np.asarray(loaded["vertices"], dtype=np.float64), np.asarray(loaded["faces"]))
