"""Pair with method="incremental": the answers from scratch, whatever was asked before."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import impinge
from impinge import ConvexHull, Mesh, Pair
from impinge.incremental.frame_memory import Memory
from impinge.incremental.hierarchy.options import Hierarchy
from impinge.incremental.incremental_search import SweepStatistics
from impinge.lab.hard_input import random_pose
from impinge.lab.scenes.shapes import box, torus
from impinge.queries.methods.incremental import REGIONS

RING = torus(1.0, 0.3, 12, 8)
SMALL = Mesh(box(1, 1, 1).vertices * 0.5, box(1, 1, 1).faces, solid=True)


def path(seed: int, count: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    poses = np.tile(random_pose(rng, 0.0), (count, 1, 1))
    poses[:, :3, 3] = np.linspace([-2.0, 0.1, 0.2], [1.4, -0.3, 0.1], count)
    return poses


@pytest.mark.nojit_slow
@pytest.mark.parametrize("region", REGIONS)
@pytest.mark.parametrize("solid", [False, True])
def test_every_verb_along_a_path(region: str, solid: bool) -> None:
    a, b = Mesh(RING.vertices, RING.faces, solid=solid), Mesh(SMALL.vertices, SMALL.faces, solid=solid)
    pair = impinge.Pair(a, b, "incremental", hierarchy=Hierarchy(threshold=4), region=region)
    poses = path(1, 30)
    for pose in poses:
        assert pair.collides(None, pose) == impinge.collides(a, b, None, pose)
        found, expected = pair.contacts(None, pose), impinge.contacts(a, b, None, pose)
        assert np.array_equal(found.face_a, expected.face_a)
        assert np.array_equal(found.face_b, expected.face_b)
        assert np.array_equal(found.segments, expected.segments)
        assert pair.distance(None, pose).value == impinge.distance(a, b, None, pose).value
        assert pair.closer_than(0.1, None, pose) == impinge.closer_than(a, b, 0.1, None, pose)
    together = pair.collides(None, poses)
    assert 0 < together.sum() < len(poses)
    assert np.array_equal(together, impinge.collides(a, b, None, poses))
    assert np.array_equal(pair.distance(None, poses).value, impinge.distance(a, b, None, poses).value)
    assert pair.relation(None, poses[0]).kind == impinge.relation(a, b, None, poses[0]).kind


def test_it_is_a_pair() -> None:
    pair = Pair(RING, SMALL, method="incremental")
    pair.contacts()
    assert isinstance(pair.statistics, SweepStatistics)
    again = pickle.loads(
        pickle.dumps(impinge.Pair(RING, SMALL, "incremental", hierarchy=Hierarchy(levels=1), region="walk"))
    )
    assert again.method == "incremental"
    assert again.options == {"hierarchy": Hierarchy(levels=1), "region": "walk"}
    assert "incremental" in repr(again)
    with pytest.raises(ValueError, match="pose_b"):
        pair.collides(None, np.zeros((4, 4)))
    with pytest.raises(ValueError, match="region 'caps' is not one of none, walk, dual"):
        impinge.Pair(RING, SMALL, "incremental", region="caps")
    with pytest.raises(ValueError, match="'brute' remembers nothing"):
        Pair(RING, SMALL, method="brute")
    mixed = Pair(ConvexHull(SMALL), RING, method="incremental")
    assert mixed.collides() == impinge.collides(ConvexHull(SMALL), RING)


@pytest.mark.nojit_slow
def test_it_says_which_assumptions_fail() -> None:
    cube = box(1, 1, 1)
    assert impinge.Pair(cube, cube, method="incremental").problems == ()
    opened = impinge.Mesh(cube.vertices, cube.faces[1:])
    rng = np.random.default_rng(3)
    soup = impinge.Mesh(rng.uniform(-0.5, 1.5, size=(300, 3)), np.arange(300).reshape(-1, 3))
    pair = impinge.Pair(opened, soup, method="incremental")
    assert any(said.startswith("a: 3 open edges") for said in pair.problems), pair.problems
    assert "b: 100 subsets of faces; one hierarchy over all faces is used" in pair.problems
    found, truth = pair.contacts(), impinge.contacts(opened, soup, method="brute")
    assert len(found) > 0
    assert found.face_a.tolist() == truth.face_a.tolist()
    assert found.face_b.tolist() == truth.face_b.tolist()


def test_an_interrupted_question_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a region that is no longer true contacts would be lost."""
    pair = impinge.Pair(RING, RING, "incremental", region="walk")
    poses = path(4, 6)
    expected = impinge.contacts(RING, RING, None, poses, method="brute")
    assert len(expected) > 0

    def interrupt(self: Memory, box: np.ndarray) -> None:
        self.frames.region = 1e9  # where nothing is
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(Memory, "within", interrupt)
        with pytest.raises(KeyboardInterrupt):
            pair.contacts(None, poses)
    assert np.array_equal(pair.contacts(None, poses).face_a, expected.face_a)


def test_options_of_other_methods_are_refused() -> None:
    with pytest.raises(ValueError, match="method 'obb' has other options than region"):
        impinge.Pair(RING, RING, "obb", region="walk")
    with pytest.raises(ValueError, match="method 'incremental' has other options than levels"):
        impinge.Pair(RING, RING, "incremental", levels=2)


def test_threads_share_a_pair() -> None:
    pair = Pair(RING, SMALL, method="incremental")
    poses = path(2, 40)
    expected = impinge.distance(RING, SMALL, None, poses).value
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda pose: float(pair.distance(None, pose).value), poses))
    assert found == expected.tolist()
