"""Contacts joined into polylines: where two surfaces cross, and the outline of where they lie on each other.

Two contacts are neighbours where they end at the same point of both surfaces, that is at the same vertex, edge
or face of a and at the same one of b.  This is decided exactly (geometry.contacts.contact_ends), not by the
rounded coordinates, so nothing depends on the scale or on a tolerance.  Vertices and edges count by position, as in
mesh.topology: at a T-vertex the surface has a slit, and a polyline ends there.

Where surfaces lie on each other, the overlaps of coplanar triangles form a patch.  A side that two overlaps share
is inside the patch and left out; the other sides are its outline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.arrays import Bools, Floats, Ints, shown
from impinge.geometry.pose import as_pose
from impinge.mesh.mesh import Mesh
from impinge.mesh.topology import Longs, merged_faces
from impinge.results import ContactKind, ContactLoop

if TYPE_CHECKING:
    from impinge.results import Contacts


def contact_loops(
    contacts: Contacts, a: Mesh, b: Mesh, pose_a: ArrayLike | None = None, pose_b: ArrayLike | None = None
) -> list[ContactLoop]:
    """The polylines of ``contacts``, which were found for these bodies in these poses."""
    poses_a = _flattened(contacts, pose_a, "pose_a")
    poses_b = _flattened(contacts, pose_b, "pose_b")
    _require_faces(contacts.face_a, a, "a")
    _require_faces(contacts.face_b, b, "b")
    if len(contacts) == 0:
        return []
    pieces = _find_pieces(contacts, a, b, poses_a, poses_b)
    node_count = int(pieces.nodes.max()) + 1
    regions = _regions(pieces, node_count)
    positions = np.empty((node_count, 3))
    positions[pieces.nodes.ravel()[::-1]] = pieces.points.reshape(-1, 3)[::-1]  # the last assignment stays: the first
    loops = [
        ContactLoop(
            pose=int(contacts.pose[members[0]]),
            region=int(regions[path[0]]),
            points=positions[path],
            closed=closed,
            contacts=members,
            segment=segment,
        )
        for path, closed, members, segment in (*_polylines(pieces, node_count), *_lone_points(pieces))
    ]
    loops.sort(key=lambda loop: int(loop.contacts.min()))
    return loops


def _flattened(contacts: Contacts, pose: ArrayLike | None, name: str) -> Floats:
    given = as_pose(pose, name)
    try:
        return np.array(np.broadcast_to(given, (*contacts.shape, 4, 4)), order="C").reshape(-1, 4, 4)
    except ValueError as error:
        raise ValueError(
            f"{name} {given.shape} does not broadcast to the poses {contacts.shape} of the contacts"
        ) from error


def _require_faces(faces: Ints, mesh: Mesh, name: str) -> None:
    if not isinstance(mesh, Mesh):
        raise ValueError(f"{name}: expected a Mesh (of a ConvexHull its mesh, {name}.mesh), got {shown(mesh)}")
    if len(faces) and int(faces.max()) >= len(mesh.faces):
        raise ValueError(
            f"{name}: the contacts name triangle {int(faces.max())}, but there are {len(mesh.faces)}; "
            "loops needs the bodies that the contacts were found for"
        )


# ------------------------------------------------------------------- pieces and their ends


class _Pieces(NamedTuple):
    """Chords, single points and sides of coplanar overlaps, in the order of the contacts."""

    owner: Longs
    """(n,) the contact."""
    nodes: Longs
    """(n, 2) the points of the surfaces where it ends, as numbers; equal for a single point."""
    points: Floats
    """(n, 2, 3) their coordinates, rounded for this contact."""
    overlap: Longs
    """(n,) for sides of coplanar overlaps a number of the overlap, the same for repeated faces; else -1."""


def _find_pieces(contacts: Contacts, a: Mesh, b: Mesh, poses_a: Floats, poses_b: Floats) -> _Pieces:
    from impinge.geometry.contacts.contact_ends import MOST_SIDES, ContactPieces, contact_pieces
    from impinge.mesh.surface import surface_of

    room = len(contacts) + (MOST_SIDES - 1) * int(np.count_nonzero(contacts.kind == ContactKind.COPLANAR))
    pieces = ContactPieces(
        poses_a=poses_a,
        poses_b=poses_b,
        pose=np.ascontiguousarray(contacts.pose, dtype=np.int64),
        face_a=np.ascontiguousarray(contacts.face_a, dtype=np.int32),
        face_b=np.ascontiguousarray(contacts.face_b, dtype=np.int32),
        kind=np.ascontiguousarray(contacts.kind, dtype=np.int8),
        segments=np.ascontiguousarray(contacts.segments, dtype=np.float64),
        owner=np.empty(room, dtype=np.int64),
        features=np.empty((room, 2, 2), dtype=np.int8),
        points=np.empty((room, 2, 3)),
    )
    count = contact_pieces(surface_of(a).address, surface_of(b).address, pieces.address)
    if count < 0:
        i = -1 - count
        raise ValueError(
            f"contact {i} is not one of triangle {contacts.face_a[i]} of a and {contacts.face_b[i]} of b in pose "
            f"{contacts.pose[i]}; loops needs the bodies and poses that the contacts were found for"
        )
    owner, features, points = pieces.owner[:count], pieces.features[:count], pieces.points[:count]
    faces_a = _first_of_twins(a, contacts.face_a)
    faces_b = _first_of_twins(b, contacts.face_b)
    overlap = _numbered(_numbered(contacts.pose, faces_a), faces_b)
    overlap[contacts.kind != ContactKind.COPLANAR] = -1
    nodes = _find_nodes(contacts, a, b, faces_a, faces_b, owner, features)
    return _Pieces(owner, nodes, points, overlap[owner])


def _first_of_twins(mesh: Mesh, faces: Ints) -> Longs:
    """For each of the faces the first one among them that has the same three positions."""
    used, which = np.unique(faces, return_inverse=True)
    corners = np.sort(merged_faces(mesh)[used], axis=1).astype(np.int64)
    order = np.lexsort((corners[:, 2], corners[:, 1], corners[:, 0]))  # stable: the first leads its group
    ordered = corners[order]
    is_new = np.ones(len(used), dtype=np.bool_)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    first = np.empty(len(used), dtype=np.int64)
    first[order] = used[order[is_new]][np.cumsum(is_new) - 1]
    result: Longs = first[which]
    return result


def _numbered(one: Longs | Ints, other: Longs | Ints) -> Longs:
    """A number from 0 on for each distinct pair."""
    _, first = np.unique(one, return_inverse=True)
    values, second = np.unique(other, return_inverse=True)
    _, pair = np.unique(first.astype(np.int64) * len(values) + second, return_inverse=True)
    numbers: Longs = pair.astype(np.int64, copy=False)
    return numbers


def _find_nodes(
    contacts: Contacts, a: Mesh, b: Mesh, faces_a: Longs, faces_b: Longs, owner: Longs, features: NDArray[np.int8]
) -> Longs:
    """(n, 2) a number for every end: equal where the ends are the same point of both surfaces."""
    from impinge.geometry.contacts.contact_ends import OTHER_EDGE

    ends = features.reshape(-1, 2).astype(np.int64)
    contact = np.repeat(owner, 2)
    own, other = ends % OTHER_EDGE, ends // OTHER_EDGE
    # On a degenerate triangle a point lies on two edges: it joins what ends on the one and on the other.
    doubled = np.flatnonzero(other.any(axis=1))
    original, extra = [], []
    for columns in ([0], [1], [0, 1]):
        rows = doubled[(other[doubled][:, columns] > 0).all(axis=1)]
        second = own[rows]
        second[:, columns] = other[rows][:, columns] + 2  # edge i is the feature 3 + i, and stands here as 1 + i
        original.append(rows)
        extra.append(second)
    at = np.concatenate([np.arange(len(ends)), *original])
    feature = np.concatenate([own, *extra])
    contact = contact[at]
    number = _numbered(
        _numbered(contacts.pose[contact], _feature_keys(a, contacts.face_a[contact], faces_a[contact], feature[:, 0])),
        _feature_keys(b, contacts.face_b[contact], faces_b[contact], feature[:, 1]),
    )
    if len(doubled):
        number = _components(number[at], number, int(number.max()) + 1)[number]
    return number[: len(ends)].reshape(-1, 2)


def _feature_keys(mesh: Mesh, face: Ints, face_key: Longs, feature: Longs) -> Longs:
    """A number for each vertex, edge and face of a mesh."""
    count = len(mesh.vertices)
    corners = merged_faces(mesh)[face].astype(np.int64)
    rows = np.arange(len(face))
    start = corners[rows, feature % 3]
    stop = np.where(feature < 3, start, corners[rows, (feature + 1) % 3])
    keys = np.minimum(start, stop) * count + np.maximum(start, stop)
    result: Longs = np.where(feature == 6, count * count + face_key, keys)
    return result


def _components(one: Longs, other: Longs, count: int) -> Longs:
    """(count,) a label for each of the numbers below count: equal where pairs of ``one`` and ``other`` join them."""
    from scipy.sparse import coo_array  # type: ignore[import-untyped]
    from scipy.sparse.csgraph import connected_components  # type: ignore[import-untyped]

    graph = coo_array((np.ones(len(one), dtype=np.int8), (one, other)), shape=(count, count))
    labels: Longs = connected_components(graph, directed=False)[1].astype(np.int64)
    return labels


# ------------------------------------------------------------------------ what they form


_Polyline = tuple[Longs, bool, Longs, Longs]
"""Nodes, whether it is closed, the contacts in order and the segment that each of them has."""


def _regions(pieces: _Pieces, node_count: int) -> Longs:
    """(node_count,) the connected region of each node, numbered by its first contact."""
    labels = _components(pieces.nodes[:, 0], pieces.nodes[:, 1], node_count)
    _, first, label = np.unique(labels[pieces.nodes[:, 0]], return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    regions = np.empty(node_count, dtype=np.int64)
    regions[pieces.nodes] = rank[label][:, None]
    return regions


class _Groups(NamedTuple):
    """Things that have the same key, in the order of their first members."""

    group: Longs
    """(n,) the group of each."""
    members: Longs
    """(n,) the things, group after group."""
    start: Longs
    """(g + 1,) where the members of each group start."""


def _grouped(keys: Longs) -> _Groups:
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    group = rank[inverse]
    start = np.append(0, np.cumsum(np.bincount(group, minlength=len(first)))).astype(np.int64)
    return _Groups(group, np.argsort(group, kind="stable"), start)


def _polylines(pieces: _Pieces, node_count: int) -> list[_Polyline]:
    from impinge.geometry.contacts.chains import chains_of

    drawn = np.flatnonzero(pieces.nodes[:, 0] != pieces.nodes[:, 1])
    drawn = drawn[~_inside_patch(pieces, drawn, node_count)]
    segments = _grouped(_ends_key(pieces.nodes[drawn], node_count))
    owners = pieces.owner[drawn[segments.members]]
    nodes = pieces.nodes[drawn[segments.members[segments.start[:-1]]]]
    chain_start, order, entered, ends = chains_of(nodes, node_count)
    # The contacts of all segments, in the order of the chains.
    count = np.diff(segments.start)[order]
    stop = np.cumsum(count)
    members = owners[np.arange(stop[-1] if len(stop) else 0) + np.repeat(segments.start[order] - stop + count, count)]
    place = np.repeat(np.arange(len(order)), count)
    member_start = np.append(0, stop)[chain_start]
    lines = []
    for first, last, low, high, end in zip(
        chain_start[:-1].tolist(),
        chain_start[1:].tolist(),
        member_start[:-1].tolist(),
        member_start[1:].tolist(),
        ends.tolist(),
        strict=True,
    ):
        closed = int(entered[first]) == end
        path = entered[first:last] if closed else np.append(entered[first:last], end)
        lines.append((path, closed, members[low:high].copy(), place[low:high] - first))
    return lines


def _ends_key(nodes: Longs, node_count: int) -> Longs:
    result: Longs = nodes.min(axis=1) * node_count + nodes.max(axis=1)
    return result


def _inside_patch(pieces: _Pieces, drawn: Longs, node_count: int) -> Bools:
    """Which pieces lie where two different coplanar overlaps have a common side."""
    _, group = np.unique(_ends_key(pieces.nodes[drawn], node_count), return_inverse=True)
    side = np.flatnonzero(pieces.overlap[drawn] >= 0)
    # Count each overlap once, however often its faces are repeated.
    different = np.unique(np.stack([group[side], pieces.overlap[drawn[side]]], axis=1), axis=0)
    overlaps = np.bincount(different[:, 0], minlength=int(group.max(initial=-1)) + 1)
    result: Bools = overlaps[group] > 1
    return result


def _lone_points(pieces: _Pieces) -> list[_Polyline]:
    """Single points that are not on a longer piece; contacts at the same point go together."""
    single = pieces.nodes[:, 0] == pieces.nodes[:, 1]
    lone = np.flatnonzero(single & ~np.isin(pieces.nodes[:, 0], pieces.nodes[~single]))
    groups = _grouped(pieces.nodes[lone, 0])
    lines = []
    for low, high in zip(groups.start[:-1].tolist(), groups.start[1:].tolist(), strict=True):
        members = lone[groups.members[low:high]]
        lines.append((pieces.nodes[members[:1], 0], False, pieces.owner[members], np.zeros(high - low, dtype=np.int64)))
    return lines
