"""The benchmark of the broad phases in small: what it compares and concludes, never how long it takes."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest
from rich.console import Console
from rich.table import Table

from impinge.arrays import Floats
from impinge.broadphase.brute_force import BruteForce
from impinge.lab.bench import broad, broad_peers, broad_results
from impinge.lab.bench.__main__ import main as bench
from impinge.lab.bench.broad_costs import Cost, Costs
from impinge.lab.bench.broad_results import AUTO, BRUTE, HASH, SWEEP, Row
from impinge.lab.bench.held_bytes import held_bytes
from impinge.lab.scenes.boxes import EQUAL, MIXED, RESTING, WORLDS, box_world, reflected


def text_of(table: Table) -> str:
    console = Console(file=io.StringIO(), width=220)
    console.print(table)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def true_pairs(boxes: Floats) -> broad_peers.Pairs:
    phase = BruteForce()
    phase.add(boxes)
    phase.update()
    return phase.pairs


# ---------------------------------------------------------------- the worlds


@pytest.mark.parametrize("world", WORLDS)
def test_worlds_are_seeded_and_of_constant_density(world: str) -> None:
    for count in (200, 600):
        scene = box_world(world, count)
        assert len(scene) == count
        assert np.array_equal(scene.frame(4), box_world(world, count).frame(4))
        assert not np.array_equal(scene.frame(0), box_world(world, count, seed=1).frame(0))
        pairs = np.mean([len(broad_peers.NumpySort(boxes)(boxes)) for boxes in scene.frames(0, 40)])
        assert 0.7 * count < pairs < 1.6 * count


@pytest.mark.parametrize("world", WORLDS)
def test_boxes_stay_in_the_room_and_move_by_their_speed(world: str) -> None:
    scene = box_world(world, 50, speed=0.1)
    shown = list(scene.frames(0, 60))
    room = (scene.free + scene.sizes).max(axis=0)
    assert min(boxes[:, 0].min() for boxes in shown) >= 0.0
    assert all((boxes[:, 1] <= room * (1.0 + 1e-12)).all() for boxes in shown)
    steps = np.linalg.norm(np.diff([boxes[:, 0, :2] for boxes in shown], axis=0), axis=2)
    assert (steps <= 0.15 * scene.sizes.mean(axis=1) * (1.0 + 1e-9)).all()


def test_sizes_of_the_worlds() -> None:
    assert (box_world(EQUAL, 20).sizes == 1.0).all()
    mixed = box_world(MIXED, 500).sizes
    assert 1.0 <= mixed.min() < 2.0
    assert 500.0 < mixed.max() <= 1000.0
    resting = box_world(RESTING, 50).frame(3)
    assert (resting[:, 0, 2] < 0.002).all()
    assert len(np.unique(resting[:, 0, 2])) == 50


def test_reflection_at_the_walls() -> None:
    assert reflected(np.array([0.5, 1.5, 2.5, -0.5]), np.array(1.0)).tolist() == [0.5, 0.5, 0.5, 0.5]


# ---------------------------------------------------------------- the peers


@pytest.mark.parametrize("name", [*broad.OURS, *broad_peers.PEERS])
@pytest.mark.parametrize("world", WORLDS)
def test_everybody_finds_the_pairs_of_small_worlds(name: str, world: str) -> None:
    scene = box_world(world, 60)
    try:
        find = broad.candidates()[name](scene.frame(0))
    except ImportError:
        pytest.skip(f"{name} is not installed")
    if name == "coal, sweep (SaP)":
        pytest.skip("it loses pairs, and reports others that do not overlap")
    for boxes in scene.frames(1, 4):
        found = find(boxes)
        expected = true_pairs(boxes)
        if isinstance(found, int):
            assert found == len(expected)
        else:
            assert np.array_equal(broad.keys_of(found), broad.keys_of(expected))


def test_a_sort_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    boxes = box_world(RESTING, 100).frame(0)
    monkeypatch.setattr(broad_peers, "_CHUNK", 7)
    found = broad_peers.NumpySort(boxes)(boxes)
    assert np.array_equal(broad.keys_of(found), broad.keys_of(true_pairs(boxes)))


def test_boxes_that_touch_overlap() -> None:
    boxes = np.array([[[0.0, 0, 0], [1, 1, 1]], [[1.0, 1, 1], [2, 2, 2]], [[2.5, 0, 0], [3, 1, 1]]])
    for find in (broad_peers.NumpySort(boxes), broad_peers.ScipyTree(boxes)):
        assert np.sort(find(boxes), axis=1).tolist() == [[0, 1]]


def test_peers_that_are_not_installed_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in ("coal", "fcl", "ipctk", "warp", "pybullet"):
        monkeypatch.setitem(sys.modules, module, None)
    broad_peers._warp_kernel.cache_clear()
    assert bench(["broad", "--boxes", "30", "--worlds", EQUAL, "--frames", "2", "--rounds", "1"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "Not installed: warp, tree refitted, warp, tree rebuilt, ipctk, LBVH" in told


# ---------------------------------------------------------------- what is compared


class Forgetful:
    """A peer that loses the first pair, and finds the last one twice."""

    def __init__(self, boxes: Floats) -> None:
        pass

    def __call__(self, boxes: Floats) -> broad_peers.Pairs:
        right = true_pairs(boxes)[:, ::-1]
        return np.concatenate([right[1:], right[-1:]])


def test_missing_and_additional_pairs_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broad, "PEERS", {"forgetful": Forgetful})
    row = broad.measure(EQUAL, 40, frames=3, rounds=1, speed=0.02, costs=Costs())
    assert (row.missing["forgetful"], row.more["forgetful"]) == (3, 3)
    assert row.compared["forgetful"] == 3 * row.pairs
    assert not row.is_right("forgetful")
    assert all(row.is_right(name) for name in broad.OURS)
    assert row.best(["forgetful"]) is None
    assert row.frames == dict.fromkeys(row.seconds, 3)
    told = text_of(broad_results.speed_table([row], list(row.seconds)))
    assert f"3 missing, 3 too many of {row.compared['forgetful']}" in told


def test_counts_are_compared_as_counts() -> None:
    assert broad.differences(5, np.arange(7)) == (2, 0)
    assert broad.differences(9, np.arange(7)) == (0, 2)


def test_the_command_in_small(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(broad, "PEERS", {"numpy, sort": broad_peers.NumpySort})
    assert bench(["broad", "--boxes", "20", "40", "--frames", "2", "--rounds", "1"]) == 0
    told = capsys.readouterr().out
    assert "At rest on a plane" in told
    assert "exchanges a frame" in told
    assert "0 of 0 goals held" in told


@pytest.mark.parametrize("arguments", [["--boxes", "1"], ["--frames", "0"], ["--rounds", "0"], ["--speed", "nan"]])
def test_the_command_refuses_what_makes_no_sense(arguments: list[str]) -> None:
    with pytest.raises(SystemExit):
        bench(["broad", *arguments])


# ---------------------------------------------------------------- who is left out


def test_costs_are_continued() -> None:
    costs = Costs()
    costs.note("peer", EQUAL, 100, Cost(0.001, 0.001))
    costs.note("peer", EQUAL, 1000, Cost(0.5, 0.04))
    expected = costs.expected("peer", Forgetful, EQUAL, 10_000)
    assert expected == pytest.approx((50.0, 1.6))  # quadratic at most
    assert expected.is_hopeless
    costs.note("peer", EQUAL, 10_000, expected)
    assert costs.expected("peer", Forgetful, EQUAL, 100_000) == pytest.approx((500.0, 16.0))


def test_what_is_not_known_is_tried() -> None:
    costs = Costs()
    assert costs.expected("peer", Forgetful, EQUAL, 999) == (0.0, 0.0)
    assert costs.expected("peer", Forgetful, EQUAL, 1000).frame > 0.0


def test_the_hopeless_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broad, "PEERS", {"slow": Forgetful})
    monkeypatch.setattr(Costs, "expected", lambda self, name, *rest: Cost(0.0, 1e9 if name in ("slow", BRUTE) else 0.0))
    row = broad.measure(EQUAL, 30, frames=2, rounds=1, speed=0.02, costs=Costs())
    assert row.left_out == {"slow", BRUTE}
    assert "left out" in text_of(broad_results.speed_table([row], ["slow", AUTO]))


# ---------------------------------------------------------------- goals


def row_of(count: int, **seconds: float) -> Row:
    names = dict.fromkeys(seconds, 0)
    frames, compared = dict.fromkeys(seconds, 30), dict.fromkeys(seconds, 30 * count)
    return Row(EQUAL, count, float(count), seconds, frames, compared, dict(names), dict(names))


def test_goals_follow_the_figures() -> None:
    rows = [
        row_of(1000, auto=1.0, hash=1.0, fast=2.0, good=4.0),
        row_of(10_000, auto=10.0, hash=20.0, fast=20.0, good=25.0),
    ]
    rows[0].missing["fast"] = 1
    rows[1].more["fast"] = 1  # one in 300,000: rounded outward
    found = broad_results.goals(rows, ["fast", "good", "absent"])
    assert [(goal.held, round(goal.reached, 3)) for goal in found] == [
        (True, 4.0),
        (False, 2.0),
        (True, 0.0),
        (False, round(float(np.log10(2.0)), 3)),
    ]
    told = text_of(broad_results.goal_table(rows, ["fast", "good"]))
    assert "best peer (good), 1,000 boxes" in told
    assert "NO" in told


def test_bytes_are_a_goal_for_many_boxes_only() -> None:
    few, many = row_of(1000, auto=1.0), row_of(100_000, auto=100.0)
    few.bytes_a_box = many.bytes_a_box = 201.0
    assert [goal.reached for goal in broad_results.goals([few], [])] == []
    assert [goal.held for goal in broad_results.goals([many], [])] == [False]


def test_exchanges_grow() -> None:
    rows = [row_of(100, auto=1.0), row_of(1000, auto=1.0), row_of(10_000, auto=1.0)]
    rows[0].exchanges, rows[1].exchanges = 10.0, 1000.0
    assert "2.00" in text_of(broad_results.exchange_table(rows))


def test_growth_needs_two_rows() -> None:
    assert broad_results.growth([row_of(1000, auto=1.0)], AUTO, 1000) is None
    assert broad_results.growth([row_of(100, auto=1.0), row_of(1000, auto=10.0)], AUTO, 100) == pytest.approx(0.0)
    assert broad_results.growth([row_of(100, auto=1.0), row_of(1000, auto=10.0)], HASH, 100) is None


def test_quadratic_exchanges_at_rest() -> None:
    rows = [broad.measure(RESTING, count, frames=3, rounds=1, speed=0.02, costs=Costs()) for count in (25, 100)]
    few, many = (row.exchanges or 0.0 for row in rows)
    assert SWEEP in rows[0].seconds
    assert many > 10.0 * few > 0.0


# ---------------------------------------------------------------- bytes


class Owner:
    def __init__(self) -> None:
        self.all = np.zeros(100)
        self.part = self.all[10:20]
        self.again = [(self.part, {"key": self.all})]
        self.pairs = np.zeros(1000)
        self.other = np.zeros((4, 4), dtype=np.int32)[1]


def test_memory_is_counted_once_and_whole() -> None:
    assert held_bytes(Owner(), without={"pairs"}) == 800 + 64
    assert held_bytes(Owner()) == 8800 + 64


def test_memory_of_kernels_counts() -> None:
    phase = BruteForce()
    phase.add(box_world(EQUAL, 50).frame(0))
    phase.update()
    assert held_bytes(phase, without={"keys"}) >= 50 * (48 + 8 + 1)
    assert held_bytes(phase) >= held_bytes(phase, without={"keys"}) + 8 * len(phase.pairs)
