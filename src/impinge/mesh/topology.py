"""Topology of a mesh by position: its edges, adjacent faces and connected components.

Files often repeat a vertex for each face that uses it, so connections go by
position: vertices with equal coordinates count as one (-0.0 equals 0.0, nothing
else is rounded), represented by the first of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Bools, Ints, read_only

if TYPE_CHECKING:
    from impinge.mesh.mesh import Mesh

_FEW = 32
"""Faces.  Numpy takes 50 us for the edges of any small mesh, plain Python one for each face."""

Longs = NDArray[np.int64]
AnyInts = Ints | Longs


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges of a mesh and the faces at each of them.

    A face with only two distinct positions has one edge, a face with one has none.
    """

    pairs: Ints
    """(e, 2) first vertices of the two positions, the smaller index first; sorted."""
    start: Longs
    """(e + 1,) the uses of edge i are start[i] to start[i + 1] in the arrays below."""
    face: Ints
    """(h,) the face of each use; ascending within an edge."""
    forward: Bools
    """(h,) whether the face runs from the first vertex of the pair to the second."""
    proper: Bools
    """(h,) whether the face has three distinct positions; only such faces count for closedness and winding."""

    @property
    def owner(self) -> Longs:
        """(h,) the edge of each use."""
        return np.repeat(np.arange(len(self.pairs)), np.diff(self.start))

    def count(self, uses: Bools) -> Longs:
        """(e,) how many of the marked uses each edge has."""
        return np.bincount(self.owner[uses], minlength=len(self.pairs)).astype(np.int64, copy=False)

    def faces_at(self, a: int, b: int) -> Ints:
        """(k,) the faces at the edge between two vertices, in any order; none if there is no such edge."""
        low, high = min(a, b), max(a, b)
        first, last = np.searchsorted(self.pairs[:, 0], [low, low + 1])
        at = int(first + np.searchsorted(self.pairs[first:last, 1], high))
        if at == last or self.pairs[at, 1] != high:
            return self.face[:0]
        return self.face[self.start[at] : self.start[at + 1]]

    def only(self, chosen: Bools) -> Ints:
        """(k, 2) the pairs of the marked edges."""
        return np.ascontiguousarray(self.pairs[chosen])


def merged_vertices(mesh: Mesh) -> Ints:
    """(n,) the first vertex that has the same position, for each vertex."""
    return mesh.memo("merged_vertices", _merge_vertices)


def merged_faces(mesh: Mesh) -> Ints:
    """(m, 3) the faces over merged vertices."""
    return mesh.memo("merged_faces", lambda mesh: read_only(merged_vertices(mesh)[mesh.faces]))


def proper_faces(mesh: Mesh) -> Bools:
    """(m,) whether a face has three distinct positions."""
    a, b, c = merged_faces(mesh).T
    proper: Bools = (a != b) & (b != c) & (c != a)
    return proper


def edges(mesh: Mesh) -> Edges:
    """The edges by position, with their faces."""
    return mesh.memo("edges", _find_edges)


def open_edges(mesh: Mesh) -> Ints:
    """(k, 2) the edges that belong to an odd number of faces; a closed mesh has none."""
    found = edges(mesh)
    return found.only(found.count(found.proper) % 2 == 1)


def is_closed(mesh: Mesh) -> bool:
    """Whether there are no open edges."""
    return mesh.memo("is_closed", _find_whether_closed)


def unbalanced_edges(mesh: Mesh) -> Ints:
    """(k, 2) the edges of an even number of faces that are not run equally often in both directions."""
    found = edges(mesh)
    forward, backward = found.count(found.proper & found.forward), found.count(found.proper & ~found.forward)
    return found.only((forward != backward) & ((forward + backward) % 2 == 0))


def face_adjacency(mesh: Mesh) -> Ints:
    """(k, 2) all pairs of faces that share an edge, the smaller index first; sorted."""
    return mesh.memo("face_adjacency", _find_face_adjacency)


def components(mesh: Mesh) -> Ints:
    """(m,) a label for each face: equal where a chain of shared edges joins them; numbered by their first face.

    A face that is a single point has no edge; it goes with the first face at its position.
    """
    return mesh.memo("components", _find_components)


