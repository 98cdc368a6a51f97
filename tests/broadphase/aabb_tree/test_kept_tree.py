"""The tree that keeps a list of pairs: when the list is kept, and when not."""

from __future__ import annotations

import numpy as np
import pytest

from impinge.broadphase.aabb_tree.kept_tree import KeptTree
from impinge.broadphase.brute_force import BruteForce


def crowd(rng: np.random.Generator, count: int) -> np.ndarray:
    low = rng.uniform(0.0, 1.3 * count ** (1 / 3), size=(count, 3))
    return np.stack([low, low + rng.uniform(0.5, 1.0, size=(count, 3))], axis=1)


def frames(boxes: np.ndarray, velocity: np.ndarray, count: int) -> list[np.ndarray]:
    return [boxes + velocity[:, None, :] * step for step in range(count)]


def picks(speed: float, count: int = 300) -> list[str]:
    """What was picked in each frame; every frame is compared with brute force."""
    rng = np.random.default_rng(5)
    tree, reference = KeptTree(), BruteForce()
    boxes = crowd(rng, count)
    velocity = speed * rng.uniform(-1.0, 1.0, size=(count, 3))
    found = []
    for step, now in enumerate(frames(boxes, velocity, 30)):
        changes = []
        for broad in (tree, reference):
            if step == 0:
                broad.add(now)
            changes.append(broad.update(now))
        for name in ("began", "ended", "persist"):
            assert np.array_equal(getattr(changes[0], name), getattr(changes[1], name))
        found.append(tree.statistics.picked)
    return found


def test_at_rest_the_list_is_kept() -> None:
    assert picks(0.0) == ["new tree"] + ["kept list"] * 29


def test_slow_motion_makes_lists_that_last() -> None:
    found = picks(0.005)
    assert found[:2] == ["new tree", "new list"]
    assert found.count("kept list") >= 24


def test_fast_motion_makes_a_tree_in_every_frame() -> None:
    assert picks(0.5) == ["new tree"] * 30


def test_a_few_restless_ones_do_not_spoil_the_list() -> None:
    rng = np.random.default_rng(6)
    boxes = crowd(rng, 400)
    velocity = np.zeros((400, 3))
    velocity[::80] = 0.9, 0.3, -0.2
    tree, reference = KeptTree(), BruteForce()
    for broad in (tree, reference):
        broad.add(boxes)
    restless = 0
    for now in frames(boxes, velocity, 12):
        assert np.array_equal(tree.update(now).pairs, reference.update(now).pairs)
        restless = max(restless, tree.statistics.restless)
        box = now[0] + 0.25
        assert np.array_equal(tree.overlapping(box), reference.overlapping(box))
        assert np.array_equal(tree.along_ray(now[0, 0], [1, 2, 3]), reference.along_ray(now[0, 0], [1, 2, 3]))
    assert restless == 5
    assert tree.statistics.picked == "kept list"


def test_fixed_objects_meet_the_others_only() -> None:
    rng = np.random.default_rng(7)
    tree, reference = KeptTree(), BruteForce()
    fixed, moving = crowd(rng, 200), crowd(rng, 200)
    for broad in (tree, reference):
        broad.add(fixed, fixed=True)
        broad.add(moving)
    for now in frames(moving, rng.uniform(-0.01, 0.01, size=(200, 3)), 20):
        pairs = tree.update(now).pairs
        assert np.array_equal(pairs, reference.update(now).pairs)
        assert (pairs[:, 1] >= 200).all()


@pytest.mark.parametrize("factor", [1e-9, 1e9])
def test_a_crowd_that_changes_its_scale_gets_new_coordinates(factor: float) -> None:
    boxes = crowd(np.random.default_rng(8), 300)
    tree = KeptTree()
    tree.add(boxes)
    tree.update()
    pairs = tree.pairs
    tree.update(boxes * factor + factor)
    assert tree.statistics.tested < 10 * len(boxes)
    assert abs(len(tree.pairs) - len(pairs)) < 0.05 * len(pairs)  # but for rounding of touching ones
