# mypy: allow-untyped-defs, allow-incomplete-defs
"""The nodes of a tree over a binary tree that was made in Python."""

from __future__ import annotations

from impinge.bvh.build.eight_wide import eight_wide
from impinge.bvh.build.local_frame import local_frame
from impinge.kernels.jit import kernel


@kernel("float64[:, ::1], int32[:, ::1], int32[:, ::1], float32[::1]")
def nodes_over(vertices, faces, groups, areas):
    """The frame, and child, ranges and depth of the nodes."""
    child, ranges, depth = eight_wide(groups, areas, len(faces))
    return local_frame(vertices, faces), child, ranges, depth
