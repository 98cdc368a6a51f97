"""A box hierarchy in a pose: the record that kernels read and write."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impinge.incremental.hierarchy.options import UPDATES
from impinge.incremental.hierarchy.reach import DIRECTIONS
from impinge.kernels.record import Record, float64, int32, int64

if TYPE_CHECKING:
    from impinge.incremental.hierarchy.box_hierarchy import BoxHierarchy

LOW, HIGH = 0, 1
"""The two corners of a box."""


class PosedHierarchy(Record):
    """The columns of a BoxHierarchy, and what its pose makes of them."""

    first = int32[:]
    count = int32[:]
    parent = int32[:]
    faces = int32[:]
    triangles = float64[:, 3, 3]
    piece_starts = int32[:]
    pieces = float64[:, 3]
    middles = float64[:, 3]
    radii = float64[:]
    spans = float64[:, DIRECTIONS]
    nodes = int64
    entries = int64
    face_count = int64
    radius = float64
    margin = float64
    update = int64
    """How boxes follow a rotation: a place in options.UPDATES."""

    pose = float64[3, 4]
    """The upper three rows; ``place`` goes by it."""
    boxes = float64[:, 2, 3]
    """(n + m) corners LOW and HIGH of items whose parent was opened."""
    world = float64[:, 3, 3]
    """(m) world coordinates of faces whose leaf was opened."""
    opened = int64[:]
    """(n) the frame in which the children of a node were last computed."""
    frame = int64
    """The number of this frame: what was computed in an earlier one is not valid."""
    outward = float64
    """Boxes are moved outward by so much."""
    blended = int64[3, 3]
    """For each axis of the world the numbers of three pre-computed directions,"""
    weights = float64[3, 3]
    """and the weights that make the row of the pose of them."""


def unposed(hierarchy: BoxHierarchy) -> PosedHierarchy:
    """The columns of a hierarchy, without memory for boxes."""
    columns = (name for name, field in PosedHierarchy.fields.items() if field.elsewhere)
    return PosedHierarchy(
        **{name: getattr(hierarchy, name) for name in columns if hasattr(hierarchy, name)},
        nodes=hierarchy.nodes,
        entries=hierarchy.entries,
        face_count=hierarchy.face_count,
        radius=hierarchy.radius,
        margin=hierarchy.margin,
        update=UPDATES.index(hierarchy.options.update),
    )


def posed_hierarchy(hierarchy: BoxHierarchy) -> PosedHierarchy:
    """A hierarchy with memory for its boxes, in no pose yet."""
    posed: PosedHierarchy = hierarchy.record.copy()
    posed.boxes = np.empty((posed.nodes + posed.entries, 2, 3))
    posed.world = np.empty((posed.entries, 3, 3))
    posed.opened = np.zeros(posed.nodes, dtype=np.int64)
    return posed
