"""The hash over answers: the same for the same answers, another one for any other bit."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import impinge
from impinge.lab import fingerprint


def total(told: str) -> str:
    return told.splitlines()[-1]


def test_the_same_hash_twice(capsys: pytest.CaptureFixture[str]) -> None:
    shown = []
    for _ in range(2):
        assert fingerprint.run(["--sections", "files"]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]
    assert shown[0].startswith("files ")


def test_another_answer_is_another_hash_and_another_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fingerprint.run(["--sections", "files", "--values", str(tmp_path / "before")])
    load = impinge.load

    def one_bit_off(path: Path, **options: object) -> impinge.Mesh:
        mesh = load(path, **options)  # type: ignore[arg-type]
        if path.name != "cube.off":
            return mesh
        vertices = mesh.vertices.copy()
        vertices[3, 1] = np.nextafter(vertices[3, 1], 2.0)
        return impinge.Mesh(vertices, mesh.faces)

    monkeypatch.setattr(impinge, "load", one_bit_off)
    before = capsys.readouterr().out
    fingerprint.run(["--sections", "files", "--values", str(tmp_path / "after")])
    assert total(before) != total(capsys.readouterr().out)
    lines = [(tmp_path / name).read_text().splitlines() for name in ("before", "after")]
    changed = [old for old, new in zip(*lines, strict=True) if old != new]
    assert [line.split(" = ")[0] for line in changed] == [
        f"files: cube.off: {how}" for how in ("load", "load as solid", "load in mm")
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [(0.0, -0.0), (1.0, float(np.nextafter(1.0, 2.0))), (5e-324, 0.0), (np.zeros(3), np.zeros((1, 3))), (True, False)],
)
def test_every_bit_counts(one: object, other: object) -> None:
    assert fingerprint.text_of(one) != fingerprint.text_of(other)


def test_a_refusal_counts_by_its_type() -> None:
    def refuse() -> None:
        raise impinge.Unsupported("some words")

    assert fingerprint.answer(refuse) == "raises Unsupported"


@pytest.mark.parametrize("make", [fingerprint.any_poses, fingerprint.path_of_poses, fingerprint.grid_poses])
def test_poses_are_rigid(make: Callable[..., np.ndarray]) -> None:
    for pose in make(1, 20, 3.0):
        assert np.allclose(pose[:3, :3] @ pose[:3, :3].T, np.eye(3), rtol=0.0, atol=1e-14)
        assert np.linalg.det(pose[:3, :3]) > 0.0


def test_it_runs_as_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    path = [str(Path(impinge.__file__).parents[1]), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    done = subprocess.run(
        [sys.executable, fingerprint.__file__, "--sections", "files"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    fingerprint.run(["--sections", "files"])
    assert done.stdout == capsys.readouterr().out


@pytest.mark.nojit_slow
def test_most_questions_have_answers() -> None:
    """A section in which all is refused would show nothing."""
    for name in ("hulls", "pieces"):
        lines = list(fingerprint.lines_of(fingerprint.SECTIONS[name]()))
        assert sum("= raises " in line for line in lines) < 0.6 * len(lines)


def test_a_section_that_a_version_lacks_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fingerprint.run(["--sections", "files"])
    alone = capsys.readouterr().out
    monkeypatch.setitem(fingerprint._NEEDS, "configurations", lambda: False)
    fingerprint.run(["--sections", "files", "configurations"])
    both = capsys.readouterr().out
    assert "configurations is not in this version" in both
    assert total(both) == total(alone)
