"""The benchmark of flying polytopes, small."""

from __future__ import annotations

import numpy as np
import pytest

import impinge
from impinge.arrays import Floats
from impinge.lab.bench import world_polytopes as bench
from impinge.lab.bench.world_peers import CONVEX_PEERS, Pairs
from impinge.lab.scenes.crowd import Setting


class Blind:
    """A peer that sees no collision."""

    def __init__(self, bodies: object) -> None:
        pass

    def __call__(self, poses: Floats, box_pairs: Pairs) -> Pairs:
        return np.empty((0, 2), dtype=np.int64)


@pytest.mark.nojit_slow
def test_figures_and_who_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "CONVEX_PEERS", {"blind": Blind})
    row = bench.measure(Setting(count=12, density=0.3), frames=1, rounds=1)
    assert row.box_pairs >= row.collisions > 0.0
    assert set(row.seconds) == {*bench.OURS, "blind"}
    assert all(row.different[name] == 0 for name in bench.OURS)
    # What it misses is all there is, and exact arithmetic says so.
    assert row.different["blind"] == row.checked["blind"] == row.wrong["blind"] > 0
    assert bench.table([row]).row_count == 7
    assert "as fast as blind" in bench.findings([row])[0]
    assert f"{row.different['blind']} differ" in bench._figure(row, "blind")


@pytest.mark.nojit_slow
def test_a_flight_is_that_of_the_verbs() -> None:
    flight = bench.record(Setting(count=8, density=0.5), 3)
    for poses, found in zip(flight.shown, flight.truth, strict=True):
        expected = [
            [a, b]
            for a in range(8)
            for b in range(a + 1, 8)
            if impinge.collides(flight.bodies[a], flight.bodies[b], poses[a], poses[b])
        ]
        assert found.tolist() == expected


@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", CONVEX_PEERS)
def test_peers_find_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip({"python-fcl": "fcl"}.get(name, name), reason=f"{name} is not installed (the extra bench)")
    monkeypatch.setattr(bench, "CONVEX_PEERS", {name: CONVEX_PEERS[name]})
    row = bench.measure(Setting(count=20, density=0.5), frames=2, rounds=1)
    assert row.collisions > 0.0
    assert row.different[name] == 0


def test_a_right_answer_is_not_refuted() -> None:
    flight = bench.record(Setting(count=8, density=0.5), 1)
    pairs = [(a, b) for a in range(8) for b in range(a + 1, 8)]
    meeting = {(0, a, b) for a, b in flight.truth[0].tolist()}
    said_otherwise = {(0, a, b) for a, b in pairs}
    assert bench.checked(flight, said_otherwise) == (len(pairs), len(pairs))
    # The record itself was wrong: who says otherwise is right.
    empty = bench.Flight(flight.bodies, flight.shown, [np.empty((0, 2), dtype=np.int64)])
    assert bench.checked(empty, meeting) == (len(meeting), 0)
