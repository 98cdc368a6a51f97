"""Contacts as columns: segments and normals of pairs of triangles that are known to meet, and how to gather them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats
from impinge.kernels.interruptible import in_parts
from impinge.mesh.mesh import Mesh
from impinge.queries.method import ContactColumns
from impinge.results import ContactKind, Contacts

_FIRST_CONTACTS = 4096
"""To begin with; one takes a microsecond or more."""

NO_CONTACTS = ContactColumns(np.empty((0, 4), dtype=np.int64), np.empty((0, 2, 3)), np.empty((0, 3)))


def constructed(a: Mesh, b: Mesh, poses_a: Floats, poses_b: Floats, pairs: NDArray[np.int64]) -> ContactColumns:
    """Contacts with their segments and normals."""
    segments = np.empty((len(pairs), 2, 3))
    normals = np.empty((len(pairs), 3))
    if len(pairs) == 0:
        return ContactColumns(pairs, segments, normals)
    from impinge.mesh.surface import surface_of
    from impinge.queries.contact_construction import construct_contacts

    surfaces = surface_of(a).address, surface_of(b).address
    if len(pairs) <= _FIRST_CONTACTS:  # as is usual: slices would take as long as a contact
        construct_contacts(*surfaces, poses_a, poses_b, pairs, segments, normals)
    else:
        for part in in_parts(len(pairs), _FIRST_CONTACTS):
            construct_contacts(*surfaces, poses_a, poses_b, pairs[part], segments[part], normals[part])
    return ContactColumns(pairs, segments, normals)


def common_points(
    a: Mesh, b: Mesh, poses_a: Floats, poses_b: Floats, pose: NDArray[np.intp], faces: NDArray[np.int32]
) -> Floats:
    """(k, 3) one common point of each pair of faces (k, 2) that are known to meet, in these poses."""
    pairs = np.empty((len(pose), 4), dtype=np.int64)
    pairs[:, 0] = pose
    pairs[:, 1:3] = faces
    pairs[:, 3] = ContactKind.TOUCHING  # as if: one point will do, whatever the kind of the contact
    return constructed(a, b, poses_a, poses_b, pairs).segments[:, 0]


def contacts_of(columns: ContactColumns, shape: tuple[int, ...], complete: bool = True) -> Contacts:
    """The result made of columns, for poses of this leading shape."""
    pairs, segments, normals = columns
    return Contacts(
        pose=pairs[:, 0].copy(),
        face_a=pairs[:, 1].astype(np.int32),
        face_b=pairs[:, 2].astype(np.int32),
        segments=segments,
        normal=normals,
        kind=pairs[:, 3].astype(np.int8),
        shape=shape,
        complete=complete,
    )
