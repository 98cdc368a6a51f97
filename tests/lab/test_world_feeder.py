"""The benchmark of the parts feeder, small."""

from __future__ import annotations

import numpy as np
import pytest

import impinge
from impinge.geometry.pose import as_pose
from impinge.lab.bench import world_feeder as bench
from impinge.lab.bench import world_peers
from impinge.lab.bench.__main__ import main
from impinge.lab.bench.world_frames import compared
from impinge.lab.scenes.parts_feeder import parts, parts_feeder


def test_parts_have_about_a_thousand_triangles() -> None:
    assert [len(part.faces) for part in parts()] == [960, 960, 1000, 1216]
    assert all(part.is_closed for part in parts())


def test_a_feeder_moves_little_from_frame_to_frame() -> None:
    feeder = parts_feeder(30)
    first, second = as_pose(feeder.poses(3)), as_pose(feeder.poses(4))
    moved = np.abs(second - first)
    assert 0.0 < moved.max() < 0.05
    assert len(set(map(id, feeder.bodies))) == 4


@pytest.mark.nojit_slow
def test_figures_and_findings() -> None:
    row = bench.measure(12, frames=1, rounds=1)
    assert row.box_pairs >= row.collisions > 0.0
    for name in ("collides", "contacts", "closer_than", "nothing moved"):
        assert row.seconds[name] > 0.0
    assert {"boxes", "broad phase", "hulls", "trees"} <= set(row.stages)
    assert all(count == 0 for count in row.different.values())
    table = bench.table([row])
    assert table.row_count >= 6
    assert "nothing moved" in bench.findings([row])[-1]


@pytest.mark.nojit_slow
def test_the_truth_is_that_of_the_verbs() -> None:
    feeder = parts_feeder(6)
    row = bench.Row(6)
    found, _ = bench._truth(feeder, [feeder.poses(0)] * 3, row)
    bodies, poses = (*feeder.bodies, feeder.tray), [*feeder.poses(0), np.eye(4)]
    expected = [
        [a, b] for a in range(7) for b in range(a + 1, 7) if impinge.collides(bodies[a], bodies[b], poses[a], poses[b])
    ]
    assert found[0].tolist() == expected


@pytest.mark.nojit_slow
@pytest.mark.parametrize("name", world_peers.PEERS)
def test_peers_find_the_same(name: str) -> None:
    pytest.importorskip({"python-fcl": "fcl"}.get(name, name), reason=f"{name} is not installed (the extra bench)")
    feeder = parts_feeder(9)
    shown = [feeder.poses(number) for number in range(3)]
    row = bench.Row(9)
    truth, boxes = bench._truth(feeder, shown, row)
    peer = world_peers.PEERS[name]([*feeder.bodies, feeder.tray])
    seconds, differing = compared(peer, shown, truth, boxes)
    assert len(seconds) == 1
    assert not differing


def test_wrong_options() -> None:
    with pytest.raises(SystemExit):
        main(["world", "--parts", "0"])
