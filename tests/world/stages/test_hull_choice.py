"""World(hulls="auto"): hulls are asked where that pays, and the answers are the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from impinge import World
from impinge.kernels.jit import kernel
from impinge.kernels.record import Record, bool_, records
from impinge.lab.scenes.poses import poses, turns
from impinge.lab.scenes.shapes import box, torus
from impinge.world.stages import object_table
from impinge.world.stages.hull_choice import FEWEST_TRIANGLES, PAUSE, hulls_are_worth_it, learn
from impinge.world.stages.pair_table import PairRow

RING = torus(1.0, 0.3, 12, 12)
CUBE = box(1, 1, 1)
DIAGONAL = poses(turns([0.0, 0.0, np.pi / 4.0]), np.zeros(3))


def two_rings() -> World:
    """Tilted, so that their boxes overlap and the rings do not."""
    world = World()
    world.add(RING, tilted(0.0))
    world.add(RING, tilted(0.0, 1.2))
    return world


def tilted(angle: float, shift: float = 0.0) -> np.ndarray:
    return poses(turns([angle, np.pi / 4.0, 0.0]), [shift, 0.0, shift])


def test_the_ring_is_large_enough() -> None:
    assert len(RING.faces) >= FEWEST_TRIANGLES > len(CUBE.faces)


@pytest.fixture
def cheap_hulls(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hull is built after the first search of trees that it might have saved."""
    monkeypatch.setattr(object_table, "_TESTS_FOR_A_VERTEX", 0)


def test_a_hull_is_built_when_trees_have_cost_as_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_table, "_TESTS_FOR_A_VERTEX", 1)
    world = two_rings()
    seen = []
    for step in range(1000):
        world.move(0, tilted(0.001 * (step % 10)))
        seen.append(world.detect().statistics)
        if seen[-1].hull_pairs:
            break
    assert [each.hull_pairs for each in seen] == [0] * (len(seen) - 1) + [1]
    spent = sum(each.box_tests for each in seen[:-2])  # then it is built, and the pair waits for one frame
    assert len(RING.vertices) < 2 * spent <= len(RING.vertices) + 2 * seen[0].box_tests  # both have the same body


@pytest.mark.usefixtures("cheap_hulls")
def test_a_new_pair_goes_to_the_trees_and_then_a_plane_is_kept() -> None:
    world = two_rings()
    seen = []
    for step in range(4):
        world.move(0, tilted(0.001 * step))
        statistics = world.detect().statistics
        seen.append((statistics.hull_pairs, statistics.apart_by_kept_planes, statistics.tree_pairs))
    assert seen == [(0, 0, 1), (0, 0, 1), (1, 0, 0), (1, 1, 0)]


@pytest.mark.usefixtures("cheap_hulls")
def test_small_meshes_go_to_the_trees() -> None:
    world = World()
    world.add(CUBE, DIAGONAL)
    for step in range(3):
        if step == 1:
            world.add(CUBE)
        world.move(0, poses(turns([0.0, 0.0, np.pi / 4.0]), [-0.01 * step, -0.6, 0.0]))
        assert world.detect().statistics.hull_pairs == 0
    assert world.detect("distance").statistics.hull_pairs == 0  # all distances are wanted: hulls cannot leave out any


@pytest.mark.usefixtures("cheap_hulls")
def test_distances_up_to_a_limit_have_hulls_as_soon_as_they_are_built() -> None:
    world = two_rings()
    for compared in (0, 1, 1):
        world.move(0, tilted(0.001 * (1 + compared)))
        assert world.detect("distance", within=1e-3).statistics.hull_pairs == compared
        world.move(0, tilted(0.0))


@pytest.mark.usefixtures("cheap_hulls")
def test_a_pair_that_meets_goes_to_the_trees() -> None:
    world = two_rings()
    for step in range(4):
        world.move(1, tilted(0.0, 0.3 + 0.001 * step))
        frame = world.detect()
        assert len(frame) == 1
        assert frame.statistics.hull_pairs == 0


class Case(Record):
    """A pair, and how it goes."""

    row = records(PairRow)
    plane_holds = bool_
    asked = bool_[:]


case_at = Case.at


@kernel
def ask(case: Any) -> Any:
    case = case_at(case)
    for i in range(case.n_asked):
        case.asked[i] = hulls_are_worth_it(case.row, FEWEST_TRIANGLES)
        if case.asked[i]:
            learn(case.row, case.plane_holds)
    return 0


def asked_of_one_pair(plane_holds: bool, frames: int) -> list[bool]:
    case = Case(row=PairRow(hull_waits=1), plane_holds=plane_holds, asked=np.zeros(frames, dtype=np.bool_))
    ask(case.address)
    return list(case.asked.tolist())


def test_a_pair_whose_planes_fail_is_left_alone_for_some_frames() -> None:
    pause = [False] * PAUSE
    assert asked_of_one_pair(False, 2 * PAUSE + 5) == [False, True, True, *pause, True, True, *pause]
    assert asked_of_one_pair(True, 5) == [False, True, True, True, True]
