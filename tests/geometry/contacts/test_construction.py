"""Points and normals of contacts."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from impinge.geometry.contacts.construction import triangle_intersections
from impinge.lab.hard_input import FAMILIES, random_pose, triangle_pairs
from impinge.results import ContactKind

Floats = NDArray[np.float64]
FLAT = [[0, 0, 0], [4, 0, 0], [0, 4, 0]]


def meet(a: object, b: object) -> tuple[int, list[list[float]], Floats]:
    """Kind, corners and normal of one pair."""
    kinds, counts, corners, normals = triangle_intersections(
        np.array([a], dtype=np.float64), np.array([b], dtype=np.float64)
    )
    return int(kinds[0]), corners[0, : counts[0]].tolist(), normals[0]


def unit_normals(triangles: Floats) -> Floats:
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    return np.asarray(normals / np.linalg.norm(normals, axis=1, keepdims=True))


@pytest.mark.parametrize(
    ("b", "corners"),
    [
        ([[1, 1, -1], [1, 1, 1], [9, 9, 0]], [[1, 1, 0], [2, 2, 0]]),
        ([[1, 1, -1], [2, 1, 1], [1, 2, 1]], [[1.5, 1, 0], [1, 1.5, 0]]),
        ([[0, 0, 0], [-1, 0, 1], [-1, 0, -1]], [[0, 0, 0]]),
        ([[1, 1, 0], [1, 1, 2], [2, 1, 2]], [[1, 1, 0]]),
        ([[2, -1, -1], [2, 1, 1], [2, -1, 5]], [[2, 0, 0]]),
        ([[2, -1, -1], [2, 1, -1], [2, 0.5, 3]], [[2, 0, 0], [2, 0.875, 0]]),
        ([[0, 0, 0], [4, 0, 0], [0, 0, 4]], [[0, 0, 0], [4, 0, 0]]),
        ([[-1, 1, 0], [9, 1, 0], [1, 1, 3]], [[0, 1, 0], [3, 1, 0]]),
        ([[1, 1, -1], [1, 1, 1], [1, 1, 1]], [[1, 1, 0]]),
        ([[-1, 1, 0], [9, 1, 0], [5, 1, 0]], [[0, 1, 0], [3, 1, 0]]),
        ([[1, 1, 0]] * 3, [[1, 1, 0]]),
        (FLAT, FLAT),
        ([[0.5, 0.5, 0], [1, 0.5, 0], [0.5, 1, 0]], [[0.5, 0.5, 0], [1, 0.5, 0], [0.5, 1, 0]]),
        ([[1, 1, 0], [1, 5, 0], [5, 1, 0]], [[1, 1, 0], [3, 1, 0], [1, 3, 0]]),
    ],
)
def test_corners(b: list[list[float]], corners: list[list[float]]) -> None:
    _, found, _ = meet(FLAT, b)
    assert sorted(found) == sorted([float(x) for x in corner] for corner in corners)
    _, swapped, _ = meet(b, FLAT)
    assert sorted(swapped) == sorted(found)


def test_hexagon_of_two_coplanar_triangles_goes_around() -> None:
    kind, found, _ = meet([[0, 0, 1], [6, 0, 1], [3, 6, 1]], [[0, 4, 1], [6, 4, 1], [3, -2, 1]])
    assert kind == ContactKind.COPLANAR
    assert len(found) == 6
    ring = np.array(found)
    assert np.array_equal(ring[:, 2], np.ones(6))
    side = np.roll(ring, -1, axis=0) - ring
    turns = side[:, 0] * np.roll(side, -1, axis=0)[:, 1] - side[:, 1] * np.roll(side, -1, axis=0)[:, 0]
    assert (turns > 0).all() or (turns < 0).all()
    # 18 of the first triangle, less three corners of 2 each.
    x, y = ring[:, 0], ring[:, 1]
    area = abs(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) / 2.0
    assert area == pytest.approx(12.0, abs=1e-14)


@pytest.mark.parametrize("family", list(FAMILIES))
def test_normals_are_unit_or_zero_and_never_nan(family: str) -> None:
    a, b = triangle_pairs(np.random.default_rng(4), 300, family)
    kinds, counts, corners, normals = triangle_intersections(a, b)
    meeting = kinds >= 0
    assert np.isfinite(corners).all()
    assert np.isfinite(normals).all()
    assert (counts[meeting] >= 1).all()
    assert (counts[~meeting] == 0).all()
    assert (counts[kinds == ContactKind.COPLANAR] >= 3).all()
    assert (counts[(kinds == ContactKind.CROSSING)] == 2).all()
    length = np.linalg.norm(normals[meeting], axis=1)
    assert ((np.abs(length - 1.0) < 1e-14) | (length == 0.0)).all()


def test_normal_of_a_vertex_on_a_face_is_that_of_the_face() -> None:
    tip = [[1, 1, 0], [1, 2, 3], [2, 1, 3]]
    assert meet(tip, FLAT)[2].tolist() == [0.0, 0.0, 1.0]  # from b, the face below, up to a
    assert meet(FLAT, tip)[2].tolist() == [0.0, 0.0, -1.0]


def test_normal_of_faces_that_look_at_each_other() -> None:
    # A box that stands on another: the lower face looks up, the upper one down.
    lower, upper = FLAT, [[0, 0, 0], [0, 4, 0], [4, 0, 0]]
    assert meet(upper, lower)[2].tolist() == [0.0, 0.0, 1.0]
    assert meet(lower, upper)[2].tolist() == [0.0, 0.0, -1.0]


def test_normal_of_degenerate_triangles() -> None:
    point, segment = [[1, 1, 0]] * 3, [[1, 1, 0], [1, 1, 2], [1, 1, 1]]
    assert meet(point, FLAT)[2].tolist() == [0.0, 0.0, 1.0]
    assert meet(FLAT, segment)[2].tolist() == [0.0, 0.0, -1.0]
    assert meet(point, segment)[2].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("family", ["grid 0..2", "grid 0..4", "shared vertices", "uniform", "repeated vertices"])
@pytest.mark.nojit_slow
def test_swapping_the_triangles_reverses_the_normal(family: str) -> None:
    a, b = triangle_pairs(np.random.default_rng(6), 2000, family)
    kinds, _, _, normals = triangle_intersections(a, b)
    swapped_kinds, _, _, swapped = triangle_intersections(b, a)
    assert np.array_equal(kinds, swapped_kinds)
    # Triangles of one plane that look the same way have no "from b to a": all that can be said is the plane.
    with np.errstate(invalid="ignore"):
        alike = np.einsum("ij,ij->i", unit_normals(a), unit_normals(b)) > 1.0 - 1e-12
    clear = ~alike
    assert np.count_nonzero(kinds[clear] >= 0) > 50
    assert np.abs(normals[clear] + swapped[clear]).max() < 1e-12


def test_normal_of_coplanar_triangles_is_that_of_their_plane() -> None:
    """Exactly coplanar, but with normals that round differently: their difference means nothing."""
    rng = np.random.default_rng(0)
    xy = rng.integers(0, 2**40, (2, 400, 3, 2)) / 2.0**40
    a, b = np.concatenate([xy, xy[..., :1] + 2.0 * xy[..., 1:]], axis=-1)
    kinds, _, _, normals = triangle_intersections(a, b)
    overlapping = kinds == ContactKind.COPLANAR
    assert overlapping.sum() > 100
    along = np.abs(normals[overlapping] @ (np.array([-1.0, -2.0, 1.0]) / np.sqrt(6.0)))
    assert along.min() > 1.0 - 1e-9


def test_normals_turn_with_the_pair() -> None:
    rng = np.random.default_rng(8)
    a, b = triangle_pairs(rng, 500, "uniform")
    kinds, _, _, normals = triangle_intersections(a, b)
    pose = random_pose(rng)
    rotation = pose[:3, :3]
    turned_kinds, _, _, turned = triangle_intersections(a @ rotation.T, b @ rotation.T)
    assert np.array_equal(kinds, turned_kinds)
    assert np.count_nonzero(kinds >= 0) > 20
    assert np.abs(turned - normals @ rotation.T).max() < 1e-9


@pytest.mark.parametrize("exponent", [-1000, -320, 40, 100])
@pytest.mark.nojit_slow
def test_points_scale_bit_for_bit(exponent: int) -> None:
    a, b = triangle_pairs(np.random.default_rng(9), 500, "uniform")
    scale = 2.0**exponent
    kinds, counts, corners, normals = triangle_intersections(a, b)
    scaled = triangle_intersections(a * scale, b * scale)
    assert np.array_equal(scaled[0], kinds)
    assert np.array_equal(scaled[1], counts)
    assert np.array_equal(scaled[3], normals)
    assert np.array_equal(scaled[2], corners * scale)
