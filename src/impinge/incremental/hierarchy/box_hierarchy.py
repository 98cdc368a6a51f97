"""BoxHierarchy: the boxes over the faces of a body, as arrays.

Ponamgi, Manocha and Lin (1995), 4.5: a hierarchy over each subset of the faces (hull features, concavities), and a root
over all of them.  Nodes are numbered breadth first, so the children of a node stand one after the other, behind it.
What stands in a leaf are entries: faces, or their pieces.  Entry i is item ``nodes + i``: to the sweep a face is one
more box.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats, Ints, read_only
from impinge.convex.hull.hull_handle import radius_of
from impinge.incremental.hierarchy.cell_cuts import CellCuts
from impinge.incremental.hierarchy.median_octree import median_cuts
from impinge.incremental.hierarchy.octree import octree_cuts
from impinge.incremental.hierarchy.options import Hierarchy
from impinge.incremental.hierarchy.posed_hierarchy import PosedHierarchy, unposed
from impinge.incremental.hierarchy.reach import DIRECTIONS, OUTWARD, PIECES_OUTWARD, reach_of_nodes
from impinge.incremental.hierarchy.trimming import MOST_CORNERS, TRIMMED, trim
from impinge.mesh.mesh import Mesh

_CUTS = {"octree": octree_cuts, "median": median_cuts}


@dataclass(frozen=True, eq=False, repr=False)
class BoxHierarchy:
    """Node 0 is the root."""

    options: Hierarchy
    first: Ints
    """(n,) the first child of a node, an item: below n a node, otherwise an entry; so it is a leaf."""
    count: Ints
    """(n,) how many children it has, at least one."""
    parent: Ints
    """(n + m,) the node above each item; -1 for the root."""
    faces: Ints
    """(m,) the face of the mesh that an entry is, or is a piece of."""
    triangles: Floats
    """(m, 3, 3) that face."""
    piece_starts: Ints
    """(m + 1,) entry i has the points ``pieces[piece_starts[i]:piece_starts[i + 1]]``; none: it is the whole face."""
    pieces: Floats
    """(p, 3) corners of trimmed faces."""
    middles: Floats
    """(n, 3) the middle of a sphere around each node,"""
    radii: Floats
    """(n,) and its radius."""
    spans: Floats
    """(n, 27) how far each node reaches in pre-computed directions (see reach), if they are asked for."""
    face_count: int
    """Faces of the mesh."""
    radius: float
    """No vertex is farther from the origin of the body."""
    margin: float
    """Boxes are moved outward by this times the size of coordinates."""

    @property
    def nodes(self) -> int:
        return len(self.first)

    @property
    def entries(self) -> int:
        return len(self.faces)

    @cached_property
    def widest(self) -> int:
        """The largest number of children."""
        return int(self.count.max())

    @cached_property
    def record(self) -> PosedHierarchy:
        """What kernels read; ``posed_hierarchy`` makes copies of it that they also write."""
        return unposed(self)

    def __repr__(self) -> str:
        return f"BoxHierarchy({self.nodes} boxes, {self.entries} entries, {self.face_count} faces)"


class _Cell(NamedTuple):
    low: Floats
    high: Floats
    vertices: Ints
    faces: Ints
    level: int


def box_hierarchy(mesh: Mesh, subsets: Sequence[Ints] | None = None, options: Hierarchy | None = None) -> BoxHierarchy:
    """The hierarchy over subsets of the faces of a mesh, which together must be all of them, each once.

    >>> from impinge import shapes
    >>> box_hierarchy(shapes.box(1, 1, 1), options=Hierarchy(levels=1, threshold=1))
    BoxHierarchy(5 boxes, 12 entries, 12 faces)
    """
    options = options or Hierarchy()
    parts = [np.arange(len(mesh.faces), dtype=np.int32)] if subsets is None else _checked(subsets, len(mesh.faces))
    return _Builder(mesh, options).build(parts)


def _checked(subsets: Sequence[Ints], face_count: int) -> list[Ints]:
    parts = [np.asarray(subset, dtype=np.int32) for subset in subsets if len(subset)]
    every = np.sort(np.concatenate([np.empty(0, dtype=np.int32), *parts]))
    if not np.array_equal(every, np.arange(face_count)):
        raise ValueError(f"subsets: each of the {face_count} faces must be in exactly one of them")
    return parts


class _Leaf(NamedTuple):
    faces: Ints
    points: Floats
    """The corners of pieces, one piece after the other,"""
    counts: Ints
    """and how many each has; none where the face is whole."""


class _Builder:
    def __init__(self, mesh: Mesh, options: Hierarchy) -> None:
        self.options = options
        self.vertices = mesh.vertices
        self.corners = mesh.faces
        self.triangles = mesh.vertices[mesh.faces]
        self.low, self.high = self.triangles.min(axis=1), self.triangles.max(axis=1)
        self.middles = self.low * 0.5 + self.high * 0.5
        self.radius = radius_of(self.triangles.reshape(-1, 3))
        self.trimmed = options.faces == "trimmed"

    def build(self, subsets: list[Ints]) -> BoxHierarchy:
        roots = [self._root(faces) for faces in subsets]
        cells: list[_Cell | None] = [*roots] if len(roots) == 1 else [None, *roots]
        first, count = ([], []) if len(roots) == 1 else ([1], [len(roots)])
        leaves: list[_Leaf] = []
        entries = 0
        while len(first) < len(cells):
            cell = cells[len(first)]
            assert cell is not None
            cells[len(first)] = None  # its lists are no longer needed
            if children := self._children(cell):
                first.append(len(cells))
                count.append(len(children))
                cells += children
            else:
                leaves.append(self._leaf(cell))
                first.append(~entries)
                count.append(len(cell.faces))
                entries += len(cell.faces)
        return self._assemble(np.array(first), np.array(count, dtype=np.int32), leaves)

    def _root(self, faces: Ints) -> _Cell:
        vertices = np.unique(self.corners[faces])
        return _Cell(self.low[faces].min(axis=0), self.high[faces].max(axis=0), vertices, faces, 0)

    def _children(self, cell: _Cell) -> list[_Cell]:
        """The parts of a cell that have faces; none if it stays whole."""
        options = self.options
        if cell.level >= options.levels or len(cell.vertices) <= options.threshold or len(cell.faces) < 2:
            return []
        points = self.vertices[cell.vertices]
        cuts = _CUTS[options.kind](cell.low, cell.high, points, options.parts_at(cell.level))
        vertex_part = cuts.locate(points)
        children = []
        for part, (low, high), faces in self._shared_out(cuts, cell):
            if len(faces):
                inside = cell.vertices[vertex_part == part]
                children.append(_Cell(low, high, inside, faces, cell.level + 1))
        return children

    def _shared_out(self, cuts: CellCuts, cell: _Cell) -> Iterator[tuple[int, Floats, Ints]]:
        """The faces of a cell, for each of its parts."""
        faces = cell.faces
        face_part = cuts.locate(self.middles[faces])
        for part, bounds in enumerate(cuts.cells(cell.low, cell.high)):
            if self.trimmed:
                yield part, bounds, faces[self._trim(faces, *bounds)[1] > 0]
            else:
                yield part, bounds, faces[face_part == part]

    def _trim(self, faces: Ints, low: Floats, high: Floats) -> tuple[Floats, Ints]:
        pieces, counts = np.zeros((len(faces), MOST_CORNERS, 3)), np.zeros(len(faces), dtype=np.int32)
        trim(self.triangles[faces], low.copy(), high.copy(), TRIMMED * self.radius, pieces, counts)
        return pieces, counts

    def _leaf(self, cell: _Cell) -> _Leaf:
        faces = cell.faces
        if not self.trimmed:
            return _Leaf(faces, np.empty((0, 3)), np.zeros(len(faces), dtype=np.int32))
        pieces, counts = self._trim(faces, cell.low, cell.high)
        whole = ((self.low[faces] >= cell.low) & (self.high[faces] <= cell.high)).all(axis=1)
        counts[whole] = 0
        return _Leaf(faces, pieces[np.arange(MOST_CORNERS) < counts[:, None]], counts)

    def _assemble(self, first: NDArray[np.intp], count: Ints, leaves: list[_Leaf]) -> BoxHierarchy:
        nodes = len(first)
        first_item: Ints = np.where(first < 0, nodes + ~first, first).astype(np.int32)
        faces: Ints = np.concatenate([leaf.faces for leaf in leaves]).astype(np.int32)
        parent: Ints = np.full(nodes + len(faces), -1, dtype=np.int32)
        order = np.argsort(first_item, kind="stable")
        parent[1:] = np.repeat(order, count[order])  # every item but the root is a child
        triangles: Floats = np.ascontiguousarray(self.triangles[faces])
        pieces: Floats = np.concatenate([leaf.points for leaf in leaves])
        ends = np.cumsum(np.concatenate([leaf.counts for leaf in leaves]))
        piece_starts: Ints = np.concatenate([[0], ends]).astype(np.int32)
        reach = reach_of_nodes(parent, nodes, triangles, piece_starts, pieces)
        spans = reach.spans if self.options.update == "interpolated" else np.empty((0, DIRECTIONS))
        return BoxHierarchy(
            options=self.options,
            first=read_only(first_item),
            count=read_only(count),
            parent=read_only(parent),
            faces=read_only(faces),
            triangles=read_only(triangles),
            piece_starts=read_only(piece_starts),
            pieces=read_only(pieces),
            middles=read_only(reach.middles),
            radii=read_only(reach.radii),
            spans=read_only(spans),
            face_count=len(self.corners),
            radius=self.radius,
            margin=PIECES_OUTWARD if len(pieces) else OUTWARD,
        )
