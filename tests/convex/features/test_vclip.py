"""V-Clip against GJK: where it ends, the two features are as near as the bodies; where it says so, the bodies meet."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from impinge.convex.distance.support import pose_of
from impinge.convex.features.feature_pair import NEAREST, PENETRATING, FeaturePair, placements
from impinge.convex.features.vclip import vclip
from impinge.convex.features.voronoi_cells import EDGE, FACE, VERTEX
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.convex.hull.feature_graph import FeatureGraph, feature_graph
from impinge.convex.hull.hull_handle import HullHandle, convex_body, hull_handle_of
from impinge.convex.search import ConvexSearch
from impinge.kernels.jit import kernel
from impinge.kernels.record import Record, bool_, float64, int8, int64
from impinge.lab.hard_polytopes import FAMILIES

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

KIND_A, FEATURE_A, KIND_B, FEATURE_B = range(4)
"""Columns of pairs: the first fields of FeaturePair."""

CLOSE = 1e-12
"""What rounding may do to a distance, in units of the largest coordinate."""
SQUARES_CLOSE = 1e-14
"""And to its square: where faces are nearly parallel and nearly touch, rounding decides which way is downhill."""


class WalkTest(Record):
    """WalkTest over features, one for each pose."""

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


work_at = WalkTest.at


@kernel
def _probe(address_a, address_b, address_work):
    a, b, work = convex_body(address_a), convex_body(address_b), work_at(address_work)
    for i in range(work.n_poses_a):
        if work.follow and i > 0:
            work.pairs[i] = work.pairs[i - 1]
        b_to_a, a_to_b = placements(a, b, pose_of(work.poses_a, i), pose_of(work.poses_b, i))
        work.outcomes[i], work.steps[i] = vclip(a, b, b_to_a, a_to_b, work.pairs[i])
    return 0


class Body(NamedTuple):
    hull: ConvexHull
    graph: FeatureGraph
    handle: HullHandle
    corners: NDArray[np.int32]
    """(f, most) the corners of the faces, the last one repeated."""


def body(points: Any) -> Body:
    hull = ConvexHull(points)
    faces = hull.faces
    most = max((len(face) for face in faces), default=1)
    corners = np.array([[*face, *face[-1:].repeat(most - len(face))] for face in faces], dtype=np.int32)
    return Body(hull, feature_graph(hull), hull_handle_of(hull), corners.reshape(-1, most))


class Walks(NamedTuple):
    pairs: Ints
    """(n, 4) the columns above."""
    outcomes: NDArray[np.int8]
    steps: Ints


def walks(
    a: Body, b: Body, poses_a: Floats, poses_b: Floats, starts: Ints | None = None, follow: bool = False
) -> Walks:
    """Without starts, from vertex 0 and vertex 0."""
    count = len(poses_a)
    pairs = np.zeros(count, dtype=FeaturePair.dtype)
    columns = pairs.view(np.int64).reshape(count, -1)[:, :4]
    if starts is not None:
        columns[:] = starts
    work = WalkTest(poses_a=poses_a, poses_b=poses_b, pairs=pairs, follow=follow)
    work.outcomes, work.steps = np.full(count, -1, dtype=np.int8), np.zeros(count, dtype=np.int64)
    _probe(a.handle.address, b.handle.address, work.address)
    return Walks(columns, work.outcomes, work.steps)


def gjk_distances(a: Body, b: Body, poses_a: Floats, poses_b: Floats) -> Floats:
    return ConvexSearch(a.hull, b.hull).distance(poses_a, poses_b)[0]


def _dots(a: Floats, b: Floats) -> Floats:
    return np.asarray((a * b).sum(axis=-1))


def _ratio(a: Floats, b: Floats) -> Floats:
    return np.clip(np.divide(a, b, out=np.zeros_like(a), where=b > 0), 0.0, 1.0)


def segment_distances(a: Floats, b: Floats, c: Floats, d: Floats) -> Floats:
    """Of the segments ab and cd, rows of points each: the ends against the other segment, and the lines' nearest."""
    u, v, r = b - a, d - c, a - c
    uu, vv, uv, ru, rv = _dots(u, u), _dots(v, v), _dots(u, v), _dots(r, u), _dots(r, v)
    ends = [np.zeros_like(uu), np.ones_like(uu)]
    places = [(s, _ratio(rv + s * uv, vv)) for s in ends] + [(_ratio(t * uv - ru, uu), t) for t in ends]
    s = _ratio(uv * rv - ru * vv, uu * vv - uv * uv)
    t = _ratio(rv + s * uv, vv)
    places.append((_ratio(t * uv - ru, uu), t))
    gaps = [r + s[..., None] * u - t[..., None] * v for s, t in places]
    return np.sqrt(np.min([_dots(gap, gap) for gap in gaps], axis=0))


