"""A KeyboardInterrupt at every line of an update, an addition or a removal: the next answers are right."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from impinge.arrays import Floats
from impinge.broadphase.broad_phase import BroadPhase
from impinge.broadphase.changes import Changes
from impinge.broadphase.choice import MEMBERS, broad_phase
from impinge.lab.interruption import interruptions

Pairs = set[tuple[int, int]]
COUNT, FIXED = 40, 5


def boxes(seed: int, count: int = COUNT, spread: float = 3.0) -> Floats:
    low = np.random.default_rng(seed).uniform(0.0, spread, (count, 3))
    return np.stack([low, low + 1.0], axis=1)


def crowd(name: str) -> BroadPhase:
    broad = broad_phase(name)
    broad.add(boxes(0))
    broad.add(boxes(1, FIXED), fixed=True)
    return broad


def overlapping(broad: BroadPhase) -> Pairs:
    """All pairs of the boxes as they are now."""
    low, high = broad.boxes[:, 0], broad.boxes[:, 1]
    meet = np.triu(((low[:, None] <= high) & (low <= high[:, None])).all(axis=2), k=1)
    fixed = (broad.ids >= COUNT) & (broad.ids < COUNT + FIXED)
    meet &= ~(fixed[:, None] & fixed)
    return {(int(broad.ids[i]), int(broad.ids[j])) for i, j in np.argwhere(meet)}


def as_set(pairs: Any) -> Pairs:
    return set(map(tuple, pairs.tolist()))


def require_right(broad: BroadPhase, before: Pairs) -> Pairs:
    """Queries, and an update that moves nothing; returns its pairs."""
    assert len(broad) == len(broad.ids) == len(broad.boxes)
    probe = np.array([[1.0, 1.0, 1.0], [1.5, 1.5, 1.5]])
    near = ((broad.boxes[:, 0] <= probe[1]) & (broad.boxes[:, 1] >= probe[0])).all(axis=1)
    assert broad.overlapping(probe).tolist() == broad.ids[near].tolist()
    hit = ((broad.boxes[:, 0, 1:] <= 1.0) & (broad.boxes[:, 1, 1:] >= 1.0)).all(axis=1) & (broad.boxes[:, 1, 0] >= 0.0)
    assert set(broad.along_ray([0.0, 1.0, 1.0], [1.0, 0.0, 0.0]).tolist()) == set(broad.ids[hit].tolist())
    assert as_set(broad.pairs) == before
    changes, now = broad.update(), overlapping(broad)
    assert as_set(changes.pairs) == as_set(broad.pairs) == now
    assert as_set(changes.began) == now - before
    assert as_set(changes.ended) == before - now
    assert as_set(changes.persist) == now & before
    return now


def moving_all(broad: BroadPhase, seed: int) -> Changes:
    """Much or little, so that lists are made anew or kept."""
    return broad.update(boxes(seed) if seed % 3 == 0 else broad.boxes[:COUNT] + 0.01 * (seed % 5))


def moving_some(broad: BroadPhase, seed: int) -> Changes:
    return broad.update(boxes(seed, 3), ids=[1, 5, 7])


def coming_and_going(broad: BroadPhase, seed: int) -> Changes:
    broad.add(boxes(seed, 1))
    broad.remove(broad.ids[seed % 20])
    return broad.update()


@pytest.mark.nojit_slow
@pytest.mark.parametrize("call", [moving_all, moving_some, coming_and_going])
@pytest.mark.parametrize("name", MEMBERS)
def test_an_update_may_be_interrupted(name: str, call: Callable[[BroadPhase, int], Changes]) -> None:
    broad = crowd(name)
    for seed in (0, 1, 2):
        call(broad, seed)  # whatever has to be compiled is compiled
        broad.update()
    before = require_right(broad, as_set(broad.update().pairs))
    seeds = itertools.count(3)
    interrupted = 0
    for changes in interruptions(lambda: call(broad, next(seeds))):
        interrupted += 1
        before = require_right(broad, before if changes is None else as_set(changes.pairs))
    assert interrupted > 10


def adding(broad: BroadPhase) -> Any:
    return broad.add(boxes(3, 2), fixed=True)


def removing(broad: BroadPhase) -> None:
    broad.remove([3, COUNT])


@pytest.mark.parametrize("edit", [adding, removing])
@pytest.mark.parametrize("name", MEMBERS)
def test_objects_come_or_go_as_a_whole(name: str, edit: Callable[[BroadPhase], Any]) -> None:
    crowds = [crowd(name), crowd(name)]
    before = crowds[0].ids.tolist()
    edit(crowds[0])
    after = crowds[0].ids.tolist()
    for _ in interruptions(lambda: edit(crowds[-1])):
        broad = crowds[-1]
        assert broad.ids.tolist() in (before, after)
        assert len(broad.boxes) == len(broad.ids)
        movable = int(np.count_nonzero(broad.ids < COUNT))  # which is known from another number than the ids
        broad.update(boxes(4, movable))
        latest = max(before + broad.ids.tolist())
        assert broad.add(boxes(5, 1)).tolist() == [latest + 1]
        crowds.append(crowd(name))
