"""OFF."""

from __future__ import annotations

from pathlib import Path

import pytest

import impinge


def test_polygons_comments_and_colours(tmp_path: Path) -> None:
    path = tmp_path / "a.off"
    path.write_text(
        "COFF 5 2 0 # counts beside the word\n\n# a comment\n"
        "0 0 0 255 0 0\n4 4 0 1 1 1\n0 1 0 0 0 0\n-4 4 0 0 0 0\n0.1 0 1 0 0 0\n4 1 2 3 0 9 9 9\n3 0 1 4\n"
    )
    mesh = impinge.load(path)
    assert mesh.polygon.tolist() == [0, 0, 1]
    assert mesh.area == pytest.approx(impinge.Mesh(mesh.vertices, [[1, 2, 3, 0], [0, 1, 4]]).area)
    assert mesh.vertices[4].tolist() == [0.1, 0, 1]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("NO\n3 1 0\n", "does not start with the word OFF"),
        ("OFF BINARY\n", "binary OFF is not supported"),
        ("OFF\n", "numbers of vertices and faces is missing"),
        ("OFF\n3 x 0\n", "numbers of vertices and faces is missing"),
        ("OFF\n3 1 0\n0 0 0\n", "truncated"),
        ("OFF\n3 1 0\n0 0 0\n1 0\n0 1 0\n3 0 1 2\n", "vertex 1 is not three numbers"),
        ("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1\n", "face 0 announces 3 corners and has 2"),
        ("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n2 0 1\n", "face 0 announces 2 corners"),
        ("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 x\n", "face 0 is not a list of integers"),
    ],
)
def test_broken_files(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "broken.off"
    path.write_text(text)
    with pytest.raises(ValueError, match=reason):
        impinge.load(path)


def test_lines_after_the_faces_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "a.off"
    path.write_text("OFF 3 1 0\n0 0 0\n1 0 0\n\n0 1 0\n3 0 1 2\nanything\n" + "# more\n" * 3)
    assert len(impinge.load(path).faces) == 1
    path.write_text(f"OFF\n{10**30} 1 0\n0 0 0\n")
    with pytest.raises(ValueError, match="it is truncated"):
        impinge.load(path)
