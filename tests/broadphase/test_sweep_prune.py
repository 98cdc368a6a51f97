"""Sweep and prune: its lists, its set of pairs, and its exchanges."""

from __future__ import annotations

import numpy as np
import pytest

from impinge.broadphase.sweep_prune import SweepAndPrune


def require_consistent(broad: SweepAndPrune) -> None:
    """The lists are sorted as they should be, and the set of pairs is indexed."""
    for axis in range(3):
        line = broad._ends[axis]
        assert sorted(line.tolist()) == list(range(2 * len(broad)))
        place = np.argsort(line)
        lows, highs = broad._rows[:, axis], broad._rows[:, axis + 3]
        assert (np.diff(lows[line[line % 2 == 0] // 2]) >= 0).all()
        assert (np.diff(highs[line[line % 2 == 1] // 2]) >= 0).all()
        before = place[0::2, None] < place[None, 1::2]
        assert (before == (lows[:, None] - highs[None, :] <= broad.margin)).all()
    pairs = broad._pair_set
    size = pairs.size
    assert sorted(pairs.keys[:size].tolist()) == broad._last.keys.tolist()
    used = pairs.slots[pairs.slots >= 0]
    assert sorted(used.tolist()) == list(range(size))
    for place in range(size):  # each is found from the slot of its hash value on, without a gap
        slot = pairs.hashes[place] & (len(pairs.slots) - 1)
        while pairs.slots[slot] != place:
            assert pairs.slots[slot] >= 0
            slot = (slot + 1) & (len(pairs.slots) - 1)


@pytest.mark.parametrize("margin", [0.0, 0.3])
@pytest.mark.parametrize("grid", [False, True])
def test_lists_and_set_are_consistent(grid: bool, margin: float) -> None:
    rng = np.random.default_rng(2)
    broad = SweepAndPrune(margin=margin)
    for step in range(12):
        low = rng.uniform(0, 4, (8, 3))
        low = np.floor(low) if grid else low
        broad.add(np.stack([low, low + 1.0], axis=1), fixed=step % 4 == 3)
        broad.update()
        require_consistent(broad)
        broad.remove(rng.choice(broad.ids, 3, replace=False))
        movable = ~broad._fixed
        drift = rng.normal(size=(np.count_nonzero(movable), 1, 3)) * 0.3
        broad.update(broad.boxes[movable] + (np.round(drift * 2) if grid else drift))
        require_consistent(broad)


def test_no_exchange_where_nothing_moves_and_few_where_little_does() -> None:
    rng = np.random.default_rng(4)
    low = rng.uniform(0, 10, (100, 3))
    boxes = np.stack([low, low + 1.0], axis=1)
    broad = SweepAndPrune()
    broad.add(boxes)
    broad.update()
    assert broad.statistics.exchanges == 0
    broad.update(boxes)
    assert broad.statistics.exchanges == broad.statistics.tested == 0
    broad.update(boxes + 3.0)  # all together: the order stays
    assert broad.statistics.exchanges == 0
    broad.update(boxes + rng.normal(size=(100, 1, 3)) * 1e-3)
    assert 0 < broad.statistics.exchanges < 300


def test_exchanges_are_the_ends_that_changed_their_order() -> None:
    broad = SweepAndPrune()
    broad.add([[[0, 0, 0], [1, 1, 1]], [[2, 0, 0], [3, 1, 1]]])
    broad.update()
    broad.update([[[0, 0, 0], [1, 1, 1]], [[1, 0, 0], [2, 1, 1]]])  # low end of the second, high end of the first
    assert broad.statistics.exchanges == 1
    assert broad.pairs.tolist() == [[0, 1]]
    broad.update([[[5, 0, 0], [6, 1, 1]], [[1, 0, 0], [2, 1, 1]]])  # both ends of one pass both ends of the other
    assert broad.statistics.exchanges == 3
    assert broad.pairs.tolist() == []


def test_a_layer_at_rest_makes_a_quadratic_number_of_exchanges() -> None:
    """[Mirtich1997] Fig. 6: heights that tremble are exchanged over and over."""
    rng = np.random.default_rng(1)
    exchanges = []
    for count in (50, 100, 200):
        low = np.stack([2.0 * np.arange(count), np.zeros(count), rng.uniform(0, 0.01, count)], axis=1)
        broad = SweepAndPrune()
        broad.add(np.stack([low, low + 1.0], axis=1))
        broad.update()
        low[:, 2] = rng.uniform(0, 0.01, count)
        assert len(broad.update(np.stack([low, low + 1.0], axis=1)).pairs) == 0
        exchanges.append(broad.statistics.exchanges)
    assert exchanges[1] > 3 * exchanges[0]
    assert exchanges[2] > 3 * exchanges[1]


def test_a_crowd_is_added_by_one_sweep_along_the_best_axis() -> None:
    """All boxes overlap along x and y: the sweep goes along z, where few do."""
    count = 200
    low = np.zeros((count, 3))
    low[:, 2] = np.random.default_rng(0).permutation(count) * 0.9
    broad = SweepAndPrune()
    broad.add(np.stack([low, low + 1.0], axis=1))
    assert len(broad.update().began) == count - 1
    assert broad.statistics.tested == count - 1
    broad.add([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])  # compared with its neighbours only
    assert len(broad.update().began) == 2
    assert broad.statistics.tested == 2
