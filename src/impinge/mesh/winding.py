"""Consistent winding: neighbours run their common edge in opposite directions, and closed surfaces face outward.

Faces are joined across edges that two of them share.  Take every face twice, as it is and turned over, and join those
copies that fit: a surface is orientable where the two copies of its faces stay apart.

A closed part is turned so that its volume is positive; if it lies inside an odd number of others it is the wall of a
void, and its volume is negative.  Open parts keep the winding that most of their faces have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Bools, Floats, Ints
from impinge.geometry.exact.integers import as_integers, sign
from impinge.geometry.exact.turns import turns
from impinge.mesh import topology

if TYPE_CHECKING:
    from impinge.mesh.mesh import Mesh

Longs = NDArray[np.int64]

_PROBES = 8
"""So many vertices of a part must agree about whether it lies inside another."""


def faces_to_turn(mesh: Mesh) -> Bools:
    """(m,) the faces to be turned over for consistent, outward winding; none of those that cannot be wound alike."""
    count = len(mesh.faces)
    first, second, alike = _neighbours(mesh)
    copies = topology.connected_parts(
        2 * count,
        np.concatenate([2 * first, 2 * first + 1]),
        np.concatenate([2 * second + ~alike, 2 * second + alike]),
    )
    part = topology.connected_parts(count, first, second)
    leader = np.unique(part, return_index=True)[1]
    turned = copies[0::2] != copies[2 * leader[part]]
    one_sided = np.bincount(part, copies[0::2] == copies[1::2]) > 0
    turned &= ~one_sided[part]
    mostly = 2 * np.bincount(part, turned) > np.bincount(part)
    turned ^= mostly[part] & ~one_sided[part]
    outward = _looks_outward(mesh, part, turned)
    wrong: Bools = turned ^ (outward == -1)[part]
    return wrong


def _neighbours(mesh: Mesh) -> tuple[Longs, Longs, Bools]:
    """Pairs of faces at an edge of two, and whether they run it in opposite directions."""
    edges = topology.edges(mesh)
    use = np.flatnonzero(edges.proper)
    owner = edges.owner[use]
    pairs = np.flatnonzero((edges.count(edges.proper) == 2)[owner[:-1]] & (owner[:-1] == owner[1:]))
    first, second = use[pairs], use[pairs + 1]
    alike = edges.forward[first] != edges.forward[second]
    return edges.face[first].astype(np.int64), edges.face[second].astype(np.int64), alike


def _looks_outward(mesh: Mesh, part: Ints, turned: Bools) -> NDArray[np.int8]:
    """For each part: 1 as it should be, -1 inside out, 0 not to be decided (open, or without a volume)."""
    faces = topology.merged_faces(mesh)
    faces = np.where(turned[:, None], faces[:, ::-1], faces)
    closed = _closed_parts(faces, part, topology.proper_faces(mesh))
    volume = _volume_signs(mesh, faces, part)
    answer = np.where(closed, volume, 0).astype(np.int8)
    solid = np.flatnonzero(answer)
    if len(solid) > 1:
        for k in solid[_lies_in_a_solid(mesh, part, solid)]:
            answer[k] = -answer[k]
    return answer


def _closed_parts(faces: Ints, part: Ints, proper: Bools) -> Bools:
    """Whether each part runs every edge as often one way as the other."""
    chosen = faces[proper].astype(np.int64)
    owner = np.repeat(part[proper].astype(np.int64), 3)
    tail, head = chosen.ravel(), chosen[:, [1, 2, 0]].ravel()
    keys = np.stack([owner, np.minimum(tail, head), np.maximum(tail, head)], axis=1)
    unique, which = np.unique(keys, axis=0, return_inverse=True)
    surplus = np.bincount(which.reshape(-1), np.where(tail < head, 1, -1), minlength=len(unique))
    closed = np.zeros(int(part.max()) + 1, dtype=bool)
    closed[owner] = True
    closed[unique[surplus != 0, 0]] = False
    return closed


def _volume_signs(mesh: Mesh, faces: Ints, part: Ints) -> Longs:
    """The sign of the volume of each part, 0 where rounding hides it."""
    low, high = mesh.bounds
    local = mesh.vertices[faces] - (0.5 * low + 0.5 * high)
    local = np.ldexp(local, -int(np.frexp(np.abs(local).max())[1]))
    terms = local[:, 0] * np.cross(local[:, 1], local[:, 2])
    volume = np.bincount(part, terms.sum(axis=1))
    # Six products of three numbers, each off by some roundings, and a sum of k terms: see mesh.mass.
    b, c = np.abs(local[:, 1]), np.abs(local[:, 2])
    magnitude = np.abs(local[:, 0]) * (b[:, [1, 2, 0]] * c[:, [2, 0, 1]] + b[:, [2, 0, 1]] * c[:, [1, 2, 0]])
    bound = 2.0**-53 * (8.0 + np.bincount(part)) * np.bincount(part, magnitude.sum(axis=1))
    return np.where(np.abs(volume) > bound, np.sign(volume), 0.0).astype(np.int64)


def _lies_in_a_solid(mesh: Mesh, part: Ints, solid: Longs) -> Bools:
    """Whether each of these closed parts lies inside an odd number of the others."""
    groups = [mesh.triangles[part == k] for k in solid]
    lows = np.array([group.min(axis=(0, 1)) for group in groups])
    highs = np.array([group.max(axis=(0, 1)) for group in groups])
    odd = np.zeros(len(solid), dtype=bool)
    for k, group in enumerate(groups):
        around = (lows < lows[k]).all(axis=1) & (highs > highs[k]).all(axis=1)
        points = group.reshape(-1, 3)
        probes = points[np.linspace(0, len(points) - 1, _PROBES).astype(np.int64)]
        for other in np.flatnonzero(around):
            odd[k] ^= all(point_inside(probe, groups[other]) for probe in probes)
    return odd


def point_inside(point: Floats, triangles: Floats) -> bool:
    """Whether a point lies strictly inside a closed surface, by the parity of a ray along x; exact.

    The ray starts at the point and is moved aside by d in y and by e in z, where d is infinitesimal and e even smaller
    than any part of d.  So a corner is above it if it is above the point; and an edge that passes through the point,
    seen along x, lies to its left.
    """
    plane = triangles[:, :, 1:]
    above = plane[:, :, 1] > point[2]
    beyond = np.zeros(len(triangles), dtype=bool)
    for k in range(3):
        j = (k + 1) % 3
        crossing = np.flatnonzero(above[:, k] != above[:, j])
        low = np.where(above[crossing, k][:, None], plane[crossing, j], plane[crossing, k])
        high = np.where(above[crossing, k][:, None], plane[crossing, k], plane[crossing, j])
        beyond[crossing] ^= turns(low, high, np.broadcast_to(point[1:], low.shape)) > 0
    inside = False
    for triangle in triangles[beyond].tolist():
        ahead = _is_ahead(point.tolist(), triangle)
        if ahead == 0:
            return False  # the point is on the surface
        inside ^= ahead > 0
    return inside


def _is_ahead(point: list[float], triangle: list[list[float]]) -> int:
    """1 where the plane of a triangle is met at larger x than that of the point, -1 smaller, 0 at the point."""
    whole = as_integers([*point, *(coordinate for corner in triangle for coordinate in corner)])
    a, b, c = ([whole[3 * k + i] - whole[i] for i in range(3)] for k in (1, 2, 3))
    volume = (
        a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0])
    )
    shadow = (b[1] - a[1]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[1] - a[1])
    return sign(volume) * sign(shadow)
