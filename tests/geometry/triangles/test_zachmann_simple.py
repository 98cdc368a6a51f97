"""Edges against polygons give the same answer as all pairs of triangles, with and without the pre-checks."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from impinge.geometry.triangles.all_pairs import any_pair_meets
from impinge.geometry.triangles.zachmann_simple import surfaces_meet
from impinge.lab import oracle
from impinge.lab.hard_input import FAMILIES, triangle_pairs

Floats = NDArray[np.float64]


def soup(triangles: Floats) -> tuple[Floats, NDArray[np.int32], Floats]:
    """World coordinates, edges and triangles of a polygon soup without shared vertices."""
    corner = np.arange(3 * len(triangles), dtype=np.int32).reshape(-1, 3)
    edges = corner[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    return np.ascontiguousarray(triangles.reshape(-1, 3)), np.ascontiguousarray(edges), np.ascontiguousarray(triangles)


def answers(a: Floats, b: Floats) -> set[bool]:
    """The answers of both algorithms, both ways, with and without pre-checks: one, if all is well."""
    found = {bool(any_pair_meets(a, b)), bool(any_pair_meets(b, a))}
    for one, other in ((soup(a), soup(b)), (soup(b), soup(a))):
        found |= {bool(surfaces_meet(*one, *other, prechecks)) for prechecks in (False, True)}
    return found


@pytest.mark.parametrize("family", list(FAMILIES))
def test_single_pairs(family: str) -> None:
    a, b = triangle_pairs(np.random.default_rng(21), 40, family)
    truth = oracle.meets_batch(a, b)
    for i in range(len(a)):
        assert answers(a[i : i + 1], b[i : i + 1]) == {bool(truth[i])}


@pytest.mark.parametrize("family", ["grid 0..4", "uniform", "repeated vertices", "one ulp", "scaled by two"])
def test_soups(family: str) -> None:
    rng = np.random.default_rng(22)
    seen = set()
    for _ in range(20):
        a, b = triangle_pairs(rng, 4, family)
        # Pull the soups apart along x, so that both answers occur.
        b = b + np.array([rng.integers(0, 3), 0.0, 0.0]) * np.abs(np.concatenate([a, b])).max()
        i, j = np.indices((4, 4)).reshape(2, -1)
        truth = bool(oracle.meets_batch(a[i], b[j]).any())
        assert answers(a, b) == {truth}
        seen.add(truth)
    assert seen == {True, False}


def test_a_polygon_that_swallows_the_other_surface() -> None:
    # No edge of the small triangle reaches an edge of the large one.
    large = np.array([[[-9.0, -9.0, 0.0], [9.0, -9.0, 0.0], [0.0, 9.0, 0.0]]])
    pierced = np.array([[[0.0, 0.0, -1.0], [0.1, 0.0, 1.0], [0.0, 0.1, 1.0]]])
    flat_inside = np.array([[[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0]]])
    assert answers(large, pierced) == {True}
    assert answers(large, flat_inside) == {True}
    assert answers(large, flat_inside + [0.0, 0.0, 5e-324]) == {False}


def test_boxes_that_touch_are_not_pruned() -> None:
    left = np.array([[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    right = left + [1.0, 0.0, 0.0]
    assert answers(left, right) == {True}
    assert answers(left, right + [np.spacing(1.0), 0.0, 0.0]) == {False}


def test_bodies_whose_boxes_share_one_point() -> None:
    corner = [1.0, 1.0, 1.0]
    a = np.array([[[0.0, 0.0, 0.0], corner, [0.0, 1.0, 0.0]], [[-5.0, 0.0, 0.0], [-4.0, 0.0, 0.0], [-4.0, 1.0, 0.0]]])
    b = np.array([[corner, [2.0, 1.0, 1.0], [1.0, 2.0, 3.0]], [[7.0, 7.0, 7.0], [8.0, 7.0, 7.0], [7.0, 8.0, 7.0]]])
    assert answers(a, b) == {True}
    assert answers(a, b + [0.0, 0.0, np.spacing(3.0)]) == {False}
