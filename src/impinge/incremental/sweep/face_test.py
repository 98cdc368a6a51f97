# mypy: allow-untyped-defs, allow-incomplete-defs
"""Two faces whose boxes overlap: whether they meet, exactly."""

from __future__ import annotations

import numpy as np

from impinge.bvh.contact_keys import contact_key
from impinge.geometry.triangles.intersection import DISJOINT, contact_kind, load_triangle
from impinge.incremental.frame_memory import DONE, MORE_CONTACTS, NONE
from impinge.incremental.hierarchy.box_updates import posed_face
from impinge.kernels.jit import inner

HIT = -1
"""A contact was found where one is enough."""


@inner
def compare_faces(frames, a, b, item_a, item_b):
    """Note a contact if there is one; returns DONE, HIT or MORE_CONTACTS."""
    entry_a, entry_b = item_a - a.nodes, item_b - b.nodes
    effort = frames.effort
    effort.triangle_tests += 1
    kind = contact_kind(load_triangle(a.world, entry_a), load_triangle(b.world, entry_b))
    if kind == DISJOINT:
        return DONE
    frames.witness_a = entry_a
    frames.witness_b = entry_b
    if frames.first_only:
        return HIT
    if effort.contacts == frames.n_contact_keys:
        return MORE_CONTACTS
    face_a, face_b = np.int64(a.faces[entry_a]), np.int64(b.faces[entry_b])
    frames.contact_keys[effort.contacts] = contact_key(0, face_a, face_b, kind, a.face_count, b.face_count)
    effort.contacts += 1
    return DONE


@inner
def witness_meets(frames, a, b):
    """Whether the faces that met last time do so again, in the poses that the hierarchies have taken."""
    if frames.witness_a == NONE:
        return False
    frames.effort.triangle_tests += 1
    return contact_kind(posed_face(a, frames.witness_a), posed_face(b, frames.witness_b)) != DISJOINT
