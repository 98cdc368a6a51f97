# mypy: allow-untyped-defs, allow-incomplete-defs
"""V-Clip: the nearest features of two convex bodies, by clipping edges to Voronoi regions.

Mirtich (1998), "V-Clip: fast and robust polyhedral collision detection".  A pair of features holds nearest points if
each of these points lies in the Voronoi region of the other feature.  A step tests that for the pair at hand; where a
Voronoi plane is violated the feature gives way to its neighbour behind that plane, which is not farther.  There is a
state for each kind of pair:

- a vertex is held against the planes of the other feature;
- an edge is clipped to the planes of the other feature.  Where nothing remains, or where the distance falls at an end
  of what remains (*post-clip derivative check*), the nearest point of the edge lies behind the plane there;
- edge and face never are the answer: they cross, or a corner of one of them is as near.

Only a vertex below a face of the other body can be a local minimum that is no answer; ``_handle_local_minimum`` finds
out whether the vertex is inside.

Why it ends
-----------
The distance falls with every step to a larger feature, and does not rise with a step to a smaller one.  The paper
breaks that in two places, and the walk went in circles there:

- From edge and face Mirtich goes to the side of the face where the edge leaves its prism.  At a flat corner, as
  slivers have them, the edge may soon be nearer to the next side (``_edge_face``).
- The face that a vertex is highest above may be farther away than the face below which it was.

Which numbers are compared
--------------------------
In floats two states could contradict each other, so a plane has one formula in all states, evaluated in the frame of
the body that owns it.  And the two frames contradict each other: a rotation in floats is none, so of two parallel faces
each may see the other one tilted.  So a step needs a reason that rounding (``_rounding``) cannot make up.  In doubt the
pair stays: a larger feature than needed has the same distance, and a step left out would have gained no more than
rounding.  Edge and face must be left; to come back takes a real gain.

Should rounding still lead in a circle, its pairs are equally near as far as floats can tell, and the walk ends with the
one at hand.  The next pair depends on nothing but this pair, so Brent's (1980) search for cycles notices a pair that
comes twice, without a limit of steps.  In 9 million walks over ``lab.hard_polytopes`` there was no circle.

Planes between vertices and edges are made from the points when needed.  So a step reads the points and numbers around
one feature of each body, a few cache lines whatever the size of the bodies.
"""

from __future__ import annotations

import numpy as np

from impinge.constants import UNIT_ROUNDOFF
from impinge.convex.distance.two_segments import clamped, nearest_places
from impinge.convex.features.feature_pair import NEAREST, PENETRATING, carried
from impinge.convex.features.voronoi_cells import EDGE, FACE, VERTEX
from impinge.geometry.exact.predicates import dot, subtract
from impinge.kernels.jit import inner

_CONTINUE = 3  # the step has found another pair
_NONE = -1
_LOWEST = -np.inf
_ROUNDINGS = 4.0 * UNIT_ROUNDOFF  # with 16, of nearly parallel plates five times as many ended at a pair too early


@inner
def vclip(a, b, b_to_a, a_to_b, pair):
    """Walk from this pair to the nearest one, leave it there, and say how it ended, and after how many steps."""
    kind_a, feature_a, kind_b, feature_b = pair.kind_a, pair.feature_a, pair.kind_b, pair.feature_b
    marked = (kind_a, feature_a, kind_b, feature_b)
    steps, next_mark = 0, 2
    while True:
        outcome, kind_a, feature_a, kind_b, feature_b = _step(
            a, b, b_to_a, a_to_b, kind_a, feature_a, kind_b, feature_b
        )
        steps += 1
        if outcome != _CONTINUE:
            break
        if kind_a == marked[0] and feature_a == marked[1] and kind_b == marked[2] and feature_b == marked[3]:
            outcome = NEAREST
            break
        if steps == next_mark:
            marked = (kind_a, feature_a, kind_b, feature_b)
            next_mark *= 2
    pair.kind_a, pair.feature_a, pair.kind_b, pair.feature_b = kind_a, feature_a, kind_b, feature_b
    return outcome, steps


@inner
def _step(a, b, b_to_a, a_to_b, kind_a, feature_a, kind_b, feature_b):
    """The smaller feature first, which halves the number of states."""
    if kind_a <= kind_b:
        return _state(a, b, b_to_a, a_to_b, kind_a, feature_a, kind_b, feature_b)
    outcome, kind_b, feature_b, kind_a, feature_a = _state(b, a, a_to_b, b_to_a, kind_b, feature_b, kind_a, feature_a)
    return outcome, kind_a, feature_a, kind_b, feature_b


