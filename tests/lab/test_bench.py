"""The benchmark command: what it accepts, and that its timing is interleaved."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import impinge
from impinge.arrays import Floats
from impinge.errors import MissingExtra
from impinge.lab.bench import pair_timing, pairs, peers
from impinge.lab.bench.__main__ import BENCHMARKS, main
from impinge.lab.bench.timing import interleaved, machine
from impinge.lab.scenes.pair_scene import PairScene
from impinge.lab.scenes.poses import poses
from impinge.lab.scenes.shapes import torus
from impinge.mesh.mesh import Mesh


@pytest.mark.parametrize("arguments", [[], ["nothing"], ["triangles", "more"]])
def test_usage_names_the_benchmarks(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    told = capsys.readouterr().err
    assert all(name in told for name in BENCHMARKS)


def test_candidates_take_turns() -> None:
    calls: list[str] = []
    seconds = interleaved({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, rounds=3)
    assert calls == ["a", "b"] * 4
    assert set(seconds) == {"a", "b"}
    assert all(0.0 <= value < 1.0 for value in seconds.values())


def test_a_result_names_machine_and_date() -> None:
    from datetime import date

    assert str(date.today().year) in machine()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [(["nowhere"], "'nowhere' is not a scene"), (["--poses", "0"], "--poses is 0"), (["tori", "bolt", "x"], "'x'")],
)
def test_pairs_names_what_it_does_not_know(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["pairs", *arguments])
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize(("module", "package"), [("coal", "coal"), ("fcl", "python-fcl")])
def test_a_missing_peer_is_named_with_its_extra(module: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    body = torus(1.0, 0.3, 8, 4)
    with pytest.raises(MissingExtra, match=rf"'{package}'.*impinge\[bench\]"):
        {"coal": peers.Coal, "fcl": peers.Fcl}[module](body, body)


def test_pairs_without_a_peer_says_so_instead_of_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "coal", None)
    assert main(["pairs", "tori"]) == 1
    assert 'pip install "impinge[bench]"' in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(1.234e-5, "12.3 us"), (9.999e-4, "1 ms"), (0.0517, "51.7 ms"), (2.5, "2.5 s")],
)
def test_durations_have_three_digits_and_a_unit(seconds: float, told: str) -> None:
    assert pairs.duration(seconds) == told


class _Brute:
    """A stand-in for a peer: right, except where it is told to be wrong."""

    nbytes = 1000

    def __init__(self, a: Mesh, b: Mesh) -> None:
        self._bodies = a, b

    def collides(self, pose_a: Floats, pose_b: Floats) -> bool:
        return bool(impinge.collides(*self._bodies, pose_a, pose_b, method="brute"))

    def contacts(self, pose_a: Floats, pose_b: Floats) -> peers.FacePairs:
        found = impinge.contacts(*self._bodies, pose_a, pose_b, method="brute")
        return np.column_stack([found.face_a, found.face_b]).astype(np.int64)

    def distance(self, pose_a: Floats, pose_b: Floats) -> float:
        return float(impinge.distance(*self._bodies, pose_a, pose_b, method="brute").value)

    def closer_than(self, clearance: float, pose_a: Floats, pose_b: Floats) -> bool:
        return bool(impinge.closer_than(*self._bodies, clearance, pose_a, pose_b, method="brute"))


class _Liar(_Brute):
    def contacts(self, pose_a: Floats, pose_b: Floats) -> peers.FacePairs:
        return super().contacts(pose_a, pose_b)[1:]

    def distance(self, pose_a: Floats, pose_b: Floats) -> float:
        return 1.001 * super().distance(pose_a, pose_b)


@pytest.fixture
def small_scene() -> PairScene:
    """Two rings: linked and touching, linked and free, far apart."""
    ring = torus(1.0, 0.25, 8, 4).transformed(np.eye(4), solid=False)
    upright = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    scattered = poses(upright, [[0.2, 0.0, 0.0], [1.0, 0.0, 0.0], [5.0, 0.0, 0.0]])
    return PairScene("rings", ring, ring, scattered, poses(upright, np.linspace([0.9, 0, 0], [1.1, 0, 0], 4)))


def _measured(scene: PairScene, monkeypatch: pytest.MonkeyPatch, second: type[_Brute] = _Brute) -> Any:
    monkeypatch.setattr(pair_timing, "Coal", _Brute)
    monkeypatch.setattr(pair_timing, "Fcl", second)
    monkeypatch.setattr(pair_timing, "coal_model", lambda mesh: None)
    monkeypatch.setattr(pair_timing, "fcl_model", lambda mesh: None)
    return pair_timing.measure(scene)


@pytest.mark.nojit_slow
def test_every_row_counts_the_poses_it_is_about(small_scene: PairScene, monkeypatch: pytest.MonkeyPatch) -> None:
    result = _measured(small_scene, monkeypatch)
    assert result.disagreements == []
    assert result.touching == 1
    counted = {name: row.pose.tolist() for name, row in result.rows.items()}
    assert counted[pair_timing.BOOLEAN] == [0, 1, 2]
    assert counted[pair_timing.CONTACTS] == counted[pair_timing.DISTANCE_ZERO] == [0]
    assert counted[pair_timing.DISTANCE] == counted[pair_timing.CLOSER_THAN] == [1, 2]
    assert counted[pair_timing.PAIR_DISTANCE] == [0, 1, 2, 3]
    for row in result.rows.values():
        assert all((seconds > 0.0).all() for seconds in row.seconds.values())
    assert result.our_bytes > 0.0
    for table in (pairs.speed_table([result]), pairs.worst_table([result]), pairs.memory_table([result])):
        assert table.row_count >= 2
    assert pairs.disagreements([result]) == ["rings: no answers differ"]


@pytest.mark.nojit_slow
def test_wrong_answers_are_told(small_scene: PairScene, monkeypatch: pytest.MonkeyPatch) -> None:
    result = _measured(small_scene, monkeypatch, second=_Liar)
    told = "\n".join(pairs.disagreements([result]))
    assert "rings: 3 answers differ" in told
    assert "python-fcl misses 1 of them and names 0 others" in told
    assert "pose 2: distance" in told


def test_ratios_and_losses_of_a_row() -> None:
    row = pair_timing.Row(
        np.array([4, 9]),
        {
            pair_timing.OURS: np.array([1.0, 2.0]),
            pair_timing.COAL: np.array([4.0, 2.0]),
            pair_timing.FCL: np.array([8.0, 1.0]),
        },
    )
    assert row.ours == pytest.approx(np.sqrt(2.0))
    assert row.times_faster_than(pair_timing.COAL) == pytest.approx(2.0)
    assert row.times_faster_than(pair_timing.FCL) == pytest.approx(2.0)
    assert row.slowdown.tolist() == [0.25, 2.0]
    body = torus(1.0, 0.3, 8, 4)
    result: Any = SimpleNamespace(
        scene=PairScene("x", body, body, np.zeros((2, 4, 4)), np.zeros((1, 4, 4))),
        rows={pair_timing.BOOLEAN: row},
        touching=0,
    )
    cells = list(pairs.worst_table([result]).columns[1].cells)
    assert any("2.00 (pose 9)" in str(cell) and "1 of 2 lost" in str(cell) for cell in cells)
