"""Which faces of a mesh lie in a face of its convex hull, exactly.

[Ponamgi1995] (4.3) calls a face a hull feature if all of its vertices are on the hull.  That is not enough: a face
whose three vertices stand on three sides of the hull cuts through the inside.  Here a face counts if its vertices lie
in the plane of one hull face.  The mesh is part of its hull, so the face is then part of that hull face.

How a plane is found
--------------------
Normals in floats propose, exact signs decide.  For u and v, two sides of a triangle, each coordinate difference is off
by one rounding, each product by three, their difference by one more: the direction of u x v is off by less than
8 roundings of |u| |v| / |u x v|.  So two triangles in one plane have unit normals closer than the sum of these angles,
and a search within twice that radius finds every plane that comes into question.  Needles, whose normals say little,
are tried against all planes, and planes of needles (hull faces so thin) with all triangles.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats, Ints
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.mesh import topology
from impinge.mesh.mesh import Mesh

Longs = NDArray[np.int64]

_SURE = 2.0**-26
"""Normals that are certain to this angle are looked up; hull faces are hardly ever that close to each other."""
_MOST_PAIRS = 1 << 20


def faces_on_hull(mesh: Mesh, hull: ConvexHull) -> Ints:
    """(m,) the hull face in whose plane each face lies, the first of them; -1 where there is none.

    Only faces without area can lie in several planes.
    """
    found = np.full(len(mesh.faces), len(hull.starts), dtype=np.int32)
    if hull.dimension >= 2:
        corners = topology.merged_vertices(mesh)[hull.source]
        planes = planes_of_hull(hull, corners)
        for face, plane in _candidates(mesh, planes):
            inside = _lies_in(mesh, planes, face, plane)
            np.minimum.at(found, face[inside], plane[inside].astype(np.int32))
    found[found == len(hull.starts)] = -1
    return found


def planes_of_hull(hull: ConvexHull, corners: Ints) -> Ints:
    """(f, 3) three corners of each hull face, far from each other in its outline."""
    sizes = np.diff(hull.starts)
    place = np.stack([0 * sizes, sizes // 3, 2 * sizes // 3], axis=1) + hull.starts[:-1, None]
    return np.ascontiguousarray(corners[hull.corners[place]])


def unit_normals(vertices: Floats, triangles: Ints) -> tuple[Floats, Floats]:
    """Unit normals, and by which angle they may be off (infinite where nothing is known)."""
    a = vertices[triangles[:, 0]]
    u, v = vertices[triangles[:, 1]] - a, vertices[triangles[:, 2]] - a
    largest = np.maximum(np.abs(u), np.abs(v)).max(axis=1, keepdims=True)
    with np.errstate(all="ignore"):
        u, v = u / largest, v / largest
        normal = np.cross(u, v)
        length = np.linalg.norm(normal, axis=1)
        # Dividing by the largest rounds once more; 16 roundings leave room for that and for the lengths themselves.
        off = 2.0**-49 * np.linalg.norm(u, axis=1) * np.linalg.norm(v, axis=1) / length
        normal = normal / length[:, None]
    known = np.isfinite(normal).all(axis=1) & (length > 2.0**-400)
    return np.where(known[:, None], normal, 0.0), np.where(known, off, np.inf)


def _candidates(mesh: Mesh, planes: Ints) -> list[tuple[Longs, Longs]]:
    """Pairs of a face and a plane it may lie in, in portions; every true pair is among them."""
    from scipy.spatial import cKDTree  # type: ignore[import-untyped]

    normals, off = unit_normals(mesh.vertices, topology.merged_faces(mesh))
    plane_normals, plane_off = unit_normals(mesh.vertices, planes)
    sure, sure_planes = off <= _SURE, np.flatnonzero(plane_off <= _SURE)
    portions = []
    if len(sure_planes) and sure.any():
        tree = cKDTree(plane_normals[sure_planes])
        for sign in (1.0, -1.0):  # winding says nothing
            faces = np.flatnonzero(sure)
            near = tree.query(sign * normals[faces], k=2, distance_upper_bound=8.0 * _SURE)[1].reshape(-1, 2)
            hit = near[:, 0] < len(sure_planes)
            portions.append((faces[hit], sure_planes[near[hit, 0]]))
            several = faces[near[:, 1] < len(sure_planes)]
            for face, close in zip(several, tree.query_ball_point(sign * normals[several], 8.0 * _SURE), strict=True):
                portions.append((np.full(len(close), face), sure_planes[close]))
    portions += _all_pairs(np.flatnonzero(~sure), np.arange(len(planes)))
    portions += _all_pairs(np.flatnonzero(sure), np.flatnonzero(plane_off > _SURE))
    return portions


def _all_pairs(faces: Longs, planes: Longs) -> list[tuple[Longs, Longs]]:
    if len(faces) == 0 or len(planes) == 0:
        return []
    step = max(1, _MOST_PAIRS // len(planes))
    parts = (faces[first : first + step] for first in range(0, len(faces), step))
    return [(np.repeat(part, len(planes)), np.tile(planes, len(part))) for part in parts]


def _lies_in(mesh: Mesh, planes: Ints, face: Longs, plane: Longs) -> NDArray[np.bool_]:
    from impinge.convex.hull.exact_quickhull import sides

    inside = np.ones(len(face), dtype=np.bool_)
    for k in range(3):
        open_ones = np.flatnonzero(inside)
        corner = np.ascontiguousarray(mesh.faces[face[open_ones], k])
        inside[open_ones] = sides(mesh.vertices, np.ascontiguousarray(planes[plane[open_ones]]), corner) == 0
    return inside
