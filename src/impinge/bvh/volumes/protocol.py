# mypy: allow-untyped-defs, allow-incomplete-defs
"""The interface of a bounding volume: what the traversal needs of it, for each kind of tree.

A new kind of tree adds a body class (see tree_handle) and its version of these eight functions; nothing else
in the traversal knows what a volume is.
"""

from __future__ import annotations

from impinge.bvh.far_view import (
    aligned_boxes_in_view,
    along,
    oriented_boxes_in_view,
    shadow_of_centre,
    spheres_in_view,
)
from impinge.bvh.layout import WIDTH
from impinge.bvh.relative_motion import carried_point
from impinge.bvh.tree_handle import AABBBody, OBBBody, SphereBody
from impinge.bvh.volumes.separating_axes import (
    aligned_boxes_in_order,
    aligned_boxes_meet,
    aligned_boxes_overlap,
    aligned_boxes_within,
    oriented_boxes_in_order,
    oriented_boxes_meet,
    oriented_boxes_overlap,
    oriented_boxes_within,
)
from impinge.bvh.volumes.spheres import spheres_in_order, spheres_meet, spheres_overlap, spheres_within
from impinge.kernels.jit import generic, inlined


@generic
def size_of(body, ref):
    """How large a volume is: the larger one of a pair is opened."""


@generic
def carried(body, ref, motion):
    """The volume of the far body, as a tuple of numbers in the frame of the near one.

    This is the state that a pair of volumes hands down: it serves all children of the near volume.
    """


@generic
def meeting_children(body, node, other, margin, lanes):
    """The children (bits) of a node whose volumes may meet a carried one."""


@generic
def overlapping_children(body, node, other, margin, lanes):
    """As ``meeting_children``; and the order in which they are promising: how deep they are in the other one."""


@generic
def children_within(body, node, other, margin, reach, lanes):
    """The children (bits) that may come within the reach, and lower bounds of their distances; all squared."""


@generic
def children_in_order(body, node, other, margin, reach, lanes):
    """As ``children_within``, but for volumes that overlap the bounds are negative, the lower the deeper they do."""


@generic
def shadow(body, ref, view):
    """How far a volume of the far body extends in far view (see far_view)."""


@generic
def children_in_view(body, node, numbers, lanes):
    """The children (bits) that may come within the reach in far view, and lower bounds there."""


# --------------------------------------------------------------------------- oriented


@inlined
def _three(a, b, c):
    return (a, b, c)


