# mypy: allow-untyped-defs, allow-incomplete-defs
"""Red features: those of a hull that lie on the surface of the model.

Lin, Manocha, Cohen and Gottschalk (1996, 4.1): if two red features meet, the models do, and no further
test is needed.  So red has to be certain, and everything else is green.

When a polygon is red
---------------------
Take the triangles of the mesh that lie in the plane of the polygon, each once, all turned the way of the polygon.  Add
up their directed edges; opposite ones cancel.  Suppose that what is left is one cycle that passes the corners
of the polygon in order, and only points on the straight line between two of them in between.  As chains, the
boundary of the triangles is then the boundary of the polygon, so the difference between the number of triangles over a
point of the plane and one (inside the polygon) or zero (outside) is a function without boundary, hence constant, and
zero far away: the triangles cover the polygon.  (Triangles count with the sign of their turn, and a sum of signs that
is one has a summand: a needle that is turned by its rounded normal the wrong way does no harm.)  Surfaces that
overlap themselves in a hull face, or meet at T-vertices inside it, stay green.

An edge is red if a face at it is red, or if its two ends are an edge of the mesh.

Which polygon a triangle may lie in
-----------------------------------
The polygon with the nearest normal, in floats; exact signs decide.  A normal in floats is right to 2**-28, unless the
triangle is a needle, for which integers give it.  So a triangle in the plane of a polygon has its normal within 2**-27
of the polygon's, and a grid of cells finds it.  Where a second polygon is within 2**-20 (the two halves of a quad that
is rounded), or the triangle is a needle, a k-d tree of all normals names the nearest.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from impinge.arrays import Bools, Floats, Ints
from impinge.convex.hull.directions import directions, exact_normal, rounded_direction
from impinge.convex.hull.exact_quickhull import on_line, point_of, side_of
from impinge.convex.hull.feature_neighbours import edge_between, first_larger
from impinge.convex.hull.triples import empty_table, row_of, slot_of
from impinge.geometry.exact.predicates import cross, dot, orient3d_is_certain, subtract
from impinge.kernels.jit import inlined, inner, kernel

if TYPE_CHECKING:
    from impinge.convex.hull.convex_hull import Polygons

_LEAST_SINE = 2.0**-20
"""Of the angle between two sides, for which their product in floats is right to 2**-30."""
_ALONE = 2.0**-20
"""A polygon has a normal for itself if no other one is as near as this in all coordinates."""
_CELLS = 2.0**12
"""Cells of the grid of normals in a unit; a normal is rarely within _ALONE of the border of one."""
_OFF_AXES = 0.3
"""Shifts the grid: most normals of machine parts have coordinates 0 and 1, which would be borders of cells."""
_TINY = 2.0**-200
_NO_POLYGON = -1
_UNDECIDED = -2
_SEVERAL = -2


def red_features(points: Floats, faces: Ints, hull: Polygons) -> tuple[Bools, Bools]:
    """(e,) and (f,): which edges and faces of a hull over ``points[hull.source]`` lie on the mesh.

    The faces are those of the mesh, with one vertex for each position, the one that ``hull.source`` names.
    """
    red_edges, red_faces = np.zeros(len(hull.edges), dtype=np.bool_), np.zeros(len(hull.starts) - 1, dtype=np.bool_)
    planes = hull.source[hull.corners[_spread(hull.starts)]]
    normals = np.full((len(planes), 3), np.nan)
    nearest = np.empty((len(faces), 2), dtype=np.int32)
    if not propose_polygons(points, faces, planes, normals, nearest):
        needles = np.isnan(normals[:, 0])
        normals[needles] = _unit_normals(points, planes[needles])
        propose_polygons(points, faces, planes, normals, nearest)
    undecided = nearest == _UNDECIDED
    if len(planes) > 0 and undecided.any():
        nearest[undecided] = _nearest_normals(points, faces, planes, undecided)
    mark_red(points, faces, planes, nearest, hull.source, (hull.corners, hull.starts, hull.edges), red_faces, red_edges)
    return red_edges, red_faces


def _spread(starts: Ints) -> Ints:
    """(f, 3) corners that are not all beside each other: no needle in most cases."""
    first, count = starts[:-1, None], np.diff(starts)[:, None]
    corners: Ints = first + np.arange(3, dtype=np.int32) * count // 3
    return corners


def _nearest_normals(points: Floats, faces: Ints, planes: Ints, wanted: Bools) -> Ints:
    """The polygon with the nearest normal, for the wanted ones of all triangles and their two sides."""
    from scipy.spatial import cKDTree  # type: ignore[import-untyped]

    rows, turned = np.nonzero(wanted)
    some, which = np.unique(rows, return_inverse=True)
    outward = _unit_normals(points, faces[some])[which]
    tree = cKDTree(_unit_normals(points, planes))
    found: Ints = tree.query(np.where(turned[:, None] == 1, -outward, outward))[1].astype(np.int32)
    return found


def _unit_normals(vertices: Floats, triangles: Ints) -> Floats:
    """Near enough to the true ones to tell planes apart; zero for triangles without area."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    vectors = np.cross(_near_one(b - a), _near_one(c - a))
    unit = directions(vectors)
    # Of needles, and of triangles with sides of very different magnitudes, floats may leave nothing but rounding.
    for i in np.flatnonzero(np.abs(vectors).max(axis=1, initial=0.0) < _LEAST_SINE).tolist():
        unit[i] = rounded_direction(exact_normal(a[i], b[i], c[i]))
    return unit


