"""Floating-point filter of triangle pairs: one triangle against the eight of a node, in float32.

The cheap question first (each answer is the bits of an integer, see kernels.lanes):

    maybe = wanted & no_plane_separates(corners, node, numbers, out)
    if maybe:
        maybe &= maybe_meeting(corners, node, numbers, out)
        crossing = maybe & surely_crossing(corners, node, numbers, out)
        doubtful = maybe & ~crossing        # for the exact test; with a reach of 0 triangle_bounds
                                            # leaves out triangles apart in one plane

    near = wanted & planes_within(corners, node, numbers, out)
    if near:
        near &= triangle_bounds(corners, node, numbers, out)    # out: bounds of squared distances

Of the pairs whose boxes meet, in five scenes of crossing and of close surfaces, 0 to 4 in 100 are doubtful;
of those whose boxes are within reach, as many are left as really are within reach and at most one in 70 more.
Written in one function, as above, the second question uses what the first has computed.

All this is right whatever the triangles look like (needles, segments, points), because it rests on
separating directions: for every vector w the gap between two triangles along w, divided by |w|, is a
lower bound of their distance.  How w was found does not matter.

What the caller promises
------------------------
``corners`` (nodes, 9, 8) has the triangles, row 3 * vertex + axis; ``numbers`` the nine coordinates of the single
triangle, a margin and, for distances, the square of the reach.  Let u = 2**-24 and let M bound
all coordinates and their differences, 2**-4 < M < 2**40.  Then

    margin >= 32 u M,  and every vertex is within margin / 4 of the place that the exact coordinates give it

(seen through one affine map for all vertices, that keeps orientation and, for distances, lengths).  So half the
margin covers the input, and the other half, 16 u M, is left for the arithmetic here.  An infinite margin
makes everything undecided and all bounds zero.

Rounding of a gap
-----------------
Coordinates relative to the first vertex of the single triangle carry one rounding, and a product
w.x of these at most three more, whether or not products and sums are fused:

    |error of w.x| <= 4 u sum |w_i x_i| (1 + 4 u),  which is below 4.1 u M |w|_1 and below 7 u M |w|_2.

A gap is the difference of two such heights.  With its own rounding, u times the gap, it is off by
less than 10.3 u M |w|_1, which is less than half the margin.  For the bounds it is off by 14 u M |w|_2
and some relative roundings: gap u, its square u/2, w.w 3u/2, quotient u/2, root u, together
5 u of the distance; subtracting the margin, squaring and the last product 2 u.  The factor 1 - 16 u on the square,
8 u on the distance, covers these.  Products that underflow put a height off by 2**-146 at most; w.w is made 2**-80
or more, so that a distance is off by less than 2**-34: far below the 2 u M that are left.
"""

from __future__ import annotations

from typing import Any

from impinge.kernels.lanes import eight_lanes, larger, smaller, square_root, where

_TINY = 2.0**-80

Vector = list[Any]


def _subtract(p: Vector, q: Vector) -> Vector:
    return [p[0] - q[0], p[1] - q[1], p[2] - q[2]]


def _dot(p: Vector, q: Vector) -> Any:
    return p[0] * q[0] + p[1] * q[1] + p[2] * q[2]


def _cross(p: Vector, q: Vector) -> Vector:
    return [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]]


def _lowest(x: Any, y: Any, z: Any) -> Any:
    return smaller(smaller(x, y), z)


def _highest(x: Any, y: Any, z: Any) -> Any:
    return larger(larger(x, y), z)


def _choose(condition: Any, yes: Vector, no: Vector) -> Vector:
    return [where(condition, yes[k], no[k]) for k in range(3)]


def _triangles(rows: Any, numbers: Any) -> tuple[list[Vector], list[Vector]]:
    """The eight triangles and the single one, relative to the first vertex of the latter."""
    eight = [[rows[3 * vertex + k] - numbers[k] for k in range(3)] for vertex in range(3)]
    single = [[numbers[3 * vertex + k] - numbers[k] for k in range(3)] for vertex in range(3)]
    return eight, single


def _normals(a: list[Vector], b: list[Vector]) -> tuple[Vector, Vector]:
    return _cross(_subtract(a[1], a[0]), _subtract(a[2], a[0])), _cross(b[1], b[2])


def _gap(w: Vector, a: list[Vector], b: list[Vector]) -> Any:
    """The gap between triangles along w, times its length; negative where they overlap.  b[0] is the origin."""
    a0, a1, a2 = _dot(w, a[0]), _dot(w, a[1]), _dot(w, a[2])
    b1, b2 = _dot(w, b[1]), _dot(w, b[2])
    return larger(
        _lowest(a0, a1, a2) - _highest(b1, b2, 0.0),
        _lowest(b1, b2, 0.0) - _highest(a0, a1, a2),
    )


