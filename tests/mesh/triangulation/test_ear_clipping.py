"""The compiled ear clipping gives the triangles of the plain one, and is not held up by large polygons."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from impinge import Mesh
from impinge.kernels.interruptible import in_parts
from impinge.mesh.triangulation import ear_clipping
from impinge.mesh.triangulation.ear_clipping import clip_large
from impinge.mesh.triangulation.triangulate import clip_ears

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]


def clipped_alone(polygon: Floats) -> Longs:
    return clip_large(polygon, np.array([0, len(polygon)]))


def clipped_plainly(polygon: Floats) -> list[tuple[int, int, int]]:
    return clip_ears(polygon[:, 0].tolist(), polygon[:, 1].tolist())


def rows(triangles: Longs) -> list[tuple[int, ...]]:
    return [tuple(row) for row in triangles.tolist()]


points = st.tuples(st.integers(0, 6), st.integers(0, 6))


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.lists(points, min_size=3, max_size=30), min_size=1, max_size=5),
    st.sampled_from([1.0, 2.0**-1074, 2.0**-500, 2.0**147, 1.0 / 3.0]),
    st.sampled_from([0.0, 1e6]),
)
@example([[(0, 0), (0, 0), (0, 0)], [(1, 1)] * 7, [(0, 0), (3, 3), (1, 1), (2, 2)]], 1.0, 0.0)
def test_any_polygons_get_the_same_triangles(
    polygons: list[list[tuple[int, int]]], scale: float, offset: float
) -> None:
    rings = [np.array(polygon) * scale + offset for polygon in polygons]
    starts = np.cumsum([0, *map(len, rings)])
    triangles = clip_large(np.concatenate(rings), starts)
    for i, ring in enumerate(rings):
        assert rows(triangles[starts[i] - 2 * i : starts[i + 1] - 2 * i - 2]) == clipped_plainly(ring)


def flower(petals: int, turn: float = 0.0) -> Floats:
    """All petals begin and end at the origin."""
    angle = np.arange(2 * petals) * np.pi / petals + turn
    tips = np.column_stack([np.cos(angle), np.sin(angle)]).reshape(petals, 2, 2)
    return np.concatenate([np.zeros((petals, 1, 2)), tips], axis=1).reshape(-1, 2)


@pytest.mark.parametrize("turn", [0.0, 0.4, 2.5])
def test_many_corners_at_one_place(turn: float) -> None:
    outwards = flower(12, turn)
    square = np.array([[3.0, 3.0], [-3.0, 3.0], [-3.0, -3.0], [3.0, -3.0]])
    holes = np.concatenate([square, [[3.0, 0.0]], outwards[::-1], [[0.0, 0.0], [3.0, 0.0]]])
    for polygon in (outwards, outwards[::-1], holes, np.tile(outwards, (3, 1))):
        assert rows(clipped_alone(polygon)) == clipped_plainly(polygon)


@pytest.mark.parametrize("seed", range(3))
def test_random_polygons_that_cross_themselves(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for polygon in (rng.random((90, 2)), np.cumsum(rng.normal(size=(90, 2)), axis=0)):
        assert rows(clipped_alone(polygon)) == clipped_plainly(polygon)


def square_spiral(corners: int) -> Floats:
    """A band that winds outward, with whole coordinates; it turns left."""
    half = corners // 2
    step = np.array([[5, 0], [0, 5], [-5, 0], [0, -5]])[np.arange(half - 1) % 4]
    inner = np.concatenate([[[0, 0]], np.cumsum(step * (np.arange(half - 1)[:, None] // 2 + 1), axis=0)])
    side = np.array([[0, -1], [1, 0], [0, 1], [-1, 0]])[np.arange(half) % 4]
    before = np.roll(side, 1, axis=0)
    before[0] = side[-1] = 0
    return np.concatenate([inner, (inner + side + before)[::-1]])[::-1].astype(np.float64)


def twice_areas(polygon: Floats, triangles: Longs) -> Longs:
    a, b, c = (polygon[triangles[:, k]].astype(np.int64) for k in range(3))
    areas: Longs = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    return areas


def inner_edges_cancel(count: int, triangles: Longs) -> bool:
    """Whether the border of the triangles is the polygon, each edge once and in its direction."""
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    around = np.column_stack([np.arange(count), np.roll(np.arange(count), -1)])
    forwards = np.concatenate([edges @ [count, 1], around[:, ::-1] @ [count, 1]])
    backwards = np.concatenate([edges @ [1, count], around[:, ::-1] @ [1, count]])
    return bool((np.sort(forwards) == np.sort(backwards)).all())


@pytest.mark.nojit_slow
def test_a_spiral_of_20_000_corners_is_tiled() -> None:
    polygon = square_spiral(20_000)
    mesh = Mesh(np.column_stack([polygon, polygon @ [1.0, 2.0]]), [range(len(polygon))])
    areas = twice_areas(polygon, mesh.faces.astype(np.int64))
    x, y = polygon.astype(np.int64).T
    assert areas.min() > 0
    assert areas.sum() == (x * np.roll(y, -1) - y * np.roll(x, -1)).sum()
    assert inner_edges_cancel(len(polygon), mesh.faces)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("scale", [1.0, 1e-300])
def test_20_000_corners_that_cross_themselves(scale: float) -> None:
    space = np.random.default_rng(0).random((20_000, 3)) * scale
    mesh = Mesh(space, [range(len(space))])
    assert mesh.faces.shape == (len(space) - 2, 3)
    assert inner_edges_cancel(len(space), mesh.faces)


@pytest.mark.nojit_slow
def test_6_000_petals() -> None:
    polygon = flower(6_000)
    triangles = clipped_alone(polygon)
    assert inner_edges_cancel(len(polygon), triangles)


def few_places(count: int, kind: str) -> Floats:
    """Corners that stand at a few places only, or along each other."""
    rng = np.random.default_rng(len(kind))
    if kind == "there and back":
        way = np.cumsum(rng.integers(-1, 2, (count // 2, 2)), axis=0)
        return np.concatenate([way, way[::-1]]).astype(np.float64)
    if kind == "spikes":
        x = np.repeat(np.arange(count // 3 - 1.0), 3)
        bottom = [[x[-1], -2.0], [0.0, -2.0]]
        return np.concatenate([np.column_stack([x, np.tile([0.0, -1.0, 0.0], len(x) // 3)]), bottom])[::-1]
    if kind == "hub":
        return rng.normal(size=(count, 2)) * rng.integers(0, 2, (count, 1))
    if kind == "eights":
        return np.tile([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0], [-1.0, 0.0], [-1.0, -1.0]], (count // 6, 1))
    places = rng.random((int(kind.split()[0]), 2))
    if kind.endswith("in turn"):
        return np.tile(places, (count // len(places), 1))
    return places[rng.integers(0, len(places), count)]


FEW_PLACES = ["3 in turn", "1", "2", "3", "5", "50", "50 in turn", "hub", "eights", "there and back", "spikes"]


@pytest.mark.parametrize("kind", FEW_PLACES)
def test_few_places_get_the_same_triangles(kind: str) -> None:
    for polygon in (few_places(150, kind), few_places(150, kind)[::-1]):
        assert rows(clipped_alone(polygon)) == clipped_plainly(polygon)


@pytest.mark.nojit_slow
@pytest.mark.parametrize("kind", FEW_PLACES)
def test_20_000_corners_at_few_places(kind: str) -> None:
    """A tenth of a second each; corner by corner, 5,000 on three places in turn took 5 s."""
    polygon = few_places(20_000, kind)
    assert inner_edges_cancel(len(polygon), clipped_alone(polygon))


def test_many_polygons_at_once() -> None:
    arms = np.array([[0, 0], [3, 0], [3, 1], [1, 1], [1, 2], [3, 2], [3, 3], [0, 3]], dtype=np.float64)
    count = 800
    space = np.zeros((count * len(arms), 3))
    space[:, :2] = (arms + 5.0 * np.arange(count)[:, None, None]).reshape(-1, 2)
    mesh = Mesh(space, np.arange(len(space)).reshape(count, -1))
    expected = np.array(clipped_plainly(arms))
    assert (mesh.faces.reshape(count, -1, 3) == expected + len(arms) * np.arange(count)[:, None, None]).all()


def test_many_polygons_are_clipped_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal is handled between two of them; the triangles are the same."""
    rng = np.random.default_rng(5)
    sizes = rng.integers(3, 9, 40)
    plane, starts = rng.integers(0, 5, (sizes.sum(), 2)).astype(np.float64), np.cumsum([0, *sizes])
    whole = clip_large(plane, starts)
    parts: list[slice] = []

    def noted(count: int, _: int) -> list[slice]:
        parts.extend(in_parts(count, 3))
        return parts

    monkeypatch.setattr(ear_clipping, "in_parts", noted)
    assert clip_large(plane, starts).tolist() == whole.tolist()
    assert len(parts) > 1
