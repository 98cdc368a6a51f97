"""Concavities that are nothing but rounding: faces that miss the hull by some ulps.

The four corners of a quadrilateral of a torus are hardly ever in one plane exactly.  Divided along the wrong diagonal
it is a dent, in exact terms a concavity with caps over it.  Whoever builds one hierarchy for each subset does not want
hundreds of those: coarse subsets count such faces as hull features.
"""

from __future__ import annotations

import numpy as np

from impinge.arrays import Bools
from impinge.incremental.solids.faces_on_hull import planes_of_hull, unit_normals
from impinge.incremental.solids.hull_surface import HullSurface
from impinge.mesh.repair.t_vertices import SLENDERNESS, ULPS


def faces_near_hull(surface: HullSurface) -> Bools:
    """(m,) whether a face lies on the hull, or within 16 ulps of the hull face with the nearest normal.

    The ulps are those of its largest coordinate, and no more than 2**-20 of its size.
    """
    near: Bools = surface.hull_face >= 0
    if surface.hull.dimension < 3 or near.all():
        return near
    from scipy.spatial import cKDTree  # type: ignore[import-untyped]

    vertices = surface.mesh.vertices
    planes = planes_of_hull(surface.hull, surface.corners)
    normals, _ = unit_normals(vertices, planes)
    others = np.flatnonzero(~near)
    own, _ = unit_normals(vertices, surface.mesh.faces[others])
    triangles = vertices[surface.mesh.faces[others]]
    size = np.ptp(triangles, axis=1).max(axis=1)
    tolerance = np.minimum(ULPS * np.spacing(np.abs(triangles).max(axis=(1, 2))), SLENDERNESS * size)
    tree = cKDTree(normals)
    for sign in (1.0, -1.0):
        plane = tree.query(sign * own)[1]
        heights = np.einsum("ijk,ik->ij", triangles - vertices[planes[plane, 0]][:, None], normals[plane])
        near[others] |= np.abs(heights).max(axis=1) <= tolerance
    return near
