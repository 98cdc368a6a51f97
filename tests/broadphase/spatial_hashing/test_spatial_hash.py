"""The hierarchical spatial hash: close pairs are those of definition 1, and theorems 1 to 3 of [Mirtich1997] hold."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from impinge.broadphase.spatial_hashing.hash_levels import with_all_of_space
from impinge.broadphase.spatial_hashing.spatial_hash import SpatialHash


def random_boxes(seed: int, count: int, ratio: float = 30.0, density: float = 0.3) -> np.ndarray:
    """Sizes from 1 to ``ratio``, at a density that does not depend on how many there are."""
    rng = np.random.default_rng(seed)
    size = ratio ** rng.uniform(0, 1, (count, 1)) * rng.uniform(0.3, 1, (count, 3))
    extent = np.cbrt(np.sum(np.prod(size, axis=1)) / density)
    low = rng.uniform(-extent / 2, extent / 2, (count, 3))
    return np.stack([low, low + size], axis=1)


def filled(boxes: np.ndarray, **options: object) -> SpatialHash:
    broad = SpatialHash(**options)  # type: ignore[arg-type]
    broad.add(boxes)
    broad.update()
    return broad


def size(box: np.ndarray) -> float:
    return float((box[1] - box[0]).max())


def resolution(broad: SpatialHash, box: np.ndarray) -> int:
    """The definition: the smallest k with (2)."""
    for k, rho in enumerate(broad.resolutions, start=1):
        if broad.alpha * rho <= size(box) <= broad.beta * rho:
            return k
    raise AssertionError("no resolution was planned for this box")


def close_by_definition(broad: SpatialHash) -> set[tuple[int, int]]:
    boxes = broad.boxes
    levels = [resolution(broad, box) for box in boxes]
    close = set()
    for i, j in combinations(range(len(boxes)), 2):
        rho = with_all_of_space(broad.resolutions)[min(levels[i], levels[j])]
        cells = np.floor(boxes[[i, j]] / rho)
        if (cells[0, 0] <= cells[1, 1]).all() and (cells[1, 0] <= cells[0, 1]).all():
            close.add((i, j))
    return close


def close_in_table(broad: SpatialHash) -> set[tuple[int, int]]:
    """The pairs with a counter; all counters are positive."""
    keys, meetings = (part[: broad._close.size] for part in (broad._close.keys, broad._close.meetings))
    assert (meetings > 0).all()
    numbers = broad._order[np.stack([keys >> 32, keys & 0xFFFFFFFF], axis=1)]
    return {(int(min(pair)), int(max(pair))) for pair in numbers}


parameters = st.tuples(st.sampled_from([0.5, 0.25, 0.8]), st.sampled_from([1.0, 2.0, 3.0]))


@given(st.integers(0, 10**6), parameters)
def test_close_pairs_are_those_of_the_definition(seed: int, chosen: tuple[float, float]) -> None:
    boxes = random_boxes(seed, 12, ratio=8.0)
    broad = filled(boxes, alpha=chosen[0], beta=chosen[1])
    expected = close_by_definition(broad)
    assert close_in_table(broad) == expected
    assert filled(boxes, alpha=chosen[0], beta=chosen[1], coherent=False).statistics.close == len(expected)
    assert broad.statistics.close == broad.statistics.tested == len(expected)
    assert broad.statistics.close_apart == len(expected) - len(broad.pairs) >= 0


def test_counters_are_right_after_a_long_way() -> None:
    rng = np.random.default_rng(11)
    boxes = random_boxes(3, 40, ratio=8.0)
    broad = SpatialHash(alpha=0.5)
    broad.add(boxes)
    broad.update()
    for _ in range(15):
        boxes = boxes + rng.normal(size=(40, 1, 3)) * rng.choice([0.1, 5.0], (40, 1, 1), p=[0.9, 0.1])
        broad.update(boxes)
        fresh = filled(boxes, resolutions=broad.resolutions, alpha=0.5)
        assert close_in_table(broad) == close_in_table(fresh)
        counters = [
            {tuple(sorted(table._order[[key >> 32, key & 0xFFFFFFFF]])): count for key, count in
             zip(table._close.keys[: table.statistics.close].tolist(),
                 table._close.meetings[: table.statistics.close].tolist(), strict=True)}
            for table in (broad, fresh)
        ]  # fmt: skip
        assert counters[0] == counters[1]


@pytest.mark.parametrize("beta", [1.0, 2.0, 3.0])
@pytest.mark.parametrize("alpha", [0.5, 0.25])
def test_theorem_1_cells_for_each_box(alpha: float, beta: float) -> None:
    """A box has at most (beta + 1)^3 cells at each resolution, and there are about log R resolutions."""
    for ratio in (1.5, 10.0, 200.0):
        broad = filled(random_boxes(1, 60, ratio), alpha=alpha, beta=beta, coherent=False)
        sizes = [size(box) for box in broad.boxes]
        levels = max(1, math.ceil(math.log(max(sizes) / min(sizes)) / math.log(beta / alpha)))
        assert len(broad.resolutions) <= levels
        assert broad.statistics.cells <= 60 * levels * (beta + 1) ** 3
        assert broad.statistics.outside == broad.statistics.everywhere == 0


@pytest.mark.nojit_slow
def test_theorem_2_work_in_proportion_to_boxes_and_close_pairs() -> None:
    work = []
    for count in (500, 2000, 8000):
        broad = filled(random_boxes(2, count), alpha=0.5, coherent=False)
        work.append((broad.statistics.cells + broad.statistics.close) / (count + broad.statistics.close))
    assert max(work) < 1.3 * min(work)


@given(st.integers(0, 10**6), parameters)
def test_theorem_3_boxes_far_apart_are_not_close(seed: int, chosen: tuple[float, float]) -> None:
    broad = filled(random_boxes(seed, 25), alpha=chosen[0], beta=chosen[1])
    boxes = broad.boxes
    for i, j in close_in_table(broad):
        gap = np.maximum(np.maximum(boxes[i, 0] - boxes[j, 1], boxes[j, 0] - boxes[i, 1]), 0.0)
        largest = max(size(boxes[i]), size(boxes[j]))
        assert np.linalg.norm(gap) <= math.sqrt(3.0) / chosen[0] * largest * (1 + 1e-12)


def test_a_box_that_stays_in_its_cells_costs_nothing() -> None:
    low = np.array([[0.3, 0.3, 0.3], [5.3, 0.3, 0.3]])
    broad = SpatialHash(resolutions=[1.0])
    broad.add(np.stack([low, low + 0.5], axis=1))
    broad.update()
    assert broad.statistics.cells == 2 * (1 + 1)  # one of its resolution, and all of space
    low += [0.15, 0.0, 0.0]
    broad.update(np.stack([low, low + 0.5], axis=1))
    assert broad.statistics.cells == 0
    low += [0.15, 0.0, 0.0]  # now each touches the next cell
    broad.update(np.stack([low, low + 0.5], axis=1))
    assert broad.statistics.cells == 2


@pytest.mark.nojit_slow
def test_room_is_used_again() -> None:
    """Boxes that travel for long leave nothing behind."""
    boxes = random_boxes(5, 30, ratio=2.0)
    broad = filled(boxes)
    for _ in range(60):
        boxes = boxes + [1.7, 0.3, -0.9]
        broad.update(boxes)
    table = broad._kept
    assert len(table.entries) < 30 * 9 * 8
    assert np.count_nonzero(table.slots >= 0) <= 30 * 8 + 1
    broad.remove(broad.ids)
    broad.update()
    assert np.count_nonzero(broad._kept.slots >= 0) == 0
    assert broad.statistics.close == 0


@pytest.mark.parametrize("coherent", [True, False])
def test_boxes_much_larger_or_smaller_than_planned(coherent: bool) -> None:
    broad = SpatialHash(resolutions=[1.0], coherent=coherent)
    low = np.arange(40.0)[:, None] * [2.0, 0.0, 0.0]
    broad.add(np.stack([low, low + 0.9], axis=1))
    broad.update()
    space = np.array([[-1e30] * 3, [1e30] * 3])
    assert len(broad.update([space, np.zeros((2, 3)), [[0] * 3, [3] * 3]], ids=[5, 7, 9]).pairs) == 39 + 4
    assert broad.statistics.everywhere == 1
    assert broad.statistics.outside == 2  # a point suits the finest resolution
    assert broad.resolutions.tolist() == [1.0]
    changes = broad.update(np.tile(space, (20, 1, 1)), ids=np.arange(20))  # too many: a coarser resolution is added
    assert len(changes.pairs) == 20 * 19 // 2 + 20 * 20
    assert broad.statistics.everywhere == 0
    assert broad.resolutions.tolist() == [2e30, 1.0]


def test_boxes_that_breathe_stay_in_their_cells() -> None:
    """A little larger than planned is no reason to begin anew."""
    boxes = np.stack([low := np.arange(40.0)[:, None] * [2.0, 0.0, 0.0] + 0.5, low + 0.9], axis=1)
    broad = filled(boxes)
    for number in range(5):
        boxes[:, 1] += 1e-3
        assert len(broad.update(boxes).began) == 0
        assert broad.statistics.outside == 40
        assert broad.statistics.cells < 40, number
        assert broad.resolutions == pytest.approx([0.9])


def test_resolutions_are_chosen_anew_when_sizes_have_changed() -> None:
    boxes = random_boxes(8, 50, ratio=1.5)
    broad = filled(boxes)
    first = broad.resolutions
    broad.update(boxes * 1.01)
    assert broad.resolutions.tolist() == first.tolist()
    persist = broad.pairs.tolist()
    changes = broad.update(boxes * 64.0)
    assert broad.resolutions[0] > 60 * first[0]
    assert changes.persist.tolist() == persist  # the events do not show it
    assert len(changes.began) == len(changes.ended) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0.0}, "alpha is 0.0"),
        ({"alpha": 1.0}, "alpha is 1.0"),
        ({"alpha": float("nan")}, "alpha is nan"),
        ({"beta": 0.5}, "beta is 0.5"),
        ({"beta": float("inf")}, "beta is inf"),
        ({"resolutions": []}, "resolutions: expected shape"),
        ({"resolutions": [1.0, -1.0]}, "they must be positive and finite"),
        ({"resolutions": [1.0, float("nan")]}, "they must be positive and finite"),
    ],
)
def test_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SpatialHash(**options)  # type: ignore[arg-type]


def test_resolutions_in_any_order() -> None:
    assert SpatialHash(resolutions=[1.0, 8.0, 1.0, 2.0]).resolutions.tolist() == [8.0, 2.0, 1.0]
    assert SpatialHash(resolutions=3).resolutions.tolist() == [3.0]
