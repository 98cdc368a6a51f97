"""What is unusual about a mesh.  Nothing of it is an error: every polygon soup is a legal surface."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from impinge.geometry import topology
from impinge.geometry.cast import Ints, read_only
from impinge.geometry.integers import SAFE_FROM_UNDERFLOW, collinear
from impinge.geometry.t_vertices import find_t_vertices

if TYPE_CHECKING:
    from impinge.geometry.mesh import Mesh


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Indices of everything unusual in a mesh.

    Vertices at equal positions count as one and are named by the first of them.  Faces with fewer than three
    distinct positions have no part in open, non-manifold and inconsistently wound edges.
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

    @property
    def is_clean(self) -> bool:
        """Whether there is nothing to report: a closed manifold, wound consistently."""
        return all(len(getattr(self, field.name)) == 0 for field in fields(self))

    def __str__(self) -> str:
        counts = [(field.name.replace("_", " "), len(getattr(self, field.name))) for field in fields(self)]
        listed = ", ".join(f"{count} {name}" for name, count in counts if count)
        return f"unusual: {listed}" if listed else "clean: closed, manifold and consistently wound"

    def __repr__(self) -> str:
        return f"<Diagnosis {self}>"


def diagnose(mesh: Mesh) -> Diagnosis:
    """Look for everything that a Diagnosis names."""
    found = topology.edges(mesh)
    faces = topology.merged_faces(mesh)
    return Diagnosis(
        open_edges=read_only(topology.open_edges(mesh)),
        nonmanifold_edges=read_only(found.only(found.count(found.proper) > 2)),
        coincident_faces=read_only(_coincident_faces(faces)),
        degenerate_faces=read_only(_degenerate_faces(mesh)),
        t_vertices=read_only(find_t_vertices(mesh.vertices, np.unique(faces), found.pairs)),
        inconsistent_winding=read_only(topology.unbalanced_edges(mesh)),
    )


def _coincident_faces(faces: Ints) -> Ints:
    corners = np.sort(faces, axis=1)
    order = np.lexsort((corners[:, 2], corners[:, 1], corners[:, 0]))  # stable: the first face leads its group
    ordered = corners[order]
    is_new = np.ones(len(faces), dtype=bool)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    leader = order[is_new][np.cumsum(is_new) - 1]
    pairs = np.stack([leader, order], axis=1)[~is_new].astype(np.int32)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def _degenerate_faces(mesh: Mesh) -> Ints:
    degenerate = ~topology.proper_faces(mesh)
    triangles = mesh.triangles
    u, v = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    # Sizes of one, triangle by triangle; what underflows then stays undecided below.
    exponent = np.frexp(np.maximum(np.abs(u), np.abs(v)).max(axis=1))[1][:, None]
    u, v = np.ldexp(u, -exponent), np.ldexp(v, -exponent)
    has_area = np.zeros(len(triangles), dtype=bool)
    for i, j in ((1, 2), (2, 0), (0, 1)):
        left, right = u[:, i] * v[:, j], u[:, j] * v[:, i]
        # Both differences, the product and the subtraction round: below 4 roundings of |left| + |right|.
        has_area |= np.abs(left - right) > 2.0**-50 * (np.abs(left) + np.abs(right)) + SAFE_FROM_UNDERFLOW
    for face in np.flatnonzero(~has_area & ~degenerate):
        degenerate[face] = collinear(*triangles[face].tolist())
    return np.flatnonzero(degenerate).astype(np.int32)
