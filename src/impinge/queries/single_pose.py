"""One pose of each body, as it should be for the shortest way to a kernel."""

from __future__ import annotations

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from impinge.geometry.pose import IDENTITY

_FLOAT64 = np.dtype(np.float64)
_SINGLE = (4, 4)


def single_poses(pose_a: ArrayLike | None, pose_b: ArrayLike | None) -> bytes | None:
    """Two (4, 4) arrays of float64 as bytes, to be checked by the kernel; None for anything else."""
    if pose_a is None:
        pose_a = IDENTITY
    if pose_b is None:
        pose_b = IDENTITY
    if (
        type(pose_a) is ndarray
        and type(pose_b) is ndarray
        and pose_a.shape == _SINGLE == pose_b.shape
        and pose_a.dtype is _FLOAT64 is pose_b.dtype
    ):
        return pose_a.tobytes() + pose_b.tobytes()
    return None
