"""The traversal: where the versions of its generic functions are, and which pairs it opens and visits, in which order.

A leaf operation of this file draws the distances of triangles by lot and takes smallest ones as bounds of volumes: the
traversal must find its way in any such tables, from scratch, best first, or along a front.  With real volumes and
triangles the answers are compared with brute force in ``test_search`` and ``test_front``.
"""

from __future__ import annotations

import re
from itertools import count, cycle, repeat
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

import impinge
from impinge.bvh import leaves, open_pairs, traverse
from impinge.bvh.answers import UNFINISHED
from impinge.bvh.front import CONTACTS, SWEEP, choose_mode, finish
from impinge.bvh.layout import EMPTY, WIDTH
from impinge.bvh.leaves.distance_leaves import set_reach
from impinge.bvh.leaves.posed_triangles import place_of
from impinge.bvh.questions import out_of_budget
from impinge.bvh.search import TreeSearch
from impinge.bvh.tree import Tree
from impinge.bvh.tree_handle import TreeHandle, obb_body
from impinge.bvh.volumes.obb import OBBTree
from impinge.bvh.workspace import BEST_FIRST, Results, TraversalWorkspace, work_at
from impinge.kernels.lanes import lowest_bit
from impinge.kernels.mode import without_compiler
from impinge.lab.scenes import tori

SOURCES = Path(impinge.__file__).parent


def from_python(function: Any) -> Any:
    """Functions of the kernels have no entry from Python: compile them once more, with one."""
    return function if without_compiler() else numba.njit(error_model="numpy")(function.py_func)


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


@pytest.mark.parametrize("module", [traverse, leaves])
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


# ------------------------------------------------------------- a leaf operation that knows the answers


ALL, NEAREST, FIRST = 0, 1, 2


class Drawn(NamedTuple):
    """Distances that were drawn by lot instead of measured, and a record of all that the traversal does."""

    bounds: Any
    """(slots of a, slots of b) a lower bound of all distances below."""
    distances: Any
    """(triangles of a, triangles of b) by place in the tree."""
    opened: Any
    """(n, 4): node of near, slot of far, side, whether best first."""
    visits: Any
    """How often each pair of triangles was visited."""
    found: Any
    """(0) pairs in reach; (1) rows of ``opened``; (2) pairs after which the leaf operation says stop, each time."""
    seeks: Any
    """ALL pairs in reach; the NEAREST, where the reach becomes that of the best so far; or the FIRST that is found."""


@traverse.candidates.of(Drawn)
def _in_drawn_reach(leaf, near, far, node, far_ref, side, work):
    leaf.opened[leaf.found[1], 0] = node
    leaf.opened[leaf.found[1], 1] = far_ref
    leaf.opened[leaf.found[1], 2] = side
    leaf.opened[leaf.found[1], 3] = work.heap_left > 0
    leaf.found[1] += 1
    unit = near.unit if side == 0 else far.unit
    bits = np.int64(0)
    for k in range(WIDTH):
        ref = node * WIDTH + k
        local = (leaf.bounds[ref, far_ref] if side == 0 else leaf.bounds[far_ref, ref]) / unit
        work.lanes[k] = np.float32(local * local)
        if work.lanes[k] <= work.local_reach[0]:
            bits |= np.int64(1) << k
    return bits


@traverse.visit.of(Drawn)
def _visit_drawn(leaf, near, far, node, slots, far_ref, side, work):
    there = place_of(far, far_ref)
    before = leaf.found[0]
    while slots != 0:
        k = lowest_bit(slots)
        slots &= slots - 1
        here = place_of(near, node * WIDTH + k)
        one, other = (here, there) if side == 0 else (there, here)
        leaf.visits[one, other] += 1
        distance = leaf.distances[one, other]
        work.corner_lanes[k] = np.float32((distance / near.unit) * (distance / near.unit))
        if distance <= work.reach:
            leaf.found[0] += 1
            if leaf.seeks == NEAREST:
                set_reach(work, side, distance, near.unit, far.unit)
    return leaf.found[0] // leaf.found[2] > before // leaf.found[2]


def _run(leaf, address_a, address_b, address_work, reach, best_first):
    """What the templates of ``questions`` do: begin, or go on; then traverse."""
    a, b, work = obb_body(address_a), obb_body(address_b), work_at(address_work)
    if not work.resumed:
        choose_mode(work)
        set_reach(work, 0, reach, a.unit, b.unit)
        if work.mode == SWEEP:
            work.open_count = 0
            work.heap = 0
            work.heap_left = 0
        else:
            open_pairs.start(work, best_first)
    answered = traverse.traverse(leaf, a, b, work)
    if out_of_budget(work, answered, 0):
        return UNFINISHED
    if answered and leaf.seeks != FIRST:
        work.resumed = True
        return 1
    finish(work, CONTACTS)
    return 0


