"""STEP and IGES through cascadio (Open CASCADE), which tessellates them into a GLB.

Open CASCADE's glTF writer stores vertices and placements as float32 metres, so
coordinates carry a relative rounding error of 6e-8: parts that touch in the CAD
model may overlap or stand apart by that much.  The vertices along the edges of
one part stay equal bit by bit, so a solid part is read as a closed mesh.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from impinge.adapters.gltf import read_gltf
from impinge.adapters.scene import FileScene
from impinge.adapters.source import Source
from impinge.errors import MissingExtra

_TESSELLATE = """
import pathlib, sys
sys.modules["trimesh"] = None
import cascadio
source, target, kind, linear, angular = sys.argv[1:]
data = pathlib.Path(source).read_bytes()
glb = cascadio.load(data, file_type=kind, tol_linear=float(linear), tol_angular=float(angular))
pathlib.Path(target).write_bytes(glb)
"""
"""The child's program.  cascadio runs without trimesh, whose import takes 1.5 s, but imports it where it can."""

_GENERATED_NAME = re.compile(r"NAUO\d*|=>\[[\d:]*\]|\d*")
"""What exporters write where the user gave an instance no name."""


def read_brep(data: bytes, source: Source, linear_tolerance: float, angular_tolerance: float) -> FileScene:
    """Tolerances: see :func:`impinge.load_assembly`."""
    for name, value in (("linear_tolerance", linear_tolerance), ("angular_tolerance", angular_tolerance)):
        if not (value > 0.0 and math.isfinite(value)):
            raise ValueError(f"{name} is {value}; it must be positive")
    if find_spec("cascadio") is None:
        raise MissingExtra("reading STEP and IGES files", "cascadio", "cad")
    kind = "iges" if source.path.suffix.lower() in (".iges", ".igs") else "step"
    if kind == "step" and not data.lstrip().startswith(b"ISO-10303-21"):
        raise ValueError("it does not start with ISO-10303-21, as a STEP file does")
    if kind == "step" and b"END-ISO-10303-21" not in data:
        raise ValueError("it is truncated: the closing END-ISO-10303-21 is missing")
    glb = _tessellated(data, kind, linear_tolerance, angular_tolerance)
    if not glb:
        raise ValueError(f"Open CASCADE cannot read this {kind.upper()} file: it is damaged or holds no shape")
    return read_gltf(glb, source, namer=_name)


def _tessellated(data: bytes, kind: str, linear_tolerance: float, angular_tolerance: float) -> bytes:
    """The GLB that Open CASCADE makes; empty if it fails.

    It runs in a process of its own, because it ends with a segmentation fault on
    some damaged files and prints on the terminal.
    """
    with tempfile.TemporaryDirectory() as directory:
        source, target = Path(directory, "source"), Path(directory, "target")
        source.write_bytes(data)
        subprocess.run(
            [
                sys.executable,
                "-c",
                _TESSELLATE,
                source,
                target,
                kind,
                str(float(linear_tolerance)),
                str(float(angular_tolerance)),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            check=False,
        )
        return target.read_bytes() if target.exists() else b""


def _name(node: str, mesh: str) -> str:
    """The instance's own name where it has one, else the product's."""
    return mesh if _GENERATED_NAME.fullmatch(node) else node
