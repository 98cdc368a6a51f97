# mypy: allow-untyped-defs, allow-incomplete-defs
"""World boxes of a posed box hierarchy, updated in three ways that are all conservative.

Ponamgi, Manocha and Lin (1995), 4.5.

- ``exact``: the smallest and largest coordinates of all posed faces, and from there up to the root.  Every box fits.
- ``rotating``: boxes that hold their faces in every orientation; only their middle is posed.
- ``interpolated``: from how far the faces reach in pre-computed directions.

The second and third way need no face, so boxes are computed when a node is opened, and what is far from all
contacts costs nothing.  ``hierarchy.reach`` has the derivations.  In all three a face has the box of its posed
vertices, bit for bit (a trimmed one that of its piece, moved outward): posing three vertices takes some 20 ns, and
boxes for every orientation would be several times as large.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from impinge.arrays import Floats
from impinge.geometry.pose import as_pose
from impinge.geometry.posing import posed_along
from impinge.incremental.hierarchy.box_hierarchy import BoxHierarchy
from impinge.incremental.hierarchy.options import UPDATES
from impinge.incremental.hierarchy.posed_hierarchy import HIGH, LOW, PosedHierarchy, posed_hierarchy
from impinge.incremental.hierarchy.reach import NOWHERE, OPPOSITE, STEPS
from impinge.kernels.jit import inlined, inner, kernel

_EXACT, _ROTATING, _ = range(len(UPDATES))

_UNDERFLOW = 2.0**-1000
"""More than what products that underflow can lose."""

_X, _Y, _Z, _SHIFT = range(4)
"""Columns of a pose."""

_step_x, _step_y, _step_z = STEPS

hierarchy_at = PosedHierarchy.at


# ------------------------------------------------------------------------ one box


@inner
def _blend(hierarchy, axis):
    """Find the three pre-computed directions and the weights that make a row of the pose of them."""
    row = hierarchy.pose[axis]
    size_i, size_j, size_k = abs(row[_X]), abs(row[_Y]), abs(row[_Z])
    step_i = _step_x if row[_X] > 0.0 else -_step_x
    step_j = _step_y if row[_Y] > 0.0 else -_step_y
    step_k = _step_z if row[_Z] > 0.0 else -_step_z
    if size_i < size_j:
        size_i, size_j, step_i, step_j = size_j, size_i, step_j, step_i
    if size_j < size_k:
        size_j, size_k, step_j, step_k = size_k, size_j, step_k, step_j
    if size_i < size_j:
        size_i, size_j, step_i, step_j = size_j, size_i, step_j, step_i
    hierarchy.blended[axis, 0] = NOWHERE + step_i
    hierarchy.blended[axis, 1] = NOWHERE + step_i + step_j
    hierarchy.blended[axis, 2] = NOWHERE + step_i + step_j + step_k
    hierarchy.weights[axis, 0] = size_i - size_j
    hierarchy.weights[axis, 1] = size_j - size_k
    hierarchy.weights[axis, 2] = size_k


@inner
def _interpolated_box(hierarchy, node):
    spans, outward = hierarchy.spans, hierarchy.outward
    for k in range(3):
        blended, weights = hierarchy.blended[k], hierarchy.weights[k]
        one, two, three = blended[0], blended[1], blended[2]
        u, v, w = weights[0], weights[1], weights[2]
        shift = hierarchy.pose[k, _SHIFT]
        high = u * spans[node, one] + v * spans[node, two] + w * spans[node, three]
        low = u * spans[node, OPPOSITE - one] + v * spans[node, OPPOSITE - two] + w * spans[node, OPPOSITE - three]
        hierarchy.boxes[node, LOW, k] = (shift - low) - outward
        hierarchy.boxes[node, HIGH, k] = (shift + high) + outward


@inner
def _rotating_box(hierarchy, node):
    middles = hierarchy.middles
    half = hierarchy.radii[node] + hierarchy.outward
    for k in range(3):
        middle = posed_along(hierarchy.pose[k], middles[node, 0], middles[node, 1], middles[node, 2])
        hierarchy.boxes[node, LOW, k] = middle - half
        hierarchy.boxes[node, HIGH, k] = middle + half


@inner
def _node_box(hierarchy, node):
    if hierarchy.update == _ROTATING:
        _rotating_box(hierarchy, node)
    else:
        _interpolated_box(hierarchy, node)


@inner
def _piece_box(hierarchy, entry):
    pieces = hierarchy.pieces
    item = hierarchy.nodes + entry
    for k in range(3):
        low, high = np.inf, -np.inf
        for i in range(hierarchy.piece_starts[entry], hierarchy.piece_starts[entry + 1]):
            x = posed_along(hierarchy.pose[k], pieces[i, 0], pieces[i, 1], pieces[i, 2])
            low = min(low, x)
            high = max(high, x)
        hierarchy.boxes[item, LOW, k] = low - hierarchy.outward
        hierarchy.boxes[item, HIGH, k] = high + hierarchy.outward


@inlined
def _posed_corner(hierarchy, entry, corner, k):
    """A world coordinate of a corner of a face."""
    triangles = hierarchy.triangles
    x, y, z = triangles[entry, corner, 0], triangles[entry, corner, 1], triangles[entry, corner, 2]
    return posed_along(hierarchy.pose[k], x, y, z)


@inner
def _pose_entry(hierarchy, entry):
    """World coordinates of a face, and its box."""
    item = hierarchy.nodes + entry
    for k in range(3):
        p = _posed_corner(hierarchy, entry, 0, k)
        q = _posed_corner(hierarchy, entry, 1, k)
        r = _posed_corner(hierarchy, entry, 2, k)
        hierarchy.world[entry, 0, k] = p
        hierarchy.world[entry, 1, k] = q
        hierarchy.world[entry, 2, k] = r
        hierarchy.boxes[item, LOW, k] = min(p, q, r)
        hierarchy.boxes[item, HIGH, k] = max(p, q, r)
    if hierarchy.piece_starts[entry] < hierarchy.piece_starts[entry + 1]:
        _piece_box(hierarchy, entry)


@inner
def posed_face(hierarchy, entry):
    """World coordinates of the face of an entry, as a tuple of points, whether its leaf was opened or not."""
    return (
        _posed_point(hierarchy, entry, 0),
        _posed_point(hierarchy, entry, 1),
        _posed_point(hierarchy, entry, 2),
    )


@inlined
def _posed_point(hierarchy, entry, corner):
    return (
        _posed_corner(hierarchy, entry, corner, 0),
        _posed_corner(hierarchy, entry, corner, 1),
        _posed_corner(hierarchy, entry, corner, 2),
    )


# ------------------------------------------------------------------- a whole hierarchy


@inlined
def is_leaf(hierarchy, node):
    return hierarchy.first[node] >= hierarchy.nodes


@inner
def open_node(hierarchy, node):
    """Compute the boxes of the children of a node, unless that was done in this frame."""
    if hierarchy.opened[node] == hierarchy.frame:
        return
    hierarchy.opened[node] = hierarchy.frame
    nodes = hierarchy.nodes
    first = np.int64(hierarchy.first[node])
    for item in range(first, first + hierarchy.count[node]):
        if item < nodes:
            _node_box(hierarchy, item)
        else:
            _pose_entry(hierarchy, item - nodes)


@inner
def _box_around_children(hierarchy, node):
    boxes = hierarchy.boxes
    first = np.int64(hierarchy.first[node])
    for k in range(3):
        low, high = np.inf, -np.inf
        for item in range(first, first + hierarchy.count[node]):
            low = min(low, boxes[item, LOW, k])
            high = max(high, boxes[item, HIGH, k])
        boxes[node, LOW, k] = low
        boxes[node, HIGH, k] = high


@inner
def take_pose(hierarchy, poses, i):
    """Move a hierarchy to a row of a table of poses; its boxes are those of the pose before until it is placed."""
    for k in range(3):
        for column in range(4):
            hierarchy.pose[k, column] = poses[i, k, column]


@inner
def place(hierarchy, frame):
    """Begin a frame: the root has a box, and any node may be opened."""
    pose = hierarchy.pose
    size = hierarchy.radius + max(abs(pose[0, _SHIFT]), abs(pose[1, _SHIFT]), abs(pose[2, _SHIFT]))
    hierarchy.outward = hierarchy.margin * size + _UNDERFLOW
    hierarchy.frame = frame
    for axis in range(3):
        _blend(hierarchy, axis)
    if hierarchy.update != _EXACT:
        _node_box(hierarchy, 0)
        return
    for entry in range(hierarchy.entries):
        _pose_entry(hierarchy, entry)
    for node in range(hierarchy.nodes - 1, -1, -1):
        _box_around_children(hierarchy, node)
        hierarchy.opened[node] = frame


# ------------------------------------------------------------------ Python interface


@kernel
def boxes_of_all_items(hierarchy):
    """Fill the boxes of all items for the pose of a hierarchy; returns their number."""
    hierarchy = hierarchy_at(hierarchy)
    place(hierarchy, 1)
    for node in range(hierarchy.nodes):
        open_node(hierarchy, node)
    return hierarchy.nodes + hierarchy.entries


def world_boxes(hierarchy: BoxHierarchy, pose: ArrayLike | None = None) -> Floats:
    """(n + m, 2, 3) the boxes of all nodes and entries of a hierarchy in a pose."""
    posed = posed_hierarchy(hierarchy)
    posed.pose = as_pose(pose)[:3]
    boxes_of_all_items(posed.address)
    boxes: Floats = posed.boxes
    return boxes
