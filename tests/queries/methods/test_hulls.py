"""Convex hulls in the verbs and in Pair: every method, single and batched, threads, pickles, mixed with meshes."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import impinge
from impinge import ConvexHull, FeatureKind, Mesh, Pair, Unsupported
from impinge.geometry.pose import posed_vertices
from impinge.lab.hard_input import random_pose
from impinge.lab.scenes.shapes import box, torus
from impinge.queries.dispatch import HULLS

Floats = NDArray[np.float64]
CUBE = ConvexHull(box(1, 1, 1))
SMALL = ConvexHull(np.array([[x, y, z] for x in (0.4, 0.6) for y in (0.4, 0.6) for z in (0.4, 0.6)]))


def ball(seed: int, count: int = 60) -> ConvexHull:
    points = np.random.default_rng(seed).normal(size=(count, 3))
    return ConvexHull(points / np.linalg.norm(points, axis=1)[:, None])


def shifted(*by: float) -> Floats:
    pose = np.eye(4)
    pose[:3, 3] = by
    return pose


def poses(seed: int, count: int, reach: float = 2.0) -> Floats:
    rng = np.random.default_rng(seed)
    return np.array([random_pose(rng, reach) for _ in range(count)])


@pytest.mark.parametrize("method", HULLS.methods)
def test_the_truth_table_for_solids(method: str) -> None:
    def ask(b: ConvexHull, pose: Floats) -> tuple[bool, float]:
        found = impinge.distance(CUBE, b, None, pose, method=method)
        assert impinge.closer_than(CUBE, b, float(found.value), None, pose, method=method)
        return bool(impinge.collides(CUBE, b, None, pose, method=method)), float(found.value)

    assert ask(CUBE, shifted(1.5, 0, 0)) == (False, 0.5)
    assert ask(SMALL, np.eye(4)) == (True, 0.0)  # nested
    assert ask(CUBE, shifted(1.0, 0.5, 0)) == (True, 0.0)  # touching
    assert ask(CUBE, shifted(0.5, 0.5, 0)) == (True, 0.0)
    assert ask(CUBE, np.eye(4)) == (True, 0.0)


@pytest.mark.parametrize("method", HULLS.methods)
def test_batches_are_single_questions_bit_for_bit(method: str) -> None:
    a, b = ball(1), ball(2)
    first, second = poses(3, 24).reshape(4, 6, 4, 4), poses(4, 6)
    together = impinge.distance(a, b, first, second, method=method)
    assert together.value.shape == (4, 6)
    assert together.point_a.shape == (4, 6, 3)
    meet = impinge.collides(a, b, first, second, method=method)
    near = impinge.closer_than(a, b, 0.5, first, second, method=method)
    assert 0 < np.count_nonzero(meet) < 24
    assert (meet == (together.value == 0.0)).all()
    assert (near == (together.value <= 0.5)).all()
    for i in range(4):
        for j in range(6):
            alone = impinge.distance(a, b, first[i, j], second[j], method=method)
            assert alone.value == together.value[i, j]
            assert (alone.point_a == together.point_a[i, j]).all()
            assert alone.face_b == together.face_b[i, j]
            assert alone.feature_a is not None and together.feature_a is not None
            assert (alone.feature_a.kind, alone.feature_a.index) == (
                together.feature_a.kind[i, j], together.feature_a.index[i, j],
            )  # fmt: skip
            assert impinge.collides(a, b, first[i, j], second[j], method=method) == meet[i, j]
            assert impinge.closer_than(a, b, 0.5, first[i, j], second[j], method=method) == near[i, j]


@pytest.mark.parametrize("method", HULLS.methods)
def test_features_carry_the_points(method: str) -> None:
    a, b = ball(5, 20), CUBE
    at_a, at_b = poses(6, 60, 3.0), poses(7, 60, 3.0)
    found = impinge.distance(a, b, at_a, at_b, method=method)
    assert found.feature_a is not None and found.feature_b is not None
    seen = set()
    for hull, at, points, features, faces in (
        (a, at_a, found.point_a, found.feature_a, found.face_a),
        (b, at_b, found.point_b, found.feature_b, found.face_b),
    ):
        for pose, point, kind, index, face, value in zip(
            at, points, features.kind, features.index, faces, found.value, strict=True
        ):
            seen.add((hull is a, int(kind)))
            if value == 0.0:
                assert (kind, index, face) == (FeatureKind.INSIDE, -1, -1)
                continue
            parts = {
                FeatureKind.VERTEX: lambda i, hull=hull: [i],
                FeatureKind.EDGE: lambda i, hull=hull: hull.edges[i],
                FeatureKind.FACE: lambda i, hull=hull: hull.faces[i],
            }
            corners = parts[FeatureKind(kind)](index)
            assert set(corners) <= set(hull.faces[face].tolist())
            carrier = ConvexHull(posed_vertices(pose, hull.vertices[corners]))
            assert impinge.distance(carrier, ConvexHull([point])).value <= 1e-15
    assert {kind for _, kind in seen} == set(FeatureKind)


def test_workers_and_threads_change_nothing() -> None:
    a, b = ball(8), ball(9, 200)
    at = poses(10, 300)
    alone = impinge.distance(a, b, None, at)
    shared = impinge.distance(a, b, None, at, workers=3)
    assert (alone.value == shared.value).all()
    assert (alone.point_b == shared.point_b).all()
    assert (impinge.collides(a, b, None, at, workers=4) == impinge.collides(a, b, None, at)).all()
    pair = Pair(a, b)
    with ThreadPoolExecutor(4) as pool:
        values = list(pool.map(lambda pose: pair.distance(None, pose).value, at))
    assert (np.array(values) == alone.value).all()


@pytest.mark.parametrize("method", HULLS.methods)
def test_pair_remembers_without_a_change(method: str) -> None:
    a, b = ball(11), ball(12)
    path = np.tile(np.eye(4), (200, 1, 1))
    path[:, :3, 3] = np.linspace((3.0, 0.2, 0.1), (-3.0, 0.1, 0.3), 200)
    pair, alone = Pair(a, b, method), impinge.distance(a, b, None, path)
    assert (pair.distance(None, path).value == alone.value).all()
    for pose, value in zip(path[::7], alone.value[::7], strict=True):
        assert pair.collides(None, pose) == (value == 0.0)
        assert pair.closer_than(0.3, None, pose) == (value <= 0.3)
        assert pair.distance(None, pose).value == value
    assert (pair.collides(None, path) == (alone.value == 0.0)).all()
    again = pickle.loads(pickle.dumps(pair))
    assert type(again) is type(pair) and again.method == method
    assert (again.distance(path).value == impinge.distance(a, b, path).value).all()
    assert "ConvexHull" in repr(pair)


def test_a_kept_plane_answers_most_of_a_path() -> None:
    pair = Pair(ball(13), ball(14))
    path = np.tile(np.eye(4), (100, 1, 1))
    path[:, :3, 3] = np.linspace((2.5, 0.0, 0.0), (2.1, 0.4, 0.0), 100)
    assert not pair.collides(None, path).any()
    assert pair.statistics.effort.gjk_steps <= 10


def test_statistics_of_a_pair_of_hulls() -> None:
    pair = Pair(CUBE, CUBE)
    assert (pair.statistics.box_tests, pair.statistics.triangle_tests, pair.statistics.contacts) == (0, 0, 0)
    before = pair.statistics.effort.gjk_steps
    pair.collides(None, shifted(3.0, 1.0, 0.5))
    assert pair.statistics.effort == pair.statistics.effort
    assert pair.statistics.effort.gjk_steps > before


@pytest.mark.parametrize(
    "method", [np.eye(4), ["gjk"], {}, None, 10**5000], ids=["array", "list", "dict", "None", "integer"]
)
def test_a_pose_in_the_place_of_a_method(method: Any) -> None:
    impinge.collides(CUBE, CUBE)
    for ask in (Pair, lambda a, b, method: impinge.collides(a, b, method=method)):
        for body in (CUBE, CUBE.mesh, impinge.ConvexPieces([CUBE])):
            with pytest.raises(ValueError, match="method"):
                ask(body, body, method)


def test_penetration() -> None:
    pair = Pair(CUBE, CUBE)
    at = np.array([shifted(0.75, 0.25, 0), shifted(1.0, 0.25, 0), shifted(1.5, 0, 0), shifted(0, 0.875, 0)])
    for found in (impinge.penetration(CUBE, CUBE, None, at), pair.penetration(None, at)):
        assert found.depth.tolist() == [0.25, 0.0, 0.0, 0.125]
        assert found.direction.tolist() == [[-1, 0, 0], [-1, 0, 0], [-1, 0, 0], [0, -1, 0]]
        assert (found.lower <= found.depth).all() and (found.depth <= found.upper).all()
        deep = found.depth[:, None] * found.direction
        gap = np.where(found.depth[:, None] > 0, found.point_b - found.point_a, 0.0)
        assert np.allclose(gap, deep, rtol=0, atol=1e-15)
        assert found.method == "epa"
    touching = impinge.penetration(CUBE, CUBE, None, at[1])
    assert (touching.point_a == touching.point_b).all() and touching.depth.shape == ()


def test_moving_out_by_the_depth_leaves_a_touch() -> None:
    a, b = ball(15), ball(16)
    at = poses(17, 40, 1.0)
    found = impinge.penetration(a, b, None, at)
    assert (found.depth > 0).sum() > 20
    moved = at.copy()
    moved[:, :3, 3] -= found.depth[:, None] * found.direction
    assert (impinge.distance(a, b, None, moved).value <= 1e-14).all()
    assert (impinge.penetration(a, b, None, moved).depth <= 1e-14).all()


def test_penetration_of_a_mesh_is_unsupported() -> None:
    for a, b, name in ((box(1, 1, 1), CUBE, "a"), (CUBE, box(1, 1, 1), "b")):
        with pytest.raises(Unsupported, match=rf"penetration: {name} is a mesh"):
            impinge.penetration(a, b)
        with pytest.raises(Unsupported):
            Pair(a, b).penetration()
    with pytest.raises(ValueError, match="expected Mesh, ConvexHull or ConvexPieces, got int"):
        impinge.penetration(CUBE, 3)  # type: ignore[arg-type]


@given(st.integers(0, 10_000))
def test_hull_and_mesh_agree_with_two_hulls(seed: int) -> None:
    """Away from touching: there the mesh has the triangles of its faces, the hull that of its posed vertices."""
    rng = np.random.default_rng(seed)
    a, b = ConvexHull(rng.normal(size=(9, 3))), ConvexHull(rng.normal(size=(7, 3)))
    at_a, at_b = random_pose(rng, 2.0), random_pose(rng, 2.0)
    truth = impinge.distance(a, b, at_a, at_b)
    for one, two in ((a.mesh, b), (a, b.mesh), (a.mesh, b.mesh)):
        found = impinge.distance(one, two, at_a, at_b)
        assert found.value == pytest.approx(truth.value, rel=1e-9, abs=1e-12)
        assert impinge.collides(one, two, at_a, at_b) == (truth.value == 0.0)
        assert impinge.closer_than(one, two, truth.value + 1e-6, at_a, at_b)
    if truth.value > 0:
        face = impinge.distance(a, b.mesh, at_a, at_b).face_a
        assert 0 <= face < len(a.faces)


def test_a_hull_is_never_put_in_place_of_a_mesh() -> None:
    """A ball in the hole of a ring touches the hull of the ring, and not the ring."""
    ring, bead = torus(1.0, 0.2, 24, 12), ball(18)
    small = ConvexHull(bead.vertices * 0.5)
    assert not impinge.collides(ring, small)
    assert impinge.distance(ring, small).value > 0.2
    assert impinge.collides(ConvexHull(ring), small)


def test_contacts_and_relation_use_the_faces() -> None:
    half = shifted(0.5, 0.25, 0.125)
    found = impinge.contacts(CUBE, CUBE, None, half)
    assert len(found) > 0
    assert (
        len(found)
        == len(impinge.contacts(CUBE.mesh, CUBE.mesh, None, half))
        == len(Pair(CUBE, CUBE).contacts(None, half))
    )
    assert impinge.relation(CUBE, SMALL) == impinge.RelationKind.B_INSIDE_A
    assert Pair(CUBE, SMALL).relation() == impinge.RelationKind.B_INSIDE_A
    assert sum(len(part) for part in impinge.contact_stream(CUBE, CUBE, None, half)) == len(found)


@pytest.mark.parametrize("points", [[[0.5, 0.5, 3.0]], [[0, 0, 2], [1, 1, 3]], [[0, 0, 2], [1, 0, 2], [0, 1, 2]]])
def test_hulls_without_volume(points: list[list[float]]) -> None:
    thin = ConvexHull(points)
    assert isinstance(thin.mesh, Mesh)
    lift = shifted(0, 0, -0.5)
    assert impinge.distance(CUBE, thin, None, lift).value == impinge.distance(CUBE.mesh, thin, None, lift).value
    assert impinge.distance(CUBE, thin.mesh, None, lift).value == min(p[2] for p in points) - 1.5
    inside = shifted(0, 0, 0.5 - min(p[2] for p in points))
    assert impinge.collides(CUBE, thin, None, inside) and impinge.collides(CUBE.mesh, thin, None, inside)


def test_errors_name_the_place() -> None:
    mesh = box(1, 1, 1)
    with pytest.raises(ValueError, match="method 'obb' is not one of auto, gjk, vclip, lin-canny"):
        impinge.collides(CUBE, CUBE, method="obb")
    with pytest.raises(
        ValueError, match=r"method 'gjk' is not one of auto, obb, incremental, brute, .*two convex hulls"
    ):
        impinge.distance(mesh, CUBE, method="gjk")
    with pytest.raises(ValueError, match="method 'obb' is not one of auto, gjk, vclip"):
        Pair(CUBE, CUBE, "obb")
    bad = np.diag([2.0, 1.0, 1.0, 1.0])
    for ask in (impinge.collides, impinge.distance, impinge.penetration, Pair(CUBE, CUBE).collides):
        with pytest.raises(ValueError, match="pose_b"):
            ask(CUBE, CUBE, None, bad) if ask in (impinge.collides, impinge.distance, impinge.penetration) else ask(
                None, bad
            )
    batch = np.stack([np.eye(4), np.eye(4), bad])
    for ask in (impinge.collides, impinge.distance, impinge.penetration):
        with pytest.raises(ValueError, match=r"pose_b\[2\] scales the body"):
            ask(CUBE, CUBE, None, batch, workers=2)
    batch[1, 0, 0] = np.nan
    with pytest.raises(ValueError, match=r"pose_a\[1, 0, 0\] is nan"):
        Pair(CUBE, CUBE).distance(batch)
    with pytest.raises(ValueError, match="pose_a"):
        impinge.collides(CUBE, CUBE, [[1.0]])
    with pytest.raises(ValueError, match="clearance"):
        impinge.closer_than(CUBE, CUBE, -1.0)


def test_parts_of_a_distance_outlive_the_next_question() -> None:
    """They are made when first asked for."""
    first = impinge.distance(CUBE, CUBE, None, shifted(3.0, 0.5, 0.25))
    copied = pickle.loads(pickle.dumps(first))
    impinge.distance(CUBE, SMALL, None, shifted(0.0, 7.0, 0.0))
    for found in (first, copied):
        assert found.point_b[0] - found.point_a[0] == found.value == 2.0
        assert found.feature_a.kind in (FeatureKind.VERTEX, FeatureKind.FACE)
        assert "point_a=array" in repr(found)
        with pytest.raises(AttributeError):
            found.nothing  # noqa: B018
        with pytest.raises(AttributeError):
            found.value = 3.0


def test_empty_batches() -> None:
    none = np.zeros((0, 4, 4))
    assert impinge.collides(CUBE, CUBE, None, none).shape == (0,)
    assert impinge.distance(CUBE, CUBE, None, none).point_a.shape == (0, 3)
    assert impinge.penetration(CUBE, CUBE, None, none).direction.shape == (0, 3)
