"""STL, text and binary, through trimesh."""

from __future__ import annotations

import io
import logging
import warnings

import numpy as np

from impinge.io.scene import FileScene, Geometry, Instance
from impinge.io.source import Source

_SILENT = logging.NullHandler()


def read_stl(data: bytes, source: Source) -> FileScene:
    """Each ``solid`` of a text file becomes a part.  Corners are as in the file: none are merged."""
    from trimesh.exchange.stl import load_stl

    # trimesh logs what it cannot read, with a traceback, and without a handler that goes to the terminal.
    logging.getLogger("trimesh").addHandler(_SILENT)
    with warnings.catch_warnings():
        # numpy only warns when a text with numbers ends in something else.
        warnings.filterwarnings("error", category=DeprecationWarning, message=".*string or file could not be read.*")
        loaded = load_stl(io.BytesIO(data))
    solids = loaded.get("geometry", {source.path.stem: loaded})
    instances = []
    for name, solid in solids.items():
        own_name = solid.get("metadata", {}).get("name") or name
        geometry = Geometry(np.asarray(solid["vertices"], dtype=np.float64), np.asarray(solid["faces"]))
        instances.append(Instance(own_name or source.path.stem, geometry))
    return FileScene(instances)
