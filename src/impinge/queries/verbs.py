"""The verbs: collides, contacts, contact_stream, distance, closer_than, penetration, relation.

Poses are (..., 4, 4), broadcast against each other; every result has the leading shape.  A single pose is a batch of
one.  With ``workers=n`` a batch is shared out to n threads; the result is the same, bit for bit.

Each verb chooses a method by the types of the bodies (``queries.dispatch``), tries its way for a single pose, and
otherwise evaluates a batch (``queries.evaluate``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.arrays import as_clearance, as_count, shown
from impinge.bodies import Body
from impinge.bvh.search import search_of
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.errors import Unsupported
from impinge.queries import evaluate
from impinge.queries.batch import Batch
from impinge.queries.contact_columns import constructed, contacts_of
from impinge.queries.dispatch import direct, route
from impinge.queries.method import MethodName
from impinge.results import Contacts, Distance, Penetration, Relation, RelationKind

_ONE = 1
"""The usual number of workers; that it is the same object is quickly seen."""

_COLLIDES, _CLOSER_THAN, _DISTANCE = map(direct, ("collides", "closer_than", "distance"))
_CONTACTS, _PENETRATION = map(direct, ("contacts", "penetration"))


def collides(
    a: Body,
    b: Body,
    pose_a: ArrayLike | None = None,
    pose_b: ArrayLike | None = None,
    *,
    method: MethodName = "auto",
    workers: int = 1,
) -> np.bool_ | NDArray[np.bool_]:
    """Whether two bodies have a common point, exactly.

    Touching counts as colliding, and a solid counts its inside.

    Parameters
    ----------
    a, b : Mesh, ConvexHull or ConvexPieces
        The bodies.
    pose_a, pose_b : array_like, shape (..., 4, 4), optional
        Rigid poses, broadcast against each other; the identity if not given.
    method : str
        For meshes "auto" and "obb" (trees of oriented boxes), "incremental" (hierarchical sweep and prune) or
        "brute" (all pairs of triangles); for convex hulls "auto", "gjk", "vclip" or "lin-canny"; for convex pieces
        "auto" or "gjk".  All give the same answer.
    workers : int
        Threads that share a batch of poses.

    Returns
    -------
    bool or array of bool
        An answer for each pose.

    Raises
    ------
    ValueError
        A pose is not rigid, poses do not broadcast, or the method is not one for these bodies.
    Unsupported
        A mesh and convex pieces have no method in common.

    Examples
    --------
    >>> import impinge
    >>> cube = impinge.shapes.box(1, 1, 1)
    >>> lift = np.eye(4)
    >>> lift[2, 3] = 1.0
    >>> bool(impinge.collides(cube, cube, pose_b=lift))  # face on face
    True
    >>> path = np.tile(np.eye(4), (3, 1, 1))
    >>> path[:, 0, 3] = [0.5, 1.0, 1.5]
    >>> impinge.collides(cube, cube, pose_b=path).tolist()
    [True, True, False]
    """
    try:
        chosen, once = _COLLIDES[type(a), type(b), method]
    except (KeyError, TypeError):  # the latter: a method that cannot be hashed
        chosen, a, b = route("collides", a, b, method)
        once = chosen.collides_once
    if workers is _ONE:
        answer: np.bool_ | None = once(a, b, None, pose_a, pose_b)
        if answer is not None:
            return answer
    return evaluate.collides(chosen.batch(a, b, pose_a, pose_b, workers), chosen(a, b))


def contacts(
    a: Body,
    b: Body,
    pose_a: ArrayLike | None = None,
    pose_b: ArrayLike | None = None,
    *,
    method: MethodName = "auto",
    workers: int = 1,
    max_contacts: int | None = None,
) -> Contacts:
    """All pairs of triangles that intersect, with the segments, normals and kinds of their contacts.

    The set is that of exact arithmetic.  A solid inside another without touching it has no contacts.

    Parameters
    ----------
    a, b : Mesh or ConvexHull
        The bodies; a hull takes part as the mesh of its faces, ``hull.mesh``.
    pose_a, pose_b : array_like, shape (..., 4, 4), optional
        Rigid poses, broadcast against each other; the identity if not given.
    method : str
        "auto", "obb", "incremental" or "brute", see `collides`.
    workers : int
        Threads that share a batch of poses.
    max_contacts : int, optional
        Keeps the result small: where there are more, ``complete`` is False, and which ones are left out is not
        specified (but always the same).

    Returns
    -------
    Contacts
        Sorted by pose, face of a, face of b.

    Raises
    ------
    ValueError
        A pose is not rigid, poses do not broadcast, or a parameter is out of range.
    Unsupported
        A body of convex pieces has no triangles.

    Examples
    --------
    >>> import impinge
    >>> cube = impinge.shapes.box(1, 1, 1)
    >>> shift = np.eye(4)
    >>> shift[:3, 3] = 0.5
    >>> found = impinge.contacts(cube, cube, pose_b=shift)
    >>> found.complete, len(found) > 0, bool((found.kind == impinge.ContactKind.CROSSING).any())
    (True, True, True)
    """
    most = as_count(max_contacts, "max_contacts")
    try:
        chosen, once = _CONTACTS[type(a), type(b), method]
    except (KeyError, TypeError):
        chosen, a, b = route("contacts", a, b, method)
        once = chosen.contacts_once
    if workers is _ONE and most is None:
        found: Contacts | None = once(a, b, None, pose_a, pose_b)
        if found is not None:
            return found
    # Which contacts are left out must not depend on how the poses are shared out.
    batch = chosen.batch(a, b, pose_a, pose_b, workers, in_one=most is not None)
    return evaluate.contacts(batch, chosen(a, b), most)


def contact_stream(
    a: Body, b: Body, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None
) -> Iterator[Contacts]:
    """All contacts in parts of some ten thousand, in no particular order: for sets that do not fit into memory.

    Parameters
    ----------
    a, b : Mesh or ConvexHull
        The bodies; a hull takes part as the mesh of its faces.
    pose_a, pose_b : array_like, shape (..., 4, 4), optional
        Rigid poses, broadcast against each other; the identity if not given.

    Yields
    ------
    Contacts
        Some of the contacts, sorted in themselves.

    Raises
    ------
    ValueError
        A pose is not rigid, or poses do not broadcast.
    Unsupported
        A body of convex pieces has no triangles.

    Examples
    --------
    >>> import impinge
    >>> cube = impinge.shapes.box(1, 1, 1)
    >>> sum(len(part) for part in impinge.contact_stream(cube, cube))
    108
    """
    _, mesh_a, mesh_b = route("contacts", a, b)
    batch = Batch(mesh_a, mesh_b, pose_a, pose_b)
    for pairs in search_of(mesh_a, mesh_b).contact_parts(batch.poses_a, batch.poses_b):
        yield contacts_of(constructed(mesh_a, mesh_b, batch.poses_a, batch.poses_b, pairs), batch.shape)


def distance(
    a: Body,
    b: Body,
    pose_a: ArrayLike | None = None,
    pose_b: ArrayLike | None = None,
    *,
    method: MethodName = "auto",
    workers: int = 1,
) -> Distance:
    """The smallest distance of two bodies and two witness points that have it; 0 exactly where they collide.

    Parameters
    ----------
    a, b : Mesh, ConvexHull or ConvexPieces
        The bodies.
    pose_a, pose_b : array_like, shape (..., 4, 4), optional
        Rigid poses, broadcast against each other; the identity if not given.
    method : str
        See `collides`.
    workers : int
        Threads that share a batch of poses.

    Returns
    -------
    Distance
        Value, witness points and faces for each pose; for convex bodies the nearest features too.

    Raises
    ------
    ValueError
        A pose is not rigid, poses do not broadcast, or the method is not one for these bodies.
    Unsupported
        A mesh and convex pieces have no method in common.

    Examples
    --------
    >>> import impinge
    >>> cube = impinge.shapes.box(1, 1, 1)
    >>> aside = np.eye(4)
    >>> aside[0, 3] = 1.5
    >>> found = impinge.distance(cube, cube, pose_b=aside)
    >>> float(found.value), float(found.point_a[0]), float(found.point_b[0])
    (0.5, 0.5, 1.0)
    """
    try:
        chosen, once = _DISTANCE[type(a), type(b), method]
    except (KeyError, TypeError):
        chosen, body_a, body_b = route("distance", a, b, method)
        if body_a is not a or body_b is not b:
            found = distance(body_a, body_b, pose_a, pose_b, method=method, workers=workers)
            return with_faces_of_hulls(found, a, b)
        once = chosen.distance_once
    if workers is _ONE:
        single: Distance | None = once(a, b, None, pose_a, pose_b)
        if single is not None:
            return single
    return evaluate.distance(chosen.batch(a, b, pose_a, pose_b, workers), chosen(a, b))


def with_faces_of_hulls(found: Distance, a: Body, b: Body) -> Distance:
    """A distance between meshes, where one stood for a hull: its triangles become faces of the hull."""
    return replace(found, face_a=_face_of_hull(found.face_a, a), face_b=_face_of_hull(found.face_b, b))


def _face_of_hull(face: Any, body: Body) -> Any:
    if not isinstance(body, ConvexHull):
        return face
    faces = body.mesh.polygon if body.dimension > 1 else np.full(1, -1, dtype=np.int32)
    return np.where(face < 0, np.int32(-1), faces[face])[()]


def closer_than(
    a: Body,
    b: Body,
    clearance: float,
    pose_a: ArrayLike | None = None,
    pose_b: ArrayLike | None = None,
    *,
    method: MethodName = "auto",
    workers: int = 1,
) -> np.bool_ | NDArray[np.bool_]:
    """Whether the distance of two bodies is at most the clearance, exactly.

    Parameters
    ----------
    a, b : Mesh, ConvexHull or ConvexPieces
        The bodies.
    clearance : float
        In the unit of the bodies, 0 or more.
    pose_a, pose_b : array_like, shape (..., 4, 4), optional
        Rigid poses, broadcast against each other; the identity if not given.
    method : str
        See `collides`.
    workers : int
        Threads that share a batch of poses.

    Returns
    -------
    bool or array of bool
        An answer for each pose.

    Raises
    ------
    ValueError
        A pose is not rigid, poses do not broadcast, the clearance is negative or not finite, or the method is not one
        for these bodies.
    Unsupported
        A mesh and convex pieces have no method in common.

    Examples
    --------
    >>> import impinge
    >>> cube = impinge.shapes.box(1, 1, 1)
    >>> aside = np.eye(4)
    >>> aside[0, 3] = 1.5
    >>> bool(impinge.closer_than(cube, cube, 0.5, pose_b=aside))
    True
    """
    limit = as_clearance(clearance)
    try:
        chosen, once = _CLOSER_THAN[type(a), type(b), method]
    except (KeyError, TypeError):
        chosen, a, b = route("closer_than", a, b, method)
        once = chosen.closer_than_once
    if workers is _ONE:
        answer: np.bool_ | None = once(a, b, None, limit, pose_a, pose_b)
        if answer is not None:
            return answer
    return evaluate.closer_than(chosen.batch(a, b, pose_a, pose_b, workers), chosen(a, b), limit)


def penetration(
    a: Body,
    b: Body,
    pose_a: ArrayLike | None = None,
    pose_b: ArrayLike | None = None,
    *,
    method: MethodName = "auto",
    workers: int = 1,
) -> Penetration:
    """How deep two convex hulls are in each other, the shortest way out, and the deepest points.

    The depth is the distance of the origin from the boundary of the Minkowski difference, by EPA.

    Parameters
    ----------
    a, b : ConvexHull
        The bodies.
    pose_a, pose_b : array_like, shape (..., 4, 4), optional
        Rigid poses, broadcast against each other; the identity if not given.
    method : str
        How it is found out where the hulls are apart: "auto", "gjk", "vclip" or "lin-canny".
    workers : int
        Threads that share a batch of poses.

    Returns
    -------
    Penetration
        Depth with certain bounds, direction from b to a, and points for each pose; depth 0 where hulls are apart.

    Raises
    ------
    ValueError
        A pose is not rigid, poses do not broadcast, or the method is not one for convex hulls.
    Unsupported
        One of the bodies is not a convex hull.

    Examples
    --------
    >>> import impinge
    >>> cube, aside = impinge.ConvexHull(impinge.shapes.box(1, 1, 1)), np.eye(4)
    >>> aside[0, 3] = 0.75
    >>> found = impinge.penetration(cube, cube, None, aside)
    >>> float(found.depth), found.direction.tolist()
    (0.25, [-1.0, 0.0, 0.0])
    """
    try:
        chosen, _ = _PENETRATION[type(a), type(b), method]
    except (KeyError, TypeError):
        chosen, _, _ = route("penetration", a, b, method)
    return evaluate.penetration(chosen.batch(a, b, pose_a, pose_b, workers), chosen(a, b))


def relation(
    a: Body,
    b: Body,
    pose_a: ArrayLike | None = None,
    pose_b: ArrayLike | None = None,
    *,
    method: MethodName = "auto",
    workers: int = 1,
    contacts: Contacts | None = None,
) -> Relation:
    """How two closed meshes lie to each other as solids: apart, touching, overlapping, nested or equal.

    Parameters
    ----------
    a, b : Mesh or ConvexHull
        Closed surfaces; a hull takes part as the mesh of its faces.
    pose_a, pose_b : array_like, shape (..., 4, 4), optional
        Rigid poses, broadcast against each other; the identity if not given.
    method : str
        "auto", "obb", "incremental" or "brute", see `collides`.
    workers : int
        Threads that share a batch of poses.
    contacts : Contacts, optional
        All contacts of these bodies in these poses, for those who have them: they are not sought again.

    Returns
    -------
    Relation
        The kind for each pose, and whether the surfaces touch.

    Raises
    ------
    ValueError
        A pose is not rigid, or poses do not broadcast.
    Unsupported
        One of the meshes is open, or a body of convex pieces.

    Examples
    --------
    >>> import impinge
    >>> small, large = impinge.shapes.box(1, 1, 1), impinge.shapes.box(3, 3, 3)
    >>> impinge.relation(small, large).kind.name
    'A_INSIDE_B'
    """
    chosen, mesh_a, mesh_b = route("relation", a, b, method)
    if contacts is not None and not isinstance(contacts, Contacts):
        raise ValueError(f"contacts: expected those that impinge.contacts has found, got {shown(contacts)}")
    batch = chosen.batch(mesh_a, mesh_b, pose_a, pose_b, workers, in_one=contacts is not None)
    for mesh, name in ((mesh_a, "a"), (mesh_b, "b")):
        if not mesh.is_closed:
            raise Unsupported(f"relation: {name} is an open mesh, which has no inside (see {name}.diagnose())")
    ask = chosen(mesh_a, mesh_b).relation
    if contacts is not None:
        columns = (contacts.pose, contacts.face_a, contacts.face_b, contacts.kind)
        ask = partial(ask, pairs=np.stack(columns, axis=1).astype(np.int64))
    cells, touching = map(np.concatenate, zip(*batch.run(ask), strict=True))
    kinds = _KIND_OF_CELLS[cells]
    kinds[touching & (kinds == RelationKind.APART)] = RelationKind.TOUCHING
    if batch.shape == ():
        return Relation(kind=RelationKind(int(kinds[0])), touching=touching[0])
    return Relation(kind=kinds.reshape(batch.shape), touching=touching.reshape(batch.shape))


# Indexed by the bits of geometry.solids.cells: 1 inside both, 2 only in a, 4 only in b.
_KIND_OF_CELLS = np.array(
    [
        RelationKind.APART,
        RelationKind.EQUAL,
        RelationKind.APART,
        RelationKind.B_INSIDE_A,
        RelationKind.APART,
        RelationKind.A_INSIDE_B,
        RelationKind.APART,
        RelationKind.OVERLAPPING,
    ],
    dtype=np.int8,
)
