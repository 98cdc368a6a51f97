"""One pose of each body, as it should be for the shortest way to a kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from impinge.geometry.pose import IDENTITY

_FLOAT64 = np.dtype(np.float64)
_SINGLE = (4, 4)


def single_poses(pose_a: ArrayLike | None, pose_b: ArrayLike | None) -> bytes | None:
    """Two (4, 4) arrays of float64 as bytes, to be checked by the kernel; None for anything else."""
    if pose_a is None:
        pose_a = IDENTITY
    elif type(pose_a) is not np.ndarray or pose_a.shape != _SINGLE or pose_a.dtype is not _FLOAT64:
        return None
    if pose_b is None:
        pose_b = IDENTITY
    elif type(pose_b) is not np.ndarray or pose_b.shape != _SINGLE or pose_b.dtype is not _FLOAT64:
        return None
    return pose_a.tobytes() + pose_b.tobytes()