def pair_distances(a: Body, b: Body, poses_a: Floats, poses_b: Floats, pairs: Ints) -> Floats:
    """Of the features in the rows of pairs; nothing smaller than an edge against a face is asked for."""
    distances = np.full(len(pairs), np.nan)
    straight = (pairs[:, KIND_A] != FACE) & (pairs[:, KIND_B] != FACE)
    ends = [
        *_ends(a, poses_a[straight], pairs[straight, KIND_A], pairs[straight, FEATURE_A]),
        *_ends(b, poses_b[straight], pairs[straight, KIND_B], pairs[straight, FEATURE_B]),
    ]
    distances[straight] = segment_distances(*ends)
    for first, second in (((a, poses_a, KIND_A), (b, poses_b, KIND_B)), ((b, poses_b, KIND_B), (a, poses_a, KIND_A))):
        chosen = pairs[:, second[2]] == FACE
        if chosen.any():
            assert (pairs[chosen, first[2]] == VERTEX).all()
            vertex = _ends(first[0], first[1][chosen], pairs[chosen, first[2]], pairs[chosen, first[2] + 1])[0]
            distances[chosen] = _face_distances(second[0], second[1][chosen], pairs[chosen, second[2] + 1], vertex)
    return distances


def _posed(poses: Floats, points: Floats) -> Floats:
    return np.asarray(np.einsum("nij,n...j->n...i", poses[:, :3, :3], points) + _aligned(poses[:, :3, 3], points.ndim))


def _aligned(rows: Floats, dimensions: int) -> Floats:
    return rows.reshape(len(rows), *[1] * (dimensions - 2), rows.shape[1])


def _ends(one: Body, poses: Floats, kinds: Ints, features: Ints) -> tuple[Floats, Floats]:
    is_edge = kinds == EDGE
    ids = np.stack([features, features], axis=1)
    ids[is_edge] = one.hull.edges[features[is_edge]]
    points = _posed(poses, one.hull.vertices[ids])
    return points[:, 0], points[:, 1]


def _face_distances(one: Body, poses: Floats, faces: Ints, points: Floats) -> Floats:
    """Height where the point lies over the face, else the distance of the nearest side."""
    corners = _posed(poses, one.hull.vertices[one.corners[faces]])
    normals = np.einsum("nij,nj->ni", poses[:, :3, :3], one.graph.face_planes[faces, :3])
    sides = np.roll(corners, -1, axis=1) - corners
    away = points[:, None] - corners
    over = (_dots(np.cross(normals[:, None], sides), away) >= 0).all(axis=1)
    same = np.broadcast_to(points[:, None], corners.shape)
    beside = segment_distances(same, same, corners, corners + sides).min(axis=1)
    return np.where(over, np.abs(_dots(away[:, 0], normals)), beside)


class Tally(NamedTuple):
    wrong: Ints
    """The rows of walks whose claim is not true."""
    steps: float


