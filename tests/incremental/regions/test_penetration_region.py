"""The region of two hulls: the walk and the dual transform agree, and the box holds all of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.spatial import HalfspaceIntersection

from impinge import ConvexHull, Mesh
from impinge.geometry.pose import posed_vertices
from impinge.incremental.regions.dual_region import DualRegion
from impinge.incremental.regions.penetration_region import PenetrationRegion, Region
from impinge.incremental.regions.posed_hull import posed_hull
from impinge.lab.hard_input import quarter_turn, random_pose
from impinge.lab.scenes.shapes import box

Floats = NDArray[np.float64]
WAYS = (PenetrationRegion, DualRegion)


def random_hull(rng: np.random.Generator) -> ConvexHull:
    points = rng.normal(size=(int(rng.integers(4, 40)), 3))
    if rng.uniform() < 0.5:
        points /= np.linalg.norm(points, axis=1, keepdims=True)
    return ConvexHull(points * rng.uniform(0.2, 1.0, size=3))


def corners_of_region(a: ConvexHull, b: ConvexHull, pose_a: Floats, pose_b: Floats, inner: Floats) -> Floats:
    planes = np.concatenate([posed_hull(a, pose_a).planes, posed_hull(b, pose_b).planes])
    return np.asarray(HalfspaceIntersection(planes, inner).intersections)


def check_box(region: Region, a: ConvexHull, b: ConvexHull, pose_a: Floats, pose_b: Floats) -> None:
    """Vertices of one hull inside the other are in the box, to the last bit."""
    for hull, pose, inside in ((a, pose_a, region.vertices_a), (b, pose_b, region.vertices_b)):
        world = posed_vertices(pose, hull.vertices)[inside]
        assert (world >= region.box[0]).all()
        assert (world <= region.box[1]).all()


@given(seed=st.integers(0, 2**32 - 1), far=st.sampled_from([0.0, 100.0]))
def test_walk_and_dual_transform_agree(seed: int, far: float) -> None:
    rng = np.random.default_rng(seed)
    a, b = random_hull(rng), random_hull(rng)
    walk, dual = PenetrationRegion(a, b), DualRegion(a, b)
    pose_a, pose_b = random_pose(rng, 0.3), random_pose(rng, 0.3)
    offset = far * rng.normal(size=3)
    pose_a[:3, 3] += offset
    pose_b[:3, 3] += offset
    for _ in range(3):
        one, other = walk.region(pose_a, pose_b), dual.region(pose_a, pose_b)
        if one is None or other is None:
            assert other is None  # a region without an inside is the walk's alone
        else:
            for name in ("faces_a", "faces_b", "vertices_a", "vertices_b"):
                assert np.array_equal(getattr(one, name), getattr(other, name))
            corners = corners_of_region(a, b, pose_a, pose_b, other.inner)
            for region in (one, other):
                assert (corners >= region.box[0] - 1e-12 * (1.0 + far)).all()
                assert (corners <= region.box[1] + 1e-12 * (1.0 + far)).all()
                # It is not only safe, it fits.
                assert np.allclose(region.box[0], corners.min(axis=0), atol=1e-9 * (1.0 + far))
                assert np.allclose(region.box[1], corners.max(axis=0), atol=1e-9 * (1.0 + far))
                check_box(region, a, b, pose_a, pose_b)
        pose_b[:3, 3] += rng.normal(size=3) * 0.05


@pytest.mark.parametrize("way", WAYS)
def test_a_bar_through_a_plate(way: type) -> None:
    """The plate is entered on one side and left on the other; the bar connects both."""
    plate = ConvexHull(Mesh(box(10, 10, 1).vertices - [5, 5, 0.5], box(10, 10, 1).faces))
    bar = ConvexHull(Mesh(box(1, 1, 6).vertices - [0.5, 0.5, 3], box(1, 1, 6).faces))
    region = way(plate, bar).region()
    assert len(region.faces_a) == 2
    assert len(region.faces_b) == 4
    assert region.vertices_a.tolist() == region.vertices_b.tolist() == []
    assert np.allclose(region.box, [[-0.5, -0.5, -0.5], [0.5, 0.5, 0.5]])


@pytest.mark.parametrize("way", WAYS)
def test_nested_hulls(way: type) -> None:
    inner = ConvexHull(box(1, 1, 1).vertices)
    outer = ConvexHull(box(1, 1, 1).vertices * 4.0 - 1.0)
    for a, b, faces in ((inner, outer, (6, 0)), (outer, inner, (0, 6))):
        region = way(a, b).region()
        assert (len(region.faces_a), len(region.faces_b)) == faces
        assert np.allclose(region.box, [[0, 0, 0], [1, 1, 1]])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "shift", [(1.0, 0.0, 0.0), (1.0, 1.0, 0.5), (1.0, 1.0, 1.0), (1.0 + 2.0**-52, 0.3, 0.3), (0, 0, 0)]
)
def test_touching_and_equal_hulls(way: type, shift: tuple[float, float, float]) -> None:
    cube = ConvexHull(box(1, 1, 1).vertices)
    pose = np.eye(4)
    pose[:3, 3] = shift
    for rotated in (np.eye(4), quarter_turn(np.random.default_rng(1), 0)):
        region = way(cube, cube).region(rotated, rotated @ pose)
        low, high = np.maximum(0.0, shift), np.minimum(1.0, np.add(shift, 1.0))
        if way is DualRegion and not (low < high).all():
            assert region is None  # without an inside there is no dual
        elif (low <= high).all():  # all common points are in the box; where there are none it need not see that
            ends = posed_vertices(rotated, np.array([low, high]))
            assert (region.box[0] <= ends.min(axis=0)).all()
            assert (region.box[1] >= ends.max(axis=0)).all()


@pytest.mark.parametrize("way", WAYS)
def test_no_region(way: type) -> None:
    cube = ConvexHull(box(1, 1, 1).vertices)
    flat = ConvexHull([[0, 0, 0.5], [1, 0, 0.5], [0, 1, 0.5]])
    regions = way(cube, cube)
    away = np.eye(4)
    away[:3, 3] = 3.0, 0.0, 0.0
    assert regions.region(None, away) is None
    assert regions.region(None, None) is not None
    assert regions.region(None, away) is None
    beside = np.eye(4)  # boxes overlap, hulls do not
    beside[:2, :2] = np.array([[1.0, -1.0], [1.0, 1.0]]) * np.sqrt(0.5)
    beside[:3, 3] = 1.6, 1.0, 0.0
    assert way(cube, cube).region(None, beside) is None
    assert way(cube, flat).region() is None
    assert way(flat, cube).region() is None
    with pytest.raises(ValueError, match="pose_b"):
        regions.region(None, np.zeros((4, 4)))


@pytest.mark.parametrize("way", WAYS)
@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([1e-100, 1.0, 1e40]))
def test_never_a_crash_at_any_scale(way: type, seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    hulls = [ConvexHull(rng.integers(0, 4, size=(12, 3)) * scale) for _ in range(2)]
    pose = quarter_turn(rng, 0)
    pose[:3, 3] = rng.integers(-2, 3, size=3) * scale
    region = way(*hulls).region(None, pose)
    if region is not None:
        assert (region.box[0] <= region.box[1]).all()
        check_box(region, *hulls, np.eye(4), pose)
