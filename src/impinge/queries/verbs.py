"""The verbs: collides, contacts, contact_stream, distance, closer_than, penetration, relation.

Poses are (..., 4, 4), broadcast against each other; every result has the leading shape.  A
single pose is a batch of one.  With ``workers=n`` a batch is shared out to n threads; the
result is the same, bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.arrays import as_clearance, as_count, shown
from impinge.bodies import Body, as_meshes, require_body
from impinge.bvh.pieces.convex_pieces import ConvexPieces
from impinge.bvh.search import search_of
from impinge.convex.hull.convex_hull import ConvexHull
from impinge.errors import Unsupported
from impinge.mesh.mesh import Mesh
from impinge.queries import quick
from impinge.queries.batch import Batch, gathered, located
from impinge.queries.methods import hulls
from impinge.queries.methods import pieces as pieces_method
from impinge.queries.methods.hulls import CONVEX_METHODS
from impinge.queries.methods.method import Method
from impinge.queries.methods.pieces import as_pieces
from impinge.queries.quick import TREE_METHODS
from impinge.results import Contacts, Distance, Penetration, Relation, RelationKind

METHODS = (*TREE_METHODS, "incremental", "brute")


def method_of(a: Mesh, b: Mesh, method: str) -> Method:
    """Who answers the questions about two meshes."""
    if not isinstance(method, str):
        raise ValueError(f"method is {shown(method)}; it must be a string, one of {', '.join(METHODS)}")
    if method in TREE_METHODS:
        from impinge.queries.methods.bvh import TreeMethod

        return TreeMethod(a, b)
    if method == "incremental":
        from impinge.queries.methods.incremental import IncrementalMethod

        return IncrementalMethod(a, b)
    if method == "brute":
        from impinge.queries.methods.brute_force import BruteForce

        return BruteForce(a, b)
    if method in CONVEX_METHODS:
        raise ValueError(f"method {method!r} is for two convex hulls, impinge.ConvexHull(mesh)")
    raise ValueError(f"method {method!r} is not one of {', '.join(METHODS)}")


def collides(
    a: Body,
    b: Body,
    pose_a: ArrayLike | None = None,
    pose_b: ArrayLike | None = None,
    *,
    method: str = "auto",
    workers: int = 1,
) -> np.bool_ | NDArray[np.bool_]:
    """Whether the bodies have a common point; touching counts, and a solid counts its inside.

    >>> from impinge.lab.scenes.shapes import box
    >>> lift = np.eye(4)
    >>> lift[2, 3] = 1.0
    >>> bool(collides(box(1, 1, 1), box(1, 1, 1), pose_b=lift))
    True
    """
    if isinstance(a, ConvexHull) and isinstance(b, ConvexHull):
        return hulls.collides(a, b, pose_a, pose_b, method, workers)
    if type(a) is not Mesh or type(b) is not Mesh:
        if pair := as_pieces(a, b):
            return pieces_method.collides(*pair, pose_a, pose_b, method, workers)
        a, b = as_meshes(a, b)
    if who := quick.ready(a, b, method, workers):
        answer = quick.collides(who, pose_a, pose_b, a.solid or b.solid)
        if answer is not None:
            return answer
    batch = Batch(a, b, pose_a, pose_b, workers)
    answers: NDArray[np.bool_] = batch.shaped(np.concatenate(batch.run(method_of(a, b, method).collides)))
    return answers


def contacts(
    a: Body,
    b: Body,
    pose_a: ArrayLike | None = None,
    pose_b: ArrayLike | None = None,
    *,
    method: str = "auto",
    workers: int = 1,
    max_contacts: int | None = None,
) -> Contacts:
    """All pairs of triangles that meet, with the segments, normals and kinds of their contacts.

    Convex hulls take part as the meshes of their faces, ``hull.mesh``.  A solid inside another without touching it has
    no contacts.  ``max_contacts`` keeps the result small: where there are more, ``complete`` is False, and which ones
    are left out is not specified (but always the same).
    """
    most = as_count(max_contacts, "max_contacts")
    a, b = as_meshes(a, b)
    if most is None and (who := quick.ready(a, b, method, workers)):
        found = quick.contacts(who, method_of(a, b, method), pose_a, pose_b)
        if found is not None:
            return found
    # Which contacts are left out must not depend on how the poses are shared out.
    batch = Batch(a, b, pose_a, pose_b, workers, in_one=most is not None)
    return gathered(batch, batch.run(partial(method_of(a, b, method).contacts, most=most)), most)


def contact_stream(
    a: Body, b: Body, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None
) -> Iterator[Contacts]:
    """All contacts in parts of some ten thousand, in no particular order: for sets that do not fit into memory.

    >>> from impinge.lab.scenes.shapes import box
    >>> sum(len(part) for part in contact_stream(box(1, 1, 1), box(1, 1, 1)))
    108
    """
    a, b = as_meshes(a, b)
    batch = Batch(a, b, pose_a, pose_b)
    method = method_of(a, b, "obb")
    for pairs in search_of(a, b).contact_parts(batch.poses_a, batch.poses_b):
        yield gathered(batch, [method.constructed(batch.poses_a, batch.poses_b, pairs)])


def distance(
    a: Body,
    b: Body,
    pose_a: ArrayLike | None = None,
    pose_b: ArrayLike | None = None,
    *,
    method: str = "auto",
    workers: int = 1,
) -> Distance:
    """The smallest distance of the bodies and two points that have it; 0 exactly where they collide."""
    if isinstance(a, ConvexHull) and isinstance(b, ConvexHull):
        return hulls.distance(a, b, pose_a, pose_b, method, workers)
    if type(a) is not Mesh or type(b) is not Mesh:
        if pair := as_pieces(a, b):
            return pieces_method.distance(*pair, pose_a, pose_b, method, workers)
        mixed = distance(*as_meshes(a, b), pose_a, pose_b, method=method, workers=workers)
        return hulls.with_faces_of_hulls(mixed, a, b)
    if who := quick.ready(a, b, method, workers):
        found = quick.distance(who, method_of(a, b, method), pose_a, pose_b, a.solid or b.solid)
        if found is not None:
            return found
    batch = Batch(a, b, pose_a, pose_b, workers)
    return located(batch, batch.run(method_of(a, b, method).distance))


def closer_than(
    a: Body,
    b: Body,
    clearance: float,
    pose_a: ArrayLike | None = None,
    pose_b: ArrayLike | None = None,
    *,
    method: str = "auto",
    workers: int = 1,
) -> np.bool_ | NDArray[np.bool_]:
    """Whether the distance of the bodies is at most the clearance; exact."""
    limit = as_clearance(clearance)
    if isinstance(a, ConvexHull) and isinstance(b, ConvexHull):
        return hulls.closer_than(a, b, limit, pose_a, pose_b, method, workers)
    if type(a) is not Mesh or type(b) is not Mesh:
        if pair := as_pieces(a, b):
            return pieces_method.closer_than(*pair, limit, pose_a, pose_b, method, workers)
        a, b = as_meshes(a, b)
    if who := quick.ready(a, b, method, workers):
        answer = quick.closer_than(who, limit, pose_a, pose_b, a.solid or b.solid)
        if answer is not None:
            return answer
    batch = Batch(a, b, pose_a, pose_b, workers)
    answers: NDArray[np.bool_] = batch.shaped(
        np.concatenate(batch.run(partial(method_of(a, b, method).closer_than, limit)))
    )
    return answers


def penetration(
    a: Body,
    b: Body,
    pose_a: ArrayLike | None = None,
    pose_b: ArrayLike | None = None,
    *,
    method: str = "auto",
    workers: int = 1,
) -> Penetration:
    """How deep two convex hulls are in each other, the shortest way out, and the deepest points.

    >>> from impinge.lab.scenes.shapes import box
    >>> cube, aside = ConvexHull(box(1, 1, 1)), np.eye(4)
    >>> aside[0, 3] = 0.75
    >>> found = penetration(cube, cube, None, aside)
    >>> float(found.depth), found.direction.tolist()
    (0.25, [-1.0, 0.0, 0.0])
    """
    if isinstance(a, ConvexHull) and isinstance(b, ConvexHull):
        return hulls.penetration(a, b, pose_a, pose_b, method, workers)
    name, body = ("b", b) if isinstance(a, ConvexHull) else ("a", a)
    require_body(body, name)
    if isinstance(body, ConvexPieces):
        raise Unsupported(f"penetration: {name} is ConvexPieces; it is defined for convex hulls, as {name}.pieces are")
    raise Unsupported(f"penetration: {name} is a mesh; it is defined for convex hulls, impinge.ConvexHull({name})")


def relation(
    a: Body,
    b: Body,
    pose_a: ArrayLike | None = None,
    pose_b: ArrayLike | None = None,
    *,
    method: str = "auto",
    workers: int = 1,
    contacts: Contacts | None = None,
) -> Relation:
    """How two closed meshes lie to each other as solids: apart, touching, overlapping, nested or equal.

    ``contacts`` are all contacts of these bodies in these poses, for those who have them: they are not sought again.
    """
    a, b = as_meshes(a, b)
    if contacts is not None and not isinstance(contacts, Contacts):
        raise ValueError(f"contacts: expected those that impinge.contacts has found, got {shown(contacts)}")
    batch = Batch(a, b, pose_a, pose_b, workers, in_one=contacts is not None)
    for mesh, name in ((a, "a"), (b, "b")):
        if not mesh.is_closed:
            raise Unsupported(f"relation: {name} is an open mesh, which has no inside (see {name}.diagnose())")
    ask = method_of(a, b, method).relation
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
