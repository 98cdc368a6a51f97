"""The oracle is checked by hand-made cases, by its symmetries, and by three algorithms that must agree."""

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impinge.lab import oracle
from impinge.lab.hard_input import FAMILIES, triangle_pairs
from impinge.results import ContactKind

CROSSING, TOUCHING, COPLANAR = ContactKind.CROSSING, ContactKind.TOUCHING, ContactKind.COPLANAR
FLAT = [[0, 0, 0], [4, 0, 0], [0, 4, 0]]
TINY = 5e-324

CASES = {
    # name: (a, b, kind, number of extreme points, squared distance)
    "crossing": (FLAT, [[1, 1, -1], [1, 1, 1], [2, 1, 1]], CROSSING, 2, 0),
    "crossing, b sticks out": (FLAT, [[1, 1, -1], [1, 1, 1], [9, 9, 0]], CROSSING, 2, 0),
    "vertex on face": (FLAT, [[1, 1, 0], [1, 1, 1], [2, 1, 1]], TOUCHING, 1, 0),
    "vertex on edge": (FLAT, [[2, 2, 0], [2, 2, 1], [3, 3, 1]], TOUCHING, 1, 0),
    "vertex on vertex": (FLAT, [[4, 0, 0], [5, 0, 1], [5, 1, 1]], TOUCHING, 1, 0),
    "edge on face": (FLAT, [[1, 1, 0], [2, 1, 0], [2, 1, 3]], TOUCHING, 2, 0),
    "edge on edge": (FLAT, [[1, 0, 0], [3, 0, 0], [2, 0, 3]], TOUCHING, 2, 0),
    "edges cross": (FLAT, [[2, -1, -1], [2, 1, 1], [2, -2, 3]], TOUCHING, 1, 0),
    "shared edge, one plane": (FLAT, [[0, 0, 0], [4, 0, 0], [0, -4, 0]], TOUCHING, 2, 0),
    "shared vertex, one plane": (FLAT, [[0, 0, 0], [-4, 0, 0], [0, -4, 0]], TOUCHING, 1, 0),
    "identical": (FLAT, FLAT, COPLANAR, 3, 0),
    "hexagon": (
        [[0, 0, 0], [6, 0, 0], [3, 6, 0]],
        [[0, 4, 0], [6, 4, 0], [3, -2, 0]],
        COPLANAR,
        6,
        0,
    ),
    "inside, one plane": (FLAT, [[1, 1, 0], [2, 1, 0], [1, 2, 0]], COPLANAR, 3, 0),
    "segment pierces": (FLAT, [[1, 1, -1], [1, 1, 1], [1, 1, 1]], TOUCHING, 1, 0),
    "segment of three points in the plane": (FLAT, [[-1, 1, 0], [1, 1, 0], [9, 1, 0]], TOUCHING, 2, 0),
    "point on face": (FLAT, [[1, 1, 0]] * 3, TOUCHING, 1, 0),
    "point on point": ([[1, 2, 3]] * 3, [[1, 2, 3]] * 3, TOUCHING, 1, 0),
    "segments cross": ([[0, 0, 0], [2, 2, 0], [1, 1, 0]], [[0, 2, 0], [2, 0, 0], [2, 0, 0]], TOUCHING, 1, 0),
    "segments overlap": ([[0, 0, 0], [2, 2, 2], [0, 0, 0]], [[1, 1, 1], [3, 3, 3], [3, 3, 3]], TOUCHING, 2, 0),
    "parallel planes": (FLAT, [[0, 0, 3], [4, 0, 3], [0, 4, 3]], None, 0, 9),
    "one plane, apart": (FLAT, [[3, 3, 0], [5, 3, 0], [3, 5, 0]], None, 0, 2),
    "above the face": (FLAT, [[1, 1, 1], [9, 9, 9], [8, 9, 9]], None, 0, 1),
    "edge beside edge": (FLAT, [[1, -1, -1], [2, -1, 1], [1, -9, 0]], None, 0, Fraction(1, 1)),
    "skew edges": (FLAT, [[2, -1, -1], [3, -1, 1], [2, -9, 0]], None, 0, 1),
    "skew segments": ([[0, 0, 0], [1, 0, 0], [1, 0, 0]], [[0, -1, 1], [0, 1, 2], [0, 1, 2]], None, 0, Fraction(9, 5)),
    "collinear segments": ([[0, 0, 0], [1, 1, 1], [1, 1, 1]], [[2, 2, 2], [3, 3, 3], [3, 3, 3]], None, 0, 3),
    "points": ([[0, 0, 0]] * 3, [[1, 2, 2]] * 3, None, 0, 9),
    "hair above": (FLAT, [[1, 1, TINY], [1, 1, 1], [2, 1, 1]], None, 0, Fraction(TINY) ** 2),
    "hair below, huge": (
        [[0, 0, 0], [2.0**140, 0, 0], [0, 2.0**140, 0]],
        [[1, 1, -TINY], [1, 1, 1], [2, 1, 1]],
        CROSSING,
        2,
        0,
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_known_cases_under_swap_turn_and_scaling(case):
    a, b, kind, count, squared = case
    a, b = np.array(a, dtype=float), np.array(b, dtype=float)
    for first, second in ((a, b), (b, a), (a[[2, 0, 1]], b[[1, 0, 2]]), (a[:, [2, 0, 1]], b[:, [2, 0, 1]])):
        assert oracle.kind(first, second) == kind
        assert oracle.meets(first, second) == (kind is not None)
        assert len(oracle.intersection(first, second)) == count
        assert oracle.squared_distance(first, second) == squared
    if TINY not in np.abs(b):
        assert oracle.kind(a * 2.0**-900, b * 2.0**-900) == kind
        assert oracle.squared_distance(a * 2.0**-900, b * 2.0**-900) == squared * Fraction(4) ** -900


def test_intersection_points_are_exact():
    third = oracle.intersection([[0, 0, 0], [3, 0, 0], [0, 3, 0]], [[1, 1, -1], [1, 1, 2], [1, 9, 2]])
    assert sorted(third) == [(1, 1, 0), (1, 2, 0)]
    assert all(isinstance(x, Fraction) for point in third for x in point)
    star = oracle.intersection(*CASES["hexagon"][:2])
    # A convex polygon in order: all turns have one sign.
    turns = []
    for i in range(6):
        p, q, r = star[i - 2], star[i - 1], star[i]
        turns.append((q[0] - p[0]) * (r[1] - q[1]) - (q[1] - p[1]) * (r[0] - q[0]))
    assert all(t > 0 for t in turns) or all(t < 0 for t in turns)


def strictly_inside(point, triangle):
    """Barycentric coordinates, yet another way: solve in the two axes of the largest area."""
    (p, q, r) = ([Fraction(x) for x in corner] for corner in triangle.tolist())
    for x, y in ((0, 1), (1, 2), (2, 0)):
        area = (q[x] - p[x]) * (r[y] - p[y]) - (q[y] - p[y]) * (r[x] - p[x])
        if area:
            u = ((point[x] - p[x]) * (r[y] - p[y]) - (point[y] - p[y]) * (r[x] - p[x])) / area
            v = ((q[x] - p[x]) * (point[y] - p[y]) - (q[y] - p[y]) * (point[x] - p[x])) / area
            return u > 0 and v > 0 and u + v < 1
    return False


@pytest.mark.parametrize("family", FAMILIES)
def test_separation_clipping_and_features_agree(family):
    a, b = triangle_pairs(np.random.default_rng(7), 60, family)
    kinds = oracle.kinds(a, b)
    assert np.array_equal(kinds, oracle.kinds(b, a))
    squared = oracle.squared_distances(a, b)
    assert squared == oracle.squared_distances(b, a)
    for i, kind in enumerate(kinds):
        common = oracle.intersection(a[i], b[i])
        assert (kind == oracle.DISJOINT) == (not common) == (squared[i] > 0)
        assert (kind == COPLANAR) == (len(common) >= 3)
        if common and kind != COPLANAR:
            middle = [sum(x) / len(common) for x in zip(*common, strict=True)]
            crossing = strictly_inside(middle, a[i]) and strictly_inside(middle, b[i])
            assert (kind == CROSSING) == crossing


def test_int64_and_python_integers_agree():
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 4, (2, 3000, 3, 3)).astype(float)
    # A factor with 53 bits: too large for int64, and the same geometry up to exact scaling.
    factor = float(2**40 + 1)
    small, large = oracle.kinds(a, b), oracle.kinds(a * factor, b * factor)
    assert np.array_equal(small, large)
    assert len(set(small.tolist())) == 4


@given(st.integers(0, 2**32), st.permutations(range(3)), st.permutations(range(3)))
@settings(max_examples=40, deadline=None)
def test_int64_bound_holds_at_its_edge(seed, order_a, order_b):
    """At the largest coordinates of the fast path, and moved by integers, the answers do not change."""
    rng = np.random.default_rng(seed)
    limit = oracle.INT64_COORDINATE // 2
    a, b = rng.choice([-limit, -limit + 1, 0, limit - 1, limit], size=(2, 20, 3, 3)).astype(float)
    expected = oracle.kinds(a, b)
    assert np.array_equal(expected, oracle.kinds(a[:, order_a], b[:, order_b]))
    assert np.array_equal(expected, oracle.kinds(a * (2.0**30 + 1), b * (2.0**30 + 1)))
    offset = rng.integers(-(2**40), 2**40, (20, 1, 3)).astype(float)
    assert np.array_equal(expected, oracle.kinds(a + offset, b + offset))


def test_batch_splits_into_both_number_types():
    a = np.array([FLAT, FLAT, FLAT], dtype=float)
    b = np.array([[[1, 1, z], [1, 1, 1], [2, 1, 1]] for z in (0.0, TINY, -TINY)])
    assert oracle.kinds(a, b).tolist() == [TOUCHING, oracle.DISJOINT, CROSSING]
    assert oracle.meets_batch(a, b).tolist() == [True, False, True]
    assert oracle.kinds(np.empty((0, 3, 3)), np.empty((0, 3, 3))).shape == (0,)


def test_kinds_do_not_depend_on_the_order_of_corners():
    rng = np.random.default_rng(11)
    a, b = rng.integers(0, 3, (2, 40, 3, 3)).astype(float)
    expected = oracle.kinds(a, b)
    for order in permutations(range(3)):
        assert np.array_equal(expected, oracle.kinds(a[:, order], b))
        assert np.array_equal(expected, oracle.kinds(a, b[:, order]))


def test_closer_than_is_exact_at_the_distance():
    above = [[1, 1, 0.1], [9, 9, 9], [8, 9, 9]]
    assert oracle.closer_than(FLAT, above, 0.1)
    assert not oracle.closer_than(FLAT, above, math.nextafter(0.1, 0.0))
    skew = CASES["skew segments"]
    root = oracle.distance_float(skew[0], skew[1])
    assert abs(root - math.sqrt(1.8)) <= math.ulp(root)
    assert oracle.closer_than(skew[0], skew[1], math.nextafter(root, 2.0))
    assert not oracle.closer_than(skew[0], skew[1], math.nextafter(root, 0.0))


@given(st.fractions(min_value=0), st.integers(-2100, 1900))
@settings(deadline=None)
def test_square_root_is_correctly_rounded(value, exponent):
    value *= Fraction(2) ** exponent
    root = oracle.square_root(value)
    below, above = math.nextafter(root, 0.0), math.nextafter(root, math.inf)
    middle_below, middle_above = (Fraction(root) + Fraction(below)) / 2, (Fraction(root) + Fraction(above)) / 2
    assert middle_above**2 >= value
    assert root == 0.0 or middle_below**2 <= value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_square_root_of_squares(x):
    assert oracle.square_root(Fraction(x) ** 2) == abs(x)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=6))
def test_scaling_to_integers_is_exact(row):
    integers, exponents = oracle.scaled_to_integers(np.array([row]))
    assert [n * Fraction(2) ** int(exponents[0]) for n in integers[0]] == [Fraction(x) for x in row]


def test_bad_input_is_an_error():
    with pytest.raises(ValueError, match="shape"):
        oracle.kinds(np.zeros((2, 3)), np.zeros((2, 3)))
    with pytest.raises(ValueError, match="not finite"):
        oracle.meets([[0, 0, math.nan]] * 3, FLAT)
