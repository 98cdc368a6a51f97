"""What ``@impinge.leaf`` refuses, in words; what it finds is tested with the traversal of trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import impinge
from impinge.lab.scenes.shapes import box

CUBE = box(1, 1, 1)
HULL = impinge.ConvexHull(CUBE)
PIECES = impinge.ConvexPieces([HULL])


@impinge.leaf
def never_called(a: Any, b: Any) -> float:
    raise AssertionError


@pytest.mark.parametrize(
    ("a", "b", "sentence"),
    [
        (HULL, CUBE, "a is a ConvexHull.* pass a.mesh"),
        (CUBE, HULL, "b is a ConvexHull.* pass b.mesh"),
        (PIECES, HULL, r"a is ConvexPieces.* pass a.pieces\[i\].mesh"),
        (CUBE, PIECES, "b is ConvexPieces"),
    ],
)
def test_bodies_without_triangles_of_their_own_are_named(a: Any, b: Any, sentence: str) -> None:
    with pytest.raises(impinge.Unsupported, match=sentence):
        never_called(a, b)


@pytest.mark.parametrize("body", [None, "part.stl", CUBE.vertices, impinge.Mesh])
def test_what_is_no_body(body: Any) -> None:
    with pytest.raises(ValueError, match="b: expected Mesh"):
        never_called(CUBE, body)


@pytest.mark.parametrize("function", [None, "area", CUBE, print])
def test_what_is_no_function_of_triangles(function: Any) -> None:
    with pytest.raises(ValueError, match="leaf: expected a function of two triangles"):
        impinge.leaf(function)


@pytest.mark.parametrize("within", [-1.0, np.nan, "1", None, True])
def test_what_is_no_distance(within: Any) -> None:
    with pytest.raises(ValueError, match="within"):
        never_called(CUBE, CUBE, within=within)
