"""Orientation predicates against rational arithmetic, and the rounding on which they rely."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import permutations
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from impinge.geometry.exact import double_double, predicates
from impinge.geometry.pose import posed_vertices
from impinge.geometry.triangles import all_pairs
from impinge.geometry.triangles import intersection as triangle
from impinge.kernels.mode import without_compiler
from impinge.lab.hard_input import random_pose, triangle_pairs

Points = NDArray[np.float64]


def from_python(function: Any) -> Any:
    """Most functions of the kernels have no entry from Python: compile them once more, with one."""
    return function if without_compiler() else numba.njit(error_model="numpy")(function.py_func)


compiled_orient2d = from_python(predicates.orient2d)
compiled_often_flat = from_python(predicates.orient2d_often_flat)
compiled_orient3d = from_python(predicates.orient3d)


def orient2d(p: Points) -> int:
    """By both functions that there are."""
    numbers = p.ravel().tolist()
    found = int(compiled_orient2d(*numbers))
    assert compiled_often_flat(*numbers) == found
    return found


def orient3d(p: Points) -> int:
    return int(compiled_orient3d(*(tuple(row) for row in p.tolist())))


def exact_sign(p: Points) -> int:
    """The sign of det[p1 - p0, p2 - p0, ...] for (n + 1, n) points, by Leibniz' formula."""
    base, *others = [[Fraction(x) for x in row] for row in p.tolist()]
    rows = [[x - y for x, y in zip(row, base, strict=True)] for row in others]
    n = len(rows)
    total = Fraction(0)
    for order in permutations(range(n)):
        inversions = sum(order[i] > order[j] for i in range(n) for j in range(i + 1, n))
        term = Fraction(-1) ** inversions
        for i in range(n):
            term *= rows[i][order[i]]
        total += term
    return (total > 0) - (total < 0)


def one_ulp_beside(p: Points, rng: np.random.Generator) -> Points:
    moved = p.copy()
    place = (rng.integers(p.shape[0]), rng.integers(p.shape[1]))
    moved[place] = np.nextafter(moved[place], rng.choice([-np.inf, np.inf]))
    return moved


coordinates = st.one_of(
    st.floats(-(2.0**150), 2.0**150, allow_nan=False, allow_infinity=False, allow_subnormal=True),
    st.integers(-3, 3).map(float),
    st.integers(-3, 3).map(lambda n: n * 0.1),
)


def arrays_of(rows: int, columns: int) -> st.SearchStrategy[Points]:
    row = st.tuples(*[coordinates] * columns)
    return st.lists(row, min_size=rows, max_size=rows).map(np.array)


@given(arrays_of(3, 2))
def test_orient2d_is_exact(p: Points) -> None:
    assert orient2d(p) == exact_sign(p)


@given(arrays_of(4, 3))
def test_orient3d_is_exact(p: Points) -> None:
    assert orient3d(p) == exact_sign(p)


@pytest.mark.parametrize("family", ["nearly coplanar", "one ulp", "scaled by two", "posed at random", "needles"])
def test_orient3d_on_hard_input(family: str) -> None:
    rng = np.random.default_rng(11)
    a, b = triangle_pairs(rng, 60, family)
    signs = set()
    for i in range(len(a)):
        p = np.vstack([a[i], b[i, :1]])
        for q in (p, one_ulp_beside(p, rng)):
            sign = orient3d(q)
            assert sign == exact_sign(q), q.tolist()
            signs.add(sign)
    assert signs >= {-1, 1}


@pytest.mark.parametrize("exponent", [-1060, -500, -30, 0, 100, 148])
def test_orient2d_next_to_a_diagonal(exponent: int) -> None:
    rng = np.random.default_rng(3)
    scale = 2.0**exponent
    for _ in range(40):
        x, y, z = (rng.integers(1, 4, 3) * scale).tolist()
        p = np.array([[x, x], [y, y], [z, z]])
        assert orient2d(p) == 0
        q = one_ulp_beside(p, rng)
        assert orient2d(q) == exact_sign(q)


