"""``impinge repair``: what is written, what is said, and what is refused."""

from __future__ import annotations

import pytest

import impinge
from impinge.mesh.assembly import Assembly


def test_repair(write, run, cubes) -> None:
    flipped = cubes(0).replace("f 1 3 4 2", "f 1 2 4 3") + "f 1 3 4 2\n"
    result = run("repair", write("dirty.obj", flipped), "-o", "clean.obj")
    assert result.exit_code == 0, result.stderr
    assert "2 coincident faces merged, 2 faces turned" in result.stdout
    assert impinge.load("clean.obj").diagnose().is_clean
    left = run("repair", write("open.obj", "\n".join(cubes(0).splitlines()[:-1])), "-o", "still-open.stl")
    assert left.exit_code == 1
    assert "nothing to repair" in left.stdout
    welded = run("repair", "open.obj", "-o", "welded.off", "--weld", "auto")
    assert welded.exit_code == 1


def crack(cubes, gap: float) -> str:
    own = [f"v 1 {j} {k + gap}" for j, k in ((0, 0), (1, 0), (1, 1), (0, 1))]
    return "\n".join([*cubes(0).splitlines()[:-1], *own, "f 9 10 11 12", ""])


def test_weld_is_a_length_in_the_unit_of_the_file(write, run, cubes) -> None:
    file = write("cracked.obj", crack(cubes, 0.01))
    assert run("repair", file, "-o", "out.obj", "--weld", "0.001").exit_code == 1
    result = run("repair", file, "-o", "out.obj", "--weld", "0.02")
    assert result.exit_code == 0
    assert "4 vertices welded" in result.stdout
    assert "moved by at most 0.01." in result.stdout
    refused = run("repair", file, "-o", "out.obj", "--weld", "0.02mm")
    assert refused.exit_code == 2
    assert "cracked.obj names no unit" in refused.stderr


def test_weld_with_a_unit_of_its_own(monkeypatch: pytest.MonkeyPatch, write, run, cubes) -> None:
    """The length is converted to the unit that the file names."""
    file = write("cracked.obj", crack(cubes, 0.01))
    monkeypatch.setattr(impinge, "load_assembly", lambda *_, **__: Assembly((), "in"))
    assert run("repair", file, "-o", "out.obj", "--weld", "0.25mm").exit_code == 1
    result = run("repair", file, "-o", "out.obj", "--weld", "0.26mm")
    assert result.exit_code == 0
    assert "moved by at most 0.01 in." in result.stdout
    assert run("repair", file, "-o", "out.obj", "--weld", "none").exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["-o", "part.step"], "cannot be written"),
        (["-o", "cube.obj"], "would overwrite"),
        (["-o", "absent/part.obj"], "does not exist"),
        (["-o", "part.obj", "--weld", "much"], "'much'"),
        (["-o", "part.obj", "--weld", "-1"], "--weld is '-1'"),
    ],
)
def test_refusals_are_one_line(write, run, cubes, arguments: list[str], complaint: str) -> None:
    result = run("repair", write("cube.obj", cubes(0)), *arguments)
    assert result.exit_code == 2
    assert complaint in result.stderr
    assert result.stderr.count("\n") == 1
