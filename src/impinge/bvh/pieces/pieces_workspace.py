"""The mutable state of queries on convex pieces."""

from __future__ import annotations

import threading

from impinge.bvh import search as tree_search
from impinge.bvh.workspace import TraversalWorkspace
from impinge.convex import search as convex_search
from impinge.convex.workspace import ConvexWorkspace
from impinge.kernels.record import Record, address, addresses


class PiecesWorkspace(Record):
    """A workspace of the traversal, and one of GJK for pairs of hulls."""

    __slots__ = ("convex", "tree")

    workspaces = address[:]
    """Their addresses."""

    def __init__(self, tree: TraversalWorkspace, convex: ConvexWorkspace) -> None:
        super().__init__(workspaces=addresses([tree.address, convex.address]))
        self.tree = tree
        self.convex = convex


work_at = PiecesWorkspace.at


class _Own(threading.local):
    """One for each thread."""

    workspace: PiecesWorkspace | None = None


_own = _Own()


def own_workspace() -> PiecesWorkspace:
    """That of this thread, made of those that it has for trees and for hulls."""
    if _own.workspace is None:
        _own.workspace = PiecesWorkspace(tree_search.own_workspace(), convex_search.own_workspace())
    return _own.workspace


def coherent_workspace() -> PiecesWorkspace:
    """One that remembers the last pieces.  They are asked first: no front is kept, the smallest there is will do."""
    return PiecesWorkspace(TraversalWorkspace(front=1), ConvexWorkspace())
