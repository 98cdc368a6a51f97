"""The front covers all pairs of triangles, with bounds that hold, whatever is asked along whatever path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from impinge import Mesh
from impinge.bvh import search as tree_search
from impinge.bvh.answers import MEETING
from impinge.bvh.front import OPENED, PAIR, TRIANGLES
from impinge.bvh.layout import EMPTY, WIDTH
from impinge.bvh.open_pairs import ABOVE_ROOT
from impinge.bvh.search import TreeSearch
from impinge.bvh.tree import Tree
from impinge.bvh.volumes.aabb import AABBTree
from impinge.bvh.volumes.obb import OBBTree
from impinge.bvh.volumes.sphere import SphereTree
from impinge.bvh.workspace import TraversalWorkspace
from impinge.geometry.pose import posed_vertices
from impinge.geometry.triangles.distance import triangle_distances
from impinge.lab.hard_input import random_pose

SIDE, KIND = WIDTH, WIDTH + 1
QUESTIONS = ("collides", "contact_pairs", "distance", "closer_than")


def soup(rng: np.random.Generator, count: int, size: float) -> Mesh:
    corners = rng.random((count, 1, 3)) * 4.0 + rng.normal(size=(count, 3, 3)) * size
    return Mesh(corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))


def below(tree: Tree, ref: int) -> list[int]:
    """The faces below a slot."""
    if ref == ABOVE_ROOT:
        return below(tree, 0)
    entry = int(tree.child[ref])
    if entry == EMPTY:
        return []
    if entry < 0:
        return [int(tree.order[~entry])]
    return [face for slot in range(WIDTH) for face in below(tree, entry * WIDTH + slot)]


def covered(work: TraversalWorkspace, a: Tree, b: Tree) -> Iterator[tuple[int, int, float]]:
    """Face of a, face of b and lower bound of their distance, for all pairs that the front covers."""
    for entry in range(int(work.front_size)):
        first, second, code = (int(number) for number in work.front_refs[entry])
        bound = float(work.front_keys[entry] - work.moved)
        kind = code >> KIND
        if kind == PAIR:
            near, far, near_refs, far_ref, side = a, b, [first], second, 0
        else:
            side = (code >> SIDE) & 1
            near, far = (a, b) if side == 0 else (b, a)
            near_refs = [first * WIDTH + slot for slot in range(WIDTH) if code >> slot & 1]
            far_ref = second
            assert kind in (OPENED, TRIANGLES)
        for near_ref in near_refs:
            for one in below(near, near_ref):
                for other in below(far, far_ref):
                    yield (one, other, bound) if side == 0 else (other, one, bound)


def distances(a: Mesh, b: Mesh, pose: NDArray[np.float64]) -> Any:
    """(n, m) between all triangles."""
    ours = np.repeat(a.triangles, len(b.faces), axis=0)
    theirs = np.tile(posed_vertices(pose, b.triangles.reshape(-1, 3)).reshape(-1, 3, 3), (len(a.faces), 1, 1))
    return triangle_distances(ours, theirs)[0].reshape(len(a.faces), len(b.faces))


def ask(search: TreeSearch, question: str, pose: NDArray[np.float64], clearance: float) -> Any:
    at = np.eye(4)[None], pose[None]
    if question == "closer_than":
        return search.closer_than(clearance, *at).tolist()
    if question == "collides":
        return (search.collides(*at) == MEETING).tolist()  # how far apart is a hint only
    answer = getattr(search, question)(*at)
    return answer[0].tolist() if question == "distance" else answer.tolist()


def small_step(rng: np.random.Generator, size: float) -> NDArray[np.float64]:
    step = np.eye(4)
    angle = rng.normal() * size
    i, j = rng.permutation(3)[:2]
    step[i, i] = step[j, j] = np.cos(angle)
    step[i, j], step[j, i] = -np.sin(angle), np.sin(angle)
    step[:3, 3] = rng.normal(size=3) * size
    return step


@pytest.mark.nojit_slow
@pytest.mark.parametrize("kind", [OBBTree, AABBTree, SphereTree])
@pytest.mark.parametrize("step_size", [1e-4, 1e-2, 0.3])
def test_a_front_covers_everything(kind: type[Tree], step_size: float) -> None:
    rng = np.random.default_rng(int(1000 * step_size))
    swept = 0
    for _ in range(4):
        meshes = soup(rng, 40, 0.2), soup(rng, 30, 0.3)
        a, b = kind(meshes[0]), kind(meshes[1])
        work = TraversalWorkspace(front=1 << 12)
        coherent, scratch = TreeSearch(a, b, work), TreeSearch(a, b)
        pose = random_pose(rng)
        pose[:3, 3] = rng.normal(size=3) * 3.0
        for _ in range(25):
            pose = small_step(rng, step_size) @ pose
            for question in rng.permutation(QUESTIONS)[:2]:
                clearance = float(rng.random())
                assert ask(coherent, question, pose, clearance) == ask(scratch, question, pose, clearance), question
            if work.front_size < 0:
                continue
            swept += 1
            truth = distances(*meshes, pose)
            seen = np.zeros(truth.shape, dtype=np.int64)
            for face_a, face_b, bound in covered(work, a, b):
                seen[face_a, face_b] += 1
                assert not bound > truth[face_a, face_b]
            assert (seen == 1).all()
    assert swept > 10


@pytest.mark.nojit_slow
@pytest.mark.parametrize("front", [0, 4, 1 << 12])
def test_answers_and_work_do_not_depend_on_where_a_kernel_stops(front: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the middle of a pose, between two poses, while a front is made or walked along, and when it is full."""
    rng = np.random.default_rng(front)
    a, b = OBBTree(soup(rng, 120, 0.2)), OBBTree(soup(rng, 100, 0.2))
    pose = random_pose(rng)
    path = [pose]
    for _ in range(11):
        path.append(small_step(rng, 0.02) @ path[-1])
    at_rest = np.tile(np.eye(4), (12, 1, 1))
    for offset in (0.0, 1.2, 1.6, 3.0, 1e4):
        poses = np.array(path)
        poses[:, 0, 3] += offset

        def answers(poses: NDArray[np.float64] = poses) -> list[NDArray[np.generic]]:
            search = TreeSearch(a, b, TraversalWorkspace(front) if front else None)
            found: list[NDArray[np.generic]] = []
            for _ in range(2):
                for results in (
                    (search.collides(at_rest, poses),),
                    (search.contact_pairs(at_rest, poses),),
                    search.distance(at_rest, poses),
                    (search.closer_than(0.05, at_rest, poses),),
                    (search.contact_pairs(at_rest, poses, most=3),),
                ):
                    taken = search.statistics
                    found += [*results, np.array([taken.box_tests, taken.triangle_tests])]
            return found

        with monkeypatch.context() as patch:
            patch.setattr(tree_search, "AT_ONCE", 1 << 40)
            patch.setattr(tree_search, "_FIRST_POSES", 1 << 40)
            at_once = answers()
        for tests, first in ((1, 1), (7, 5), (100, 2)):
            with monkeypatch.context() as patch:
                patch.setattr(tree_search, "AT_ONCE", tests)
                patch.setattr(tree_search, "_FIRST_POSES", first)
                assert all(map(np.array_equal, answers(), at_once)), (offset, tests)


def test_along_a_smooth_path_little_is_compared_again() -> None:
    rng = np.random.default_rng(4)
    meshes = soup(rng, 400, 0.1), soup(rng, 300, 0.1)
    a, b = OBBTree(meshes[0]), OBBTree(meshes[1])
    path = np.tile(np.eye(4), (100, 1, 1))
    path[:, 0, 3] = 5.0 - 0.001 * np.arange(100)
    at_rest = np.tile(np.eye(4), (100, 1, 1))
    for question in ("collides", "distance"):
        coherent, scratch = TreeSearch(a, b, TraversalWorkspace(front=1 << 12)), TreeSearch(a, b)
        answers = [getattr(search, question)(at_rest, path)[0] for search in (coherent, scratch)]
        assert np.array_equal(*answers)
        assert coherent.statistics.box_tests < scratch.statistics.box_tests / 3
