"""Mesh: validated, immutable, and the same after every journey."""

import copy
import pickle
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

from impinge.mesh import topology
from impinge.mesh.mesh import Mesh

CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
QUADS = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]


def cube(solid=False):
    return Mesh(CUBE, QUADS, solid=solid)


def test_triangles_are_kept_as_they_are():
    faces = np.array([[0, 1, 2], [2, 1, 3], [5, 5, 5], [0, 1, 2]])
    mesh = Mesh(CUBE, faces)
    assert np.array_equal(mesh.faces, faces)
    assert mesh.faces.dtype == np.int32
    assert mesh.polygon.tolist() == [0, 1, 2, 3]
    assert mesh.polygon.dtype == np.int32
    assert mesh.vertices.dtype == np.float64
    assert repr(mesh) == "Mesh(8 vertices, 4 triangles, surface)"
    assert repr(Mesh(CUBE, faces[:1])) == "Mesh(8 vertices, 1 triangle, surface)"
    assert repr(cube(solid=True)) == "Mesh(8 vertices, 12 triangles, solid)"


def test_polygons_of_many_sizes_keep_their_index():
    mesh = Mesh(CUBE, [[0, 1, 3], [0, 1, 3, 2], [0, 4, 5], [0, 1, 5, 7, 6], [1, 1, 1, 1]])
    assert mesh.polygon.tolist() == [0, 1, 1, 2, 3, 3, 3, 4, 4]
    assert mesh.faces[0].tolist() == [0, 1, 3]
    assert mesh.faces[3].tolist() == [0, 4, 5]
    assert set(mesh.faces[4:7].ravel().tolist()) == {0, 1, 5, 7, 6}


def test_hexagons_as_an_array():
    angles = np.arange(6) * np.pi / 3
    ring = np.stack([np.cos(angles), np.sin(angles), np.zeros(6)], axis=1)
    mesh = Mesh(ring, np.array([[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0]]))
    assert mesh.polygon.tolist() == [0] * 4 + [1] * 4
    assert mesh.area == pytest.approx(3 * np.sqrt(3), rel=1e-15)
    assert mesh.volume == 0.0


@pytest.mark.parametrize(
    ("vertices", "faces", "sentence"),
    [
        (CUBE, [], r"faces: an empty mesh"),
        (CUBE, [[0, 1, 8]], r"faces\[0, 2\] is 8, but there are 8 vertices"),
        (CUBE, [[0, 1]], r"faces: a polygon has at least 3 corners"),
        (CUBE, [[0, 1, 2], [0, 1]], r"faces\[1\]: a polygon has at least 3 corners, got 2"),
        ([[0, 0, np.nan]], [[0, 0, 0]], r"vertices\[0, 2\] is nan"),
        ([[0, 0]], [[0, 0, 0]], r"vertices: expected shape \(n, 3\)"),
        (np.zeros((0, 3)), [[0, 0, 0]], r"faces\[0, 0\] is 0, but there are 0 vertices"),
    ],
)
def test_bad_input_is_named(vertices, faces, sentence):
    with pytest.raises(ValueError, match=sentence):
        Mesh(vertices, faces)


def test_a_solid_must_be_closed():
    assert cube(solid=True).solid is True
    with pytest.raises(ValueError, match=r"4 edges belong to an odd number of faces \(vertices 1-3, 1-5, 3-7, 5-7\)"):
        Mesh(CUBE, QUADS[:5], solid=True)
    with pytest.raises(ValueError, match=r"\(vertices 0-1, 0-4, 1-5, 2-3, \.\.\.\)"):
        Mesh(CUBE, [QUADS[2], QUADS[3]], solid=True)


def test_arrays_are_copies_and_read_only():
    vertices, faces = CUBE.copy(), np.array([[0, 1, 2], [0, 1, 3]], dtype=np.int32)
    mesh = Mesh(vertices, faces)
    vertices[:] = faces[:] = 7
    assert np.array_equal(mesh.vertices, CUBE)
    assert mesh.faces.tolist() == [[0, 1, 2], [0, 1, 3]]
    derived = (mesh.triangles, mesh.bounds, mesh.edges, mesh.face_adjacency, mesh.components, mesh.edge_faces(0))
    for array in (mesh.vertices, mesh.faces, mesh.polygon, *derived):
        assert array.flags.c_contiguous
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_attributes_cannot_be_set():
    mesh = cube()
    for name in ("vertices", "faces", "polygon", "solid", "anything"):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(mesh, name, None)
    with pytest.raises(AttributeError, match="immutable"):
        del mesh.vertices


