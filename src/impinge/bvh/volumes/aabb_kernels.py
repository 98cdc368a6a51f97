# mypy: allow-untyped-defs, allow-incomplete-defs
"""Entry kernels for trees of axis-aligned boxes: one a question, each compiled when it is first asked.

Trees and the workspace, with the poses and the place for results in it, are passed by address: see tree_handle and
workspace.
"""

from __future__ import annotations

from impinge.bvh.questions import collide_all, find_closer, find_contacts, find_nearest
from impinge.bvh.tree_handle import aabb_body
from impinge.bvh.workspace import work_at
from impinge.kernels.jit import kernel


@kernel
def collides(a, b, work):
    return collide_all(aabb_body(a), aabb_body(b), work_at(work))


@kernel
def contacts(a, b, work):
    return find_contacts(aabb_body(a), aabb_body(b), work_at(work))


@kernel
def distance(a, b, work):
    return find_nearest(aabb_body(a), aabb_body(b), work_at(work))


@kernel
def closer_than(a, b, work):
    return find_closer(aabb_body(a), aabb_body(b), work_at(work))
