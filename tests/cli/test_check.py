"""``impinge check``: units, open parts, several files, and what is said about them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from rich.console import Console

from impinge.cli import terminal


def test_no_findings(write, run, cubes) -> None:
    result = run("check", write("apart.obj", cubes(0, 3)))
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "No unit is named: lengths are in the unit of the coordinates, whatever it is.",
        "apart.obj: no findings among 2 parts, clearance 0",
    ]


def test_findings_are_counted_by_kind(write, run, cubes) -> None:
    result = run("check", write("machine.obj", cubes(0, 0.5, 3, 4.25)), "--clearance", "0.5")
    assert result.exit_code == 1
    assert "0.25" in result.stdout
    last = result.stdout.splitlines()[-1]
    assert last == ("machine.obj: 2 findings among 4 parts, clearance 0.5: 1 interference, 1 within the clearance")


@pytest.mark.nojit_slow
def test_json(write, run, cubes) -> None:
    result = run("check", write("machine.obj", cubes(0, 1, 3)), "--json", "--clearance", 1)
    assert result.exit_code == 1
    answer = json.loads(result.stdout)
    assert answer["files"] == [{"file": "machine.obj", "parts": ["cube0", "cube1", "cube2"]}]
    assert (answer["parts"], answer["clearance"], answer["unit"]) == (3, 1.0, None)
    assert answer["counts"] == {"interference": 0, "equal": 0, "nested": 0, "touching": 1, "clearance": 1}
    touching, clearance = answer["findings"]
    assert (touching["kind"], touching["part_a"], touching["part_b"]) == ("touching", "cube0", "cube1")
    assert (clearance["kind"], clearance["distance"]) == ("clearance", 1.0)
    assert len(clearance["where"]) == 3


@pytest.mark.nojit_slow
def test_report(write, run, cubes) -> None:
    result = run("check", write("machine.obj", cubes(0, 1)), "--report", "out.html")
    assert result.exit_code == 1
    assert "out.html" in result.stdout
    assert Path("out.html").read_text("utf-8").count("<img") == 2


def test_a_report_must_not_replace_what_is_read(write, run, cubes) -> None:
    write("folder/a.obj", cubes(0))
    for place in ("folder/a.obj", "folder"):
        result = run("check", place, "--report", "folder/../folder/a.obj")
        assert result.exit_code == 2
        assert "would overwrite" in result.stderr


@pytest.mark.parametrize(
    ("clearance", "found"),
    [("0.25", 1), ("0.24", 0), ("0.25in", 1), ("6.35mm", 1), ("6.34 mm", 0), ("0.00635m", 1), ("6349um", 0)],
)
def test_a_length_is_in_the_unit_of_the_file_or_its_own(write, run, cubes_3mf, clearance: str, found: int) -> None:
    file = write("inches.3mf", cubes_3mf("inch", 0, 1.25))
    result = run("check", file, "--clearance", clearance)
    assert result.exit_code == found, result.stderr
    *table, last = result.stdout.splitlines()
    assert re.search(r"among 2 parts, clearance 0\.2[45]\d* in\b", last)
    assert [line.endswith("  0.25 in") for line in table] == [False, True][: 2 * found]


def test_unit_converts_first_and_a_bare_number_is_in_it(write, run, cubes_3mf) -> None:
    file = write("inches.3mf", cubes_3mf("inch", 0, 1.25))
    assert run("check", file, "--unit", "mm", "--clearance", "6").exit_code == 0
    result = run("check", file, "--unit", "mm", "--clearance", "6.5", "--json")
    answer = json.loads(result.stdout)
    assert (answer["unit"], answer["clearance"]) == ("mm", 6.5)
    assert answer["findings"][0]["distance"] == pytest.approx(6.35)
    assert "6.35 mm apart" in answer["findings"][0]["description"]


def test_a_length_with_a_unit_needs_one_in_the_file(write, run, cubes) -> None:
    file = write("plain.obj", cubes(0, 1.25))
    for arguments in (["--clearance", "1mm"], ["--weld", "1mm"]):
        result = run("check", file, *arguments)
        assert result.exit_code == 2
        assert f"{arguments[0]} is '1mm', but plain.obj names no unit" in result.stderr
        assert "--unit" in result.stderr
        assert result.stderr.count("\n") == 1
    assert run("check", file, "--unit", "mm", "--clearance", "0.25mm").exit_code == 1


@pytest.mark.parametrize(
    "length", ["-1", "nan", "inf", "-inf", "wide", "", "1 furlong", "-0.5mm", "1e999", "1e99999999999"]
)
@pytest.mark.parametrize("option", ["--clearance", "--weld"])
def test_a_wrong_length_is_refused_before_anything_is_read(write, run, option: str, length: str) -> None:
    result = run("check", "absent.obj", option, length)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"impinge: {option} is {length!r}; ")
    assert result.stderr.count("\n") == 1


def open_box(cubes, *places: float) -> str:
    """The last cube has no last face."""
    return "\n".join(cubes(*places).splitlines()[:-1]) + "\n"


def test_open_parts_are_named(write, run, cubes) -> None:
    file = write("open.obj", open_box(cubes, 0, 3))
    result = run("check", file)
    assert result.exit_code == 0
    sentence = "1 of 2 parts is an open surface, so nothing was checked for lying inside it: cube1 (4 open edges)."
    assert sentence in result.stdout.splitlines()
    answer = json.loads(run("check", file, "--json").stdout)
    assert answer["open_parts"] == [{"part": "cube1", "open_edges": 4}]
    assert sentence in answer["notes"]


def cracked(cubes) -> str:
    """The first cube has a last face with vertices of its own, off by 1e-9, and a small one lies inside it."""
    lines = cubes(0, 0).splitlines()
    small = [" ".join(["v", *(str(0.25 + 0.5 * float(x)) for x in line.split()[1:])]) for line in lines[16:24]]
    own = [f"v 1 {j} {k + 1e-9}" for j, k in ((0, 0), (1, 0), (1, 1), (0, 1))]
    text = [*lines[:14], *own, "f 9 10 11 12", "o inner", *small]
    return "\n".join([*text, *(_moved(line, 4) for line in lines[24:]), ""])


def _moved(face: str, by: int) -> str:
    return " ".join(["f", *(str(int(corner) + by) for corner in face.split()[1:])])


def test_welding_is_said(write, run, cubes) -> None:
    file = write("cracked.obj", cracked(cubes))
    result = run("check", file, "--unit", "mm")
    assert "nested" in result.stdout
    assert "1 of 2 parts is closed by welding 4 vertices by at most 1e-09 mm" in result.stdout
    answer = json.loads(run("check", file, "--json").stdout)
    assert answer["weld"] == "auto"
    assert answer["welded"] == [{"parts": ["cube0"], "vertices": 4, "largest_move": pytest.approx(1e-9)}]
    assert run("check", file, "--unit", "mm", "--weld", "0.1um").exit_code == 1
    for off in ("none", "0", "1e-10"):
        result = run("check", file, "--weld", off)
        assert result.exit_code == 0
        assert "1 of 2 parts is an open surface" in result.stdout


def test_several_files(write, run, cubes) -> None:
    one, other = write("one.obj", cubes(0, 3)), write("other.obj", cubes(0.5).replace("cube0", "wedge"))
    result = run("check", one, other)
    assert result.exit_code == 1
    assert "wedge" in result.stdout
    assert result.stdout.splitlines()[-1].startswith("one.obj, other.obj: 1 finding among 3 parts")


def test_names_say_the_file_where_they_would_clash(write, run, cubes) -> None:
    write("a/left.obj", cubes(0, 3))
    write("b/left.obj", cubes(0.5))
    write("right.obj", cubes(6.0))
    answer = json.loads(run("check", "a/left.obj", "b/left.obj", "right.obj", "--json").stdout)
    assert [file["parts"] for file in answer["files"]] == [
        ["a/left.obj/cube0", "cube1"],
        ["b/left.obj/cube0"],
        ["right.obj/cube0"],
    ]


def test_a_folder_with_foreign_and_broken_files(write, run, cubes) -> None:
    write("parts/b.obj", cubes(0.5).replace("cube0", "b"))
    write("parts/a.OBJ", cubes(0).replace("cube0", "a"))
    write("parts/broken.stl", b"")
    write("parts/notes.txt", "words")
    write("parts/.hidden.obj", "words")
    Path("parts/inner").mkdir()
    result = run("check", "parts")
    assert result.exit_code == 1, result.stderr
    lines = result.stdout.splitlines()
    assert "Skipped parts/broken.stl: it is empty." in lines
    assert "Skipped what is no model: inner, notes.txt." in lines
    assert lines[-1].startswith("parts: 1 finding among 2 parts")
    answer = json.loads(run("check", "parts", "--json").stdout)
    assert {item["file"]: item["reason"] for item in answer["skipped"]} == {
        "parts/broken.stl": "it is empty",
        "parts/inner": "no model",
        "parts/notes.txt": "no model",
    }


def test_a_broken_file_that_is_named_is_an_error(write, run, cubes) -> None:
    result = run("check", write("good.obj", cubes(0, 3)), write("broken.stl", b""))
    assert result.exit_code == 2
    assert "broken.stl" in result.stderr


@pytest.mark.parametrize("content", [{}, {"notes.txt": "words"}, {"broken.stl": b"", "other.obj": "v 0 0 0\n"}])
def test_a_folder_without_a_readable_file(write, run, content: dict[str, str | bytes]) -> None:
    write("parts/x", "")
    Path("parts/x").unlink()
    for name, data in content.items():
        write(f"parts/{name}", data)
    result = run("check", "parts")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "can be read" in result.stderr
    assert "parts" in result.stderr
    assert result.stderr.count("\n") == 1


def test_the_same_file_twice_is_taken_once(write, run, cubes) -> None:
    write("parts/a.obj", cubes(0, 3))
    result = run("check", "parts/a.obj", "parts", "parts/../parts/a.obj")
    assert result.exit_code == 0
    assert "parts/a.obj is given more than once and taken once." in result.stdout
    assert "no findings among 2 parts" in result.stdout


def test_one_part_is_nothing_to_compare(write, run, cubes) -> None:
    file = write("alone.obj", cubes(0))
    for arguments in ([file], [file, "alone.obj"], [file, "--json"]):
        result = run("check", *arguments)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "nothing to compare" in result.stderr
        assert result.stderr.count("\n") == 1


def test_files_are_converted_to_the_unit_of_the_first(write, run, cubes_3mf) -> None:
    inches, millimetres = write("in.3mf", cubes_3mf("inch", 0)), write("mm.3mf", cubes_3mf("millimeter", 26.4))
    result = run("check", inches, millimetres, "--clearance", "1.1mm")
    assert result.exit_code == 1
    assert "mm.3mf is converted from mm to in, the unit of in.3mf." in result.stdout
    assert "0.03937 in" in result.stdout
    result = run("check", millimetres, inches, "--clearance", "1.1")
    assert "in.3mf is converted from in to mm, the unit of mm.3mf." in result.stdout
    assert "1 mm" in result.stdout


def test_files_with_and_without_a_unit_need_an_option(write, run, cubes, cubes_3mf) -> None:
    inches, plain = write("in.3mf", cubes_3mf("inch", 0)), write("plain.obj", cubes(26.4))
    for order, words in (
        ([inches, plain], "in.3mf is in in and plain.obj names no unit"),
        ([plain, inches], "plain.obj names no unit and in.3mf is in in"),
    ):
        result = run("check", *order)
        assert result.exit_code == 2
        assert words in result.stderr
        assert "--unit" in result.stderr
    assert run("check", inches, plain, "--unit", "mm", "--clearance", "1.1").exit_code == 1


def test_piped_output_keeps_long_names_on_one_line(write, run, cubes) -> None:
    long = "assembly/" * 30 + "bolt"
    result = run("check", write("long.obj", cubes(0, 0.5).replace("cube0", long).replace("cube1", long + "_b")))
    (row,) = (line for line in result.stdout.splitlines() if "interference  " in line)
    assert f"{long} " in row
    assert row.rstrip().endswith(long + "_b")


def test_names_with_brackets_are_printed_as_they_are(write, run, cubes) -> None:
    text = cubes(0, 0.5).replace("cube0", "[bold]cube0")
    assert "[bold]cube0" in run("check", write("brackets.obj", text)).stdout


def test_a_terminal_folds_long_names(monkeypatch: pytest.MonkeyPatch, write, run, cubes) -> None:
    console = Console(force_terminal=True, record=True, width=80)
    monkeypatch.setattr(terminal, "out", console)
    run("check", write("long.obj", cubes(0, 0.5).replace("cube0", "x" * 100)))
    written = console.export_text()
    assert written.count("x") == 100
    assert max(len(line.rstrip()) for line in written.splitlines()) <= 80


@pytest.mark.parametrize("on_terminal", [False, True])
def test_names_cannot_act_on_the_terminal(
    monkeypatch: pytest.MonkeyPatch, write, run, cubes, on_terminal: bool
) -> None:
    console = Console(width=200, force_terminal=on_terminal)
    monkeypatch.setattr(terminal, "out", console)
    monkeypatch.setattr("impinge.apps.report._pictures", lambda _, findings, __: ["data:,"] * (1 + len(findings)))
    text = cubes(0, 0.5).replace("o cube0", "o red\x1b[31m\x9bname\x07").rpartition("f ")[0]  # the last part is open
    name = write("a\x1b[2Jb.obj", text.replace("o cube1", "o \u202eturned"))
    result = run("check", name, "--report", "report.html")
    assert result.exit_code == 1
    for acting in ("\x1b[31m", "\x9b", "\x07", "\x1b[2J", "\u202e"):
        assert acting not in result.stdout
        assert acting not in Path("report.html").read_text("utf-8")
    for shown in ("red\\x1b[31m\\x9bname\\x07", "\\u202eturned", "a\\x1b[2Jb.obj"):
        assert shown in result.stdout
        assert shown in Path("report.html").read_text("utf-8")
    assert json.loads(run("check", name, "--json").stdout)["findings"][0]["part_a"] == "red\x1b[31m\x9bname\x07"
    failed = run("check", write("b\x1b[2J.obj", "f 1 2\n"))
    assert failed.exit_code == 2
    assert "\x1b" not in failed.stderr


@pytest.mark.parametrize("command", [["check"], ["diagnose"], ["repair", "-o", "out.obj"]])
def test_an_empty_path_is_not_the_current_folder(write, run, cubes, command: list[str]) -> None:
    write("cubes.obj", cubes(0, 0.5))
    result = run(*command, "")
    assert result.exit_code == 2
    assert "an empty path names no file" in result.stderr


def test_a_link_that_leads_to_itself(write, run, cubes) -> None:
    write("cubes.obj", cubes(0, 0.5))
    Path("loop.obj").symlink_to("loop.obj")
    for places in (["loop.obj"], ["cubes.obj", "loop.obj"]):
        result = run("check", *places)
        assert result.exit_code == 2
        assert result.stderr.startswith("impinge: loop.obj: ")
        assert result.stderr.count("\n") == 1
    assert run("check", ".").exit_code == 1  # what is no file is skipped in a folder
    for command in (["diagnose", "loop.obj"], ["repair", "loop.obj", "-o", "out.obj"]):
        assert run(*command).exit_code == 2
