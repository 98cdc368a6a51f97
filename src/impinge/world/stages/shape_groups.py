"""What is left to Python after the kernels, for all pairs of the same two shapes together.

Containment, points of contact, and whole pairs of bodies that have no triangles.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Bools, Floats
from impinge.bvh.contact_keys import decoded_contacts
from impinge.queries import verbs
from impinge.queries.contact_columns import NO_CONTACTS, common_points, constructed
from impinge.queries.method import ContactColumns, DistanceColumns
from impinge.queries.methods.bvh import BVH
from impinge.results import Distance
from impinge.world.objects import Shape
from impinge.world.stages.narrow_phase import Query

Numbers = NDArray[np.int64]
_Group = tuple[NDArray[np.intp], Floats, Floats, BVH]


@dataclass(frozen=True, eq=False)
class PosedPairs:
    """Some pairs of objects, and where they are."""

    shapes: list[Shape]
    """Of all objects."""
    pairs: Numbers
    """(k, 2) numbers of objects."""
    poses: Floats
    """(n, 4, 4)"""
    first_poses: Numbers | int = 0
    """Where the poses begin of the configuration that each pair is of."""

    def __len__(self) -> int:
        return len(self.pairs)

    def only(self, which: NDArray[np.intp] | Bools) -> PosedPairs:
        first = self.first_poses if isinstance(self.first_poses, int) else self.first_poses[which]
        return PosedPairs(self.shapes, self.pairs[which], self.poses, first)

    def poses_of(self, side: int) -> Floats:
        """(k, 4, 4) of one object of each pair."""
        return np.ascontiguousarray(self.poses[self.first_poses + self.pairs[:, side]])

    def groups(self) -> Iterator[_Group]:
        """The pairs of each two shapes: which, their poses, and the method."""
        numbers = {id(shape): i for i, shape in enumerate(self.shapes)}
        shape_of = np.array([numbers[id(shape)] for shape in self.shapes], dtype=np.int64)
        kinds = shape_of[self.pairs]
        _, which = np.unique(kinds[:, 0] * len(self.shapes) + kinds[:, 1], return_inverse=True)
        order = np.argsort(which, kind="stable")
        poses_a, poses_b = self.poses_of(0), self.poses_of(1)
        for where in np.split(order, np.flatnonzero(np.diff(which[order])) + 1) if len(order) else ():
            a, b = (self.shapes[k] for k in self.pairs[where[0]].tolist())
            yield where, poses_a[where], poses_b[where], BVH(a.mesh, b.mesh)

    def bodies(self) -> Iterator[tuple[Any, ...]]:
        """Both bodies and their poses, for the verbs."""
        for (a, b), pose_a, pose_b in zip(self.pairs.tolist(), self.poses_of(0), self.poses_of(1), strict=True):
            yield self.shapes[a].body, self.shapes[b].body, pose_a, pose_b


def answers_by_verbs(query: Query, pairs: PosedPairs, clearances: Floats) -> list[bool]:
    """One pair after the other, for bodies that the stages do not know."""
    if query is Query.CLOSER_THAN:
        limits = clearances.tolist()
        return [bool(verbs.closer_than(a, b, limits[i], *poses)) for i, (a, b, *poses) in enumerate(pairs.bodies())]
    verb: Any = verbs.contacts if query is Query.CONTACTS else verbs.collides  # contacts are Unsupported, and say so
    return [bool(verb(*posed)) for posed in pairs.bodies()]


def distances_by_verbs(pairs: PosedPairs) -> list[Distance]:
    """One pair after the other."""
    return [verbs.distance(*posed) for posed in pairs.bodies()]


def are_nested(pairs: PosedPairs) -> Bools:
    """Whether some of one object is inside the other, where their surfaces are apart."""
    found = np.zeros(len(pairs), dtype=np.bool_)
    for where, poses_a, poses_b, method in pairs.groups():
        apart = np.ones(len(where), dtype=np.bool_)
        for _, _, inside in method.nested(poses_a, poses_b, apart):
            found[where] |= inside.any(axis=1)
    return found


def put_nested(pairs: PosedPairs, found: DistanceColumns) -> None:
    """Distances where one object may be inside the other."""
    for where, poses_a, poses_b, method in pairs.groups():
        known = DistanceColumns(found.values[where], found.points[where], found.faces[where])
        method.put_nested(poses_a, poses_b, known)
        found.values[where], found.points[where], found.faces[where] = known.values, known.points, known.faces


def points_of_contact(pairs: PosedPairs, faces: NDArray[np.int32]) -> Floats:
    """(k, 3) a common point of two faces that meet, of each pair."""
    points = np.zeros((len(pairs), 3))
    for where, poses_a, poses_b, method in pairs.groups():
        points[where] = common_points(method.a, method.b, poses_a, poses_b, np.arange(len(where)), faces[where])
    return points


def all_contacts(pairs: PosedPairs) -> ContactColumns:
    """(pair, face of a, face of b, kind) of all contacts of these pairs, sorted; segments and normals."""
    parts = [NO_CONTACTS]
    for where, poses_a, poses_b, method in pairs.groups():
        built = method.contacts(poses_a, poses_b)
        built.pairs[:, 0] = where[built.pairs[:, 0]]
        parts.append(built)
    return _sorted(parts)


def built_contacts(pairs: PosedPairs, keys: Numbers, ends: Numbers) -> ContactColumns:
    """The same of contacts whose keys are known: ``ends`` tells where those of each pair end."""
    starts = np.concatenate([[0], ends[:-1]])
    parts = [NO_CONTACTS]
    meeting = np.flatnonzero(ends > starts)
    for which, poses_a, poses_b, method in pairs.only(meeting).groups():
        where = meeting[which]
        counts = ends[where] - starts[where]
        pair = np.repeat(np.arange(len(where)), counts)
        places = np.arange(len(pair)) + np.repeat(starts[where] - (np.cumsum(counts) - counts), counts)
        found = keys[places]
        order = np.lexsort((found, pair))
        columns = decoded_contacts(found[order], len(method.a.faces), len(method.b.faces))
        columns[:, 0] = pair[order]
        built = constructed(method.a, method.b, poses_a, poses_b, columns)
        built.pairs[:, 0] = where[built.pairs[:, 0]]
        parts.append(built)
    return _sorted(parts)


def _sorted(parts: list[ContactColumns]) -> ContactColumns:
    pairs, segments, normals = map(np.concatenate, zip(*parts, strict=True))
    order = np.argsort(pairs[:, 0], kind="stable")
    return ContactColumns(pairs[order], segments[order], normals[order])
