"""A tree as the kernels see it.

A kernel call costs 0.1 us for every array it is given, so a tree travels as the address of a
header with the addresses of its arrays, which the tree keeps alive.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba.core import config

from impinge.jit import address_of, array_from, inlined
from impinge.trees.layout import WIDTH
from impinge.trees.work import BEST_FIRST

if TYPE_CHECKING:
    from impinge.trees.tree import Tree

# The columns of a body; the classes differ only in the kind of volume, by which generic functions are chosen.


class OBBBody(NamedTuple):
    """A tree of oriented boxes."""

    rows: Any
    child: Any
    slots: Any
    corners: Any
    triangles: Any
    order: Any
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
    origin: Any
    unit: float


OBB_ROWS = 16
AABB_ROWS = 8
SPHERE_ROWS = 4

_ARRAYS = 6
_NODES = 6
_TRIANGLES = 7
_FRAME = 8
_HEADER = 12


_VOLUMES: dict[str, tuple[type, str]] = {
    "OBBTree": (OBBBody, "impinge.trees.obb_kernels"),
    "AABBTree": (AABBBody, "impinge.trees.aabb_kernels"),
    "SphereTree": (SphereBody, "impinge.trees.sphere_kernels"),
}
"""The body and the entry kernels of each kind of tree."""


class Handle:
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
        self._keep = arrays
        if config.DISABLE_JIT:
            self.address: Any = body(*arrays, tree.origin, tree.unit)
            return
        self._header = np.empty(_HEADER, dtype=np.int64)
        self._header[:_ARRAYS] = [address_of(array) for array in arrays]
        self._header[_NODES] = len(tree.slots)
        self._header[_TRIANGLES] = len(tree.order)
        self._header[_FRAME:].view(np.float64)[:] = [*tree.origin, tree.unit]
        self.address = address_of(self._header)


if config.DISABLE_JIT:

    def obb_body(address: Any) -> Any:
        return address

    aabb_body = sphere_body = obb_body

else:

    @inlined
    def _columns(address, row_count):
        header = array_from(address, (_HEADER,), np.int64)
        nodes = header[_NODES]
        count = header[_TRIANGLES]
        frame = array_from(address + 8 * _FRAME, (4,), np.float64)
        return (
            array_from(header[0], (nodes, row_count, WIDTH), np.float32),
            array_from(header[1], (nodes * WIDTH,), np.int32),
            array_from(header[2], (nodes,), np.int32),
            array_from(header[3], (nodes, 9, WIDTH), np.float32),
            array_from(header[4], (count, 3, 3), np.float64),
            array_from(header[5], (count,), np.int32),
            frame[:3],
            frame[3],
        )

    @inlined
    def obb_body(address):
        return OBBBody(*_columns(address, OBB_ROWS))

    @inlined
    def aabb_body(address):
        return AABBBody(*_columns(address, AABB_ROWS))

    @inlined
    def sphere_body(address):
        return SphereBody(*_columns(address, SPHERE_ROWS))