# ---------------------------------------------------------------- do they meet?


def _separates(w: Vector, a: list[Vector], b: list[Vector], margin: Any) -> Any:
    return _gap(w, a, b) > margin * (abs(w[0]) + abs(w[1]) + abs(w[2]) + _TINY)


@eight_lanes
def no_plane_separates(rows: Any, numbers: Any) -> Any:
    """Whether the planes of the triangles do not separate them."""
    a, b = _triangles(rows, numbers)
    normal_a, normal_b = _normals(a, b)
    return ~(_separates(normal_a, a, b, numbers[9]) | _separates(normal_b, a, b, numbers[9]))


def _lone_vertex_first(t: list[Vector], heights: Vector) -> tuple[Any, list[Vector]]:
    """The triangle from the vertex on that is alone on its side, and the height of that vertex."""
    third = heights[0] * heights[1] > 0.0
    second = heights[0] * heights[2] > 0.0
    height = where(third, heights[2], where(second, heights[1], heights[0]))
    return height, [
        _choose(third, t[(i + 2) % 3], _choose(second, t[(i + 1) % 3], t[i])) for i in range(3)
    ]  # fmt: skip


def _common_line(a: list[Vector], b: list[Vector]) -> tuple[Any, Any, Vector, tuple[Vector, Vector]]:
    """The heights over each other's planes, the vector between the lone vertices and the two directions that decide.

    Guigue and Devillers (2003), see triangles.intersection: where no plane separates, the triangles are disjoint if and
    only if the plane through one of two pairs of edges separates them, each pair from the lone vertices on.  Which
    edges form a pair depends on the sides on which those vertices are.
    """
    normal_a, normal_b = _normals(a, b)
    start = _dot(normal_a, a[0])
    heights_a = [_dot(normal_b, p) for p in a]
    heights_b = [start * -1.0, _dot(normal_a, b[1]) - start, _dot(normal_a, b[2]) - start]
    lone_a, (p, q, r) = _lone_vertex_first(a, heights_a)
    lone_b, (s, t, v) = _lone_vertex_first(b, heights_b)
    crosswise = lone_a * lone_b < 0.0
    to_t, to_v = _subtract(t, s), _subtract(v, s)
    upper = _cross(_subtract(q, p), _choose(crosswise, to_v, to_t))
    lower = _cross(_subtract(r, p), _choose(crosswise, to_t, to_v))
    return heights_a, heights_b, _subtract(s, p), (upper, lower)


@eight_lanes
def maybe_meeting(rows: Any, numbers: Any) -> Any:
    """Whether neither a plane nor the edges that decide separate the triangles."""
    a, b = _triangles(rows, numbers)
    directions = (*_normals(a, b), *_common_line(a, b)[3])
    first, second, third, fourth = (_separates(w, a, b, numbers[9]) for w in directions)
    return ~(first | second | third | fourth)


def _longest_edge(t: list[Vector]) -> Any:
    edges = [_subtract(t[(i + 1) % 3], t[i]) for i in range(3)]
    return square_root(_highest(*(_dot(e, e) for e in edges)))


@eight_lanes
def surely_crossing(rows: Any, numbers: Any) -> Any:
    """Whether the triangles certainly cross (ContactKind.CROSSING), where they may be meeting.

    All the determinants that decide must have certain signs.  Each is one of three vectors x, y, z between
    vertices: edges, at most ``size_a`` or ``size_b`` long, and vectors across, at most ``across`` long.  A vector is
    off by at most e = 3/4 margin (half the margin from the input, three roundings of u M for each coordinate), which
    changes the determinant by e (|y| |z| + |x| |z| + |x| |y|) and terms of higher order, covered by
    adding the margin to the lengths.  Each of its six terms is rounded five times, their absolute values add
    up to sqrt(2) |x| |y| |z| at most, and an edge is shorter than sqrt(3) M: this adds less than
    0.4 margin times the lengths of the other two vectors, and 0.9 where a height is the difference of two products.
    Together less than 1.2 margin (|y| |z| + |x| |z| + |x| |y|); taken is 1.5.
    """
    margin = numbers[9]
    a, b = _triangles(rows, numbers)
    heights_a, heights_b, between, (upper, lower) = _common_line(a, b)
    first, second = _dot(upper, between), _dot(lower, between)
    size_a = _longest_edge(a) + margin
    size_b = _longest_edge(b) + margin
    across = square_root(_highest(*(_dot(p, p) for p in a))) + size_b
    error = margin * 1.5
    return (
        _straddles(heights_a, error * (size_b * (size_b + across * 2.0)))
        & _straddles(heights_b, error * (size_a * (size_a + across * 2.0)))
        & (smaller(abs(first), abs(second)) > error * (size_a * size_b + across * (size_a + size_b)))
        & (first * second < 0.0)
    )


