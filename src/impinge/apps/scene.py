"""An assembly made ready for drawing: once, for all of its pictures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from impinge.apps.clusters import Clusters, cluster_starts, curve_order
from impinge.arrays import Floats, Ints
from impinge.geometry.pose import posed_vertices
from impinge.mesh.assembly import Assembly


@dataclass(frozen=True, eq=False)
class Scene:
    """All triangles of an assembly in world coordinates."""

    clusters: Clusters
    """No cluster has triangles of two parts."""
    owner: Ints
    """The part of each triangle."""
    cluster_owner: Ints
    """The part of each cluster."""
    normal: NDArray[np.float32]
    """(m, 3) of unit length; zero for triangles without area."""
    names: tuple[str, ...]
    """Of the parts."""
    shape: Ints
    """A number for each part, the same for those that share a mesh."""
    unit: str | None

    @classmethod
    def of(cls, assembly: Assembly) -> Scene:
        of_mesh: dict[int, tuple[Ints, Floats]] = {}
        vertices, faces, normals, first = [], [], [], [np.zeros(1, dtype=np.int64)]
        vertex_count, face_count = 0, 0
        for part in assembly:
            mesh = part.mesh
            if id(mesh) not in of_mesh:
                in_order = mesh.faces[curve_order(mesh.vertices, mesh.faces)]
                of_mesh[id(mesh)] = in_order, _normals(mesh.vertices, in_order)
            corners, own_normals = of_mesh[id(mesh)]
            vertices.append(posed_vertices(part.pose, mesh.vertices))
            normals.append((own_normals @ part.pose[:3, :3].T).astype(np.float32))
            faces.append(corners + np.int32(vertex_count))
            first.append(cluster_starts(len(corners))[1:] + face_count)
            vertex_count += len(mesh.vertices)
            face_count += len(corners)
        order = {key: number for number, key in enumerate(of_mesh)}
        parts = np.arange(len(assembly), dtype=np.int32)
        return cls(
            Clusters.of(np.concatenate(vertices), np.concatenate(faces), np.concatenate(first)),
            np.repeat(parts, [len(piece) for piece in faces]),
            np.repeat(parts, [len(piece) for piece in first[1:]]),
            np.concatenate(normals),
            tuple(part.name for part in assembly),
            np.array([order[id(part.mesh)] for part in assembly], dtype=np.int32),
            assembly.unit,
        )

    def part(self, name: str) -> int:
        """The number of a part."""
        return self.names.index(name)

    def clusters_of(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Rows of the clusters of these parts."""
        return np.flatnonzero(np.isin(self.cluster_owner, [self.part(name) for name in names]))

    def clusters_around(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Rows of the clusters of all other parts."""
        return np.flatnonzero(np.isin(self.cluster_owner, [self.part(name) for name in names], invert=True))

    def box(self, names: Sequence[str]) -> tuple[Floats, Floats]:
        """The lowest and the highest corner of some parts."""
        boxes = self.clusters.boxes[self.clusters_of(names)]
        return boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)

    def reach(self, names: Sequence[str], centre: Floats) -> float:
        """How far some parts reach from a point, to within the size of a cluster."""
        away = np.abs(self.clusters.boxes[self.clusters_of(names)] - centre).max(axis=1)
        return max(math.hypot(*each) for each in away.tolist())


def _normals(vertices: Floats, faces: Ints) -> Floats:
    a, b, c = (vertices[faces[:, corner]] for corner in range(3))
    normal = np.cross(b - a, c - a)
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    return np.asarray(normal / np.where(length > 0.0, length, 1.0))
