"""Where hull features and concavities meet: boundary edges, put together to loops, and sorted by hull face.

[Ponamgi1995] (4.3).  A boundary edge has a hull feature on one side and a concavity on the other.  It is run with the
concavity on its left, seen from outside.  To find the edge that follows, turn around its end within the concavity:
from face to face, across edges that are not boundary, until a boundary edge is met.  So a loop goes around one
concavity also where it touches itself or another loop, and winding is never asked.

A loop is a curve in space; pieces of it rest on hull faces.  Whole loops on one hull face can lie in each other (the
rims of cylindrical shells in Fig. 8 of the paper).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from impinge.arrays import Ints, read_only
from impinge.incremental.solids.hull_surface import HullSurface, Run
from impinge.incremental.solids.polygon_subtraction import loop_inside
from impinge.mesh import topology

Side = tuple[Run, int]
"""A boundary edge and a face of the concavity at it."""


@dataclass(frozen=True, eq=False)
class BoundaryLoop:
    """A cycle of boundary edges around a concavity, or around an island in it."""

    vertices: Ints
    """(k,) with the concavity on the left, seen from outside."""
    subset: int
    """The concavity."""
    closed: bool
    """Whether the last vertex is joined to the first; always so where the mesh has no problems."""

    @property
    def touches_itself(self) -> bool:
        """Whether a vertex is passed more than once."""
        return len(np.unique(self.vertices)) < len(self.vertices)


@dataclass(frozen=True, eq=False)
class LoopPart:
    """What rests on one hull face of a loop: all of it, or a path."""

    loop: int
    hull_face: int
    vertices: Ints
    """(k,) a cycle where it is the whole loop, otherwise a path from the first to the last."""
    whole: bool
    depth: int
    """How many other whole loops on the same hull face lie around this one; 0 for paths."""


@dataclass(frozen=True, eq=False)
class Boundary:
    """All loops, and their parts by hull face."""

    loops: tuple[BoundaryLoop, ...]
    parts: tuple[LoopPart, ...]
    """Sorted by hull face."""
    edges: Ints
    """(k, 2) all boundary edges, the smaller vertex first; sorted."""

    @property
    def vertices(self) -> Ints:
        """(k,) all boundary vertices, ascending."""
        return np.unique(self.edges)


def find_boundary(surface: HullSurface, subset: Ints) -> Boundary:
    """The boundary of a mesh, given the subset that each face belongs to."""
    sides = _boundary_sides(surface)
    tracer = _Tracer(surface, sides)
    loops, faces_of_loops = [], []
    while tracer.left:
        path, closed = tracer.trace()
        vertices = [run[0] for run, _ in path] + ([] if closed else [path[-1][0][1]])
        loops.append(BoundaryLoop(_array(vertices), int(subset[path[0][1]]), closed))
        faces_of_loops.append([tracer.hull_faces[run] for run, _ in path])
    edges = np.unique([(min(run), max(run)) for run, _ in sides], axis=0) if sides else np.zeros((0, 2))
    parts = [part for k, loop in enumerate(loops) for part in _parts(k, loop, faces_of_loops[k])]
    parts.sort(key=lambda part: (part.hull_face, part.loop))
    return Boundary(tuple(loops), tuple(_with_depth(surface, parts)), read_only(edges.astype(np.int32)))


def _array(values: Iterable[int]) -> Ints:
    return read_only(np.fromiter(values, dtype=np.int32))


def _boundary_sides(surface: HullSurface) -> dict[Side, list[int]]:
    """Boundary edges, each with a face of its concavity: the hull faces that the edge rests on."""
    hull_face = surface.hull_face
    edges = topology.edges(surface.mesh)
    on_hull = hull_face[edges.face] >= 0
    mixed = edges.pairs[(edges.count(on_hull) > 0) & (edges.count(~on_hull) > 0)]
    spans = {(a, b) for a, b in mixed.tolist()} - surface.between.keys()
    spans.update(surface.pieces)
    sides: dict[Side, list[int]] = {}
    for a, b in sorted(spans):
        faces = [face for face in surface.faces_at(a, b) if surface.has_area[face]]
        resting = [face for face in faces if hull_face[face] >= 0]
        hidden = [face for face in faces if hull_face[face] < 0]
        if resting and hidden:
            touched = sorted({int(hull_face[face]) for face in resting} | surface.hull_faces_at(a, b))
            run = (a, b) if surface.runs_backwards(resting[0], a, b) else (b, a)
            sides.update({(run, face): touched for face in hidden})
    return sides


class _Tracer:
    """Boundary edges that are in no loop yet, and the way from one to the next."""

    def __init__(self, surface: HullSurface, sides: dict[Side, list[int]]) -> None:
        self._surface = surface
        self._hidden = (surface.hull_face < 0) & surface.has_area
        self.left = dict.fromkeys(sides)
        self.hull_faces = {run: faces for (run, _), faces in sides.items()}
        self._leaving: dict[int, list[Side]] = {}
        for side in sides:
            self._leaving.setdefault(side[0][0], []).append(side)

    def trace(self) -> tuple[list[Side], bool]:
        """The next loop, and whether it is closed."""
        start = next(iter(self.left))
        path = []
        side: Side | None = start
        while side is not None and side in self.left:
            del self.left[side]
            path.append(side)
            side = self._following(side, start)
        return path, side == start

    def _following(self, side: Side, start: Side) -> Side | None:
        (tail, tip), face = side
        across = tail
        turned = {face}
        while True:
            ring = self._surface.ring(face)
            ahead = _other_neighbour(ring, tip, across)
            following = (tip, ahead), face
            if following in self.left or following == start:
                return following
            beyond = [other for other in set(self._surface.faces_at(tip, ahead)) - {face} if self._hidden[other]]
            if ahead < 0 or len(beyond) != 1 or beyond[0] in turned:
                break
            face, across = beyond[0], ahead
            turned.add(face)
        # More than two faces at an edge, or an open one: any boundary edge that leaves the vertex will do.
        ways = [way for way in self._leaving.get(tip, []) if way in self.left or way == start]
        return ways[0] if ways else None


def _other_neighbour(ring: list[int], tip: int, known: int) -> int:
    """The neighbour of the tip in a cycle that is not the known one; -1 where there is none."""
    for k, vertex in enumerate(ring):
        if vertex == tip:
            before, after = ring[k - 1], ring[(k + 1) % len(ring)]
            if before == known:
                return after
            if after == known:
                return before
    return -1


def _parts(number: int, loop: BoundaryLoop, hull_faces: list[list[int]]) -> list[LoopPart]:
    count = len(hull_faces)
    ring = loop.vertices.tolist()
    parts = []
    for hull_face in sorted({face for faces in hull_faces for face in faces}):
        rests = [hull_face in faces for faces in hull_faces]
        if all(rests):
            parts.append(LoopPart(number, hull_face, loop.vertices, loop.closed, 0))
            continue
        for first in range(count):
            if rests[first] and not (rests[first - 1] and (first or loop.closed)):
                last = first
                while last + 1 < (2 * count if loop.closed else count) and rests[(last + 1) % count]:
                    last += 1
                path = [ring[k % len(ring)] for k in range(first, last + 2)]
                parts.append(LoopPart(number, hull_face, _array(path), False, 0))
    return parts


def _with_depth(surface: HullSurface, parts: list[LoopPart]) -> list[LoopPart]:
    whole: dict[int, list[LoopPart]] = {}
    for part in parts:
        if part.whole:
            whole.setdefault(part.hull_face, []).append(part)
    counted = []
    for part in parts:
        others = whole.get(part.hull_face, []) if part.whole else []
        depth = 0
        if len(others) > 1:
            plane, ring = surface.plane(part.hull_face), part.vertices.tolist()
            depth = sum(other is not part and loop_inside(plane, ring, other.vertices.tolist()) for other in others)
        counted.append(replace(part, depth=depth))
    return counted