@pytest.mark.parametrize("travel", [copy.copy, copy.deepcopy, lambda mesh: pickle.loads(pickle.dumps(mesh))])
def test_copies_and_pickles(travel):
    mesh = Mesh(CUBE, QUADS, solid=True)
    mesh.memo("only here", lambda _: threading.Lock())
    other = travel(mesh)
    assert other is not mesh
    assert other != mesh
    assert other.solid is True
    for name in ("vertices", "faces", "polygon"):
        assert np.array_equal(getattr(other, name), getattr(mesh, name))
        assert not getattr(other, name).flags.writeable
    assert other.memo("only here", lambda _: "made again") == "made again"


def test_identity_is_equality():
    mesh = cube()
    assert mesh == mesh
    assert mesh != cube()
    assert len({mesh, cube()}) == 2
    assert weakref.ref(mesh)() is mesh


def test_memo_makes_once_for_all_threads():
    mesh = cube()
    made = []

    def make(which):
        assert which is mesh
        made.append(mesh.memo("inner", lambda _: 5))
        return object()

    results = []
    threads = [threading.Thread(target=lambda: results.append(mesh.memo("key", make))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [5]
    assert len(set(map(id, results))) == 1


def test_bounds_and_triangles():
    mesh = Mesh([*CUBE, [50, 50, 50]], QUADS)
    assert mesh.bounds.tolist() == [[0, 0, 0], [1, 1, 1]]
    assert mesh.triangles.shape == (12, 3, 3)
    assert mesh.triangles is mesh.triangles
    assert np.array_equal(mesh.triangles, mesh.vertices[mesh.faces])


@pytest.mark.parametrize(
    ("linear", "volume"),
    [
        (np.diag([2.0, 3.0, 4.0]), 24.0),
        (np.diag([-1.0, 1.0, 1.0]), 1.0),
        (-np.eye(3), 1.0),
        ([[1, 0.5, 0], [0, 1, 0.25], [0, 0, 1]], 1.0),
    ],
)
def test_transformed_keeps_normals_outward(linear, volume):
    matrix = np.eye(4)
    matrix[:3, :3] = linear
    matrix[:3, 3] = [10, 20, 30]
    before = cube(solid=True)
    after = before.transformed(matrix)
    assert after.solid is True
    assert after.volume == volume
    assert np.array_equal(after.polygon, before.polygon)
    assert before.transformed(matrix, solid=False).solid is False
    assert np.array_equal(after.vertices, CUBE @ np.array(linear, dtype=float).T + [10, 20, 30])


@pytest.mark.parametrize(
    ("matrix", "sentence"),
    [
        (np.eye(3), r"matrix: expected shape \(4, 4\), got \(3, 3\)"),
        (np.diag([1, 1, 0, 1]), "singular"),
        (np.diag([1, 1, np.nan, 1]), "NaN"),
        (np.diag([1, 1, 1, 2]), "last row"),
        (np.diag([1e300, 1, 1, 1]), r"transformed vertices\[4, 0\] is 1e\+300, beyond"),
    ],
)
def test_bad_matrices(matrix, sentence):
    with pytest.raises(ValueError, match=sentence):
        cube().transformed(matrix)


def test_a_surface_can_be_declared_solid_on_the_way_if_it_is_closed():
    assert cube().transformed(np.eye(4), solid=True).solid
    with pytest.raises(ValueError, match="needs a closed mesh"):
        Mesh(CUBE, QUADS[:3]).transformed(np.eye(4), solid=True)


def test_collapsing_by_rounding_keeps_a_solid_closed():
    matrix = np.eye(4)
    matrix[0, 3] = 2.0**60  # all x become equal
    flat = cube(solid=True).transformed(matrix)
    assert flat.is_closed
    assert flat.volume == 0.0
    assert len(np.unique(topology.merged_vertices(flat))) == 4


def test_making_and_diagnosing_a_mesh_loads_neither_compiler_nor_scipy():
    code = (
        "import sys; from impinge import Mesh; m = Mesh([[0,0,0],[1,0,0],[0,1,0],[1,1,0]], [[0,1,3,2]]);"
        "m.diagnose(), m.area, m.is_closed;"
        "print([name for name in ('numba', 'scipy', 'trimesh', 'typer') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
