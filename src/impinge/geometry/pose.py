"""Rigid poses: checked once, then used exactly as given.

A posed vertex is, in float64 and in this order, without fused multiply-add::

    (R[i, 0] * x + R[i, 1] * y + R[i, 2] * z) + t[i]

This rounding is part of the truth: all exact answers refer to the rounded world
coordinates, so anyone can check them with numpy and fractions.  Kernels have it from
``geometry.posing``; ``posed_vertices`` is its vectorised twin.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from impinge.arrays import Bools, Floats, place_of_first, read_only, real_array, require_in_range
from impinge.constants import LARGEST_COORDINATE, ROTATION_TOLERANCE
from impinge.geometry.exact.integers import determinant_sign
from impinge.geometry.float_errors import default_float_errors

IDENTITY: Floats = read_only(np.eye(4))


def as_pose(pose: ArrayLike | None, what: str = "pose", check: bool = True) -> Floats:
    """An array of rigid poses, shape (..., 4, 4); ``None`` is the identity.

    Without ``check`` it may be any array of this shape: for kernels that check poses themselves.
    """
    if pose is None:
        return IDENTITY
    array = real_array(pose, what)
    if array.ndim < 2 or array.shape[-2:] != (4, 4):
        raise ValueError(f"{what}: expected shape (..., 4, 4), got {array.shape}")
    # One pose is the commonest batch: Python floats take a tenth of the time of arrays.
    if check and not (is_rigid(array.tolist()) if array.ndim == 2 else _are_rigid(array).all()):
        _refuse(array, what)
    return array


def posed_vertices(pose: Floats, vertices: Floats) -> Floats:
    """World coordinates of (n, 3) vertices under one checked pose: the truth of the contracts."""
    x, y, z = vertices[:, 0], vertices[:, 1], vertices[:, 2]
    world = np.empty_like(vertices)
    for i in range(3):
        r = pose[i]
        world[:, i] = ((r[0] * x + r[1] * y) + r[2] * z) + r[3]
    return world


def _are_rigid(array: Floats) -> Bools:
    with np.errstate(all="ignore"):  # infinity and NaN compare as they should: not rigid
        return np.asarray(is_rigid([[array[..., i, j] for j in range(4)] for i in range(4)]))


def is_rigid(entries: Any) -> Any:
    """Whether the entries form rigid poses: floats for one pose, arrays for many, bit for bit the same decision."""
    (a, b, c, x), (d, e, f, y), (g, h, i, z), (p, q, r, s) = entries
    return (
        (abs(a * a + d * d + g * g - 1.0) <= ROTATION_TOLERANCE)
        & (abs(b * b + e * e + h * h - 1.0) <= ROTATION_TOLERANCE)
        & (abs(c * c + f * f + i * i - 1.0) <= ROTATION_TOLERANCE)
        & (abs(a * b + d * e + g * h) <= ROTATION_TOLERANCE)
        & (abs(a * c + d * f + g * i) <= ROTATION_TOLERANCE)
        & (abs(b * c + e * f + h * i) <= ROTATION_TOLERANCE)
        & (a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) > 0.0)
        & (abs(x) <= LARGEST_COORDINATE)
        & (abs(y) <= LARGEST_COORDINATE)
        & (abs(z) <= LARGEST_COORDINATE)
        & (p == 0.0)
        & (q == 0.0)
        & (r == 0.0)
        & (s == 1.0)
    )


@default_float_errors
def _refuse(array: Floats, what: str) -> None:
    """Raise the ValueError that names the first bad pose and what is wrong with it."""
    finite = np.isfinite(array)
    if not finite.all():
        raise ValueError(f"{what}{place_of_first(~finite)} is {array[~finite][0]}; a pose must be finite")
    good = _are_rigid(array)
    place = place_of_first(~good)
    pose = array[~good][0]
    if pose[3].tolist() != [0.0, 0.0, 0.0, 1.0]:
        raise ValueError(f"{what}{place}: the last row must be 0 0 0 1, got {pose[3]}")
    require_in_range(pose[:3, 3], f"{what}{place} translation")
    raise ValueError(f"{what}{place} {_why_not_rigid(pose[:3, :3])}")


def _why_not_rigid(matrix: Floats) -> str:
    bake = "bake it into the mesh with mesh.transformed(matrix) and pass a rigid pose"
    handedness = determinant_sign(matrix.tolist())
    if handedness == 0:
        return "flattens the body: its 3 x 3 part is singular"
    with np.errstate(over="ignore", invalid="ignore"):
        deviation = np.abs(matrix.T @ matrix - IDENTITY[:3, :3]).max()
    mirrored = handedness < 0
    if deviation <= ROTATION_TOLERANCE and mirrored:
        return f"mirrors the body (determinant -1): {bake}"
    if deviation < 1e-3 and not mirrored:
        return (
            f"is a rotation only to within {deviation:.1e}, not {ROTATION_TOLERANCE:g}: re-orthonormalise it in "
            f"double precision (or {bake})"
        )
    # Columns at right angles, whatever their lengths, make a scaling after a rotation.
    largest = np.abs(matrix).max(axis=0)
    lengths = np.linalg.norm(matrix / largest, axis=0) * largest
    unit = matrix / lengths
    mirror = " and mirrors it" if mirrored else ""
    if np.abs(unit.T @ unit - IDENTITY[:3, :3]).max() <= ROTATION_TOLERANCE:
        return f"scales the body's axes by {', '.join(f'{length:.9g}' for length in lengths)}{mirror}: {bake}"
    return f"shears the body{mirror}: {bake}"