run_kernel = _run if without_compiler() else numba.njit(error_model="numpy")(_run)
NEVER = 1 << 40
STACK, HEAP_ONLY = 0, 1 << 30


class Search:
    """Two trees, distances of their triangles drawn by lot, and a workspace."""

    def __init__(self, trees: tuple[Tree, Tree], distances: Any, front: int = 0) -> None:
        self.trees = trees
        self.handles = TreeHandle(trees[0]), TreeHandle(trees[1])
        self.distances = distances
        self.work = TraversalWorkspace(front)
        # Nodes best first leave up to seven more open pairs each, and here there is no limit to them.
        nodes = len(trees[0].slots) * len(trees[1].child) + len(trees[1].slots) * len(trees[0].child)
        self.work.begin(self.handles[0].stack + self.handles[1].stack + WIDTH * nodes)
        self.work.motions[0].scale = trees[1].unit / trees[0].unit
        self.new_pose()

    def new_pose(self) -> None:
        """Nothing is known but the front."""
        self.leaf = Drawn(
            smallest_below(*self.trees, self.distances),
            self.distances,
            np.zeros((1 << 15, 4), dtype=np.int64),
            np.zeros(self.distances.shape, dtype=np.int64),
            np.zeros(3, dtype=np.int64),
            np.int64(ALL),
        )

    def run(
        self, reach: float, best_first: int = STACK, budgets: Any = None, stops: int = NEVER, seeks: int = ALL
    ) -> list[tuple[int, ...]]:
        """Run to the end, and return what was opened; ``budgets`` are comparisons of volumes for one call each."""
        self.leaf.found[2] = stops if seeks != FIRST else 1
        leaf = self.leaf._replace(seeks=np.int64(seeks))
        ended = 2
        calls = 0
        while ended != 0:
            self.work.allow(next(budgets) if budgets else NEVER)
            ended = run_kernel(leaf, *(handle.address for handle in self.handles), self.work.address, reach, best_first)
            calls += 1
            assert ended in (0, 1, UNFINISHED)
            assert calls < 1 << 15
        self.calls = calls
        return [tuple(row) for row in self.leaf.opened[: self.leaf.found[1]].tolist()]


def places_below(tree: Tree, ref: int) -> list[int]:
    """Places of the triangles below a slot."""
    entry = int(tree.child[ref])
    if entry == EMPTY:
        return []
    return [~entry] if entry < 0 else [i for k in range(WIDTH) for i in places_below(tree, entry * WIDTH + k)]


def smallest_below(a: Tree, b: Tree, distances: Any) -> Any:
    """(slots of a, slots of b) the smallest distance of triangles below; infinite where there are none."""
    bounds = np.full((len(a.child), len(b.child)), np.inf)
    below_b = [places_below(b, ref) for ref in range(len(b.child))]
    for ref in range(len(a.child)):
        if rows := places_below(a, ref):
            nearest = distances[rows].min(axis=0)
            bounds[ref] = [nearest[columns].min() if columns else np.inf for columns in below_b]
    return bounds


def soup_tree(rng: np.random.Generator, count: int, size: float) -> OBBTree:
    corners = rng.random((count, 1, 3)) * size + rng.normal(size=(count, 3, 3)) * 0.2 * size
    return OBBTree(impinge.Mesh(corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3)))


SIZES = [(1, 1, 1.0), (1, 30, 1.0), (25, 1, 0.01), (20, 24, 1.0), (12, 30, 30.0), (9, 8, 0.1)]
"""Triangles of a and b, and how large b is: it decides which of two volumes is opened."""


def drawn(rng: np.random.Generator, trees: tuple[Tree, Tree]) -> Any:
    return rng.random((len(trees[0].order), len(trees[1].order))) * 8.0


@pytest.fixture(scope="module", params=SIZES, ids=lambda size: f"{size[0]} and {size[1]} triangles, {size[2]:g}")
def trees(request: pytest.FixtureRequest) -> tuple[Tree, Tree]:
    rng = np.random.default_rng([5, *map(int, request.param[:2])])
    return soup_tree(rng, request.param[0], 1.0), soup_tree(rng, request.param[1], request.param[2])


