"""The experiments on broad phases in small: scenes that are what they say, the right columns, verdicts that follow."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from rich.console import Console
from rich.table import Table

import impinge
from impinge.arrays import Floats
from impinge.lab.papers import allpairs, culling, hashing, icollide, resting
from impinge.lab.papers.__main__ import main
from impinge.lab.scenes.crates import layer
from impinge.lab.scenes.crowd import Crowd, Setting
from impinge.lab.scenes.recordings import RECORDINGS, Recording, Toss, coins, fall_and_hops, hops, slab

PAPER = hashing.PAPER


def text_of(table: Table) -> str:
    console = Console(file=io.StringIO(), width=220)
    console.print(table)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def is_picture(path: Path) -> bool:
    with Image.open(path) as image:
        return image.format == "PNG" and min(image.size) > 300 and len(np.unique(np.asarray(image.convert("L")))) > 20


# ---------------------------------------------------------------- the scenes


def lowest(recording: Recording, poses: Floats) -> float:
    corners = [
        body.vertices @ pose[:3, :3].T + pose[:3, 3]
        for row in poses
        for body, pose in zip(recording.moving, row, strict=True)
    ]
    return float(min(each[:, 2].min() for each in corners))


@pytest.mark.parametrize("name", RECORDINGS)
def test_recordings_are_motions_of_rigid_bodies(name: str) -> None:
    recording = RECORDINGS[name]()
    times = np.linspace(0.0, recording.seconds, 60)
    poses = recording.poses(times)
    assert recording.name == name
    assert poses.shape == (60, len(recording.moving), 4, 4)
    assert np.array_equal(poses, RECORDINGS[name]().poses(times))
    turned = poses[..., :3, :3]
    assert turned @ np.swapaxes(turned, -1, -2) == pytest.approx(np.broadcast_to(np.eye(3), turned.shape), abs=1e-12)
    if name != "part feeder chute":
        assert lowest(recording, poses) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("name", RECORDINGS)
def test_recorded_bodies_do_not_jump_and_come_to_rest(name: str) -> None:
    recording = RECORDINGS[name]()
    times = np.linspace(0.0, recording.seconds, 2001)
    way = np.linalg.norm(np.diff(recording.poses(times)[..., :3, 3], axis=0), axis=2) / times[1]
    assert way.max() < 12.0  # metres a second
    assert way[-1].max() < 0.05


def test_numbers_of_bodies() -> None:
    found = {name: (len(made.moving), len(made.fixed)) for name, made in ((name, RECORDINGS[name]()) for name in PAPER)}
    assert found == {"coins": (8, 1), "bowling": (11, 3), "rattleback top": (1, 1), "part feeder chute": (20, 4)}


def test_hops_become_lower_and_end() -> None:
    time = np.linspace(0.0, 2.0, 4001)
    height = hops(time, 2.0)
    assert height.max() == pytest.approx(2.0**2 / (2.0 * 9.81), rel=1e-4)
    first = 2.0 * 2.0 / 9.81
    assert height[(time > first) & (time < 1.5 * first)].max() == pytest.approx(1.0 / (2.0 * 9.81), rel=1e-3)
    assert (height[time > 2.0 * first] == 0.0).all()
    assert (hops(time, 0.0) == 0.0).all()
    assert np.abs(np.diff(fall_and_hops(time, 0.5, 1.0))).max() < 4.0 * 5e-4  # no faster than it falls


def test_a_toss_waits_and_lies_down() -> None:
    plank = slab((-0.1, -0.1, -1.0), (0.1, 0.1, 1.0))
    toss = Toss(plank, (0.0, 0.0, 0.0), (1.0, 0.0, 1.0), start=1.0, tilts=(0.0, 0.5 * np.pi))
    poses = toss(np.array([0.0, 1.0, 9.0]))
    assert np.array_equal(poses[0], poses[1])
    assert poses[0, 2, 3] == pytest.approx(1.0)
    assert poses[2, 2, 3] == pytest.approx(0.1, abs=1e-9)
    assert poses[2, 0, 3] == pytest.approx(0.3)


def test_a_crowd_keeps_its_energy_and_stays_in_the_room() -> None:
    crowd = Crowd(Setting(count=30, vertices=8, density=0.1, speed=0.2))
    energy = (crowd.velocities**2).sum()
    for number in range(40):
        crowd.step([(number % 30, (7 * number + 1) % 30)] if number % 30 != (7 * number + 1) % 30 else [])
    assert (crowd.velocities**2).sum() == pytest.approx(energy)
    assert crowd.middles.min() > 0.0
    assert crowd.middles.max() < crowd.side


def test_bodies_that_meet_head_on_exchange_their_velocities() -> None:
    crowd = Crowd(Setting(count=2, vertices=8, density=0.001))
    middle = 0.5 * crowd.side
    crowd.middles[:] = [[middle, middle, middle], [middle + 1.0, middle, middle]]
    crowd.velocities[:] = [[0.1, 0.02, 0.0], [-0.3, 0.0, 0.0]]
    crowd.step([(0, 1)])
    assert crowd.velocities == pytest.approx(np.array([[-0.3, 0.02, 0.0], [0.1, 0.0, 0.0]]))
    crowd.step([(0, 1)])  # they part already
    assert crowd.velocities[0, 0] == pytest.approx(-0.3)


@pytest.mark.parametrize("equal", [False, True])
def test_crates_lie_on_the_floor(equal: bool) -> None:
    scene = layer(12, equal)
    assert len({id(body) for body in scene.bodies}) == (1 if equal else 12)
    for pose, body in zip(scene.poses(5), scene.bodies, strict=True):
        low = (body.vertices @ pose[:3, :3].T + pose[:3, 3])[:, 2].min()
        assert 0.0 <= low + 1e-12 < 0.002


# ---------------------------------------------------------------- icollide


@pytest.fixture(scope="module")
def crowd_rows() -> list[icollide.Row]:
    usual = Setting(count=8, vertices=8, density=0.1)
    cases = [("count", usual), ("count", replace(usual, count=16)), ("speed", replace(usual, speed=0.2))]
    return [icollide.measure(varied, setting, 3, rounds=1) for varied, setting in cases]


def test_both_kinds_of_boxes_along_one_motion(crowd_rows: list[icollide.Row]) -> None:
    for row in crowd_rows:
        fixed, fitting = row.runs[icollide.FIXED], row.runs[icollide.DYNAMIC]
        assert fixed.pairs >= fitting.pairs >= row.collisions
        assert len(fixed.seconds) == len(icollide.STAGES)
        assert fixed.total > 0.0
    assert [row.value for row in crowd_rows] == [8.0, 16.0, 0.2]


def test_collisions_are_the_true_ones() -> None:
    motion = icollide.record(Setting(count=8, vertices=8, density=0.5), 3)
    assert any(motion.meeting)
    for poses, meeting in zip(motion.poses, motion.meeting, strict=True):
        expected = [
            (a, b)
            for a in range(8)
            for b in range(a + 1, 8)
            if impinge.collides(motion.bodies[a], motion.bodies[b], poses[a], poses[b])
        ]
        assert meeting == expected


def test_a_pipeline_that_loses_collisions_is_found_out() -> None:
    motion = icollide.record(Setting(count=8, vertices=8, density=0.5), 2)
    more = replace(motion, meeting=[[*pairs, (0, 0)] for pairs in motion.meeting])
    with pytest.raises(RuntimeError, match="other collisions in step 0"):
        icollide.replayed(more, icollide.FIXED)


def test_what_is_said_of_crowds(crowd_rows: list[icollide.Row], tmp_path: Path) -> None:
    assert "velocity" in text_of(icollide.table(crowd_rows))
    assert "dynamic boxes" in text_of(icollide.stage_table(crowd_rows))
    run = icollide.Run((1e-5, 1e-5, 1e-5), 1.0, 1.0)

    def row(count: int, times: float) -> icollide.Row:
        slower = replace(run, seconds=tuple(times * seconds for seconds in run.seconds))
        linear = replace(run, seconds=tuple(0.01 * count * seconds for seconds in run.seconds))
        return icollide.Row("count", Setting(count=count), 1.0, {icollide.FIXED: slower, icollide.DYNAMIC: linear})

    said = icollide.findings([row(100, 1.0), row(1000, 100.0)])
    assert "N^2.00" in said[0]
    assert "does not hold" in said[0]
    assert "N^1.00" in said[1]
    assert "N^1.2) holds" in said[1]
    assert "1,000 of 36 polygons take 3 ms" in said[2]
    assert "in 0 of 2 rows" in said[3]
    assert is_picture(icollide.picture(crowd_rows, tmp_path / "icollide.png"))


def test_one_thing_is_varied_at_a_time() -> None:
    usual = Setting()
    for varied, setting in icollide.settings():
        assert replace(setting, **{varied: getattr(usual, varied)}) == usual
    assert len(icollide.settings()) == sum(len(values) for _, values in icollide.VARIED.values())


# ---------------------------------------------------------------- hashing, culling


def test_boxes_hold_both_ends_of_a_step() -> None:
    recording = coins()
    boxes = hashing.step_boxes(recording, 0.01, 5)
    assert boxes.moving.shape == (5, 8, 2, 3)
    for number in range(5):
        for time in (0.01 * number, 0.01 * (number + 1)):
            for body, pose, (low, high) in zip(
                recording.moving, recording.poses(np.array([time]))[0], boxes.moving[number], strict=True
            ):
                corners = body.vertices @ pose[:3, :3].T + pose[:3, 3]
                assert (low <= corners).all()
                assert (corners <= high).all()
    assert hashing.step_boxes(recording, 0.5).moving.shape[0] == 4


def test_scenes_side_by_side_are_apart() -> None:
    boxes = hashing.step_boxes(coins(), 0.01, 3)
    alone, many = (next(iter(boxes.frames(copies))) for copies in (1, 5))
    assert np.array_equal(alone, boxes.moving[0])
    assert many.shape == (40, 2, 3)
    assert boxes.fixed_boxes(5).shape == (5, 2, 3)
    floors = np.sort(boxes.fixed_boxes(2)[:, :, 0], axis=0)
    assert floors[0, 1] < floors[1, 0]


def test_hashing_in_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashing, "BOXES", 20)
    rows = [hashing.measure(RECORDINGS[name](), 0.01, 4, rounds=1) for name in PAPER]
    for row in rows:
        assert row.steps == 4
        assert row.copies == max(1, 20 // row.boxes)
        assert row.cells.coherent < row.cells.standard
        assert row.seconds.coherent > 0.0
    assert "2,188" in text_of(hashing.table(rows))
    fast = [replace(row, seconds=hashing.Cost(7.0, 1.0)) for row in rows]
    assert "six times or more holds" in hashing.findings(fast)[0]
    assert "does not hold" in hashing.findings([*fast[:-1], replace(fast[-1], seconds=hashing.Cost(1.0, 1.0))])[0]
    assert hashing.Cost(1.0, 0.0).ratio == np.inf
    assert is_picture(hashing.picture(rows, tmp_path / "hashing.png"))


def test_culling_in_small(tmp_path: Path) -> None:
    recording = coins()
    course = culling.measure(recording, 12)
    assert course.all_pairs == 36
    assert len(course.times) == len(course.close) == 12
    assert all(close >= overlapping for close, overlapping in zip(course.close, course.overlapping, strict=True))
    assert all(wide >= tight for wide, tight in zip(course.overlapping, course.tight, strict=True))
    assert "without culling" in text_of(culling.table(course))
    assert "Of 36 pairs" in culling.findings(course)[0]
    assert is_picture(culling.picture(recording, course, tmp_path / "culling.png"))


# ---------------------------------------------------------------- resting, allpairs


def test_remedies_in_small(tmp_path: Path) -> None:
    cells = [cell for count in (10, 40) for cell in resting.measure(count, resting.EQUAL, 2)]
    last = {remedy: resting.chosen(cells, resting.EQUAL, remedy)[-1] for remedy in resting.REMEDIES}
    for remedy in (resting.ASKEW, resting.TWO):
        assert 5.0 * last[remedy].exchanges < last[resting.TIGHT].exchanges
    assert last[resting.TWO].pairs >= last[resting.TIGHT].pairs
    assert "N^" in text_of(resting.table(cells))
    assert "quadratic holds" in resting.findings(cells)[0]
    assert resting.findings(cells[:4]) == []
    linear = [replace(cell, exchanges=float(cell.count)) for cell in cells]
    assert "does not hold" in resting.findings(linear)[0]
    assert is_picture(resting.picture(cells, tmp_path / "resting.png"))


def test_skewed_axes_are_square_to_each_other() -> None:
    assert pytest.approx(np.eye(3), abs=1e-15) == resting.SKEWED @ resting.SKEWED.T


def test_all_pairs_in_small(tmp_path: Path) -> None:
    rows = [allpairs.measure(count, 2, rounds=1) for count in (4, 8)]
    assert [row.pairs for row in rows] == [6, 28]
    assert "hash-standard" in text_of(allpairs.table(rows))
    assert allpairs.findings(rows[:1]) == []
    quick = [replace(row, costs={"one": allpairs.Cost(1.0, float(row.pairs))}) for row in rows]
    assert "worse than that holds" in allpairs.findings(quick)[0]
    slow = [replace(row, costs={"one": allpairs.Cost(1.0, float(row.pairs) ** 2)}) for row in rows]
    assert "does not hold" in allpairs.findings(slow)[0]
    assert is_picture(allpairs.picture(rows, tmp_path / "allpairs.png"))


def test_a_broad_phase_that_loses_pairs_is_found_out() -> None:
    apart = [boxes + np.arange(3.0)[:, None, None] * 5.0 for boxes in allpairs.heap(3, 1)]
    with pytest.raises(RuntimeError, match="0 pairs of 3 boxes"):
        allpairs._replayed("brute", apart)


@pytest.mark.nojit_slow
def test_the_commands_in_small(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(icollide, "settings", lambda: [("count", Setting(count=10)), ("count", Setting(count=20))])
    monkeypatch.setattr(resting, "BODIES", (10, 20))
    monkeypatch.setattr(hashing, "BOXES", 20)
    for name in ("icollide", "hashing", "culling", "resting", "allpairs"):
        assert main([name, "--steps", "2", "--out", str(tmp_path)]) == 0
        assert f"{name}.png" in capsys.readouterr().out.replace("\n", "")
