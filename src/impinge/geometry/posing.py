# mypy: allow-untyped-defs, allow-incomplete-defs
"""Rigid transform of a point, in kernels: the only place where its rounding stands.

All exact answers refer to world coordinates rounded in the order of ``posed_coordinate``, in float64 and without fused
multiply-add (kernels are compiled without ``fastmath``, and a test looks for fused instructions).  So kernels call
these functions, and none writes the expression out.  ``geometry.pose.posed_vertices`` is the vectorised twin, bit for
bit the same; tests/geometry/test_posing.py compares both with rational arithmetic and searches the sources for
other copies.

=====================  =====================================================================
function               takes
=====================  =====================================================================
``posed_coordinate``   the four entries of a row of the pose as scalars
``posed_along``        a row of the pose: a tuple, table or array of four numbers
``posed_point``        a whole pose: an array or a table of shape (4, 4) or (3, 4)
=====================  =====================================================================
"""

from __future__ import annotations

from impinge.kernels.jit import inlined


@inlined
def posed_coordinate(row0, row1, row2, shift, x, y, z):
    """One world coordinate of the point (x, y, z), by the entries of a row of the pose."""
    return ((row0 * x + row1 * y) + row2 * z) + shift


@inlined
def posed_along(row, x, y, z):
    """One world coordinate of the point (x, y, z), by a row of the pose."""
    return posed_coordinate(row[0], row[1], row[2], row[3], x, y, z)


@inlined
def posed_point(pose, x, y, z):
    """World coordinates of the point (x, y, z)."""
    return (
        posed_coordinate(pose[0, 0], pose[0, 1], pose[0, 2], pose[0, 3], x, y, z),
        posed_coordinate(pose[1, 0], pose[1, 1], pose[1, 2], pose[1, 3], x, y, z),
        posed_coordinate(pose[2, 0], pose[2, 1], pose[2, 2], pose[2, 3], x, y, z),
    )
