"""Boxes and balls from local bounds hold every posed vertex, whatever is rounded."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from impinge import Mesh
from impinge.broadphase.body_boxes.local_bounds import (
    LocalBounds,
    PosedBounds,
    balls_overlap,
    local_bounds,
    may_hold,
    pose_bounds,
)
from impinge.kernels.jit import kernel
from impinge.kernels.record import Record, float64, records
from impinge.lab.hard_input import random_pose

Floats = NDArray[np.float64]


class Two(Record):
    """Two bodies in their poses."""

    local = records(LocalBounds)[2]
    posed = records(PosedBounds)[2]
    poses = float64[2, 4, 4]
    clearance = float64


two_at = Two.at


@kernel
def pose_both(two: Any) -> Any:
    two = two_at(two)
    for i in range(2):
        pose_bounds(two.local[i], two.poses[i], two.posed[i])
    return 0


@kernel
def balls_meet(two: Any) -> Any:
    two = two_at(two)
    return 1 if balls_overlap(two.posed[0], two.posed[1], two.clearance) else 0


@kernel
def first_may_hold_second(two: Any) -> Any:
    two = two_at(two)
    return 1 if may_hold(two.posed[0], two.local[1], two.poses[1]) else 0


def posed(pose: Floats, points: Floats) -> Floats:
    """The truth: each coordinate rounded in this order."""
    x, y, z = points.T
    return np.stack([((r[0] * x + r[1] * y) + r[2] * z) + r[3] for r in pose[:3]], axis=1)


def cloud(rng: np.random.Generator, scale: float, offset: float) -> Mesh:
    points = (rng.uniform(-1, 1, (9, 3)) + rng.uniform(-1, 1, 3) * offset) * scale
    return Mesh(points, np.arange(9).reshape(-1, 3))


def bent(rng: np.random.Generator, scale: float, away: float) -> Floats:
    """A pose that is rigid just within the tolerance."""
    pose = random_pose(rng)
    pose[:3, :3] *= 1.0 + rng.choice([-4e-10, 0.0, 4e-10])
    pose[:3, 3] = rng.uniform(-1, 1, 3) * scale * away
    return pose


def both(meshes: list[Mesh], poses: list[Floats]) -> Two:
    two = Two()
    for i, (mesh, pose) in enumerate(zip(meshes, poses, strict=True)):
        two.local[i] = _as_row(local_bounds(mesh), two.local)
        two.poses[i] = pose
    pose_both(two.address)
    return two


def _as_row(bounds: LocalBounds, rows: Any) -> Any:
    return tuple(getattr(bounds, name) for name in LocalBounds.fields) if isinstance(rows, np.ndarray) else bounds


def numbers(two: Two, field: str, i: int) -> Any:
    return getattr(two.posed[i], field)


SCALES = [1.0, 2.0**-500, 2.0**-1040, 2.0**100]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(("offset", "away"), [(0.0, 0.0), (0.0, 1.0), (1e3, 1.0), (1e8, 1e8), (0.0, 1e9)])
def test_boxes_hold_all_posed_vertices(scale: float, offset: float, away: float) -> None:
    rng = np.random.default_rng(7)
    for _ in range(40):
        meshes = [cloud(rng, scale, offset) for _ in range(2)]
        poses = [bent(rng, scale, away) for _ in range(2)]
        two = both(meshes, poses)
        for i in range(2):
            points = posed(poses[i], meshes[i].vertices)
            assert (numbers(two, "low", i) <= points.min(axis=0)).all()
            assert (numbers(two, "high", i) >= points.max(axis=0)).all()


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(("offset", "away"), [(0.0, 1.0), (1e3, 1.0), (1e8, 0.0)])
def test_balls_of_what_is_within_the_clearance_overlap(scale: float, offset: float, away: float) -> None:
    """Against rational numbers: the clearance is that of the nearest two vertices, rounded up."""
    rng = np.random.default_rng(8)
    for _ in range(15):
        meshes = [cloud(rng, scale, offset) for _ in range(2)]
        poses = [bent(rng, scale, away) for _ in range(2)]
        two = both(meshes, poses)
        a, b = (
            [[Fraction(float(x)) for x in point] for point in posed(pose, mesh.vertices)]
            for pose, mesh in zip(poses, meshes, strict=True)
        )
        squared = min(sum(((p[k] - q[k]) ** 2 for k in range(3)), Fraction(0)) for p in a for q in b)
        unit = Fraction(2) ** (int(np.frexp(scale)[1]) + 40)
        root = Fraction(float(np.sqrt(float(squared / unit**2)))) * unit
        two.clearance = np.nextafter(float(root * (1 + Fraction(1, 2**50))), np.inf)
        assert balls_meet(two.address) == 1


def test_balls_far_apart_do_not_overlap() -> None:
    rng = np.random.default_rng(9)
    meshes, poses = [cloud(rng, 1.0, 0.0), cloud(rng, 1.0, 0.0)], [np.eye(4), np.eye(4)]
    poses[1][0, 3] = 10.0
    assert balls_meet(both(meshes, poses).address) == 0


def test_a_body_inside_may_be_held_and_one_outside_is_not() -> None:
    rng = np.random.default_rng(10)
    large, small = cloud(rng, 10.0, 0.0), cloud(rng, 0.01, 0.0)
    inside = np.eye(4)
    inside[:3, 3] = large.vertices.mean(axis=0)
    outside = np.eye(4)
    outside[:3, 3] = large.vertices.max(axis=0) + 1.0
    assert first_may_hold_second(both([large, small], [np.eye(4), inside]).address) == 1
    assert first_may_hold_second(both([large, small], [np.eye(4), outside]).address) == 0
