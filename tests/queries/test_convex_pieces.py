"""Bodies of convex pieces in the verbs and in Pair."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import numpy as np
import pytest

import impinge
from impinge import ConvexHull, ConvexPieces, Pair, Unsupported
from impinge.arrays import Floats
from impinge.lab.hard_polytopes import UNDERFLOWING
from impinge.lab.scenes.poses import poses, random_turns
from impinge.lab.scenes.shapes import box

HULL = ConvexHull(list(product((0.0, 1.0), (0.0, 2.0), (0.0, 0.5))))
GATE = ConvexPieces(
    [
        list(product((0.0, 1.0), (0.0, 1.0), (0.0, 3.0))),
        list(product((3.0, 4.0), (0.0, 1.0), (0.0, 3.0))),
        list(product((0.0, 4.0), (0.0, 1.0), (3.0, 4.0))),
    ]
)
"""Two posts and a beam: what is between them is in the hull, not in the body."""


def shifted(*shift: float) -> Floats:
    return poses(np.eye(3), shift)


def batch(count: int = 12, seed: int = 1) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    return tuple(poses(random_turns(rng, count), rng.normal(size=(count, 3)) * 2.0) for _ in range(2))  # type: ignore[return-value]


def pieces_of(body: ConvexPieces | ConvexHull) -> tuple[ConvexHull, ...]:
    return body.pieces if isinstance(body, ConvexPieces) else (body,)


def least(a: ConvexPieces | ConvexHull, b: ConvexPieces | ConvexHull, *pose: Floats) -> Floats:
    """By the verb for hulls, over all pairs."""
    found = [impinge.distance(p, q, *pose).value for p in pieces_of(a) for q in pieces_of(b)]
    return np.min(found, axis=0)  # type: ignore[no-any-return]


@pytest.mark.parametrize(("a", "b"), [(GATE, GATE), (GATE, HULL), (HULL, GATE)])
def test_verbs_are_those_of_all_pairs(a: Any, b: Any) -> None:
    pose_a, pose_b = batch()
    expected = least(a, b, pose_a, pose_b)
    found = impinge.distance(a, b, pose_a, pose_b)
    assert np.array_equal(found.value, expected)
    assert np.array_equal(impinge.collides(a, b, pose_a, pose_b), expected == 0.0)
    clearance = float(np.median(expected))
    assert np.array_equal(impinge.closer_than(a, b, clearance, pose_a, pose_b), expected <= clearance)
    for one, two in zip((found.point_a, found.point_b), (found.point_b, found.point_a), strict=True):
        assert np.allclose(np.linalg.norm(one - two, axis=1), expected, atol=1e-12)


@pytest.mark.parametrize("workers", [2, 5])
def test_any_number_of_workers(workers: int) -> None:
    pose_a, pose_b = batch()
    one, many = (impinge.distance(GATE, HULL, pose_a, pose_b, workers=n) for n in (1, workers))
    for name in ("value", "point_a", "point_b", "face_a", "face_b"):
        assert np.array_equal(getattr(one, name), getattr(many, name))
    assert np.array_equal(many.feature_a.index, one.feature_a.index)  # type: ignore[union-attr]


def test_between_the_posts_nothing_is_hit() -> None:
    through = shifted(1.5, -0.5, 1.0)
    assert impinge.collides(ConvexHull(np.concatenate([piece.vertices for piece in GATE.pieces])), HULL, None, through)
    assert not impinge.collides(GATE, HULL, None, through)
    found = impinge.distance(GATE, HULL, None, through)
    assert found.value == 0.5
    assert isinstance(found.value, np.float64)


def test_faces_name_pieces_and_those_of_a_hull_its_faces() -> None:
    found = impinge.distance(GATE, HULL, None, shifted(1.75, 0.0, 1.0))
    assert (found.value, found.face_a) == (0.25, 1)
    assert found.face_b == impinge.distance(GATE.pieces[1], HULL, None, shifted(1.75, 0.0, 1.0)).face_b
    swapped = impinge.distance(HULL, GATE, shifted(1.75, 0.0, 1.0), None)
    assert (swapped.value, swapped.face_b, swapped.face_a) == (0.25, 1, found.face_b)
    meeting = impinge.distance(GATE, GATE, None, shifted(3.5, 0.0, 0.0))
    assert meeting.value == 0.0
    assert impinge.collides(GATE.pieces[meeting.face_a], GATE.pieces[meeting.face_b], None, shifted(3.5, 0.0, 0.0))
    assert meeting.feature_a is not None
    assert meeting.feature_a.kind == impinge.FeatureKind.INSIDE


def test_shapes() -> None:
    pose = np.tile(np.eye(4), (2, 3, 1, 1))
    found = impinge.distance(GATE, GATE, pose, None)
    assert found.value.shape == found.face_a.shape == (2, 3)
    assert found.point_a.shape == (2, 3, 3)
    empty = impinge.distance(GATE, HULL, np.zeros((0, 4, 4)), None)
    assert empty.value.shape == (0,)
    assert impinge.collides(GATE, HULL, np.zeros((0, 4, 4))).shape == (0,)


# --------------------------------------------------------------------------------- Pair


def path() -> Floats:
    turn = random_turns(np.random.default_rng(3), 1)
    return poses(turn, np.linspace([6.0, 0.5, 0.3], [-2.0, -0.5, 2.0], 50))


@pytest.mark.parametrize("other", [GATE, HULL])
def test_pair_along_a_path(other: Any) -> None:
    pair = Pair(GATE, other)
    way = path()
    expected = least(GATE, other, np.eye(4), way)
    assert np.array_equal(pair.distance(None, way).value, expected)
    assert np.array_equal(pair.collides(None, way), expected == 0.0)
    assert np.array_equal(pair.closer_than(0.5, None, way), expected <= 0.5)
    for i in range(0, 50, 5):
        assert pair.collides(None, way[i]) == (expected[i] == 0.0)
        assert pair.distance(None, way[i]).value == expected[i]
        assert pair.closer_than(0.5, None, way[i]) == (expected[i] <= 0.5)
    assert pair.statistics.box_tests >= 0
    assert repr(pair) == f"Pair({GATE!r}, {other!r})"


def test_pair_begins_with_the_last_pieces() -> None:
    pair = Pair(GATE, HULL)
    inside = shifted(0.25, 0.0, 1.0)
    pair.collides(None, inside)
    pair.collides(None, inside)
    assert (pair.statistics.box_tests, pair.statistics.triangle_tests) == (0, 1)


def test_pair_pickles_and_takes_threads() -> None:
    pair = Pair(GATE, HULL)
    expected = pair.distance(None, path()).value
    again = pickle.loads(pickle.dumps(pair))
    assert type(again) is type(pair)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: again.distance(None, path()).value, range(12)):
            assert np.array_equal(found, expected)


# ------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("verb", [impinge.contacts, impinge.relation, impinge.penetration])
@pytest.mark.parametrize("other", [GATE, HULL, box(1, 1, 1)])
def test_unsupported_verbs(verb: Callable[..., Any], other: Any) -> None:
    for a, b, name in ((GATE, other, "a"), (other, GATE, "[ab]")):
        with pytest.raises(Unsupported, match=rf"{name} is (ConvexPieces|a mesh)"):
            verb(a, b)


def test_no_mixing_with_a_mesh() -> None:
    mesh = box(1, 1, 1)
    for verb, more in ((impinge.collides, ()), (impinge.distance, ()), (impinge.closer_than, (1.0,))):
        with pytest.raises(Unsupported, match="a is ConvexPieces"):
            verb(GATE, mesh, *more)  # type: ignore[operator]
        with pytest.raises(Unsupported, match="b is ConvexPieces"):
            verb(mesh, GATE, *more)  # type: ignore[operator]
    with pytest.raises(Unsupported, match="b is ConvexPieces"):
        Pair(mesh, GATE)
    with pytest.raises(Unsupported):
        Pair(GATE, HULL).contacts()
    with pytest.raises(Unsupported):
        Pair(GATE, HULL).relation()
    with pytest.raises(Unsupported):
        Pair(GATE, HULL).penetration()


def test_bad_input() -> None:
    with pytest.raises(ValueError, match=r"'vclip' is not one of auto, gjk, which are for ConvexPieces"):
        impinge.collides(GATE, HULL, method="vclip")
    with pytest.raises(ValueError, match=r"'obb' is not one of auto, gjk"):
        Pair(GATE, HULL, method="obb")
    with pytest.raises(ValueError, match="b: expected Mesh, ConvexHull or ConvexPieces, got str"):
        impinge.distance(GATE, "part.stl")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="pose_b"):
        impinge.collides(GATE, HULL, None, 2.0 * np.eye(4))
    with pytest.raises(ValueError, match="clearance"):
        impinge.closer_than(GATE, HULL, -1.0)
    with pytest.raises(ValueError, match="workers"):
        impinge.collides(GATE, HULL, workers=0)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("family", UNDERFLOWING)
def test_products_that_underflow(family: str) -> None:
    for number in range(10):
        rng = np.random.default_rng([4, number])
        one, two = UNDERFLOWING[family](rng, 4, 6), UNDERFLOWING[family](rng, 4, 6)
        a, b = ConvexPieces([one.a, two.a]), ConvexPieces([one.b, two.b])
        pose = one.poses_a, one.poses_b
        value = least(a, b, *pose)
        assert np.array_equal(impinge.distance(a, b, *pose).value, value)
        assert np.array_equal(impinge.collides(a, b, *pose), value == 0.0)
        assert np.array_equal(impinge.closer_than(a, b, np.nextafter(value[0], np.inf), *pose)[0], True)


def test_a_box_of_very_different_sizes_is_a_piece() -> None:
    assert len(ConvexPieces([box(2.0**100, 1e-300, 5e-324)]).pieces) == 1
