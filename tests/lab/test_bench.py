"""The benchmark command: what it accepts, and that its timing is interleaved."""

from __future__ import annotations

import pytest

from impinge.lab.bench.__main__ import BENCHMARKS, main
from impinge.lab.bench.timing import interleaved, machine


@pytest.mark.parametrize("arguments", [[], ["nothing"], ["triangles", "more"]])
def test_usage_names_the_benchmarks(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert all(name in capsys.readouterr().err for name in BENCHMARKS)


def test_candidates_take_turns() -> None:
    calls: list[str] = []
    seconds = interleaved({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, rounds=3)
    assert calls == ["a", "b"] * 4
    assert set(seconds) == {"a", "b"}
    assert all(0.0 <= value < 1.0 for value in seconds.values())


def test_a_result_names_machine_and_date() -> None:
    from datetime import date

    assert str(date.today().year) in machine()
