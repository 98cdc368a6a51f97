"""Margins: what float32 and the posing of vertices can do, measured with fractions on the posed coordinates."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from impinge import Mesh
from impinge.bvh.relative_motion import (
    carried_point,
    moved_at_most,
    world_rounding,
    write_motions,
    write_placement,
)
from impinge.bvh.tree_handle import TreeHandle, obb_body
from impinge.bvh.volumes.obb import OBBTree
from impinge.bvh.workspace import TraversalWorkspace, work_at
from impinge.geometry.pose import as_pose, posed_vertices
from impinge.kernels.jit import kernel
from impinge.lab.hard_input import quarter_turn, random_pose

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
MARGIN, CORNER_MARGIN = 13, 14


@kernel
def carry(a: Any, b: Any, pose_a: Any, pose_b: Any, work: Any, side: Any, points: Any, carried: Any) -> None:
    """Points of the far body in the frame of the near one."""
    motions = work_at(work).motions
    write_motions(motions, obb_body(a), obb_body(b), pose_a, pose_b)
    motion = motions[side]
    for i in range(len(points)):
        carried[i, 0], carried[i, 1], carried[i, 2] = carried_point(motion, points[i, 0], points[i, 1], points[i, 2])


@kernel
def movement(a: Any, b: Any, work: Any, first_a: Any, first_b: Any, then_a: Any, then_b: Any) -> Any:
    """How far b can have moved, seen from a."""
    body_a, body_b = obb_body(a), obb_body(b)
    work = work_at(work)
    write_placement(work.last_placement, body_a, body_b, first_a, first_b)
    write_placement(work.placement, body_a, body_b, then_a, then_b)
    return moved_at_most(
        work.placement, work.last_placement, body_a, body_b, world_rounding(body_a, body_b, then_a, then_b)
    )


def numbers_of(work: TraversalWorkspace) -> Singles:
    """Both motions, number by number."""
    return np.array(getattr(work.motions, "array", work.motions)).view(np.float32).reshape(2, -1)


class Body(NamedTuple):
    mesh: Mesh
    tree: OBBTree
    handle: TreeHandle

    def local(self) -> Floats:
        """Local coordinates of the vertices, exact by construction."""
        return (self.mesh.vertices - self.tree.origin) / self.tree.unit


def body(rng: np.random.Generator, unit: float = 1.0, origin: float = 0.0) -> Body:
    """A mesh whose local coordinates are float32 numbers: 12 bits each, about an origin of 20 bits."""
    local = rng.integers(-(2**11), 2**11 + 1, (18, 3)) / 2.0**11
    local[0], local[1] = 1.0 - 2.0**-11, -(1.0 - 2.0**-11)  # the bounds are centred
    local = np.clip(local, -(1.0 - 2.0**-11), 1.0 - 2.0**-11)
    middle = np.round(rng.uniform(-1, 1, 3) * origin / unit) * unit
    mesh = Mesh(middle + local * unit, np.arange(18).reshape(-1, 3))
    tree = OBBTree(mesh)
    assert np.array_equal(tree.origin, middle)
    assert tree.unit == unit
    return Body(mesh, tree, TreeHandle(tree))


def not_quite_rigid(rng: np.random.Generator, pose: Floats) -> Floats:
    """The pose with its rotation off by nearly as much as is accepted."""
    size = 4e-10
    while True:
        bent = pose.copy()
        bent[:3, :3] += rng.choice([-size, size], (3, 3))
        try:
            return as_pose(bent)
        except ValueError:
            size *= 0.9


def exact_vectors(pose: Floats, near: Floats, far: Floats, unit: float) -> list[list[list[Fraction]]]:
    """R^T (w_far - w_near) / unit for all pairs of posed points: what the vectors really are in the frame of near."""
    rotation = [[Fraction(x) for x in row] for row in pose[:3, :3].tolist()]
    points = [[[Fraction(x) for x in point] for point in points.tolist()] for points in (near, far)]
    scale = Fraction(unit)
    return [
        [
            [sum(rotation[i][k] * (q[i] - p[i]) for i in range(3)) / scale for k in range(3)]
            for q in points[1]
        ]
        for p in points[0]
    ]  # fmt: skip


def fractions(points: NDArray[Any]) -> list[list[Fraction]]:
    return [[Fraction(float(x)) for x in point] for point in points]


def square(v: list[Fraction]) -> Fraction:
    return sum((x * x for x in v), Fraction(0))


def moved_by(a: Body, b: Body, *poses: Floats) -> float:
    work = TraversalWorkspace()
    return float(movement(a.handle.address, b.handle.address, work.address, *poses))


def largest_error(a: Body, b: Body, pose_a: Floats, pose_b: Floats, side: int) -> tuple[float, float]:
    """The error of the vector between two vertices, and the margin for it."""
    near, far = (a, b) if side == 0 else (b, a)
    near_pose, far_pose = (pose_a, pose_b) if side == 0 else (pose_b, pose_a)
    some = slice(0, 18, 3)
    points = far.local()[some].astype(np.float32)
    work = TraversalWorkspace()
    carried = np.zeros_like(points)
    carry(a.handle.address, b.handle.address, pose_a, pose_b, work.address, side, points, carried)
    exact = exact_vectors(
        near_pose,
        posed_vertices(near_pose, near.mesh.vertices[some]),
        posed_vertices(far_pose, far.mesh.vertices[some]),
        near.tree.unit,
    )
    own, others = fractions(near.local()[some]), fractions(carried)
    worst = max(
        square([others[j][k] - own[i][k] - exact[i][j][k] for k in range(3)])
        for i in range(len(own))
        for j in range(len(others))
    )
    return float(worst) ** 0.5, float(numbers_of(work)[side, MARGIN])


def some_poses(rng: np.random.Generator, far: float, bent: bool) -> tuple[Floats, Floats]:
    poses = []
    offset = rng.uniform(-1, 1, 3) * far
    for _ in range(2):
        pose = quarter_turn(rng) if rng.random() < 0.2 else random_pose(rng)
        pose[:3, 3] += offset
        poses.append(not_quite_rigid(rng, pose) if bent else pose)
    return poses[0], poses[1]


SITUATIONS = {
    "near": (1.0, 1.0, 0.0, 0.0),
    "both far from the origin of the world": (1.0, 1.0, 0.0, 1e9),
    "meshes far from their origin": (1.0, 1.0, 1e9, 0.0),
    "one small": (1.0, 2.0**-20, 0.0, 0.0),
    "one large": (1.0, 2.0**24, 0.0, 1e3),
    "nanometres": (2.0**-30, 2.0**-31, 1e-8, 1e-9),
    "kilometres": (2.0**40, 2.0**39, 1e12, 1e9),
}
"""Units of a and b, distance of the meshes from their origins, and of the bodies from the origin of the world."""


@pytest.mark.parametrize("bent", [False, True])
@pytest.mark.parametrize("name", SITUATIONS)
def test_margin_bounds_the_error_of_vectors(name: str, bent: bool) -> None:
    unit_a, unit_b, origin, far = SITUATIONS[name]
    rng = np.random.default_rng(len(name))
    used = 0.0
    for _ in range(4):
        a, b = body(rng, unit_a, origin), body(rng, unit_b, origin)
        pose_a, pose_b = some_poses(rng, far, bent)
        for side in (0, 1):
            error, margin = largest_error(a, b, pose_a, pose_b, side)
            assert error <= margin
            used = max(used, error / margin)
    assert used > 1e-4  # the margin is not absurdly wide


@pytest.mark.parametrize("exponent", [-1000, -500, -100, 100, 140])
def test_scaling_by_powers_of_two_changes_nothing(exponent: int) -> None:
    """Motions are relative to the units, so they are the same bits."""
    rng = np.random.default_rng(3)
    local = rng.uniform(-1, 1, (2, 18, 3))
    pose_a, pose_b = random_pose(rng), random_pose(rng)
    works = TraversalWorkspace(), TraversalWorkspace()
    nothing = np.zeros((0, 3), dtype=np.float32)
    for row, scale in enumerate((1.0, 2.0**exponent)):
        a, b = (TreeHandle(OBBTree(Mesh(points * scale, np.arange(18).reshape(-1, 3)))) for points in local)
        poses = [pose.copy() for pose in (pose_a, pose_b)]
        for pose in poses:
            pose[:3, 3] *= scale
        carry(a.address, b.address, *poses, works[row].address, 0, nothing, nothing)
    assert np.array_equal(numbers_of(works[0]), numbers_of(works[1]))


def test_bodies_too_far_or_too_different_are_not_pruned() -> None:
    rng = np.random.default_rng(4)
    nothing = np.zeros((0, 3), dtype=np.float32)
    for unit_b, far, finite in ((1.0, 2.0**29, True), (1.0, 2.0**33, False), (2.0**-40, 0.0, False)):
        a, b = body(rng), body(rng, unit_b)
        pose = np.eye(4)
        pose[0, 3] = far
        for first, second, pose_a, pose_b in ((a, b, np.eye(4), pose), (b, a, pose, np.eye(4))):
            work = TraversalWorkspace()
            carry(first.handle.address, second.handle.address, pose_a, pose_b, work.address, 0, nothing, nothing)
            motions = numbers_of(work)
            assert not np.isnan(motions).any()
            assert np.isfinite(motions[:, :12]).all()
            assert np.isfinite(motions[:, [MARGIN, CORNER_MARGIN]]).all() == finite


@pytest.mark.parametrize("name", SITUATIONS)
def test_corners_are_within_a_quarter_of_their_margin(name: str) -> None:
    """What triangle_filter asks for: rounded corners, and 32 units of rounding for the largest coordinate."""
    unit_a, unit_b, origin, far = SITUATIONS[name]
    rng = np.random.default_rng(len(name) + 50)
    for _ in range(3):
        points_a = rng.uniform(-1, 1, (18, 3)) * unit_a + rng.uniform(-1, 1, 3) * origin
        points_b = rng.uniform(-1, 1, (18, 3)) * unit_b + rng.uniform(-1, 1, 3) * origin
        a, b = (Mesh(points, np.arange(18).reshape(-1, 3)) for points in (points_a, points_b))
        tree_a, tree_b = OBBTree(a), OBBTree(b)
        handle_a, handle_b = TreeHandle(tree_a), TreeHandle(tree_b)
        pose_a, pose_b = some_poses(rng, far, bent=True)
        near, far_points = (tree.local(mesh.vertices).astype(np.float32) for tree, mesh in ((tree_a, a), (tree_b, b)))
        work = TraversalWorkspace()
        carried = np.zeros_like(far_points)
        carry(handle_a.address, handle_b.address, pose_a, pose_b, work.address, 0, far_points, carried)
        margin = float(numbers_of(work)[0, CORNER_MARGIN])
        # One map for all points, from the world to the frame of a: through the posed origin of a.
        origin_a = posed_vertices(pose_a, tree_a.origin[None])
        for mesh, pose, found in ((a, pose_a, near), (b, pose_b, carried)):
            exact = exact_vectors(pose_a, origin_a, posed_vertices(pose, mesh.vertices), tree_a.unit)[0]
            for place, point in zip(exact, fractions(found), strict=True):
                assert float(square([place[k] - point[k] for k in range(3)])) ** 0.5 <= margin / 4
        coordinates = np.concatenate([near, carried]).astype(np.float64)
        assert margin >= 32 * 2.0**-24 * max(np.abs(coordinates).max(), np.ptp(coordinates, axis=0).max())


@pytest.mark.parametrize("bent", [False, True])
@pytest.mark.parametrize("name", SITUATIONS)
def test_no_vertex_moves_farther_than_said(name: str, bent: bool) -> None:
    unit_a, unit_b, origin, far = SITUATIONS[name]
    rng = np.random.default_rng(len(name) + 100)
    for step in (0.0, 1e-12, 1e-3, 1.0, 100.0):
        a, b = body(rng, unit_a, origin), body(rng, unit_b, origin)
        first = some_poses(rng, far, bent)
        then = [pose.copy() for pose in first]
        for pose in then:
            turn = random_pose(rng, 0.0)[:3, :3] if step >= 1.0 else np.eye(3)
            pose[:3, :3] = turn @ pose[:3, :3]
            pose[:3, 3] += rng.normal(size=3) * step * max(unit_a, unit_b)
        if bent and step > 0:
            then = [not_quite_rigid(rng, pose) for pose in then]
        moved = moved_by(a, b, *first, *then)
        some = slice(0, 18, 4)
        vectors = [
            exact_vectors(
                poses[0],
                posed_vertices(poses[0], a.mesh.vertices[some]),
                posed_vertices(poses[1], b.mesh.vertices[some]),
                1.0,
            )
            for poses in (first, then)
        ]
        farthest = max(
            square([q[k] - p[k] for k in range(3)])
            for row, other in zip(*vectors, strict=True)
            for p, q in zip(row, other, strict=True)
        )
        assert float(farthest) ** 0.5 <= moved
        assert np.isfinite(moved)


def test_a_small_translation_counts_as_itself() -> None:
    rng = np.random.default_rng(7)
    a, b = body(rng), body(rng)
    still, moved = np.eye(4), np.eye(4)
    moved[:3, 3] = 3e-3, 0.0, 4e-3
    assert movement(
        a.handle.address, b.handle.address, TraversalWorkspace().address, still, still, still, moved
    ) == pytest.approx(5e-3, rel=1e-4)
    assert moved_by(a, b, moved, moved, moved, moved) < 1e-6
    # Both in step, far away: nothing has changed between them, up to rounding.
    away = random_pose(rng, 10.0)
    assert moved_by(a, b, still, moved, away, away @ moved) < 1e-6
