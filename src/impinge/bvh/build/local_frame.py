# mypy: allow-untyped-defs, allow-incomplete-defs
"""Local coordinates: those of a tree's float32 numbers, around the middle of the mesh, at most one in magnitude."""

from __future__ import annotations

import math

import numpy as np

from impinge.kernels.jit import inner

# Its inverse is finite too; a mesh smaller than that only fills less than all of [-1, 1].
_SMALLEST_UNIT = 2.0**-1022


@inner
def local_frame(vertices, faces):
    """(4,): the middle of the bounds of the faces, and a power of two above every distance from it along an axis."""
    frame = np.empty(4)
    reach = 0.0
    for k in range(3):
        low = vertices[faces[0, 0], k]
        high = low
        for i in range(len(faces)):
            for j in range(3):
                x = vertices[faces[i, j], k]
                low = x if x < low else low
                high = x if x > high else high
        middle = 0.5 * (low + high)
        frame[k] = middle
        reach = max(reach, high - middle, middle - low)
    # frexp gives reach < 2**exponent, so that the exact distance, which reach rounds, is no larger than that either
    frame[3] = max(math.ldexp(1.0, math.frexp(reach)[1]), _SMALLEST_UNIT)
    return frame
