"""Queries on solids: point-in-solid tests by ray casting through the default trees of two meshes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Bools, Floats
from impinge.bvh.search import tree_handle_of
from impinge.kernels.interruptible import in_parts
from impinge.mesh.mesh import Mesh
from impinge.mesh.surface import surface_of

_FIRST_RAYS = 1024
_FIRST_CONTACTS = 64
"""To begin with: a ray takes some microseconds, the cells at a contact a hundred times as long if they are hard."""


class TreeSolids:
    """Two meshes of which one is closed at least, for batches of checked poses (k, 4, 4)."""

    def __init__(self, a: Mesh, b: Mesh) -> None:
        self._meshes = (a, b)
        self._handles = (tree_handle_of(a), tree_handle_of(b))

    def pieces_inside(
        self, side: int, faces: NDArray[np.int64], poses_a: Floats, poses_b: Floats, free: Bools
    ) -> Bools:
        """(k, pieces) which free pieces of a (side 0) or b (side 1), one face of each, lie inside the other surface.

        They must not meet it.
        """
        from impinge.bvh.solids.solid_kernels import pieces_inside

        mesh, other = self._meshes[side], self._handles[1 - side]
        poses, other_poses = (poses_a, poses_b) if side == 0 else (poses_b, poses_a)
        points = mesh.vertices[mesh.faces[faces, 0]]
        inside = np.empty_like(free)
        for part in in_parts(len(poses), max(1, _FIRST_RAYS // (len(points) or 1))):
            here, there = poses[part], other_poses[part]
            pieces_inside(other.address, points, here, there, free[part], inside[part])
        return inside

    def cells_at_contacts(
        self, poses_a: Floats, poses_b: Floats, pairs: NDArray[np.int64], cells: NDArray[np.int64]
    ) -> None:
        """Add the cells (see geometry.solids.cells) that meet at contacts to those known for each pose.

        The contacts (pose, face of a, face of b, kind) are in order of poses.
        """
        from impinge.bvh.solids.solid_kernels import cells_at_contacts

        (a, b), (tree_a, tree_b) = self._meshes, self._handles
        surfaces = surface_of(a).address, surface_of(b).address
        for part in in_parts(len(pairs), _FIRST_CONTACTS):
            cells_at_contacts(*surfaces, tree_a.address, tree_b.address, poses_a, poses_b, pairs[part], cells)
