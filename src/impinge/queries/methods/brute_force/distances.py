# mypy: allow-untyped-defs, allow-incomplete-defs
"""The nearest pair of triangles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats
from impinge.geometry.triangles.all_pairs import nearest_pair
from impinge.kernels.jit import kernel
from impinge.queries.methods.brute_force.posed_body import Body, pose_body, room_for


class Best(NamedTuple):
    """The nearest pairs of k poses so far."""

    values: Floats
    """(k,) their distances."""
    points: Floats
    """(k, 2, 3)"""
    faces: NDArray[np.int32]
    """(k, 2)"""

    @staticmethod
    def signature() -> str:
        """The types of its parts in kernels."""
        return "float64[::1], float64[:, :, ::1], int32[:, ::1]"


@kernel(Body, Body, "float64[:, :, ::1], float64[:, :, ::1], int64, int64", Best)
def nearest_pairs(a, b, poses_a, poses_b, first, stop, best):
    """Go on with these faces of a, from what was found with those before; whether triangles met in the last pose."""
    met = False
    world_a, triangles_a = room_for(a)
    world_b, triangles_b = room_for(b)
    for i in range(len(poses_a)):
        pose_body(a, poses_a[i], world_a, triangles_a)
        pose_body(b, poses_b[i], world_b, triangles_b)
        faces = best.faces[i]
        best.values[i], faces[0], faces[1], met = nearest_pair(
            triangles_a, triangles_b, first, stop, best.values[i], faces[0], faces[1], best.points[i]
        )
    return met
