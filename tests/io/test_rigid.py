"""Splitting affine matrices into a rigid pose and a baked factor."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from impinge.geometry.pose import as_pose
from impinge.io.rigid import first_same, split

numbers = st.floats(-1e3, 1e3).map(lambda x: round(x, 3))


@given(st.lists(numbers, min_size=12, max_size=12))
def test_pose_times_factor_is_the_matrix(values: list[float]) -> None:
    matrix = np.eye(4)
    matrix[:3] = np.reshape(values, (3, 4))
    pose, factor = split(matrix)
    as_pose(pose)
    baked = np.eye(4)
    baked[:3, :3] = np.eye(3) if factor is None else factor
    tolerance = 1e-5 if factor is None else 1e-12 * np.abs(matrix).max()
    np.testing.assert_allclose(pose @ baked, matrix, atol=tolerance)


@given(st.lists(numbers, min_size=4, max_size=4).filter(lambda q: sum(x * x for x in q) > 1e-3))
def test_the_factor_does_not_depend_on_the_rotation(quaternion: list[float]) -> None:
    x, y, z, w = np.array(quaternion) / np.linalg.norm(quaternion)
    rotation = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    for scale in (np.diag([2.0, 3.0, 0.5]), np.diag([-1.0, 1.0, 1.0]), 25.4 * np.eye(3)):
        plain, turned = np.eye(4), np.eye(4)
        plain[:3, :3] = scale
        turned[:3, :3] = rotation @ scale
        first, second = split(plain)[1], split(turned)[1]
        assert first is not None
        assert second is not None
        assert first_same(second, first.reshape(1, 9)) == 0


def test_a_legal_pose_comes_back_bit_by_bit() -> None:
    pose = np.eye(4)
    pose[:2, :2] = [[np.cos(1.0), -np.sin(1.0)], [np.sin(1.0), np.cos(1.0)]]
    found, factor = split(pose)
    assert factor is None
    assert found.tobytes() == pose.tobytes()


def test_a_plain_scaling_keeps_its_numbers() -> None:
    matrix = np.diag([25.4, 25.4, 0.1, 1.0])
    pose, factor = split(matrix)
    np.testing.assert_array_equal(pose, np.eye(4))
    np.testing.assert_array_equal(factor, matrix[:3, :3])


def test_not_affine_or_not_finite() -> None:
    matrix = np.eye(4)
    matrix[3, 0] = 1.0
    with pytest.raises(ValueError, match="projective"):
        split(matrix)
    with pytest.raises(ValueError, match="finite"):
        split(np.full((4, 4), np.nan))


def test_first_same() -> None:
    factors = np.reshape([np.eye(3), np.diag([2.0, 1, 1]), np.diag([2.0 + 1e-7, 1, 1])], (3, 9))
    assert first_same(np.diag([2.0 - 1e-7, 1, 1]), factors) == 1
    assert first_same(np.diag([1.0, 2, 1]), factors) is None
    assert first_same(np.eye(3), factors[:0]) is None
