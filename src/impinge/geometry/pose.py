"""Rigid poses: checked once, then used exactly as given.

A posed vertex is, in float64 and in this order, without fused multiply-add::

    (R[i, 0] * x + R[i, 1] * y + R[i, 2] * z) + t[i]

This rounding is part of the truth: all exact answers refer to the rounded world
coordinates, so anyone can check them with numpy and fractions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from impinge.constants import ROTATION_TOLERANCE
from impinge.geometry.cast import Floats, real_array, require_in_range

IDENTITY: Floats = np.eye(4)
IDENTITY.flags.writeable = False


def as_pose(pose: ArrayLike | None, what: str = "pose") -> Floats:
    """A checked array of rigid poses, shape (..., 4, 4); ``None`` is the identity."""
    if pose is None:
        return IDENTITY
    array = real_array(pose, what)
    if array.ndim < 2 or array.shape[-2:] != (4, 4):
        raise ValueError(f"{what}: expected shape (..., 4, 4), got {array.shape}")
    if not np.isfinite(array).all():
        require_in_range(array, what)
    bad_row = (array[..., 3, :] != IDENTITY[3]).any(axis=-1)
    if bad_row.any():
        place = _place(bad_row)
        raise ValueError(f"{what}{place}: the last row must be 0 0 0 1, got {array[..., 3, :][bad_row][0]}")
    rotation = array[..., :3, :3]
    gram = np.swapaxes(rotation, -1, -2) @ rotation
    deviation = np.abs(gram - IDENTITY[:3, :3]).max(axis=(-2, -1))
    not_rigid = ~(deviation <= ROTATION_TOLERANCE) | (np.linalg.det(rotation) < 0.0)
    if not_rigid.any():
        raise ValueError(_why_not_rigid(gram[not_rigid][0], rotation[not_rigid][0], what + _place(not_rigid)))
    require_in_range(array[..., :3, 3], f"{what} translation")
    return array


def posed_vertices(pose: Floats, vertices: Floats) -> Floats:
    """World coordinates of (n, 3) vertices under one checked pose: the truth of the contracts."""
    x, y, z = vertices[:, 0], vertices[:, 1], vertices[:, 2]
    world = np.empty_like(vertices)
    for i in range(3):
        r = pose[i]
        world[:, i] = ((r[0] * x + r[1] * y) + r[2] * z) + r[3]
    return world


def _place(bad: np.ndarray) -> str:
    if bad.ndim == 0:
        return ""
    return "[" + ", ".join(str(i) for i in np.argwhere(bad)[0]) + "]"


def _why_not_rigid(gram: Floats, rotation: Floats, what: str) -> str:
    bake = "bake it into the mesh with mesh.transformed(matrix) and pass a rigid pose"
    lengths = np.sqrt(np.abs(np.diag(gram)))
    off_diagonal = np.abs(gram - np.diag(np.diag(gram))).max()
    if off_diagonal <= ROTATION_TOLERANCE * max(1.0, gram.max()):
        if np.abs(lengths - 1.0).max() > ROTATION_TOLERANCE:
            return f"{what} scales the axes by {lengths.round(9)}: {bake}"
        return f"{what} mirrors the body (determinant {np.linalg.det(rotation):.3g}): {bake}"
    if np.abs(gram - IDENTITY[:3, :3]).max() < 1e-3:
        return (
            f"{what} is a rotation only to within {np.abs(gram - IDENTITY[:3, :3]).max():.1e}, "
            f"not {ROTATION_TOLERANCE:g}: re-orthonormalise it in double precision"
        )
    return f"{what} shears the body: {bake}"
