"""Bodies of convex pieces: the tree of hulls, and answers that are those of all pairs of pieces."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import impinge
from impinge import ConvexHull, ConvexPieces, Mesh
from impinge.arrays import Bools, Floats
from impinge.bvh.layout import EMPTY, WIDTH
from impinge.bvh.pieces.hull_tree import BRANCHES, HullTree
from impinge.bvh.pieces.pieces_search import PiecesSearch
from impinge.bvh.pieces.pieces_workspace import coherent_workspace
from impinge.convex.distance.gap_bound import gap_bound
from impinge.convex.distance.support import pose_of
from impinge.convex.hull.hull_handle import convex_body, hull_handle_of
from impinge.convex.search import ConvexSearch
from impinge.convex.workspace import ConvexWorkspace, work_at
from impinge.kernels.jit import kernel
from impinge.lab.scenes.poses import poses as make_poses
from impinge.lab.scenes.poses import random_turns
from impinge.lab.scenes.shapes import box


def block(low: tuple[float, float, float], high: tuple[float, float, float]) -> list[tuple[float, ...]]:
    return list(product(*zip(low, high, strict=True)))


def ring(count: int, large: float = 2.0, small: float = 0.5, around: int = 6) -> ConvexPieces:
    """A torus of wedges; neighbours share a face."""
    angles = 2.0 * np.pi * np.arange(count + 1) / count
    angles[-1] = 0.0
    turns = 2.0 * np.pi * np.arange(around) / around
    radius, height = large + small * np.cos(turns), small * np.sin(turns)
    rims = [np.stack([radius * np.cos(a), radius * np.sin(a), height], axis=1) for a in angles]
    return ConvexPieces([np.concatenate([rims[i], rims[i + 1]]) for i in range(count)])


ELL = ConvexPieces([block((0, 0, 0), (1, 1, 3)), block((1, 0, 0), (3, 1, 1))])
STAIRS = ConvexPieces([block((i, 0, 0), (i + 1, 4, i + 1)) for i in range(7)])
RING = ring(16)
THIN = ConvexPieces(
    [
        [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)],
        [(2, 0, 0), (2, 0, 3)],
        [(3, 3, 3)],
        [(-1, -1, -1), (-2, -1, -1), (-1, -2, -1), (-1, -1, -2)],
    ]
)
BODIES = {"ell": ELL, "stairs": STAIRS, "ring": RING, "thin": THIN, "one": ConvexPieces([block((0, 0, 0), (1, 2, 3))])}
SAME = np.eye(4)[None]


def moved(*shift: float) -> Floats:
    pose = np.eye(4)[None].copy()
    pose[0, :3, 3] = shift
    return pose


def poses(rng: np.random.Generator, count: int, spread: float) -> Floats:
    return make_poses(random_turns(rng, count), rng.normal(size=(count, 3)) * spread)


def all_pairs(a: ConvexPieces, b: ConvexPieces, ask: Callable[[ConvexSearch], Any]) -> Any:
    """(pieces of a, pieces of b, poses)"""
    return np.array([[ask(ConvexSearch(p, q)) for q in b.pieces] for p in a.pieces])


def check(
    a: ConvexPieces, b: ConvexPieces, poses_a: Floats, poses_b: Floats, search: PiecesSearch | None = None
) -> None:
    """Every answer is that of all pairs, bit for bit."""
    search = search or PiecesSearch(a, b)
    every = all_pairs(a, b, lambda pair: pair.distance(poses_a, poses_b)[0])
    least = every.min(axis=(0, 1))
    values, points, _, pieces = search.distance(poses_a, poses_b)
    assert np.array_equal(values, least)
    assert np.array_equal(every[pieces[:, 0], pieces[:, 1], np.arange(len(values))], least)
    scale = 1.0 + np.abs(points).max()
    assert np.allclose(np.linalg.norm(points[:, :3] - points[:, 3:], axis=1), values, rtol=0, atol=1e-12 * scale)
    meeting = all_pairs(a, b, lambda pair: pair.collides(poses_a, poses_b)).any(axis=(0, 1))
    assert np.array_equal(search.collides(poses_a, poses_b), meeting)
    assert np.array_equal(values == 0.0, meeting)
    for clearance in (0.0, 0.1, *np.unique(least)[:3], *np.nextafter(np.unique(least)[-2:], 0.0)):
        closer = all_pairs(a, b, partial(_closer_than, clearance, poses_a, poses_b)).any(axis=(0, 1))
        assert np.array_equal(search.closer_than(clearance, poses_a, poses_b), closer)


def _closer_than(clearance: float, poses_a: Floats, poses_b: Floats, pair: ConvexSearch) -> Bools:
    return pair.closer_than(clearance, poses_a, poses_b)


# ------------------------------------------------------------------------------- bodies


def test_what_a_body_is() -> None:
    assert len(ELL) == 2
    assert ELL.solid
    assert ELL.bounds.tolist() == [[0, 0, 0], [3, 1, 3]]
    assert repr(ELL) == "ConvexPieces(2 pieces, 16 vertices)"
    assert repr(ConvexPieces([[[1, 2, 3]]])) == "ConvexPieces(1 piece, 1 vertices)"
    assert ConvexPieces(ELL) is ELL
    hull = ConvexHull(block((0, 0, 0), (1, 1, 1)))
    assert ConvexPieces([hull]).pieces[0] is hull
    assert [piece.dimension for piece in THIN.pieces] == [2, 1, 0, 3]


def test_it_cannot_be_changed() -> None:
    with pytest.raises(AttributeError, match="immutable"):
        ELL.pieces = ()  # type: ignore[misc]
    with pytest.raises(AttributeError, match="immutable"):
        del ELL.pieces


def test_pickle() -> None:
    again = pickle.loads(pickle.dumps(RING))
    assert len(again) == len(RING)
    for one, two in zip(again.pieces, RING.pieces, strict=True):
        assert np.array_equal(one.vertices, two.vertices)
    turned = poses(np.random.default_rng(3), 4, 3.0)
    for one, two in zip(
        PiecesSearch(again, ELL).distance(turned, turned[::-1].copy()),
        PiecesSearch(RING, ELL).distance(turned, turned[::-1].copy()),
        strict=True,
    ):
        assert np.array_equal(one, two)


@pytest.mark.parametrize(
    ("pieces", "what"),
    [
        ([], "pieces: a body of no pieces"),
        (box(1, 1, 1), "pieces: expected a sequence of convex pieces, got Mesh"),
        (ConvexHull([[0, 0, 0]]), "pieces: expected a sequence of convex pieces, got ConvexHull"),
        (7, "pieces: expected a sequence of convex pieces, got int"),
        ("part.stl", "pieces: expected a sequence of convex pieces, got str"),
        ([[[0, 0, 0]], [[0, 0, np.nan]]], r"pieces\[1\]: points"),
        ([[[0, 0, 0]], np.zeros((0, 3))], r"pieces\[1\]: points: the hull of no points"),
        ([[0, 0, 0]], r"pieces\[0\]: points"),
    ],
)
def test_bad_pieces(pieces: object, what: str) -> None:
    with pytest.raises(ValueError, match=what):
        ConvexPieces(pieces)  # type: ignore[arg-type]


def dented(depth: float) -> Mesh:
    """A box whose top has a vertex in the middle, pressed in."""
    corners = [*block((0, 0, 0), (1, 1, 1)), (0.5, 0.5, 1.0 - depth)]
    sides = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4]]
    return Mesh(corners, [*sides, [1, 5, 8], [5, 7, 8], [7, 3, 8], [3, 1, 8]])


def test_a_convex_mesh_is_a_piece() -> None:
    assert len(ConvexPieces([box(1, 1, 1), dented(0.0)]).pieces[1].vertices) == 8
    assert ConvexPieces([Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])]).pieces[0].dimension == 2


@pytest.mark.parametrize("depth", [0.5, 2.0**-50])
def test_no_mesh_is_silently_replaced_by_its_hull(depth: float) -> None:
    with pytest.raises(ValueError, match=r"pieces\[0\]: .* is not convex; pass impinge.ConvexHull"):
        ConvexPieces([dented(depth)])


def test_a_cavity_is_not_convex() -> None:
    outer, inner = box(2, 2, 2), box(1, 1, 1)
    hollow = Mesh(np.concatenate([outer.vertices, inner.vertices]), np.concatenate([outer.faces, inner.faces + 8]))
    with pytest.raises(ValueError, match="is not convex"):
        ConvexPieces([hollow])


# --------------------------------------------------------------------------------- tree


@pytest.mark.parametrize("body", [*BODIES.values(), ring(37)], ids=[*BODIES, "odd ring"])
def test_inner_hulls_hold_all_pieces_below(body: ConvexPieces) -> None:
    tree = HullTree(body.pieces)
    assert sorted(~tree.child[(tree.child < 0) & (tree.child != EMPTY)]) == list(range(len(body)))

    def below(ref: int) -> list[int]:
        child = int(tree.child[ref])
        if child < 0:
            return [] if child == EMPTY else [~child]
        assert child > ref // WIDTH
        assert np.count_nonzero(tree.child[child * WIDTH : (child + 1) * WIDTH] != EMPTY) <= BRANCHES
        return [piece for k in range(WIDTH) for piece in below(child * WIDTH + k)]

    for ref, hull in enumerate(tree.hulls):
        assert (hull is None) == (tree.child[ref] == EMPTY)
        if hull is not None:
            vertices = np.concatenate([body.pieces[i].vertices for i in below(ref)])
            expected = ConvexHull(vertices).vertices
            assert np.array_equal(np.unique(hull.vertices, axis=0), np.unique(expected, axis=0))
    assert "pieces" in repr(tree)


@kernel
def _bound_of(address_a, address_b, address_work, reach):  # type: ignore[no-untyped-def]
    work = work_at(address_work)
    pose_a, pose_b = pose_of(work.poses_a, 0), pose_of(work.poses_b, 0)
    work.kept.count, work.kept.vertices_a[0], work.kept.vertices_b[0] = 1, 0, 0
    return gap_bound(work, convex_body(address_a), convex_body(address_b), pose_a, pose_b, reach)


@given(st.integers(0, 2**32), st.sampled_from([2.0**-40, 1.0, 2.0**30]), st.sampled_from([0.0, 3.0, 2.0**25]))
def test_bound_is_below_the_distance_of_all_that_is_inside(seed: int, scale: float, away: float) -> None:
    rng = np.random.default_rng(seed)
    clouds = [rng.normal(size=(12, 3)) * scale for _ in range(2)]
    pose_a, pose_b = poses(rng, 1, scale), poses(rng, 1, scale)
    pose_b[0, 0, 3] += away * scale
    hulls = [ConvexHull(cloud) for cloud in clouds]
    work = ConvexWorkspace()
    work.ask(pose_a, pose_b, np.zeros(1, dtype=np.int8))
    bound = _bound_of(hull_handle_of(hulls[0]).address, hull_handle_of(hulls[1]).address, work.address, np.inf)
    distance = ConvexSearch(*hulls).distance(pose_a, pose_b)[0][0]
    assert 0.0 <= bound <= distance
    assert bound >= 0.8 * distance - 1e-12 * scale * (1.0 + away)
    inside = [ConvexHull(cloud[: 4 + rng.integers(4)]) for cloud in clouds]
    assert bound <= ConvexSearch(*inside).distance(pose_a, pose_b)[0][0]


# ------------------------------------------------------------------------------ answers


@pytest.mark.parametrize("a", BODIES)
@pytest.mark.parametrize("b", BODIES)
def test_answers_are_those_of_all_pairs(a: str, b: str) -> None:
    rng = np.random.default_rng(len(a) * 10 + len(b))
    for spread in (1.0, 4.0):
        check(BODIES[a], BODIES[b], poses(rng, 4, spread), poses(rng, 4, spread))


def test_many_pieces() -> None:
    rng = np.random.default_rng(5)
    check(ring(64), STAIRS, poses(rng, 3, 3.0), poses(rng, 3, 3.0))


@pytest.mark.parametrize(
    ("body", "shift", "hair"),
    [
        (STAIRS, (0.0, 0.0, 7.0), (0, 0, 1)),
        (STAIRS, (7.0, 0.0, 0.0), (1, 0, 0)),
        (STAIRS, (0.0, 4.0, 3.0), (0, 1, 0)),
        (STAIRS, (-7.0, 4.0, 1.0), (0, 1, 0)),  # an edge in a face
        (STAIRS, (7.0, 4.0, 7.0), (0, 0, 1)),  # vertices
        (ELL, (1.0, 0.0, 1.0), (1, 0, 1)),  # one in the corner of the other
    ],
)
def test_touching_pieces(body: ConvexPieces, shift: tuple[float, ...], hair: tuple[int, ...]) -> None:
    """Faces in exactly one plane meet, and a hair more is apart, also where the hulls overlap."""
    apart = np.array(shift) + 2.0**-49 * np.array(hair)
    for there, meets in ((shift, True), (apart, False)):
        check(body, body, SAME, moved(*there))
        assert PiecesSearch(body, body).collides(SAME, moved(*there)).tolist() == [meets]


@given(st.integers(0, 2**32), st.integers(-30, 30), st.floats(1.0, 2.0**30))
def test_touching_far_from_the_origin(seed: int, exponent: int, far: float) -> None:
    """Pieces that share vertices, posed alike: they touch whatever the rounding, though only in a vertex or an edge."""
    rng = np.random.default_rng(seed)
    scale = 2.0**exponent
    shared = rng.normal(size=(rng.integers(1, 3), 3)) * scale
    away = rng.normal(size=3)
    away /= np.linalg.norm(away)

    def body(side: float) -> ConvexPieces:
        clouds = [rng.normal(size=(5, 3)) * scale for _ in range(6)]
        heights = side * 8.0 * scale * (1.0 + rng.random((6, 5)))
        clouds = [cloud + np.outer(height - cloud @ away, away) for cloud, height in zip(clouds, heights, strict=True)]
        clouds[3] = np.concatenate([clouds[3], shared])
        return ConvexPieces(clouds)

    a, b = body(1.0), body(-1.0)
    pose = poses(rng, 1, far * scale)
    search = PiecesSearch(a, b)
    assert search.collides(pose, pose)[0]
    assert search.distance(pose, pose)[0][0] == 0.0
    assert search.closer_than(0.0, pose, pose)[0]


def test_inside_the_hull_is_not_inside_the_body() -> None:
    """A ball in the hole of a ring: in the hull of the ring, and touching nothing."""
    ball = ConvexPieces([ConvexHull(np.random.default_rng(1).normal(size=(30, 3)) * 0.2)])
    search = PiecesSearch(RING, ball)
    assert ConvexSearch(HullTree(RING.pieces).hulls[0], ball.pieces[0]).collides(SAME, SAME).tolist() == [True]
    assert search.collides(SAME, SAME).tolist() == [False]
    assert search.distance(SAME, SAME)[0][0] > 0.5
    assert search.collides(SAME, moved(2.0, 0.0, 0.0)).tolist() == [True]


def test_far_less_pairs_than_all() -> None:
    body = ring(64)
    rng = np.random.default_rng(2)
    poses_a, poses_b = poses(rng, 20, 0.0), poses(rng, 20, 4.0)
    search = PiecesSearch(body, body)
    search.distance(poses_a, poses_b)
    assert search.statistics.triangle_tests < 20 * 64 * 64 // 100
    search.collides(poses_a, moved(9.0, 0.0, 0.0).repeat(20, axis=0))
    assert search.statistics.box_tests == 20
    assert search.statistics.triangle_tests == 0


@pytest.mark.parametrize("scale", [2.0**-300, 2.0**-60, 2.0**60, 2.0**140])
def test_scaling_by_powers_of_two_changes_nothing(scale: float) -> None:
    rng = np.random.default_rng(8)
    poses_a, poses_b = poses(rng, 8, 2.0), poses(rng, 8, 2.0)
    values = PiecesSearch(STAIRS, ELL).distance(poses_a, poses_b)[0]
    scaled = [ConvexPieces([piece.vertices * scale for piece in body.pieces]) for body in (STAIRS, ELL)]
    for pose in (poses_a, poses_b):
        pose[:, :3, 3] *= scale
    search = PiecesSearch(*scaled)
    assert np.array_equal(search.distance(poses_a, poses_b)[0], values * scale)
    assert np.array_equal(search.collides(poses_a, poses_b), values == 0.0)


def test_coherent_search_gives_the_same() -> None:
    rng = np.random.default_rng(4)
    path = make_poses(random_turns(rng, 1), np.linspace([6.0, 0.3, 0.2], [0.0, -0.3, 0.1], 40))
    still = np.tile(np.eye(4), (40, 1, 1))
    remembers = PiecesSearch(RING, STAIRS, coherent_workspace())
    check(RING, STAIRS, still, path, remembers)
    check(RING, STAIRS, still, path[::-1].copy(), remembers)
    remembers.collides(still, path)
    for i in range(0, 40, 7):
        check(RING, STAIRS, still[:1], path[i : i + 1], remembers)


def test_threads() -> None:
    rng = np.random.default_rng(6)
    poses_a, poses_b = poses(rng, 60, 2.0), poses(rng, 60, 2.0)
    body = ring(12)
    expected = PiecesSearch(ring(12), ELL).distance(poses_a, poses_b)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: PiecesSearch(body, ELL).distance(poses_a, poses_b), range(8)):
            for one, two in zip(found, expected, strict=True):
                assert np.array_equal(one, two)


# ------------------------------------------------------------------------- decomposition


def test_decompose_needs_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "coacd", None)
    with pytest.raises(impinge.MissingExtra, match=r"impinge\[decompose\]"):
        ConvexPieces.decompose(box(1, 1, 1))
    with pytest.raises(ValueError, match="mesh: expected a Mesh, got ConvexHull"):
        ConvexPieces.decompose(ConvexHull(box(1, 1, 1)))  # type: ignore[arg-type]


def test_decompose() -> None:
    pytest.importorskip("coacd", reason="the extra 'decompose' is not installed")
    corners = [(0, 0), (3, 0), (3, 1), (1, 1), (1, 3), (0, 3)]
    vertices = [(x, y, z) for z in (0, 1) for x, y in corners]
    sides = [[i, (i + 1) % 6, 6 + (i + 1) % 6, 6 + i] for i in range(6)]
    ell = Mesh(vertices, [[5, 4, 3, 2, 1, 0], [6, 7, 8, 9, 10, 11], *sides], solid=True)
    pieces = ConvexPieces.decompose(ell, threshold=0.05, seed=1)
    assert len(pieces) >= 2
    assert np.allclose(pieces.bounds, ell.bounds, atol=0.1)
    point = ConvexPieces([[[2.2, 2.2, 0.5]]])
    assert not PiecesSearch(pieces, point).collides(SAME, SAME)[0]
