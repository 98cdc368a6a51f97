"""The command line: exit codes, what is printed where, and one line for every wrong input."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import impinge
from impinge.apps.demo.engine_bay import PLANTED
from impinge.cli import main, terminal
from impinge.errors import MissingExtra


def test_version(run) -> None:
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout.strip() == f"impinge {impinge.__version__}"


def test_help_names_every_command(run) -> None:
    result = run("--help")
    assert result.exit_code == 0
    for command in ("demo", "check", "diagnose", "repair", "warmup"):
        assert command in result.stdout


def test_diagnose(write, run, cubes) -> None:
    clean = run("diagnose", write("cube.obj", cubes(0)))
    assert clean.exit_code == 0
    assert "triangles" in clean.stdout
    open_box = "\n".join(cubes(0).splitlines()[:-1])
    unusual = run("diagnose", write("open.obj", open_box))
    assert unusual.exit_code == 1
    assert "open edges" in unusual.stdout


def test_diagnose_names_remarks_without_complaint(write, run, cubes) -> None:
    clean = run("diagnose", write("cube.obj", cubes(0)))
    assert clean.exit_code == 0
    for what in ("cracks", "slivers", "coplanar neighbours"):
        assert what in clean.stdout


BAD_FILES = {
    "nan.obj": "v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
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
def test_bad_file_is_one_line_and_exit_code_2(write, command: str, name: str, run) -> None:
    result = run(command, write(name, BAD_FILES[name]))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("impinge: ")
    assert " ".join(name.split()) in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["check", "diagnose"])
def test_missing_file_and_directory(write, tmp_path: Path, command: str, run) -> None:
    for place in ("absent.stl", str(tmp_path)):
        result = run(command, place)
        assert result.exit_code == 2
        assert result.stderr.startswith(f"impinge: {place}: ")
        assert result.stderr.count("\n") == 1


def test_bad_options_are_exit_code_2(write, run, cubes) -> None:
    good = write("good.obj", cubes(0, 3))
    for arguments in (["check"], ["check", good, "--clearance", "wide"], ["check", good, "--nonsense"], ["nonsense"]):
        result = run(*arguments)
        assert result.exit_code == 2
        assert "Traceback" not in result.output
    assert "furlong" in run("check", good, "--unit", "furlong").stderr


@pytest.mark.parametrize("arguments", [("demo", "--output"), ("check", "good.obj", "--report")])
def test_report_that_cannot_be_written_is_found_out_before_the_work(
    write, arguments: tuple[str, ...], run, cubes
) -> None:
    write("good.obj", cubes(0, 3))
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
def test_errors_of_the_readers(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, words: str, run
) -> None:
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
def test_warmup_says_where_the_kernels_are(monkeypatch: pytest.MonkeyPatch, run) -> None:
    from impinge.apps import warmup
    from impinge.kernels.with_numba.cache import cache_directory

    monkeypatch.setattr(warmup, "compile_everything", lambda progress: progress(1, 1))
    result = run("warmup")
    assert result.exit_code == 0
    assert str(cache_directory) in result.stdout


def test_warmup_has_nothing_to_do_where_kernels_come_ready(monkeypatch: pytest.MonkeyPatch, run) -> None:
    from impinge.kernels import jit

    monkeypatch.setattr(jit, "kernels_are_compiled", lambda: False)
    result = run("warmup")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "nothing to compile" in result.stdout


@pytest.mark.nojit_slow
def test_warmup_says_that_the_kernels_are_not_kept(monkeypatch: pytest.MonkeyPatch, run) -> None:
    from impinge.apps import warmup
    from impinge.kernels.with_numba import cache as kernel_cache

    monkeypatch.setattr(kernel_cache, "_why_not_kept", "the disk is full")
    monkeypatch.setattr(warmup, "compile_everything", lambda progress: progress(1, 1))
    result = run("warmup")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "impinge: all kernels are compiled, but not kept: the disk is full\n"
