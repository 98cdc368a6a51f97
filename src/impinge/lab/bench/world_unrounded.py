"""Whether two parts collide whose vertices R x + t are posed without any rounding: integers of any size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats
from impinge.lab import oracle
from impinge.mesh.mesh import Mesh

_BATCH = 2000
"""Pairs of triangles at once."""


def posed_integers(pose: Floats, points: Floats) -> tuple[oracle.Array, int]:
    """Posed points (n, 3) as integers, and an exponent e: coordinates are integer * 2**e exactly."""
    rotation, of_rotation = _integers(pose[:3, :3])
    shift, of_shift = _integers(pose[:3, 3])
    at, of_points = _integers(points)
    turned = at.dot(rotation.T)
    exponent = min(of_rotation + of_points, of_shift)
    return turned * 2 ** (of_rotation + of_points - exponent) + shift * 2 ** (of_shift - exponent), exponent


def _integers(numbers: Floats) -> tuple[oracle.Array, int]:
    integers, exponents = oracle.scaled_to_integers(numbers.reshape(1, -1))
    return integers.reshape(numbers.shape), int(exponents[0])


def rounding_of_posed(body: Mesh, pose: Floats) -> float:
    """No posed vertex of the body is farther than this from where it would be without rounding, on any axis.

    Three products and three sums of at most 3 |x| + |t|, each rounded to a part in 2**53.
    """
    return float(2.0**-50 * (3.0 * np.abs(body.vertices).max(initial=0.0) + np.abs(pose[:3, 3]).max()))


def meet_unrounded(body_a: Mesh, pose_a: Floats, body_b: Mesh, pose_b: Floats, faces: NDArray[np.int64]) -> bool:
    """Whether two triangles meet, of these candidates (k, 2)."""
    (a, exponent_a), (b, exponent_b) = (
        posed_integers(pose, body.vertices) for body, pose in ((body_a, pose_a), (body_b, pose_b))
    )
    exponent = min(exponent_a, exponent_b)
    a, b = a * 2 ** (exponent_a - exponent), b * 2 ** (exponent_b - exponent)
    for start in range(0, len(faces), _BATCH):
        first, second = faces[start : start + _BATCH].T
        if oracle.integers_meet(a[body_a.faces[first]], b[body_b.faces[second]]).any():
            return True
    return False
