"""All objects of a world as the kernels of the stages see them: poses, bounds, trees, hulls."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Bools, Floats
from impinge.broadphase.body_boxes.local_bounds import LocalBounds, PosedBounds, local_bounds
from impinge.convex.search import prepared
from impinge.kernels.record import Record, address, bool_, float64, int64, records
from impinge.world.objects import Objects, Shape
from impinge.world.stages.hull_triangles import hull_triangles

Numbers = NDArray[np.int64]

_TESTS_FOR_A_VERTEX = 200
"""Building a hull takes about as long as so many comparisons of volumes for each vertex (4 us, 20 ns)."""
NEVER = 1 << 62


class BodyRow(Record):
    """What kernels know of the body of an object."""

    local = records(LocalBounds)
    triangles = int64
    """How many there are, about."""
    shape = int64
    """Objects with the same body have the same."""
    convex = bool_
    solid = bool_
    in_one_piece = bool_
    has_triangles = bool_


class ObjectTable(Record):
    """A row for each object, but for what is kept of shapes."""

    poses = float64[:, 4, 4]
    first_pose = int64
    """Where the poses of the objects begin, among those of many configurations."""
    check_poses = bool_
    """Whether it is not known yet that they are rigid."""
    posed = records(PosedBounds)[:]
    bodies = records(BodyRow)[:]
    ids = int64[:]
    fixed = bool_[:]
    times = int64[:]
    """When each was moved last;"""
    since = int64
    """what was moved later is tested again."""
    trees = address[:]
    """Of their bodies, or 0 where there is none yet;"""
    hulls = address[:]
    """the same of hulls,"""
    hull_triangles = address[:]
    """and of the triangles on their features."""
    spent = int64[:]
    """For each shape: comparisons of volumes that a hull might have saved,"""
    hull_price = int64[:]
    """how many its hull is worth,"""
    hulls_wanted = int64
    """and whether that is exceeded for any."""


class ObjectTables:
    """The table of objects, with what must stay alive as long as kernels use it."""

    def __init__(self, hull_method: str | None) -> None:
        self._method = "gjk" if hull_method in (None, "auto") else hull_method
        self._hulls_at_once = hull_method not in (None, "auto")
        self._no_hulls = hull_method is None
        self.table = ObjectTable()
        self.shapes: list[Shape] = []
        self.spent = np.zeros(0, dtype=np.int64)
        """For each shape: comparisons of volumes that a hull might have saved."""
        self.has_hull: Bools = np.zeros(0, dtype=np.bool_)
        self.stack = 0
        """How large a stack the trees need, each."""
        self.hull_size = 0
        """Vertices of the largest hull."""

    def prepare(self, objects: Objects) -> None:
        """After objects came or went."""
        # Not the objects themselves: a query that is never asked again would keep bodies that came later alive.
        count = len(objects)
        spent = dict(zip(self.shapes, self.spent.tolist(), strict=True))
        had_hulls = {shape for shape, has in zip(self.shapes, self.has_hull.tolist(), strict=True) if has}
        self.shape_by_object: list[Shape] = objects.shapes.tolist()
        numbers = {shape: i for i, shape in enumerate(dict.fromkeys(self.shape_by_object))}
        self.shapes = list(numbers)
        self.shape_of: Numbers = np.array([numbers[shape] for shape in self.shape_by_object], dtype=np.int64)
        self.bodies: Any = np.zeros(len(self.shapes), dtype=BodyRow.dtype)
        for row, shape in zip(self.bodies, self.shapes, strict=True):
            local = local_bounds(shape.body)
            for name in LocalBounds.fields:
                row["local"][name] = getattr(local, name)
            row["triangles"], row["convex"], row["solid"] = shape.triangles, shape.is_convex, shape.solid
            row["in_one_piece"], row["has_triangles"] = shape.in_one_piece, shape.has_triangles
        self.bodies["shape"] = np.arange(len(self.shapes))
        self.posed: Any = np.zeros(count, dtype=PosedBounds.dtype)
        table = self.table
        table.posed, table.bodies = self.posed, self.bodies[self.shape_of]
        table.ids, table.fixed, table.times = objects.ids, objects.fixed, objects.moved
        self.place(objects.poses)
        self._tree_by_shape, self._lists_by_shape, self._hull_by_shape = (_addresses(self.shapes) for _ in range(3))
        table.trees, table.hulls, table.hull_triangles = (_addresses(self.shape_by_object) for _ in range(3))
        self.has_tree, self.has_hull, self.has_lists = np.zeros((3, len(self.shapes)), dtype=np.bool_)
        self.spent = np.array([spent.get(shape, 0) for shape in self.shapes], dtype=np.int64)
        prices = [NEVER if self._no_hulls else _TESTS_FOR_A_VERTEX * len(shape.body.vertices) for shape in self.shapes]
        table.spent, table.hull_price = self.spent, np.array(prices, dtype=np.int64)
        table.hulls_wanted = 0
        self.stack = self.hull_size = 0
        self.any_hull = self.all_have_trees = False
        self.all_have_triangles = all(shape.has_triangles for shape in self.shapes)
        at_once = self._hulls_at_once
        self.need_hulls([i for i, each in enumerate(self.shapes) if each.is_convex or at_once or each in had_hulls])

    def place(self, poses: Floats) -> None:
        """Objects are in these poses."""
        self.poses = poses
        self.table.poses = poses

    def need_hulls(self, shapes: list[int]) -> None:
        """Build hulls of these shapes."""
        for number in shapes:
            handle = prepared(self.shapes[number].hull, self._method)
            self._hull_by_shape[number] = handle.address
            self.hull_size = max(self.hull_size, handle.size)
            self.has_hull[number] = True
        if shapes:
            self.any_hull = True
            self.table.hulls = self._hull_by_shape[self.shape_of]

    def build_wanted_hulls(self) -> None:
        """Those that would have saved more than they cost."""
        self.table.hulls_wanted = 0
        wanted = (self.spent > self.table.hull_price) & ~self.has_hull
        self.need_hulls(np.flatnonzero(wanted).tolist())

    def need_trees(self, shapes: NDArray[np.int64]) -> None:
        """Build trees of these shapes, which have triangles."""
        if self.has_tree[shapes].all():
            return
        for number in shapes[~self.has_tree[shapes]].tolist():
            tree = self.shapes[number].tree
            self._tree_by_shape[number] = tree.address
            self.has_tree[number] = True
            self.stack = max(self.stack, tree.stack)
        self.all_have_trees = bool(self.has_tree.all())
        self.table.trees = self._tree_by_shape[self.shape_of]

    def need_hull_triangles(self, shapes: NDArray[np.int64]) -> None:
        """Find the triangles on the features of the hulls of these shapes."""
        if self.has_lists[shapes].all():
            return
        for number in shapes[~self.has_lists[shapes]].tolist():
            self._lists_by_shape[number] = hull_triangles(self.shapes[number].mesh).address
            self.has_lists[number] = True
        self.table.hull_triangles = self._lists_by_shape[self.shape_of]

    def note_cost(self, pairs: Numbers, tests: int) -> None:
        """So many comparisons of volumes for each of these pairs were spent, which their hulls might have saved."""
        np.add.at(self.spent, self.shape_of[pairs].ravel(), tests)
        self.table.hulls_wanted = int((self.spent > self.table.hull_price).any())


def _addresses(owners: list[Any]) -> Any:
    """An array for the addresses of so many; in plain Python of the things themselves."""
    return np.zeros(len(owners), dtype=address.dtype)
