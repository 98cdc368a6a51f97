"""The features of a solid by its convex hull: what lies on the hull, what is hidden, and the border between.

[Ponamgi1995] (4.3, 4.4).  Faces are *hull features* if they lie in a face of the hull, and *concavity features*
otherwise.  Connected faces of one kind are a subset: a golf ball has one hull subset and a concavity for each dimple.

The subsets are a partition of all faces, for any polygon soup.  Loops and caps ask for more: a closed surface
with two faces at an edge that does not overlap itself.  ``problems`` says what is missing; the rest is found as far
as it goes.  T-vertices exactly on their edge do no harm.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from impinge.arrays import Bools, Ints, read_only
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.incremental.solids.boundary_loops import Boundary, BoundaryLoop, LoopPart, find_boundary
from impinge.incremental.solids.caps import Cap, Method, find_caps
from impinge.incremental.solids.hull_surface import HullSurface, hull_surface
from impinge.incremental.solids.shallow_dents import faces_near_hull
from impinge.mesh import topology
from impinge.mesh.mesh import Mesh


class Kind(IntEnum):
    """Where a face of the mesh lies."""

    HULL = 0
    CONCAVITY = 1


@dataclass(frozen=True, eq=False)
class Subset:
    """Faces of one kind, connected across edges."""

    kind: Kind
    faces: Ints
    """(k,) ascending."""


@dataclass(frozen=True, eq=False)
class SolidFeatures:
    """How the faces of a mesh lie with respect to its convex hull; made by ``solid_features``."""

    hull: ConvexHull
    hull_face: Ints
    """(m,) the hull face on which each face lies; -1 for concavity features."""
    subset: Ints
    """(m,) the subset of each face."""
    subsets: tuple[Subset, ...]
    """In the order of their first faces."""
    coarse_subsets: tuple[Subset, ...]
    """Another partition, for hierarchies: faces within some ulps of the hull count as hull features."""
    boundary: Boundary
    caps: tuple[Cap, ...]
    """Sorted by hull face."""
    reached_starts: Ints
    """(f + 1,) where the subsets of each hull face start in ``reached``."""
    reached: Ints
    """Ascending for each hull face: the subsets with a face on it or below a cap on it."""
    uncovered: Ints
    """(k,) concavities that no cap is known to cover: voids, and parts that float in an opening."""
    problems: tuple[str, ...]
    """Why loops or caps may be missing; empty for a clean solid."""

    @property
    def loops(self) -> tuple[BoundaryLoop, ...]:
        """The boundary between hull features and concavities."""
        return self.boundary.loops

    def loop_parts(self, hull_face: int) -> tuple[LoopPart, ...]:
        """The loops and parts of loops that rest on a hull face."""
        return tuple(part for part in self.boundary.parts if part.hull_face == hull_face)

    def subsets_below(self, hull_face: int) -> Ints:
        """The subsets with a face on a hull face or below a cap on it."""
        return self.reached[self.reached_starts[hull_face] : self.reached_starts[hull_face + 1]]

    def __repr__(self) -> str:
        kinds = [subset.kind for subset in self.subsets]
        return (
            f"SolidFeatures({kinds.count(Kind.HULL)} hull subsets, {kinds.count(Kind.CONCAVITY)} concavities, "
            f"{len(self.loops)} boundary loops, {len(self.caps)} caps)"
        )


def solid_features(mesh: Mesh, caps: Method = "subtraction") -> SolidFeatures:
    """The features of a mesh; kept with the mesh.

    ``caps`` chooses how caps are found: by ``"subtraction"`` of polygons or by ``"triangulation"`` of the boundary
    vertices.  Both cover the same.

    >>> from impinge import shapes
    >>> solid_features(shapes.prism([(0, 0), (3, 0), (3, 2), (2, 2), (2, 1), (1, 1), (1, 2), (0, 2)], 4))  # a channel
    SolidFeatures(1 hull subsets, 1 concavities, 1 boundary loops, 3 caps)
    """
    if caps not in ("subtraction", "triangulation"):
        raise ValueError(f"caps is {caps!r}; it must be 'subtraction' or 'triangulation'")
    return mesh.memo(("solid_features", caps), lambda mesh: _make(hull_surface(mesh), caps))


def coarse_subsets(mesh: Mesh) -> tuple[Subset, ...]:
    """The subsets alone, those of hull features within some ulps, without loops and caps; kept with the mesh."""
    return mesh.memo("coarse_subsets", _coarse_subsets)


def _coarse_subsets(mesh: Mesh) -> tuple[Subset, ...]:
    surface = hull_surface(mesh)
    return _subsets(surface, faces_near_hull(surface))[1]


def _make(surface: HullSurface, method: Method) -> SolidFeatures:
    subset, subsets = _subsets(surface, surface.hull_face >= 0)
    boundary = find_boundary(surface, subset)
    caps, failed = find_caps(surface, subset, method)
    concavities = [k for k, some in enumerate(subsets) if some.kind == Kind.CONCAVITY]
    covered = {number for cap in caps for number in cap.subsets.tolist()}
    starts, reached = _reached(surface, subset, caps, failed, concavities)
    return SolidFeatures(
        hull=surface.hull,
        hull_face=read_only(surface.hull_face),
        subset=read_only(subset),
        subsets=subsets,
        coarse_subsets=coarse_subsets(surface.mesh),
        boundary=boundary,
        caps=tuple(caps),
        reached_starts=starts,
        reached=reached,
        uncovered=read_only(np.array([k for k in concavities if k not in covered], dtype=np.int32)),
        problems=tuple(_problems(surface, boundary, failed)),
    )


def _subsets(surface: HullSurface, on_hull: Bools) -> tuple[Ints, tuple[Subset, ...]]:
    """The subset of each face, and all subsets: depth-first search across edges between faces of one kind."""
    pairs = topology.face_adjacency(surface.mesh)
    alike = on_hull[pairs[:, 0]] == on_hull[pairs[:, 1]]
    subset = topology.connected_parts(len(on_hull), pairs[alike, 0], pairs[alike, 1])
    order = np.argsort(subset, kind="stable").astype(np.int32)
    groups = np.split(order, np.flatnonzero(np.diff(subset[order])) + 1)
    kinds = (Kind.HULL if on_hull[faces[0]] else Kind.CONCAVITY for faces in groups)
    return subset, tuple(Subset(kind, read_only(faces)) for kind, faces in zip(kinds, groups, strict=True))


def _reached(
    surface: HullSurface, subset: Ints, caps: list[Cap], failed: list[int], concavities: list[int]
) -> tuple[Ints, Ints]:
    count = len(surface.hull.starts) - 1
    flat = surface.hull.dimension < 3
    rows: list[set[int]] = [set(subset[surface.faces_on(0 if flat else k)].tolist()) for k in range(count)]
    for cap in caps:
        rows[cap.hull_face].update(cap.subsets.tolist())
    for hull_face in failed:
        rows[hull_face].update(concavities)  # nothing is known, so nothing is left out
    starts = np.cumsum([0, *map(len, rows)], dtype=np.int32)
    return read_only(starts), read_only(np.array([k for row in rows for k in sorted(row)], dtype=np.int32))


def _problems(surface: HullSurface, boundary: Boundary, failed: list[int]) -> list[str]:
    """In words, with the first place of each."""
    found = surface.mesh.diagnose()
    problems = []
    if surface.hull.dimension < 3:
        problems.append(f"the mesh is {('a point', 'a segment', 'flat')[surface.hull.dimension]}, so it has no caps")
    for name, rows in (
        ("open edges", found.open_edges),
        ("edges of more than two faces", found.nonmanifold_edges),
        ("coincident faces", found.coincident_faces),
        ("T-vertices", found.t_vertices),
        ("faces without area", found.degenerate_faces),
    ):
        if len(rows):
            problems.append(f"{len(rows)} {name}, first {rows[0].tolist()}")
    gaps = [loop for loop in boundary.loops if not loop.closed]
    if gaps:
        problems.append(f"{len(gaps)} boundary loops with a gap, first at the vertex {gaps[0].vertices[-1]}")
    if failed:
        problems.append(f"{len(failed)} hull faces on which the mesh overlaps itself, first {failed[0]}")
    return problems
