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
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from impinge.arrays import Bools, Floats, Ints
from impinge.convex.hull.directions import directions, exact_normal, rounded_direction
from impinge.geometry.exact.integers import collinear
from impinge.mesh import topology
from impinge.mesh.mesh import Mesh

Run = tuple[int, int]

_LEAST_SINE = 2.0**-20
"""Of the angle between two sides, for which their product in floats is right to 2**-30."""


def red_features(mesh: Mesh, source: Ints, edges: Ints, polygons: list[list[int]]) -> tuple[Bools, Bools]:
    """(e,) and (f,): which edges and faces of a hull over ``mesh.vertices[source]`` lie on the mesh."""
    corners = topology.merged_vertices(mesh)[source]
    outlines = [corners[polygon].tolist() for polygon in polygons]
    candidates = _triangles_in_planes(mesh, outlines)
    faces = np.array(
        [_covers(mesh, runs, outline) for runs, outline in zip(candidates, outlines, strict=True)], np.bool_
    )
    return _red_edges(mesh, corners, edges, polygons, faces), faces


def _red_edges(mesh: Mesh, corners: Ints, edges: Ints, polygons: list[list[int]], red_faces: Bools) -> Bools:
    red = {(a, b) for a, b in topology.edges(mesh).pairs.tolist()}
    for face in np.flatnonzero(red_faces).tolist():
        outline = corners[polygons[face]].tolist()
        red.update((min(run), max(run)) for run in zip(outline, outline[1:] + outline[:1], strict=True))
    pairs = np.sort(corners[edges], axis=1).tolist()
    return np.array([(a, b) in red for a, b in pairs], dtype=np.bool_)


def _triangles_in_planes(mesh: Mesh, outlines: list[list[int]]) -> list[list[Run]]:
    """The directed edges of the triangles in the plane of each polygon, turned the way of the polygon.

    The normals in floats propose a polygon for each triangle and each of its two sides; exact signs decide.
    """
    found: list[list[Run]] = [[] for _ in outlines]
    if not outlines:
        return found
    from scipy.spatial import cKDTree  # type: ignore[import-untyped]

    from impinge.convex.hull.exact_quickhull import sides

    triangles = _each_once(topology.merged_faces(mesh)[topology.proper_faces(mesh)])
    planes = np.array([_spread(outline) for outline in outlines], dtype=np.int32)
    normals = _unit_normals(mesh.vertices, triangles)
    tree = cKDTree(_unit_normals(mesh.vertices, planes))
    for turned, outward in ((triangles, normals), (triangles[:, ::-1], -normals)):
        nearest = tree.query(outward)[1]
        on_plane = np.ones(len(turned), dtype=np.bool_)
        for k in range(3):
            on_plane &= sides(mesh.vertices, planes[nearest], np.ascontiguousarray(turned[:, k])) == 0
        for face, (a, b, c) in zip(nearest[on_plane].tolist(), turned[on_plane].tolist(), strict=True):
            found[face] += [(a, b), (b, c), (c, a)]
    return found


def _each_once(triangles: Ints) -> Ints:
    first = np.unique(np.sort(triangles, axis=1), axis=0, return_index=True)[1]
    return np.ascontiguousarray(triangles[first])


def _spread(outline: list[int]) -> list[int]:
    """Three corners that are not all beside each other: no needle in most cases."""
    count = len(outline)
    return [outline[0], outline[count // 3], outline[2 * count // 3]]


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


def _covers(mesh: Mesh, runs: list[Run], outline: list[int]) -> bool:
    """Whether what is left of the directed edges is the outline, possibly with further points on its sides."""
    uses = Counter(runs)
    left = [run for run, count in uses.items() if count > uses[run[1], run[0]]]
    successor = dict(left)
    if len(successor) != len(left) or any(uses[run] - uses[run[1], run[0]] != 1 for run in left):
        return False
    sides = zip(outline, outline[1:] + outline[:1], strict=True)
    return all(_passes(mesh.vertices, successor, tail, head) for tail, head in sides) and not successor


def _passes(vertices: Floats, successor: dict[int, int], tail: int, head: int) -> bool:
    """Follow the cycle from tail straight to head, using up what is passed."""
    here = tail
    while here != head:
        following = successor.pop(here, None)
        if following is None or not collinear(*vertices[[tail, head, following]].tolist()):
            return False
        here = following
    return True
