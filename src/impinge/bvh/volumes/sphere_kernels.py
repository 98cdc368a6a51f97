# mypy: allow-untyped-defs, allow-incomplete-defs
"""Entry kernels for trees of spheres: one a question, each compiled when it is first asked.

Trees and the workspace, with the poses and the place for results in it, are passed by address: see tree_handle and
workspace.
"""

from __future__ import annotations

from impinge.bvh.questions import collide_all, find_closer, find_contacts, find_nearest
from impinge.bvh.tree_handle import sphere_body
from impinge.bvh.workspace import work_at
from impinge.kernels.jit import kernel


@kernel
def collides(a, b, work):
    return collide_all(sphere_body(a), sphere_body(b), work_at(work))


@kernel
def contacts(a, b, work):
    return find_contacts(sphere_body(a), sphere_body(b), work_at(work))


@kernel
def distance(a, b, work):
    return find_nearest(sphere_body(a), sphere_body(b), work_at(work))


@kernel
def closer_than(a, b, work):
    return find_closer(sphere_body(a), sphere_body(b), work_at(work))
