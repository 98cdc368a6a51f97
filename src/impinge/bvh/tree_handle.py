"""Bounding volume hierarchies as kernels read them: the record of a tree, and its handle in Python."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from impinge.bvh.layout import AABB_ROWS, OBB_ROWS, SPHERE_ROWS, WIDTH, AABBNode, OBBNode, SphereNode
from impinge.bvh.workspace import BEST_FIRST
from impinge.kernels.record import Record, float32, float64, int32, int64, records

if TYPE_CHECKING:
    from impinge.bvh.tree import Tree


class Body(Record, constant=True):
    """What all trees have; ``bvh.tree`` describes the arrays.

    The classes below differ in their volumes, by which generic functions are chosen.
    """

    child = int32[:]
    slots = int32[:]
    corners = float32[:, 9, WIDTH]
    triangles = float64[:, 3, 3]
    order = int32[:]
    size = int64
    """How many triangles there are."""
    depth = int64
    origin = float64[3]
    unit = float64


class OBBBody(Body):
    """A tree of oriented boxes."""

    rows = float32[:, OBB_ROWS, WIDTH]
    nodes = records(OBBNode)[:]
    """The same."""


class AABBBody(Body):
    """A tree of axis-aligned boxes."""

    rows = float32[:, AABB_ROWS, WIDTH]
    nodes = records(AABBNode)[:]


class SphereBody(Body):
    """A tree of spheres."""

    rows = float32[:, SPHERE_ROWS, WIDTH]
    nodes = records(SphereNode)[:]


obb_body, aabb_body, sphere_body = OBBBody.at, AABBBody.at, SphereBody.at

_VOLUMES: dict[str, tuple[type[Body], str]] = {
    "OBBTree": (OBBBody, "impinge.bvh.volumes.obb_kernels"),
    "AABBTree": (AABBBody, "impinge.bvh.volumes.aabb_kernels"),
    "SphereTree": (SphereBody, "impinge.bvh.volumes.sphere_kernels"),
}
"""The record and the entry kernels of each kind of tree."""


class TreeHandle:
    """The record of a tree, its address and its kernels."""

    __slots__ = ("_body", "address", "kernels", "order", "stack", "triangles", "unit")

    def __init__(self, tree: Tree) -> None:
        if type(tree).__name__ not in _VOLUMES:
            raise ValueError(f"{type(tree).__name__} has no kernels: _VOLUMES in bvh/tree_handle.py does not name it")
        body, module = _VOLUMES[type(tree).__name__]
        self.kernels = import_module(module)
        self.order = tree.order
        self.unit = tree.unit
        self.triangles = len(tree.order)
        # A step takes one pair from the stack and puts at most eight there, once a level of either tree.
        # Added is half of what the steps that go best first may leave there.
        self.stack = WIDTH * (tree.depth + 1) + WIDTH * BEST_FIRST // 2
        nodes = np.frombuffer(tree.rows, body.fields["nodes"].element)  # a view takes four times as long
        self._body = body(
            rows=tree.rows, nodes=nodes, child=tree.child, slots=tree.slots, corners=tree.corners,
            triangles=tree.triangles, order=tree.order, size=self.triangles, depth=tree.depth,
            origin=tree.origin, unit=tree.unit,
        )  # fmt: skip
        self.address: Any = self._body.address
