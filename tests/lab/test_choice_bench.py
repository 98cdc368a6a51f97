"""The benchmark of choices, small."""

from __future__ import annotations

import pytest

from impinge.lab.bench import choice
from impinge.lab.bench.__main__ import main


def test_bodies_have_the_triangles_they_are_called_by() -> None:
    assert {count: len(body.faces) for count, body in choice.bodies().items()} == {
        count: count for count in (12, *choice.RINGS)
    }


@pytest.mark.nojit_slow
def test_every_method_and_every_world_has_its_row(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr(choice, "RINGS", {64: (8, 4), 256: (16, 8)})
    monkeypatch.setattr(choice, "_FRAMES", 1)
    assert main(["choice", "--parts", "6", "--poses", "2", "--rounds", "1"]) == 0
    shown = capsys.readouterr().out
    for row in ("obb", "incremental", "brute", "small steps", "jumps", "closer_than", "lin-canny"):
        assert row in shown
    assert shown.count("│") > 3 * 3 + 3 * 2 * 3


def test_nothing_is_measured_with_no_parts() -> None:
    with pytest.raises(SystemExit):
        choice.run(["--parts", "0"])
