# mypy: allow-untyped-defs, allow-incomplete-defs
"""Bounding volume hierarchies as kernels read them: the handle of a tree, and the records behind its address.

A kernel call costs 0.1 us for every array it is given, so a tree travels as the address of a
header with the addresses of its arrays, which the tree keeps alive.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba.core import config

from impinge.bvh.layout import WIDTH
from impinge.bvh.workspace import BEST_FIRST
from impinge.kernels.jit import inlined
from impinge.kernels.memory import address_of, table

if TYPE_CHECKING:
    from impinge.bvh.tree import Tree

# The columns of a body; the classes differ only in the kind of volume, by which generic functions are chosen.


class OBBBody(NamedTuple):
    """A tree of oriented boxes."""

    rows: Any
    child: Any
    slots: Any
    corners: Any
    triangles: Any
    order: Any
    size: int
    origin: Any
    unit: float


class AABBBody(NamedTuple):
    """A tree of axis-aligned boxes."""

    rows: Any
    child: Any
    slots: Any
    corners: Any
    triangles: Any
    order: Any
    size: int
    origin: Any
    unit: float


class SphereBody(NamedTuple):
    """A tree of spheres."""

    rows: Any
    child: Any
    slots: Any
    corners: Any
    triangles: Any
    order: Any
    size: int
    origin: Any
    unit: float


OBB_ROWS = 16
AABB_ROWS = 8
SPHERE_ROWS = 4

# The header: addresses of the arrays and of the frame, then sizes.
_FRAME_AT = 6
_NODES = 7
_TRIANGLES = 8
_HEADER = 9


_VOLUMES: dict[str, tuple[type, str]] = {
    "OBBTree": (OBBBody, "impinge.bvh.volumes.obb_kernels"),
    "AABBTree": (AABBBody, "impinge.bvh.volumes.aabb_kernels"),
    "SphereTree": (SphereBody, "impinge.bvh.volumes.sphere_kernels"),
}
"""The body and the entry kernels of each kind of tree."""


class TreeHandle:
    """The header of a tree, and what must stay alive as long as its address is used."""

    __slots__ = ("_header", "_keep", "address", "body", "kernels", "order", "stack", "triangles", "unit")

    def __init__(self, tree: Tree) -> None:
        body, module = _VOLUMES[type(tree).__name__]
        self.kernels = import_module(module)
        self.body = body
        self.order = tree.order
        self.unit = tree.unit
        self.triangles = len(tree.order)
        # A step takes one pair from the stack and puts at most eight there, once a level of either tree.
        # Added is half of what the steps that go best first may leave there.
        self.stack = WIDTH * (tree.depth + 1) + WIDTH * BEST_FIRST // 2
        arrays = (tree.rows, tree.child, tree.slots, tree.corners, tree.triangles, tree.order)
        if config.DISABLE_JIT:
            self.address: Any = body(*arrays, self.triangles, tree.origin, tree.unit)
            return
        frame = np.array([*tree.origin, tree.unit])
        self._keep = (*arrays, frame)
        sizes = [len(tree.slots), len(tree.order)]
        self._header = np.array([address_of(array) for array in self._keep] + sizes, dtype=np.int64)
        self.address = address_of(self._header)


if config.DISABLE_JIT:

    def obb_body(address: Any) -> Any:
        return address

    aabb_body = sphere_body = obb_body

else:
    _header = table(np.int64)
    _frame = table(np.float64)
    _numbers = table(np.int32)
    _corners = table(np.float32, 9, WIDTH)
    _triangles = table(np.float64, 3, 3)
    _obb_rows = table(np.float32, OBB_ROWS, WIDTH)
    _aabb_rows = table(np.float32, AABB_ROWS, WIDTH)
    _sphere_rows = table(np.float32, SPHERE_ROWS, WIDTH)

    @inlined
    def _columns(header):
        """What bodies have in common, after their rows."""
        nodes = header[_NODES]
        count = header[_TRIANGLES]
        frame = _frame(header[_FRAME_AT], 4)
        return (
            _numbers(header[1], nodes * WIDTH),
            _numbers(header[2], nodes),
            _corners(header[3], nodes),
            _triangles(header[4], count),
            _numbers(header[5], count),
            count,
            (frame[0], frame[1], frame[2]),
            frame[3],
        )

    @inlined
    def obb_body(address):
        header = _header(address, _HEADER)
        return OBBBody(_obb_rows(header[0], header[_NODES]), *_columns(header))

    @inlined
    def aabb_body(address):
        header = _header(address, _HEADER)
        return AABBBody(_aabb_rows(header[0], header[_NODES]), *_columns(header))

    @inlined
    def sphere_body(address):
        header = _header(address, _HEADER)
        return SphereBody(_sphere_rows(header[0], header[_NODES]), *_columns(header))