@pytest.mark.parametrize("best_first", [STACK, 1, 3, HEAP_ONLY])
def test_every_pair_in_reach_is_visited_once(trees: tuple[Tree, Tree], best_first: int) -> None:
    rng = np.random.default_rng(6)
    for reach in (0.0, 0.05, 1.0, 4.0, 9.0):
        search = Search(trees, drawn(rng, trees))
        opened = search.run(reach, best_first)
        wanted = search.distances <= reach
        assert (search.leaf.visits[wanted] == 1).all()
        assert search.leaf.visits.max(initial=0) <= 1
        assert search.leaf.found[0] == wanted.sum()
        # No volumes are compared twice, and none below a pair that is out of reach.
        assert len({row[:3] for row in opened}) == len(opened)
        assert opened[0][:3] == (0, 0, 0)
        if not wanted.any():
            assert len(opened) == 1  # the roots, which are out of reach
        if reach == 9.0:
            assert (search.leaf.visits == 1).all()


def test_the_larger_volume_is_opened(trees: tuple[Tree, Tree]) -> None:
    """A pair is taken apart on one side only: on the side of the smaller volume only where the larger is a triangle."""
    search = Search(trees, drawn(np.random.default_rng(7), trees))
    opened = search.run(9.0)
    parents = [{entry: ref for ref, entry in enumerate(tree.child.tolist()) if entry > 0} for tree in trees]
    assert len(opened) > 1 or max(len(tree.order) for tree in trees) == 1
    for node, far_ref, side, _ in opened[1:]:
        near, far = (trees[0], trees[1]) if side == 0 else (trees[1], trees[0])
        near_size, far_size = extent(near, parents[side][node]), extent(far, far_ref)
        assert far.child[far_ref] < 0 or near_size >= far_size * (1.0 - 1e-6)


def extent(tree: Tree, ref: int) -> float:
    """The size of a volume as the traversal compares it, by the kernels of the volume, in world units."""
    body = TreeHandle(tree).address
    return float(size_kernel(body, ref)) * tree.unit


def _size(address, ref):
    return traverse.size_of(obb_body(address), ref)


size_kernel = _size if without_compiler() else numba.njit(error_model="numpy")(_size)


def test_best_first_opens_in_order_of_bounds_and_nothing_beyond_the_nearest(trees: tuple[Tree, Tree]) -> None:
    rng = np.random.default_rng(8)
    for _ in range(3):
        search = Search(trees, drawn(rng, trees))
        nearest = search.distances.min()
        opened = search.run(100.0, HEAP_ONLY, seeks=NEAREST)
        assert search.work.reach == nearest
        bounds = [bound_of(search, row) for row in opened[1:]]
        assert bounds == sorted(bounds)
        assert all(bound <= nearest for bound in bounds)
        # Depth first finds the same, and may open more, never less than what is nearer than the nearest.
        deep = Search(trees, search.distances)
        others = deep.run(100.0, STACK, seeks=NEAREST)
        assert deep.work.reach == nearest
        assert {row[:3] for row in opened if bound_of(search, row) < nearest} <= {row[:3] for row in others}


def bound_of(search: Search, row: tuple[int, ...]) -> float:
    """The bound of the pair that was opened: the smallest of its children's."""
    node, far_ref, side, _ = row
    children = slice(node * WIDTH, node * WIDTH + WIDTH)
    bounds = search.leaf.bounds[children, far_ref] if side == 0 else search.leaf.bounds[far_ref, children]
    return float(bounds.min())


def test_only_so_many_volumes_are_opened_best_first(trees: tuple[Tree, Tree]) -> None:
    for best_first in (0, 1, 4, BEST_FIRST):
        opened = Search(trees, drawn(np.random.default_rng(9), trees)).run(9.0, best_first)
        assert sum(row[3] for row in opened) == min(best_first, len(opened))
        assert [row[3] for row in opened] == sorted((row[3] for row in opened), reverse=True)


