# mypy: allow-untyped-defs, allow-incomplete-defs
"""User-defined leaf operation of the traversal: a function of two triangles, called for every pair within a clearance.

Zachmann (1997) makes the traversal generic in what is done at the leaves.  The function is compiled in the
user's process; it cannot be kept in the cache on disk.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from impinge.bvh.layout import WIDTH
from impinge.bvh.leaves.distance_leaves import in_reach
from impinge.bvh.leaves.posed_triangles import key_of_places, place_of, posed_triangle
from impinge.bvh.questions import visit_all
from impinge.bvh.traverse import candidates, visit
from impinge.bvh.tree_handle import obb_body
from impinge.bvh.workspace import work_at
from impinge.kernels.jit import need_numba
from impinge.kernels.lanes import count_bits, lowest_bit
from impinge.kernels.mode import without_compiler


def compiled_leaf(function: Callable[..., Any]) -> Callable[..., int]:
    """Make ``kernel(a, b, work, values)`` that calls ``function(triangle_a, triangle_b)`` for pairs in reach.

    Pairs for which it gives a number other than zero are kept, with the number in ``values``.
    """
    need_numba("a leaf operation of your own")
    own = _compiled(function)

    class Own(NamedTuple):
        poses: Any
        values: Any

    candidates.of(Own)(in_reach)

    @visit.of(Own)
    def visit_pairs(leaf, near, far, node, slots, far_ref, side, work):
        work.triangle_tests += count_bits(slots)
        there = place_of(far, far_ref)
        far_triangle = posed_triangle(leaf.poses, 1 - side, far, there)
        found = work.found
        while slots != 0:
            here = place_of(near, node * WIDTH + lowest_bit(slots))
            slots &= slots - 1
            near_triangle = posed_triangle(leaf.poses, side, near, here)
            value = own(near_triangle, far_triangle) if side == 0 else own(far_triangle, near_triangle)
            if value != 0:
                work.pairs[found] = key_of_places(near, far, here, there, 0, side, work)
                leaf.values[found] = value
                found += 1
        work.found = found
        return found > work.n_pairs - WIDTH

    def kernel(a, b, work, values):
        space = work_at(work)
        return visit_all(Own(space.poses, values), obb_body(a), obb_body(b), space)

    return _compiled(kernel)


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    if without_compiler():
        return function
    import numba

    return numba.njit(nogil=True, error_model="numpy")(function)  # type: ignore[no-any-return]