def _near_one(vectors: Floats) -> Floats:
    """Each times a power of two: a normal has no use for lengths, and products of tiny ones would vanish."""
    scaled: Floats = np.ldexp(vectors, -np.frexp(np.abs(vectors).max(axis=1, keepdims=True, initial=0.0))[1])
    return scaled


@kernel("float64[:, ::1], int32[:, ::1], int32[:, ::1], float64[:, ::1], int32[:, ::1]")
def propose_polygons(points, faces, planes, normals, nearest):
    """Which polygon each triangle (column 0) and the triangle turned over (column 1) may lie in, as far as it is clear.

    ``planes`` are three corners of each polygon.  Of triangles with equal corners only the first has a polygon.
    ``normals`` are those of the polygons, NaN for those to be found; False if one of these is a needle and stays NaN.
    """
    cells = empty_table(len(planes))
    first = np.full(len(planes), -1, dtype=np.int32)
    after = np.empty(len(planes), dtype=np.int32)
    count, needles = 0, 0
    for f in range(len(planes)):
        if np.isnan(normals[f, 0]) and not _unit_normal(points, planes, f, normals[f]):
            needles += 1
            continue
        row = row_of(cells, _cell(normals[f, 0]), _cell(normals[f, 1]), _cell(normals[f, 2]), count)
        if row == count:
            count += 1
        after[f] = first[row]
        first[row] = f
    if needles > 0:
        return False
    grid = (cells, first, after)
    once = empty_table(len(faces))
    count = 0
    normal = np.empty(3)
    for i in range(len(faces)):
        a, b, c = faces[i, 0], faces[i, 1], faces[i, 2]
        low, high = min(a, b, c), max(a, b, c)
        nearest[i, 0] = nearest[i, 1] = _NO_POLYGON
        if a != b and b != c and c != a and row_of(once, low, a ^ b ^ c ^ low ^ high, high, count) == count:
            count += 1
            is_known = _unit_normal(points, faces, i, normal)
            for side in range(2):
                nearest[i, side] = _UNDECIDED
                if is_known:
                    nearest[i, side] = _polygon_near(points, planes, normals, grid, faces[i], normal)
                for k in range(3):
                    normal[k] = -normal[k]
    return True


