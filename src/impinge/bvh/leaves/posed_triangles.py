# mypy: allow-untyped-defs, allow-incomplete-defs
"""Triangles in the leaves of a tree: in world coordinates, in the frame of the other body, and as keys of contacts."""

from __future__ import annotations

import numpy as np

from impinge.bvh.contact_keys import contact_key
from impinge.bvh.layout import WIDTH
from impinge.bvh.relative_motion import carried_point
from impinge.geometry.posing import posed_point
from impinge.kernels.jit import inlined


@inlined
def place_of(body, ref):
    """The place in tree order of the triangle in a slot."""
    return np.int64(~body.child[ref])


@inlined
def posed_triangle(poses, which, body, i):
    """A triangle in world coordinates, by one of the poses."""
    pose = poses[which]
    t = body.triangles
    return (
        posed_point(pose, t[i, 0, 0], t[i, 0, 1], t[i, 0, 2]),
        posed_point(pose, t[i, 1, 0], t[i, 1, 1], t[i, 1, 2]),
        posed_point(pose, t[i, 2, 0], t[i, 2, 1], t[i, 2, 2]),
    )


@inlined
def carried_corners(far, ref, motion):
    """The corners of a far triangle in the frame of the near body, float32."""
    c = far.corners
    n = ref // WIDTH
    k = ref % WIDTH
    return (
        carried_point(motion, c[n, 0, k], c[n, 1, k], c[n, 2, k])
        + carried_point(motion, c[n, 3, k], c[n, 4, k], c[n, 5, k])
        + carried_point(motion, c[n, 6, k], c[n, 7, k], c[n, 8, k])
    )


@inlined
def key_of_places(near, far, here, there, kind, side, work):
    """The key of a contact of the triangles at two places in tree order."""
    pose = work.pose
    face_near = np.int64(near.order[here])
    face_far = np.int64(far.order[there])
    if side == 0:
        return contact_key(pose, face_near, face_far, kind, near.size, far.size)
    return contact_key(pose, face_far, face_near, kind, far.size, near.size)
