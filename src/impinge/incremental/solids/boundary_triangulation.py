# mypy: allow-untyped-defs, allow-incomplete-defs
"""The part of a hull face that no face of the mesh covers, by a triangulation of the vertices on its border.

[Ponamgi1995] (4.4): every pair of vertices on a hull face is a possible edge.  It is legal if it crosses no edge that
is there already and passes through no vertex.  The shortest pairs are tried first.  When no legal edge is left, the
edges divide the whole hull face into triangles.  Those on the left of the border are the caps; the others rest on
faces of the mesh and are put aside, by walking from the border across new edges.

Each turn is exact, so long thin faces do no harm.  The time grows with the cube of the number of vertices.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key

import numpy as np

from impinge.geometry.exact.predicates import orient2d
from impinge.incremental.solids.hull_surface import Plane, Run
from impinge.incremental.solids.polygon_subtraction import Region, Triangle
from impinge.kernels.jit import inner, kernel


@inner
def _turn(points, a, b, c):
    return orient2d(points[a, 0], points[a, 1], points[b, 0], points[b, 1], points[c, 0], points[c, 1])


@inner
def _boxes_meet(points, a, b, c, d):
    for k in range(2):
        if max(points[a, k], points[b, k]) < min(points[c, k], points[d, k]):
            return False
        if min(points[a, k], points[b, k]) > max(points[c, k], points[d, k]):
            return False
    return True


@inner
def _crosses(points, a, b, c, d):
    """Whether two edges without a vertex in their interior meet anywhere but in a common end."""
    if a in (c, d) or b in (c, d) or not _boxes_meet(points, a, b, c, d):
        return False
    return _turn(points, a, b, c) != _turn(points, a, b, d) and _turn(points, c, d, a) != _turn(points, c, d, b)


@inner
def _passes_a_vertex(points, a, b):
    for p in range(len(points)):
        if p != a and p != b and _boxes_meet(points, a, b, p, p) and _turn(points, a, b, p) == 0:
            return True
    return False


@inner
def _is_legal(points, edges, count, a, b):
    """Whether an edge crosses none of those that are there already, and passes through no vertex."""
    for k in range(count):
        c, d = edges[k, 0], edges[k, 1]
        if (a == c and b == d) or (a == d and b == c) or _crosses(points, a, b, c, d):
            return False
    return not _passes_a_vertex(points, a, b)


@kernel("float64[:, ::1], int32[:, ::1], int32[:, ::1], int64")
def add_legal_edges(points, pairs, edges, count):
    """Add the pairs, in their order, that are legal after all edges before them; returns how many edges there are.

    ``count`` are there already.
    """
    for i in range(len(pairs)):
        a, b = pairs[i, 0], pairs[i, 1]
        if _is_legal(points, edges, count, a, b):
            edges[count, 0], edges[count, 1] = a, b
            count += 1
    return count


def triangulated(plane: Plane, outline: Sequence[int], border: Sequence[Run]) -> list[Region] | None:
    """The regions inside a border on the hull face with this outline; None where faces overlap."""
    vertices = sorted({*outline, *(vertex for run in border for vertex in run)})
    number = {vertex: k for k, vertex in enumerate(vertices)}
    points = np.array([(plane.x[v], plane.y[v]) for v in vertices])
    # A planar graph over n points has at most 3 n - 6 edges.
    edges = np.empty((len(border) + 3 * len(points), 2), dtype=np.int32)
    edges[: len(border)] = [(number[a], number[b]) for a, b in border]
    first, second = np.triu_indices(len(vertices), 1)
    scaled = points / max(np.ptp(points, axis=0).max(), np.finfo(np.float64).tiny)
    order = np.argsort(((scaled[first] - scaled[second]) ** 2).sum(axis=1), kind="stable")
    pairs = np.stack([first[order], second[order]], axis=1).astype(np.int32)
    count = add_legal_edges(points, pairs, edges, len(border))
    triangles = _triangles(plane, [(vertices[a], vertices[b]) for a, b in edges[:count].tolist()])
    return _regions(triangles, border)


def _triangles(plane: Plane, edges: Sequence[Run]) -> list[Triangle]:
    """The triangles of a triangulation, each from its smallest vertex."""
    around: dict[int, list[int]] = {}
    for a, b in edges:
        around.setdefault(a, []).append(b)
        around.setdefault(b, []).append(a)
    after: dict[Run, int] = {}
    for tip, ends in around.items():
        ends.sort(key=cmp_to_key(lambda a, b, tip=tip: _before(plane, tip, a, b)))  # type: ignore[misc]
        for k, end in enumerate(ends):
            after[tip, ends[k - 1]] = end
    found = []
    for (a, b), c in after.items():
        if a < min(b, c) and plane.turn(a, b, c) > 0 and after[b, c] == a and after[c, a] == b:
            found.append((a, b, c))
    return found


def _before(plane: Plane, tip: int, a: int, b: int) -> int:
    """-1 where the direction to a comes before that to b, counterclockwise from the axis x."""
    upper = [(plane.y[v], plane.x[v]) > (plane.y[tip], plane.x[tip]) for v in (a, b)]
    if upper[0] != upper[1]:
        return -1 if upper[0] else 1
    return -plane.turn(tip, a, b)


def _regions(triangles: Sequence[Triangle], border: Sequence[Run]) -> list[Region] | None:
    """The triangles on the left of the border, in connected groups."""
    fixed = set(border)
    owner = {run: k for k, (a, b, c) in enumerate(triangles) for run in ((a, b), (b, c), (c, a))}
    seen: set[int] = set()
    regions = []
    for start in border:
        if start not in owner:
            return None
        if owner[start] in seen:
            continue
        seen.add(owner[start])
        stack, group = [owner[start]], []
        edge: list[Run] = []
        while stack:
            here = stack.pop()
            a, b, c = triangles[here]
            group.append(triangles[here])
            for run in ((a, b), (b, c), (c, a)):
                back = run[1], run[0]
                if run in fixed:
                    edge.append(run)
                elif back in fixed or back not in owner:
                    return None
                elif owner[back] not in seen:
                    seen.add(owner[back])
                    stack.append(owner[back])
        regions.append(Region(sorted(group), edge))
    return regions
