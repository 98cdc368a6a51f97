"""The Lin-Canny walk against GJK: every kind of body, random, smooth and parallel placements, all scales and starts."""

from __future__ import annotations

from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from numpy.typing import NDArray

from impinge.convex.distance.support import pose_of
from impinge.convex.features.feature_pair import (
    FEATURE_A,
    FEATURE_B,
    KIND_A,
    KIND_B,
    NEAREST,
    PAIR,
    PENETRATING,
    PIECE_A,
    PIECE_B,
    STEPS,
    placements,
)
from impinge.convex.features.lin_canny import lin_canny
from impinge.convex.features.voronoi_cells import EDGE, FACE, VERTEX
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.convex.hull.feature_graph import feature_graph
from impinge.convex.hull.hull_handle import body_cells, hull_handle_of
from impinge.convex.search import ConvexSearch
from impinge.kernels.jit import kernel
from impinge.kernels.memory import address_of, table

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
CUBE = np.array(list(product((-1.0, 1.0), repeat=3)))
EXACT = 1e-12
MOST_STEPS = 200
"""Far more than any walk over such bodies takes; one that goes in a circle takes more."""

_poses = table(np.float64, 4, 4)
_pairs = table(np.int64, PAIR)
_outcomes = table(np.int64)


@kernel
def _probe(address_a, address_b, address_poses_a, address_poses_b, count, address_pairs, address_outcomes, coherent):
    a, b = body_cells(address_a), body_cells(address_b)
    poses_a, poses_b = _poses(address_poses_a, count), _poses(address_poses_b, count)
    pairs, outcomes = _pairs(address_pairs, count), _outcomes(address_outcomes, count)
    for i in range(count):
        if coherent and i > 0:
            for k in (KIND_A, FEATURE_A, KIND_B, FEATURE_B, PIECE_A, PIECE_B):
                pairs[i, k] = pairs[i - 1, k]
        b_to_a, a_to_b = placements(a.centre, b.centre, pose_of(poses_a, i), pose_of(poses_b, i))
        outcomes[i] = lin_canny(a, b, b_to_a, a_to_b, pairs[i])


def walk(a: ConvexHull, b: ConvexHull, poses_a: Floats, poses_b: Floats, start: str) -> tuple[Ints, Ints]:
    count = len(poses_a)
    pairs, outcomes = np.zeros((count, PAIR), dtype=np.int64), np.full(count, -1, dtype=np.int64)
    if start == "random":
        pairs = random_pairs(np.random.default_rng(count), a, b, count)
    handles = hull_handle_of(a).need_cells(), hull_handle_of(b).need_cells()
    where = address_of(poses_a), address_of(poses_b), count, address_of(pairs), address_of(outcomes)
    _probe(handles[0].address, handles[1].address, *where, start == "previous")
    return pairs, outcomes


def random_pairs(rng: np.random.Generator, a: ConvexHull, b: ConvexHull, count: int) -> Ints:
    """Any features, and numbers of pieces that need not exist."""
    pairs = np.zeros((count, PAIR), dtype=np.int64)
    for hull, kind, feature, piece in ((a, KIND_A, FEATURE_A, PIECE_A), (b, KIND_B, FEATURE_B, PIECE_B)):
        sizes = np.array([len(hull.vertices), len(hull.edges), len(hull.starts) - 1])
        pairs[:, kind] = rng.integers(0, np.count_nonzero(sizes), count)
        pairs[:, feature] = rng.integers(0, 10**9, count) % sizes[pairs[:, kind]]
        pairs[:, piece] = rng.integers(-2, 6, count)
    return pairs


def gjk_distances(a: ConvexHull, b: ConvexHull, poses_a: Floats, poses_b: Floats) -> Floats:
    return ConvexSearch(a, b).distance(poses_a, poses_b)[0]


def feature_points(hull: ConvexHull, kind: int, feature: int, pose: Floats) -> Floats:
    graph = feature_graph(hull)
    if kind == VERTEX:
        corners = hull.vertices[[feature]]
    elif kind == EDGE:
        corners = hull.vertices[graph.edge_vertices[feature]]
    else:
        corners = hull.vertices[graph.face_vertices[graph.face_starts[feature] : graph.face_starts[feature + 1]]]
    placed: Floats = corners @ pose[:3, :3].T + pose[:3, 3]
    return placed


def point_to_segment(p: Floats, q: Floats, r: Floats) -> float:
    size = np.abs(r - q).max()
    along = (r - q) / size
    t = min(max((p - q) @ along / (along @ along), 0.0), size)
    return float(np.linalg.norm(p - q - t * along))


