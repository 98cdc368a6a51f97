"""The scenes of two bodies: exact triangle counts, valid poses, and what their descriptions claim."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

import impinge
from impinge.geometry.pose import as_pose
from impinge.lab.bench.pairs import SCENES
from impinge.lab.scenes import combs, landscape, pipes, poses, threads, tori, torpedo, torus_on_land, wrinkled_torus
from impinge.lab.scenes.pair_scene import PairScene
from impinge.mesh.mesh import Mesh

MESHES = {
    "pipes": (pipes.pipes, 143_690, 25),
    "wrinkled torus": (wrinkled_torus.wrinkled_torus, 20_000, 1),
    "landscape": (landscape.landscape, 98_000, 1),
    "torus": (tori.torus, 1_024, 1),
    "bolt": (threads.bolt, 2_844, 1),
    "nut": (threads.nut, 2_748, 1),
    "comb": (combs.comb, 24 * 50 - 4, 1),
    "torpedo": (torpedo.torpedo, 4_780, 6),
    "pivot": (torpedo.pivot, 44_921, 147),
}
OPEN = {"landscape", "pivot"}


def scene_of(name: str, count: int, steps: int) -> PairScene:
    made: PairScene = import_module(f"impinge.lab.scenes.{SCENES[name]}").scene(count=count, steps=steps)
    return made


@pytest.mark.parametrize("name", MESHES)
def test_triangle_count_is_exact_and_the_surface_clean(name: str) -> None:
    make, triangles, components = MESHES[name]
    mesh = make()
    assert len(mesh.faces) == triangles
    assert mesh.component_count == components
    assert not mesh.solid
    assert mesh.is_closed == (name not in OPEN)
    if mesh.is_closed:
        assert mesh.volume > 0.0
    normal = np.cross(mesh.triangles[:, 1] - mesh.triangles[:, 0], mesh.triangles[:, 2] - mesh.triangles[:, 0])
    assert np.linalg.norm(normal, axis=1).min() > 0.0


def test_the_landscape_is_an_upward_surface_with_a_stalagmite_for_the_torus() -> None:
    land = landscape.landscape()
    normal = np.cross(land.triangles[:, 1] - land.triangles[:, 0], land.triangles[:, 2] - land.triangles[:, 0])
    assert (normal[:, 2] > 0.0).all()
    tip = land.vertices[land.vertices[:, 2].argmax()]
    assert np.hypot(*(tip[:2] - landscape.STALAGMITE)) < 2.0 * landscape.CELL
    ring = wrinkled_torus.wrinkled_torus().vertices
    hole = np.hypot(ring[:, 0], ring[:, 1]).min()
    foot = float(landscape.height(*landscape.STALAGMITE)) - landscape.STALAGMITE_HEIGHT
    beside = landscape.height(landscape.STALAGMITE[0] + hole, landscape.STALAGMITE[1])
    assert foot + 0.5 * landscape.STALAGMITE_HEIGHT > beside  # the upper half passes through the hole


def test_the_straight_runs_of_the_pipes_are_long_thin_triangles() -> None:
    triangles = pipes.pipes().triangles
    edges = np.linalg.norm(triangles - np.roll(triangles, 1, axis=1), axis=2)
    thin = edges.max(axis=1) > 10.0 * edges.min(axis=1)
    assert np.count_nonzero(thin) > 5_000
    assert edges.max() > 0.3 * pipes.SIZE


def test_another_seed_lays_other_pipes() -> None:
    other = pipes.pipes(seed=4)
    assert len(other.faces) == pipes.TRIANGLES
    assert not np.array_equal(other.vertices, pipes.pipes().vertices)


def test_small_pipes_are_fifteen_times_smaller() -> None:
    assert np.allclose(pipes.small_pipes().bounds * 15.0, pipes.pipes().bounds, rtol=1e-12)


@pytest.mark.parametrize("name", SCENES)
def test_poses_are_valid_repeatable_and_the_path_smooth(name: str) -> None:
    scene, again = scene_of(name, 12, 50), scene_of(name, 12, 50)
    assert scene.poses.shape == (12, 4, 4)
    assert scene.path.shape == (50, 4, 4)
    as_pose(scene.poses, "poses")
    as_pose(scene.path, "path")
    for one, other in ((scene.poses, again.poses), (scene.path, again.path)):
        assert np.array_equal(one, other)
    for mesh, other_mesh in ((scene.fixed, again.fixed), (scene.mover, again.mover)):
        assert np.array_equal(mesh.vertices, other_mesh.vertices)
        assert np.array_equal(mesh.faces, other_mesh.faces)
    size = np.linalg.norm(np.ptp(scene.mover.vertices, axis=0))
    steps = np.linalg.norm(np.diff(scene.path, axis=0).reshape(49, 16), axis=1)
    assert steps.min() > 0.0
    assert steps.max() < 0.1 * max(size, 1.0)
    assert str(len(scene.fixed.faces)) in repr(scene)


def test_turns_are_rotations_also_at_angle_zero() -> None:
    made = poses.turns([[0.0, 0.0, 0.0], [0.0, 0.0, np.pi / 2.0], [1e-200, 0.0, 0.0], [3.0, -2.0, 1.0]])
    assert np.array_equal(made[0], np.eye(3))
    assert np.allclose(made[1], [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15)
    assert np.allclose(made @ made.swapaxes(1, 2), np.eye(3), atol=1e-14)
    assert np.allclose(np.linalg.det(made), 1.0)


def test_random_turns_leave_no_direction_out() -> None:
    made = poses.random_turns(np.random.default_rng(1), 4000)
    assert np.allclose(made @ made.swapaxes(1, 2), np.eye(3), atol=1e-14)
    assert np.abs(made.mean(axis=0)).max() < 0.05


def test_every_tooth_crosses_every_tooth() -> None:
    teeth = 4
    a = combs.comb(teeth)
    found = impinge.contacts(a, a, pose_b=combs.crossing(teeth), method="brute")
    middle = found.segments.mean(axis=1)
    # Tooth i of a comb covers 2 i .. 2 i + 1 across, and rounding adds a little; the turn mirrors the second comb.
    tooth_a = np.floor((middle[:, 1] + 0.5) / 2.0).astype(int)
    width = 2.0 * teeth - 1.0
    tooth_b = np.floor((width + 1.0 - middle[:, 0]) / 2.0).astype(int)
    assert {*zip(tooth_a.tolist(), tooth_b.tolist(), strict=True)} == {
        (i, j) for i in range(teeth) for j in range(teeth)
    }


def test_a_comb_needs_two_teeth() -> None:
    with pytest.raises(ValueError, match="teeth is 1"):
        combs.comb(1)


@pytest.mark.nojit_slow
def test_the_bolt_turns_freely_in_its_thread_but_not_beside_it() -> None:
    bolt, nut = threads.bolt(), threads.nut()
    angle = np.array([0.0, 0.37, 2.0, 2.0 * np.pi])
    apart = impinge.distance(nut, bolt, pose_b=threads.screwed(angle), method="brute").value
    assert np.all(apart > 0.1 * threads.ALLOWANCE)
    assert np.all(apart < threads.ALLOWANCE)
    beside = threads.screwed(0.37)
    beside[2, 3] += threads.PITCH / 2.0
    assert impinge.collides(nut, bolt, pose_b=beside, method="brute")


@pytest.mark.nojit_slow
def test_the_torpedo_rests_on_all_rollers() -> None:
    pivot, hull = torpedo.pivot(), torpedo.torpedo()
    near = np.linalg.norm(pivot.triangles.mean(axis=1)[:, 1:], axis=1) < torpedo.RADIUS + 0.02
    rollers = Mesh(pivot.vertices, pivot.faces[near])
    bottom = hull.triangles.mean(axis=1)[:, 2] < -0.15
    under = Mesh(hull.vertices, hull.faces[bottom])
    touched = impinge.contacts(rollers, under, pose_b=torpedo.at_rest(), method="brute")
    assert len(np.unique(pivot.components[np.flatnonzero(near)[touched.face_a]])) == 2 * torpedo.STATIONS


def test_poses_around_the_stalagmite_encircle_it() -> None:
    scene = torus_on_land.scene(count=16, steps=2)
    around = scene.poses[7::8]
    assert np.hypot(*(around[:, :2, 3] - landscape.STALAGMITE).T).max() < 0.3
