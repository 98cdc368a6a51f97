# mypy: allow-untyped-defs, allow-incomplete-defs
"""The tree of hulls over convex pieces: leaves are the pieces, inner nodes the exact hulls of those below.

Ponamgi, Manocha and Lin (1995), "Incremental algorithms for collision detection between solid models"; Mirtich (1997,
3.4).  The pieces of a node are divided at the median of their centres along the axis where these spread most (Kay and
Kajiya 1986), again and again, until there are ``BRANCHES`` parts.

The arrays are those of ``bvh.tree``, so that the one traversal can descend it: ``ref = node * 8 + slot``, node 0 is a
pseudo root that has everything in slot 0, and children are nodes or, below zero, pieces.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.bvh.layout import EMPTY, WIDTH
from impinge.bvh.pieces.convex_pieces import ConvexPieces
from impinge.bvh.workspace import BEST_FIRST
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.convex.hull.hull_handle import hull_handle_of
from impinge.kernels.record import Record, address, addresses, float64, int32

BRANCHES = 4
"""Children of a node, up to WIDTH."""


class HullTree:
    """The tree over some pieces."""

    def __init__(self, pieces: tuple[ConvexHull, ...]) -> None:
        self.pieces = pieces
        self.hulls: list[ConvexHull | None] = []
        """(8 N,) what each slot holds."""
        self._child: list[int] = []
        self._centres = np.array([piece.bounds[0] * 0.5 + piece.bounds[1] * 0.5 for piece in pieces])
        self.depth = self._fill(self._add_node() * WIDTH, np.arange(len(pieces)))
        self.child = np.array(self._child, dtype=np.int32)
        """(8 N,) an inner node if >= 0; EMPTY if the slot is not used; else ~i for piece i."""
        used = (self.child != EMPTY).reshape(-1, WIDTH)
        leaf = used & (self.child < 0).reshape(-1, WIDTH)
        bit = 1 << np.arange(WIDTH)
        self.slots = ((used * bit).sum(axis=1) * 256 + (leaf * bit).sum(axis=1)).astype(np.int32)
        """(N,) the used slots in bits 8 to 15, those that hold a piece in bits 0 to 7."""
        self.sizes = np.array([0.0 if hull is None else _extent(hull) for hull in self.hulls])
        """(8 N,) the larger of two volumes is opened."""

    def _add_node(self) -> int:
        self.hulls += [None] * WIDTH
        self._child += [EMPTY] * WIDTH
        return len(self._child) // WIDTH - 1

    def _fill(self, ref: int, members: NDArray[np.int64]) -> int:
        """Put pieces into a slot; return how many nodes there are on the longest path, that of the slot included."""
        if len(members) == 1:
            self._child[ref], self.hulls[ref] = ~int(members[0]), self.pieces[members[0]]
            return 1
        node = self._add_node()
        self._child[ref] = node
        below = [self._fill(node * WIDTH + k, part) for k, part in enumerate(self._parts(members))]
        # The corners of the hulls below have the same hull as all vertices.
        corners = [hull.vertices for hull in self.hulls[node * WIDTH : (node + 1) * WIDTH] if hull is not None]
        self.hulls[ref] = ConvexHull(np.concatenate(corners))
        return 1 + max(below)

    def _parts(self, members: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        parts = [members]
        while len(parts) < min(BRANCHES, len(members)):
            most = max(range(len(parts)), key=lambda i: len(parts[i]))
            parts[most : most + 1] = self._halves(parts[most])
        return parts

    def _halves(self, members: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        centres = self._centres[members]
        axis = int(np.argmax(centres.max(axis=0) * 0.5 - centres.min(axis=0) * 0.5))  # halved: no overflow
        ordered = members[np.argsort(centres[:, axis], kind="stable")]
        return np.array_split(ordered, 2)

    def __repr__(self) -> str:
        return f"HullTree({len(self.pieces)} pieces, {len(self.slots)} nodes, depth {self.depth})"


def _extent(hull: ConvexHull) -> float:
    low, high = hull.bounds * 0.25
    return float(np.abs(high - low).sum())


class PiecesBody(Record, constant=True):
    """A tree of hulls as the kernels see it."""

    child = int32[:]
    slots = int32[:]
    sizes = float64[:]
    hulls = address[:]
    """(8 N,) the convex bodies in the slots (see convex.hull.hull_handle)."""
    pieces = address[:]
    """(n,) and the pieces."""
    unit = float64
    """Not used: bounds have a unit of their own in every pose."""


pieces_body = PiecesBody.at


class PieceTreeHandle:
    """The record of a tree of hulls, and what must stay alive as long as its address is used."""

    __slots__ = ("_body", "_keep", "address", "room", "stack")

    def __init__(self, tree: HullTree) -> None:
        handles = [None if hull is None else hull_handle_of(hull) for hull in tree.hulls]
        pieces = [hull_handle_of(piece) for piece in tree.pieces]
        self._keep = handles, pieces
        self.room = max(len(hull.vertices) for hull in tree.hulls if hull is not None)
        # As in bvh.tree_handle: at most eight pairs a level, and half of what opening best first may leave.
        self.stack = WIDTH * (tree.depth + 1) + WIDTH * BEST_FIRST // 2
        self._body = PiecesBody(
            child=tree.child, slots=tree.slots, sizes=tree.sizes, unit=1.0,
            hulls=addresses([handle and handle.address for handle in handles]),
            pieces=addresses([handle.address for handle in pieces]),
        )  # fmt: skip
        self.address: Any = self._body.address


HANDLE = "hull tree handle"


def piece_tree_handle_of(body: ConvexPieces | ConvexHull) -> PieceTreeHandle:
    """The tree of a body, ready for kernels, made once; a hull is one piece."""
    if isinstance(body, ConvexHull):
        return body.memo(HANDLE, lambda hull: PieceTreeHandle(HullTree((hull,))))
    return body.memo(HANDLE, lambda pieces: PieceTreeHandle(HullTree(pieces.pieces)))
