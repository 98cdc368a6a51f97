"""STL through trimesh."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import impinge


def test_text_coordinates_are_double_and_nothing_is_merged(tmp_path: Path) -> None:
    path = tmp_path / "a.stl"
    facet = "facet normal 0 0 0\nouter loop\nvertex 0.1 0 0\nvertex 0.1 0 0\nvertex 1e-300 2 3\nendloop\nendfacet\n"
    path.write_text("solid a\n" + facet * 2 + "endsolid a\n")
    mesh = impinge.load(path)
    assert mesh.vertices.tolist() == [[0.1, 0, 0], [0.1, 0, 0], [1e-300, 2, 3]] * 2
    assert mesh.faces.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_binary_coordinates_are_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.stl"
    corners = np.array([0.1, 0, 0, 1, 0, 0, 0, 1e-30, 7], dtype=np.float32)
    path.write_bytes(b"solid but binary".ljust(80) + struct.pack("<I12fH", 1, 0, 0, 1, *corners, 0))
    mesh = impinge.load(path)
    assert mesh.vertices.ravel().tolist() == corners.tolist()


def test_solids_become_parts(tmp_path: Path, builders: Any) -> None:
    path = tmp_path / "two.stl"
    path.write_bytes(builders.stl_text("Lid") + builders.stl_text("box"))
    assembly = impinge.load_assembly(path)
    assert [part.name for part in assembly] == ["Lid", "box"]
    assert all(part.mesh.solid for part in assembly)


@pytest.mark.parametrize(
    ("old", "new"), [(b"endsolid", b""), (b"vertex 0.0 0.0 1.0", b"vertex 0.0 zero 1.0"), (b"vertex 0.0 0.0 1.0", b"")]
)
def test_broken_text(tmp_path: Path, builders: Any, old: bytes, new: bytes) -> None:
    path = tmp_path / "broken.stl"
    path.write_bytes(builders.stl_text().replace(old, new))
    with pytest.raises(ValueError, match=r"broken\.stl: "):
        impinge.load(path)


def test_nothing_is_printed(tmp_path: Path, builders: Any) -> None:
    path = tmp_path / "broken.stl"
    path.write_bytes(builders.stl_text().replace(b"facet normal 0", b"facet normal zero", 1))
    program = f"import impinge; print(len(impinge.load({str(path)!r}).faces))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout.strip(), done.stderr) == ("12", "")


def test_many_solids_of_one_name(tmp_path: Path) -> None:
    path = tmp_path / "many.stl"
    facet = "facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
    path.write_text(f"solid a\n{facet}endsolid a\n" * 3 + f"solid\n{facet}endsolid\n" * 2 + "solid b\nendsolid b\n")
    assert [part.name for part in impinge.load_assembly(path)] == ["a", "a_1", "a_2", "geometry_1", "geometry_2"]
    path.write_text(f"SOLID a\n{facet}EndSolid a\n" * 5_000)
    assert len(impinge.load(path).faces) == 5_000


def test_an_end_without_a_start(tmp_path: Path, builders: Any) -> None:
    path = tmp_path / "a.stl"
    path.write_bytes(b"endsolid a\n" + builders.stl_text())
    with pytest.raises(ValueError, match=r"a\.stl: an 'endsolid' precedes its 'solid'"):
        impinge.load(path)


def test_too_many_solids_are_refused(tmp_path: Path, builders: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.stl"
    path.write_bytes(20 * builders.stl_text())
    assert len(impinge.load_assembly(path)) == 20
    monkeypatch.setattr("impinge.io.formats.stl.MOST_PLACED", 10)
    with pytest.raises(ValueError, match="it has more than 10 solids"):
        impinge.load(path)