def tally(a: Body, b: Body, poses_a: Floats, poses_b: Floats, found: Walks, truth: Floats | None = None) -> Tally:
    truth = gjk_distances(a, b, poses_a, poses_b) if truth is None else truth
    sizes = np.abs(a.hull.vertices).max() + np.abs(b.hull.vertices).max()
    sizes = sizes + np.abs(poses_a[:, :3, 3]).max(axis=1) + np.abs(poses_b[:, :3, 3]).max(axis=1)
    margin = CLOSE * sizes
    nearest = found.outcomes == NEAREST
    wrong = np.zeros(len(nearest), dtype=np.bool_)
    unit = 2.0 ** np.frexp(sizes.max())[1]  # a power of two, so that no square leaves the range of floats
    scaled_a, scaled_b = _in_units(poses_a[nearest], unit), _in_units(poses_b[nearest], unit)
    claimed = pair_distances(_scaled(a, unit), _scaled(b, unit), scaled_a, scaled_b, found.pairs[nearest]) * unit
    allowed = margin[nearest] * np.maximum(
        1.0, SQUARES_CLOSE / CLOSE * sizes[nearest] / np.maximum(claimed, margin[nearest] + 1e-300)
    )
    wrong[nearest] = ~(np.abs(claimed - truth[nearest]) <= allowed)
    wrong |= (found.outcomes == PENETRATING) & (truth > margin)
    assert (nearest | (found.outcomes == PENETRATING)).all()
    return Tally(np.flatnonzero(wrong), float(found.steps.mean()))


def _scaled(one: Body, unit: float) -> Any:
    class Scaled(NamedTuple):
        vertices: Floats
        edges: NDArray[np.int32]

    return one._replace(hull=Scaled(one.hull.vertices / unit, one.hull.edges))  # type: ignore[arg-type]


def _in_units(poses: Floats, unit: float) -> Floats:
    scaled = poses.copy()
    scaled[:, :3, 3] /= unit
    return scaled


def check(a: Body, b: Body, poses_a: Floats, poses_b: Floats, rng: np.random.Generator) -> None:
    """From scratch, from the pose before, from any pair."""
    truth = gjk_distances(a, b, poses_a, poses_b)
    for starts, follow in ((None, False), (None, True), (random_pairs(a, b, len(poses_a), rng), False)):
        found = walks(a, b, poses_a, poses_b, starts, follow)
        assert len(tally(a, b, poses_a, poses_b, found, truth).wrong) == 0
        # A walk that is ended because it goes in a circle would go on from there.
        again = walks(a, b, poses_a, poses_b, found.pairs)
        assert (again.steps == 1).all()


def random_pairs(a: Body, b: Body, count: int, rng: np.random.Generator) -> Ints:
    columns = []
    for one in (a, b):
        sizes = np.array([len(one.hull.vertices), len(one.hull.edges), len(one.corners)])
        kinds = rng.integers(0, np.count_nonzero(sizes), count)
        columns += [kinds, rng.integers(0, sizes[kinds])]
    return np.stack(columns, axis=1)