@inner
def _state(x, y, y_to_x, x_to_y, kind_x, i, kind_y, j):
    """One step of a pair: how it ends, and the next kind and feature of x and of y."""
    if kind_x == VERTEX:
        if kind_y == VERTEX:
            return _vertex_vertex(x, y, y_to_x, x_to_y, i, j)
        if kind_y == EDGE:
            return _vertex_edge(x, y, y_to_x, x_to_y, i, j)
        return _vertex_face(x, y, x_to_y, i, j)
    if kind_x == EDGE:
        if kind_y == EDGE:
            return _edge_edge(x, y, y_to_x, x_to_y, i, j)
        return _edge_face(x, y, x_to_y, i, j)
    # Two faces are no state of the walk, but a caller may begin with them.
    return _CONTINUE, EDGE, np.int64(x.face_edges[x.face_starts[i]]), kind_y, j


@inner
def _point(body, i):
    return (body.points[i, 0], body.points[i, 1], body.points[i, 2])


@inner
def _end_plane(vertex, other, p):
    """The Voronoi plane between a vertex and its edge to another one: positive on the side of the edge."""
    return dot(subtract(other, vertex), subtract(p, vertex))


@inner
def _side_plane(body, edge, side, p):
    """The Voronoi plane between an edge and its left or right face: positive on the side of the face."""
    planes = body.edge_side_planes
    x, y, z = planes[edge, side, 0], planes[edge, side, 1], planes[edge, side, 2]
    return dot((x, y, z), p) + planes[edge, side, 3]


@inner
def _height(body, face, p):
    """Above a face this is positive."""
    planes = body.face_planes
    return dot((planes[face, 0], planes[face, 1], planes[face, 2]), p) + planes[face, 3]


@inner
def _length(tail, head):
    """At least that of the edge, and less than twice."""
    return abs(head[0] - tail[0]) + abs(head[1] - tail[1]) + abs(head[2] - tail[2])


@inner
def _crossing(d0, d1):
    """The place on an edge where a plane with these values at its ends, of opposite signs, is crossed."""
    return d0 / (d0 - d1)


@inner
def _rounding(placement, p, q):
    """What rounding may make of the difference in height of two points, carried by the placement."""
    shift = abs(placement[0][3]) + abs(placement[1][3]) + abs(placement[2][3])
    return _ROUNDINGS * (shift + abs(p[0]) + abs(p[1]) + abs(p[2]) + abs(q[0]) + abs(q[1]) + abs(q[2]))


@inner
def _vertex_vertex(x, y, y_to_x, x_to_y, v, w):
    edge = _edge_behind(x, v, carried(y_to_x, _point(y, w)), y_to_x)
    if edge != _NONE:
        return _CONTINUE, EDGE, edge, VERTEX, w
    edge = _edge_behind(y, w, carried(x_to_y, _point(x, v)), x_to_y)
    if edge != _NONE:
        return _CONTINUE, VERTEX, v, EDGE, edge
    return NEAREST, VERTEX, v, VERTEX, w


@inner
def _edge_behind(body, v, p, placement):
    """The edge at vertex v behind whose plane p, carried by the placement, lies farthest; or none."""
    vertex = _point(body, v)
    found, most = np.int64(_NONE), 0.0
    for k in range(body.vertex_starts[v], body.vertex_starts[v + 1]):
        d = _end_plane(vertex, _point(body, body.vertex_ends[k]), p)
        if d > most:
            found, most = np.int64(k), d
    if found == _NONE:
        return found
    margin = _rounding(placement, p, vertex) * _length(vertex, _point(body, body.vertex_ends[found]))
    return np.int64(body.vertex_edges[found]) if most > margin else np.int64(_NONE)


@inner
def _vertex_edge(x, y, y_to_x, x_to_y, v, e):
    t, h = np.int64(y.edge_vertices[e, 0]), np.int64(y.edge_vertices[e, 1])
    tail, head = _point(y, t), _point(y, h)
    p = carried(x_to_y, _point(x, v))
    rounding = _rounding(x_to_y, p, tail)
    margin = rounding * _length(tail, head)
    if _end_plane(tail, head, p) < -margin:
        return _CONTINUE, VERTEX, v, VERTEX, t
    if _end_plane(head, tail, p) < -margin:
        return _CONTINUE, VERTEX, v, VERTEX, h
    face = _face_behind(y, e, p, rounding)
    if face != _NONE:
        return _CONTINUE, VERTEX, v, FACE, face
    tail, head = carried(y_to_x, tail), carried(y_to_x, head)
    q = _between(tail, head, _nearest_place(tail, head, _point(x, v)))
    edge = _edge_behind(x, v, q, y_to_x)
    if edge != _NONE:
        return _CONTINUE, EDGE, edge, EDGE, e
    return NEAREST, VERTEX, v, EDGE, e