@size_of.of(OBBBody)
def _obb_size(body, ref):
    return body.nodes[ref // WIDTH].size[ref % WIDTH]


@carried.of(OBBBody)
def _carried_obb(body, ref, motion):
    box, k = body.nodes[ref // WIDTH], ref % WIDTH
    r = motion.rotation
    s = motion.scale
    q0, q1, q2 = box.axes[0, k], box.axes[1, k], box.axes[2, k]
    q3, q4, q5 = box.axes[3, k], box.axes[4, k], box.axes[5, k]
    q6, q7, q8 = box.axes[6, k], box.axes[7, k], box.axes[8, k]
    c = carried_point(motion, box.centre[0, k], box.centre[1, k], box.centre[2, k])
    return (
        r[0] * q0 + r[1] * q3 + r[2] * q6, r[0] * q1 + r[1] * q4 + r[2] * q7, r[0] * q2 + r[1] * q5 + r[2] * q8,
        r[3] * q0 + r[4] * q3 + r[5] * q6, r[3] * q1 + r[4] * q4 + r[5] * q7, r[3] * q2 + r[4] * q5 + r[5] * q8,
        r[6] * q0 + r[7] * q3 + r[8] * q6, r[6] * q1 + r[7] * q4 + r[8] * q7, r[6] * q2 + r[7] * q5 + r[8] * q8,
        c[0], c[1], c[2],
        s * box.half[0, k], s * box.half[1, k], s * box.half[2, k],
    )  # fmt: skip


@meeting_children.of(OBBBody)
def _meeting_obbs(body, node, other, margin, lanes):
    return oriented_boxes_meet(body.rows, node, other + (margin,), lanes)


@overlapping_children.of(OBBBody)
def _overlapping_obbs(body, node, other, margin, lanes):
    return oriented_boxes_overlap(body.rows, node, other + (margin,), lanes)


@children_within.of(OBBBody)
def _obbs_within(body, node, other, margin, reach, lanes):
    return oriented_boxes_within(body.rows, node, other + (margin, reach), lanes)


@children_in_order.of(OBBBody)
def _obbs_in_order(body, node, other, margin, reach, lanes):
    return oriented_boxes_in_order(body.rows, node, other + (margin, reach), lanes)


@inlined
def _obb_radius(box, k, m, i):
    """How far a box extends along direction i."""
    return (
        abs(along(m, i, box.axes[0, k], box.axes[3, k], box.axes[6, k])) * box.half[0, k]
        + abs(along(m, i, box.axes[1, k], box.axes[4, k], box.axes[7, k])) * box.half[1, k]
        + abs(along(m, i, box.axes[2, k], box.axes[5, k], box.axes[8, k])) * box.half[2, k]
    )


@shadow.of(OBBBody)
def _obb_shadow(body, ref, view):
    box, k = body.nodes[ref // WIDTH], ref % WIDTH
    m = view.theirs
    radii = _three(_obb_radius(box, k, m, 0), _obb_radius(box, k, m, 1), _obb_radius(box, k, m, 2))
    return shadow_of_centre(view, box.centre[0, k], box.centre[1, k], box.centre[2, k], radii[0], radii[1], radii[2])


@children_in_view.of(OBBBody)
def _obbs_in_view(body, node, numbers, lanes):
    return oriented_boxes_in_view(body.rows, node, numbers, lanes)


# ----------------------------------------------------------------------- axis-aligned


@size_of.of(AABBBody)
def _aabb_size(body, ref):
    return body.nodes[ref // WIDTH].size[ref % WIDTH]


@carried.of(AABBBody)
def _carried_aabb(body, ref, motion):
    box, k = body.nodes[ref // WIDTH], ref % WIDTH
    c = carried_point(motion, box.centre[0, k], box.centre[1, k], box.centre[2, k])
    s = motion.scale
    r = motion.rotation
    half = _three(s * box.half[0, k], s * box.half[1, k], s * box.half[2, k])
    return (r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8]) + c + half


@meeting_children.of(AABBBody)
def _meeting_aabbs(body, node, other, margin, lanes):
    return aligned_boxes_meet(body.rows, node, other + (margin,), lanes)


@overlapping_children.of(AABBBody)
def _overlapping_aabbs(body, node, other, margin, lanes):
    return aligned_boxes_overlap(body.rows, node, other + (margin,), lanes)


@children_within.of(AABBBody)
def _aabbs_within(body, node, other, margin, reach, lanes):
    return aligned_boxes_within(body.rows, node, other + (margin, reach), lanes)


@children_in_order.of(AABBBody)
def _aabbs_in_order(body, node, other, margin, reach, lanes):
    return aligned_boxes_in_order(body.rows, node, other + (margin, reach), lanes)


@inlined
def _aabb_radius(box, k, m, i):
    """How far a box extends along direction i."""
    return abs(m[3 * i]) * box.half[0, k] + abs(m[3 * i + 1]) * box.half[1, k] + abs(m[3 * i + 2]) * box.half[2, k]


@shadow.of(AABBBody)
def _aabb_shadow(body, ref, view):
    box, k = body.nodes[ref // WIDTH], ref % WIDTH
    m = view.theirs
    radii = _three(_aabb_radius(box, k, m, 0), _aabb_radius(box, k, m, 1), _aabb_radius(box, k, m, 2))
    return shadow_of_centre(view, box.centre[0, k], box.centre[1, k], box.centre[2, k], radii[0], radii[1], radii[2])


@children_in_view.of(AABBBody)
def _aabbs_in_view(body, node, numbers, lanes):
    return aligned_boxes_in_view(body.rows, node, numbers, lanes)


# ---------------------------------------------------------------------------- spheres


@size_of.of(SphereBody)
def _sphere_size(body, ref):
    return body.nodes[ref // WIDTH].radius[ref % WIDTH]


@carried.of(SphereBody)
def _carried_sphere(body, ref, motion):
    ball, k = body.nodes[ref // WIDTH], ref % WIDTH
    c = carried_point(motion, ball.centre[0, k], ball.centre[1, k], ball.centre[2, k])
    return c + (motion.scale * ball.radius[k],)


@meeting_children.of(SphereBody)
def _meeting_spheres(body, node, other, margin, lanes):
    return spheres_meet(body.rows, node, other + (margin,), lanes)


@overlapping_children.of(SphereBody)
def _overlapping_spheres(body, node, other, margin, lanes):
    return spheres_overlap(body.rows, node, other + (margin,), lanes)


@children_within.of(SphereBody)
def _spheres_within(body, node, other, margin, reach, lanes):
    return spheres_within(body.rows, node, other + (margin, reach), lanes)


@children_in_order.of(SphereBody)
def _spheres_in_order(body, node, other, margin, reach, lanes):
    return spheres_in_order(body.rows, node, other + (margin, reach), lanes)


@shadow.of(SphereBody)
def _sphere_shadow(body, ref, view):
    ball, k = body.nodes[ref // WIDTH], ref % WIDTH
    radius = view.scale * ball.radius[k]
    return shadow_of_centre(view, ball.centre[0, k], ball.centre[1, k], ball.centre[2, k], radius, radius, radius)


@children_in_view.of(SphereBody)
def _spheres_in_view(body, node, numbers, lanes):
    return spheres_in_view(body.rows, node, numbers, lanes)
