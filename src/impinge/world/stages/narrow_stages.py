"""The narrow phase of many pairs at once: hulls, trees and nesting, the stages of the pipeline after the broad phase.

Kernels answer for all pairs in one call.  What is left to Python is done for all pairs of the same two
shapes together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba.core import config
from numpy.typing import NDArray

from impinge.arrays import Bools, Floats
from impinge.broadphase.body_boxes.box_axes import OUTWARD, UNDERFLOW
from impinge.bvh.contact_keys import decoded_contacts
from impinge.bvh.workspace import COHERENT, FOR_EVER, PAUSE, TraversalWorkspace
from impinge.convex.search import METHODS, prepared
from impinge.convex.workspace import FEATURES, ConvexWorkspace
from impinge.kernels.jit import address_of_kernel
from impinge.kernels.memory import address_of
from impinge.queries.contact_columns import NO_CONTACTS, common_points, constructed
from impinge.queries.method import ContactColumns, DistanceColumns
from impinge.queries.methods.bvh import BVH
from impinge.world.objects import Objects, Shape
from impinge.world.pair_slots import PairSlots
from impinge.world.stages.hull_triangles import hull_triangles

Numbers = NDArray[np.int64]

_LOW_AND_MINUS_HIGH = np.array([[1.0], [-1.0]])
"""One box holds another if all of these numbers of it are the smaller ones."""


@dataclass(frozen=True, eq=False)
class Asked:
    """Pairs to ask about."""

    pairs: Numbers
    """(k, 2) numbers of objects."""
    slots: Numbers
    """(k,) the row of each in the tables of what is kept."""
    clearances: Floats
    """(k,)"""

    def __len__(self) -> int:
        return len(self.pairs)

    def only(self, which: Bools | NDArray[np.intp]) -> Asked:
        return Asked(
            np.ascontiguousarray(self.pairs[which]), self.slots[which], np.ascontiguousarray(self.clearances[which])
        )


@dataclass(frozen=True, eq=False)
class Nearest:
    """Distances of many pairs."""

    values: Floats
    points: Floats
    """(k, 6)"""
    faces: NDArray[np.int32]
    """(k, 2)"""

    def put(self, where: NDArray[np.intp], other: Nearest) -> None:
        self.values[where], self.points[where], self.faces[where] = other.values, other.points, other.faces

    @classmethod
    def room_for(cls, count: int) -> Nearest:
        return cls(np.zeros(count), np.zeros((count, 6)), np.zeros((count, 2), dtype=np.int32))


class NarrowStages:
    """The stages for one question of one world, with the workspaces that they need."""

    def __init__(self, hull_method: str | None) -> None:
        self._hull_method = "gjk" if hull_method in (None, "auto") else hull_method
        self._only_convex = hull_method is None
        self._convex = ConvexWorkspace(coherent=True)
        self._trees = TraversalWorkspace()

    def prepare(self, objects: Objects) -> None:
        """After objects came or went."""
        # Not the objects themselves: a question that is never asked again would keep bodies that came later alive.
        self._poses = objects.poses
        self._shape_by_object: list[Shape] = objects.shapes.tolist()
        numbers = {shape: i for i, shape in enumerate(dict.fromkeys(self._shape_by_object))}
        self._shapes = list(numbers)
        self._shape_of: Numbers = np.array([numbers[shape] for shape in self._shape_by_object], dtype=np.int64)
        hulls = [prepared(shape.hull, self._hull_method) if self._needs_hull(shape) else None for shape in self._shapes]
        self._convex.need_room(max((hull.size for hull in hulls if hull), default=0))
        self._hull_addresses = _addresses([hull.address if hull else 0 for hull in hulls])[self._shape_of]
        self._tree_by_shape = _addresses([0] * len(self._shapes))
        self._has_tree = np.zeros(len(self._shapes), dtype=np.bool_)
        self._lists_by_shape = _addresses([0] * len(self._shapes))
        self._has_lists = np.zeros(len(self._shapes), dtype=np.bool_)
        self._stack = 0
        self._is_convex = self._of_objects([shape.is_convex for shape in self._shapes])
        self._is_solid = self._of_objects([shape.solid for shape in self._shapes])
        self._has_triangles = self._of_objects([shape.has_triangles for shape in self._shapes])
        self._in_one_piece = self._of_objects([shape.in_one_piece for shape in self._shapes])
        self._triangles = np.array([shape.triangles for shape in self._shapes], dtype=np.int64)[self._shape_of]

    def _needs_hull(self, shape: Shape) -> bool:
        return shape.is_convex or not self._only_convex

    def _of_objects(self, of_shapes: list[bool]) -> Bools:
        return np.array(of_shapes, dtype=np.bool_)[self._shape_of]

    def both_convex(self, pairs: Numbers) -> Bools:
        return _both(self._is_convex, pairs)

    def triangles(self, pairs: Numbers) -> Numbers:
        """(k,) how many the larger body of each pair has."""
        return np.maximum(self._triangles[pairs[:, 0]], self._triangles[pairs[:, 1]])

    def without_triangles(self, pairs: Numbers) -> Bools:
        """Pairs with a body of convex pieces, which trees know nothing of."""
        return ~_both(self._has_triangles, pairs)

    def bodies(self, pair: Numbers) -> tuple[Any, ...]:
        """Both bodies and their poses, for the verbs."""
        shapes, poses = self._shape_by_object, self._poses
        a, b = pair.tolist()
        return shapes[a].body, shapes[b].body, poses[a], poses[b]

    def ask_hulls(self, question: int, asked: Asked, kept: PairSlots) -> tuple[NDArray[np.int8], Nearest]:
        """Answers of ``world.stages.hull_stage``, and distances of convex bodies."""
        from impinge.convex.closest import closest
        from impinge.world.stages.hull_stage import hull_stage

        count = len(asked)
        answers = np.zeros(count, dtype=np.int8)
        nearest = Nearest.room_for(count)
        features = np.zeros((count, FEATURES), dtype=np.int32)
        self._convex.ask_single(question, METHODS[self._hull_method], ())
        self._convex.ready_for = None
        hull_stage(
            address_of_kernel(closest), self._convex.address, question, count, len(self._poses), kept.room,
            address_of(asked.pairs), address_of(asked.slots), address_of(self._hull_addresses),
            address_of(self._is_convex), address_of(self._poses), address_of(asked.clearances),
            address_of(kept.kept), address_of(kept.planes), address_of(answers), address_of(nearest.values),
            address_of(nearest.points), address_of(features),
        )  # fmt: skip
        nearest.faces[:] = features[:, [2, 5]]
        return answers, nearest

    def ask_trees(self, name: str, asked: Asked, kept: PairSlots) -> tuple[Numbers, Nearest]:
        """What the kernel of trees with this name answers for each pair; for ``distance`` also the distances."""
        from impinge.world.stages.tree_stage import ANSWERS, DISTANCES

        answers, nearest = np.zeros(len(asked), dtype=np.int64), Nearest.room_for(len(asked))
        wanted = DISTANCES if name == "distance" else ANSWERS
        self._begin_trees(asked)
        self._run_trees(name, wanted, 0, asked, kept, answers, nearest)
        return answers, nearest

    def ask_contacts(self, asked: Asked, kept: PairSlots) -> tuple[Numbers, Numbers]:
        """The keys of all contacts, pair after pair, and where those of each pair end."""
        from impinge.world.stages.tree_stage import CONTACTS

        ends = np.zeros(len(asked), dtype=np.int64)
        nearest = Nearest.room_for(0)
        keys: list[Numbers] = []
        done, before = 0, 0
        self._begin_trees(asked)
        while done < len(asked):
            first = done
            done = self._run_trees("contacts", CONTACTS, first, asked, kept, ends, nearest)
            ends[first:done] += before
            keys.append(self._trees.take_pairs())
            before += len(keys[-1])
        return np.concatenate([np.empty(0, dtype=np.int64), *keys]), ends

    def ask_features(self, asked: Asked, kept: PairSlots) -> NDArray[np.int8]:
        """What kinds of features pairs of hulls overlap with (``stages.red_stage``), after a walk over features."""
        from impinge.world.stages.red_stage import red_stage

        answers = np.zeros(len(asked), dtype=np.int8)
        self._need_trees(asked)
        used = np.unique(self._shape_of[asked.pairs])
        if not self._has_lists[used].all():
            for number in used[~self._has_lists[used]].tolist():
                self._lists_by_shape[number] = hull_triangles(self._shapes[number].mesh).address
                self._has_lists[number] = True
            self._list_addresses = self._lists_by_shape[self._shape_of]
        red_stage(
            len(asked), len(self._poses), kept.room, address_of(asked.pairs), address_of(asked.slots),
            address_of(self._list_addresses), address_of(self._tree_addresses), address_of(self._poses),
            address_of(kept.kept), address_of(kept.witnesses), address_of(answers),
        )  # fmt: skip
        return answers

    def _begin_trees(self, asked: Asked) -> None:
        self._need_trees(asked)
        self._trees.begin(2 * self._stack)
        self._trees.ask_single()
        # Witnesses are ours, pair by pair; fronts are not kept.
        self._trees.counters[COHERENT] = 1
        self._trees.counters[PAUSE] = FOR_EVER

    def _need_trees(self, asked: Asked) -> None:
        """Trees are built for bodies that need them."""
        used = np.unique(self._shape_of[asked.pairs])
        if not self._has_tree[used].all():
            for number in used[~self._has_tree[used]].tolist():
                tree = self._shapes[number].tree
                self._tree_by_shape[number] = tree.address
                self._has_tree[number] = True
                self._stack = max(self._stack, tree.stack)
            self._tree_addresses = self._tree_by_shape[self._shape_of]

    def _run_trees(
        self, name: str, wanted: int, first: int, asked: Asked, kept: PairSlots, answers: Numbers, nearest: Nearest
    ) -> int:
        from impinge.bvh.volumes import obb_kernels
        from impinge.world.stages.tree_stage import tree_stage

        return int(
            tree_stage(
                address_of_kernel(getattr(obb_kernels, name)), wanted, self._trees.address, first, len(asked),
                len(self._poses), kept.room, address_of(asked.pairs), address_of(asked.slots),
                address_of(self._tree_addresses), address_of(self._poses), address_of(asked.clearances),
                address_of(kept.witnesses), address_of(answers), address_of(nearest.values),
                address_of(nearest.points), address_of(nearest.faces),
            )
        )  # fmt: skip

    def tests(self) -> tuple[int, int]:
        """Comparisons of volumes and of triangles in the last question to trees."""
        return self._trees.tests()

    def maybe_nested(self, pairs: Numbers, boxes: Floats) -> Bools:
        """Whether one object might be inside the other, a solid, given the boxes (n, 2, 3) of objects.

        A body of several pieces might have one of them there.

        The box of what is inside may stick out, where it was moved outward (``body_boxes.tight_boxes``): by less than
        OUTWARD M + 2 UNDERFLOW, where M is radius + max|t|.  The radius is at most sqrt(3) (max|box| + max|t|), so M
        is less than 2.8 (max|box| + max|t|); with 4 there is room for the rounding of the sums.  The largest ones of
        all objects are taken, which lets a few more pairs through.
        """
        may = np.zeros(len(pairs), dtype=np.bool_)
        if not len(pairs):
            return may
        size = float(np.abs(boxes).max()) + float(np.abs(self._poses[:, :3, 3]).max())  # nothing is said of underflow
        sticks_out = 4.0 * (OUTWARD * size + UNDERFLOW)
        ends = (boxes * _LOW_AND_MINUS_HIGH).reshape(-1, 6)
        for inner, outer in (pairs.T, pairs.T[::-1]):
            within = (ends[outer] <= ends[inner] + sticks_out).all(axis=1)
            may |= self._is_solid[outer] & (within | ~self._in_one_piece[inner])
        return may

    def nested(self, asked: Asked) -> Bools:
        """Whether some of one object is inside the other, where their surfaces are apart."""
        found = np.zeros(len(asked), dtype=np.bool_)
        for where, poses_a, poses_b, method in self._by_shapes(asked):
            apart = np.ones(len(where), dtype=np.bool_)
            for _, _, inside in method.nested(poses_a, poses_b, apart):
                found[where] |= inside.any(axis=1)
        return found

    def built_contacts(self, asked: Asked, keys: Numbers, ends: Numbers) -> ContactColumns:
        """(pair, face of a, face of b, kind) of contacts from ``ask_contacts``, sorted; segments and normals."""
        starts = np.concatenate([[0], ends[:-1]])
        parts = [NO_CONTACTS]
        meeting = np.flatnonzero(ends > starts)
        for which, poses_a, poses_b, method in self._by_shapes(asked.only(meeting)):
            where = meeting[which]
            counts = ends[where] - starts[where]
            pair = np.repeat(np.arange(len(where)), counts)
            places = np.arange(len(pair)) + np.repeat(starts[where] - (np.cumsum(counts) - counts), counts)
            found = keys[places]
            order = np.lexsort((found, pair))
            columns = decoded_contacts(found[order], len(method.a.faces), len(method.b.faces))
            columns[:, 0] = pair[order]
            built = constructed(method.a, method.b, poses_a, poses_b, columns)
            built.pairs[:, 0] = where[built.pairs[:, 0]]
            parts.append(built)
        pairs, segments, normals = map(np.concatenate, zip(*parts, strict=True))
        order = np.argsort(pairs[:, 0], kind="stable")
        return ContactColumns(pairs[order], segments[order], normals[order])

    def put_common_points(self, asked: Asked, nearest: Nearest, meeting: NDArray[np.intp]) -> None:
        """Where the distance is zero the search has found two faces, but no point."""
        for which, poses_a, poses_b, method in self._by_shapes(asked.only(meeting)):
            where, which = meeting[which], np.arange(len(which))
            points = common_points(method.a, method.b, poses_a, poses_b, which, nearest.faces[where])
            nearest.points[where] = np.tile(points, 2)

    def put_nested(self, asked: Asked, nearest: Nearest, maybe: NDArray[np.intp]) -> None:
        """Distances where one object may be inside the other."""
        for which, poses_a, poses_b, method in self._by_shapes(asked.only(maybe)):
            where = maybe[which]
            known = DistanceColumns(
                nearest.values[where], nearest.points[where].reshape(-1, 2, 3), nearest.faces[where]
            )
            method.put_nested(poses_a, poses_b, known)
            nearest.put(where, Nearest(known.values, known.points.reshape(-1, 6), known.faces))

    def _by_shapes(self, asked: Asked) -> Iterator[tuple[NDArray[np.intp], Floats, Floats, BVH]]:
        """The pairs of each two shapes: which, their poses, and the method."""
        shapes, poses = self._shape_by_object, self._poses
        kinds = self._shape_of[asked.pairs]
        _, which = np.unique(kinds[:, 0] * len(self._shapes) + kinds[:, 1], return_inverse=True)
        order = np.argsort(which, kind="stable")
        for where in np.split(order, np.flatnonzero(np.diff(which[order])) + 1) if len(order) else ():
            a, b = (shapes[k] for k in asked.pairs[where[0]].tolist())
            pose_a, pose_b = (np.ascontiguousarray(poses[asked.pairs[where, side]]) for side in (0, 1))
            yield where, pose_a, pose_b, BVH(a.mesh, b.mesh)


def _both(flags: Bools, pairs: Numbers) -> Bools:
    """Whether both objects of each pair have a flag.  (A reduction over an axis of two takes five times as long.)"""
    return np.asarray(flags[pairs[:, 0]] & flags[pairs[:, 1]])


def _addresses(found: list[Any]) -> Any:
    """An array of addresses; of the objects themselves in plain Python."""
    array = np.empty(len(found), dtype=object if config.DISABLE_JIT else np.int64)
    for place, address in enumerate(found):
        array[place] = address
    return array