def random_rotations(count: int, rng: np.random.Generator) -> Floats:
    w, x, y, z = (q := rng.normal(size=(4, count))) / np.linalg.norm(q, axis=0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def poses_of(translations: Floats, rotations: Floats | None = None) -> Floats:
    poses = np.tile(np.eye(4), (len(translations), 1, 1))
    poses[:, :3, 3] = translations
    if rotations is not None:
        poses[:, :3, :3] = rotations
    return poses


def random_poses(count: int, reach: float, rng: np.random.Generator) -> Floats:
    return poses_of(rng.normal(size=(count, 3)) * reach, random_rotations(count, rng))


def cube() -> Floats:
    return np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


def cloud(rng: np.random.Generator) -> Floats:
    return rng.normal(size=(rng.integers(4, 60), 3))


def ball(rng: np.random.Generator) -> Floats:
    points = rng.normal(size=(60, 3))
    return np.asarray(points / np.linalg.norm(points, axis=1)[:, None])


def prism(rng: np.random.Generator) -> Floats:
    angle = np.arange(30) * (2 * np.pi / 30)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    return np.concatenate([np.column_stack([ring, np.full(30, z)]) for z in (-0.5, 0.5)])


def needle(rng: np.random.Generator) -> Floats:
    return rng.normal(size=(8, 3)) * (1.0, 1e-2, 1e-3)


def plate(rng: np.random.Generator) -> Floats:
    return rng.normal(size=(10, 3)) * (1.0, 1.0, 1e-3)


def polygon(rng: np.random.Generator) -> Floats:
    angle = np.sort(rng.uniform(0, 2 * np.pi, 7))
    return np.column_stack([np.cos(angle), np.sin(angle), np.zeros(7)])


def segment(rng: np.random.Generator) -> Floats:
    return rng.normal(size=(2, 3))


def point(rng: np.random.Generator) -> Floats:
    return rng.normal(size=(1, 3))


SHAPES: dict[str, Callable[[np.random.Generator], Floats]] = {
    shape.__name__: shape for shape in (cloud, ball, prism, needle, plate, polygon, segment, point)
}


@pytest.mark.parametrize("name_b", SHAPES)
@pytest.mark.parametrize("name_a", SHAPES)
def test_shapes_in_any_position(name_a: str, name_b: str) -> None:
    rng = np.random.default_rng([list(SHAPES).index(name_a), list(SHAPES).index(name_b)])
    for reach in (0.5, 2.0, 100.0):
        a, b = body(SHAPES[name_a](rng)), body(SHAPES[name_b](rng))
        check(a, b, random_poses(25, 0.1, rng), random_poses(25, reach, rng), rng)


@pytest.mark.parametrize("scale", [1e-100, 1e-9, 1e9, 1e44])
def test_scales(scale: float) -> None:
    rng = np.random.default_rng(5)
    for shape_a, shape_b in ((cloud, cloud), (prism, needle), (polygon, segment)):
        a, b = body(shape_a(rng) * scale), body(shape_b(rng) * scale)
        poses_a, poses_b = random_poses(60, 0.1, rng), random_poses(60, 2.0, rng)
        poses_a[:, :3, 3] *= scale
        poses_b[:, :3, 3] *= scale
        check(a, b, poses_a, poses_b, rng)


def all_places() -> Floats:
    steps = np.arange(-6, 7) * 0.5
    return np.stack(np.meshgrid(steps, steps, steps), axis=-1).reshape(-1, 3)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("turn", [False, True])
def test_parallel_boxes_at_grid_places(turn: bool) -> None:
    """Parallel faces and edges, corners over edges, touching and overlapping ones; and the same, turned and rounded."""
    rng = np.random.default_rng(6)
    poses_a, poses_b = poses_of(np.zeros((13**3, 3))), poses_of(all_places())
    if turn:
        common = random_poses(1, 1.0, rng)[0]
        poses_a, poses_b = common @ poses_a, common @ poses_b
    flat = cube()[:4] * [0.0, 1.0, 1.0]
    for other in (cube(), cube() * [0.5, 1.0, 2.0], flat, flat[:2], flat[:1]):
        check(body(cube()), body(other), poses_a, poses_b, rng)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("angle", [1e-4, 1e-8, 1e-9, 1e-12, 1e-15])
def test_nearly_parallel_boxes(angle: float) -> None:
    rng = np.random.default_rng(7)
    c, s = np.cos(angle), np.sin(angle)
    tilted = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    places = all_places() + [1.0, 0.25, 0.125]
    check(body(cube()), body(cube()), poses_of(np.zeros_like(places)), poses_of(places, tilted), rng)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("angle", [1e-8, 1e-9, 1e-12, 1e-15])
def test_nearly_parallel_plates(angle: float) -> None:
    """At the rim of a plate the planes of both faces are the same up to rounding: only one has something to gain."""
    rng = np.random.default_rng(12)
    tilts = rng.normal(size=(60, 3)) * angle
    turned = np.tile(np.eye(3), (60, 1, 1))
    turned[:, 0, 1], turned[:, 1, 0] = -tilts[:, 2], tilts[:, 2]
    turned[:, 0, 2], turned[:, 2, 0] = tilts[:, 1], -tilts[:, 1]
    turned[:, 1, 2], turned[:, 2, 1] = -tilts[:, 0], tilts[:, 0]
    for thin, gap in product((0.0, 1e-12, 1e-6), (1e-10, 1e-7, 0.5)):
        a, b = body(cloud(rng) * (1.0, 1.0, thin)), body(cloud(rng) * (1.0, 1.0, 0.0))
        places = np.column_stack([rng.normal(size=(60, 2)) * 0.5, np.full(60, gap + 8.0 * thin + 16.0 * angle)])
        poses_a, poses_b = poses_of(np.zeros((60, 3))), poses_of(places, turned)
        truth = gjk_distances(a, b, poses_a, poses_b)
        for follow in (False, True):
            found = walks(a, b, poses_a, poses_b, None, follow)
            claimed = pair_distances(a, b, poses_a, poses_b, found.pairs)
            assert (found.outcomes == NEAREST).all()
            assert np.abs(claimed - truth).max() <= CLOSE


def test_no_circle_around_a_needle() -> None:
    """Where an edge leaves a sliver another side may be nearer; to go to the first one is to come back for ever."""
    needle = body([[3.08, -0.005, 0.01], [0.603, -0.012, 0.012], [1.945, -0.013, -0.006], [-2.217, -0.013, 0.002]])
    segment = body([[-1.7, -8.4, -1.1], [5.0, -7.8, 4.0]])
    starts = np.array([[i, j, 0, k] for i, n in ((VERTEX, 4), (EDGE, 6), (FACE, 4)) for j in range(n) for k in (0, 1)])
    still = poses_of(np.zeros((len(starts), 3)))
    found = walks(needle, segment, still, still, starts)
    assert (found.outcomes == NEAREST).all()
    assert len(tally(needle, segment, still, still, found).wrong) == 0
    assert found.steps.max() < 12


@pytest.mark.nojit_slow
@pytest.mark.parametrize("family", FAMILIES)
def test_hard_polytopes(family: str) -> None:
    rng = np.random.default_rng(13)
    for _ in range(6):
        met = FAMILIES[family](rng, 64, 30)
        poses_a, poses_b = np.ascontiguousarray(met.poses_a), np.ascontiguousarray(met.poses_b)
        check(body(met.a.vertices), body(met.b.vertices), poses_a, poses_b, rng)


def test_a_smooth_path_takes_few_steps() -> None:
    rng = np.random.default_rng(8)
    a, b = body(ball(rng)), body(cube())
    angle = np.radians(np.arange(360))
    c, s, zero, one = np.cos(angle), np.sin(angle), np.zeros(360), np.ones(360)
    turns = np.moveaxis(np.array([[c, -s, zero], [s, c, zero], [zero, zero, one]]), 2, 0)
    poses_a, poses_b = poses_of(np.zeros((360, 3)), turns), poses_of(np.tile([2.5, 0.3, 0.2], (360, 1)))
    found = walks(a, b, poses_a, poses_b, follow=True)
    result = tally(a, b, poses_a, poses_b, found)
    assert len(result.wrong) == 0
    assert result.steps < 2.0


def test_a_point_behind_a_thin_plate_is_not_inside() -> None:
    """Below the far face the walk is in a local minimum; inside there is none."""
    rng = np.random.default_rng(9)
    thin, dot = body(cube() * [1.0, 1.0, 0.01]), body([[0.0, 0.0, 0.0]])
    places = np.column_stack([rng.uniform(-0.9, 0.9, (200, 2)), np.linspace(-0.5, 0.5, 200)])
    for face in range(6):
        starts = np.tile([FACE, face, VERTEX, 0], (200, 1))
        poses_a, poses_b = poses_of(np.zeros((200, 3))), poses_of(places)
        found = walks(thin, dot, poses_a, poses_b, starts)
        assert np.array_equal(found.outcomes == PENETRATING, np.abs(places[:, 2]) <= 0.01)
        assert len(tally(thin, dot, poses_a, poses_b, found).wrong) == 0


def test_deep_inside_a_large_body() -> None:
    rng = np.random.default_rng(10)
    points = rng.normal(size=(600, 3))
    large, small = body(points / np.linalg.norm(points, axis=1)[:, None]), body(cube() * 0.1)
    poses_a, poses_b = random_poses(100, 0.1, rng), random_poses(100, 0.2, rng)
    check(large, small, poses_a, poses_b, rng)
    assert (walks(large, small, poses_a, poses_b).outcomes == PENETRATING).all()
