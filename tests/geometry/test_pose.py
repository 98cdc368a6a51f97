"""Poses are checked and then used as given."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impinge.geometry.pose import IDENTITY, as_pose, posed_vertices
from impinge.mesh.mesh import Mesh


def rotation(seed, shape=()):
    q = np.random.default_rng(seed).normal(size=(*shape, 4))
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    w, x, y, z = np.moveaxis(q, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    pose = np.zeros((*shape, 4, 4))
    pose[..., 3, 3] = 1.0
    for i in range(3):
        for j in range(3):
            pose[..., i, j] = rows[i][j]
    return pose


def test_none_is_the_identity():
    assert as_pose(None) is IDENTITY
    assert not IDENTITY.flags.writeable


def test_a_good_pose_is_returned_as_given():
    pose = rotation(1)
    pose[:3, 3] = 1e40, -2.0, 5e-324
    assert np.array_equal(as_pose(pose), pose)
    assert as_pose(pose.tolist()).dtype == np.float64
    assert as_pose(np.eye(4, dtype=np.int8)).dtype == np.float64
    assert as_pose(rotation(2, (3, 1, 2))).shape == (3, 1, 2, 4, 4)
    assert as_pose(np.zeros((0, 4, 4))).shape == (0, 4, 4)
    assert as_pose(np.asfortranarray(pose)).flags.c_contiguous


@settings(deadline=None)
@given(st.integers(0, 10**6), st.floats(0.0, 3e-9), st.integers(0, 2), st.integers(0, 2))
def test_one_pose_and_a_batch_are_judged_alike(seed, deviation, i, j):
    pose = rotation(seed)
    pose[i, j] += deviation

    def accepted(value):
        try:
            as_pose(value)
        except ValueError:
            return False
        return True

    assert accepted(pose) == accepted(pose[None]) == accepted(np.stack([np.eye(4), pose]))


def _with(i, j, value):
    pose = np.eye(4)
    pose[i, j] = value
    return pose


@pytest.mark.parametrize(
    ("pose", "sentence"),
    [
        (np.eye(3), r"pose: expected shape \(\.\.\., 4, 4\), got \(3, 3\)"),
        (_with(0, 3, np.nan), r"pose\[0, 3\] is nan"),
        (_with(1, 1, np.inf), r"pose\[1, 1\] is inf"),
        (np.stack([np.eye(4), _with(0, 3, np.nan)]), r"pose\[1, 0, 3\] is nan"),
        (_with(3, 0, 1.0), r"the last row must be 0 0 0 1"),
        (np.diag([2.0, 2.0, 2.0, 1.0]), r"scales the body's axes by 2, 2, 2: .*mesh\.transformed\(matrix\)"),
        (np.diag([2e200, 2.0, 2.0, 1.0]), r"scales"),
        (np.diag([-1.0, 1.0, 1.0, 1.0]), r"mirrors the body .*mesh\.transformed\(matrix\)"),
        (np.diag([-2.0, 1.0, 1.0, 1.0]), r"scales .*mirrors"),
        (_with(0, 1, 0.5), r"shears the body: .*mesh\.transformed\(matrix\)"),
        (np.diag([0.0, 1.0, 1.0, 1.0]), r"singular"),
        (_with(0, 1, 1e-6), r"only to within 1\.0e-06.*re-orthonormalise"),
        (_with(0, 3, 1e60), r"pose translation\[0\] is 1e\+60, beyond"),
        (np.stack([np.eye(4), np.diag([2.0, 1.0, 1.0, 1.0])]), r"pose\[1\] scales"),
        (np.eye(4).astype(complex), r"expected real numbers"),
        ([["a"] * 4] * 4, r"expected real numbers"),
        ([[1, 2], [3]], r"rows of different lengths"),
    ],
)
def test_bad_poses_are_named(pose, sentence):
    with pytest.raises(ValueError, match=sentence):
        as_pose(pose)


def test_the_advice_for_a_scaled_pose_works():
    matrix = np.diag([2.0, 2.0, -2.0, 1.0])
    mesh = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 1]], [[0, 1, 2]]).transformed(matrix)
    assert np.array_equal(mesh.vertices, [[0, 0, 0], [2, 0, 0], [0, 2, -2]])


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e9, 1e40, 1e-310])
def test_posed_vertices_are_the_contract_bit_for_bit(scale):
    rng = np.random.default_rng(3)
    vertices = rng.normal(size=(200, 3)) * scale
    pose = rotation(7)
    pose[:3, 3] = rng.normal(size=3) * 1e3
    world = posed_vertices(as_pose(pose), vertices)
    r = pose.tolist()
    loop = [[(r[i][0] * x + r[i][1] * y + r[i][2] * z) + r[i][3] for i in range(3)] for x, y, z in vertices.tolist()]
    assert world.tobytes() == np.array(loop).tobytes()
    x, y, z = vertices.T
    columns = [(pose[i, 0] * x + pose[i, 1] * y + pose[i, 2] * z) + pose[i, 3] for i in range(3)]
    assert world.tobytes() == np.stack(columns, axis=1).tobytes()
