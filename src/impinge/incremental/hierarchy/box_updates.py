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

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from impinge.arrays import Floats
from impinge.convex.distance.support import pose_of
from impinge.geometry.pose import as_pose
from impinge.geometry.posing import posed_along
from impinge.incremental.hierarchy.hierarchy_handle import HierarchyHandle, box_body
from impinge.incremental.hierarchy.options import UPDATES
from impinge.kernels.jit import inlined, inner, kernel
from impinge.kernels.memory import address_of, table

_EXACT, _ROTATING, _ = range(len(UPDATES))

_UNDERFLOW = 2.0**-1000
"""More than what products that underflow can lose."""

box_rows = table(np.float64, 6)
"""Low corner, then high corner."""
posed_triangles = table(np.float64, 3, 3)
stamps = table(np.int64)
pose_table = table(np.float64, 4, 4)


class Posed(NamedTuple):
    """A hierarchy in a pose."""

    body: Any
    boxes: Any
    """(n + m, 6) of items whose parent was opened."""
    triangles: Any
    """(m, 3, 3) world coordinates of the faces."""
    opened: Any
    """(n,) the frame in which the children of a node were last computed."""
    pose: Any
    blend: Any
    """For each axis of the world the numbers of three directions and their weights."""
    outward: float
    frame: int


# ------------------------------------------------------------------------ one box


@inner
def _blend_of_row(x, y, z):
    """The numbers of three pre-computed directions and the weights that make (x, y, z) of them."""
    size_i, size_j, size_k = abs(x), abs(y), abs(z)
    step_i, step_j, step_k = (9 if x > 0.0 else -9), (3 if y > 0.0 else -3), (1 if z > 0.0 else -1)
    if size_i < size_j:
        size_i, size_j, step_i, step_j = size_j, size_i, step_j, step_i
    if size_j < size_k:
        size_j, size_k, step_j, step_k = size_k, size_j, step_k, step_j
    if size_i < size_j:
        size_i, size_j, step_i, step_j = size_j, size_i, step_j, step_i
    one = 13 + step_i
    two = one + step_j
    return one, two, two + step_k, size_i - size_j, size_j - size_k, size_k


@inner
def _interpolated_box(posed, node):
    spans = posed.body.spans
    for k in range(3):
        one, two, three, u, v, w = posed.blend[k]
        shift = posed.pose[k][3]
        high = u * spans[node, one] + v * spans[node, two] + w * spans[node, three]
        low = u * spans[node, 26 - one] + v * spans[node, 26 - two] + w * spans[node, 26 - three]
        posed.boxes[node, k] = (shift - low) - posed.outward
        posed.boxes[node, k + 3] = (shift + high) + posed.outward


@inner
def _rotating_box(posed, node):
    spheres = posed.body.spheres
    half = spheres[node, 3] + posed.outward
    for k in range(3):
        middle = posed_along(posed.pose[k], spheres[node, 0], spheres[node, 1], spheres[node, 2])
        posed.boxes[node, k] = middle - half
        posed.boxes[node, k + 3] = middle + half


@inner
def _node_box(posed, node):
    if posed.body.update == _ROTATING:
        _rotating_box(posed, node)
    else:
        _interpolated_box(posed, node)


@inner
def _piece_box(posed, entry):
    body = posed.body
    item = body.nodes + entry
    for k in range(3):
        low, high = np.inf, -np.inf
        for i in range(body.piece_starts[entry], body.piece_starts[entry + 1]):
            x = posed_along(posed.pose[k], body.pieces[i, 0], body.pieces[i, 1], body.pieces[i, 2])
            low = min(low, x)
            high = max(high, x)
        posed.boxes[item, k] = low - posed.outward
        posed.boxes[item, k + 3] = high + posed.outward


