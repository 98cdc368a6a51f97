"""``method="incremental"``: all questions answered by hierarchical sweep and prune over boxes that move along."""

from __future__ import annotations

from impinge.incremental.incremental_search import IncrementalSearch, handle_of
from impinge.mesh.mesh import Mesh
from impinge.queries.methods.bvh import TreeMethod


class IncrementalMethod(TreeMethod):
    """The questions about two meshes, for batches of poses (k, 4, 4); their trees tell what is inside of what."""

    def __init__(self, a: Mesh, b: Mesh, search: IncrementalSearch | None = None) -> None:
        super().__init__(a, b, search or IncrementalSearch(handle_of(a), handle_of(b)))