def segment_to_segment(one: Floats, two: Floats) -> float:
    ends = [point_to_segment(p, *two) for p in one] + [point_to_segment(p, *one) for p in two]
    size = max(np.abs(one[1] - one[0]).max(), np.abs(two[1] - two[0]).max())
    u, v, w = (one[1] - one[0]) / size, (two[1] - two[0]) / size, (two[0] - one[0]) / size
    normal = np.cross(u, v)
    if (normal == 0.0).all():
        return min(ends)
    s, t = (np.cross(w, x) @ normal / (normal @ normal) for x in (v, u))
    inner = [abs(w @ normal) / np.linalg.norm(normal) * size] if 0.0 <= s <= 1.0 and 0.0 <= t <= 1.0 else []
    return float(min(ends + inner))


def point_to_polygon(p: Floats, corners: Floats) -> float:
    sides = list(zip(corners, np.roll(corners, -1, axis=0), strict=True))
    size = np.abs(corners - corners[0]).max()
    normal = np.cross((corners[1:] - corners[0]) / size, (np.roll(corners, -1, axis=0)[1:] - corners[0]) / size).sum(
        axis=0
    )
    normal /= np.linalg.norm(normal)
    if all(np.cross(normal, (r - q) / size) @ (p - q) >= 0.0 for q, r in sides):
        return float(abs((p - corners[0]) @ normal))
    return min(point_to_segment(p, q, r) for q, r in sides)


def feature_distance(a: ConvexHull, b: ConvexHull, pose_a: Floats, pose_b: Floats, pair: Ints) -> float:
    one = feature_points(a, pair[KIND_A], pair[FEATURE_A], pose_a)
    two = feature_points(b, pair[KIND_B], pair[FEATURE_B], pose_b)
    if pair[KIND_A] == EDGE and pair[KIND_B] == EDGE:
        return segment_to_segment(one, two)
    if pair[KIND_B] == VERTEX:
        one, two = two, one
    assert len(one) == 1
    if len(two) == 1:
        return float(np.linalg.norm(one[0] - two[0]))
    return point_to_segment(one[0], *two) if len(two) == 2 else point_to_polygon(one[0], two)


def check(a: ConvexHull, b: ConvexHull, poses_a: Floats, poses_b: Floats, start: str, size: float) -> Ints:
    """Nearest pairs are nearest; returns the outcomes."""
    pairs, outcomes = walk(a, b, poses_a, poses_b, start)
    truth = gjk_distances(a, b, poses_a, poses_b)
    assert np.isin(outcomes, (NEAREST, PENETRATING)).all()
    assert (truth[outcomes == PENETRATING] <= EXACT * size).all()
    for i in np.flatnonzero(outcomes == NEAREST):
        off = feature_distance(a, b, poses_a[i], poses_b[i], pairs[i]) - truth[i]
        assert abs(off) <= EXACT * size, (start, pairs[i], truth[i])
    assert (pairs[:, STEPS] <= MOST_STEPS).all()
    return outcomes


def poses(rotations: Floats, translations: Floats) -> Floats:
    made = np.zeros((len(translations), 4, 4))
    made[:, :3, :3], made[:, :3, 3], made[:, 3, 3] = rotations, translations, 1.0
    return made


def rotations(rng: np.random.Generator, count: int) -> Floats:
    q, _ = np.linalg.qr(rng.normal(size=(count, 3, 3)))
    turned: Floats = q * np.linalg.det(q)[:, None, None]
    return turned


def about(axis: Floats, angles: Floats) -> Floats:
    """Rotations around an axis."""
    x, y, z = axis / np.linalg.norm(axis)
    k = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    turned: Floats = np.eye(3) + np.sin(angles)[:, None, None] * k + (1.0 - np.cos(angles))[:, None, None] * (k @ k)
    return turned


def ring(count: int, height: float) -> Floats:
    angle = np.arange(count) * 2.0 * np.pi / count
    return np.column_stack([np.cos(angle), np.sin(angle), np.full(count, height)])


def ball(rng: np.random.Generator, count: int) -> Floats:
    points = rng.normal(size=(count, 3))
    placed: Floats = points / np.linalg.norm(points, axis=1)[:, None]
    return placed


SHAPES = {
    "tetrahedron": lambda rng: rng.normal(size=(4, 3)),
    "cloud": lambda rng: rng.normal(size=(20, 3)) * 0.5,
    "ball": lambda rng: ball(rng, 60),
    "prism": lambda rng: np.concatenate([ring(24, -0.5), ring(24, 0.5)]),
    "cone": lambda rng: np.concatenate([ring(24, 0.0), [[0.0, 0.0, 1.0]]]),
    "box": lambda rng: CUBE * rng.uniform(0.1, 1.0, 3) + (3.0, 0.0, 0.0),
    "needle": lambda rng: rng.normal(size=(8, 3)) * (1.0, 1e-7, 1e-9),
    "plate": lambda rng: rng.normal(size=(10, 3)) * (1.0, 1.0, 1e-12),
    "polygon": lambda rng: ring(9, 0.0),
    "segment": lambda rng: rng.normal(size=(2, 3)),
    "point": lambda rng: rng.normal(size=(1, 3)),
}
STARTS = ("first", "random", "previous")