def _merge_vertices(mesh: Mesh) -> Ints:
    points = mesh.vertices + 0.0  # turns -0.0 into 0.0
    order = np.lexsort((points[:, 2], points[:, 1], points[:, 0]))  # stable: the first vertex leads its group
    ordered = points[order]
    is_new = np.ones(len(points), dtype=bool)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    leader = order[is_new][np.cumsum(is_new) - 1]
    merged = np.empty(len(points), dtype=np.int32)
    merged[order] = leader
    return read_only(merged)


def _find_edges(mesh: Mesh) -> Edges:
    faces = merged_faces(mesh)
    tail = faces.ravel()
    head = faces[:, [1, 2, 0]].ravel()
    face = np.repeat(np.arange(len(faces), dtype=np.int32), 3)
    proper = np.repeat(proper_faces(mesh), 3)
    # A face (a, a, b) runs its edge both ways; once is enough.
    used = (tail != head) & (proper | (tail < head))
    tail, head, face, proper = tail[used], head[used], face[used], proper[used]
    forward = tail < head
    low, high = np.minimum(tail, head), np.maximum(tail, head)
    key = low.astype(np.int64) * len(mesh.vertices) + high
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    is_new = np.ones(len(key), dtype=bool)
    is_new[1:] = ordered[1:] != ordered[:-1]
    start = np.append(np.flatnonzero(is_new), len(key)).astype(np.int64)
    first = order[is_new]
    return Edges(
        pairs=read_only(np.stack([low[first], high[first]], axis=1)),
        start=read_only(start),
        face=read_only(face[order]),
        forward=read_only(forward[order]),
        proper=read_only(proper[order]),
    )


def _find_whether_closed(mesh: Mesh) -> bool:
    if len(mesh.faces) > _FEW or len(mesh.vertices) > 3 * _FEW:
        return len(open_edges(mesh)) == 0
    first: dict[tuple[float, ...], int] = {}
    merged = [first.setdefault(tuple(point), number) for number, point in enumerate(mesh.vertices.tolist())]
    odd: set[tuple[int, int]] = set()
    for face in mesh.faces.tolist():
        a, b, c = sorted(merged[corner] for corner in face)
        if a != b and b != c:
            odd ^= {(a, b), (b, c), (a, c)}
    return not odd


def _find_face_adjacency(mesh: Mesh) -> Ints:
    found = edges(mesh)
    owner = found.owner
    pairs = []
    # The k-th neighbours in the list of each edge's faces; almost all edges are done after k = 1.
    for k in range(1, int(np.diff(found.start).max(initial=0))):
        same = np.flatnonzero(owner[k:] == owner[:-k])
        pairs.append(np.stack([found.face[same], found.face[same + k]], axis=1))
    if not pairs:
        return read_only(np.zeros((0, 2), dtype=np.int32))
    both = np.concatenate(pairs)
    key = np.unique(both[:, 0].astype(np.int64) * len(mesh.faces) + both[:, 1])
    return read_only(np.stack(np.divmod(key, len(mesh.faces)), axis=1).astype(np.int32))


def _find_components(mesh: Mesh) -> Ints:
    found = edges(mesh)
    chained = np.flatnonzero(np.diff(found.owner) == 0)
    faces = merged_faces(mesh)
    points = np.flatnonzero((faces == faces[:, :1]).all(axis=1))
    first_face_at = np.zeros(len(mesh.vertices), dtype=np.int64)
    uses = faces.ravel()[::-1]
    first_face_at[uses] = (np.arange(len(uses)) // 3)[::-1]  # the last assignment stays: the smallest face
    one = np.concatenate([found.face[chained], points])
    other = np.concatenate([found.face[chained + 1], first_face_at[faces[points, 0]]])
    return read_only(connected_parts(len(faces), one, other))


def connected_parts(count: int, one: AnyInts, other: AnyInts) -> Ints:
    """(count,) a label for each thing: equal where a chain of pairs joins them; numbered by their first things."""
    from scipy.sparse import coo_array  # type: ignore[import-untyped]
    from scipy.sparse.csgraph import connected_components  # type: ignore[import-untyped]

    graph = coo_array((np.ones(len(one), dtype=np.int8), (one, other)), shape=(count, count))
    _, label = connected_components(graph, directed=False)
    _, first, label = np.unique(label, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return rank[label]
