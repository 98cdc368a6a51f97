"""Pairs of nodes by hashing: what was added is found, in its own half only, up to the last free place."""

from __future__ import annotations

from typing import Any

import numpy as np

from impinge.incremental.frame_memory import DONE, MORE_PAIRS, NONE, Frames, Memory
from impinge.incremental.incremental_search import hierarchy_of
from impinge.incremental.sweep.pair_hash import add_pair, find_pair, forget_pairs
from impinge.kernels.jit import kernel
from impinge.lab.scenes.shapes import box

frames_at = Frames.at


@kernel
def add(frames: Any, node_a: Any, node_b: Any) -> Any:
    frames = frames_at(frames)
    return add_pair(frames, frames.now, node_a, node_b)


@kernel
def find(frames: Any, node_a: Any, node_b: Any) -> Any:
    frames = frames_at(frames)
    return find_pair(frames, frames.now, node_a, node_b)


@kernel
def find_before(frames: Any, node_a: Any, node_b: Any) -> Any:
    frames = frames_at(frames)
    return find_pair(frames, frames.before, node_a, node_b)


@kernel
def forget(frames: Any) -> Any:
    frames = frames_at(frames)
    forget_pairs(frames, frames.now)
    return 0


def test_pairs_are_found_again() -> None:
    cube = hierarchy_of(box(1, 1, 1))
    memory = Memory(cube, cube)
    at, room = memory.frames.address, memory.room_for_pairs
    rng = np.random.default_rng(4)
    # Multiples of the number of slots have one hash, so that all of them are in each other's way.
    alike = [(256 * i, 0) for i in range(room // 2)]
    others = [(a, b) for a, b in rng.integers(1, 10**6, size=(room - len(alike), 2)).tolist()]
    pairs = alike + others
    for number, (a, b) in enumerate(pairs):
        assert find(at, a, b) == NONE
        assert add(at, a, b) == DONE
        assert memory.frames.now.pairs == number + 1
    assert add(at, 1, 0) == MORE_PAIRS
    assert memory.frames.now.pairs == room
    assert [find(at, a, b) for a, b in pairs] == list(range(room, 2 * room))
    assert {find_before(at, a, b) for a, b in pairs} == {NONE}
    assert find(at, 0, 256) == NONE
    forget(at)
    assert memory.frames.now.pairs == 0
    assert {find(at, a, b) for a, b in pairs} == {NONE}