@inner
def _pose_entry(posed, entry):
    """World coordinates of a face, and its box."""
    body = posed.body
    item = body.nodes + entry
    given, triangles = body.triangles, posed.triangles
    for k in range(3):
        row = posed.pose[k]
        a = posed_along(row, given[entry, 0, 0], given[entry, 0, 1], given[entry, 0, 2])
        b = posed_along(row, given[entry, 1, 0], given[entry, 1, 1], given[entry, 1, 2])
        c = posed_along(row, given[entry, 2, 0], given[entry, 2, 1], given[entry, 2, 2])
        triangles[entry, 0, k] = a
        triangles[entry, 1, k] = b
        triangles[entry, 2, k] = c
        posed.boxes[item, k] = min(a, b, c)
        posed.boxes[item, k + 3] = max(a, b, c)
    if body.piece_starts[entry] < body.piece_starts[entry + 1]:
        _piece_box(posed, entry)


@inner
def posed_face(body, pose, entry):
    """World coordinates of the face of an entry, as a tuple of points."""
    return _posed_corner(body, pose, entry, 0), _posed_corner(body, pose, entry, 1), _posed_corner(body, pose, entry, 2)


@inlined
def _posed_corner(body, pose, entry, corner):
    x, y, z = body.triangles[entry, corner, 0], body.triangles[entry, corner, 1], body.triangles[entry, corner, 2]
    return posed_along(pose[0], x, y, z), posed_along(pose[1], x, y, z), posed_along(pose[2], x, y, z)


# ------------------------------------------------------------------- a whole hierarchy


@inlined
def is_leaf(body, node):
    return body.first[node] >= body.nodes


@inner
def open_node(posed, node):
    """Compute the boxes of the children of a node, unless that was done in this frame."""
    if posed.opened[node] == posed.frame:
        return
    posed.opened[node] = posed.frame
    body = posed.body
    first = np.int64(body.first[node])
    for item in range(first, first + body.count[node]):
        if item < body.nodes:
            _node_box(posed, item)
        else:
            _pose_entry(posed, item - body.nodes)


@inner
def _box_around_children(posed, node):
    body, boxes = posed.body, posed.boxes
    first = np.int64(body.first[node])
    for k in range(3):
        low, high = np.inf, -np.inf
        for item in range(first, first + body.count[node]):
            low = min(low, boxes[item, k])
            high = max(high, boxes[item, k + 3])
        boxes[node, k] = low
        boxes[node, k + 3] = high


@inner
def placed(body, boxes, triangles, opened, pose, frame):
    """A hierarchy in a pose: its root has a box, and any node may be opened."""
    size = body.radius + max(abs(pose[0][3]), abs(pose[1][3]), abs(pose[2][3]))
    blend = (
        _blend_of_row(pose[0][0], pose[0][1], pose[0][2]),
        _blend_of_row(pose[1][0], pose[1][1], pose[1][2]),
        _blend_of_row(pose[2][0], pose[2][1], pose[2][2]),
    )
    posed = Posed(body, boxes, triangles, opened, pose, blend, body.margin * size + _UNDERFLOW, frame)
    if body.update != _EXACT:
        _node_box(posed, 0)
        return posed
    for entry in range(body.entries):
        _pose_entry(posed, entry)
    for node in range(body.nodes - 1, -1, -1):
        _box_around_children(posed, node)
        opened[node] = frame
    return posed


# ------------------------------------------------------------------ Python interface


@kernel
def boxes_of_all_items(address, pose, boxes, triangles, opened):
    """Fill the boxes of all items for one pose."""
    body = box_body(address)
    items = body.nodes + body.entries
    opened = stamps(opened, body.nodes)
    posed = placed(
        body,
        box_rows(boxes, items),
        posed_triangles(triangles, body.entries),
        opened,
        pose_of(pose_table(pose, 1), 0),
        1,
    )
    for node in range(body.nodes):
        open_node(posed, node)


def world_boxes(handle: HierarchyHandle, pose: ArrayLike | None = None) -> Floats:
    """(n + m, 2, 3) the boxes of all nodes and entries of a hierarchy in a pose."""
    checked = np.ascontiguousarray(as_pose(pose)[None])
    boxes, triangles = np.empty((handle.nodes + handle.entries, 6)), np.empty((handle.entries, 3, 3))
    opened = np.zeros(handle.nodes, dtype=np.int64)
    boxes_of_all_items(handle.address, *map(address_of, (checked, boxes, triangles, opened)))
    return boxes.reshape(-1, 2, 3)