def test_far_from_the_origin() -> None:
    # Kettner et al. (2008), "Classroom examples of robustness problems": naive float signs are noise here.
    step = 2.0**-53
    answers = set()
    for i in range(16):
        for j in range(16):
            p = np.array([[0.5 + i * step, 0.5 + j * step], [12.0, 12.0], [24.0, 24.0]])
            assert orient2d(p) == exact_sign(p) == np.sign(j - i)
            answers.add(orient2d(p))
    assert answers == {-1, 0, 1}


@given(arrays_of(4, 3))
def test_swapping_two_points_reverses_the_sign(p: Points) -> None:
    sign = orient3d(p)
    for i in range(4):
        for j in range(i):
            order = [0, 1, 2, 3]
            order[i], order[j] = j, i
            assert orient3d(p[order]) == -sign
    flat = orient2d(p[:3, :2])
    assert orient2d(p[[1, 0, 2], :2]) == -flat
    assert orient2d(p[[2, 1, 0], :2]) == -flat
    assert orient2d(p[[1, 2, 0], :2]) == flat


# ------------------------------------------------------------------- rounding as written

FUSED = re.compile(r"\bv?fn?m(add|sub)\w*|\bfml[as]\b|\bcall\w*\s+fma\b")
TRIANGLES = "float64[:, :, ::1]"


@pytest.mark.skipif(without_compiler(), reason="there is no machine code")
@pytest.mark.parametrize(
    ("kernel", "signature"),
    [
        (triangle._contact_kinds, f"{TRIANGLES}, {TRIANGLES}, int8[::1]"),
        (all_pairs.pose_triangles, f"float64[:, ::1], float64[:, ::1], int32[:, ::1], float64[:, ::1], {TRIANGLES}"),
        (double_double.accurate_cross, "UniTuple(float64, 3), UniTuple(float64, 3)"),
    ],
)
def test_no_fused_multiply_add_in_the_machine_code(kernel: Any, signature: str) -> None:
    """A fused operation rounds once, not twice: posed vertices and Dekker's products would be others."""
    # Code from the disk cache cannot be inspected, so the same function is compiled once more.
    fresh = numba.jit(f"({signature})", **kernel.targetoptions)(kernel.py_func)
    (text,) = fresh.inspect_asm().values()
    assert re.search(r"\bv?mul[sp]d\b|\bfmul\b", text)
    assert not FUSED.search(text), FUSED.search(text)


def test_products_round_before_they_are_subtracted() -> None:
    # x*y - y*x is exactly zero, unless one of the products is fused with the subtraction.
    cross = from_python(predicates.cross)
    for x, y in np.random.default_rng(1).random((200, 2)).tolist():
        assert cross((x, y, 0.0), (x, y, 0.0)) == (0.0, 0.0, 0.0)


def test_kahans_difference_of_products_is_exact_where_the_answer_is_a_float() -> None:
    difference = from_python(double_double.difference_of_products)
    for x, y in np.random.default_rng(2).normal(size=(200, 2)).tolist():
        rest = Fraction(x) * Fraction(y) - Fraction(x * y)
        assert Fraction(difference(x, y, x * y, 1.0)) == rest
        assert difference(x, y, y, x) == 0.0


def test_kahans_difference_of_products_is_good_to_two_ulps() -> None:
    difference = from_python(double_double.difference_of_products)
    rng = np.random.default_rng(5)
    for a, b, c in rng.normal(size=(200, 3)).tolist():
        d = np.nextafter(a * b / c, np.inf) if rng.random() < 0.8 else 1.0
        truth = Fraction(a) * Fraction(b) - Fraction(c) * Fraction(float(d))
        found = difference(a, b, c, float(d))
        assert abs(Fraction(found) - truth) <= 2 * Fraction(float(np.spacing(abs(float(truth)))))


def test_kernels_pose_vertices_bit_for_bit_as_numpy_does() -> None:
    pose_triangles = from_python(all_pairs.pose_triangles)
    rng = np.random.default_rng(7)
    faces = np.array([[0, 1, 2], [4, 3, 0]], dtype=np.int32)
    for largest in (0.0, 1.0, 1e6):
        vertices, pose = rng.normal(size=(5, 3)), random_pose(rng, largest)
        world, triangles = np.empty((5, 3)), np.empty((2, 3, 3))
        pose_triangles(pose, vertices, faces, world, triangles)
        assert np.array_equal(world, posed_vertices(pose, vertices))
        assert np.array_equal(triangles, world[faces])
