"""Split an affine instance matrix into a rigid pose times a factor that is baked into the mesh.

The split is the polar decomposition M = R S, from the singular values of M
(N. J. Higham, "Computing the polar decomposition - with applications",
SIAM J. Sci. Stat. Comput. 7, 1986).  S does not depend on how the instance is
turned, so all instances with the same scaling or mirroring share one mesh.
"""

from __future__ import annotations

import numpy as np

from impinge.arrays import Floats, read_only
from impinge.constants import ROTATION_TOLERANCE
from impinge.geometry.pose import is_rigid

SAME_FACTOR = 1e-5
"""Factors closer than this, relative to their size, count as equal.

Files that store matrices as float32 or with six digits are off by 1e-7 to 2e-6;
a deliberate scaling (a shrinkage of 0.1 %, inches as millimetres) is far larger.
"""

_ONE = read_only(np.eye(3))


def split(matrix: Floats) -> tuple[Floats, Floats | None]:
    """(pose, factor): ``matrix`` = pose @ factor; the factor is None for a (nearly) rigid matrix.

    A matrix that is a legal pose is returned bit by bit; a nearly rigid one gives the nearest rotation.
    """
    if matrix.shape == (4, 4) and is_rigid(matrix.tolist()):  # nearly all; the rest takes ten times as long
        return matrix, None
    if matrix.shape != (4, 4) or not np.isfinite(matrix).all():
        raise ValueError("an instance has a transform that is not a finite (4, 4) matrix")
    if (matrix[3] != (0.0, 0.0, 0.0, 1.0)).any():
        raise ValueError(f"an instance has a projective transform, last row {matrix[3]}")
    linear = matrix[:3, :3]
    deviation = np.abs(linear.T @ linear - _ONE).max()
    if deviation <= ROTATION_TOLERANCE and np.linalg.det(linear) > 0.0:
        return matrix, None
    left, singular, right = np.linalg.svd(linear)
    rotation = left @ right
    stretch = (right.T * singular) @ right
    if np.linalg.det(rotation) < 0.0:  # a mirror image is a point reflection, then a rotation
        rotation, stretch = -rotation, -stretch
    pose = np.eye(4)
    pose[:3, 3] = matrix[:3, 3]
    if np.abs(stretch - _ONE).max() <= SAME_FACTOR:
        pose[:3, :3] = rotation
        return pose, None
    if np.abs(stretch - linear).max() <= 1e-12 * singular[0]:  # not turned at all: keep the file's numbers
        return pose, linear
    pose[:3, :3] = rotation
    return pose, stretch


def first_same(wanted: Floats, known: Floats) -> int | None:
    """The index of the first of some factors, rows of 9 numbers, that is the same as ``wanted``, or None."""
    if not len(known):
        return None
    same = np.abs(wanted.reshape(9) - known).max(axis=1) <= SAME_FACTOR * np.abs(known).max(axis=1)
    first = int(same.argmax())
    return first if same[first] else None
