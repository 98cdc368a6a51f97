"""Trees of oriented boxes: the boxes are tight, and the fits and splits are told apart."""

from __future__ import annotations

import numpy as np
import pytest

from impinge import Mesh
from impinge.bvh.build.box_fit import FITS
from impinge.bvh.layout import EMPTY, SURPLUS, WIDTH
from impinge.bvh.volumes.obb import SPLITS, OBBTree

FLAT = 3.0 * SURPLUS + 1e-6
"""What rounding adds to a half length, in parts of the longest one."""
TURN = np.linalg.qr(np.random.default_rng(11).normal(size=(3, 3)))[0]


def soup(triangles: np.ndarray) -> Mesh:
    flat = np.asarray(triangles, dtype=np.float64).reshape(-1, 3)
    return Mesh(flat, np.arange(len(flat)).reshape(-1, 3))


def sheet(n: int = 12) -> Mesh:
    """A flat square sheet, turned."""
    x, y = np.meshgrid(np.arange(n + 1.0), np.arange(n + 1.0), indexing="ij")
    points = np.stack([x, y, x * 0], axis=-1).reshape(-1, 3) @ TURN.T
    i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    first = (i * (n + 1) + j).ravel()
    return Mesh(points, np.column_stack([first, first + n + 1, first + n + 2, first + 1]))


def half_lengths(tree: OBBTree) -> np.ndarray:
    """(k, 3) of the used slots."""
    used = np.flatnonzero(tree.child != EMPTY)
    return tree.rows[used // WIDTH, 12:15, used % WIDTH].astype(np.float64)


def surface(half: np.ndarray) -> np.ndarray:
    x, y, z = half.T
    return x * y + y * z + z * x


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("split", SPLITS)
def test_boxes_of_a_sheet_are_flat(fit: str, split: str) -> None:
    tree = OBBTree(sheet(), fit, split)  # type: ignore[arg-type]
    tree.validate()
    assert tree.options == {"fit": fit, "split": split}
    half = np.sort(half_lengths(tree), axis=1)
    if fit == "fast":  # the smaller surface may be that of the axis-aligned box, but not here
        assert (half[:, 0] < FLAT * half[:, 2]).mean() > 0.95
    else:
        assert (half[:, 0] < FLAT * half[:, 2]).all()


def test_the_box_of_one_triangle_has_its_longest_edge_and_its_normal() -> None:
    triangle = np.array([[0, 0, 0], [0, 4, 0], [3, 4, 0]]) @ TURN.T + 100.0
    tree = OBBTree(soup(triangle))
    assert np.sort(half_lengths(tree)[0] * tree.unit) == pytest.approx([0.0, 1.2, 2.5], abs=2.5 * FLAT)


@pytest.mark.parametrize(
    "triangle",
    [
        [[0, 0, 0], [1, 2, 3], [2, 4, 6]],
        [[0, 0, 0], [0, 0, 5], [0, 0, 1]],
        [[1, 0, 0], [1, 0, 0], [4, 4, 4]],
        [[0, 0, 0], [1e-30, 0, 0], [3, 1, 2]],
    ],
)
def test_needles_get_thin_boxes(triangle: list[list[float]]) -> None:
    tree = OBBTree(soup(np.array(triangle)))
    tree.validate()
    half = np.sort(half_lengths(tree)[0])
    assert half[1] < FLAT * half[2]


def test_fast_keeps_the_smaller_of_two_boxes() -> None:
    rng = np.random.default_rng(0)
    boxy = np.array([[i & 1, i >> 1 & 1, i >> 2] for i in range(8)], dtype=np.float64)
    mesh = soup(boxy[rng.integers(8, size=(100, 3))] + rng.integers(3, size=(100, 1, 3)))
    fast, plain = OBBTree(mesh), OBBTree(mesh, "vertices")
    assert np.array_equal(fast.child, plain.child)
    assert (surface(half_lengths(fast)) <= surface(half_lengths(plain)) * (1 + 4 * FLAT)).all()
    assert surface(half_lengths(fast)).sum() < 0.9 * surface(half_lengths(plain)).sum()


def test_fast_turns_square_groups_level() -> None:
    """The principal axes of a square are any; its outline follows the coordinate axes that it was cut along."""
    tilt = np.array([[1, 0, 0], [0, 0.8, -0.6], [0, 0.6, 0.8]])
    flat = sheet(12)
    tree = OBBTree(Mesh(flat.vertices @ TURN @ tilt.T, flat.faces))
    tree.validate()
    assert np.sort(tree.rows[0, 12:15, 0] * tree.unit) == pytest.approx([0.0, 6.0, 6.0], abs=1e-4)


def test_fast_is_not_turned_by_a_dense_patch() -> None:
    plate = np.array([[0, 0, 0], [10, 0, 0], [10, 2, 0], [0, 0, 0], [10, 2, 0], [0, 2, 0]], dtype=np.float64)
    patch = np.random.default_rng(0).uniform(0, 0.1, size=(400, 3, 3)) @ [[1, 0, 2], [0, 1, 2], [0, 0, 0]]
    mesh = soup(np.concatenate([plate, patch.reshape(-1, 3)]) @ TURN.T)
    thinnest = {fit: np.sort(OBBTree(mesh, fit).rows[0, 12:15, 0])[0] for fit in ("fast", "vertices")}  # type: ignore[arg-type]
    assert thinnest["fast"] < 0.2 * thinnest["vertices"]


def test_boxes_are_not_larger_than_rounding_asks_for() -> None:
    """Far from the middle, and a thousandth of the mesh in size, half lengths are right to five digits."""
    rng = np.random.default_rng(2)
    tree = OBBTree(soup(rng.normal(size=(300, 3, 3)) * 1e-3 + rng.normal(size=(300, 1, 3))))
    used = np.flatnonzero((tree.child < 0) & (tree.child != EMPTY))
    for ref in used[:50].tolist():
        rows = tree.rows[ref // WIDTH, :, ref % WIDTH].astype(np.float64)
        local = tree.local(tree.triangles[~tree.child[ref]])
        u = (local - rows[9:12]) @ rows[:9].reshape(3, 3)
        assert (rows[12:15] - np.abs(u).max(axis=0)).max() < FLAT * rows[15] + 2.0**-24


def test_unknown_choices_are_named() -> None:
    with pytest.raises(ValueError, match="fit is 'tight', expected one of fast, vertices, hull, hull-area"):
        OBBTree(sheet(2), "tight")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="split is 'median', expected one of sah, mean"):
        OBBTree(sheet(2), "fast", "median")  # type: ignore[arg-type]