@pytest.mark.parametrize("best_first", [STACK, 4, HEAP_ONLY])
def test_any_budgets_open_the_same_pairs_in_the_same_order(trees: tuple[Tree, Tree], best_first: int) -> None:
    distances = drawn(np.random.default_rng(10), trees)
    for seeks, reach in ((ALL, 1.0), (NEAREST, 100.0), (FIRST, 3.0)):
        whole = Search(trees, distances)
        expected = whole.run(reach, best_first, seeks=seeks)
        assert whole.calls == 1
        stepwise = Search(trees, distances)
        stepwise.run(reach, best_first, repeat(1), seeks=seeks)
        assert stepwise.calls in (len(expected), len(expected) + 1)  # every opening is a call
        for budgets in (repeat(1), count(1), cycle((1, 2, 3)), cycle((7, 1, 30))):
            search = Search(trees, distances)
            assert search.run(reach, best_first, budgets, seeks=seeks) == expected
            assert np.array_equal(search.leaf.visits, whole.leaf.visits)
            assert search.work.tests() == whole.work.tests()


@pytest.mark.parametrize("stops", [1, 2, 5])
def test_a_leaf_operation_that_says_stop_loses_nothing(trees: tuple[Tree, Tree], stops: int) -> None:
    distances = drawn(np.random.default_rng(11), trees)
    whole = Search(trees, distances)
    expected = whole.run(2.0)
    search = Search(trees, distances)
    assert search.run(2.0, budgets=cycle((NEVER, 3)), stops=stops) == expected
    assert np.array_equal(search.leaf.visits, whole.leaf.visits)
    assert search.calls > 1 or whole.leaf.found[0] < stops


@pytest.mark.parametrize("budgets", [None, 1, 5])
def test_along_a_front_nothing_in_reach_is_missed(trees: tuple[Tree, Tree], budgets: int | None) -> None:
    """Distances change by lot, by no more than what the bodies are said to have moved; one front serves all queries."""
    rng = np.random.default_rng(12)
    search = Search(trees, drawn(rng, trees), front=1 << 12)
    modes = []
    for pose in range(40):
        seeks = int(rng.choice([ALL, NEAREST, FIRST]))
        reach = 100.0 if seeks == NEAREST else float(rng.choice([0.0, 0.3, 1.0, 6.0]))
        before = int(search.work.front_size)
        search.run(reach, budgets=repeat(budgets) if budgets else None, seeks=seeks)
        modes.append(int(search.work.mode))
        wanted = search.distances <= reach
        assert search.leaf.visits.max(initial=0) <= 1
        if seeks == ALL:
            assert (search.leaf.visits[wanted] == 1).all(), pose
        elif seeks == NEAREST:
            assert search.work.reach == search.distances.min(), pose
        else:
            assert (search.leaf.found[0] > 0) == wanted.any(), pose
        assert (modes[-1] == SWEEP) == (before >= 0)
        step = float(rng.choice([0.0, 1e-3, 0.2]))
        search.distances = np.maximum(search.distances + rng.uniform(-step, step, search.distances.shape), 0.0)
        search.work.moved += step
        search.new_pose()
    assert modes.count(SWEEP) > 0


def test_pairs_that_a_front_left_closed_are_opened_once() -> None:
    """Pairs that were never compared, since something nearer was found first, come into reach one after the other."""
    rng = np.random.default_rng(15)
    large = soup_tree(rng, 90, 1.0), soup_tree(rng, 80, 1.0)
    search = Search(large, drawn(rng, large) + 1.0, front=1 << 14)
    for _ in range(2):  # the second time it makes the front
        search.run(100.0, seeks=NEAREST)
        search.new_pose()
    left = np.sort(search.distances, axis=None)
    for place in (1, 3, 8, 15, 15, 30):
        search.work.plain_tests[:] = 0  # not known: so the front is never found not to pay
        search.run(float(left[place]))
        assert search.work.mode == SWEEP
        assert search.leaf.found[0] == place + 1
        assert search.leaf.visits.max() == 1
        search.new_pose()


def test_a_front_at_rest_opens_nothing_that_is_out_of_reach(trees: tuple[Tree, Tree]) -> None:
    """Where no distance is in reach, and none has changed, one look along the list is all."""
    rng = np.random.default_rng(13)
    search = Search(trees, drawn(rng, trees) + 1.0, front=1 << 12)
    for _ in range(2):
        search.run(0.5)
        search.new_pose()
    assert search.run(0.5) == []
    assert search.work.mode == SWEEP


def test_the_same_again_is_the_same(trees: tuple[Tree, Tree]) -> None:
    distances = drawn(np.random.default_rng(14), trees)
    for front in (0, 1 << 12):
        runs = []
        for _ in range(2):
            search = Search(trees, distances, front)
            opened = []
            for _ in range(4):
                opened.append(search.run(2.0, 4))
                search.new_pose()
            runs.append(opened)
        assert runs[0] == runs[1]
