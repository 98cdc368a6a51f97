"""The traversal: where the versions of its generic functions are, and the order in which pairs are opened."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

import impinge
from impinge.bvh import leaf_operations, open_pairs, traverse
from impinge.bvh.layout import WIDTH
from impinge.bvh.search import TreeSearch
from impinge.bvh.volumes.obb import OBBTree
from impinge.bvh.workspace import Results, TraversalWorkspace
from impinge.kernels import jit
from impinge.lab.scenes import tori

SOURCES = Path(impinge.__file__).parent


def from_python(function: Any) -> Any:
    """Functions of the kernels have no entry from Python: compile them once more, with one."""
    return function if jit.config.DISABLE_JIT else numba.njit(error_model="numpy")(function.py_func)


push_children = from_python(open_pairs.push_children)
pop_heap = from_python(open_pairs.pop_heap)


class Pairs(NamedTuple):
    """The part of a workspace that open pairs use."""

    refs: Any
    bounds: Any
    lanes: Any


def no_pairs(room: int) -> Pairs:
    return Pairs(
        np.zeros((room, 2), dtype=np.int32), np.zeros(room, dtype=np.float32), np.zeros(WIDTH, dtype=np.float32)
    )


@pytest.mark.parametrize("module", [traverse, leaf_operations])
def test_the_docstring_names_every_file_with_a_version_of_a_generic_function(module: Any) -> None:
    """The compiler chooses the version, so a search for callers finds nothing: a reader needs the table."""
    for path in SOURCES.rglob("*.py"):
        registered = set(re.findall(r"\b(candidates|visit)\.of\((\w+)\)", path.read_text(encoding="utf-8")))
        if registered:
            place = ".".join(path.relative_to(SOURCES / "bvh").with_suffix("").parts)
            assert place == module.__name__.split(".")[-1] or f"``{place}``" in module.__doc__
            assert {name for name, _ in registered} == {"candidates", "visit"}


def test_children_are_pushed_with_the_nearest_on_top() -> None:
    rng = np.random.default_rng(1)
    for bits in (0, 1, 0b10000000, 0b01101101, 0b11111111):
        work = no_pairs(20)
        work.bounds[:3] = -1.0
        work.lanes[:] = rng.integers(0, 4, WIDTH)
        height = push_children(work, 5, 77, bits, 1, 3, False)
        slots = [k for k in range(WIDTH) if bits >> k & 1]
        assert height == 3 + len(slots)
        assert work.bounds[3:height].tolist() == sorted((work.lanes[slots]).tolist(), reverse=True)
        assert sorted(work.refs[3:height, 1].tolist()) == [5 * WIDTH + k for k in slots]
        assert set(work.refs[3:height, 0].tolist()) <= {77}
        for ref, bound in zip(work.refs[3:height, 1].tolist(), work.bounds[3:height].tolist(), strict=True):
            assert work.lanes[ref - 5 * WIDTH] == bound


def test_the_heap_gives_the_nearest_pair_first() -> None:
    rng = np.random.default_rng(2)
    for nodes in (1, 2, 9):
        work = no_pairs(WIDTH * nodes)
        height = 0
        bound_of: dict[int, float] = {}
        for node in range(nodes):
            work.lanes[:] = rng.integers(0, 6, WIDTH)
            bound_of |= {node * WIDTH + k: float(work.lanes[k]) for k in range(WIDTH)}
            height = push_children(work, node, node + 100, 255, 0, height, True)
        taken = []
        while height > 0:
            height -= 1
            pop_heap(work, height)
            ref, far_ref = work.refs[height].tolist()
            assert far_ref == ref // WIDTH + 100
            assert bound_of.pop(ref) == work.bounds[height]
            taken.append(float(work.bounds[height]))
        assert taken == sorted(taken)
        assert not bound_of


@pytest.mark.parametrize("name", ["collides", "contacts", "distance"])
def test_a_traversal_in_steps_of_one_comparison_ends_like_one_in_a_single_run(name: str) -> None:
    scene = tori.scene(count=4)
    tree = OBBTree.of(scene.fixed)
    search = TreeSearch(tree, tree)
    for pose in scene.poses[[0, 3]]:
        ended = []
        for step in (1, 1 << 40):
            work = TraversalWorkspace()
            work.begin(search._a.stack + search._b.stack)
            answers, values = np.zeros(1, dtype=np.int8), np.zeros(1)
            results = Results(answers, values, np.zeros((1, 2, 3)), np.zeros((1, 2), dtype=np.int32))
            work.ask(np.eye(4)[None], pose[None], results)
            kernel = search._kernel(name, work)
            runs = 0
            while True:
                work.allow(step)
                runs += 1
                if kernel() >= 0:
                    break
            assert (runs > 1) == (step == 1)
            found = np.sort(work.take_pairs()).tobytes()
            ended.append((answers.tobytes(), values.tobytes(), found, work.tests()))
        assert ended[0] == ended[1]
