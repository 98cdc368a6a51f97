"""python -m impinge.lab.bench compile: the arithmetic of its table (a run takes a minute)."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

from impinge.lab.bench.compile import REST, report, run


def _shown(table: Table) -> str:
    console = Console(width=120, file=StringIO())
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def test_the_slowest_come_first_and_the_sum_counts_all() -> None:
    text = _shown(report(None, {"a.quick": 0.5, "a.slow": 2.25, "a.middle": 1.0, REST: 3.0}, most=3))
    assert text.index(REST) < text.index("a.slow") < text.index("a.middle")
    assert "a.quick" not in text
    assert "all 3 kernels" in text
    assert "6.8" in text


def test_kernels_that_only_one_version_has() -> None:
    text = _shown(report({"gone": 4.0, REST: 1.0}, {"new": 0.5, REST: 1.5}, most=9))
    row = next(line for line in text.splitlines() if "gone" in line)
    assert "4.00" in row
    assert "0.50" not in row
    assert [number in text for number in ("5.0", "2.0", "1.50")] == [True, True, True]


def test_what_is_no_wheel_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "impinge.whl"
    file.write_text("no archive")
    with pytest.raises(SystemExit):
        run([str(file)])
    assert "is not a wheel" in capsys.readouterr().err
