"""Every triangulation of a simple polygon tiles it, decided in rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impinge.mesh.mesh import Mesh
from impinge.mesh.triangulation.triangulate import clip_ears


def cross(o, a, b):
    ox, oy, ax, ay, bx, by = (Fraction(float(v)) for v in (*o, *a, *b))
    return (ax - ox) * (by - oy) - (ay - oy) * (bx - ox)


def signed_area(points):
    return sum(cross(points[0], points[i], points[i + 1]) for i in range(1, len(points) - 1))


def segments_meet(p, q, r, s):
    """Closed segments in the plane."""
    turns = [np.sign(cross(*t)) for t in ((p, q, r), (p, q, s), (r, s, p), (r, s, q))]
    if turns[0] * turns[1] < 0 and turns[2] * turns[3] < 0:
        return True
    for turn, (a, b, c) in zip(turns, ((p, q, r), (p, q, s), (r, s, p), (r, s, q)), strict=True):
        within = all(min(a[i], b[i]) <= c[i] <= max(a[i], b[i]) for i in range(2))
        if turn == 0 and within:
            return True
    return False


def is_simple(points):
    n = len(points)
    if len(set(points)) < n:
        return False
    for i in range(n):
        for j in range(i + 2, n):
            if (i, j) == (0, n - 1):
                continue
            if segments_meet(points[i], points[i + 1], points[j], points[(j + 1) % n]):
                return False
    return all(
        cross(points[i - 1], points[i], points[(i + 1) % n]) != 0
        or sum((points[i - 1][k] - points[i][k]) * (points[(i + 1) % n][k] - points[i][k]) for k in range(2)) < 0
        for i in range(n)
    )


def untangled(points):
    """A simple polygon over distinct points by undoing crossings, or None."""
    ring = list(dict.fromkeys(points))
    for _ in range(200):
        n = len(ring)
        crossed = [
            (i, j)
            for i in range(n)
            for j in range(i + 2, n)
            if (i, j) != (0, n - 1) and segments_meet(ring[i], ring[i + 1], ring[j], ring[(j + 1) % n])
        ]
        if not crossed:
            break
        i, j = crossed[0]
        ring[i + 1 : j + 1] = ring[i + 1 : j + 1][::-1]
    return ring if len(ring) > 2 and is_simple(ring) else None


grid_points = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=4, max_size=14)


def check_tiles(points, triangles):
    assert len(triangles) == len(points) - 2
    areas = [signed_area([points[i] for i in triangle]) for triangle in triangles]
    assert min(areas) >= 0
    assert sum(areas) == signed_area(points)
    return areas


@settings(max_examples=150, deadline=None)
@given(grid_points)
def test_simple_polygons_with_collinear_corners_are_tiled_without_flat_triangles(points):
    ring = untangled(points)
    if ring is None:
        return
    if signed_area(ring) < 0:
        ring = ring[::-1]
    areas = check_tiles(ring, clip_ears([float(p[0]) for p in ring], [float(p[1]) for p in ring]))
    assert min(areas) > 0


@settings(max_examples=150, deadline=None)
@given(grid_points, st.integers(0, 2), st.booleans(), st.sampled_from([0, -400, -1060, 100]), st.data())
def test_polygons_in_space_keep_their_orientation(points, axis, turned, exponent, data):
    ring = untangled(points)
    if ring is None:
        return
    if (signed_area(ring) < 0) != turned:
        ring = ring[::-1]
    repeats = data.draw(st.lists(st.integers(0, len(ring) - 1), max_size=3))
    for i in repeats:
        ring = [*ring[: i + 1], *ring[i:]]
    scale = 2.0**exponent
    flat = np.array(ring) * scale
    space = np.zeros((len(ring), 3))
    space[:, (axis + 1) % 3], space[:, (axis + 2) % 3] = flat[:, 0], flat[:, 1]
    space[:, axis] = flat[:, 0] - 2 * flat[:, 1] if exponent > -1000 else 0.0
    mesh = Mesh(space, [list(range(len(ring)))])
    assert mesh.polygon.tolist() == [0] * (len(ring) - 2)
    areas = [signed_area([ring[i] for i in face]) for face in mesh.faces.tolist()]
    assert sum(areas) == signed_area(ring)
    assert max(areas) <= 0 if turned else min(areas) >= 0
    if not repeats:
        assert 0 not in areas


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(*[st.integers(-3, 3)] * 3), min_size=3, max_size=12))
def test_anything_gives_two_triangles_fewer_than_corners(points):
    mesh = Mesh(points, [list(range(len(points)))])
    assert mesh.faces.shape == (len(points) - 2, 3)


def test_a_hole_joined_by_a_cut_is_left_open():
    outer = [(0, 0), (6, 0), (6, 6), (0, 6)]
    hole = [(2, 2), (2, 4), (4, 4), (4, 2)]
    ring = [*outer, outer[0], *hole, hole[0]]
    areas = check_tiles(ring, clip_ears([float(p[0]) for p in ring], [float(p[1]) for p in ring]))
    assert sum(areas) == 2 * (36 - 4)


def test_two_holes_that_share_a_corner_of_the_outline():
    outer = [(0, 0), (9, 0), (9, 9), (0, 9), (0, 0)]
    ring = [*outer, (1, 2), (1, 4), (3, 4), (1, 2), (0, 0), (2, 1), (3, 3), (4, 1), (2, 1)]
    check_tiles(ring, clip_ears([float(p[0]) for p in ring], [float(p[1]) for p in ring]))


@pytest.mark.parametrize("start", range(4))
@pytest.mark.parametrize("backwards", [False, True])
def test_an_arrowhead_is_cut_along_its_inner_diagonal(start, backwards):
    arrow = np.roll([[0, 0, 1], [4, 0, 1], [1, 1, 1], [0, 4, 1]], start, axis=0)
    if backwards:
        arrow = arrow[::-1]
    mesh = Mesh(arrow, [[0, 1, 2, 3]])
    assert mesh.area == 4.0
    normals = np.cross(mesh.triangles[:, 1] - mesh.triangles[:, 0], mesh.triangles[:, 2] - mesh.triangles[:, 0])
    assert (np.sign(normals[:, 2]) == (-1 if backwards else 1)).all()


def test_a_quad_with_a_straight_corner_gets_two_triangles_with_area():
    mesh = Mesh([[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 2, 0]], [[0, 1, 2, 3]])
    assert len(mesh.diagnose().degenerate_faces) == 0
    assert mesh.area == 2.0


def test_a_triangle_written_as_a_quad_keeps_both_triangles():
    mesh = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2, 2]])
    assert mesh.faces.shape == (2, 3)
    assert mesh.area == 0.5


def test_the_paths_agree_far_from_the_origin():
    # 1e6 away an arrowhead of 1e-9 is decided by the last bits alone.
    arrow = np.array([[0, 0, 0], [4, 0, 0], [1, 1, 0], [0, 4, 0]]) * 2.0**-31 + [1e6, -1e6, 3.0]
    mesh = Mesh(arrow, [[0, 1, 2, 3]])
    assert mesh.area == 4.0 * 2.0**-62


def test_a_large_comb():
    teeth = 150
    x = np.repeat(np.arange(2.0 * teeth), 2)
    y = np.tile([0.0, 5.0, 5.0, 0.0], teeth)
    ring = [(float(a), float(b)) for a, b in zip(x, y, strict=True)] + [(2.0 * teeth, -1.0), (-1.0, -1.0)]
    if signed_area(ring) < 0:
        ring = ring[::-1]
    check_tiles(ring, clip_ears([p[0] for p in ring], [p[1] for p in ring]))


@pytest.mark.parametrize("exponent", [-1070, -900, -500, -300, 140])
def test_small_and_large_polygons_are_cut_alike(exponent):
    rng = np.random.default_rng(0)
    for corners in (4, 5, 8):
        vertices = rng.integers(0, 6, (30 * corners, 3)).astype(np.float64)
        vertices[: 10 * corners, 2] = 0.0
        polygons = np.arange(len(vertices)).reshape(-1, corners)
        scaled = Mesh(np.ldexp(vertices, exponent), polygons)
        assert (scaled.faces == Mesh(vertices, polygons).faces).all()
