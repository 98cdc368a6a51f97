"""The narrow phase of all open pairs: hulls, features of hulls and trees, each stage one kernel, in parts."""

from __future__ import annotations

from enum import Enum

import numpy as np
from numpy.typing import NDArray

from impinge.bvh.workspace import AT_ONCE, FOR_EVER, TraversalWorkspace
from impinge.convex.search import METHODS
from impinge.convex.workspace import CLOSER_THAN, DISTANCE, ConvexWorkspace
from impinge.kernels.interruptible import in_parts, stop_if_abandoned
from impinge.kernels.jit import address_of_kernel
from impinge.world.pair_cache import PairCache
from impinge.world.stages.hull_stage import HullStage
from impinge.world.stages.object_table import ObjectTables
from impinge.world.stages.pair_table import OPEN
from impinge.world.stages.red_stage import RedStage
from impinge.world.stages.tree_stage import CONTACTS, DISTANCES, PAUSED, YES_OR_NO, TreeStage

Numbers = NDArray[np.int64]

_FIRST_PAIRS = 1 << 12
"""To begin with: a pair takes some microseconds at most, but where trees stop by a budget."""


class Query(Enum):
    """What ``World.detect`` finds, by the names of the verbs."""

    COLLIDES = "collides"
    CONTACTS = "contacts"
    DISTANCE = "distance"
    CLOSER_THAN = "closer_than"


class NarrowPhase:
    """The stages for one query of one world, with the workspaces that they need."""

    def __init__(self, query: Query, hull_method: str | None, objects: ObjectTables, pairs: PairCache) -> None:
        self._query = query
        self._method = METHODS["gjk" if hull_method in (None, "auto") else str(hull_method)]
        self._objects = objects
        self._pairs = pairs
        choose = hull_method == "auto" and query is not Query.DISTANCE
        is_distance, has_contacts = query is Query.DISTANCE, query is Query.CONTACTS
        self.walks = hull_method in ("vclip", "lin-canny") and query in (Query.COLLIDES, Query.CLOSER_THAN)
        """Whether features of hulls are compared."""
        self.hulls = HullStage(
            query=DISTANCE if is_distance else CLOSER_THAN, choose=choose, contacts=has_contacts,
        )  # fmt: skip
        self.features = RedStage()
        self.trees = TreeStage(
            wanted=CONTACTS if has_contacts else DISTANCES if is_distance else YES_OR_NO, choose=choose
        )
        self._convex: ConvexWorkspace | None = None
        self._traversal: TraversalWorkspace | None = None

    def begin(self) -> None:
        """Get ready for a frame: nothing has been compared in it."""
        hulls, trees = self.hulls, self.trees
        hulls.compared = hulls.apart = hulls.by_kept_planes = hulls.by_verbs = hulls.met = 0
        trees.compared = trees.maybe_nested = trees.no_points = trees.met = 0
        self.features.counts = 0
        self.box_tests = self.triangle_tests = 0

    def need_hulls(self) -> bool:
        """Get ready to compare hulls; False where there is none, and nothing but meshes."""
        objects = self._objects
        if not objects.any_hull and objects.all_have_triangles:
            return False
        work = self._convex
        if work is None:
            from impinge.convex.closest import closest

            work = self._convex = ConvexWorkspace(coherent=True)
            work.ask_single(self.hulls.query, self._method, ())
            work.ready_for = None
            self.hulls.work, self.hulls.closest = work.address, address_of_kernel(closest)
        work.need_room(objects.hull_size)
        return True

    def compare_hulls(self) -> None:
        """Settle pairs whose hulls can tell."""
        if not self.need_hulls():
            return
        from impinge.world.stages.hull_stage import hull_stage

        for part in in_parts(len(self._pairs), _FIRST_PAIRS):
            self.hulls.first, self.hulls.end = part.start, part.stop
            hull_stage(self._objects.table.address, self._pairs.table.address, self.hulls.address)

    def compare_features(self) -> None:
        """Settle pairs whose features of hulls tell that they meet."""
        from impinge.world.stages.red_stage import red_stage

        shapes = self.open_shapes()
        if len(shapes) == 0:
            return
        self._objects.need_trees(shapes)
        self._objects.need_hull_triangles(shapes)
        for part in in_parts(len(self._pairs), _FIRST_PAIRS):
            self.features.first, self.features.end = part.start, part.stop
            red_stage(self._objects.table.address, self._pairs.table.address, self.features.address)

    def open_shapes(self) -> Numbers:
        """The shapes of all pairs that are open."""
        pairs = self._pairs
        return np.unique(self._objects.shape_of[pairs.objects[pairs.states == OPEN]])

    def need_workspace(self) -> TraversalWorkspace:
        """Get ready to search trees."""
        work = self._traversal
        if work is None:
            from impinge.bvh.volumes import obb_kernels

            work = self._traversal = TraversalWorkspace()
            self.trees.query = address_of_kernel(getattr(obb_kernels, self._query.value))
        work.begin(2 * self._objects.stack)
        if not work.coherent:
            # Witnesses are ours, pair by pair; fronts are not kept.
            work.coherent = True
            work.pause = FOR_EVER
        work.allow(AT_ONCE)
        self.trees.work = work.address
        return work

    def search_trees(self) -> list[Numbers]:
        """Settle all open pairs, but for what solids hold; for contacts, their keys."""
        from impinge.world.stages.tree_stage import tree_stage

        if not self._objects.all_have_trees:
            self._objects.need_trees(self.open_shapes())
        work, trees = self.need_workspace(), self.trees
        addresses = self._objects.table.address, self._pairs.table.address, trees.address
        keys: list[Numbers] = []
        if self._query is Query.CONTACTS:
            trees.ends = np.zeros(len(self._pairs), dtype=np.int64)
            trees.taken = 0
        for part in in_parts(len(self._pairs), _FIRST_PAIRS):
            trees.first, trees.end = part.start, part.stop
            while tree_stage(*addresses) == PAUSED:
                stop_if_abandoned()
                work.allow(AT_ONCE)
                if self._query is Query.CONTACTS:
                    keys.append(work.take_pairs())
                    trees.taken += len(keys[-1])
        if self._query is Query.CONTACTS:
            keys.append(work.take_pairs())
        self.box_tests, self.triangle_tests = work.tests()
        return keys
