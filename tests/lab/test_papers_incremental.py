"""The experiments of Ponamgi, Manocha and Lin (1995) in small: the right columns, verdicts that follow the figures."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from rich.console import Console
from rich.table import Table

from impinge.arrays import Floats
from impinge.lab.papers import chain, insertion
from impinge.lab.papers.__main__ import main
from impinge.lab.papers.critical_points import Missed
from impinge.lab.papers.insertion import Row
from impinge.mesh.mesh import Mesh

pytestmark = pytest.mark.nojit_slow


def text_of(table: Table) -> str:
    console = Console(file=io.StringIO(), width=220)
    console.print(table)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def is_picture(path: Path) -> bool:
    with Image.open(path) as image:
        return image.format == "PNG" and min(image.size) > 300 and len(np.unique(np.asarray(image.convert("L")))) > 20


# ---------------------------------------------------------------- the chain


@pytest.fixture(scope="module")
def courses() -> list[chain.Course]:
    return [chain.measure(rings, 60, rounds=1) for rings in (2, 8)]


def test_the_chain_in_small(courses: list[chain.Course], tmp_path: Path) -> None:
    for course in courses:
        assert len(course.cells) == len(chain.TREES)
        assert all(cell.seconds > 0.0 for cell in course.cells)
        assert course.drift < 1e-11
        assert course.pairs >= course.rings - 1
    assert "45 ms" in text_of(chain.table(courses))
    assert "400 polygons" in text_of(chain.scene_table(courses))
    assert "stay linked" in chain.findings(courses)[0]
    assert is_picture(chain.picture(courses, tmp_path / "chain.png"))


def with_seconds(course: chain.Course, seconds: dict[str, float]) -> chain.Course:
    """One row of each kind, with the paper's figures of Table 1."""
    paper = {chain.NONE: {2: 0.045}, chain.OCTREE: {2: 0.014, 8: 0.046}, chain.VARIANT: {2: 0.012, 8: 0.038}}
    trees = [replace(chain.TREES[0], kind=kind, paper=paper[kind]) for kind in seconds]
    cells = [chain.Cell(tree, course.rings, seconds[tree.kind]) for tree in trees]
    return replace(course, cells=cells)


def test_verdicts_on_the_chain(courses: list[chain.Course]) -> None:
    two, eight = courses
    fast = with_seconds(two, {chain.NONE: 8.0, chain.OCTREE: 2.0, chain.VARIANT: 1.0})
    pairs = eight.pairs / two.pairs
    large = with_seconds(eight, {chain.NONE: 9.0, chain.OCTREE: pairs, chain.VARIANT: 1.25 * pairs})
    three, same, quicker, slower, less, more = chain.findings([fast, large])[1:]
    assert "4.00 times as long here, 3.21 in the paper; this holds" in three
    assert "8.00 times as long here, 3.75 in the paper; this holds" in same
    assert "2.00 times as long here, 1.17 in the paper; this holds" in quicker
    assert "0.80 times as long here, 1.21 in the paper; this does not hold" in slower
    assert "2.00 times as long here, 2.13 in the paper; this holds" in less
    assert "0.80 times as long here, 2.21 in the paper; this does not hold" in more


def test_a_search_that_loses_contacts_is_found_out() -> None:
    class Blind:
        def __init__(self, ring: Mesh) -> None:
            pass

        def contact_pairs(self, poses_a: Floats, poses_b: Floats) -> np.ndarray:
            return np.empty((0, 4), dtype=np.int64)

    blind = replace(chain.TREES[0], kind="blind", search=Blind)
    with pytest.raises(RuntimeError, match="blind: 0 contacts"):
        chain.measure(2, 200, rounds=1, trees=[blind])


# ---------------------------------------------------------------- the insertion


def test_the_insertion_in_small(tmp_path: Path) -> None:
    cases = [(threads, "coarse", way) for way in insertion.WAYS for threads in (3, 6)]
    rows = insertion.measure([insertion.Insertion(*case, steps_a_turn=30) for case in cases], rounds=1)
    for row in rows:
        assert 0 < row.touching <= row.steps <= row.contacts + row.steps
        assert 0.0 < row.closest < 1.0
        assert set(row.seconds) == set(insertion.METHODS)
        assert row.missed.noticed <= row.missed.touching <= row.missed.poses
        assert row.missed.regions_noticed <= row.missed.regions
        assert row.missed.false_alarms == 0
    text = text_of(insertion.table(rows))
    assert all(number in text for number in ("562", "462", "1,024", "924", "59 ms", "99 ms"))
    assert "cross-threaded" in text_of(insertion.critical_table(rows))
    assert "Critical points miss" in insertion.findings(rows)[-1]
    assert is_picture(insertion.picture(rows, tmp_path / "insertion.png"))


def made_row(threads: int, seconds: float, missed: Missed) -> Row:
    polygons = 154 * threads + 100, 154 * threads
    return Row(threads, "fine", insertion.STRAIGHT, polygons, 100, 50, 500, 0.01, {"obb": seconds}, missed)


def test_verdicts_on_the_insertion() -> None:
    some, none = Missed(20, 10, 8, 0, 30, 25), Missed(20, 10, 10, 0, 30, 30)
    flat = [made_row(threads, 1.0, some) for threads in (3, 6, 9)]
    assert "polygons^0.00" in insertion.findings(flat)[0]
    assert "1.2, holds" in insertion.findings(flat)[0]
    assert (
        "miss 6 of 30 poses in contact, and 15 of 90 regions of contact; that they miss some holds"
        in (insertion.findings(flat)[1])
    )
    steep = [made_row(threads, threads**2.0, none) for threads in (3, 6, 9)]
    assert "does not hold" in insertion.findings(steep)[0]
    assert "does not hold" in insertion.findings(steep)[1]
    assert insertion.growth(flat[:1], "obb") is None
    assert insertion.papers_growth(flat) == pytest.approx(1.105, abs=1e-3)


def test_methods_that_disagree_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(range(1000))
    monkeypatch.setattr(insertion, "METHODS", ("obb", "auto"))
    monkeypatch.setattr(insertion, "asked", lambda pair, path: (next(answers), 0, 1.0))
    with pytest.raises(RuntimeError, match="different contacts"):
        insertion.Insertion(3, "fine", insertion.STRAIGHT, most=10).walk()


def test_the_commands_in_small(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chain, "RINGS", (2,))
    monkeypatch.setattr(insertion, "PAPER", {3: 0.059})
    for name in ("chain", "insertion"):
        assert main([name, "--steps", "30", "--out", str(tmp_path)]) == 0
        assert f"{name}.png" in capsys.readouterr().out.replace("\n", "")
