"""The rule of the first OBBTree paper: the longest axis at the mean, then the second, then the third, else halves."""

from __future__ import annotations

import numpy as np
import pytest

from impinge import Mesh
from impinge.bvh.build.box_fit import FITS
from impinge.bvh.build.mean_split import _binary_tree, _left_side, mean_split
from impinge.bvh.layout import EMPTY, WIDTH
from impinge.bvh.volumes.obb import OBBTree

# Its centre is the origin, and it is longest along x, then y, then z.
SHAPE = np.array([[-30.0, -20.0, -10.0], [30.0, 0.0, -10.0], [0.0, 20.0, 20.0]])


def soup(triangles: np.ndarray) -> Mesh:
    return Mesh(triangles.reshape(-1, 3), np.arange(3 * len(triangles)).reshape(-1, 3))


def shapes_at(places: np.ndarray) -> np.ndarray:
    return SHAPE + np.asarray(places, dtype=np.float64)[:, None]


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_the_first_axis_that_divides_is_taken(axis: int) -> None:
    """Centres that differ along one axis only are divided there, though the box may be longer elsewhere."""
    places = np.zeros((20, 3))
    places[:, axis] = np.arange(20) % 5
    left = _left_side(shapes_at(places), np.eye(3))
    assert np.array_equal(left, places[:, axis] < 2.0)


def test_the_longest_axis_comes_first() -> None:
    rng = np.random.default_rng(0)
    places = rng.uniform(-1, 1, size=(40, 3)) * [1.0, 50.0, 10.0]
    order, groups, _ = _binary_tree(shapes_at(places), lambda points: np.eye(3))
    _, middle, _ = groups[groups[0, 2]].tolist()
    below = np.zeros(40, dtype=bool)
    below[order[:middle]] = True
    assert np.array_equal(below, places[:, 1] < places[:, 1].mean())


def test_the_cut_is_at_the_mean_not_at_the_median() -> None:
    places = np.zeros((100, 3))
    places[:90, 0] = np.linspace(0.0, 1.0, 90)
    places[90:, 0] = 5000.0
    order, groups, _ = _binary_tree(shapes_at(places), lambda points: np.eye(3))
    assert groups[groups[0, 2]].tolist()[:2] == [0, 90]
    assert sorted(order[90:].tolist()) == list(range(90, 100))


def test_an_indivisible_group_is_stored_in_halves_that_fill_their_nodes() -> None:
    triangles = shapes_at(np.zeros((50, 3)))
    assert not _left_side(triangles, np.eye(3)).all()
    tree = OBBTree(soup(triangles), split="mean")
    tree.validate()
    leaves = ((tree.child < 0) & (tree.child != EMPTY)).reshape(-1, WIDTH).sum(axis=1)
    assert np.count_nonzero(leaves) == 7  # 50 triangles, eight in each


@pytest.mark.parametrize("fit", FITS)
def test_trees_by_every_fit_are_valid(fit: str) -> None:
    rng = np.random.default_rng(4)
    mesh = soup(rng.normal(size=(80, 3, 3)) + rng.normal(size=(80, 1, 3)) * [30, 10, 1])
    frame, order, child, ranges, depth = mean_split(mesh, fit)  # type: ignore[arg-type]
    assert sorted(order.tolist()) == list(range(80))
    assert ranges[0].tolist() == [0, 80]
    assert frame[3] == 2.0 ** np.ceil(np.log2(np.abs(mesh.vertices - frame[:3]).max()))
    tree = OBBTree(mesh, fit, "mean")  # type: ignore[arg-type]
    assert np.array_equal(tree.child, child)
    assert tree.depth == depth
    assert tree.options == {"fit": fit, "split": "mean"}
    tree.validate()
