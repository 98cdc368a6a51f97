"""The part of a hull face that no face of the mesh covers, by subtraction of polygons.

[Ponamgi1995] (4.4) subtracts the faces one by one and meets robustness problems with long thin faces.  Here the borders
are subtracted, all at once, and no point is ever computed:

Take the directed edges of the hull face (counterclockwise) and, run backwards, those of the faces on it
(counterclockwise too), each divided at all vertices that stand on it.  Opposite edges cancel.  What is left is the
border of the uncovered part, with that part on its left.  Its cycles are outlines and holes; holes are joined to
their outline by cuts, and ears are clipped, with exact turns.

Why the result is right, or known to be wrong
---------------------------------------------
The border of the triangles found is, as a chain, the border that was left: cuts cancel.  So

    hull face - sum of the faces = sum of the triangles

holds for the number of times that each covers a point: both sides are functions with the same border, hence differ by a
constant, which is zero far away.  If no triangle is turned over, the right side is never negative: no point was covered
twice by the faces, and the triangles fill the rest exactly.  If one is turned over, the faces overlap (or an
assumption failed), and there is no answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from impinge.geometry.exact.integers import as_integers
from impinge.incremental.solids.hull_surface import Plane, Run, runs
from impinge.mesh.triangulation.triangulate import clip_ears

Triangle = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Region:
    """A connected part of a hull face, holes and all."""

    triangles: list[Triangle]
    """Counterclockwise from outside, each with an area."""
    border: list[Run]
    """With the region on the left."""


def uncovered_border(outline: Sequence[int], rings: Sequence[Sequence[int]]) -> list[Run] | None:
    """The directed edges around what the rings leave of the outline; None where some are left twice."""
    uses = Counter(runs(outline))
    for ring in rings:
        uses.update((b, a) for a, b in runs(ring))
    left = []
    for (a, b), count in uses.items():
        surplus = count - uses.get((b, a), 0)
        if surplus > 1:
            return None
        if surplus == 1:
            left.append((a, b))
    return left


def subtracted(plane: Plane, border: Sequence[Run]) -> list[Region] | None:
    """The regions inside a border, divided into triangles; None where the faces overlap."""
    loops = cycles(plane, border)
    if loops is None:
        return None
    areas = [twice_area(plane, loop) for loop in loops]
    if 0 in areas:
        return None
    outlines = [k for k, area in enumerate(areas) if area > 0]
    holes: dict[int, list[list[int]]] = {k: [] for k in outlines}
    for k, area in enumerate(areas):
        if area < 0:
            around = [
                other for other in outlines if areas[other] > -area and loop_inside(plane, loops[k], loops[other])
            ]
            if not around:
                return None
            holes[min(around, key=lambda other: areas[other])].append(loops[k])
    regions = []
    for k in outlines:
        triangles = _triangles(plane, loops[k], holes[k])
        if triangles is None:
            return None
        regions.append(Region(triangles, [run for loop in (loops[k], *holes[k]) for run in runs(loop)]))
    return regions


def cycles(plane: Plane, border: Sequence[Run]) -> list[list[int]] | None:
    """The border as cycles: where it touches itself, each goes on along the region that it has on its left."""
    leaving: dict[int, list[int]] = {}
    for a, b in border:
        leaving.setdefault(a, []).append(b)
    following: dict[Run, Run] = {}
    for u, v in border:
        ahead = leaving.get(v)
        if not ahead:
            return None
        following[u, v] = (v, _first_clockwise(plane, v, u, ahead))
    if len(set(following.values())) != len(following):
        return None
    loops = []
    while following:
        run = next(iter(following))
        loop = []
        while run in following:
            loop.append(run[0])
            run = following.pop(run)
        loops.append(loop)
    return loops


def _first_clockwise(plane: Plane, tip: int, start: int, ends: Sequence[int]) -> int:
    """Of the directions from the tip, the first one clockwise from that to the start."""
    best = ends[0]
    for end in ends[1:]:
        if _is_between(plane, tip, best, end, start):
            best = end
    return best


def _is_between(plane: Plane, tip: int, first: int, middle: int, last: int) -> bool:
    """Whether, counterclockwise around the tip, the direction to ``middle`` comes after ``first`` and before ``last``.

    No two directions are the same: edges are divided at all vertices on them.
    """
    turn = plane.turn(tip, first, last)
    if turn > 0:
        return plane.turn(tip, first, middle) > 0 and plane.turn(tip, middle, last) > 0
    if turn < 0:
        return not (plane.turn(tip, last, middle) >= 0 and plane.turn(tip, middle, first) >= 0)
    return plane.turn(tip, first, middle) > 0


def _opposite(plane: Plane, tip: int, a: int, b: int) -> bool:
    """Whether two directions on one line are opposite."""
    x, y = plane.x, plane.y
    return (x[a] < x[tip]) != (x[b] < x[tip]) if x[a] != x[tip] else (y[a] < y[tip]) != (y[b] < y[tip])


def twice_area(plane: Plane, loop: Sequence[int]) -> int:
    """Twice the signed area, in a unit that is the same for all loops; exact."""
    smallest = 5e-324  # the unit of length: every float64 is a multiple of it
    whole = as_integers([smallest, *(plane.x[v] for v in loop), *(plane.y[v] for v in loop)])[1:]
    x, y = whole[: len(loop)], whole[len(loop) :]
    return sum(x[k - 1] * y[k] - x[k] * y[k - 1] for k in range(len(loop)))


def loop_inside(plane: Plane, inner: Sequence[int], outer: Sequence[int]) -> bool:
    """Whether a loop lies inside another that it does not cross, by a vertex that they do not share."""
    shared = set(outer)
    probe = next((vertex for vertex in inner if vertex not in shared), None)
    return probe is not None and vertex_inside(plane, probe, outer)


def vertex_inside(plane: Plane, vertex: int, loop: Sequence[int]) -> bool:
    """Whether a vertex that is not on a loop lies inside, by the parity of the edges to its right; exact."""
    y = plane.y
    level = y[vertex]
    inside = False
    for a, b in runs(loop):
        if (y[a] > level) != (y[b] > level):
            low, high = (a, b) if y[a] <= level else (b, a)
            if plane.turn(low, high, vertex) > 0:
                inside = not inside
    return inside


def _triangles(plane: Plane, outline: list[int], holes: list[list[int]]) -> list[Triangle] | None:
    """Ears of the outline, holes joined to it by cuts; None if one is turned over."""
    ring = outline
    x, y = plane.x, plane.y
    waiting = sorted(holes, key=lambda hole: min((x[v], y[v]) for v in hole))
    while waiting:
        hole = waiting.pop(0)
        joined = _joined(plane, ring, hole, waiting)
        if joined is None:
            return None
        ring = joined
    found = []
    for a, b, c in clip_ears([x[v] for v in ring], [y[v] for v in ring]):
        triangle = ring[a], ring[b], ring[c]
        turn = plane.turn(*triangle)
        if turn < 0:
            return None
        if turn > 0:
            found.append(triangle)
    return found


def _joined(plane: Plane, ring: list[int], hole: list[int], others: list[list[int]]) -> list[int] | None:
    """The ring with the hole in it, along a cut from the hole's leftmost vertex to a vertex that it sees.

    Holes are taken from the left to the right: to the left of the leftmost vertex there is only the ring, and
    the nearest of its vertices in the sector seen is visible.
    """
    x, y = plane.x, plane.y
    tip = min(hole, key=lambda v: (x[v], y[v]))
    starts = [k for k, vertex in enumerate(hole) if vertex == tip]
    edges = [run for loop in (ring, hole, *others) for run in runs(loop)]
    order = sorted(range(len(ring)), key=lambda k: (x[ring[k]] - x[tip]) ** 2 + (y[ring[k]] - y[tip]) ** 2)
    for k in order:
        end = ring[k]
        if (x[end], y[end]) > (x[tip], y[tip]):
            continue
        if not _leads_inside(plane, ring[k - 1], end, ring[(k + 1) % len(ring)], tip):
            continue
        if not any(_obstructs(plane, tip, end, a, b) for a, b in edges):
            for start in starts:
                if _leads_inside(plane, hole[start - 1], tip, hole[(start + 1) % len(hole)], end):
                    return [*ring[: k + 1], *hole[start:], *hole[: start + 1], *ring[k:]]
    return None


def _leads_inside(plane: Plane, before: int, tip: int, after: int, target: int) -> bool:
    """Whether the direction to the target lies in the angle between two edges of a ring, on their left."""
    if before == after:
        return True
    if plane.turn(before, tip, after) > 0:
        return plane.turn(before, tip, target) > 0 and plane.turn(tip, after, target) > 0
    return plane.turn(before, tip, target) > 0 or plane.turn(tip, after, target) > 0


def _obstructs(plane: Plane, p: int, q: int, a: int, b: int) -> bool:
    """Whether the segment ab meets pq, other than at a common end."""
    x, y = plane.x, plane.y
    if max(x[a], x[b]) < min(x[p], x[q]) or min(x[a], x[b]) > max(x[p], x[q]):
        return False
    if max(y[a], y[b]) < min(y[p], y[q]) or min(y[a], y[b]) > max(y[p], y[q]):
        return False
    shared = {a, b} & {p, q}
    if shared:
        if len(shared) == 2:
            return True
        (tip,) = shared
        far, end = (b if a == tip else a), (q if p == tip else p)
        return plane.turn(tip, far, end) == 0 and not _opposite(plane, tip, far, end)
    sides = plane.turn(p, q, a), plane.turn(p, q, b)
    return sides[0] * sides[1] <= 0 and plane.turn(a, b, p) * plane.turn(a, b, q) <= 0
