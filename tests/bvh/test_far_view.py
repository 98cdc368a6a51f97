"""Far view: bounds never exceed the truth, and answers are those of brute force however far apart bodies are."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from impinge import Mesh, Pair
from impinge.bvh.far_view import FAR, near_directions, shadow_of_corners, triangles_in_view, write_views
from impinge.bvh.layout import EMPTY, WIDTH
from impinge.bvh.search import TreeSearch, search_of
from impinge.bvh.tree import Tree
from impinge.bvh.tree_handle import TreeHandle, aabb_body, obb_body, sphere_body
from impinge.bvh.volumes.aabb import AABBTree
from impinge.bvh.volumes.obb import OBBTree
from impinge.bvh.volumes.protocol import children_in_view, shadow
from impinge.bvh.volumes.sphere import SphereTree
from impinge.bvh.workspace import TraversalWorkspace, work_at
from impinge.geometry.pose import posed_vertices
from impinge.geometry.triangles.distance import triangle_distances
from impinge.kernels.jit import kernel
from impinge.lab.hard_input import quarter_turn, random_pose
from impinge.lab.scenes.shapes import torus
from impinge.queries.leaf import leaf
from impinge.queries.methods.brute_force import BruteForce
from impinge.queries.traversal import Traversal

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]


# ------------------------------------------------------------------------------- bodies and poses


def soup(rng: np.random.Generator, n: int, size: float = 1.0) -> Mesh:
    triangles = rng.uniform(-0.8, 0.8, (n, 1, 3)) + rng.normal(size=(n, 3, 3)) * 0.2 * rng.random((n, 1, 1))
    return Mesh(triangles.reshape(-1, 3) * size, np.arange(3 * n).reshape(-1, 3))


def plate(n: int, size: float = 1.0) -> Mesh:
    """A flat square of 2 n^2 triangles about the origin, in the plane z = 0."""
    x, y = np.meshgrid(np.linspace(-size, size, n + 1), np.linspace(-size, size, n + 1), indexing="ij")
    points = np.stack([x, y, np.zeros_like(x)], axis=-1).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    first = (i * (n + 1) + j).ravel()
    return Mesh(points, np.column_stack([first, first + n + 1, first + n + 2, first + 1]))


def direction(rng: np.random.Generator) -> Floats:
    """A unit vector; sometimes along an axis, or in one plane with two."""
    v = rng.normal(size=3)
    if rng.random() < 0.4:
        v[rng.integers(3)] = 0.0
    if rng.random() < 0.3:
        v = np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0])
    unit: Floats = v / np.linalg.norm(v)
    return unit


def turned(rng: np.random.Generator) -> Floats:
    pose = quarter_turn(rng) if rng.random() < 0.3 else random_pose(rng)
    pose[:3, 3] = 0.0
    return pose


def poses_apart(rng: np.random.Generator, k: int, apart: float, offset: float = 0.0) -> tuple[Floats, Floats]:
    """Poses (k, 4, 4) in any rotation, so far apart in any direction, with an offset common to both bodies."""
    poses_a = np.stack([turned(rng) for _ in range(k)])
    poses_b = np.stack([turned(rng) for _ in range(k)])
    for pose_a, pose_b in zip(poses_a, poses_b, strict=True):
        pose_a[:3, 3] = rng.uniform(-1, 1, 3) * offset
        pose_b[:3, 3] = pose_a[:3, 3] + direction(rng) * apart
    return poses_a, poses_b


# ------------------------------------------------------------------------------------ the bounds


@kernel
def look(a: Any, b: Any, work: Any) -> Any:
    return write_views(work_at(work), obb_body(a), obb_body(b))


@kernel
def scale_of(work: Any) -> Any:
    return work_at(work).motions[0].scale


@kernel
def obb_bounds(near: Any, far: Any, views: Any, side: Any, node: Any, far_ref: Any, reach: Any, lanes: Any) -> Any:
    view = work_at(views).views[side]
    numbers = near_directions(view) + shadow(obb_body(far), far_ref, view) + (view.kappa, np.float32(reach))
    return children_in_view(obb_body(near), node, numbers, lanes)


@kernel
def aabb_bounds(near: Any, far: Any, views: Any, side: Any, node: Any, far_ref: Any, reach: Any, lanes: Any) -> Any:
    view = work_at(views).views[side]
    numbers = near_directions(view) + shadow(aabb_body(far), far_ref, view) + (view.kappa, np.float32(reach))
    return children_in_view(aabb_body(near), node, numbers, lanes)


@kernel
def sphere_bounds(near: Any, far: Any, views: Any, side: Any, node: Any, far_ref: Any, reach: Any, lanes: Any) -> Any:
    view = work_at(views).views[side]
    numbers = near_directions(view) + shadow(sphere_body(far), far_ref, view) + (view.kappa, np.float32(reach))
    return children_in_view(sphere_body(near), node, numbers, lanes)


@kernel
def corner_bounds(near: Any, far: Any, views: Any, side: Any, node: Any, far_ref: Any, reach: Any, lanes: Any) -> Any:
    view = work_at(views).views[side]
    n, k = far_ref // WIDTH, far_ref % WIDTH
    c = far
    p = (c[n, 0, k], c[n, 1, k], c[n, 2, k])
    q = (c[n, 3, k], c[n, 4, k], c[n, 5, k])
    r = (c[n, 6, k], c[n, 7, k], c[n, 8, k])
    numbers = near_directions(view) + shadow_of_corners(view, p, q, r) + (view.kappa, np.float32(reach))
    return triangles_in_view(near, node, numbers, lanes)


KINDS: dict[str, tuple[Callable[[Mesh], Tree], Callable[..., int]]] = {
    "obb": (OBBTree, obb_bounds),
    "aabb": (AABBTree, aabb_bounds),
    "sphere": (SphereTree, sphere_bounds),
}


class Side(NamedTuple):
    tree: Tree
    handle: TreeHandle
    world: Floats
    """(n, 3, 3): the posed triangles in tree order."""
    below: dict[int, list[int]]
    """The triangles below every used slot, by their places in tree order."""


def triangles_below(tree: Tree) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for ref in range(len(tree.child) - 1, -1, -1):
        entry = int(tree.child[ref])
        if entry == EMPTY:
            continue
        if entry < 0:
            found[ref] = [~entry]
        else:
            found[ref] = [place for slot in range(WIDTH) for place in found.get(entry * WIDTH + slot, [])]
    return found


def side_of(make: Callable[[Mesh], Tree], mesh: Mesh, pose: Floats) -> Side:
    tree = make(mesh)
    world = posed_vertices(pose, tree.triangles.reshape(-1, 3)).reshape(-1, 3, 3)
    return Side(tree, TreeHandle(tree), world, triangles_below(tree))


class Scene(NamedTuple):
    sides: tuple[Side, Side]
    work: TraversalWorkspace
    apart: float


def scene(make: Callable[[Mesh], Tree], a: Mesh, b: Mesh, pose_a: Floats, pose_b: Floats) -> Scene:
    work = TraversalWorkspace()
    work.poses[:] = pose_a, pose_b
    boxes = TreeHandle(OBBTree(a)), TreeHandle(OBBTree(b))  # all trees of a mesh have the same frame
    apart = look(boxes[0].address, boxes[1].address, work.address)
    sides = side_of(make, a, pose_a), side_of(make, b, pose_b)
    if apart:
        assert scale_of(work.address) == np.float32(sides[1].tree.unit / sides[0].tree.unit)
    return Scene(sides, work, apart)


SITUATIONS = {
    "rather far": (1.0, 1.0, 120.0, 0.0),
    "far": (1.0, 1.0, 1e4, 0.0),
    "very far": (1.0, 1.0, 1e12, 0.0),
    "far from the origin of the world": (1.0, 1.0, 1e3, 1e9),
    "one small": (1.0, 2.0**-20, 60.0, 1.0),
    "one large": (1.0, 2.0**25, 2.0**33, 0.0),
    "nanometres": (1e-9, 3e-9, 1e-6, 1e-5),
    "astronomical": (1e20, 3e19, 1e27, 1e20),
}


def exact(points: Floats) -> list[list[Fraction]]:
    return [[Fraction(x) for x in point] for point in points.tolist()]


def least_square(p: list[list[Fraction]], q: list[list[Fraction]]) -> Fraction:
    """The exact smallest squared distance between two sets of points."""
    return min(sum(((x - y) ** 2 for x, y in zip(s, t, strict=True)), Fraction(0)) for s in p for t in q)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("situation", SITUATIONS)
def test_bounds_of_volumes_are_below_the_truth(kind: str, situation: str) -> None:
    make, bounds = KINDS[kind]
    unit_a, unit_b, apart, offset = SITUATIONS[situation]
    rng = np.random.default_rng(len(situation))
    lanes = np.zeros(WIDTH, dtype=np.float32)
    a, b = soup(rng, 24, unit_a), soup(rng, 20, unit_b)
    poses_a, poses_b = poses_apart(rng, 2, apart, offset)
    checked = 0
    for pose_a, pose_b in zip(poses_a, poses_b, strict=True):
        looked = scene(make, a, b, pose_a, pose_b)
        assert looked.apart > 0.0
        for side in (0, 1):
            near, far = looked.sides[side], looked.sides[1 - side]
            points_near, points_far = exact(near.world.reshape(-1, 3)), exact(far.world.reshape(-1, 3))
            unit = Fraction(near.tree.unit)
            for node in range(len(near.tree.slots)):
                for far_ref in rng.choice(list(far.below), 4):
                    bits = bounds(
                        near.handle.address, far.handle.address, looked.work.address, side, node, far_ref, np.inf, lanes
                    )
                    bits_of_none = bounds(
                        near.handle.address, far.handle.address, looked.work.address, side, node, far_ref, -1e30, lanes
                    )
                    theirs = [points_far[3 * place + k] for place in far.below[far_ref] for k in range(3)]
                    for k in range(WIDTH):
                        ref = node * WIDTH + k
                        if ref not in near.below:
                            continue
                        assert bits & (1 << k)
                        assert not bits_of_none & (1 << k) or lanes[k] <= -1e30
                        ours = [points_near[3 * place + j] for place in near.below[ref] for j in range(3)]
                        bound = Fraction(looked.apart) + Fraction(float(lanes[k])) * unit
                        assert bound <= 0 or bound**2 <= least_square(ours, theirs)
                        checked += 1
    assert checked > 200


@pytest.mark.nojit_slow
@pytest.mark.parametrize("situation", SITUATIONS)
def test_bounds_of_triangles_are_below_the_truth_and_close_to_it(situation: str) -> None:
    unit_a, unit_b, apart, offset = SITUATIONS[situation]
    rng = np.random.default_rng(len(situation))
    lanes = np.zeros(WIDTH, dtype=np.float32)
    poses_a, poses_b = poses_apart(rng, 1, apart, offset)
    looked = scene(OBBTree, soup(rng, 24, unit_a), soup(rng, 20, unit_b), poses_a[0], poses_b[0])
    missed = []
    for side in (0, 1):
        near, far = looked.sides[side], looked.sides[1 - side]
        for far_ref, (there, *others) in far.below.items():
            for node in range(len(near.tree.slots)) if not others and far.tree.child[far_ref] < 0 else ():
                corner_bounds(
                    near.tree.corners, far.tree.corners, looked.work.address, side, node, far_ref, np.inf, lanes
                )
                for k in range(WIDTH):
                    ref = node * WIDTH + k
                    if ref not in near.below or near.tree.child[ref] >= 0:
                        continue
                    here = near.below[ref][0]
                    truth = triangle_distances(near.world[[here]], far.world[[there]])[0][0]
                    bound = looked.apart + float(lanes[k]) * near.tree.unit
                    assert bound <= truth
                    missed.append((truth - bound) / (near.tree.unit + far.tree.unit))
    rounding = looked.apart / (looked.sides[0].tree.unit + looked.sides[1].tree.unit)
    assert len(missed) > 900
    assert np.median(missed) < 2.0**-18 + 8.0 / rounding + 2.0**-40 * (rounding + offset / max(unit_a, unit_b))


def test_where_it_is_used() -> None:
    rng = np.random.default_rng(0)
    a = soup(rng, 8)

    def apart(b: Mesh, x: float) -> float:
        pose = np.eye(4)
        pose[0, 3] = x
        return scene(OBBTree, a, b, np.eye(4), pose).apart

    assert apart(a, 0.0) == 0.0
    unit = OBBTree(a).unit
    assert apart(a, 1.99 * FAR * unit) == 0.0
    assert apart(a, 2.01 * FAR * unit) == pytest.approx(2.01 * FAR * unit)
    assert apart(a, -(2.0**150)) == pytest.approx(2.0**150)
    assert apart(soup(rng, 8, 2.0**-35), 1e6) == 0.0


# ----------------------------------------------------------------------------------- the answers


def same_as_brute_force(a: Mesh, b: Mesh, make: Callable[[Mesh], Tree], poses_a: Floats, poses_b: Floats) -> None:
    """Distances, faces, and whether bodies are within clearances at and around the distance."""
    search = TreeSearch(make(a), make(b))
    method = BruteForce(a, b)
    values, points, faces = search.distance(poses_a, poses_b)
    expected, expected_points, expected_faces, _ = method.nearest_pairs(poses_a, poses_b)
    assert np.array_equal(values, expected)
    is_apart = values > 0.0
    assert np.array_equal(faces[is_apart], expected_faces[is_apart])
    assert np.array_equal(points[is_apart], expected_points[is_apart])
    for i, value in enumerate(values):
        one_a, one_b = poses_a[i : i + 1], poses_b[i : i + 1]
        for clearance in (value, np.nextafter(value, 0.0), value * (1 - 2.0**-50), value * (1 + 2.0**-50), 2 * value):
            answer = search.closer_than(clearance, one_a, one_b)
            assert np.array_equal(answer, method.surfaces_within(clearance, one_a, one_b))


SIZES = (1.0, 2.0**-12, 3e5)


@pytest.mark.parametrize("kind", KINDS)
def test_answers_of_a_few_triangles(kind: str) -> None:
    rng = np.random.default_rng(6)
    a, b = soup(rng, 10), soup(rng, 2, 0.1)
    same_as_brute_force(a, b, KINDS[kind][0], *poses_apart(rng, 1, 1e3))


def test_bounds_of_a_short_traversal() -> None:
    rng = np.random.default_rng(5)
    search = Traversal(soup(rng, 20), soup(rng, 2), None, poses_apart(rng, 1, 1e3)[1][0], question="distance")
    assert not search.run(tests=1)
    lower = search.lower
    assert 990.0 < lower <= search.upper < 1010.0
    assert search.run()
    assert lower <= search.lower == search.upper


@pytest.mark.nojit_slow
@pytest.mark.parametrize("kind", KINDS)
def test_answers_of_soups_at_every_distance(kind: str) -> None:
    rng = np.random.default_rng(7)
    for size in SIZES:
        a, b = soup(rng, 40), soup(rng, 30, size)
        for power in range(13):
            poses_a, poses_b = poses_apart(rng, 3, 10.0**power * max(1.0, size), offset=1.0)
            same_as_brute_force(a, b, KINDS[kind][0], poses_a, poses_b)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("kind", KINDS)
def test_answers_of_facing_plates(kind: str) -> None:
    """All pairs of triangles have the same gap along n."""
    rng = np.random.default_rng(8)
    a, b = plate(4), plate(3, 0.7)
    for power in range(0, 13, 2):
        pose = np.tile(np.eye(4), (3, 1, 1))
        pose[1:] = [turned(rng) for _ in range(2)]
        lifted = pose.copy()
        lifted[:, :3, 3] += pose[:, :3, 2] * 10.0**power
        same_as_brute_force(a, b, KINDS[kind][0], pose, lifted)


@pytest.mark.nojit_slow
def test_answers_far_from_the_origin_and_in_odd_units() -> None:
    rng = np.random.default_rng(9)
    for size_a, size_b, apart, offset in SITUATIONS.values():
        a, b = soup(rng, 30, size_a), soup(rng, 30, size_b)
        same_as_brute_force(a, b, OBBTree, *poses_apart(rng, 4, apart, offset))
    point = Mesh(np.zeros((3, 3)), [[0, 1, 2]])
    same_as_brute_force(point, point, OBBTree, *poses_apart(rng, 4, 1.0))
    same_as_brute_force(soup(rng, 10), point, OBBTree, *poses_apart(rng, 4, 1e5))


@pytest.mark.nojit_slow
def test_a_pair_goes_far_away_and_comes_back() -> None:
    rng = np.random.default_rng(10)
    a, b = soup(rng, 40), soup(rng, 30)
    pair = Pair(a, b)
    method = BruteForce(a, b)
    steps = np.concatenate([np.linspace(2, 2.1, 6), np.geomspace(2, 1e5, 25), np.linspace(1e5, 1e5 + 0.1, 6)])
    steps = np.concatenate([steps, steps[::-1], [3.0, 1e6, 3.0, 3.001, 1e3, 3.002, 0.1, 1e4, 3.003]])
    pose = turned(rng)
    towards = direction(rng)
    for i, step in enumerate(steps):
        pose[:3, 3] = towards * step
        poses = np.eye(4)[None], pose[None]
        value = method.nearest_pairs(*poses)[0][0]
        assert pair.distance(None, pose).value == value
        assert pair.closer_than(value * 1.001, None, pose) == method.surfaces_within(value * 1.001, *poses)[0]
        if i % 3 == 0:
            assert pair.collides(None, pose) == method.surfaces_meet(*poses)[0]
            assert len(pair.contacts(None, pose)) == len(method.meeting_pairs(*poses))


@pytest.mark.nojit_slow
@pytest.mark.parametrize("apart", [100.0, 1e5, 1e11])
@pytest.mark.parametrize("tests", [1, 10, 100])
def test_bounds_of_a_traversal(apart: float, tests: int) -> None:
    rng = np.random.default_rng(11)
    a, b = soup(rng, 60, 0.1), soup(rng, 50)
    poses_a, poses_b = poses_apart(rng, 3, apart)
    values = BruteForce(a, b).nearest_pairs(poses_a, poses_b)[0]
    for pose_a, pose_b, value in zip(poses_a, poses_b, values, strict=True):
        search = Traversal(a, b, pose_a, pose_b, question="distance")
        assert search.lower == 0.0
        last = (0.0, np.inf)
        while not search.run(tests=tests):
            assert search.lower <= value <= search.upper <= last[1]
            last = search.lower, search.upper
        assert search.lower == search.upper == value
        assert last[0] >= apart - 4.0 or tests == 100 or last[0] == 0.0
        assert last[0] > 0.0 or tests == 100


@leaf
def one(a, b):  # type: ignore[no-untyped-def]
    return 1.0


@pytest.mark.nojit_slow
def test_a_leaf_operation_sees_all_pairs_within_the_clearance() -> None:
    rng = np.random.default_rng(12)
    a, b = soup(rng, 20), soup(rng, 20)
    for apart in (120.0, 1e4, 1e8):
        poses_a, poses_b = poses_apart(rng, 1, apart)
        one_by_one = np.array(
            [
                triangle_distances(
                    np.repeat(posed_vertices(poses_a[0], a.vertices).reshape(-1, 3, 3)[[i]], 20, axis=0),
                    posed_vertices(poses_b[0], b.vertices).reshape(-1, 3, 3),
                )[0]
                for i in range(20)
            ]
        )
        clearance = float(np.median(one_by_one))
        seen = np.zeros((20, 20), dtype=bool)
        found = one(a, b, poses_a[0], poses_b[0], within=clearance)
        seen[found.face_a, found.face_b] = True
        assert seen[one_by_one <= clearance].all()
        assert len(found) < 300


@pytest.mark.nojit_slow
def test_the_work_does_not_grow_with_the_distance() -> None:
    rng = np.random.default_rng(13)
    a, b = torus(1.0, 0.3, 60, 32), torus(0.8, 0.3, 52, 32)
    search = search_of(a, b)
    poses_a, poses_b = poses_apart(rng, 8, 1.0)
    towards = poses_b[:, :3, 3] - poses_a[:, :3, 3]

    def box_tests(apart: float) -> int:
        poses_b[:, :3, 3] = poses_a[:, :3, 3] + towards * apart
        search.distance(poses_a, poses_b)
        return search.statistics.box_tests

    near = box_tests(20.0)  # ten sizes
    for apart in (200.0, 2e3, 2e4, 2e6, 2e8):
        assert box_tests(apart) < 3 * near
