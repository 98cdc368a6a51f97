"""The papers' experiments in small: consistent counts, the right columns, verdicts that follow the figures."""

from __future__ import annotations

import io
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from rich.console import Console
from rich.table import Table

import impinge
from impinge.errors import MissingExtra
from impinge.lab.papers import caps, combs, contenders, drawing, table1, torpedo, volumes
from impinge.lab.papers.__main__ import EXPERIMENTS, main
from impinge.lab.scenes.bounce import BouncingBody, Downward
from impinge.lab.scenes.poses import poses, turns
from impinge.lab.scenes.shapes import torus
from impinge.mesh.mesh import Mesh

pytestmark = pytest.mark.nojit_slow

STEPS = 120


def text_of(table: Table) -> str:
    console = Console(file=io.StringIO(), width=200)
    console.print(table)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def is_picture(path: Path) -> bool:
    """A PNG on which something is drawn."""
    with Image.open(path) as image:
        return image.format == "PNG" and min(image.size) > 300 and len(np.unique(np.asarray(image.convert("L")))) > 20


@pytest.fixture(scope="module")
def scenario() -> table1.Scenario:
    """A small torus that falls onto a wavy sheet."""
    return table1.Scenario(
        name="small",
        fixed=volumes.sheet(8).transformed(np.diag([8.0, 8.0, 8.0, 1.0]) @ poses(turns([0.7, -0.4, 0.3]).T, [0.0] * 3)),
        mover=torus(1.0, 0.3, 12, 8),
        body=lambda mover: BouncingBody(mover, poses(turns([0.3, 0.1, 0.0]), [0.0, 0.0, 1.5]), Downward(1.0), 0.5),
        duration=0.05,
        paper=table1.Figures(STEPS, 100, 1000, 200, 1.0, 1e-6),
        view=drawing.View(30.0, 30.0),
    )


@pytest.fixture(scope="module")
def motion(scenario: table1.Scenario) -> table1.Motion:
    return table1.record(scenario, STEPS)


@pytest.fixture(scope="module")
def figures(scenario: table1.Scenario, motion: table1.Motion) -> dict[str, table1.Figures]:
    return table1.columns(scenario, motion)


# ---------------------------------------------------------------------------------- table 1


def test_the_motion_bounces(motion: table1.Motion) -> None:
    assert motion.poses.shape == (STEPS, 4, 4)
    assert motion.contacts[0] == 0
    assert 0 < np.count_nonzero(motion.contacts) < STEPS
    assert motion.energy.max() <= motion.energy[0] * (1.0 + 1e-3)


def test_counts_are_consistent(motion: table1.Motion, figures: dict[str, table1.Figures]) -> None:
    ours, as_then = figures[contenders.OURS], figures[table1.PAPERS_TREE]
    assert ours.contacts == as_then.contacts == motion.contacts.sum()
    for column in (ours, as_then):
        assert column.steps == STEPS
        assert column.box_tests is not None
        assert column.triangle_tests is not None
        assert column.box_tests >= STEPS
        assert column.triangle_tests >= column.contacts
        assert column.seconds > 0.0
        assert column.contacts_a_step == pytest.approx(column.contacts / STEPS)
        assert column.seconds_a_query * STEPS == pytest.approx(column.seconds)
    for name in set(figures) - {table1.PAPER, table1.PAPERS_TREE, contenders.OURS}:
        assert figures[name].box_tests is None
        assert figures[name].contacts >= 0.9 * ours.contacts


def test_the_table_has_the_rows_of_the_paper(scenario: table1.Scenario, figures: dict[str, table1.Figures]) -> None:
    text = text_of(table1.table(scenario, figures))
    for row in ("steps", "contacts", "box-box tests", "triangle-triangle tests", "time", "average query time"):
        assert f"│ {row}" in text
    assert "time a box test" in text
    assert "contacts a step" in text
    assert all(name in text for name in figures)
    assert f"{figures[contenders.OURS].box_tests:,}" in text


