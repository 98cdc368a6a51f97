"""A convex hull in a pose: its corners, its faces, and the planes they lie in."""

from __future__ import annotations

import numpy as np

from impinge.arrays import Floats
from impinge.constants import UNIT_ROUNDOFF
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.convex.hull.feature_graph import feature_graph
from impinge.convex.hull.hull_handle import radius_of
from impinge.geometry.pose import posed_vertices
from impinge.kernels.record import Record, float64, int32

NEARLY = 64.0 * UNIT_ROUNDOFF
"""Times the size of coordinates: nearer than this to a plane may be on either side.

Posing moves a corner by 11 u M, turning a normal its height by about as much, and normals are right to some 2**-48 of
the extent of the body (``feature_graph``), which is covered where the body is not much larger than its distance from
the origin.  This only guides a walk: what is claimed about the region is certified in ``regions.region_box``.
"""


class PosedHull(Record, constant=True):
    """A hull of dimension 3 in world coordinates."""

    vertices = float64[:, 3]
    starts = int32[:]
    corners = int32[:]
    """Face i has the corners ``corners[starts[i]:starts[i + 1]]``,"""
    neighbours = int32[:]
    """and behind the edge that leaves each of them is this face."""
    planes = float64[:, 4]
    """(f, 4) n and d with n . x + d positive outside; n has length 1, to 1e-9."""
    largest = float64
    """No posed coordinate is larger: M."""


def posed_hull(hull: ConvexHull, pose: Floats) -> PosedHull:
    """The faces of a hull in one checked pose (4, 4)."""
    graph = feature_graph(hull)
    vertices = posed_vertices(pose, hull.vertices)
    normals = graph.face_planes[:, :3] @ pose[:3, :3].T
    depths = -(normals * vertices[hull.corners[hull.starts[:-1]]]).sum(axis=1, keepdims=True)
    return PosedHull(
        vertices=vertices,
        starts=graph.face_starts,
        corners=graph.face_vertices,
        neighbours=graph.face_neighbours,
        planes=np.concatenate([normals, depths], axis=1),
        largest=radius_of(hull.vertices) + float(np.abs(pose[:3, 3]).max()),
    )
