"""Caps: the parts of the convex hull that the surface of the model does not cover, and what is hidden below them.

[Ponamgi1995] (4.4), CAP = hull - model.  A cap is a connected part of one hull face.  Caps on neighbouring hull faces
form one *opening* where no edge of the model runs between them.

Which concavity a cap covers
----------------------------
1. An edge of the model in the border of a cap belongs to a face of the concavity below it; what is found so holds for
   all caps of the opening.
2. A concavity without such an edge hangs at the hull by vertices only: the openings around these vertices cover it.
3. An opening without a concavity so far takes those at its vertices.
4. What is left has nothing on the hull: a void inside, or a part that floats in an opening.  No cap covers it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from impinge.arrays import Ints, read_only
from impinge.incremental.solids.boundary_triangulation import triangulated
from impinge.incremental.solids.hull_surface import HullSurface, Run
from impinge.incremental.solids.polygon_subtraction import Region, subtracted, uncovered_border
from impinge.mesh import topology

Method = Literal["subtraction", "triangulation"]


@dataclass(frozen=True, eq=False)
class Cap:
    """A connected part of a hull face that the model does not cover."""

    hull_face: int
    triangles: Ints
    """(k, 3) vertices of the mesh, counterclockwise from outside."""
    subsets: Ints
    """(k,) the concavities below, ascending: one, but for unusual models."""
    opening: int
    """Caps of one number are joined across edges of the hull."""


def find_caps(surface: HullSurface, subset: Ints, method: Method = "subtraction") -> tuple[list[Cap], list[int]]:
    """All caps, sorted by hull face; and the hull faces where the mesh overlaps itself, so that there are none.

    ``subset`` (m,) says which subset each face of the mesh belongs to.
    """
    if surface.hull.dimension < 3:
        return [], []
    regions: list[tuple[int, Region]] = []
    failed = []
    for hull_face in range(len(surface.hull.starts) - 1):
        found = _uncovered(surface, hull_face, method)
        if found is None:
            failed.append(hull_face)
        else:
            regions += [(hull_face, region) for region in found]
    opening = _openings(surface, [region for _, region in regions])
    below = _concavities(surface, subset, [region for _, region in regions], opening)
    caps = []
    for k, (hull_face, region) in enumerate(regions):
        triangles = read_only(np.array(region.triangles, dtype=np.int32).reshape(-1, 3))
        caps.append(Cap(hull_face, triangles, below[opening[k]], opening[k]))
    return caps, failed


def _uncovered(surface: HullSurface, hull_face: int, method: Method) -> list[Region] | None:
    if surface.hull.red_faces[hull_face]:
        return []
    outline = surface.outline(hull_face)
    plane = surface.plane(hull_face)
    border = uncovered_border(outline, surface.rings_on(hull_face, plane))
    if not border:
        return border  # type: ignore[return-value]  # nothing is left, or faces overlap
    if method == "subtraction":
        regions = subtracted(plane, border)
        if regions is not None:
            return regions
    return triangulated(plane, outline, border)


def _openings(surface: HullSurface, regions: list[Region]) -> list[int]:
    """The opening that each region belongs to."""
    owner = {run: k for k, region in enumerate(regions) for run in region.border}
    joined = [
        (k, owner[b, a]) for (a, b), k in owner.items() if a < b and (b, a) in owner and not surface.faces_at(a, b)
    ]
    pairs = np.array(joined, dtype=np.int64).reshape(-1, 2)
    return topology.connected_parts(len(regions), pairs[:, 0], pairs[:, 1]).tolist() if regions else []


def _concavities(surface: HullSurface, subset: Ints, regions: list[Region], opening: list[int]) -> list[Ints]:
    """The subsets below each opening."""
    hidden = surface.hull_face < 0
    below: list[set[int]] = [set() for _ in range(max(opening, default=-1) + 1)]
    vertices: list[set[int]] = [set() for _ in below]
    for k, region in enumerate(regions):
        below[opening[k]].update(_hidden_at(surface, subset, region.border))
        vertices[opening[k]].update(vertex for run in region.border for vertex in run)
    tied = set().union(*below)
    loose = np.flatnonzero(hidden & ~np.isin(subset, sorted(tied)))
    _tie_by_vertices(surface, subset, loose, range(len(below)), below, vertices)
    empty = [k for k, found in enumerate(below) if not found]
    if empty:
        _tie_by_vertices(surface, subset, np.flatnonzero(hidden), empty, below, vertices)
    return [read_only(np.array(sorted(found), dtype=np.int32)) for found in below]


def _hidden_at(surface: HullSurface, subset: Ints, border: Iterable[Run]) -> set[int]:
    return {int(subset[face]) for a, b in border for face in surface.faces_at(a, b) if surface.hull_face[face] < 0}


def _tie_by_vertices(
    surface: HullSurface,
    subset: Ints,
    faces: np.ndarray,
    openings: Iterable[int],
    below: list[set[int]],
    vertices: list[set[int]],
) -> None:
    """Put the subsets of these faces below those openings that have a vertex of theirs."""
    around: dict[int, set[int]] = {}
    for number, corners in zip(
        subset[faces].tolist(), topology.merged_faces(surface.mesh)[faces].tolist(), strict=True
    ):
        for corner in corners:
            around.setdefault(corner, set()).add(number)
    for k in openings:
        for vertex in vertices[k] & around.keys():
            below[k] |= around[vertex]
