"""World(hulls="auto"): hulls are asked where that pays, and the answers are the same."""

from __future__ import annotations

import numpy as np

from impinge import World
from impinge.lab.scenes.poses import poses, turns
from impinge.lab.scenes.shapes import box, torus
from impinge.world.pair_slots import PairSlots
from impinge.world.stages.hull_choice import FEWEST_TRIANGLES, PAUSE, hulls_are_worth_it, learn

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


def test_a_new_pair_goes_to_the_trees_and_then_a_plane_is_kept() -> None:
    world = two_rings()
    seen = []
    for step in range(4):
        world.move(0, tilted(0.001 * step))
        statistics = world.detect().statistics
        seen.append((statistics.hull_pairs, statistics.apart_by_kept_planes, statistics.tree_pairs))
    assert seen == [(0, 0, 1), (1, 0, 0), (1, 1, 0), (1, 1, 0)]


def test_small_meshes_go_to_the_trees() -> None:
    world = World()
    world.add(CUBE, DIAGONAL)
    for step in range(3):
        if step == 1:
            world.add(CUBE)
        world.move(0, poses(turns([0.0, 0.0, np.pi / 4.0]), [-0.01 * step, -0.6, 0.0]))
        assert world.detect().statistics.hull_pairs == 0
    assert world.detect("distance").statistics.hull_pairs == 0  # all distances are wanted: hulls cannot leave out any
    assert world.detect("distance", within=0.1).statistics.hull_pairs == 1


def test_a_pair_that_meets_goes_to_the_trees() -> None:
    world = two_rings()
    for step in range(4):
        world.move(1, tilted(0.0, 0.3 + 0.001 * step))
        frame = world.detect()
        assert len(frame) == 1
        assert frame.statistics.hull_pairs == 0


def asked_of_one_pair(plane_holds: bool, frames: int) -> list[bool]:
    kept = PairSlots()
    kept.follow(np.array([7]))
    asked = []
    for _ in range(frames):
        worth = hulls_are_worth_it(kept, kept.slots, np.array([FEWEST_TRIANGLES]))
        learn(kept, kept.slots[worth], np.array([plane_holds])[worth])
        asked += worth.tolist()
    return asked


def test_a_pair_whose_planes_fail_is_left_alone_for_some_frames() -> None:
    pause = [False] * PAUSE
    assert asked_of_one_pair(False, 2 * PAUSE + 5) == [False, True, True, *pause, True, True, *pause]
    assert asked_of_one_pair(True, 5) == [False, True, True, True, True]
