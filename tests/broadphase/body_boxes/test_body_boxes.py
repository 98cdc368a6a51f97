"""Boxes of bodies hold every posed vertex, and those that are tight are no larger than they must be."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from impinge import ConvexHull, ConvexPieces, Mesh, collides
from impinge.broadphase.body_boxes.body_boxes import BodyBoxes
from impinge.broadphase.body_boxes.box_axes import as_axes
from impinge.broadphase.body_boxes.tight_boxes import FEW
from impinge.broadphase.choice import broad_phase
from impinge.constants import UNIT_ROUNDOFF
from impinge.geometry.pose import posed_vertices
from impinge.lab.hard_input import quarter_turn, random_pose
from impinge.lab.scenes.shapes import box, torus, unit_circle

Array = NDArray[np.float64]
RNG = np.random.default_rng(5)
SKEWED = [[1.0, 1.0, 0.3], [-1.0, 1.0, 0.3], [0.1, -0.7, 1.0]]


def prism(sides: int, height: float) -> Array:
    ring = unit_circle(sides)
    return np.concatenate([np.column_stack([ring, np.full(sides, z)]) for z in (-height, height)])


def dome(size: int, bend: float) -> Array:
    """A grid that is bent by less than what heights are rounded by, and still strictly convex."""
    i, j = np.meshgrid(np.arange(-size, size + 1.0), np.arange(-size, size + 1.0))
    return np.column_stack([i.ravel(), j.ravel(), -(i**2 + j**2).ravel() * bend])


def on_a_sphere(count: int) -> Array:
    points = RNG.normal(size=(count, 3))
    return points / np.linalg.norm(points, axis=1)[:, None]


SHAPES = {
    "point": np.array([[0.3, -0.2, 0.7]]),
    "segment": np.array([[-1.0, 0.1, 0.0], [2.0, 0.2, 0.3]]),
    "flat": np.column_stack([unit_circle(60), np.zeros(60)]),
    "cube": box(1, 1, 1).vertices,
    "prism": prism(40, 0.5),
    "disc": prism(40, 2.0**-30),
    "needle": on_a_sphere(80) * [1.0, 2.0**-30, 2.0**-40],
    "sphere": on_a_sphere(150),
    "dome": dome(4, 2.0**-53),
    "steeper dome": dome(4, 2.0**-49),
    "far from its own origin": on_a_sphere(80) + [1e6, -2e6, 3e5],
}
SCALES = {"as it is": 1.0, "tiny": 2.0**-600, "subnormal": 2.0**-1070, "huge": 2.0**85}


@lru_cache
def hulls(scale: str = "as it is") -> list[ConvexHull]:
    factor = SCALES[scale]
    shapes = [points for points in SHAPES.values() if factor == 1.0 or np.abs(points).max() < 20.0]
    made = [ConvexHull(points * factor) for points in shapes]
    assert scale == "subnormal" or sum(len(hull.vertices) > FEW for hull in made) >= 6
    return made


def small_turn(rng: np.random.Generator, angle: float) -> Array:
    axis = rng.normal(size=3)
    x, y, z = axis / np.linalg.norm(axis) * angle
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    pose = np.eye(4)
    pose[:3, :3] += cross + 0.5 * cross @ cross
    return pose


def some_poses(rng: np.random.Generator, count: int) -> list[Array]:
    """At random, along a smooth path, square to the axes, and nearly so."""
    poses = []
    for i in range(count):
        kind = i % 4
        if kind == 0:
            pose = random_pose(rng)
        elif kind == 1:
            pose = poses[-1].copy()
            pose[:3, :3] = pose[:3, :3] @ small_turn(rng, 1e-4)[:3, :3]
        elif kind == 2:
            pose = quarter_turn(rng, 3)
        else:
            pose = poses[-1] @ small_turn(rng, 10.0 ** rng.uniform(-17, -8))
        poses.append(pose)
    return poses


def bounds_of(pose: Array, vertices: Array) -> Array:
    world = posed_vertices(pose, vertices)
    return np.array([world.min(axis=0), world.max(axis=0)])


def size_of(pose: Array, vertices: Array) -> float:
    return float(2.0 * np.abs(vertices).max() + np.abs(pose[:3, 3]).max())


def holds_all(interval: Array, direction: Array, points: Array) -> bool:
    """Exactly."""
    d = [Fraction(x) for x in direction.tolist()]
    values = [sum(a * Fraction(b) for a, b in zip(d, p, strict=True)) for p in points.tolist()]
    return Fraction(interval[0]) <= min(values) and max(values) <= Fraction(interval[1])


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("away", [0.0, 1.0, 1e9, 1e17])
def test_tight_boxes_of_hulls_are_those_of_their_posed_vertices(scale: str, away: float) -> None:
    rng = np.random.default_rng(7)
    bodies = hulls(scale)
    boxes = BodyBoxes(bodies)
    for pose in some_poses(rng, 12):
        pose[:3, 3] *= away * SCALES[scale]
        poses = np.tile(pose, (len(bodies), 1, 1))
        truth = [bounds_of(pose, hull.vertices) for hull in bodies]
        np.testing.assert_array_equal(boxes.boxes(poses), truth)


def back_from(turn: Array) -> Array:
    """The inverse of a turn, which puts what it tilted square to the axes again, up to rounding."""
    pose = np.eye(4)
    pose[:3, :3] = turn[:3, :3].T
    return pose


def test_climbing_over_a_surface_flatter_than_rounding() -> None:
    """Computed heights have summits everywhere on it; the highest one is found all the same."""
    rng = np.random.default_rng(11)
    turns = [random_pose(rng) for _ in range(12)]
    bends = 2.0 ** -np.arange(46.0, 50.0)
    bodies = [ConvexHull(dome(5, bends[i % 4]) @ turn[:3, :3].T) for i, turn in enumerate(turns)]
    assert sum(len(hull.vertices) > FEW for hull in bodies) >= 6
    boxes = BodyBoxes(bodies)
    for _ in range(20):
        jump = quarter_turn(rng) @ small_turn(rng, 10.0 ** rng.uniform(-17, -14))
        poses = np.array([jump @ back_from(turn) for turn in turns])
        truth = [bounds_of(pose, hull.vertices) for pose, hull in zip(poses, bodies, strict=True)]
        np.testing.assert_array_equal(boxes.boxes(poses), truth)


def with_middles(mesh: Mesh) -> Mesh:
    """Each triangle cut into four: the new vertices lie on the edges, exactly or nearly so."""
    vertices, faces = mesh.vertices.tolist(), []
    for triangle in mesh.faces:
        corners = mesh.vertices[triangle]
        first = len(vertices)
        vertices += ((corners + np.roll(corners, -1, axis=0)) * 0.5).tolist()
        (a, b, c), (d, e, f) = triangle.tolist(), range(first, first + 3)
        faces += [[a, d, f], [d, b, e], [f, e, c], [d, e, f]]
    return Mesh(vertices, faces)


def pieces() -> ConvexPieces:
    cube = box(1, 1, 1).vertices
    return ConvexPieces(
        [cube, cube * 0.5 + [0.25, 0.25, 0.5], cube + [0.1, 0.0, 0.0], on_a_sphere(40) + [1.0, 1.0, 1.0]]
    )


@pytest.mark.parametrize("away", [0.0, 3.0, 1e6, 1e12])
@pytest.mark.parametrize("axes", [None, SKEWED])
@pytest.mark.parametrize("kind", ["tight", "cubes", "vertices"])
def test_boxes_hold_vertices_that_are_no_corners_of_the_hull(kind: str, axes: Any, away: float) -> None:
    rng = np.random.default_rng(3)
    tilt, plate = random_pose(rng), box(1, 0.1, 0.7)
    tilted = with_middles(with_middles(Mesh(plate.vertices @ tilt[:3, :3].T, plate.faces)))
    bodies: list[Mesh | ConvexPieces] = [with_middles(plate), tilted, torus(1.0, 0.3, 12, 8), pieces()]
    vertices = [
        body.vertices if isinstance(body, Mesh) else np.concatenate([piece.vertices for piece in body.pieces])
        for body in bodies
    ]
    boxes = BodyBoxes(bodies, kind=kind, axes=axes)
    for pose in [*some_poses(rng, 8), back_from(tilt), quarter_turn(rng, 3) @ back_from(tilt)]:
        pose[:3, 3] *= away
        found = boxes.boxes(np.tile(pose, (len(bodies), 1, 1)))
        for interval, points in zip(found, vertices, strict=True):
            world = posed_vertices(pose, points)
            assert all(holds_all(interval[:, k], d, world) for k, d in enumerate(boxes.axes))
            if kind != "cubes":
                values = world @ boxes.axes.T
                slack = 100.0 * UNIT_ROUNDOFF * size_of(pose, points)
                assert (interval[0] >= values.min(axis=0) - slack).all()
                assert (interval[1] <= values.max(axis=0) + slack).all()


@pytest.mark.parametrize("kind", ["tight", "cubes", "vertices"])
def test_a_vertex_between_corners_may_be_posed_beyond_them(kind: str) -> None:
    """A strip of equal steps (4, 3, 0), seen along (3, -4, 0): all vertices have one coordinate, but for rounding."""
    steps = np.arange(20.0)
    strip = np.concatenate([np.column_stack([4.0 * steps, 3.0 * steps, np.full(20, z)]) for z in (0.0, 1.0)])
    mesh = Mesh(strip, [[i, i + 1, i + 20 + k] for i in range(19) for k in (0, 1)])
    pose = np.eye(4)
    pose[:2, :2] = [[0.6, -0.8], [0.8, 0.6]]
    world = posed_vertices(pose, strip)
    corners = bounds_of(pose, ConvexHull(mesh).vertices)
    assert world[:, 0].min() < corners[0, 0] or world[:, 0].max() > corners[1, 0]
    (found,) = BodyBoxes([mesh], kind=kind).boxes([pose])
    assert (found[0] <= world.min(axis=0)).all()
    assert (found[1] >= world.max(axis=0)).all()


def test_meshes_without_other_vertices_have_exact_boxes() -> None:
    rng = np.random.default_rng(4)
    mesh = box(1, 2, 3)
    boxes = BodyBoxes([mesh])
    for pose in some_poses(rng, 20):
        np.testing.assert_array_equal(boxes.boxes([pose])[0], bounds_of(pose, mesh.vertices))


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", ["tight", "cubes", "vertices"])
def test_intervals_along_skewed_axes_hold_every_posed_vertex(kind: str, scale: str) -> None:
    rng = np.random.default_rng(9)
    bodies = hulls(scale)
    for away in (0.0, 1.0, 1e9, 1e17):
        axes = as_axes(rng.normal(size=(3, 3)) if away else SKEWED)
        boxes = BodyBoxes(bodies, kind=kind, axes=axes)
        pose = random_pose(rng)
        pose[:3, 3] *= away * SCALES[scale]
        for interval, hull in zip(boxes.boxes(np.tile(pose, (len(bodies), 1, 1))), bodies, strict=True):
            world = posed_vertices(pose, hull.vertices)
            assert all(holds_all(interval[:, k], d, world) for k, d in enumerate(boxes.axes))
            if kind != "cubes":
                values = world @ boxes.axes.T
                slack = 100.0 * UNIT_ROUNDOFF * size_of(pose, hull.vertices) + 2.0**-1065
                assert (interval[0] >= values.min(axis=0) - slack).all()
                assert (interval[1] <= values.max(axis=0) + slack).all()


def test_cubes_keep_their_size_and_hold_every_orientation() -> None:
    rng = np.random.default_rng(2)
    bodies = hulls()
    boxes = BodyBoxes(bodies, kind="cubes")
    widths = []
    for pose in some_poses(rng, 20):
        found = boxes.boxes(np.tile(pose, (len(bodies), 1, 1)))
        for interval, hull in zip(found, bodies, strict=True):
            low, high = bounds_of(pose, hull.vertices)
            assert (interval[0] <= low).all()
            assert (interval[1] >= high).all()
        widths.append(found[:, 1] - found[:, 0])
    reach = np.array([np.abs(hull.vertices).max() for hull in bodies])
    assert (np.ptp(widths, axis=(0, 2)) <= 1e-14 * (10.0 + reach)).all()
    sphere = list(SHAPES).index("sphere")
    assert 2.0 <= widths[0][sphere].max() <= 2.2  # around a sphere nothing smaller is possible


def test_cubes_hold_bodies_under_rotations_at_the_tolerance() -> None:
    """A pose may stretch by as much as its check lets pass."""
    stretched = np.eye(4)
    stretched[:3, :3] += 4.99e-10 * np.ones((3, 3))
    segment = ConvexHull([[-1, -1, -1], [1, 1, 1]])
    diagonal = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, 0.0]])
    boxes = BodyBoxes([segment], kind="cubes", axes=diagonal)
    (interval,) = boxes.boxes([stretched])
    world = posed_vertices(stretched, segment.vertices)
    assert world.max() > 1.0 + 1e-9
    assert holds_all(interval[:, 0], boxes.axes[0], world)


@pytest.mark.parametrize("kind", ["tight", "cubes", "vertices"])
def test_two_axes_are_a_plane(kind: str) -> None:
    bodies = [ConvexHull(SHAPES["sphere"]), box(1, 1, 1)]
    poses = [random_pose(RNG) for _ in bodies]
    three = BodyBoxes(bodies, kind=kind, axes=SKEWED).boxes(poses)
    two = BodyBoxes(bodies, kind=kind, axes=SKEWED[:2]).boxes(poses)
    np.testing.assert_array_equal(two[:, :, :2], three[:, :, :2])
    assert (two[:, :, 2] == 0.0).all()


def test_axes_along_the_world_in_any_order_and_length() -> None:
    body = ConvexHull(SHAPES["sphere"])
    pose = random_pose(RNG)
    truth = bounds_of(pose, body.vertices)
    found = BodyBoxes([body], axes=[[0, 0, 1e300], [-5e-324, 0, 0], [0, 7, 0]]).boxes([pose])[0]
    np.testing.assert_array_equal(found[:, 0], truth[:, 2])
    np.testing.assert_array_equal(found[:, 1], -truth[::-1, 0])
    np.testing.assert_array_equal(found[:, 2], truth[:, 1])


directions = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3).filter(any)


@given(st.lists(directions, min_size=2, max_size=3))
def test_axes_are_unit_vectors_that_are_not_too_long(axes: list[list[float]]) -> None:
    """So that a broad phase with a margin loses no pair that is nearer than this."""
    for given_, unit in zip(axes, as_axes(axes), strict=True):
        square = sum(Fraction(x) ** 2 for x in unit.tolist())
        assert 1 - Fraction(1, 2**47) <= square <= 1
        largest = int(np.argmax(np.abs(given_)))
        assert unit[largest] * np.sign(given_[largest]) >= 0.57


@given(
    st.integers(0, 2**32), st.sampled_from(["tight", "cubes", "vertices"]), st.lists(directions, min_size=2, max_size=3)
)
def test_bodies_in_contact_overlap_along_any_axes(seed: int, kind: str, axes: list[list[float]]) -> None:
    rng = np.random.default_rng(seed)
    cube = ConvexHull(box(1, 1, 1))
    bodies = [cube, ConvexHull(on_a_sphere(12)), cube, ConvexHull([[0, 0, 0], [1, 0, 0]]), cube]
    poses = np.array([random_pose(rng, 1.0) for _ in bodies[:-1]] + [np.eye(4)])
    poses[2] = poses[-1].copy()
    poses[2, rng.integers(3), 3] += 1.0  # exactly touching
    broad = broad_phase("brute")
    broad.add(BodyBoxes(bodies, kind=kind, axes=axes).boxes(poses))
    broad.update()
    near = set(map(tuple, broad.pairs.tolist()))
    touching = {
        (i, j) for j in range(len(bodies)) for i in range(j) if collides(bodies[i], bodies[j], poses[i], poses[j])
    }
    assert (2, 4) in touching
    assert touching <= near


def test_what_is_remembered_changes_nothing() -> None:
    rng = np.random.default_rng(8)
    bodies = [ConvexHull(SHAPES[name]) for name in ("sphere", "prism", "dome")] * 2
    for axes in (None, SKEWED):
        kept = BodyBoxes(bodies, axes=axes)
        for _ in range(5):
            poses = np.array([random_pose(rng, 10.0) for _ in bodies])
            np.testing.assert_array_equal(kept.boxes(poses), BodyBoxes(bodies, axes=axes).boxes(poses))


@pytest.mark.parametrize("kind", ["tight", "cubes", "vertices"])
def test_pickled_boxes_are_the_same(kind: str) -> None:
    bodies = [ConvexHull(SHAPES["sphere"]), box(1, 2, 3), pieces()]
    boxes = BodyBoxes(bodies, kind=kind, axes=SKEWED)
    poses = [random_pose(RNG) for _ in bodies]
    again = pickle.loads(pickle.dumps(boxes))
    np.testing.assert_array_equal(again.boxes(poses), boxes.boxes(poses))
    assert len(again) == 3
    assert repr(again) == f"BodyBoxes(3 bodies, {kind})"


def test_two_threads_may_ask_at_once() -> None:
    bodies = [ConvexHull(SHAPES["prism"]), ConvexHull(SHAPES["sphere"])] * 50
    rng = np.random.default_rng(1)
    boxes = BodyBoxes(bodies)
    frames = [np.array([pose] * len(bodies)) for pose in some_poses(rng, 16)]
    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(boxes.boxes, frames))
    for frame, result in zip(frames, found, strict=True):
        np.testing.assert_array_equal(result, BodyBoxes(bodies).boxes(frame))


def test_no_bodies_have_no_boxes() -> None:
    assert BodyBoxes([]).boxes(np.empty((0, 4, 4))).shape == (0, 2, 3)
    assert BodyBoxes([], kind="cubes").boxes(np.empty((0, 4, 4))).shape == (0, 2, 3)


@pytest.mark.parametrize("kind", ["tight", "cubes", "vertices"])
def test_bad_poses_are_named(kind: str) -> None:
    boxes = BodyBoxes([box(1, 1, 1)] * 3, kind=kind)
    poses = np.tile(np.eye(4), (3, 1, 1))
    with pytest.raises(ValueError, match=r"poses: expected shape \(3, 4, 4\), one for each body, got \(2, 4, 4\)"):
        boxes.boxes(poses[:2])
    for bad in (np.nan, np.inf):
        poses[2, 1, 3] = bad
        with pytest.raises(ValueError, match=rf"poses\[2, 1, 3\] is {bad}"):
            boxes.boxes(poses)
    poses[2, 1, 3] = 0.0
    poses[1, 0, 0] = 2.0
    with pytest.raises(ValueError, match=r"poses\[1\] scales"):
        boxes.boxes(poses)


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ([1, 0, 0], r"axes: expected shape \(3, 3\) or \(2, 3\), one direction a row, got \(3,\)"),
        ([[1, 0, 0]], r"got \(1, 3\)"),
        ([[1, 0, 0], [0, 0, 0]], r"axes\[1\] is zero"),
        ([[1, 0, 0], [0, np.nan, 0]], r"axes\[1, 1\] is nan"),
        ([[1, 0, 0], [0, np.inf, 0]], r"axes\[1, 1\] is inf"),
    ],
)
def test_bad_axes_are_named(axes: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BodyBoxes([box(1, 1, 1)], axes=axes)


def test_bad_bodies_and_kinds_are_named() -> None:
    with pytest.raises(ValueError, match=r"bodies\[1\]: expected Mesh, ConvexHull or ConvexPieces, got str"):
        BodyBoxes([box(1, 1, 1), "cube"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="bodies: expected a sequence of bodies, got Mesh"):
        BodyBoxes(box(1, 1, 1))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="kind 'loose' of boxes is not one of tight, cubes"):
        BodyBoxes([], kind="loose")


def test_boxes_of_all_vertices_are_the_bounds_of_posed_ones() -> None:
    rng = np.random.default_rng(12)
    bodies = [Mesh(rng.normal(size=(n, 3)), rng.integers(0, n, size=(20, 3))) for n in (3, 40, 400)]
    poses = np.array([random_pose(rng) for _ in range(3)])
    boxes = BodyBoxes(bodies, kind="vertices").boxes(poses)
    for body, pose, (low, high) in zip(bodies, poses, boxes, strict=True):
        world = posed_vertices(pose, body.vertices[np.unique(body.faces)])
        assert np.array_equal(low, world.min(axis=0))
        assert np.array_equal(high, world.max(axis=0))


@pytest.mark.parametrize("kind", ["tight", "cubes", "vertices"])
def test_boxes_of_some_bodies(kind: str) -> None:
    rng = np.random.default_rng(13)
    bodies = [Mesh(rng.normal(size=(30, 3)), rng.integers(0, 30, size=(20, 3))) for _ in range(5)]
    poses = np.array([random_pose(rng) for _ in range(5)])
    boxes = BodyBoxes(bodies, kind=kind)
    everything = boxes.boxes(poses)
    for some in ([3, 0], [], [4, 4, 1]):
        assert np.array_equal(boxes.boxes(poses[some], which=some), everything[some])
    for wrong, message in (([5], "there are 5 bodies"), ([-1], "less than 0"), ([0.5], "integers"), ([[1]], "shape")):
        with pytest.raises(ValueError, match=message):
            boxes.boxes(poses[:1], which=wrong)
    with pytest.raises(ValueError, match="shape"):
        boxes.boxes(poses, which=[1])
