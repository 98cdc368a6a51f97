"""``method="brute"``: every question answered by looking at all pairs of triangles.

This is the referee: slow, exact and simple.  The yes/no question goes through Zachmann's simple
algorithm (edges against polygons), contacts and distances through plain all pairs, and solids
through the exact cells of geometry.solid.

A body is a tuple (vertices, faces, edges, pieces, solid): ``edges`` are all edges of the faces,
``pieces`` holds one face of each connected piece of the surface.
"""

from __future__ import annotations

import numpy as np

from impinge.geometry.all_pairs import any_pair_within, find_contacts, meeting_pairs, nearest_pair, pose_triangles
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


@kernel
def _posed(body, pose, world, triangles):
    pose_triangles(pose, body[0], body[1], world, triangles)


@kernel
def _room_for(body):
    return np.empty_like(body[0]), np.empty((len(body[1]), 3, 3))


@kernel
def _piece_inside(triangles, pieces, others, solid):
    """The first piece of a surface that lies inside a solid (given that the surfaces do not meet), or -1."""
    if solid:
        for i in range(len(pieces)):
            if vertex_inside(triangles[pieces[i], 0], others):
                return pieces[i]
    return -1


@kernel
def _nested(triangles_a, a, triangles_b, b):
    """Whether a piece of one body lies inside the other, given that the surfaces do not meet."""
    return (
        _piece_inside(triangles_a, a[3], triangles_b, b[4]) >= 0
        or _piece_inside(triangles_b, b[3], triangles_a, a[4]) >= 0
    )


@kernel
def collide(a, b, poses_a, poses_b, answers):
    """Whether the bodies have a common point, for each pose."""
    world_a, triangles_a = _room_for(a)
    world_b, triangles_b = _room_for(b)
    for i in range(len(poses_a)):
        _posed(a, poses_a[i], world_a, triangles_a)
        _posed(b, poses_b[i], world_b, triangles_b)
        answers[i] = surfaces_meet(world_a, a[2], triangles_a, world_b, b[2], triangles_b, True) or _nested(
            triangles_a, a, triangles_b, b
        )


@kernel
def closer(a, b, poses_a, poses_b, clearance, answers):
    """Whether the bodies have points no farther apart than the clearance, for each pose."""
    world_a, triangles_a = _room_for(a)
    world_b, triangles_b = _room_for(b)
    for i in range(len(poses_a)):
        _posed(a, poses_a[i], world_a, triangles_a)
        _posed(b, poses_b[i], world_b, triangles_b)
        answers[i] = any_pair_within(triangles_a, triangles_b, clearance) or _nested(triangles_a, a, triangles_b, b)


@kernel
def _store_vertex(points, i, vertex):
    for k in range(3):
        points[i, 0, k] = vertex[k]
        points[i, 1, k] = vertex[k]


@kernel
def separate(a, b, poses_a, poses_b, values, points, faces):
    """Distance, witness points (k, 2, 3) and faces (k, 2), for each pose."""
    world_a, triangles_a = _room_for(a)
    world_b, triangles_b = _room_for(b)
    for i in range(len(poses_a)):
        _posed(a, poses_a[i], world_a, triangles_a)
        _posed(b, poses_b[i], world_b, triangles_b)
        values[i], faces[i, 0], faces[i, 1] = nearest_pair(triangles_a, triangles_b, points[i])
        if values[i] == 0.0:
            continue
        piece = _piece_inside(triangles_a, a[3], triangles_b, b[4])
        if piece >= 0:
            values[i], faces[i, 0], faces[i, 1] = 0.0, piece, -1
            _store_vertex(points, i, triangles_a[piece, 0])
            continue
        piece = _piece_inside(triangles_b, b[3], triangles_a, a[4])
        if piece >= 0:
            values[i], faces[i, 0], faces[i, 1] = 0.0, -1, piece
            _store_vertex(points, i, triangles_b[piece, 0])


@kernel
def _cells_of_pieces(triangles_a, pieces_a, triangles_b, pieces_b):
    """The cells on both sides of pieces, given that the surfaces do not meet."""
    cells = 0
    for i in range(len(pieces_a)):
        inside = vertex_inside(triangles_a[pieces_a[i], 0], triangles_b)
        cells |= (IN_BOTH | ONLY_IN_B) if inside else ONLY_IN_A
    for i in range(len(pieces_b)):
        inside = vertex_inside(triangles_b[pieces_b[i], 0], triangles_a)
        cells |= (IN_BOTH | ONLY_IN_A) if inside else ONLY_IN_B
    return cells


@kernel
def relate(a, b, labels_a, labels_b, poses_a, poses_b, cells, touching):
    """The cells (see geometry.solid) of two solids and whether their surfaces meet, for each pose.

    ``labels`` give the connected piece of each face.
    """
    world_a, triangles_a = _room_for(a)
    world_b, triangles_b = _room_for(b)
    pairs = np.empty((16, 4), dtype=np.int64)
    for i in range(len(poses_a)):
        _posed(a, poses_a[i], world_a, triangles_a)
        _posed(b, poses_b[i], world_b, triangles_b)
        pairs, count = meeting_pairs(triangles_a, triangles_b, np.iinfo(np.int64).max, i, pairs, 0)
        touching[i] = count > 0
        free_a = np.ones(len(a[3]), dtype=np.bool_)
        free_b = np.ones(len(b[3]), dtype=np.bool_)
        for k in range(count):
            free_a[labels_a[pairs[k, 1]]] = False
            free_b[labels_b[pairs[k, 2]]] = False
        known = _cells_of_pieces(triangles_a, a[3][free_a], triangles_b, b[3][free_b])
        for k in range(count):
            if known == EVERYTHING:
                break
            s = load_triangle(triangles_a, pairs[k, 1])
            t = load_triangle(triangles_b, pairs[k, 2])
            known = cells_around_contact(s, t, triangles_a, triangles_b, known)
        cells[i] = known
