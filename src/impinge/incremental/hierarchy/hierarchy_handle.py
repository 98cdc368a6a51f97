# mypy: allow-untyped-defs, allow-incomplete-defs
"""Box hierarchies as kernels read them: the handle of a hierarchy, and the record behind its address."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.core import config

from impinge.incremental.hierarchy.box_hierarchy import BoxHierarchy
from impinge.incremental.hierarchy.options import UPDATES
from impinge.incremental.hierarchy.reach import DIRECTIONS
from impinge.kernels.jit import inlined
from impinge.kernels.memory import address_of, table


class BoxBody(NamedTuple):
    """The columns of BoxHierarchy."""

    first: Any
    count: Any
    parent: Any
    faces: Any
    triangles: Any
    piece_starts: Any
    pieces: Any
    spheres: Any
    spans: Any
    nodes: Any
    entries: Any
    face_count: Any
    update: Any
    """How boxes follow a rotation: a place in hierarchy.UPDATES."""
    radius: Any
    margin: Any


_ARRAYS = BoxBody._fields.index("nodes")
_SIZES_AT = _ARRAYS
_NUMBERS_AT = _SIZES_AT + 6
_HEADER = _NUMBERS_AT + 1


class HierarchyHandle:
    """The header of a hierarchy, and what must stay alive as long as its address is used."""

    __slots__ = ("_header", "_keep", "address", "entries", "face_count", "hierarchy", "nodes", "widest")

    def __init__(self, hierarchy: BoxHierarchy) -> None:
        self.hierarchy = hierarchy
        self.nodes, self.entries = len(hierarchy.first), len(hierarchy.faces)
        self.face_count = hierarchy.face_count
        self.widest = int(hierarchy.count.max())
        """The largest number of children."""
        arrays = tuple(np.ascontiguousarray(getattr(hierarchy, name)) for name in BoxBody._fields[:_ARRAYS])
        sizes = (self.nodes, self.entries, self.face_count, UPDATES.index(hierarchy.options.update))
        if config.DISABLE_JIT:
            self.address: Any = BoxBody._make((*arrays, *sizes, hierarchy.radius, hierarchy.margin))
            return
        numbers = np.array([hierarchy.radius, hierarchy.margin])
        self._keep = (*arrays, numbers)
        header = [*map(address_of, arrays), *sizes, len(hierarchy.pieces), len(hierarchy.spans), address_of(numbers)]
        self._header = np.array(header, dtype=np.int64)
        self.address = address_of(self._header)


if config.DISABLE_JIT:

    def box_body(address: Any) -> Any:
        """The arrays of a hierarchy."""
        return address

else:
    _addresses = table(np.int64)
    _integers = table(np.int32)
    _triangles = table(np.float64, 3, 3)
    _points = table(np.float64, 3)
    _spheres = table(np.float64, 4)
    _spans = table(np.float64, DIRECTIONS)
    _numbers = table(np.float64)

    @inlined
    def box_body(address):
        """The tables of a hierarchy."""
        header = _addresses(address, _HEADER)
        nodes, entries = header[_SIZES_AT], header[_SIZES_AT + 1]
        numbers = _numbers(header[_NUMBERS_AT], 2)
        return BoxBody(
            _integers(header[0], nodes),
            _integers(header[1], nodes),
            _integers(header[2], nodes + entries),
            _integers(header[3], entries),
            _triangles(header[4], entries),
            _integers(header[5], entries + 1),
            _points(header[6], header[_SIZES_AT + 4]),
            _spheres(header[7], nodes),
            _spans(header[8], header[_SIZES_AT + 5]),
            nodes,
            entries,
            header[_SIZES_AT + 2],
            header[_SIZES_AT + 3],
            numbers[0],
            numbers[1],
        )