@inlined
def _unit_normal(points, triangles, i, normal):
    """Write the normal of a triangle, right to 2**-28; False for a needle, or where squares might underflow."""
    a = point_of(points, triangles[i, 0])
    u = subtract(point_of(points, triangles[i, 1]), a)
    v = subtract(point_of(points, triangles[i, 2]), a)
    w = cross(u, v)
    sizes = max(abs(u[0]), abs(u[1]), abs(u[2])), max(abs(v[0]), abs(v[1]), abs(v[2]))
    if min(sizes) < _TINY or max(abs(w[0]), abs(w[1]), abs(w[2])) < _LEAST_SINE * (sizes[0] * sizes[1]):
        return False
    length = math.sqrt(dot(w, w))
    for k in range(3):
        normal[k] = w[k] / length
    return True


@inlined
def _cell(coordinate):
    return np.int64(math.floor((coordinate + _OFF_AXES) * _CELLS))


@inlined
def _polygon_near(points, planes, normals, grid, triangle, normal):
    """The polygon with this normal, if the triangle may lie in its plane and no other has nearly the same normal."""
    cells, first, after = grid
    x, y, z = normal[0], normal[1], normal[2]
    found, count, may_hold = _NO_POLYGON, 0, False
    for i in range(_cell(x - _ALONE), _cell(x + _ALONE) + 1):
        for j in range(_cell(y - _ALONE), _cell(y + _ALONE) + 1):
            for k in range(_cell(z - _ALONE), _cell(z + _ALONE) + 1):
                row = cells[1][slot_of(cells, i, j, k)]
                f = first[row] if row >= 0 else -1
                while f >= 0:
                    gap = max(abs(normals[f, 0] - x), abs(normals[f, 1] - y), abs(normals[f, 2] - z))
                    if gap <= _ALONE:
                        found = f
                        # Only one that is far nearer than any other is the nearest for sure.
                        count += 1 if gap <= 0.25 * _ALONE else 2
                        may_hold = may_hold or _may_hold(points, planes, f, triangle)
                        if may_hold and count > 1:
                            return _UNDECIDED
                    f = after[f]
    return found if may_hold else _NO_POLYGON


@inlined
def _may_hold(points, planes, f, triangle):
    """Whether floats leave it open that a triangle lies in the plane of polygon f."""
    a = point_of(points, planes[f, 0])
    b, c = point_of(points, planes[f, 1]), point_of(points, planes[f, 2])
    for k in range(3):
        if orient3d_is_certain(a, b, c, point_of(points, triangle[k])):
            return False
    return True