@pytest.mark.parametrize(("name_a", "name_b"), list(combinations_with_replacement(SHAPES, 2)))
def test_random_placements(name_a: str, name_b: str) -> None:
    rng = np.random.default_rng([list(SHAPES).index(name_a), list(SHAPES).index(name_b)])
    for start, reach in zip(STARTS, (0.7, 1.5, 6.0), strict=True):
        a, b = ConvexHull(SHAPES[name_a](rng)), ConvexHull(SHAPES[name_b](rng))
        poses_a = poses(rotations(rng, 20), rng.normal(size=(20, 3)))
        poses_b = poses(rotations(rng, 20), rng.normal(size=(20, 3)) * reach)
        outcomes = check(a, b, poses_a, poses_b, start, 16.0)
        assert ((outcomes == PENETRATING) == (gjk_distances(a, b, poses_a, poses_b) == 0.0)).all()
        back = check(b, a, poses_b, poses_a, start, 16.0)
        assert (back == outcomes).all()


@pytest.mark.parametrize("name", ["ball", "prism", "cloud", "polygon", "segment"])
def test_smooth_motion_takes_few_steps(name: str) -> None:
    """Around a cube, in and out of it."""
    rng = np.random.default_rng(3)
    a, b = ConvexHull(SHAPES[name](rng)), ConvexHull(CUBE)
    angles = np.radians(np.arange(360.0))
    poses_a = poses(
        about(rng.normal(size=3), angles), np.column_stack([1.8 + np.cos(3 * angles), angles / 6, 0 * angles])
    )
    poses_b = poses(np.broadcast_to(np.eye(3), (360, 3, 3)), np.zeros((360, 3)))
    outcomes = check(a, b, poses_a, poses_b, "previous", 4.0)
    assert {NEAREST, PENETRATING} == set(outcomes.tolist())
    near = [walk(a, b, poses_a, poses_b, start)[0][:, STEPS].mean() for start in ("previous", "first")]
    assert near[0] < min(near[1], 4.0)


QUARTERS = (
    np.eye(3),
    about(np.array([0.0, 0, 1]), np.array([np.pi / 2]))[0].round(),
    about(np.ones(3), np.array([2 * np.pi / 3]))[0].round(),
)
GRID = {
    "cube": CUBE,
    "brick": CUBE * (1.0, 0.5, 0.25),
    "octagon": np.concatenate([ring(8, -1.0), ring(8, 1.0)]),
    "square": CUBE[:4] + (1.0, 0.0, 0.0),
    "segment": np.array([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]),
    "point": np.zeros((1, 3)),
}


@pytest.mark.parametrize(("name_a", "name_b"), list(combinations_with_replacement(GRID, 2)))
def test_parallel_faces_and_edges(name_a: str, name_b: str) -> None:
    """Boxes at grid positions, apart, touching and overlapping, square and turned by some ulps."""
    a, b = ConvexHull(GRID[name_a]), ConvexHull(GRID[name_b])
    offsets = np.array(list(product((-2.0, -0.5, 0.0, 1.25, 2.0, 2.5), repeat=3)))[:: 1 if name_a == "cube" else 3]
    still = poses(np.broadcast_to(np.eye(3), (len(offsets), 3, 3)), 0.0 * offsets)
    for start, quarter, tilt in zip(STARTS, QUARTERS, (0.0, 2.0**-52, 1e-15), strict=True):
        tilted = about(np.array([0.3, 1.0, -0.2]), np.array([tilt]))[0] @ quarter
        moved = poses(np.broadcast_to(tilted, (len(offsets), 3, 3)), offsets)
        check(a, b, still, moved, start, 4.0)


@pytest.mark.parametrize("tilt", [1e-15, 1e-12, 1e-9, 1e-8, 1e-6])
def test_nearly_parallel_faces(tilt: float) -> None:
    a = ConvexHull(CUBE)
    offsets = np.array(list(product((-3.0, 0.0, 0.5, 2.5), repeat=3)))
    still = poses(np.broadcast_to(np.eye(3), (len(offsets), 3, 3)), 0.0 * offsets)
    tilted = about(np.array([0.0, 1.0, 0.0]), np.array([tilt]))[0]
    check(a, a, still, poses(np.broadcast_to(tilted, (len(offsets), 3, 3)), offsets), "first", 4.0)


