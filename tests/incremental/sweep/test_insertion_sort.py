"""Both sorts of a list of items: by low ends, stable from scratch, and counted where the last order is mended."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from impinge.incremental.frame_memory import Frames, Memory
from impinge.incremental.hierarchy.box_hierarchy import box_hierarchy
from impinge.incremental.hierarchy.box_updates import hierarchy_at
from impinge.incremental.hierarchy.options import Hierarchy
from impinge.incremental.hierarchy.posed_hierarchy import LOW
from impinge.incremental.sweep.insertion_sort import mend_order
from impinge.incremental.sweep.item_list import ItemList
from impinge.incremental.sweep.merge_sort import sort_anew
from impinge.kernels.jit import kernel
from impinge.lab.scenes.shapes import torus

AXIS = 1
BEGIN = 5

frames_at = Frames.at


@kernel
def anew(a: Any, b: Any, frames: Any) -> Any:
    a, b, frames = hierarchy_at(a), hierarchy_at(b), frames_at(frames)
    sort_anew(frames, a, b, ItemList(BEGIN, a.nodes, a.entries, b.nodes, b.entries), AXIS)
    return 0


@kernel
def mend(a: Any, b: Any, frames: Any) -> Any:
    a, b, frames = hierarchy_at(a), hierarchy_at(b), frames_at(frames)
    mend_order(frames, a, b, ItemList(BEGIN, a.nodes, a.entries, b.nodes, b.entries), AXIS)
    return 0


def memory_with(values: NDArray[np.float64], count: int) -> Memory:
    """The first ``count`` low ends are those of a, the others those of b."""
    ring = box_hierarchy(torus(1.0, 0.3, 4, 4), options=Hierarchy(levels=0))
    memory = Memory(ring, ring)
    assert (memory.a.entries, memory.b.entries) == (count, len(values) - count)
    memory.a.boxes[memory.a.nodes :, LOW, AXIS] = values[:count]
    memory.b.boxes[memory.b.nodes :, LOW, AXIS] = values[count:]
    return memory


def order_in(memory: Memory, count: int) -> list[int]:
    order: list[int] = memory.frames.items[BEGIN : BEGIN + count].tolist()
    return order


@pytest.mark.parametrize("different", [1, 5, 1000])
def test_from_scratch(different: int) -> None:
    values = np.random.default_rng(different).integers(0, different, size=64).astype(np.float64)
    memory = memory_with(values, 32)
    anew(memory.a.address, memory.b.address, memory.frames.address)
    assert order_in(memory, 64) == np.argsort(values, kind="stable").tolist()


def test_an_order_is_mended_by_neighbours_that_change_places() -> None:
    values = np.arange(64.0)
    memory = memory_with(values, 32)
    order = np.arange(64)
    order[[10, 11]], order[[40, 43]] = order[[11, 10]], order[[43, 40]]
    memory.frames.items[BEGIN : BEGIN + 64] = order
    mend(memory.a.address, memory.b.address, memory.frames.address)
    assert order_in(memory, 64) == list(range(64))
    assert memory.frames.effort.exchanges == 1 + 5  # inversions


def test_an_order_that_is_lost_takes_few_exchanges() -> None:
    memory = memory_with(np.arange(64.0), 32)
    memory.frames.items[BEGIN : BEGIN + 64] = np.arange(64)[::-1]
    mend(memory.a.address, memory.b.address, memory.frames.address)
    assert order_in(memory, 64) == list(range(64))
    assert 8 * 64 < memory.frames.effort.exchanges < 9 * 64  # of 64 * 63 / 2
