"""The Lin-Canny walk against GJK: every kind of body, random, smooth and parallel placements, all scales and starts."""

from __future__ import annotations

from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from impinge.convex.distance.support import pose_of
from impinge.convex.features.feature_pair import NEAREST, PENETRATING, FeaturePair, placements
from impinge.convex.features.lin_canny import lin_canny
from impinge.convex.features.voronoi_cells import EDGE, FACE, VERTEX
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.convex.hull.feature_graph import feature_graph
from impinge.convex.hull.hull_handle import convex_body, hull_handle_of
from impinge.convex.search import ConvexSearch
from impinge.kernels.jit import kernel
from impinge.kernels.record import Record, bool_, float64, int8, int64

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Pairs = NDArray[Any]
"""Rows of FeaturePair."""
CUBE = np.array(list(product((-1.0, 1.0), repeat=3)))
EXACT = 1e-12
MOST_STEPS = 200
"""Far more than any walk over such bodies takes; one that goes in a circle takes more."""


class Walks(Record):
    """Walks over features, one for each pose."""

    poses_a = float64[:, 4, 4]
    poses_b = float64[:, 4, 4]
    pairs = FeaturePair[:]
    """Where each begins, and then where it ends;"""
    outcomes = int8[:]
    """how,"""
    steps = int64[:]
    """and after how many steps."""
    follow = bool_
    """Whether each begins where the one before it has ended."""


walks_at = Walks.at


@kernel
def _probe(address_a, address_b, address_walks):
    a, b, walks = convex_body(address_a), convex_body(address_b), walks_at(address_walks)
    for i in range(walks.n_poses_a):
        if walks.follow and i > 0:
            walks.pairs[i] = walks.pairs[i - 1]
        b_to_a, a_to_b = placements(a, b, pose_of(walks.poses_a, i), pose_of(walks.poses_b, i))
        walks.outcomes[i], walks.steps[i] = lin_canny(a, b, b_to_a, a_to_b, walks.pairs[i])
    return 0


def new_pairs(count: int) -> Pairs:
    """The first vertices."""
    return np.zeros(count, dtype=FeaturePair.dtype)


def run(a: ConvexHull, b: ConvexHull, poses_a: Floats, poses_b: Floats, pairs: Pairs, follow: bool = False) -> Walks:
    """From these pairs, which are overwritten."""
    count = len(poses_a)
    walks = Walks(poses_a=poses_a, poses_b=poses_b, pairs=pairs, follow=follow)
    walks.outcomes, walks.steps = np.full(count, -1, dtype=np.int8), np.zeros(count, dtype=np.int64)
    _probe(hull_handle_of(a).need_cells().address, hull_handle_of(b).need_cells().address, walks.address)
    return walks


def walk(a: ConvexHull, b: ConvexHull, poses_a: Floats, poses_b: Floats, start: str) -> tuple[Pairs, Ints, Ints]:
    """Pairs, outcomes and steps."""
    count = len(poses_a)
    pairs = random_pairs(np.random.default_rng(count), a, b, count) if start == "random" else new_pairs(count)
    walks = run(a, b, poses_a, poses_b, pairs, start == "previous")
    return pairs, walks.outcomes, walks.steps


def random_pairs(rng: np.random.Generator, a: ConvexHull, b: ConvexHull, count: int) -> Pairs:
    """Any features, and numbers of pieces that need not exist."""
    pairs = new_pairs(count)
    for hull, side in ((a, "a"), (b, "b")):
        sizes = np.array([len(hull.vertices), len(hull.edges), len(hull.starts) - 1])
        kinds = rng.integers(0, np.count_nonzero(sizes), count)
        pairs[f"kind_{side}"] = kinds
        pairs[f"feature_{side}"] = rng.integers(0, 10**9, count) % sizes[kinds]
        pairs[f"piece_{side}"] = rng.integers(-2, 6, count)
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


def feature_distance(a: ConvexHull, b: ConvexHull, pose_a: Floats, pose_b: Floats, pair: Any) -> float:
    one = feature_points(a, pair["kind_a"], pair["feature_a"], pose_a)
    two = feature_points(b, pair["kind_b"], pair["feature_b"], pose_b)
    if pair["kind_a"] == EDGE and pair["kind_b"] == EDGE:
        return segment_to_segment(one, two)
    if pair["kind_b"] == VERTEX:
        one, two = two, one
    assert len(one) == 1
    if len(two) == 1:
        return float(np.linalg.norm(one[0] - two[0]))
    return point_to_segment(one[0], *two) if len(two) == 2 else point_to_polygon(one[0], two)


def check(a: ConvexHull, b: ConvexHull, poses_a: Floats, poses_b: Floats, start: str, size: float) -> Ints:
    """Nearest pairs are nearest; returns the outcomes."""
    pairs, outcomes, steps = walk(a, b, poses_a, poses_b, start)
    truth = gjk_distances(a, b, poses_a, poses_b)
    assert np.isin(outcomes, (NEAREST, PENETRATING)).all()
    assert (truth[outcomes == PENETRATING] <= EXACT * size).all()
    for i in np.flatnonzero(outcomes == NEAREST):
        off = feature_distance(a, b, poses_a[i], poses_b[i], pairs[i]) - truth[i]
        assert abs(off) <= EXACT * size, (start, pairs[i], truth[i])
    assert (steps <= MOST_STEPS).all()
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
    near = [walk(a, b, poses_a, poses_b, start)[2].mean() for start in ("previous", "first")]
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
    pairs = new_pairs(4)
    pairs["kind_a"], pairs["feature_a"] = FACE, top
    still, placed = (
        poses(np.broadcast_to(np.eye(3), (4, 3, 3)), 0.0 * below),
        poses(np.broadcast_to(np.eye(3), (4, 3, 3)), below),
    )
    walks = run(wedge, point, still, placed, pairs)
    assert walks.outcomes.tolist() == [NEAREST, NEAREST, NEAREST, PENETRATING]
    truth = gjk_distances(wedge, point, still, placed)
    for i in range(3):
        assert pairs[i]["feature_a"] != top or pairs[i]["kind_a"] != FACE
        assert feature_distance(wedge, point, still[i], placed[i], pairs[i]) == pytest.approx(truth[i], abs=EXACT)
