# mypy: allow-untyped-defs, allow-incomplete-defs
"""Whether a pose is rigid, decided within a kernel: bit for bit as ``geometry.pose`` decides."""

from __future__ import annotations

from impinge.geometry.pose import is_rigid
from impinge.kernels.jit import inner

_rigid = inner(is_rigid)


@inner
def pose_is_rigid(pose):
    return _rigid(
        (
            (pose[0, 0], pose[0, 1], pose[0, 2], pose[0, 3]),
            (pose[1, 0], pose[1, 1], pose[1, 2], pose[1, 3]),
            (pose[2, 0], pose[2, 1], pose[2, 2], pose[2, 3]),
            (pose[3, 0], pose[3, 1], pose[3, 2], pose[3, 3]),
        )
    )