@inner
def _face_behind(body, e, p, rounding):
    """The face behind whose side plane at edge e p lies, or none; of two the one that p is higher above.

    Both planes are violated at an edge sharper than a right angle.  To get below the far one, where p
    is above the near one, would lead into a local minimum without need.
    """
    one, two = np.int64(body.edge_faces[e, 0]), np.int64(body.edge_faces[e, 1])
    left, right = _side_plane(body, e, 0, p) > rounding, _side_plane(body, e, 1, p) > rounding
    if left and right:
        return one if _height(body, one, p) >= _height(body, two, p) else two
    return one if left else (two if right else np.int64(_NONE))


@inner
def _nearest_place(tail, head, v):
    """The place on an edge that is nearest to v.

    To clip the edge to the planes of vertex v and to check the derivative at the ends of what remains is the same as to
    hold this point against the planes: the squared distance from v is a parabola along the edge.  For nearly parallel
    edges this place is certain, that of the clipped ends is not.
    """
    along = subtract(head, tail)
    squared = dot(along, along)
    return clamped(dot(along, subtract(v, tail)) / squared) if squared > 0.0 else 0.0


@inner
def _between(tail, head, place):
    """The point at a place of an edge: 0 is the tail, 1 the head."""
    along = subtract(head, tail)
    return (tail[0] + place * along[0], tail[1] + place * along[1], tail[2] + place * along[2])


@inner
def _edge_edge(x, y, y_to_x, x_to_y, e, f):
    tail, head = _ends(y, f, y_to_x)
    outcome, kind, feature = _clip_to_edge(x, e, tail, head, _rounding(y_to_x, tail, head))
    if outcome != NEAREST:
        return outcome, kind, feature, EDGE, f
    tail, head = _ends(x, e, x_to_y)
    outcome, kind, feature = _clip_to_edge(y, f, tail, head, _rounding(x_to_y, tail, head))
    return outcome, EDGE, e, kind, feature


@inner
def _ends(body, e, placement):
    """Tail and head of an edge, carried along."""
    tail, head = body.edge_vertices[e, 0], body.edge_vertices[e, 1]
    return carried(placement, _point(body, tail)), carried(placement, _point(body, head))


@inner
def _clip_to_edge(body, e, p, q, rounding):
    """The neighbour of edge e in whose region the nearest point of the edge from p to q lies.

    NEAREST if it lies in that of e itself.
    """
    t, h = np.int64(body.edge_vertices[e, 0]), np.int64(body.edge_vertices[e, 1])
    tail, head = _point(body, t), _point(body, h)
    margin = rounding * _length(tail, head)
    beyond, low, high = _clip_to_end(tail, head, p, q, 0.0, 1.0, margin)
    if beyond:
        return _CONTINUE, VERTEX, t
    beyond, low, high = _clip_to_end(head, tail, p, q, low, high, margin)
    if beyond:
        return _CONTINUE, VERTEX, h
    return _clip_to_sides(body, e, p, q, low, high, rounding)


@inner
def _clip_to_end(vertex, other, p, q, low, high, margin):
    """Whether the nearest point of the edge from p to q is beyond this end, and what remains of the edge if not."""
    d0, d1 = _end_plane(vertex, other, p), _end_plane(vertex, other, q)
    if d0 >= 0.0 and d1 >= 0.0:
        return False, low, high
    nearest = _nearest_place(p, q, vertex)
    if _end_plane(vertex, other, _between(p, q, nearest)) < -margin:
        return True, low, high
    # The nearest place is not clearly beyond, so it stays, wherever rounding has put the crossing.
    if d0 < 0.0 and d1 >= 0.0:
        return False, max(low, min(nearest, _crossing(d0, d1))), high
    if d0 >= 0.0:
        return False, low, min(high, max(nearest, _crossing(d0, d1)))
    return False, low, high


