"""This version of the library against another one: the same rows in two processes, in turns.

``python -m impinge.lab.bench compare OLD.whl [--rounds N] [--rows GROUP ...] [--match TEXT] [--compile]``

Each version runs in a process of its own that stays alive (``compare_worker``).  A round times each row in both, and
which goes first alternates; the best round counts.  Run it on a quiet machine: ratios within 3 % mean nothing, and a
row that stands out should be measured again by ``--match``.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import impinge
from impinge.lab.bench import compare_worker
from impinge.lab.bench.timing import machine

TARGET = 0.06
"""Seconds of a row in a round."""

Times = dict[str, list[float]]
"""Of each row, ``group: name``: the best seconds of a call, old and new."""

# The folder of the file is not put on the path, where the names of benchmarks would hide other modules.
_RUN_FILE = "import runpy, sys; sys.path.pop(0); runpy.run_path(sys.argv[1], run_name='__main__')"
_WARM_UP = "import sys; sys.path.pop(0); sys.argv[1:] = ['warmup']; from impinge.cli.main import run; run()"


def _environment(folder: Path, **more: str) -> dict[str, str]:
    path = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path), **more}


class Worker:
    """A process with the version of the library that lies in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._process = subprocess.Popen(
            [sys.executable, "-c", _RUN_FILE, compare_worker.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=_environment(folder),
        )

    def __call__(self, do: str, **request: Any) -> dict[str, Any]:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({"do": do, **request}) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process with {self.folder} ended at {do} {request}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def rows(self, groups: Sequence[str]) -> list[str]:
        found = self("rows", groups=groups)
        if not Path(found["file"]).is_relative_to(self.folder):
            raise RuntimeError(f"expected the library of {self.folder}, but {found['file']} was imported")
        return list(found["rows"])

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *error: object) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        self._process.terminate()
        self._process.wait()


def measured(old: Worker, new: Worker, rows: Sequence[str], rounds: int, target: float) -> Times:
    """The best of all rounds.  Rows are warmed in both first, and then called equally often in both."""
    calls: dict[str, int] = {}
    for row in rows:
        quick = min(old("warm", row=row)["seconds"], new("warm", row=row)["seconds"])
        calls[row] = max(1, math.ceil(target / max(quick, 1e-9)))
    best: Times = {row: [math.inf, math.inf] for row in rows}
    for number in range(rounds):
        for place, row in enumerate(rows):
            turns = ((0, old), (1, new))
            for which, worker in turns if (number + place) % 2 == 0 else turns[::-1]:
                seconds = worker("time", row=row, calls=calls[row])["seconds"]
                best[row][which] = min(best[row][which], seconds)
    return best


def ratio_of(times: Sequence[Sequence[float]]) -> float:
    """The geometric mean of new : old."""
    return math.exp(math.fsum(math.log(new / old) for old, new in times) / len(times))


def report(times: Mapping[str, Sequence[float]]) -> Table:
    """All rows, the mean of each group and of all, and the worst row."""
    table = Table("row", "old us", "new us", "new : old")
    for column in table.columns[1:]:
        column.justify = "right"
    groups = list(dict.fromkeys(row.partition(": ")[0] for row in times))
    for group in groups:
        mine = {row: each for row, each in times.items() if row.partition(": ")[0] == group}
        for row, (old, new) in mine.items():
            table.add_row(row, f"{1e6 * old:,.1f}", f"{1e6 * new:,.1f}", f"{new / old:.3f}")
        table.add_section()
        table.add_row(
            f"[bold]{group}, geometric mean[/bold]", "", "", f"[bold]{ratio_of(list(mine.values())):.3f}[/bold]"
        )
        table.add_section()
    worst = max(times, key=lambda row: times[row][1] / times[row][0])
    table.add_row("[bold]all, geometric mean[/bold]", "", "", f"[bold]{ratio_of(list(times.values())):.3f}[/bold]")
    table.add_row(f"worst: {worst}", "", "", f"{times[worst][1] / times[worst][0]:.3f}")
    return table


def compile_seconds(folder: Path) -> float:
    """Of ``impinge warmup`` with nothing kept."""
    with tempfile.TemporaryDirectory() as empty:
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-c", _WARM_UP],
            env=_environment(folder, IMPINGE_CACHE_DIR=empty),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )
        return time.perf_counter() - start


def run(arguments: Sequence[str] = ()) -> int:
    parser = argparse.ArgumentParser(prog="python -m impinge.lab.bench compare", description=__doc__.partition("\n")[0])
    parser.add_argument("wheel", type=Path, metavar="OLD.whl", help="the version to compare with")
    parser.add_argument("--rounds", type=int, metavar="N", default=5, help="turns of each row; the best counts (5)")
    parser.add_argument("--rows", nargs="+", choices=compare_worker.GROUPS, default=list(compare_worker.GROUPS))
    parser.add_argument("--match", metavar="TEXT", default="", help="only rows with this in their names")
    parser.add_argument("--compile", action="store_true", help="time the compilation of all kernels too")
    options = parser.parse_args(arguments)
    if options.rounds < 1:
        parser.error("rounds are at least 1")
    if not zipfile.is_zipfile(options.wheel):
        parser.error(f"{options.wheel} is not a wheel")
    console = Console()
    if not console.is_terminal:
        console = Console(width=120)
    console.print(f"[bold]Compare[/bold]  {machine()}")
    ours = Path(impinge.__file__).parents[1]
    with tempfile.TemporaryDirectory() as folder:
        theirs = Path(folder)
        with zipfile.ZipFile(options.wheel) as wheel:
            wheel.extractall(theirs)
        if options.compile:
            console.print(f"compiling, old: {compile_seconds(theirs):.1f} s, new: {compile_seconds(ours):.1f} s")
        with Worker(theirs) as old, Worker(ours) as new:
            old.rows(options.rows)
            rows = [row for row in new.rows(options.rows) if options.match in row]
            if not rows:
                parser.error(f"no row has {options.match!r} in its name")
            console.print(report(measured(old, new, rows, options.rounds, TARGET)))
    return 0
