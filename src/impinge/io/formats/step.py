"""STEP and IGES through Open CASCADE, which tessellates them in double precision (``open_cascade.py``).

Coordinates stay in the unit of the file.  The vertices along the edges of one part
are equal bit by bit, so a solid part is read as a closed mesh.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Hashable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from impinge.errors import MissingExtra
from impinge.io.part_graph import Node, Use, placed_instances
from impinge.io.scene import MICROMETRES, FileScene, Geometry
from impinge.io.source import Source
from impinge.kernels.interruptible import signals_deferred

_GENERATED_NAME = re.compile(r"NAUO\d*|=>\[[\d:]*\]|\d*")
"""What exporters write where the user gave an instance no name."""


_MEMORY = 2**30
"""Bytes that Open CASCADE gets for itself: 250 MB are the least with which it reads a small file."""
_MORE_MEMORY = 4
"""And bytes for each that the content may take."""


def read_brep(data: bytes, source: Source, linear_tolerance: float, angular_tolerance: float) -> FileScene:
    """Tolerances: see :func:`impinge.load_assembly`."""
    for name, value in (("linear_tolerance", linear_tolerance), ("angular_tolerance", angular_tolerance)):
        if not (value > 0.0 and math.isfinite(value)):
            raise ValueError(f"{name} is {value}; it must be positive")
    if not source.max_seconds > 0.0:
        raise ValueError(f"max_seconds is {source.max_seconds}; it must be positive")
    if find_spec("OCP") is None:
        raise MissingExtra("reading STEP and IGES files", "cadquery-ocp-novtk", "cad")
    kind = "iges" if source.path.suffix.lower() in (".iges", ".igs") else "step"
    if kind == "step" and not data.lstrip().startswith(b"ISO-10303-21"):
        raise ValueError("it does not start with ISO-10303-21, as a STEP file does")
    if kind == "step" and b"END-ISO-10303-21" not in data:
        raise ValueError("it is truncated: the closing END-ISO-10303-21 is missing")
    with tempfile.TemporaryDirectory() as directory:
        arrays = _tessellated(data, source, Path(directory), kind, linear_tolerance, angular_tolerance)
    return _scene(json.loads(arrays["description"].tobytes()), arrays)


def _tessellated(
    data: bytes, source: Source, directory: Path, kind: str, linear_tolerance: float, angular_tolerance: float
) -> dict[str, Any]:
    """What the child process finds in the file; it reads a copy, so that nothing lies beside it."""
    copy, target = directory / "source", directory / "target.npz"
    copy.write_bytes(data)
    memory = _MEMORY + _MORE_MEMORY * source.max_expanded
    numbers = map(str, (float(linear_tolerance), float(angular_tolerance), memory))
    command = [sys.executable, "-m", "impinge.io.formats.open_cascade", copy, target, kind, *numbers]
    try:
        _run(command, min(source.max_seconds, threading.TIMEOUT_MAX))
    except subprocess.TimeoutExpired as error:
        raise ValueError(
            f"Open CASCADE was not done with it after {source.max_seconds:g} seconds; "
            "the argument max_seconds allows more"
        ) from error
    if target.exists():
        source.take(target.stat().st_size, "its triangles")
        with np.load(target) as arrays:
            return dict(arrays)
    reason = target.with_suffix(".txt")
    if reason.exists():
        raise ValueError(reason.read_text(encoding="utf-8"))
    raise ValueError(
        f"Open CASCADE cannot read this {kind.upper()} file: it is damaged, holds no shape, "
        f"or needs more memory than {memory:,} bytes (the argument max_expanded allows more)"
    )


def _run(command: list[Any], seconds: float) -> None:
    """Run a program; whatever ends the wait for it, Ctrl-C too, ends the program."""
    child = None
    try:
        with signals_deferred():
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )
        child.wait(seconds)
    finally:
        if child is not None:
            child.kill()
            child.wait()  # subprocess.run leaves a zombie after Ctrl-C


def _scene(description: dict[str, Any], arrays: dict[str, Any]) -> FileScene:
    def node_at(key: Hashable) -> Node:
        product = description["nodes"][key]
        number = product["mesh"]
        uses = [Use(use["node"], np.array(use["matrix"]), _given(use["name"])) for use in product["uses"]]
        if number is None:  # an assembly that is used under no name of its own does not appear in those of its parts
            return Node("", [], uses)
        geometry = Geometry(arrays[f"vertices {number}"], arrays[f"faces {number}"])
        return Node(product["name"] or f"part {number}", [("", geometry)], uses)

    roots = [Use(root, np.eye(4), _given(description["nodes"][root]["name"])) for root in description["roots"]]
    micrometres = description["millimetres"] * MICROMETRES["mm"]
    usual = next((size for size in MICROMETRES.values() if math.isclose(size, micrometres, rel_tol=1e-9)), micrometres)
    return FileScene(placed_instances(roots, node_at), usual)


def _given(name: str) -> str:
    return "" if _GENERATED_NAME.fullmatch(name) else name