@inner
def _clip_to_sides(body, e, p, q, low, high, rounding):
    """As ``_clip_to_edge`` for the planes of the two faces; the zero planes of a segment clip nothing."""
    low_face, high_face = np.int64(_NONE), np.int64(_NONE)
    first, last = low, high
    for side in range(2):
        face = np.int64(body.edge_faces[e, side])
        d0, d1 = _side_plane(body, e, side, p), _side_plane(body, e, side, q)
        d_first, d_last = d0 + first * (d1 - d0), d0 + last * (d1 - d0)
        if d_first <= rounding and d_last <= rounding:
            continue
        if d_first > rounding and d_last > rounding:
            return _CONTINUE, FACE, face
        if d_first > d_last:
            if low_face == _NONE or _leaves_by(body, face, low_face, d0 + low * (d1 - d0), p, q, low, rounding):
                low, low_face = max(low, _crossing(d0, d1) if d_last < 0.0 else last), face
        elif high_face == _NONE or _leaves_by(body, face, high_face, d0 + high * (d1 - d0), p, q, high, rounding):
            high, high_face = min(high, _crossing(d0, d1) if d_first < 0.0 else first), face
    # Post-clip derivative check, not of the slope but of what can be gained.
    if low_face != _NONE and _gain(body, low_face, p, q, low, first) > rounding:
        return _CONTINUE, FACE, low_face
    if high_face != _NONE and _gain(body, high_face, p, q, high, last) > rounding:
        return _CONTINUE, FACE, high_face
    return NEAREST, EDGE, e


@inner
def _leaves_by(body, face, other, behind, p, q, place, rounding):
    """Whether the edge from p to q leaves a region by the plane of this face and not, at the given place, by the other.

    It is behind the plane there by so much.  At the rim of a plate both planes are the same up to rounding, and there
    is something to gain only from the face that the edge is above.
    """
    if abs(behind) > rounding:
        return behind > 0.0
    here = _between(p, q, place)
    return _height(body, face, here) > _height(body, other, here)


@inner
def _gain(body, face, p, q, place, end):
    """How much nearer to a face the edge from p to q comes between two of its places."""
    h0, h1 = _height(body, face, p), _height(body, face, q)
    here, there = h0 + place * (h1 - h0), h0 + end * (h1 - h0)
    crossed = (here > 0.0) != (there > 0.0)
    return abs(here) if crossed else abs(here) - abs(there)


@inner
def _vertex_face(x, y, x_to_y, v, f):
    p = carried(x_to_y, _point(x, v))
    edge = _most_violated_side(y, f, p, _rounding(x_to_y, p, p))
    if edge != _NONE:
        return _CONTINUE, VERTEX, v, EDGE, edge
    height = _height(y, f, p)
    edge = _edge_towards(x, v, y, f, x_to_y, p, height)
    if edge != _NONE:
        return _CONTINUE, EDGE, edge, FACE, f
    if height > 0.0:
        return NEAREST, VERTEX, v, FACE, f
    face = _handle_local_minimum(y, f, p, height)
    if face != _NONE:
        return _CONTINUE, VERTEX, v, FACE, face
    return PENETRATING, VERTEX, v, FACE, f


@inner
def _side_of(body, k):
    """On which side of its edge, left (0) or right (1), the face lies to whose outline corner k belongs."""
    return 0 if body.edge_vertices[body.face_edges[k], 0] == body.face_vertices[k] else 1


@inner
def _most_violated_side(body, f, p, rounding):
    """The edge of face f behind whose plane p lies farthest, or none.

    The nearest point of the face is on this edge or at an end of it: none of the planes is farther than the face.
    """
    found, lowest = np.int64(_NONE), -rounding
    for k in range(body.face_starts[f], body.face_starts[f + 1]):
        edge = np.int64(body.face_edges[k])
        d = _side_plane(body, edge, _side_of(body, k), p)
        if d < lowest:
            found, lowest = edge, d
    return found


@inner
def _edge_towards(x, v, y, f, x_to_y, p, height):
    """The edge of x at vertex v, which is carried to p, that goes farthest towards the plane of face f, or none."""
    found, most = np.int64(_NONE), 0.0
    for k in range(x.vertex_starts[v], x.vertex_starts[v + 1]):
        q = carried(x_to_y, _point(x, x.vertex_ends[k]))
        other = _height(y, f, q)
        gain = height - other if height > 0.0 else other - height
        if gain > most and gain > _rounding(x_to_y, p, q):
            found, most = np.int64(x.vertex_edges[k]), gain
    return found


