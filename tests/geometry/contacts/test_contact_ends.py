"""The features where contacts end, against rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from impinge.geometry.contacts.contact_ends import (
    FACE,
    MOST_SIDES,
    OTHER_EDGE,
    ContactPieces,
    contact_pieces,
)
from impinge.lab import oracle
from impinge.lab.hard_input import FAMILIES, triangle_pairs
from impinge.mesh.mesh import Mesh
from impinge.mesh.surface import surface_of
from impinge.queries.verbs import contacts
from impinge.results import ContactKind

Point = tuple[Fraction, Fraction, Fraction]
Floats = NDArray[np.float64]


def minus(p: Point, q: Point) -> Point:
    return p[0] - q[0], p[1] - q[1], p[2] - q[2]


def cross(u: Point, v: Point) -> Point:
    return u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]


def dot(u: Point, v: Point) -> Fraction:
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


def features_of(point: Point, triangle: Floats) -> set[int]:
    """All features of a triangle that hold a point of it; only for a degenerate triangle more than one."""
    corners: list[Point] = [tuple(map(Fraction, row)) for row in triangle.tolist()]  # type: ignore[misc]
    at = {i for i in range(3) if corners[i] == point}
    if at:
        return at
    inside = set()
    for i in range(3):
        p, q = corners[i], corners[(i + 1) % 3]
        if cross(minus(q, p), minus(point, p)) == (0, 0, 0) and dot(minus(p, point), minus(q, point)) < 0:
            inside.add(3 + i)
    return inside or {FACE}


def pieces_of(a: Floats, b: Floats) -> tuple[int, list[list[tuple[set[int], set[int]]]], Floats]:
    """The kind of contact, for each piece and end the features of a and b, and the points."""
    one, other = Mesh(a, [[0, 1, 2]]), Mesh(b, [[0, 1, 2]])
    found = contacts(one, other, method="brute")
    if len(found) == 0:
        return -1, [], np.zeros((0, 2, 3))
    features = np.empty((MOST_SIDES, 2, 2), dtype=np.int8)
    points = np.empty((MOST_SIDES, 2, 3))
    rest = np.eye(4)[None]
    pieces = ContactPieces(
        poses_a=rest, poses_b=rest, pose=found.pose, face_a=found.face_a, face_b=found.face_b, kind=found.kind,
        segments=found.segments, owner=np.empty(MOST_SIDES, dtype=np.int64), features=features, points=points,
    )  # fmt: skip
    count = contact_pieces(surface_of(one).address, surface_of(other).address, pieces.address)
    assert count == pieces.count

    def named(code: int) -> set[int]:
        return {code % OTHER_EDGE} | ({code // OTHER_EDGE + 2} if code >= OTHER_EDGE else set())

    ends = [[(named(end[0]), named(end[1])) for end in piece] for piece in features[:count].tolist()]
    return int(found.kind[0]), ends, points[:count]


@pytest.mark.parametrize("family", FAMILIES)
def test_ends_are_the_extreme_points_of_the_intersection(family: str) -> None:
    rng = np.random.default_rng(5)
    for a, b in zip(*triangle_pairs(rng, 40, family), strict=True):
        kind, pieces, points = pieces_of(a, b)
        corners = oracle.intersection(a, b)
        if not corners:
            assert kind == -1
            continue
        exact = [(features_of(corner, a), features_of(corner, b)) for corner in corners]
        chosen = [
            [next(i for i, (on_a, on_b) in enumerate(exact) if end[0] <= on_a and end[1] <= on_b) for end in piece]
            for piece in pieces
        ]
        if kind == ContactKind.COPLANAR:
            around = {frozenset((i, (i + 1) % len(corners))) for i in range(len(corners))}
            assert {frozenset(piece) for piece in chosen} == around
            assert len(chosen) == len(corners)
        else:
            assert len(chosen) == 1
            assert sorted(set(chosen[0])) == list(range(len(corners)))
            assert len(corners) <= 2
        scale = max(np.abs(a).max(), np.abs(b).max())
        for piece, ends in zip(chosen, points, strict=True):
            for i, end in zip(piece, ends, strict=True):
                away = max(abs(Fraction(x) - y) for x, y in zip(end.tolist(), corners[i], strict=True))
                assert away <= 8 * Fraction(float(np.spacing(scale)))
