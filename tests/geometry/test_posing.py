"""The rounding that defines the truth stands in one kernel function, and is that of the contract."""

from __future__ import annotations

import ast
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import impinge
from impinge.geometry import posing
from impinge.geometry.pose import posed_vertices
from impinge.kernels.mode import without_compiler
from impinge.lab.hard_input import random_pose


def from_python(function: Any) -> Any:
    """Functions of the kernels have no entry from Python: compile them once more, with one."""
    return function if without_compiler() else numba.njit(error_model="numpy")(function.py_func)


posed_coordinate = from_python(posing.posed_coordinate)
posed_along = from_python(posing.posed_along)
posed_point = from_python(posing.posed_point)


def step_by_step(row: list[float], point: list[float]) -> float:
    """The contract in rational arithmetic: each operation exact, then rounded to the nearest float."""

    def times(a: float, b: float) -> float:
        return float(Fraction(a) * Fraction(b))

    def plus(a: float, b: float) -> float:
        return float(Fraction(a) + Fraction(b))

    products = [times(r, x) for r, x in zip(row[:3], point, strict=True)]
    return plus(plus(plus(products[0], products[1]), products[2]), row[3])


def hard_points(rng: np.random.Generator, pose: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ordinary, huge, tiny, subnormal and mixed ones; and some whose products or sums cancel."""
    plain = rng.normal(size=(20, 3))
    mixed = plain * 10.0 ** rng.integers(-320, 40, size=(20, 3))
    whole = rng.integers(-3, 4, size=(20, 3)) * 5e-324
    cancelling = plain.copy()  # R[0, 0] x + R[0, 1] y is nothing but rounding, and then all of the first row
    cancelling[:10, 1] = -pose[0, 0] * plain[:10, 0] / pose[0, 1]
    cancelling[10:] = (np.linalg.inv(pose) @ [0.0, 0.0, 0.0, 1.0])[:3]
    return np.concatenate([plain, plain * 1e40, plain * 1e-310, mixed, whole, cancelling])


def test_each_layout_gives_the_numbers_of_posed_vertices_and_of_rational_arithmetic() -> None:
    rng = np.random.default_rng(1)
    for shift in (0.0, 5e-324, 1e-310, 1.0, 1e6, 1e40):
        pose = random_pose(rng)
        pose[:3, 3] = rng.normal(size=3) * shift
        points = hard_points(rng, pose)
        world = posed_vertices(pose, points)
        assert np.array([posed_point(pose, *p) for p in points.tolist()]).tobytes() == world.tobytes()
        rows = pose.tolist()
        for p, expected in zip(points.tolist(), world.tolist(), strict=True):
            for i in range(3):
                assert posed_along(tuple(rows[i]), *p) == posed_coordinate(*rows[i], *p) == expected[i]
                assert step_by_step(rows[i], p) == expected[i]


numbers = st.one_of(
    st.floats(-1e100, 1e100), st.floats(-1e-307, 1e-307), st.integers(-4, 4).map(float), st.sampled_from([1e40, -1e40])
)


@given(st.lists(numbers, min_size=7, max_size=7))
def test_any_coordinate_is_rounded_after_each_operation(entries: list[float]) -> None:
    expected = step_by_step(entries[:4], entries[4:])
    assert posed_coordinate(*entries) == expected
    pose = np.tile(entries[:4], (4, 1))
    assert posed_point(pose, *entries[4:]) == (expected,) * 3


def test_a_fused_or_reordered_sum_would_be_noticed() -> None:
    """The input above tells the contract from its neighbours."""
    rng = np.random.default_rng(1)
    pose = random_pose(rng)
    pose[:3, 3] = 0.0
    fused = reordered = 0
    for (x, y, z), row in product(hard_points(rng, pose).tolist(), pose[:3].tolist()):
        a, b, c, t = row
        expected = posed_coordinate(a, b, c, t, x, y, z)
        fused += expected != float(Fraction(a * x) + Fraction(b) * Fraction(y)) + c * z + t
        reordered += expected != a * x + (b * y + c * z) + t
    assert min(fused, reordered) > 10, (fused, reordered)


# ------------------------------------------------------------------------- one place only

SOURCES = Path(impinge.__file__).parent

OTHER_SUMS = {
    ("geometry/exact/double_double.py", "two_product"): "the error of a product (Dekker)",
    ("convex/features/cell_view.py", "value"): "the height of a point above a plane",
    ("convex/hull/feature_planes.py", "write_plane"): "the distance of a plane from the origin",
    ("incremental/regions/penetration_region.py", "_height"): "the height of a point above a plane",
    ("broadphase/body_boxes/fixed_cubes.py", "fixed_cubes"): "the middle of a box that is moved outward afterwards",
}
"""Sums of three products and one number that pose nothing, or nothing whose rounding is part of the truth."""


def terms(node: ast.expr) -> list[ast.expr]:
    """The terms of a sum, however it is bracketed."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return terms(node.left) + terms(node.right)
    return [node]


def is_product(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)


def functions_that_pose(source: str) -> set[str]:
    """Names of the functions with a sum of three products and one term that is none."""
    found = set()
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.BinOp):
                    products = [is_product(term) for term in terms(node)]
                    if len(products) == 4 and products.count(True) == 3:
                        found.add(function.name)
    return found


@pytest.mark.parametrize(
    "expression",
    [
        "((r[0] * x + r[1] * y) + r[2] * z) + r[3]",
        "p[side, 0, 0] * x + p[side, 0, 1] * y + p[side, 0, 2] * z + p[side, 0, 3]",
        "t + (a * x + (b * y + c * z))",
    ],
)
def test_the_search_finds_what_it_shall(expression: str) -> None:
    assert functions_that_pose(f"def f(*_):\n    return g({expression})") == {"f"}
    assert functions_that_pose("def f(a, b):\n    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]") == set()


def test_the_expression_stands_in_one_kernel() -> None:
    found = set()
    for path in SOURCES.rglob("*.py"):
        place, source = path.relative_to(SOURCES).as_posix(), path.read_text(encoding="utf-8")
        if source.startswith("# mypy: allow-untyped-defs") and not place.startswith("lab/"):
            found |= {(place, name) for name in functions_that_pose(source)}
    assert found == {("geometry/posing.py", "posed_coordinate"), *OTHER_SUMS}