@inner
def _handle_local_minimum(body, f, p, height):
    """The face by which the ray from face f to p, which is below it, leaves the body; or none: p lies in the body.

    Mirtich takes the face that p is highest above, of all faces.  That one may be farther away than face f, and the
    walk come back.  The place where the ray leaves is nearer to p than the foot c where it begins.  It lies on the
    face with the largest n.d / -height(c).  This is a linear function over the vertices of the polytope that is
    dual to the body from c: climbing from face to neighbour ends there.
    """
    planes = body.face_planes
    normal = (planes[f, 0], planes[f, 1], planes[f, 2])
    foot = (p[0] - height * normal[0], p[1] - height * normal[1], p[2] - height * normal[2])
    here, here_rate = f, _LOWEST
    while True:
        best, best_rate = np.int64(_NONE), here_rate
        for k in range(body.face_starts[here], body.face_starts[here + 1]):
            face = np.int64(body.edge_faces[body.face_edges[k], 1 - _side_of(body, k)])
            if face == f:
                continue
            rate = _exit_rate(body, face, normal, foot)
            if rate > best_rate or (best == _NONE and here == f):
                best, best_rate = face, rate
        if best == _NONE:
            return here if _height(body, here, p) > 0.0 else np.int64(_NONE)
        here, here_rate = best, best_rate


@inner
def _exit_rate(body, face, normal, foot):
    """How fast a ray from the foot, against the normal, comes nearer to the plane of a face, in units of the way."""
    planes = body.face_planes
    way = -_height(body, face, foot)
    nearer = -dot((planes[face, 0], planes[face, 1], planes[face, 2]), normal)
    if way > 0.0:
        return nearer / way
    return np.inf if nearer > 0.0 else _LOWEST


@inner
def _edge_face(x, y, x_to_y, e, f):
    tail, head = _ends(x, e, x_to_y)
    low, high = 0.0, 1.0
    low_edge, high_edge = np.int64(_NONE), np.int64(_NONE)
    behind_tail, behind_head = 0, 0
    excluded = False
    for k in range(y.face_starts[f], y.face_starts[f + 1]):
        edge = np.int64(y.face_edges[k])
        side = _side_of(y, k)
        d0, d1 = _side_plane(y, edge, side, tail), _side_plane(y, edge, side, head)
        if d0 < 0.0:
            if d1 < 0.0:
                excluded = True
                break
            behind_tail += 1
            place = _crossing(d0, d1)
            if place >= low:
                low, low_edge = place, edge
        elif d1 < 0.0:
            behind_head += 1
            place = _crossing(d0, d1)
            if place <= high:
                high, high_edge = place, edge
    if excluded or low > high:
        first = np.int64(y.face_edges[y.face_starts[f]])
        return _CONTINUE, EDGE, e, EDGE, _nearest_side(y, f, tail, head, first, np.inf)
    h0, h1 = _height(y, f, tail), _height(y, f, head)
    low_height, high_height = h0 + low * (h1 - h0), h0 + high * (h1 - h0)
    if not ((low_height > 0.0 and high_height > 0.0) or (low_height < 0.0 and high_height < 0.0)):
        return PENETRATING, EDGE, e, FACE, f
    to_tail = (h1 >= h0) == (low_height > 0.0) or h0 == h1
    edge, behind = (low_edge, behind_tail) if to_tail else (high_edge, behind_head)
    if edge == _NONE:
        return _CONTINUE, VERTEX, np.int64(x.edge_vertices[e, 0 if to_tail else 1]), FACE, f
    if behind > 1:  # the edge goes on behind other sides, and one of them may be nearer
        edge = _nearest_side(y, f, tail, head, edge, _gap(y, edge, tail, head) - _rounding(x_to_y, tail, head))
    return _CONTINUE, EDGE, e, EDGE, edge


@inner
def _nearest_side(body, f, p, q, found, least):
    """The edge of face f that is nearest to the edge from p to q; the one found so far, unless another has less."""
    for k in range(body.face_starts[f], body.face_starts[f + 1]):
        edge = np.int64(body.face_edges[k])
        side = _side_of(body, k)
        if _side_plane(body, edge, side, p) < 0.0 or _side_plane(body, edge, side, q) < 0.0:
            gap = _gap(body, edge, p, q)
            if gap < least:
                found, least = edge, gap
    return found


@inner
def _gap(body, e, p, q):
    """The distance of edge e from the edge from p to q."""
    tail, head = _point(body, body.edge_vertices[e, 0]), _point(body, body.edge_vertices[e, 1])
    u, v, r = subtract(head, tail), subtract(q, p), subtract(tail, p)
    s, t = nearest_places(u, v, r)
    gap = (r[0] + s * u[0] - t * v[0], r[1] + s * u[1] - t * v[1], r[2] + s * u[2] - t * v[2])
    return np.sqrt(dot(gap, gap))
