"""Diagnosis of a mesh: open edges, T-vertices and so on.

None of them is an error: every polygon soup is a legal surface.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from impinge.arrays import Floats, Ints, read_only
from impinge.geometry.exact.integers import SAFE_FROM_UNDERFLOW, collinear
from impinge.mesh import topology
from impinge.mesh.repair.cracks import find_cracks
from impinge.mesh.repair.t_vertices import SLENDERNESS, ULPS, find_t_vertices

if TYPE_CHECKING:
    from impinge.mesh.mesh import Mesh


SLIVER = 2.0**-10
"""A face thinner than this part of its longest side is called a sliver.  Answers are exact for slivers as well; normals
and programs that round suffer."""


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Indices of everything unusual in a mesh.

    Vertices at equal positions count as one and are named by the first of them.  Faces with fewer than three
    distinct positions have no part in open, non-manifold and inconsistently wound edges.

    Examples
    --------
    >>> from impinge import Mesh, shapes
    >>> shapes.box(1, 1, 1).diagnose()
    <Diagnosis clean: closed, manifold and consistently wound>
    >>> triangle = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    >>> triangle.diagnose().open_edges.tolist(), triangle.diagnose().is_clean
    ([[0, 1], [0, 2], [1, 2]], False)
    """

    open_edges: Ints
    """(k, 2) edges of an odd number of faces; the mesh is closed if there are none."""
    nonmanifold_edges: Ints
    """(k, 2) edges of more than two faces."""
    coincident_faces: Ints
    """(k, 2) faces over the same three positions, in any order: the first such face, and each other one."""
    degenerate_faces: Ints
    """(k,) faces of area exactly zero."""
    t_vertices: Ints
    """(k, 3) a vertex, and start and end of an edge in whose interior it stands, exactly or by some ulps."""
    inconsistent_winding: Ints
    """(k, 2) edges of an even number of faces that run it more often one way than the other."""
    cracks: Ints
    """(k, 2) different vertices of open edges that are equal but for rounding; ``repaired(weld="auto")`` welds them."""
    slivers: Ints
    """(k,) faces with an area whose height is less than ``SLIVER`` of their longest side; a remark, not a flaw."""
    coplanar_neighbours: Ints
    """(k, 2) faces with a common edge of theirs alone, in one plane exactly or by some ulps; a remark, not a flaw."""

    @property
    def is_clean(self) -> bool:
        """Whether there is no flaw: a closed manifold, wound consistently."""
        return not self._listed(FLAWS)

    def __str__(self) -> str:
        flaws = self._listed(FLAWS)
        found = f"unusual: {flaws}" if flaws else "clean: closed, manifold and consistently wound"
        return f"{found}; {len(self.slivers)} slivers" if len(self.slivers) else found

    def _listed(self, names: tuple[str, ...]) -> str:
        counts = [(name.replace("_", " "), len(getattr(self, name))) for name in names]
        return ", ".join(f"{count} {name}" for name, count in counts if count)

    def __repr__(self) -> str:
        return f"<Diagnosis {self}>"


REMARKS = ("slivers", "coplanar_neighbours")
"""What is worth knowing and does no harm: good models have it too."""
FLAWS = tuple(field.name for field in fields(Diagnosis) if field.name not in REMARKS)
"""What a closed manifold that is wound consistently has not."""


def diagnose(mesh: Mesh) -> Diagnosis:
    """Find everything that a Diagnosis names."""
    found = topology.edges(mesh)
    faces = topology.merged_faces(mesh)
    open_edges = topology.open_edges(mesh)
    degenerate = degenerate_faces(mesh)
    return Diagnosis(
        open_edges=read_only(open_edges),
        nonmanifold_edges=read_only(found.only(found.count(found.proper) > 2)),
        coincident_faces=read_only(coincident_faces(faces)),
        degenerate_faces=read_only(degenerate),
        t_vertices=read_only(find_t_vertices(mesh.vertices, np.unique(faces), found.pairs)),
        inconsistent_winding=read_only(topology.unbalanced_edges(mesh)),
        cracks=read_only(find_cracks(mesh.vertices, found.pairs, open_edges)),
        slivers=read_only(_slivers(mesh, degenerate)),
        coplanar_neighbours=read_only(_coplanar_neighbours(mesh, degenerate)),
    )


