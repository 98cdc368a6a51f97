"""The benchmark of two versions: its processes, its turns and its table."""

from __future__ import annotations

import io
import json
import math
import zipfile
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import impinge
from impinge.lab.bench import compare, compare_worker
from impinge.lab.bench.__main__ import main

HERE = Path(impinge.__file__).parents[1]


class Fake:
    """Answers as a worker would, with these seconds."""

    def __init__(self, name: str, seconds: list[float], calls: list[str]) -> None:
        self.name, self.seconds, self.calls = name, seconds, calls

    def __call__(self, do: str, **request: Any) -> dict[str, Any]:
        if do == "time":
            self.calls.append(f"{self.name} {request['row']} x{request['calls']}")
        return {"seconds": 0.02 if do == "warm" else self.seconds.pop(0)}


def test_versions_take_turns_and_the_best_round_counts() -> None:
    calls: list[str] = []
    old, new = Fake("old", [3.0, 5.0, 2.0, 6.0], calls), Fake("new", [1.0, 9.0, 4.0, 8.0], calls)
    best = compare.measured(old, new, ["r", "s"], rounds=2, target=0.06)  # type: ignore[arg-type]
    assert best == {"r": [2.0, 1.0], "s": [5.0, 8.0]}
    assert [call.split()[0] for call in calls] == ["old", "new", "new", "old", "new", "old", "old", "new"]
    assert all(call.endswith("x3") for call in calls)


def test_the_table_has_means_and_the_worst_row() -> None:
    times = {"pairs: a": [1.0, 2.0], "pairs: b": [1.0, 0.5], "world: c": [1e-6, 8e-6]}
    assert compare.ratio_of([times["pairs: a"], times["pairs: b"]]) == pytest.approx(1.0)
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(compare.report(times))
    told = console.export_text()
    for row in ("pairs, geometric mean", "world, geometric mean", "all, geometric mean", "worst: world: c"):
        assert row in told
    assert f"{math.exp(math.log(8.0) / 3):.3f}" in told


def test_every_row_has_another_name_and_starts_with_its_group() -> None:
    for group, made in compare_worker.GROUPS.items():
        names = [name for name, _ in made()]
        assert len(names) == len(set(names)) > 5
        assert all(name.startswith(f"{group}: ") for name in compare_worker.rows([group]))


@pytest.mark.nojit_slow
def test_the_worker_answers_line_by_line() -> None:
    requests = [
        {"do": "rows", "groups": ["pairs"]},
        {"do": "warm", "row": "pairs: 12 collides, apart"},
        {"do": "time", "row": "pairs: 12 collides, apart", "calls": 2},
    ]
    listed, warm, timed = compare_worker.answers(map(json.dumps, requests))
    assert "pairs: 12 collides, apart" in listed["rows"]
    assert 0.0 < warm["seconds"] < 1.0
    assert 0.0 < timed["seconds"] < 1.0


@pytest.mark.nojit_slow
def test_a_wheel_is_compared_with_what_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wheel = tmp_path / "impinge.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for file in sorted((HERE / "impinge").rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                archive.write(file, file.relative_to(HERE))
    monkeypatch.setattr(compare, "TARGET", 0.001)
    assert main(["compare", str(wheel), "--rounds", "1", "--rows", "pairs", "--match", "12 collides, apart"]) == 0
    told = capsys.readouterr().out
    assert "pairs: 12 collides, apart" in told
    assert "geometric mean" in told


def test_another_library_than_the_expected_one_is_noticed(tmp_path: Path) -> None:
    with compare.Worker(tmp_path) as worker, pytest.raises(RuntimeError):
        worker.rows(["pairs"])


@pytest.mark.parametrize("arguments", [[], ["nothing.whl"], ["nothing.whl", "--rounds", "0"]])
def test_wrong_arguments_are_told(arguments: list[str]) -> None:
    with pytest.raises(SystemExit):
        compare.run(arguments)
