"""Figures in README and docs are those of the results files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from impinge.lab.bench import figures, pair_timing, pairs, results, world_feeder
from impinge.lab.bench.__main__ import main
from impinge.lab.bench.pair_timing import COAL, FCL, OURS, SCRATCH, Row, SceneTimes
from impinge.lab.scenes.tori import scene

MEASURED = re.compile(r"\d[\d.,]* ?(?:times|x|ms|us|ns|frames a second|seconds)\b")
ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.parametrize("page", figures.pages(ROOT), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages_say_what_was_measured(page: Path) -> None:
    """Where a page has figures from results files; it has none that are cut short."""
    text = page.read_text(encoding="utf-8")
    assert figures.renewed(text, ROOT) == text
    assert text.count("<!-- figures:") == text.count("<!-- end of figures -->")


@pytest.mark.parametrize("said", ["3.1 times as fast", "13 times", "78 frames a second", "0.5 ms", "12 us", "2.1x"])
def test_what_counts_as_a_figure(said: str) -> None:
    assert MEASURED.search(f"it takes {said} here")


def test_readme_has_no_other_figures() -> None:
    """What is measured comes from results files; only the sizes of scenes are said by hand."""
    text = figures.without_figures((ROOT / "README.md").read_text(encoding="utf-8"))
    assert MEASURED.findall(text) == []


def row(ours: list[float], coal: list[float], fcl: list[float]) -> Row:
    return Row(np.arange(len(ours)), {OURS: np.array(ours), COAL: np.array(coal), FCL: np.array(fcl)})


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    """A root with results of known figures."""
    times = SceneTimes(scene(count=2, steps=3), touching=1, our_bytes=225.0, coal_bytes=500.0)
    for name in (pair_timing.BUILD, pair_timing.BOOLEAN, pair_timing.CONTACTS, pair_timing.DISTANCE):
        times.rows[name] = row([1e-6, 4e-6], [2e-6, 8e-6], [1e-6, 2e-6])
    for name in (
        pair_timing.PAIR_BOOLEAN,
        pair_timing.PAIR_DISTANCE,
        pair_timing.PATH_BOOLEAN,
        pair_timing.PATH_DISTANCE,
    ):
        times.rows[name] = Row(np.arange(1), {OURS: np.array([1.0]), SCRATCH: np.array([3.0])})
    folder = tmp_path / figures.RESULTS
    folder.mkdir(parents=True)
    far = {"impinge.collides": 2.0, "impinge.Pair.collides": 1.5, COAL: 6.0, FCL: 7.0}
    results.save(folder / "pairs.json", "pairs", "-", {"far_boxes_us": far, "scenes": [pairs.as_results(times)]})
    part = world_feeder.Row(100, {"trees": 0.01}, box_pairs=7.0, collisions=3.0, different={COAL: 1, FCL: 0})
    part.seconds = {"collides": 0.02, "nothing moved": 0.001, COAL: 0.3, FCL: 0.1}
    results.save(folder / "world.json", "world", "-", {"feeder": [world_feeder.as_results(part)]})
    return tmp_path


def test_words_for_results(measured: Path) -> None:
    text = "".join(f"<!-- figures: {name} -->\nold\n<!-- end of figures -->\n" for name in figures.FIGURES)
    said = figures.renewed(text, measured)
    assert "old" not in said
    plain = " ".join(said.split())
    assert "booleans 0.7 to 2.0 times as fast" in plain
    assert "| boolean | 2.0 / 0.7, 2 us |" in said
    assert "In 4 of 8 measurements we were slower than the faster peer, at worst 2.00 times" in plain
    assert "pose 1" in plain
    assert "| distance where they touch | - |" in said
    assert "runs at 50 frames a second, 15 times as fast as a loop over coal's manager" in plain
    assert "1 answers of the peers differ" in plain
    assert figures.renewed(said, measured) == said
    assert figures.without_figures("a" + text).split() == ["a"]


def test_command_renews_pages(
    measured: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(measured)
    page = measured / "README.md"
    page.write_text("# x\n<!-- figures: feeder-in-short -->\n<!-- end of figures -->\n")
    assert main(["figures", "--check"]) == 1
    assert "README.md" in capsys.readouterr().out
    assert main(["figures"]) == 0
    assert "50 frames a second" in page.read_text()
    capsys.readouterr()
    assert main(["figures", "--check"]) == 0
    assert capsys.readouterr().out == ""


def test_results_are_json_of_four_digits(tmp_path: Path) -> None:
    results.save(tmp_path / "x.json", "pairs", "python -m impinge.lab.bench pairs", {"a": results.rounded(1 / 3)})
    document = json.loads((tmp_path / "x.json").read_text())
    assert document["a"] == 0.3333
    assert results.load(tmp_path / "x.json") == document