def coincident_faces(faces: Ints) -> Ints:
    """(k, 2) for faces over merged vertices: the first of several over the same corners, and each other one."""
    corners = np.sort(faces, axis=1)
    order = np.lexsort((corners[:, 2], corners[:, 1], corners[:, 0]))  # stable: the first face leads its group
    ordered = corners[order]
    is_new = np.ones(len(faces), dtype=bool)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    leader = order[is_new][np.cumsum(is_new) - 1]
    pairs = np.stack([leader, order], axis=1)[~is_new].astype(np.int32)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def _sides(triangles: Floats) -> tuple[Floats, Floats]:
    """Two sides of each triangle, brought to sizes of one by a power of two; some of it may underflow."""
    u, v = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    exponent = np.frexp(np.maximum(np.abs(u), np.abs(v)).max(axis=1))[1][:, None]
    return np.ldexp(u, -exponent), np.ldexp(v, -exponent)


def degenerate_faces(mesh: Mesh) -> Ints:
    """(k,) the faces of area exactly zero."""
    degenerate = ~topology.proper_faces(mesh)
    triangles = mesh.triangles
    u, v = _sides(triangles)
    has_area = np.zeros(len(triangles), dtype=bool)
    for i, j in ((1, 2), (2, 0), (0, 1)):
        left, right = u[:, i] * v[:, j], u[:, j] * v[:, i]
        # Both differences, the product and the subtraction round: below 4 roundings of |left| + |right|.
        has_area |= np.abs(left - right) > 2.0**-50 * (np.abs(left) + np.abs(right)) + SAFE_FROM_UNDERFLOW
    for face in np.flatnonzero(~has_area & ~degenerate):
        degenerate[face] = collinear(*triangles[face].tolist())
    return np.flatnonzero(degenerate).astype(np.int32)


def _slivers(mesh: Mesh, degenerate: Ints) -> Ints:
    u, v = _sides(mesh.triangles)
    longest = np.maximum.reduce([(side**2).sum(axis=1) for side in (u, v, v - u)])
    thin = np.linalg.norm(np.cross(u, v), axis=1) < SLIVER * longest  # twice the area: side times height
    thin[degenerate] = False
    return np.flatnonzero(thin).astype(np.int32)


def _coplanar_neighbours(mesh: Mesh, degenerate: Ints) -> Ints:
    found = topology.edges(mesh)
    pairs = found.start[:-1][np.diff(found.start) == 2]
    first, second = found.face[pairs], found.face[pairs + 1]
    has_area = np.ones(len(mesh.faces), dtype=bool)
    has_area[degenerate] = False
    both = has_area[first] & has_area[second]
    first, second, ends = first[both], second[both], found.pairs[found.owner[pairs[both]]]
    faces = topology.merged_faces(mesh).astype(np.int64)
    here, there = (faces[some].sum(axis=1) - ends.sum(axis=1) for some in (first, second))
    corners = mesh.vertices[np.stack([ends[:, 0], ends[:, 1], here, there], axis=1)]
    along, u, v = (corners[:, k] - corners[:, 0] for k in (1, 2, 3))
    size = np.abs(np.stack([along, u, v])).max(axis=(0, 2))
    tolerance = np.minimum(ULPS * np.spacing(np.abs(corners).max(axis=(1, 2))), SLENDERNESS * size)
    exponent = np.frexp(size)[1]
    along, u, v = (np.ldexp(side, -exponent[:, None]) for side in (along, u, v))
    # The volume is height times area for either face; both heights have to be small.
    volume = np.abs(np.einsum("ij,ij->i", np.cross(along, u), v))
    area = np.minimum(np.linalg.norm(np.cross(along, u), axis=1), np.linalg.norm(np.cross(along, v), axis=1))
    flat = volume <= np.ldexp(tolerance, -exponent) * area
    rows = np.stack([first[flat], second[flat]], axis=1)
    return rows[np.lexsort((rows[:, 1], rows[:, 0]))]
