"""Common shapes: closed, outward, as large as asked for, and symmetric bit by bit."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import impinge
from impinge import shapes

SIZES = st.floats(1e-3, 1e3) | st.integers(1, 9)
SIDES = st.integers(3, 40)
SCALES = [2.0**-900, 2.0**-664, 2.0**-40, 2.0**40, 2.0**145]
"""Powers of two from 1e-271 to 4e43: they scale every coordinate without rounding."""

SOLIDS = {
    "box": shapes.box(1, 2, 3),
    "cube": shapes.box(2),
    "icosahedron": shapes.sphere(1, 0),
    "sphere": shapes.sphere(3, 2),
    "cylinder": shapes.cylinder(2, 5),
    "three-sided cylinder": shapes.cylinder(2, 5, sides=3),
    "cone": shapes.cone(2, 5),
    "capsule": shapes.capsule(1, 4),
    "three-sided capsule": shapes.capsule(1, 4, sides=3),
    "torus": shapes.torus(3, 1),
    "three-sided torus": shapes.torus(3, 1, 3, 3),
    "prism": shapes.prism([[0, 0], [3, 0], [3, 1], [1, 1], [1, 3], [0, 3]], 2),
    "heightfield": shapes.heightfield([[0, 1, 0, 2], [1, 3, 2, 0], [0, 0, 1, 1]], (2, 1), base=-1),
}

CONVEX = [name for name in SOLIDS if name not in ("torus", "three-sided torus", "prism", "heightfield")]


def is_sound(mesh):
    """Closed, manifold, outward, without negative zeros, and without a vertex that no face uses."""
    assert mesh.solid
    assert mesh.volume > 0.0
    assert mesh.component_count == 1
    assert mesh.diagnose().is_clean, mesh.diagnose()
    assert len(np.unique(mesh.faces)) == len(mesh.vertices)
    assert not np.signbit(mesh.vertices[mesh.vertices == 0.0]).any()
    return True


def points_of(vertices):
    return {tuple(point) for point in (np.asarray(vertices) + 0.0).tolist()}


def assert_symmetric(mesh, *maps):
    """The vertices are the same set of points after each map, bit by bit."""
    expected = points_of(mesh.vertices)
    assert len(expected) == len(mesh.vertices)
    for matrix in maps:
        assert points_of(mesh.vertices @ np.array(matrix, dtype=float).T) == expected


MIRROR_X, MIRROR_Y, MIRROR_Z = (np.diag(np.where(np.arange(3) == axis, -1, 1)) for axis in range(3))
OPPOSITE = -np.eye(3)
QUARTER_TURN = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
SWAP_XY = [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
CYCLE = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]


@pytest.mark.parametrize("name", SOLIDS)
def test_solids_are_sound(name):
    assert is_sound(SOLIDS[name])


@pytest.mark.parametrize("name", CONVEX)
def test_every_face_of_a_convex_solid_looks_away_from_the_middle(name):
    a, b, c = np.moveaxis(SOLIDS[name].triangles, 1, 0)
    assert (np.einsum("ij,ij->i", a, np.cross(b, c)) > 0.0).all()


def test_shapes_are_bodies_like_any_other():
    ball, floor = shapes.sphere(1, 1), shapes.box(4, 4, 2)
    lifted = np.eye(4)
    lifted[2, 3] = 2.0
    assert impinge.relation(ball, floor, lifted).kind is impinge.RelationKind.TOUCHING
    assert impinge.collides(ball, floor, lifted)
    lifted[2, 3] = math.nextafter(2.0, 3.0)
    assert not impinge.collides(ball, floor, lifted)


# -- sizes and exact coordinates ---------------------------------------------------------------------------------------


def test_box_takes_lengths_in_three_ways():
    expected = shapes.box(1, 2, 3)
    for other in (shapes.box([1, 2, 3]), shapes.box(np.array([1.0, 2.0, 3.0])), shapes.box(x=1, y=2, z=3)):
        assert np.array_equal(other.vertices, expected.vertices)
        assert np.array_equal(other.faces, expected.faces)
    assert points_of(expected.vertices) == {(x, y, z) for x in (-0.5, 0.5) for y in (-1, 1) for z in (-1.5, 1.5)}
    assert expected.volume == 6.0
    assert expected.area == 22.0
    assert expected.polygon.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert np.array_equal(shapes.box(3).vertices, shapes.box(3, 3, 3).vertices)


@pytest.mark.parametrize(
    ("mesh", "half"),
    [
        (shapes.sphere(3, 1), (3, 3, 3)),
        (shapes.sphere(0.1, 4), (0.1, 0.1, 0.1)),
        (shapes.cylinder(3, 5), (3, 3, 2.5)),
        (shapes.cone(3, 5), (3, 3, 2.5)),
        (shapes.capsule(3, 5), (3, 3, 5.5)),
        (shapes.torus(5, 2), (7, 7, 2)),
    ],
)
def test_extents_are_exact(mesh, half):
    assert np.array_equal(mesh.bounds, [np.negative(half), half])


def test_whole_sizes_give_whole_and_half_coordinates():
    assert points_of(shapes.cylinder(3, 4, sides=4).vertices) == {
        (x, y, z) for x, y in ((3, 0), (0, 3), (-3, 0), (0, -3)) for z in (-2, 2)
    }
    hexagon = shapes.cylinder(3, 4, sides=6).vertices
    assert sorted(set(hexagon[:, 0].tolist())) == [-3.0, -1.5, 1.5, 3.0]
    twelve = shapes.cylinder(1, 1, sides=12).vertices
    assert {-1.0, -0.5, 0.0, 0.5, 1.0} <= set(twelve[:, 0].tolist()) & set(twelve[:, 1].tolist())
    eight = shapes.cylinder(1, 1, sides=8).vertices
    assert eight[1, 0] == eight[1, 1] == math.sqrt(0.5)


@pytest.mark.parametrize("sides", [3, 4, 5, 6, 7, 8, 10, 12, 20, 24, 30, 32])
@pytest.mark.parametrize("of", ["cylinder", "cone", "capsule", "torus"])
def test_symmetries_of_bodies_of_revolution_are_exact(of, sides):
    mesh = {
        "cylinder": lambda: shapes.cylinder(0.7, 0.3, sides),
        "cone": lambda: shapes.cone(0.7, 0.3, sides),
        "capsule": lambda: shapes.capsule(0.7, 0.3, sides),
        "torus": lambda: shapes.torus(0.7, 0.3, sides, tube_sides=5),
    }[of]()
    assert_symmetric(mesh, MIRROR_Y)
    if of != "cone":
        assert_symmetric(mesh, MIRROR_Z)
    if sides % 2 == 0:
        assert_symmetric(mesh, MIRROR_X)
    if sides % 2 == 0 and of != "cone":
        assert_symmetric(mesh, OPPOSITE)
    if sides % 4 == 0:
        assert_symmetric(mesh, QUARTER_TURN, SWAP_XY)


@pytest.mark.parametrize("subdivisions", [0, 1, 2, 3, 4])
def test_symmetries_of_spheres_are_exact(subdivisions):
    ball = shapes.sphere(0.7, subdivisions)
    assert_symmetric(ball, MIRROR_X, MIRROR_Y, MIRROR_Z, OPPOSITE, CYCLE)
    assert np.allclose(np.linalg.norm(ball.vertices, axis=1), 0.7, rtol=4e-16, atol=0.0)
    assert len(ball.faces) == 20 * 4**subdivisions
    if subdivisions:
        assert {(0.7, 0.0, 0.0), (0.0, 0.7, 0.0), (0.0, 0.0, -0.7)} <= points_of(ball.vertices)


@pytest.mark.parametrize("sides", [3, 5, 6, 7, 8, 12, 17, 24, 100])
def test_circles_are_right_to_the_last_bits(sides):
    angle = 2.0 * np.pi * np.arange(sides) / sides
    ring = shapes.cone(1, 1, sides).vertices[:-1, :2]
    assert np.abs(ring - np.column_stack([np.cos(angle), np.sin(angle)])).max() < 1e-15
    assert np.abs(np.hypot(*ring.T) - 1.0).max() < 3e-16


@pytest.mark.parametrize("scale", SCALES)
def test_powers_of_two_scale_every_bit(scale):
    hill = np.array([[0, 1, 2], [1, 3, 0]], dtype=float)
    outline = np.array([[0, 0], [3, 0], [1, 1], [0, 3]], dtype=float)
    for make in (
        lambda s: shapes.box(1.1 * s, 2.2 * s, 3.3 * s),
        lambda s: shapes.sphere(1.1 * s, 2),
        lambda s: shapes.cylinder(1.1 * s, 2.2 * s),
        lambda s: shapes.cone(1.1 * s, 2.2 * s),
        lambda s: shapes.capsule(1.1 * s, 2.2 * s),
        lambda s: shapes.torus(2.2 * s, 1.1 * s),
        lambda s: shapes.prism(outline * s, 1.1 * s),
        lambda s: shapes.heightfield(hill * s, 1.1 * s, base=-s),
    ):
        mesh, one = make(scale), make(1.0)
        assert np.array_equal(mesh.vertices, one.vertices * scale)
        assert np.array_equal(mesh.faces, one.faces)


def test_sizes_of_very_different_scales():
    for mesh in (
        shapes.box(1e-200, 1, 1e40),
        shapes.cylinder(1e-12, 1),
        shapes.cylinder(1, 1e-200),
        shapes.cone(1, 1e-12),
        shapes.capsule(1, 2.0**-30),
        shapes.capsule(2.0**-30, 1),
        shapes.capsule(1, 1e-200),
        shapes.torus(1, 2.0**-30),
        shapes.torus(1, 1 - 2.0**-30),
    ):
        assert is_sound(mesh)


@pytest.mark.parametrize("state", ["raise", "warn"])
def test_the_callers_float_errors_play_no_part(state):
    with np.errstate(all=state):
        assert shapes.sphere(1e-290, 3).is_closed
        assert shapes.heightfield(np.full((3, 3), 1e-310), base=0.0).is_closed
        assert shapes.prism([[0, 0], [5e-324, 0], [0, 5e-324]], 1e-290).is_closed


# -- volumes and areas -------------------------------------------------------------------------------------------------

ANALYTIC = {
    "sphere": (lambda n: shapes.sphere(2, n + 1), 32 * math.pi / 3, 16 * math.pi),
    "cylinder": (lambda n: shapes.cylinder(2, 3, 8 * 2**n), 12 * math.pi, 20 * math.pi),
    "cone": (lambda n: shapes.cone(3, 4, 8 * 2**n), 12 * math.pi, 24 * math.pi),
    "capsule": (lambda n: shapes.capsule(1, 3, 8 * 2**n), 13 * math.pi / 3, 10 * math.pi),
    "torus": (lambda n: shapes.torus(3, 1, 8 * 2**n, 8 * 2**n), 6 * math.pi**2, 12 * math.pi**2),
}


@pytest.mark.parametrize("name", ANALYTIC)
def test_volume_and_area_converge_from_below(name):
    make, volume, area = ANALYTIC[name]
    meshes = [make(n) for n in range(4)]
    for found, true in (([m.volume for m in meshes], volume), ([m.area for m in meshes], area)):
        errors = 1.0 - np.array(found) / true
        assert (errors > 0.0).all()
        ratio = errors[:-1] / errors[1:]
        assert (ratio > 3.4).all() and (ratio < 4.4).all()  # twice as fine, a quarter of the error
        assert errors[-1] < 0.02


def test_centres_and_moments():
    assert np.abs(shapes.sphere(1).centre_of_mass).max() < 1e-15
    inertia = shapes.box(1, 2, 3).inertia
    assert np.allclose(inertia, np.diag([13.0, 10.0, 5.0]) / 2.0, rtol=1e-14, atol=1e-14)
    assert shapes.cone(1, 4).centre_of_mass == pytest.approx([0.0, 0.0, -1.0], abs=1e-14)


# -- prisms ------------------------------------------------------------------------------------------------------------


def gear(teeth):
    """A concave polygon of 4 * teeth corners."""
    angle = np.arange(4 * teeth) * (math.pi / (2 * teeth))
    reach = np.where(np.arange(4 * teeth) % 4 < 2, 3.0, 2.0)
    return np.column_stack([reach * np.cos(angle), reach * np.sin(angle)])


def shoelace(polygon):
    x, y = np.asarray(polygon, dtype=float).T
    return abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2.0


SPIRAL = [[0, 0], [5, 0], [5, 5], [1, 5], [1, 2], [3, 2], [3, 3], [2, 3], [2, 4], [4, 4], [4, 1], [0, 1]]
COMB = [[0, 0], [7, 0], [7, 4], [6, 4], [6, 1], [5, 1], [5, 4], [4, 4], [4, 1], [3, 1], [3, 4], [0, 4]]
FLAT_CORNERS = [[0, 0], [1, 0], [2, 0], [3, 0], [3, 3], [2, 2], [1, 1]]


@pytest.mark.parametrize("polygon", [[[0, 0], [1, 0], [0, 1]], SPIRAL, COMB, FLAT_CORNERS, gear(9)])
def test_prisms_over_any_simple_polygon(polygon):
    mesh = shapes.prism(polygon, 2)
    assert is_sound(mesh)
    n = len(polygon)
    assert len(mesh.vertices) == 2 * n
    assert len(mesh.faces) == 4 * n - 4
    assert mesh.volume == pytest.approx(2 * shoelace(polygon), rel=1e-14)
    assert np.array_equal(mesh.vertices[:n, :2], polygon)
    assert mesh.vertices[:, 2].tolist() == [-1.0] * n + [1.0] * n


def test_either_sense_and_a_closed_ring_are_the_same_prism():
    expected = shapes.prism(SPIRAL, 1)
    for polygon in (SPIRAL[::-1], [*SPIRAL, SPIRAL[0]], np.roll(SPIRAL, 5, axis=0)):
        mesh = shapes.prism(polygon, 1)
        assert is_sound(mesh)
        assert points_of(mesh.vertices) == points_of(expected.vertices)
        assert mesh.volume == expected.volume
    backwards = shapes.prism(SPIRAL[::-1], 1)
    assert np.array_equal(backwards.vertices, expected.vertices)


def test_a_nearly_touching_polygon_is_simple():
    gap = math.ulp(1.0)
    mesh = shapes.prism([[0, 0], [4, 0], [4, 4], [2, gap], [0, 4]], 1)
    assert mesh.volume == 8.0
    assert len(mesh.diagnose().degenerate_faces) == 0
    with pytest.raises(ValueError, match="polygon: its edges 0-1 and 2-3 meet"):
        shapes.prism([[0, 0], [4, 0], [4, 4], [2, 0], [0, 4]], 1)


@pytest.mark.parametrize(
    ("polygon", "sentence"),
    [
        ([[0, 0], [2, 2], [2, 0], [0, 2]], "polygon: its edges 0-1 and 2-3 meet"),
        ([[0, 0], [4, 0], [4, 4], [2, -1], [0, 4]], "polygon: its edges 0-1 and 2-3 meet"),
        ([[0, 0], [4, 0], [4, 4], [0, 0], [-1, 4], [-2, 4]], "polygon: its edges 0-1 and 2-3 meet"),
        ([[0, 0], [4, 0], [4, 1], [3, 0], [1, 0], [0, 1]], "polygon: its edges 0-1 and 2-3 meet"),
        ([[0, 0], [4, 0], [2, 0]], "polygon: its edges run back on themselves at corner 0"),
        ([[0, 0], [0, 2], [0, 1], [1, 0]], "polygon: its edges run back on themselves at corner 1"),
        ([[0, 0], [1, 0], [1, 0], [0, 1]], "polygon: the corners 1 and 2 are equal"),
        ([[0, 0], [1, 0], [0, 1], [0, 0], [0, 0]], "polygon: the corners 3 and 0 are equal"),
        ([[0, 0], [1, 0]], "polygon: expected at least 3 different corners, got 2"),
        ([[0, 0], [1, 0], [0, 0]], "polygon: expected at least 3 different corners, got 2"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0]], r"polygon: expected shape \(n, 2\), got \(3, 3\)"),
        ([0, 1, 2], r"polygon: expected shape \(n, 2\), got \(3,\)"),
        (np.zeros((0, 2)), "polygon: expected at least 3 different corners, got 0"),
        ([[0, 0], [1, math.nan], [0, 1]], r"polygon\[1, 1\] is nan"),
        ([[0, 0], [1, 0], [1e50, 1]], r"polygon\[2, 0\] is 1e\+50"),
        ([["a", "b"]], "polygon: expected real numbers"),
    ],
)
def test_polygons_that_make_no_prism(polygon, sentence):
    with pytest.raises(ValueError, match=sentence):
        shapes.prism(polygon, 1)


# -- heightfields ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(2, 2), (2, 5), (5, 2), (3, 4), (7, 6)])
def test_a_flat_heightfield_is_a_box(shape):
    rows, columns = shape
    mesh = shapes.heightfield(np.full(shape, 2), cell=(3, 5), base=-1)
    assert is_sound(mesh)
    width, depth = 3.0 * (columns - 1), 5.0 * (rows - 1)
    assert mesh.volume == 3.0 * width * depth
    assert np.array_equal(mesh.bounds, [[-width / 2, -depth / 2, -1.0], [width / 2, depth / 2, 2.0]])
    surface = shapes.heightfield(np.full(shape, 2), cell=(3, 5))
    assert not surface.solid
    assert not surface.is_closed
    assert surface.area == width * depth


def test_heights_stand_where_meshgrid_puts_them():
    x, y = np.meshgrid([-4.0, -2.0, 0.0, 2.0, 4.0], [-1.5, -0.5, 0.5, 1.5])
    mesh = shapes.heightfield(x + 10 * y, cell=(2, 1))
    assert np.array_equal(mesh.vertices, np.stack([x, y, x + 10 * y], axis=-1).reshape(-1, 3))
    a, b, c = np.moveaxis(mesh.triangles, 1, 0)
    assert (np.cross(b - a, c - a)[:, 2] == 2.0).all()  # every normal points upward
    solid = shapes.heightfield(x + 10 * y, cell=(2, 1), base=-20)
    assert np.array_equal(solid.vertices[:20], mesh.vertices)
    assert np.array_equal(solid.faces[: len(mesh.faces)], mesh.faces)


def test_one_number_is_a_square_cell():
    hill = [[0, 1], [2, 3]]
    assert np.array_equal(shapes.heightfield(hill, 2.5).vertices, shapes.heightfield(hill, (2.5, 2.5)).vertices)
    assert np.array_equal(shapes.heightfield(hill).bounds, [[-0.5, -0.5, 0.0], [0.5, 0.5, 3.0]])


def test_diagonals_run_from_low_to_high():
    mesh = shapes.heightfield([[0, 0], [0, 0]])
    assert mesh.faces.tolist() == [[0, 1, 3], [0, 3, 2]]


CELLS = st.floats(0.1, 10.0)
"""With cells a million times as long as wide, bottom vertices are within some ulps of other edges: T-vertices."""


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(2, 6), CELLS, CELLS, st.sampled_from([1e-3, 1.0, 1e3]))
def test_random_heightfields(seed, rows, columns, dx, dy, depth):
    heights = np.random.default_rng(seed).normal(size=(rows, columns))
    mesh = shapes.heightfield(heights, (dx, dy), base=heights.min() - depth)
    assert is_sound(mesh)
    # Each triangle of the surface is the top of a three-sided column.
    top = heights - heights.min() + depth
    columns_of_cells = (2 * top[:-1, :-1] + top[:-1, 1:] + 2 * top[1:, 1:] + top[1:, :-1]) / 6.0
    assert mesh.volume == pytest.approx(dx * dy * columns_of_cells.sum(), rel=1e-9)
    assert shapes.heightfield(heights, (dx, dy)).diagnose().open_edges.shape == (2 * (rows + columns) - 4, 2)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([[1, 2, 3]],), r"heights: expected shape \(rows, columns\) of at least \(2, 2\), got \(1, 3\)"),
        (([1, 2, 3],), r"heights: expected shape .* got \(3,\)"),
        (([[1, 2], [3, math.inf]],), r"heights\[1, 1\] is inf"),
        (([[1, 2], [3, 1e60]],), r"heights\[1, 1\] is 1e\+60"),
        (([[1, 2], [3]],), "heights: rows of different lengths"),
        (([[1, 2], [3, 4]], 0), "cell is 0.0; it must be positive and finite"),
        (([[1, 2], [3, 4]], (1, -2)), r"cell\[1\] is -2.0; it must be positive and finite"),
        (([[1, 2], [3, 4]], (1, 2, 3)), r"cell: expected a number or two, got shape \(3,\)"),
        (([[1, 2, 1], [3, 4, 1]], 2.0**150), r"width, cell\[0\] \* \(columns - 1\) is .* it must be between"),
        (([[1, 2], [3, 4], [1, 1]], (1, 2.0**150)), r"depth, cell\[1\] \* \(rows - 1\) is .* it must be between"),
        (([[1, 2], [3, 4]], 1, 1), "base is 1; it must be a finite number below all heights, the lowest is 1"),
        (([[1, 2], [3, 4]], 1, math.nan), "base is nan"),
        (([[1, 2], [3, 4]], 1, -math.inf), "base is -inf"),
        (([[1, 2], [3, 4]], 1, [0]), r"base is \[0\]"),
        (([[1, 2], [3, 4]], 1, "low"), "base: expected real numbers"),
    ],
)
def test_what_makes_no_heightfield(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        shapes.heightfield(*arguments)


# -- parameters --------------------------------------------------------------------------------------------------------

MAKERS = {
    "box": (shapes.box, {"x": 1, "y": 1, "z": 1}),
    "sphere": (shapes.sphere, {"radius": 1}),
    "cylinder": (shapes.cylinder, {"radius": 1, "height": 1}),
    "cone": (shapes.cone, {"radius": 1, "height": 1}),
    "capsule": (shapes.capsule, {"radius": 1, "height": 1}),
    "torus": (shapes.torus, {"major_radius": 2, "minor_radius": 1}),
    "prism": (shapes.prism, {"height": 1}),
}


@pytest.mark.parametrize(("name", "parameter"), [(name, key) for name, (_, sizes) in MAKERS.items() for key in sizes])
@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (0, " is 0.0; it must be positive and finite"),
        (-1.5, " is -1.5; it must be positive and finite"),
        (math.nan, " is nan; it must be positive and finite"),
        (math.inf, " is inf; it must be positive and finite"),
        (1e-300, " is 1e-300; it must be between 1e-292 and 1.4e"),
        (1e46, r" is 1e\+46; it must be between"),
        ("wide", ": expected real numbers"),
        (True, ": expected real numbers"),
        ([1, 2], r": expected one number, got shape \(2,\)"),
    ],
)
def test_every_size_is_checked_by_name(name, parameter, value, sentence):
    make, sizes = MAKERS[name]
    polygon = {"polygon": [[0, 0], [1, 0], [0, 1]]} if name == "prism" else {}
    with pytest.raises(ValueError, match=f"^{parameter}{sentence}"):
        make(**polygon, **(sizes | {parameter: value}))


@pytest.mark.parametrize("value", [2, 0, -3, 8.0, "8", True, None])
@pytest.mark.parametrize(
    ("name", "parameter"),
    [("cylinder", "sides"), ("cone", "sides"), ("capsule", "sides"), ("torus", "sides"), ("torus", "tube_sides")],
)
def test_sides_are_whole_and_at_least_three(name, parameter, value):
    make, sizes = MAKERS[name]
    with pytest.raises(ValueError, match=f"^{parameter} is .*; it must be a whole number of 3 or more"):
        make(**sizes, **{parameter: value})
    assert is_sound(make(**sizes, **{parameter: np.int64(3)}))


@pytest.mark.parametrize("value", [-1, 10, 2.0, None, False])
def test_subdivisions_are_limited(value):
    with pytest.raises(ValueError, match=r"^subdivisions is .*; it must be a whole number from 0 to 9"):
        shapes.sphere(1, value)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: shapes.box(1, 2), "^z is missing"),
        (lambda: shapes.box(1, z=2), "^y is missing"),
        (lambda: shapes.box([1, 2]), r"^x: expected a number or three lengths, got shape \(2,\)"),
        (lambda: shapes.box([1, 0, 2]), r"^x\[1\] is 0.0; it must be positive"),
        (lambda: shapes.box(-1), r"^x is -1.0; it must be positive"),
        (lambda: shapes.torus(1, 1), "^minor_radius is 1; it must be smaller than major_radius, which is 1"),
        (lambda: shapes.torus(1, 2), "^minor_radius is 2; it must be smaller than major_radius"),
        (lambda: shapes.torus(1, 1 - 1e-12), "^minor_radius is 1; .* no hole"),
        (lambda: shapes.torus(1, 1e-12), "^minor_radius is 1e-12; .* no tube"),
        (lambda: shapes.torus(2.0**150, 2.0**149), r"^major_radius \+ minor_radius is"),
        (lambda: shapes.capsule(1e-12, 1), "^radius is 1e-12; it must be at least 2\\*\\*-30 of height"),
        (lambda: shapes.capsule(2.0**150, 2.0**150), r"^height / 2 \+ radius is"),
    ],
)
def test_sizes_that_do_not_fit_each_other(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


# -- any parameters ----------------------------------------------------------------------------------------------------


@given(SIZES, SIZES, SIZES)
def test_any_box(x, y, z):
    mesh = shapes.box(x, y, z)
    assert is_sound(mesh)
    assert np.array_equal(mesh.bounds[1] - mesh.bounds[0], [x, y, z])
    assert_symmetric(mesh, MIRROR_X, MIRROR_Y, MIRROR_Z)


@given(SIZES, st.integers(1, 3))
def test_any_sphere(radius, subdivisions):
    mesh = shapes.sphere(radius, subdivisions)
    assert is_sound(mesh)
    assert np.array_equal(mesh.bounds, [[-radius] * 3, [radius] * 3])


@given(SIZES, SIZES, SIDES)
def test_any_cylinder_and_cone(radius, height, sides):
    for mesh in (shapes.cylinder(radius, height, sides), shapes.cone(radius, height, sides)):
        assert is_sound(mesh)
        assert mesh.bounds[:, 2].tolist() == [-height / 2, height / 2]
        assert mesh.bounds[1, 0] == radius
        assert (np.abs(mesh.bounds[:, :2]) <= radius).all()
    polygon = sides / 2 * math.sin(2 * math.pi / sides) * radius**2
    assert shapes.cylinder(radius, height, sides).volume == pytest.approx(polygon * height, rel=1e-12)
    assert shapes.cone(radius, height, sides).volume == pytest.approx(polygon * height / 3, rel=1e-12)


@given(SIZES, SIZES, SIDES)
def test_any_capsule(radius, height, sides):
    mesh = shapes.capsule(radius, height, sides)
    assert is_sound(mesh)
    assert mesh.bounds[:, 2].tolist() == [-(height / 2 + radius), height / 2 + radius]
    assert mesh.bounds[1, 0] == radius
    assert mesh.volume < math.pi * radius**2 * (height + 4 / 3 * radius)


@given(SIZES, st.floats(1e-6, 1 - 1e-6), SIDES, st.integers(3, 20))
def test_any_torus(major, part, sides, tube_sides):
    mesh = shapes.torus(major, major * part, sides, tube_sides)
    assert is_sound(mesh)
    assert len(mesh.vertices) == sides * tube_sides
    assert mesh.bounds[1, 0] == major + major * part
    assert np.array_equal(mesh.bounds[0, 2], -mesh.bounds[1, 2])
    assert mesh.volume < 2 * math.pi**2 * major * (major * part) ** 2


@given(st.integers(0, 2**32 - 1), st.integers(3, 30), SIZES)
def test_any_star_shaped_prism(seed, corners, height):
    random = np.random.default_rng(seed)
    angle = (np.arange(corners) + random.uniform(0, 0.9, corners)) * (2 * math.pi / corners)
    reach = random.uniform(0.2, 1.0, corners)
    polygon = np.column_stack([reach * np.cos(angle), reach * np.sin(angle)])
    mesh = shapes.prism(polygon, height)
    assert is_sound(mesh)
    assert mesh.volume == pytest.approx(shoelace(polygon) * height, rel=1e-12)
    assert np.array_equal(mesh.bounds, [[*polygon.min(axis=0), -height / 2], [*polygon.max(axis=0), height / 2]])