def test_a_claim_that_does_not_hold_is_reported_as_such(
    scenario: table1.Scenario, figures: dict[str, table1.Figures]
) -> None:
    ours = figures[contenders.OURS]
    assert ours.box_tests is not None
    few = {contenders.OURS: ours, table1.PAPER: scenario.paper}

    def said_with(times: int) -> str:
        more = replace(ours, box_tests=times * ours.box_tests, contacts=0)
        return " ".join(table1.findings([(scenario, few), (scenario, {**few, contenders.OURS: more})]))

    assert "This holds: it is 2.00 times" in said_with(2)
    assert "This holds in kind, but not as twice: it is 9.00 times" in said_with(9)
    assert "This does not hold here: it is 1.00 times" in said_with(1)
    assert "chosen to come near" in said_with(1)
    assert not any("The paper" in line for line in table1.findings([(scenario, few)]))


def test_the_scenarios_have_the_papers_sizes() -> None:
    pipes, ring = table1.pipes_scenario(), table1.torus_scenario()
    assert (len(pipes.fixed.faces), len(pipes.mover.faces), pipes.paper.steps) == (143690, 143690, 4008)
    assert (len(ring.fixed.faces), len(ring.mover.faces), ring.paper.steps) == (98000, 20000, 1298)
    assert np.ptp(pipes.fixed.bounds, axis=0) == pytest.approx(15.0 * np.ptp(pipes.mover.bounds, axis=0))


def test_the_torus_falls_on_the_landscape() -> None:
    """The first 200 steps of the real thing: it reaches the stalagmite and bounces, with few contacts."""
    ring = table1.torus_scenario()
    motion = table1.record(ring, 200)
    assert not motion.contacts[:100].any()
    assert 0 < motion.contacts.sum() < 1000
    assert motion.energy[-1] < motion.energy[0]


def test_the_picture_shows_the_motion(scenario: table1.Scenario, motion: table1.Motion, tmp_path: Path) -> None:
    assert is_picture(table1.picture(scenario, motion, tmp_path / "small.png"))


# -------------------------------------------------------------------------------- the others


def test_caps_make_up_for_what_the_model_lacks(tmp_path: Path) -> None:
    rows = [caps.measure(name) for name in ("angle bar", "nested shells")]
    text = text_of(caps.table(rows))
    assert "nested shells" in text and "subtraction" in text
    assert len(caps.findings(rows)) == 1 and "This holds" in caps.findings(rows)[0]
    assert "does not hold" in caps.findings([replace(rows[0], apart=0.1)])[0]
    assert is_picture(caps.picture(rows, tmp_path / "caps.png"))


def test_combs_have_a_region_for_every_pair_of_teeth(tmp_path: Path) -> None:
    rows = [combs.measure(teeth) for teeth in (2, 4, 8)]
    assert [row.regions for row in rows] == [4, 16, 64]
    assert [row.contacts / row.teeth**2 for row in rows] == [rows[0].contacts / 4] * 3
    assert all(row.triangle_tests >= row.contacts for row in rows)
    assert combs.growth(rows, "contacts") == pytest.approx(2.0)
    text = text_of(combs.table(rows))
    assert "8 x 8" in text
    assert f"{rows[-1].contacts:,}" in text
    assert "This holds" in combs.findings(rows)[0]
    assert "does not hold" in combs.findings([replace(rows[0], regions=3)])[0]
    assert is_picture(combs.picture(rows, tmp_path / "combs.png"))


