"""The benchmark of first contact, with an environment that is not made."""

from __future__ import annotations

from typing import Any

import pytest

from impinge.lab.bench import start
from impinge.lab.bench.__main__ import main


class Environment:
    """Each round takes a second more than the one before."""

    def __init__(self) -> None:
        self.rounds = 0

    def answers(self) -> tuple[float, float, float, float, bool, bool]:
        self.rounds += 1
        return (self.rounds + 0.5, self.rounds, self.rounds + 0.1, self.rounds + 0.2, False, True)

    def demo(self) -> float:
        self.rounds += 1
        return float(self.rounds)


def test_the_first_round_and_the_median_are_shown() -> None:
    environment: Any = Environment()
    rows = {name: (first, median) for name, first, median in start.rows("wheel", environment, 3)}
    assert rows["wheel: import and first collides"] == ("1.00", "2.00")
    assert rows["wheel: first World frame, more"] == ("1.10", "2.10")
    assert rows["wheel: first distance of hulls, more"] == ("1.20", "2.20")
    assert rows["wheel: the whole process, with the interpreter"] == ("1.50", "2.50")
    assert rows["wheel: impinge demo"] == ("4.00", "5.00")
    assert rows["wheel: of scipy and numba, the first collides imports"] == ("numba", "")


def test_nothing_to_measure_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["start"])
    assert ended.value.code == 2
    assert "name a wheel" in capsys.readouterr().err
