"""The command line: exit codes, what is printed where, and one line for every wrong input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import impinge
from impinge.cli import main, terminal
from impinge.cli.main import app
from impinge.errors import MissingExtra
from impinge.lab.scenes.engine_bay import PLANTED

QUADS = ((1, 3, 4, 2), (5, 6, 8, 7), (1, 2, 6, 5), (3, 7, 8, 4), (1, 5, 7, 3), (2, 4, 8, 6))


def cube(name: str, x: float, first: int) -> str:
    """An OBJ object: a unit cube from x to x + 1."""
    corners = [(x + i, j, k) for k in (0, 1) for j in (0, 1) for i in (0, 1)]
    lines = [f"o {name}", *("v {} {} {}".format(*corner) for corner in corners)]
    return "\n".join([*lines, *("f " + " ".join(str(first + i - 1) for i in quad) for quad in QUADS), ""])


def cubes(*places: float) -> str:
    return "".join(cube(f"cube{i}", x, 1 + 8 * i) for i, x in enumerate(places))


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)

    def write_file(name: str, content: str | bytes) -> str:
        data = content.encode() if isinstance(content, str) else content
        (tmp_path / name).write_bytes(data)
        return name

    return write_file


def test_version() -> None:
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout.strip() == f"impinge {impinge.__version__}"


def test_help_names_every_command() -> None:
    result = run("--help")
    assert result.exit_code == 0
    for command in ("demo", "check", "diagnose", "repair", "warmup"):
        assert command in result.stdout


def test_check_without_findings(write) -> None:
    result = run("check", write("apart.obj", cubes(0, 3)))
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.strip() == "apart.obj: no findings among 2 parts, clearance 0"


def test_check_with_findings(write) -> None:
    result = run("check", write("machine.obj", cubes(0, 0.5, 3, 4.25)), "--clearance", "0.5")
    assert result.exit_code == 1
    assert "interference" in result.stdout
    assert "0.25" in result.stdout
    assert "2 findings among 4 parts" in result.stdout


@pytest.mark.nojit_slow
def test_check_as_json(write) -> None:
    result = run("check", write("machine.obj", cubes(0, 1, 3)), "--json", "--clearance", 1)
    assert result.exit_code == 1
    answer = json.loads(result.stdout)
    assert (answer["file"], answer["parts"], answer["clearance"]) == ("machine.obj", 3, 1.0)
    touching, clearance = answer["findings"]
    assert (touching["kind"], touching["part_a"], touching["part_b"]) == ("touching", "cube0", "cube1")
    assert (clearance["kind"], clearance["distance"]) == ("clearance", 1.0)
    assert len(clearance["where"]) == 3


@pytest.mark.nojit_slow
def test_check_writes_a_report(write) -> None:
    result = run("check", write("machine.obj", cubes(0, 1)), "--report", "out.html")
    assert result.exit_code == 1
    assert "out.html" in result.stdout
    assert Path("out.html").read_text("utf-8").count("<img") == 2


def test_diagnose(write) -> None:
    clean = run("diagnose", write("cube.obj", cubes(0)))
    assert clean.exit_code == 0
    assert "triangles" in clean.stdout
    open_box = "\n".join(cubes(0).splitlines()[:-1])
    unusual = run("diagnose", write("open.obj", open_box))
    assert unusual.exit_code == 1
    assert "open edges" in unusual.stdout


def test_diagnose_names_remarks_without_complaint(write) -> None:
    clean = run("diagnose", write("cube.obj", cubes(0)))
    assert clean.exit_code == 0
    for what in ("cracks", "slivers", "coplanar neighbours"):
        assert what in clean.stdout


def test_repair(write) -> None:
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


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["-o", "part.step"], "cannot be written"),
        (["-o", "cube.obj"], "would overwrite"),
        (["-o", "absent/part.obj"], "does not exist"),
        (["-o", "part.obj", "--weld", "much"], "'much'"),
        (["-o", "part.obj", "--weld", "-1"], "weld is -1"),
    ],
)
def test_repair_refuses_in_one_line(write, arguments: list[str], complaint: str) -> None:
    result = run("repair", write("cube.obj", cubes(0)), *arguments)
    assert result.exit_code == 2
    assert complaint in result.stderr
    assert result.stderr.count("\n") == 1


GOOD = cubes(0, 3)
BAD_FILES = {
    "nan.obj": GOOD.replace("v 0 0 0", "v nan 0 0", 1),
    "infinite.off": "OFF\n3 1 0\n0 0 0\n1 0 0\n0 inf 0\n3 0 1 2\n",
    "empty.stl": b"",
    "no_faces.obj": "v 0 0 0\nv 1 0 0\n",
    "index.off": "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 7\n",
    "truncated.stl": bytes(80) + (12).to_bytes(4, "little") + bytes(70),
    "truncated.ply": "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\n",
    "truncated.glb": b"glTF\x02\x00\x00\x00",
    "garbage.3mf": b"this is not a zip file",
    "unknown.xyz": "0 0 0\n",
    "no_suffix": "0 0 0\n",
    "two\nlines.stl": b"",
}


@pytest.mark.parametrize("command", ["check", "diagnose"])
@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_file_is_one_line_and_exit_code_2(write, command: str, name: str) -> None:
    result = run(command, write(name, BAD_FILES[name]))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("impinge: ")
    assert " ".join(name.split()) in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["check", "diagnose"])
def test_missing_file_and_directory(write, tmp_path: Path, command: str) -> None:
    for place in ("absent.stl", str(tmp_path)):
        result = run(command, place)
        assert result.exit_code == 2
        assert result.stderr.startswith(f"impinge: {place}: ")
        assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("clearance", ["-1", "nan", "inf", "-inf"])
def test_bad_clearance(write, clearance: str) -> None:
    result = run("check", write("good.obj", GOOD), "--clearance", clearance)
    assert result.exit_code == 2
    assert result.stderr.startswith("impinge: clearance")
    assert result.stderr.count("\n") == 1


def test_bad_options_are_exit_code_2(write) -> None:
    good = write("good.obj", GOOD)
    for arguments in (["check"], ["check", good, "--clearance", "wide"], ["check", good, "--nonsense"], ["nonsense"]):
        result = run(*arguments)
        assert result.exit_code == 2
        assert "Traceback" not in result.output
    assert "furlong" in run("check", good, "--unit", "furlong").stderr


@pytest.mark.parametrize("arguments", [("demo", "--output"), ("check", "good.obj", "--report")])
def test_report_that_cannot_be_written_is_found_out_before_the_work(write, arguments: tuple[str, ...]) -> None:
    write("good.obj", GOOD)
    for place in ("nowhere/report.html", "."):
        result = run(*arguments, place)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith("impinge: ")
        assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (MissingExtra("reading STEP", "cascadio", "cad"), 2, 'pip install "impinge[cad]"'),
        (PermissionError(13, "Permission denied", "secret.stl"), 2, "secret.stl: Permission denied"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_errors_of_the_readers(monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, words: str) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(impinge, "load_assembly", fail)
    result = run("check", "part.step")
    assert result.exit_code == code
    assert words in result.stderr
    assert result.stderr.count("\n") == 1


def test_our_own_mistake_shows_its_traceback_and_is_no_finding(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("a bug")

    monkeypatch.setattr(impinge, "load", fail)
    monkeypatch.setattr(sys, "argv", ["impinge", "diagnose", "part.stl"])
    with pytest.raises(SystemExit) as stop:
        main.run()
    assert stop.value.code == 3
    assert "AssertionError: a bug" in capsys.readouterr().err


def test_names_with_brackets_are_printed_as_they_are(write) -> None:
    text = cubes(0, 0.5).replace("cube0", "[bold]cube0")
    assert "[bold]cube0" in run("check", write("brackets.obj", text)).stdout


def test_progress_bar_and_spinner_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.console import Console

    console = Console(force_terminal=True, record=True, width=100)
    monkeypatch.setattr(terminal, "err", console)
    with terminal.progress_bar("checking pairs") as progress:
        progress(0, 2)
        progress(2, 2)
    with terminal.spinner("reading"):
        pass
    written = console.export_text()
    assert "checking pairs" in written
    assert "2/2" in written


@pytest.mark.nojit_slow
def test_demo_finds_what_was_planted_and_writes_the_report(tmp_path: Path) -> None:
    """As a user runs it: in a process of its own, in some directory, without a terminal."""
    command = [sys.executable, "-m", "impinge.cli.main", "demo"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"All {len(PLANTED)} planted cases were found, and nothing else." in done.stdout
    assert "impinge-report.html" in done.stdout
    assert "Traceback" not in done.stderr
    for case in PLANTED:
        assert case.part_b in done.stdout
    text = (tmp_path / "impinge-report.html").read_text("utf-8")
    assert text.count("<img") == 1 + len(PLANTED)


@pytest.mark.nojit_slow
def test_warmup_says_where_the_kernels_are(monkeypatch: pytest.MonkeyPatch) -> None:
    from impinge.jit import cache_directory
    from impinge.world import warmup

    monkeypatch.setattr(warmup, "compile_everything", lambda progress: progress(1, 1))
    result = run("warmup")
    assert result.exit_code == 0
    assert str(cache_directory) in result.stdout


def test_warmup_says_that_the_kernels_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    from impinge import kernel_cache
    from impinge.world import warmup

    monkeypatch.setattr(kernel_cache, "_why_not_kept", "the disk is full")
    monkeypatch.setattr(warmup, "compile_everything", lambda progress: progress(1, 1))
    result = run("warmup")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "impinge: all kernels are compiled, but not kept: the disk is full\n"
