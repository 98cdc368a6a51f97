"""``method="brute"``: every question answered by looking at all pairs of triangles.

This is the referee: slow, exact and simple.  The yes/no question goes through Zachmann's simple
algorithm (edges against polygons), contacts and distances through plain all pairs, and solids
through the exact cells of geometry.solid.

Kernels take bodies as tuples, batches of poses (k, 4, 4), and handle one pose after the other.
Each is compiled when it is first needed: the inside of solids, for example, only when one occurs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.geometry.all_pairs import any_pair_within, meeting_pairs, nearest_pair, pose_triangles
from impinge.geometry.cast import Floats
from impinge.geometry.contact import MOST_POINTS, construct_contact
from impinge.geometry.mesh import Mesh
from impinge.geometry.pose import posed_vertices
from impinge.geometry.simple import surfaces_meet
from impinge.geometry.solid import (
    EVERYTHING,
    IN_BOTH,
    ONLY_IN_A,
    ONLY_IN_B,
    cells_around_contact,
    vertex_inside,
)
from impinge.geometry.triangle import load_triangle
from impinge.jit import kernel


class Body(NamedTuple):
    """What the kernels need to know of a mesh."""

    vertices: Floats
    faces: NDArray[np.int32]
    edges: NDArray[np.int32]
    """Every edge of every face once; a face with a repeated vertex has an edge from it to itself."""
    pieces: NDArray[np.int64]
    """One face of each connected piece of the surface."""
    labels: NDArray[np.int32]
    """The piece of each face."""
    solid: bool


# ------------------------------------------------------------------------------ kernels


@kernel
def _room_for(body):
    return np.empty_like(body.vertices), np.empty((len(body.faces), 3, 3))


@kernel
def _pose(body, pose, world, triangles):
    pose_triangles(pose, body.vertices, body.faces, world, triangles)


@kernel
def _surfaces_meet(a, b, poses_a, poses_b, answers):
    world_a, triangles_a = _room_for(a)
    world_b, triangles_b = _room_for(b)
    for i in range(len(poses_a)):
        _pose(a, poses_a[i], world_a, triangles_a)
        _pose(b, poses_b[i], world_b, triangles_b)
        answers[i] = surfaces_meet(world_a, a.edges, triangles_a, world_b, b.edges, triangles_b, True)


@kernel
def _surfaces_within(a, b, poses_a, poses_b, clearance, answers):
    world_a, triangles_a = _room_for(a)
    world_b, triangles_b = _room_for(b)
    for i in range(len(poses_a)):
        _pose(a, poses_a[i], world_a, triangles_a)
        _pose(b, poses_b[i], world_b, triangles_b)
        answers[i] = any_pair_within(triangles_a, triangles_b, clearance)


@kernel
def _nearest_pairs(a, b, poses_a, poses_b, values, points, faces):
    world_a, triangles_a = _room_for(a)
    world_b, triangles_b = _room_for(b)
    for i in range(len(poses_a)):
        _pose(a, poses_a[i], world_a, triangles_a)
        _pose(b, poses_b[i], world_b, triangles_b)
        values[i], faces[i, 0], faces[i, 1] = nearest_pair(triangles_a, triangles_b, points[i])


@kernel
def _meeting_pairs(a, b, poses_a, poses_b):
    """All (pose, face of a, face of b, kind), in this order."""
    world_a, triangles_a = _room_for(a)
    world_b, triangles_b = _room_for(b)
    pairs = np.empty((16, 4), dtype=np.int64)
    count = 0
    for i in range(len(poses_a)):
        _pose(a, poses_a[i], world_a, triangles_a)
        _pose(b, poses_b[i], world_b, triangles_b)
        pairs, count = meeting_pairs(triangles_a, triangles_b, i, pairs, count)
    return pairs[:count]


@kernel
def _construct_contacts(a, b, poses_a, poses_b, pairs, segments, normals):
    world_a, triangles_a = _room_for(a)
    world_b, triangles_b = _room_for(b)
    points = np.empty((2 * MOST_POINTS, 3))
    posed = -1
    for n in range(len(pairs)):
        if pairs[n, 0] != posed:
            posed = pairs[n, 0]
            _pose(a, poses_a[posed], world_a, triangles_a)
            _pose(b, poses_b[posed], world_b, triangles_b)
        s = load_triangle(triangles_a, pairs[n, 1])
        t = load_triangle(triangles_b, pairs[n, 2])
        _, normal = construct_contact(s, t, pairs[n, 3], points)
        for k in range(3):
            segments[n, 0, k] = points[0, k]
            segments[n, 1, k] = points[1, k]
            normals[n, k] = normal[k]


@kernel
def _pieces_inside(a, b, poses_a, poses_b, free, inside):
    """Which free pieces of surface a, which do not meet b, lie inside the closed surface b."""
    world_a, triangles_a = _room_for(a)
    world_b, triangles_b = _room_for(b)
    for i in range(len(poses_a)):
        _pose(a, poses_a[i], world_a, triangles_a)
        _pose(b, poses_b[i], world_b, triangles_b)
        for n in range(len(a.pieces)):
            inside[i, n] = free[i, n] and vertex_inside(triangles_a[a.pieces[n], 0], triangles_b)


@kernel
def _cells_at_contacts(a, b, poses_a, poses_b, pairs, cells):
    """Add the cells (see geometry.solid) that meet at contacts to those known for each pose."""
    world_a, triangles_a = _room_for(a)
    world_b, triangles_b = _room_for(b)
    seen_a = np.empty((len(a.faces), 3), dtype=np.bool_)
    seen_b = np.empty((len(b.faces), 3), dtype=np.bool_)
    posed = -1
    for n in range(len(pairs)):
        i = pairs[n, 0]
        if cells[i] == EVERYTHING:
            continue
        if i != posed:
            posed = i
            _pose(a, poses_a[i], world_a, triangles_a)
            _pose(b, poses_b[i], world_b, triangles_b)
            seen_a[:] = False
            seen_b[:] = False
        cells[i] = cells_around_contact(pairs[n, 1], pairs[n, 2], triangles_a, triangles_b, seen_a, seen_b, cells[i])


# ------------------------------------------------------------------------------- method


def _body(mesh: Mesh) -> Body:
    corners = mesh.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    edges = np.unique(np.sort(corners, axis=1), axis=0)
    pieces = np.unique(mesh.components, return_index=True)[1]
    return Body(mesh.vertices, mesh.faces, edges, pieces, mesh.components, mesh.solid)


class BruteForce:
    """The questions about two meshes, for batches of poses (k, 4, 4)."""

    def __init__(self, a: Mesh, b: Mesh) -> None:
        self._a = a.memo("brute force", _body)
        self._b = b.memo("brute force", _body)

    def collides(self, poses_a: Floats, poses_b: Floats) -> NDArray[np.bool_]:
        answers = np.empty(len(poses_a), dtype=np.bool_)
        _surfaces_meet(self._a, self._b, poses_a, poses_b, answers)
        for _, where, inside in self._nested(poses_a, poses_b, ~answers):
            answers[where] |= inside.any(axis=1)
        return answers

    def closer_than(self, clearance: float, poses_a: Floats, poses_b: Floats) -> NDArray[np.bool_]:
        answers = np.empty(len(poses_a), dtype=np.bool_)
        _surfaces_within(self._a, self._b, poses_a, poses_b, clearance, answers)
        for _, where, inside in self._nested(poses_a, poses_b, ~answers):
            answers[where] |= inside.any(axis=1)
        return answers

    def contacts(self, poses_a: Floats, poses_b: Floats) -> tuple[NDArray[np.int64], Floats, Floats]:
        """(pose, face of a, face of b, kind) for all contacts, their segments and normals."""
        pairs = _meeting_pairs(self._a, self._b, poses_a, poses_b)
        segments, normals = self._construct(poses_a, poses_b, pairs)
        return pairs, segments, normals

    def distance(self, poses_a: Floats, poses_b: Floats) -> tuple[Floats, Floats, NDArray[np.int32]]:
        """Values, points (k, 2, 3) and faces (k, 2)."""
        count = len(poses_a)
        values = np.empty(count)
        points = np.empty((count, 2, 3))
        faces = np.empty((count, 2), dtype=np.int32)
        _nearest_pairs(self._a, self._b, poses_a, poses_b, values, points, faces)
        if (meet := np.flatnonzero(values == 0.0)).size:
            # The kind only says how many corners are wanted; a chord will do.
            pairs = np.column_stack([meet, faces[meet], np.ones_like(meet)]).astype(np.int64)
            points[meet] = self._construct(poses_a, poses_b, pairs)[0][:, :1]
        for side, where, inside in self._nested(poses_a, poses_b, values > 0.0):
            body, poses = ((self._a, poses_a), (self._b, poses_b))[side]
            for i, pieces in zip(where, inside, strict=True):
                if pieces.any():
                    face = body.pieces[pieces.argmax()]
                    values[i] = 0.0
                    points[i] = posed_vertices(poses[i], body.vertices[body.faces[face, :1]])
                    faces[i] = -1
                    faces[i, side] = face
        return values, points, faces

    def relation(self, poses_a: Floats, poses_b: Floats) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The cells of geometry.solid, and whether the surfaces meet."""
        pairs = _meeting_pairs(self._a, self._b, poses_a, poses_b)
        cells = np.zeros(len(poses_a), dtype=np.int64)
        for body, other, poses, other_poses, column, only_here, only_there in (
            (self._a, self._b, poses_a, poses_b, 1, ONLY_IN_A, ONLY_IN_B),
            (self._b, self._a, poses_b, poses_a, 2, ONLY_IN_B, ONLY_IN_A),
        ):
            free = np.ones((len(poses), len(body.pieces)), dtype=np.bool_)
            free[pairs[:, 0], body.labels[pairs[:, column]]] = False
            inside = np.empty_like(free)
            _pieces_inside(body, other, poses, other_poses, free, inside)
            cells |= np.where(inside.any(axis=1), IN_BOTH | only_there, 0)
            cells |= np.where((free & ~inside).any(axis=1), only_here, 0)
        if len(pairs):
            _cells_at_contacts(self._a, self._b, poses_a, poses_b, pairs, cells)
        return cells, np.bincount(pairs[:, 0], minlength=len(poses_a)) > 0

    def _nested(
        self, poses_a: Floats, poses_b: Floats, apart: NDArray[np.bool_]
    ) -> Iterator[tuple[int, NDArray[np.intp], NDArray[np.bool_]]]:
        """Where surfaces are apart: for a in b (side 0) and b in a (side 1), the poses and which pieces are inside."""
        where = np.flatnonzero(apart)
        for side, body, other, poses, other_poses in (
            (0, self._a, self._b, poses_a, poses_b),
            (1, self._b, self._a, poses_b, poses_a),
        ):
            if other.solid and len(where):
                free = np.ones((len(where), len(body.pieces)), dtype=np.bool_)
                inside = np.empty_like(free)
                _pieces_inside(body, other, poses[where], other_poses[where], free, inside)
                yield side, where, inside

    def _construct(self, poses_a: Floats, poses_b: Floats, pairs: NDArray[np.int64]) -> tuple[Floats, Floats]:
        segments = np.empty((len(pairs), 2, 3))
        normals = np.empty((len(pairs), 3))
        if len(pairs):
            _construct_contacts(self._a, self._b, poses_a, poses_b, pairs, segments, normals)
        return segments, normals
