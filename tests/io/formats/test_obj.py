"""Wavefront OBJ."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import impinge

DART = "v 0 0 0\nv 4 4 0\nv 0 1 0\nv -4 4 0\n"  # concave at the third corner; a fan from the second one overlaps


def test_concave_polygon_keeps_its_area_and_its_number(tmp_path: Path) -> None:
    path = tmp_path / "dart.obj"
    path.write_text(DART + "f 2 3 4 1\nf 1 2 3\n")
    mesh = impinge.load(path)
    assert mesh.polygon.tolist() == [0, 0, 1]
    first = mesh.vertices[mesh.faces[mesh.polygon == 0]]
    area = np.linalg.norm(np.cross(first[:, 1] - first[:, 0], first[:, 2] - first[:, 0]), axis=1).sum() / 2
    assert area == 4.0


def test_vertices_are_exact_and_all_kept(tmp_path: Path) -> None:
    path = tmp_path / "exact.obj"
    path.write_text("v 0.1 1e-300 3\nv 0.1 1e-300 3\nv 0.30000000000000004 1 1 0.5 0.5 0.5\nv 9 9 9\nf 1 2 3\n")
    mesh = impinge.load(path)
    assert mesh.vertices.tolist() == [[0.1, 1e-300, 3], [0.1, 1e-300, 3], [0.1 + 0.2, 1, 1], [9, 9, 9]]
    assert mesh.faces.tolist() == [[0, 1, 2]]  # without area, and kept


def test_relative_indices_continued_lines_and_texture_indices(tmp_path: Path) -> None:
    path = tmp_path / "odd.obj"
    path.write_bytes(
        b"v 0 0 0\r\nv 1 0 0\r\nv 0 1 0\r\nvt 0 0\r\nf -3/1 \\\r\n-2/1 -1/1\r\nv 5 5 5\r\nf 1/1/1 2//1 4\r\n"
    )
    assert impinge.load(path).faces.tolist() == [[0, 1, 2], [0, 1, 3]]


@pytest.mark.parametrize("key", ["o", "g"])
def test_objects_or_groups_become_parts(tmp_path: Path, key: str) -> None:
    path = tmp_path / "parts.obj"
    path.write_text(DART + f"v 7 7 7\n{key} one\nf 1 2 3\n{key} two parts\nf 3 4 5\n{key} one\nf 1 3 4\n{key} none\n")
    parts = impinge.load_assembly(path).parts
    assert [(part.name, len(part.mesh.faces), len(part.mesh.vertices)) for part in parts] == [
        ("one", 2, 4),
        ("two parts", 1, 3),
    ]
    assert impinge.load(path).faces.tolist() == [[0, 1, 2], [2, 3, 4], [0, 2, 3]]


def test_groups_inside_objects_are_no_parts(tmp_path: Path) -> None:
    path = tmp_path / "both.obj"
    path.write_text(DART + "o body\ng a\nf 1 2 3\ng b\nf 1 3 4\n")
    assert [part.name for part in impinge.load_assembly(path)] == ["body"]


@pytest.mark.parametrize("line", ["v 1 2", "v 1 2 x", "f 1 2", "f 0 1 2", "f 1 2 x", "f -9 1 2"])
def test_broken_lines_are_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "broken.obj"
    path.write_text(DART + line + "\n")
    with pytest.raises(ValueError, match=r"broken\.obj: line 5 is not a complete"):
        impinge.load(path)


def test_too_many_groups_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\n" + "".join(f"g {k}\nf 1 2 3\n" for k in range(20)))
    assert len(impinge.load_assembly(path)) == 20
    monkeypatch.setattr("impinge.io.formats.obj.MOST_PLACED", 10)
    assert len(impinge.load(path).faces) == 20
    with pytest.raises(ValueError, match="it has 20 objects or groups; more than 10 are not supported"):
        impinge.load_assembly(path)


def test_large_polygons_are_counted_before_they_are_cut(tmp_path: Path) -> None:
    """A face of a million corners takes a minute, one of 2,000 nothing."""
    path = tmp_path / "a.obj"
    corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\n"
    path.write_text(corners + "f" + 1_000 * " 1 2 3" + "\n")
    assert len(impinge.load(path).faces) == 2_998
    path.write_text(corners + "f" + 200_000 * " 1 2 3" + "\n")
    with pytest.raises(ValueError, match=r"what cuts its large polygons would take more than .* max_expanded"):
        impinge.load(path)
