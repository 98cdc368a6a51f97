"""Poses for the scenes: turned, shifted, interpolated; always (k, 4, 4)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from impinge.arrays import Floats


def poses(rotations: ArrayLike, translations: ArrayLike) -> Floats:
    """(k, 4, 4) from rotation matrices (k, 3, 3) and translations (k, 3); either may be a single one."""
    turn, shift = np.asarray(rotations, dtype=np.float64), np.asarray(translations, dtype=np.float64)
    leading = np.broadcast_shapes(turn.shape[:-2], shift.shape[:-1])
    made = np.zeros((*leading, 4, 4))
    made[..., :3, :3] = turn
    made[..., :3, 3] = shift
    made[..., 3, 3] = 1.0
    return made


def turns(vectors: ArrayLike) -> Floats:
    """(..., 3, 3) rotations about the vectors (..., 3) by their lengths in radians (Rodrigues' formula)."""
    vector = np.asarray(vectors, dtype=np.float64)
    angle = np.linalg.norm(vector, axis=-1)[..., None, None]
    x, y, z = np.moveaxis(vector, -1, 0)
    zero = np.zeros_like(x)
    cross = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1).reshape(*vector.shape, 3)
    # numpy's sinc(t) is sin(pi t) / (pi t): both quotients are right at angle 0 too.
    sine = np.sinc(angle / np.pi)
    versine = 0.5 * np.sinc(angle / (2.0 * np.pi)) ** 2
    rotation: Floats = np.eye(3) + sine * cross + versine * (cross @ cross)
    return rotation


def random_turns(rng: np.random.Generator, count: int) -> Floats:
    """(count, 3, 3) uniformly distributed rotations, from normally distributed quaternions."""
    w, x, y, z = (quaternion := rng.normal(size=(4, count))) / np.linalg.norm(quaternion, axis=0)
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)