@pytest.mark.parametrize("scale", [1e-100, 1e-30, 1e40])
def test_scales(scale: float) -> None:
    rng = np.random.default_rng(5)
    for name_a, name_b in (("cloud", "ball"), ("prism", "needle"), ("polygon", "segment"), ("box", "point")):
        a, b = ConvexHull(SHAPES[name_a](rng) * scale), ConvexHull(SHAPES[name_b](rng) * scale)
        poses_a = poses(rotations(rng, 40), rng.normal(size=(40, 3)) * scale)
        poses_b = poses(rotations(rng, 40), rng.normal(size=(40, 3)) * 2.0 * scale)
        check(a, b, poses_a, poses_b, "random", 8.0 * scale)


@pytest.mark.parametrize("away", [1e3, 1e8, 1e14])
def test_far_apart_and_far_from_the_origin(away: float) -> None:
    rng = np.random.default_rng(6)
    for name_a, name_b in (("cloud", "ball"), ("cone", "plate"), ("polygon", "box")):
        a, b = ConvexHull(SHAPES[name_a](rng)), ConvexHull(SHAPES[name_b](rng))
        there = rng.normal(size=(20, 3)) * away
        poses_a = poses(rotations(rng, 20), there)
        check(a, b, poses_a, poses(rotations(rng, 20), there + rng.normal(size=(20, 3)) * 3.0), "first", 4.0 * away)
        check(a, b, poses_a, poses(rotations(rng, 20), rng.normal(size=(20, 3))), "random", 4.0 * away)


@pytest.mark.parametrize("ratio", [1e-12, 1e-5, 1e6])
def test_bodies_of_very_different_size(ratio: float) -> None:
    rng = np.random.default_rng(7)
    for name_a, name_b in (("cloud", "ball"), ("prism", "tetrahedron"), ("cone", "segment")):
        a, b = ConvexHull(SHAPES[name_a](rng)), ConvexHull(SHAPES[name_b](rng) * ratio)
        poses_b = poses(rotations(rng, 30), rng.normal(size=(30, 3)) * max(ratio, 1.0))
        check(a, b, poses(rotations(rng, 30), rng.normal(size=(30, 3))), poses_b, "random", 4.0 * max(ratio, 1.0))


@pytest.mark.parametrize(
    ("points", "place"),
    [
        ([[4, -4, 2], [-3, -3, -1], [2, 2, 4], [-2, 4, 0]], [2.0 - 3.9999999999999982, 4.0, 4.0 - 4.000000000000001]),
        ([[0, 0, 2], [4, 2, 4], [0, 3, 0], [2, 4, 0], [1, 1, 0]], [-3.0, -1.0, -3.0]),
    ],
)
def test_a_point_on_the_border_of_cells(points: list[list[float]], place: list[float]) -> None:
    """Each cell around the line where the point lies says, by rounding, that it lies in the next one."""
    tetrahedron, point = ConvexHull(points), ConvexHull([[0.0, 0.0, 0.0]])
    still = poses(np.eye(3)[None], np.zeros((1, 3)))
    for start in STARTS:
        check(tetrahedron, point, still, poses(np.eye(3)[None], np.array([place])), start, 4.0)


def test_a_vertex_under_a_face_but_outside() -> None:
    """The face is seen from the wrong side; the pyramids lead through to the right one."""
    wedge = ConvexHull([[-4.0, -4.0, 0.0], [4.0, -4.0, 0.0], [4.0, 4.0, 0.0], [-4.0, 4.0, 0.0], [0.0, 0.0, -0.25]])
    top = next(i for i, face in enumerate(wedge.faces) if len(face) == 4)
    point = ConvexHull([[0.0, 0.0, 0.0]])
    below = np.array([[0.5, 0.25, -1.0], [3.0, 0.5, -0.3], [0.0, 0.0, -0.3], [0.0, 0.0, -0.125]])
    pairs, outcomes = np.zeros((4, PAIR), dtype=np.int64), np.zeros(4, dtype=np.int64)
    pairs[:, KIND_A], pairs[:, FEATURE_A] = FACE, top
    still, placed = (
        poses(np.broadcast_to(np.eye(3), (4, 3, 3)), 0.0 * below),
        poses(np.broadcast_to(np.eye(3), (4, 3, 3)), below),
    )
    handles = hull_handle_of(wedge).need_cells(), hull_handle_of(point).need_cells()
    where = address_of(still), address_of(placed), 4, address_of(pairs), address_of(outcomes)
    _probe(handles[0].address, handles[1].address, *where, False)
    assert outcomes.tolist() == [NEAREST, NEAREST, NEAREST, PENETRATING]
    truth = gjk_distances(wedge, point, still, placed)
    for i in range(3):
        assert pairs[i, FEATURE_A] != top or pairs[i, KIND_A] != FACE
        assert feature_distance(wedge, point, still[i], placed[i], pairs[i]) == pytest.approx(truth[i], abs=EXACT)