def test_oriented_boxes_need_fewer_tests_for_parallel_sheets(tmp_path: Path) -> None:
    sheet = volumes.sheet(60)
    rows = [volumes.measure(sheet, gap, volume) for gap in (0.1, 0.05, 0.03) for volume in volumes.VOLUMES]
    assert not any(row.touching for row in rows)
    by_volume = {volume: [row.box_tests for row in rows if row.volume == volume] for volume in volumes.VOLUMES}
    for counts in by_volume.values():
        assert counts == sorted(counts)
    assert by_volume[volumes.OBB][-1] < by_volume[volumes.AABB][-1] < by_volume[volumes.SPHERE][-1]
    assert 1.2 < volumes.exponent(rows, volumes.SPHERE) < 3.0
    text = text_of(volumes.table(rows))
    assert all(volume in text for volume in volumes.VOLUMES)
    assert "This holds" in volumes.findings([replace(row, seconds=float(row.box_tests)) for row in rows])[0]
    assert "not for the time" in volumes.findings([replace(row, seconds=1.0) for row in rows])[0]
    upside_down = [replace(row, box_tests=10**9 // row.box_tests) for row in rows]
    assert "does not hold" in volumes.findings(upside_down)[0]
    assert is_picture(volumes.picture(rows, tmp_path / "volumes.png"))


def test_all_volumes_agree_where_the_sheets_touch() -> None:
    sheet = volumes.sheet(12)
    assert all(volumes.measure(sheet, 0.0, volume).touching for volume in volumes.VOLUMES)


def test_the_torpedo_rests_on_all_its_rollers(tmp_path: Path) -> None:
    assert main(["torpedo", "--steps", "1", "--out", str(tmp_path)]) == 0
    assert is_picture(tmp_path / "torpedo.png")
    ring = torus(1.0, 0.3, 12, 8)
    pose = poses(np.eye(3), [0.7, 0.3, 0.05])
    found = torpedo.times(ring, ring, pose, rounds=1)
    assert found[contenders.OURS][1] == len(impinge.contacts(ring, ring, pose))
    assert "100 ms" in text_of(torpedo.table(found))
    loops = impinge.contacts(ring, ring, pose).loops(ring, ring, pose)
    assert "This holds: there are 2 separate regions" in torpedo.findings(found, ring, loops)[1]
    assert "does not hold here: there are 0 separate regions" in torpedo.findings(found, ring, [])[1]


# -------------------------------------------------------------------------------- the command


def test_every_experiment_is_listed_and_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    convex = {"arithmetic", "coherence", "satellite"}
    broad = {"icollide", "hashing", "culling", "resting", "allpairs"}
    incremental = {"caps", "chain", "insertion"}
    assert set(EXPERIMENTS) == {"table1", "torpedo", "combs", "volumes"} | convex | broad | incremental
    assert main(["combs", "--steps", "2", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "8 x 8" in printed
    assert "16 x 16" not in printed
    assert "combs.png" in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "NAME"),
        (["nothing"], "nothing"),
        (["combs", "--steps", "0"], "--steps is 0"),
        (["combs", "--out", "/no/such/place"], "not a directory"),
    ],
)
def test_usage(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    assert message in capsys.readouterr().err


def test_without_matplotlib_the_table_is_printed_and_the_extra_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"impinge\[plots\]"):
        drawing.figure(3.0, 3.0)
    assert main(["combs", "--steps", "1", "--out", str(tmp_path)]) == 1
    printed = capsys.readouterr()
    assert "4 x 4" in printed.out
    assert "impinge[plots]" in printed.err


def test_peers_that_are_missing_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "coal", None)
    monkeypatch.setitem(sys.modules, "fcl", None)
    ring = torus(1.0, 0.3, 8, 4)
    assert list(contenders.contenders(ring, ring)) == [contenders.OURS]


def test_long_triangles_are_drawn_in_short_pieces() -> None:
    long = np.array([[[0.0, 0.0, 0.0], [8.0, 0.0, 0.0], [0.0, 0.5, 0.0]]])
    pieces = drawing._in_short_pieces(long, 1.0)
    lengths = np.linalg.norm(pieces - np.roll(pieces, 1, axis=1), axis=2)
    areas = np.linalg.norm(np.cross(pieces[:, 1] - pieces[:, 0], pieces[:, 2] - pieces[:, 0]), axis=1) / 2.0
    assert lengths.max() <= 1.0
    assert areas.sum() == pytest.approx(2.0)


def test_a_sheet_is_what_it_says() -> None:
    mesh = volumes.sheet(7)
    assert isinstance(mesh, Mesh)
    assert len(mesh.faces) == 2 * 7 * 7
    assert 1.0 < mesh.area < 1.1