@kernel(
    "float64[:, ::1], int32[:, ::1], int32[:, ::1], int32[:, ::1], int32[::1], Tuple((int32[::1], int32[::1], "
    "int32[:, ::1])), boolean[::1], boolean[::1]"
)
def mark_red(points, faces, planes, nearest, source, polygons, red_faces, red_edges):
    """Mark the faces and edges of a hull that are red, given the polygon that each triangle may lie in."""
    corners, starts, edges = polygons
    number = np.full(len(points), -1, dtype=np.int32)
    for i in range(len(source)):
        number[source[i]] = i
    first_edge = first_larger(len(source), edges)
    for i in range(len(faces)):
        for k in range(3):
            _mark_edge(edges, first_edge, number[faces[i, k]], number[faces[i, (k + 1) % 3]], red_edges)
    only = _triangles_in_planes(points, faces, planes, nearest)
    for f in range(len(planes)):
        if starts[f + 1] - starts[f] > 3:
            only[f] = _SEVERAL
    runs, balance, head, after = _runs_in_polygons(faces, nearest, only)
    successor = np.empty(len(points), dtype=np.int32)
    holder = np.full(len(points), -1, dtype=np.int32)
    for f in range(len(planes)):
        outline = corners[starts[f] : starts[f + 1]]
        if only[f] >= 0:
            red_faces[f] = _is_same_triangle(faces, only[f] // 2, only[f] % 2, planes, f)
        else:
            left = _successors(runs, balance, head[f], after, f, successor, holder)
            red_faces[f] = left > 0 and _covers(points, source, outline, f, left, successor, holder)
        if red_faces[f]:
            for k in range(len(outline)):
                _mark_edge(edges, first_edge, outline[k - 1], outline[k], red_edges)


@inlined
def _mark_edge(edges, first_edge, one, other, red_edges):
    """Mark the edge between two vertices of the hull, if there is one."""
    tail, head = min(one, other), max(one, other)
    if tail < 0:
        return
    edge = edge_between(edges, first_edge, tail, head)
    if edge < first_edge[tail + 1] and edges[edge, 1] == head:
        red_edges[edge] = True


@inner
def _triangles_in_planes(points, faces, planes, nearest):
    """Keep of ``nearest`` what is true.  (f,) 2 i + side for a polygon with one triangle i in its plane."""
    only = np.full(len(planes), _NO_POLYGON, dtype=np.int32)
    for i in range(len(faces)):
        for side in range(2):
            f = nearest[i, side]
            for k in range(3):
                if f >= 0 and not _is_in_plane(points, planes, f, faces[i, k]):
                    f = _NO_POLYGON
            nearest[i, side] = f
            if f >= 0:
                only[f] = 2 * i + side if only[f] == _NO_POLYGON else _SEVERAL
    return only


@inner
def _runs_in_polygons(faces, nearest, only):
    """The edges (polygon, smaller end, larger end) of all triangles in polygons that do not have just one.

    With how much oftener each is run upward than downward, and a chain of rows for each polygon.
    """
    most = 0
    for i in range(len(faces)):
        for side in range(2):
            if nearest[i, side] >= 0 and only[nearest[i, side]] < 0:
                most += 3
    table = empty_table(most)
    balance = np.zeros(most, dtype=np.int32)
    head = np.full(len(only), -1, dtype=np.int32)
    after = np.empty(most, dtype=np.int32)
    count = 0
    for i in range(len(faces)):
        for side in range(2):
            f = nearest[i, side]
            if f < 0 or only[f] >= 0:
                continue
            for k in range(3):
                a, b = faces[i, k], faces[i, (k + 1) % 3]
                row = row_of(table, f, min(a, b), max(a, b), count)
                if row == count:
                    after[row] = head[f]
                    head[f] = row
                    count += 1
                balance[row] += 1 if (a < b) == (side == 0) else -1
    return table[0], balance, head, after


@inlined
def _is_in_plane(points, planes, f, vertex):
    # Mostly one of the three, for which the floats would leave all to integers.
    is_corner = vertex == planes[f, 0] or vertex == planes[f, 1] or vertex == planes[f, 2]
    return is_corner or side_of(points, planes, f, vertex) == 0


@inlined
def _is_same_triangle(faces, i, side, planes, f):
    """Whether triangle i, turned over if the side is 1, has the corners of triangle f in their order."""
    for k in range(3):
        if faces[i, k] == planes[f, 0]:
            following, last = (k + 1) % 3, (k + 2) % 3
            if side == 1:
                following, last = last, following
            return faces[i, following] == planes[f, 1] and faces[i, last] == planes[f, 2]
    return False


@inlined
def _successors(runs, balance, row, after, f, successor, holder):
    """What is left of the directed edges in polygon f, as successors of vertices; 0, or how many there are.

    ``holder`` is f for vertices with a successor.  None counts where an edge is left twice, or two begin at a vertex.
    """
    left = 0
    while row >= 0:
        if balance[row] != 0:
            upward = balance[row] > 0
            tail, head = (runs[row, 1], runs[row, 2]) if upward else (runs[row, 2], runs[row, 1])
            if abs(balance[row]) > 1 or holder[tail] == f:
                return 0
            holder[tail] = f
            successor[tail] = head
            left += 1
        row = after[row]
    return left


@inlined
def _covers(points, source, outline, f, left, successor, holder):
    """Whether what is left of the directed edges is the outline, possibly with further points on its sides."""
    for k in range(len(outline)):
        tail, head = source[outline[k - 1]], source[outline[k]]
        here = tail
        while here != head:
            if holder[here] != f:
                return False
            following = successor[here]
            holder[here] = -1
            left -= 1
            if following != head and not on_line(
                point_of(points, tail), point_of(points, head), point_of(points, following)
            ):
                return False
            here = following
    return left == 0
