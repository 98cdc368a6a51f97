"""What can be mended is mended, nothing opens, no vertex moves, and the polygons keep their names."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impinge.lab.scenes import shapes
from impinge.mesh.mesh import Mesh

TETRAHEDRON = np.array([[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4]], dtype=float)
OUTWARD = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]


def exact_area(mesh: Mesh) -> Fraction:
    """The sum over the axes of the areas of the shadows of all faces: the same for any division of a flat face."""
    total = Fraction(0)
    for triangle in mesh.triangles.tolist():
        a, b, c = ([Fraction(x) for x in point] for point in triangle)
        u, v = ([q - p for p, q in zip(a, other, strict=True)] for other in (b, c))
        total += sum(abs(u[i] * v[j] - u[j] * v[i]) for i, j in ((1, 2), (2, 0), (0, 1)))
    return total


def test_a_clean_mesh_is_left_alone():
    mesh = Mesh(TETRAHEDRON, OUTWARD, solid=True)
    done = mesh.repair()
    assert done.mesh is mesh
    assert str(done) == "nothing to repair"
    assert done.source.tolist() == [0, 1, 2, 3]
    assert mesh.repaired() is mesh


def test_several_t_vertices_on_one_edge():
    points = np.concatenate([TETRAHEDRON, [[3, 0, 0], [1, 0, 0], [2, 0, 0]]])
    # The face below is whole, the face in front is divided at three vertices of its edge.
    mesh = Mesh(points, [[0, 2, 1], [0, 5, 3], [5, 6, 3], [6, 4, 3], [4, 1, 3], [0, 3, 2], [1, 2, 3]])
    assert len(mesh.diagnose().t_vertices) == 3
    done = mesh.repair()
    assert (done.joined, done.divided) == (3, 1)
    assert done.mesh.diagnose().is_clean
    assert done.mesh.polygon.tolist() == [0, 0, 0, 0, 1, 2, 3, 4, 5, 6]
    assert done.source.tolist() == done.mesh.polygon.tolist()
    assert np.array_equal(done.mesh.vertices, points)
    assert exact_area(done.mesh) == exact_area(mesh)
    assert mesh.repaired(solid=True).solid


def test_t_vertices_on_all_sides_of_a_face_and_polygons_keep_their_names():
    points = np.concatenate([TETRAHEDRON, 0.5 * (TETRAHEDRON[[0, 1, 2]] + TETRAHEDRON[[1, 2, 0]])])
    polygons = [[0, 2, 1], [0, 4, 1, 3], [0, 3, 2, 6], [1, 5, 2, 3]]
    mesh = Mesh(points, polygons)
    done = mesh.repair()
    assert done.mesh.diagnose().is_clean
    assert set(done.mesh.polygon.tolist()) == {0, 1, 2, 3}
    assert exact_area(done.mesh) == exact_area(mesh)
    assert np.isclose(done.mesh.volume, 64 / 6)


def test_a_t_vertex_that_is_off_by_an_ulp_bends_the_face_and_moves_nothing():
    third = [4 / 3, 1e-16, 0.0]
    mesh = Mesh([*TETRAHEDRON, third], [[0, 2, 1], [0, 4, 3], [4, 1, 3], [0, 3, 2], [1, 2, 3]])
    done = mesh.repair()
    assert done.mesh.is_closed
    assert np.array_equal(done.mesh.vertices, mesh.vertices)


@pytest.mark.parametrize(
    ("place", "scale"),
    [
        ([1.0, 0.5000000000000001, 0.5], 1.0),
        ([0.5000000000000002, 2e-16, 2e-16], 1.0),
        ([-1e-16, 2e-16, -1e-16], 0.5),
    ],
)
def test_shells_that_touch_but_for_rounding_stay_closed(place, scale):
    """Vertices of one stand beside the ends of edges of the other: dividing faces there would open both."""
    box = shapes.box(1, 1, 1)
    points = np.concatenate([box.vertices, box.vertices * scale + place])
    mesh = Mesh(points, np.concatenate([box.faces, box.faces + 8]))
    assert mesh.repaired(solid=True).solid


def test_a_face_without_area_that_closes_a_gap_gives_way():
    points = np.concatenate([TETRAHEDRON, [[1, 0, 0]]])
    mesh = Mesh(points, [[0, 2, 1], [0, 1, 4], [0, 4, 3], [4, 1, 3], [0, 3, 2], [1, 2, 3]], solid=True)
    done = mesh.repair()
    assert done.dropped == 1
    assert done.mesh.solid
    assert done.mesh.diagnose().is_clean


def test_faces_without_area_stay_where_something_would_be_lost():
    alone = Mesh([[0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0, 1, 2]])
    assert alone.repair().mesh is alone
    beside = Mesh([*TETRAHEDRON, [9, 9, 9]], [*OUTWARD, [0, 0, 4]])
    assert len(beside.repaired().faces) == 5  # a segment that leads away
    covered = Mesh([*TETRAHEDRON, [9, 9, 9]], [*OUTWARD, [0, 0, 1], [3, 3, 3]])
    assert covered.repair().dropped == 2


def test_coincident_faces():
    doubled = Mesh(TETRAHEDRON, OUTWARD + OUTWARD)
    done = doubled.repair()
    assert done.merged == 4
    assert done.mesh.diagnose().is_clean
    tripled = Mesh(TETRAHEDRON, [*OUTWARD, [1, 2, 0], [0, 1, 2]], solid=True)
    assert tripled.repair().merged == 2
    assert tripled.repaired().diagnose().is_clean


def test_a_copy_of_a_face_at_an_open_border_goes():
    sheet = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], [[0, 1, 2], [1, 3, 2], [2, 3, 1]])
    done = sheet.repair()
    assert done.merged == 1
    assert len(done.mesh.diagnose().open_edges) == 4


def test_a_wall_of_two_sheets_keeps_both():
    # Two boxes that share a wall, each with its own sheet: one sheet alone would open both boxes.
    box = shapes.box(1, 1, 1)
    points = np.concatenate([box.vertices, box.vertices + [1, 0, 0]])
    both = Mesh(points, np.concatenate([box.faces, box.faces + 8]), solid=True)
    assert len(both.diagnose().coincident_faces) == 2
    assert both.repair().merged == 0
    assert both.repaired().is_closed
    pocket = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 1]], solid=True)
    assert pocket.repair().mesh is pocket


def test_winding_is_made_consistent_and_outward():
    rng = np.random.default_rng(2)
    torus = shapes.torus(3, 1)
    faces = torus.faces.copy()
    wrong = rng.random(len(faces)) < 0.7
    faces[wrong] = faces[wrong][:, ::-1]
    done = Mesh(torus.vertices, faces).repair()
    assert done.turned == wrong.sum()
    assert done.mesh.diagnose().is_clean
    assert np.isclose(done.mesh.volume, torus.volume)


def test_the_wall_of_a_void_looks_into_the_void():
    outer, inner = shapes.box(5, 5, 5), shapes.box(1, 1, 1)
    points = np.concatenate([outer.vertices, inner.vertices + 2, inner.vertices * 0.5 + 2.25])
    faces = np.concatenate([outer.faces, inner.faces + 8, inner.faces + 16])
    mesh = Mesh(points, faces)  # a grain in a void in a block, all wound outward
    done = mesh.repair()
    assert done.turned == 12
    assert np.isclose(done.mesh.volume, 125.0 - 1.0 + 0.125)
    assert done.mesh.repair().mesh is done.mesh


def test_parts_that_cross_are_both_solid():
    box = shapes.box(2, 2, 2)
    points = np.concatenate([box.vertices, box.vertices + [1, 1, 1]])
    mesh = Mesh(points, np.concatenate([box.faces, box.faces + 8]))
    assert mesh.repair().mesh is mesh


def test_a_moebius_strip_is_left_alone():
    n = 8
    angle = np.arange(n) * 2 * np.pi / n
    across = np.stack([np.cos(angle / 2) * np.cos(angle), np.cos(angle / 2) * np.sin(angle), np.sin(angle / 2)], axis=1)
    middle = np.stack([3 * np.cos(angle), 3 * np.sin(angle), 0 * angle], axis=1)
    points = np.concatenate([middle + across, middle - across])
    faces = []
    for i in range(n):
        a, b = i, i + n
        c, d = ((i + 1) % n, (i + 1) % n + n) if i + 1 < n else (n, 0)
        faces += [[a, b, c], [b, d, c]]
    mesh = Mesh(points, faces)
    assert len(mesh.diagnose().nonmanifold_edges) == 0
    assert mesh.repair().turned == 0


def cracked(offset: float) -> Mesh:
    """Two halves of a box along x = 1; those vertices of the second are off by the offset."""
    box = shapes.blocks((0, 1, 2), (0, 1), (0, 1))
    halves = [np.flatnonzero((box.triangles[:, :, 0].mean(axis=1) < 1.0) == first) for first in (True, False)]
    points = np.concatenate([box.vertices, box.vertices + np.where(box.vertices[:, :1] == 1.0, offset, 0.0)])
    return Mesh(points, np.concatenate([box.faces[halves[0]], box.faces[halves[1]] + len(box.vertices)]))


def test_cracks_are_named_and_welded_when_asked():
    mesh = cracked(2.0**-51)
    assert len(mesh.diagnose().cracks) == 4
    assert not mesh.repaired().is_closed  # nothing moves unless asked
    done = mesh.repair(weld="auto")
    assert done.welded == 4
    assert done.largest_move == pytest.approx(3.0**0.5 * 2.0**-51)
    assert done.mesh.diagnose().is_clean
    assert np.array_equal(done.mesh.vertices, mesh.vertices)
    wide = cracked(1e-3)
    assert len(wide.diagnose().cracks) == 0
    assert wide.repair("auto").welded == 0
    assert wide.repair(0.01).mesh.diagnose().is_clean
    assert wide.repair(1e-4).welded == 0


def test_welding_never_joins_the_ends_of_an_edge():
    strip = Mesh([[0, 0, 0], [1, 0, 0], [1, 0.1, 0], [0, 0.1, 0]], [[0, 1, 2], [0, 2, 3]])
    assert strip.repair(0.5).mesh is strip


@pytest.mark.parametrize("weld", [-1.0, np.nan, np.inf, "wide", "ulps", [1.0, 2.0]])
def test_a_wrong_weld_is_refused(weld):
    with pytest.raises(ValueError, match="weld"):
        Mesh(TETRAHEDRON, OUTWARD).repair(weld)


def test_a_weld_larger_than_everything_is_refused():
    rng = np.random.default_rng(1)
    soup = Mesh(rng.random((3000, 3)), np.arange(3000).reshape(-1, 3))
    with pytest.raises(ValueError, match="larger than"):
        soup.repair(10.0)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 20))
def test_any_soup_on_a_grid(seed, count):
    """T-vertices everywhere, and faces of every flaw: none is left, nothing opens, the names stay."""
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 4, size=(12, 3)).astype(float)
    mesh = Mesh(points, rng.integers(0, 12, size=(count, 3)))
    done = mesh.repair()
    found = done.mesh.diagnose()
    kept_flat = set(found.degenerate_faces.tolist())
    corners = done.mesh.edges.tolist()
    for vertex, a, b in found.t_vertices.tolist():
        faces = done.mesh.edge_faces(corners.index([a, b])).tolist()
        assert set(faces) <= kept_flat, vertex
    assert set(done.source.tolist()) <= set(range(count))
    assert done.mesh.polygon.tolist() == mesh.polygon[done.source].tolist()
    again = done.mesh.repair()
    assert again.joined == again.merged == again.dropped == 0


@settings(max_examples=30, deadline=None)
@given(st.lists(st.booleans(), min_size=8, max_size=8), st.integers(0, 1000))
def test_divided_faces_of_a_solid_close_again(filled, seed):
    if not any(filled):
        return
    rng = np.random.default_rng(seed)
    solid = shapes.blocks((0, 2, 4), (0, 2, 4), (0, 2, 4), np.array(filled).reshape(2, 2, 2))
    points, faces = solid.vertices.tolist(), []
    for a, b, c in solid.faces.tolist():
        if rng.random() < 0.3:  # divide this face alone
            points.append((0.5 * (solid.vertices[a] + solid.vertices[b])).tolist())
            faces += [[a, len(points) - 1, c], [len(points) - 1, b, c]]
        else:
            faces.append([a, b, c])
        if rng.random() < 0.3:
            faces[-1] = faces[-1][::-1]
    mended = Mesh(points, faces).repaired()
    assert mended.is_closed
    assert len(mended.diagnose().t_vertices) == 0
    assert exact_area(mended) == exact_area(solid)
