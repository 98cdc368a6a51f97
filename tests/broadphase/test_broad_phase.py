"""What all broad phases have in common: ids, boxes, edits, queries, and what they refuse."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from impinge.broadphase.broad_phase import BroadPhase
from impinge.broadphase.brute_force import BruteForce
from impinge.broadphase.choice import MEMBERS, broad_phase
from impinge.broadphase.pair_keys import MOST_IDS


def cube(x: float, size: float = 1.0) -> list[list[float]]:
    """A cube that stands at x."""
    return [[x, 0.0, 0.0], [x + size, size, size]]


@pytest.fixture(params=MEMBERS)
def broad(request: pytest.FixtureRequest) -> BroadPhase:
    return broad_phase(request.param)


def test_nobody_is_there(broad: BroadPhase) -> None:
    changes = broad.update()
    for pairs in (changes.began, changes.ended, changes.persist, changes.pairs, broad.pairs):
        assert pairs.shape == (0, 2)
        assert pairs.dtype == np.int64
    assert len(broad) == len(broad.ids) == 0
    assert broad.boxes.shape == (0, 2, 3)
    assert broad.overlapping(cube(0)).tolist() == []
    assert broad.along_ray([0, 0, 0], [1, 0, 0]).tolist() == []
    assert broad.statistics.overlapping == broad.statistics.tested == 0
    assert broad.update(np.empty((0, 2, 3))).pairs.shape == (0, 2)


def test_ids_ascend_and_are_never_used_again(broad: BroadPhase) -> None:
    assert broad.add([cube(0), cube(1)]).tolist() == [0, 1]
    assert broad.add(np.empty((0, 2, 3))).tolist() == []
    single = broad.add(cube(2))
    assert single == 2
    assert single.shape == ()
    broad.remove([2, 0])
    assert broad.add([cube(5)]).tolist() == [3]
    assert broad.ids.tolist() == [1, 3]
    assert broad.boxes.tolist() == [cube(1), cube(5)]
    broad.remove(broad.ids)
    assert broad.add(cube(0)) == 4
    with pytest.raises(ValueError, match="read-only"):
        broad.ids[0] = 7


def test_events_of_objects_that_come_and_go(broad: BroadPhase) -> None:
    broad.add([cube(0), cube(1), cube(4)])
    assert broad.pairs.tolist() == []  # as of the last update
    assert broad.update().began.tolist() == [[0, 1]]
    broad.remove(0)
    broad.add([cube(5), cube(0.5)])
    assert broad.pairs.tolist() == [[0, 1]]
    changes = broad.update()
    assert changes.ended.tolist() == [[0, 1]]
    assert changes.began.tolist() == [[1, 4], [2, 3]]
    assert changes.persist.tolist() == []
    broad.remove(broad.add(cube(4)))  # never seen by an update
    changes = broad.update()
    assert changes.began.tolist() == changes.ended.tolist() == []
    assert changes.persist.tolist() == changes.pairs.tolist() == [[1, 4], [2, 3]]
    broad.remove([3, 1, 2, 4])
    assert broad.update().ended.tolist() == [[1, 4], [2, 3]]


def test_updates_of_some_and_of_all(broad: BroadPhase) -> None:
    broad.add([cube(0), cube(10)])
    broad.add(cube(20), fixed=True)
    broad.add(cube(30))
    assert broad.update([cube(20), cube(21)], ids=[3, 0]).pairs.tolist() == [[0, 2], [0, 3], [2, 3]]
    assert broad.boxes.tolist() == [cube(21), cube(10), cube(20), cube(20)]
    assert broad.update([cube(0), cube(1), cube(2)]).pairs.tolist() == [[0, 1], [1, 3]]
    assert broad.update(cube(19), ids=1).pairs.tolist() == [[1, 2]]
    assert broad.update(np.empty((0, 2, 3)), ids=[]).persist.tolist() == [[1, 2]]


def test_fixed_objects_are_not_compared_with_each_other(broad: BroadPhase) -> None:
    broad.add(np.tile(cube(0), (20, 1, 1)), fixed=True)
    assert len(broad.update().pairs) == 0
    assert broad.statistics.tested == 0
    mover = broad.add(cube(5))
    assert len(broad.update().pairs) == 0
    assert len(broad.update([cube(0.5)]).began) == 20
    broad.add(np.tile(cube(0), (3, 1, 1)), fixed=True)
    assert broad.update().began.tolist() == [[mover, mover + i] for i in (1, 2, 3)]
    assert len(broad.update(cube(-1.5), ids=mover).ended) == 23
    assert broad.overlapping(cube(0)).tolist() == [i for i in range(24) if i != mover]


def test_touching_is_overlapping_and_the_next_number_is_not(broad: BroadPhase) -> None:
    for offset in (0.0, 1.0, 1e15, 1e-300):
        for scale in (1.0, 2.0**-40, 2.0**900):
            broad.remove(broad.ids)
            low = np.array([offset, 0, 0]) * scale
            touching = low + np.array([scale, 0, 0])
            beyond = np.nextafter(touching, np.inf)
            broad.add([[low, touching], [touching, touching * 2], [beyond, beyond]])
            first = int(broad.ids[0])
            pairs = broad.update().pairs.tolist()
            assert [first, first + 1] in pairs
            assert [first, first + 2] not in pairs


@pytest.mark.parametrize("name", MEMBERS)
def test_margin_is_compared_with_the_rounded_difference(name: str) -> None:
    broad = broad_phase(name, margin=0.1)
    assert broad.margin == 0.1
    gaps = [0.1, np.nextafter(0.1, 1), np.nextafter(0.1, 0), 0.0, -0.5]
    for gap in gaps:
        broad.remove(broad.ids)
        broad.add([[[-1, -1, -1], [0, 0, 0]], [[gap] * 3, [1] * 3]])
        assert len(broad.update().pairs) == (gap <= 0.1)
    # 1e15 + 0.1 is 1e15 + 0.125: the true gap exceeds the margin, and so does the rounded one.
    broad.remove(broad.ids)
    broad.add([[[0, 0, 0], [1e15, 1, 1]], [[1e15 + 0.1, 0, 0], [2e15, 1, 1]]])
    assert len(broad.update().pairs) == 0


def test_boxes_of_no_size_and_coincident_ones(broad: BroadPhase) -> None:
    point = [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    broad.add([point, point, cube(0), [[1.0, 0.0, 0.0], [1.0, 5.0, 5.0]]])
    assert len(broad.update().pairs) == 6


def test_what_was_given_is_not_kept_and_what_is_returned_is_a_copy(broad: BroadPhase) -> None:
    given = np.array([cube(0), cube(0.5)])
    broad.add(given)
    given += 100.0
    broad.boxes[:] = 7.0
    assert broad.update().pairs.tolist() == [[0, 1]]
    broad.update(given)
    given -= 100.0
    assert broad.boxes.tolist() == (given + 100.0).tolist()


def test_pickled_in_the_middle_of_a_life(broad: BroadPhase) -> None:
    broad.add([cube(0), cube(1), cube(4)])
    broad.update()
    broad.remove(1)
    copy: BroadPhase = pickle.loads(pickle.dumps(broad))
    for one in (broad, copy):
        changes = one.update([cube(3.5), cube(4)])
        assert changes.ended.tolist() == [[0, 1]]
        assert changes.began.tolist() == [[0, 2]]


def test_queries_see_objects_as_they_are_now(broad: BroadPhase) -> None:
    broad.add([cube(0), cube(5)])
    assert broad.overlapping(cube(1)).tolist() == [0]
    assert broad.along_ray([-1, 0.5, 0.5], [1, 0, 0]).tolist() == [0, 1]
    assert broad.along_ray([-1, 0.5, 0.5], [9, 0, 0], length=3).tolist() == [0]
    broad.remove(0)
    assert broad.overlapping(cube(1)).tolist() == []
    assert broad.along_ray([-1, 0.5, 0.5], [1, 0, 0]).tolist() == [1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda b: b.add([[cube(0)[0], [1, np.nan, 1]]]), r"boxes\[0\] is .*nan.*must be finite"),
        (lambda b: b.add([cube(0), [[0, 0, 0], [1, np.inf, 1]]]), r"boxes\[1\] is .*inf.*must be finite"),
        (lambda b: b.add([[0, 0, -np.inf], [1, 1, 1]]), "boxes is .*must be finite"),
        (lambda b: b.add([[0, 2, 0], [1, 1, 1]]), "the low corner is above the high one"),
        (lambda b: b.add([1.0, 2.0]), r"boxes: expected shape \(n, 2, 3\)"),
        (lambda b: b.add(np.zeros((2, 3, 2))), r"boxes: expected shape \(n, 2, 3\)"),
        (lambda b: b.add([["a", "b", "c"], ["d", "e", "f"]]), "boxes: expected real numbers"),
        (lambda b: b.remove(17), r"ids\[0\] is 17, and there is no such object"),
        (lambda b: b.remove([0, -1]), r"ids\[1\] is -1, and there is no such object"),
        (lambda b: b.remove([0, 0]), "id 0 appears more than once"),
        (lambda b: b.remove(0.5), "ids: expected integers"),
        (lambda b: b.remove([[0]]), "ids: expected integers of shape"),
        (lambda b: b.update([cube(0)]), "there are 1 boxes for 2 objects that can move"),
        (lambda b: b.update([cube(0)], ids=[0, 1]), "there are 1 boxes for 2 ids"),
        (lambda b: b.update([cube(0)], ids=[2]), "object 2 is fixed and cannot be moved"),
        (lambda b: b.update([cube(0), [[0, 0, 3], [1, 1, 1]]]), r"boxes\[1\]"),
        (lambda b: b.update(ids=[0]), "ids without boxes"),
        (lambda b: b.overlapping([cube(0), cube(1)]), r"box: expected shape \(2, 3\)"),
        (lambda b: b.overlapping([[0, 0, np.nan], [1, 1, 1]]), "box is .*nan"),
        (lambda b: b.along_ray([0, 0, 0], [0, 0, 0]), "direction is zero"),
        (lambda b: b.along_ray([0, np.nan, 0], [1, 0, 0]), "origin is .*nan.*must be finite"),
        (lambda b: b.along_ray([0, 0], [1, 0, 0]), r"origin: expected shape \(3,\)"),
        (lambda b: b.along_ray([0, 0, 0], [1, 0, 0], length=-1.0), "length is -1.0"),
        (lambda b: b.along_ray([0, 0, 0], [1, 0, 0], length=np.nan), "length is nan"),
    ],
)
def test_refused_with_the_place_and_nothing_has_changed(call: Any, message: str) -> None:
    broad = BruteForce()
    broad.add([cube(0), cube(1)])
    broad.add(cube(2), fixed=True)
    broad.update()
    with pytest.raises(ValueError, match=message):
        call(broad)
    assert broad.ids.tolist() == [0, 1, 2]
    assert broad.update().persist.tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize("margin", [-1.0, np.nan, np.inf, [1.0]])
def test_margins_that_are_none(margin: Any) -> None:
    with pytest.raises(ValueError, match="margin"):
        BruteForce(margin=margin)


def test_ids_that_are_used_up() -> None:
    broad = BruteForce()
    broad._next_id = MOST_IDS - 1
    assert broad.add(cube(0)) == MOST_IDS - 1
    with pytest.raises(ValueError, match="ids are used up"):
        broad.add(cube(0))
    broad.add(np.empty((0, 2, 3)))


def test_the_largest_ids_fit_into_keys(broad: BroadPhase) -> None:
    broad._next_id = MOST_IDS - 3
    broad.add([cube(0), cube(1), cube(2)])
    assert broad.update().pairs.tolist() == [[MOST_IDS - 3, MOST_IDS - 2], [MOST_IDS - 2, MOST_IDS - 1]]
    assert len(broad.update([cube(0), cube(3), cube(6)]).ended) == 2


def test_a_bool_is_no_id(broad: BroadPhase) -> None:
    """Numpy takes True for 1 where it stands beside numbers."""
    broad.add([cube(0), cube(1), cube(2)])
    for ids in (True, [True], [True, 2], [2, np.True_], np.array([True])):
        with pytest.raises(ValueError, match="ids: expected integers"):
            broad.remove(ids)
    assert len(broad) == 3
