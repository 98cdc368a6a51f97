"""Trees of boxes: what overlaps within one, between two, and with a box or a ray."""

from __future__ import annotations

import numpy as np
import pytest

from impinge.broadphase.aabb_tree.packed_tree import (
    CLASSES,
    NOTHING,
    PackedTree,
    TreeSpace,
    overlaps_between,
    overlaps_within,
    packed_tree,
)
from impinge.broadphase.aabb_tree.tree_queries import near_ray, touched_by_boxes


def crowd(rng: np.random.Generator, count: int) -> np.ndarray:
    """Boxes of many sizes that float32 holds exactly, so that both sides compare the same numbers."""
    low = rng.integers(-1000, 1000, size=(count, 3)) / 1024.0
    return np.hstack([low, low + rng.choice([0, 1, 8, 60, 500], size=(count, 3)) / 1024.0])


def tree_of(rows: np.ndarray, chosen: np.ndarray) -> PackedTree:
    return packed_tree(rows, rows.astype(np.float32), chosen)


def true_overlaps(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return ((one[:, None, :3] <= other[None, :, 3:]) & (other[None, :, :3] <= one[:, None, 3:])).all(axis=2)


def as_set(keys: np.ndarray, found: int) -> set[tuple[int, int]]:
    pairs = {(int(key) >> 32, int(key) & (2**32 - 1)) for key in keys[:found]}
    assert len(pairs) == found, "no pair comes twice"
    return pairs


@pytest.mark.parametrize("count", [0, 1, 2, 8, 9, 65, 600])
def test_overlaps_within_a_tree(count: int) -> None:
    rows = crowd(np.random.default_rng(count), count)
    expected = {(int(i), int(j)) for i, j in np.argwhere(true_overlaps(rows, rows)) if i < j}
    tree = tree_of(rows, np.arange(count))
    assert as_set(*overlaps_within(tree.address)) == expected


def test_overlaps_between_trees() -> None:
    rows = crowd(np.random.default_rng(7), 400)
    some, others = np.arange(0, 400, 3), np.setdiff1d(np.arange(400), np.arange(0, 400, 3))
    hits = np.argwhere(true_overlaps(rows[some], rows[others]))
    expected = {tuple(sorted((int(some[i]), int(others[j])))) for i, j in hits}
    no_keys = np.empty(0, dtype=np.int64)
    a, b = tree_of(rows, some), tree_of(rows, others)
    assert as_set(*overlaps_between(a.address, b.address, no_keys, 0)) == expected


def test_touched_by_boxes_leaves_out_who_is_ignored() -> None:
    rng = np.random.default_rng(8)
    rows, asking = crowd(rng, 300), crowd(rng, 40)
    ignored = rng.random(300) < 0.2
    hits = true_overlaps(asking, rows) & ~ignored
    space, tree = TreeSpace(scale=1.0), tree_of(rows, np.arange(300))
    keys, found, tested = touched_by_boxes(
        asking, rows, space.address, ignored, tree.address, np.empty(0, dtype=np.int64), 0
    )
    assert as_set(keys, found) == {(int(i), int(j)) for i, j in np.argwhere(hits)}
    assert tested >= found


def test_near_ray_misses_nobody() -> None:
    rng = np.random.default_rng(9)
    rows = crowd(rng, 500)
    tree = tree_of(rows, np.arange(500))
    for _ in range(50):
        start, through = rng.normal(size=3), int(rng.integers(500))
        end = rows[through, :3] + rng.random(3) * (rows[through, 3:] - rows[through, :3])
        found, count = near_ray(start, end - start, 2.0, tree.address)
        assert through in found[:count]
    found, count = near_ray(np.array([5.0, 5.0, 5.0]), np.array([1.0, 0.0, 0.0]), np.inf, tree.address)
    assert count == 0


def test_leaves_that_are_not_full() -> None:
    rows = crowd(np.random.default_rng(10), 13)
    tree = tree_of(rows, np.arange(13))
    assert (tree.slots[: 8 * tree.leaves] == NOTHING).sum() == 8 * tree.leaves - 13
    used = [tree.classes[kind] for kind in range(CLASSES) if tree.classes[kind].leaves > 0]
    assert sum(levels.leaves for levels in used) == tree.leaves
    assert all(levels.top >= 1 for levels in used)