def _straddles(heights: Vector, error: Any) -> Any:
    """Whether heights on both sides are certain, and none is uncertain."""
    least = _lowest(*(abs(height) for height in heights))
    return (least > error) & (_lowest(*heights) < 0.0) & (_highest(*heights) > 0.0)


# ---------------------------------------------------------------- how far apart are they?


def _squared_gap(w: Vector, square: Any, a: list[Vector], b: list[Vector]) -> Any:
    gap = larger(_gap(w, a, b), 0.0)
    return gap * (gap / (square + _TINY))  # the square of a gap might overflow


def _certain_part(square: Any, margin: Any) -> Any:
    """Of a rounded squared distance the part that is certain."""
    distance = larger(square_root(square) - margin, 0.0)
    return distance * distance * (1.0 - 2.0**-20)


def _clamped(x: Any) -> Any:
    """x within 0 and 1; 0 for the NaN of a quotient 0/0, from edges that are points or parallel."""
    return smaller(larger(x, 0.0), 1.0)


def _nearest_edges(a: list[Vector], b: list[Vector]) -> tuple[Vector, Any]:
    """The vector between the nearest points of the edges, about, and its square.

    Ericson (2005), "Real-Time Collision Detection", section 5.1.9, for all nine pairs.  The scalar products
    of the second and third vertices follow from those of the first, since the edges connect them.
    """
    u = [_subtract(a[1], a[0]), _subtract(a[2], a[1]), _subtract(a[0], a[2])]
    v = [b[1], _subtract(b[2], b[1]), _subtract(b[0], b[2])]
    uu = [_dot(e, e) for e in u]
    vv = [_dot(e, e) for e in v]
    one = smaller(larger(uu[0], 1.0), 1.0)
    per_uu = [one / square for square in uu]
    per_vv = [one / square for square in vv]
    uv = [[_dot(e, f) for f in v] for e in u]
    ends = [b[1], b[1], b[2]]  # any point of each edge's line will do
    start = [_dot(v[j], a[0]) - _dot(v[j], ends[j]) for j in range(3)]
    start[0] = _dot(v[0], a[0])
    along_v = [start, [start[j] + uv[0][j] for j in range(3)], [start[j] - uv[2][j] for j in range(3)]]
    nearest: Vector = []
    best: Any = None
    for i in range(3):
        along_u = _dot(u[i], a[i])
        for j in range(3):
            if j > 0:
                along_u = along_u - uv[i][j - 1]
            s = _clamped((uv[i][j] * along_v[i][j] - along_u * vv[j]) / (uu[i] * vv[j] - uv[i][j] * uv[i][j]))
            t = _clamped((uv[i][j] * s + along_v[i][j]) * per_vv[j])
            s = _clamped((uv[i][j] * t - along_u) * per_uu[i])
            w = [(a[i][k] + s * u[i][k]) - (b[j][k] + t * v[j][k]) for k in range(3)]
            square = _dot(w, w)
            if best is None:
                nearest, best = w, square
            else:
                nearest, best = _choose(square < best, w, nearest), smaller(square, best)
    return nearest, best


def _squared_gap_of_faces(a: list[Vector], b: list[Vector]) -> Any:
    normal_a, normal_b = _normals(a, b)
    return larger(
        _squared_gap(normal_a, _dot(normal_a, normal_a), a, b),
        _squared_gap(normal_b, _dot(normal_b, normal_b), a, b),
    )


@eight_lanes
def planes_within(rows: Any, numbers: Any) -> Any:
    """Whether the planes of the triangles do not prove that they are out of reach."""
    a, b = _triangles(rows, numbers)
    return _certain_part(_squared_gap_of_faces(a, b), numbers[9]) <= numbers[10]


@eight_lanes
def triangle_bounds(rows: Any, numbers: Any) -> Any:
    """Lower bounds of the squared distances, and whether they are within reach.

    Where the nearest points are a vertex and a point of a face, the gap along the normal of the face is
    the distance; where they are on two edges, the gap along the vector between them is.  So no vertex
    need be looked for inside a face.
    """
    a, b = _triangles(rows, numbers)
    square = larger(_squared_gap(*_nearest_edges(a, b), a, b), _squared_gap_of_faces(a, b))
    bound = _certain_part(square, numbers[9])
    return bound <= numbers[10], bound
