"""The sphere: an icosahedron whose triangles are subdivided."""

from __future__ import annotations

import math

import numpy as np

from impinge.arrays import Floats
from impinge.geometry.float_errors import default_float_errors
from impinge.mesh.mesh import Mesh
from impinge.mesh.shapes.facets import Longs, count_of, length_of

MOST_SUBDIVISIONS = 9
"""5 million triangles."""


@default_float_errors
def sphere(radius: float, subdivisions: int = 3) -> Mesh:
    """A sphere around the origin: an icosahedron whose triangles are split into four, again and again.

    With one subdivision or more there are vertices at exactly +-radius on all three axes.

    Parameters
    ----------
    radius
        The distance of all vertices from the origin.
    subdivisions
        How often the 20 triangles are split, from 0 to 9.

    Returns
    -------
    Mesh
        A solid of ``20 * 4**subdivisions`` triangles.

    Raises
    ------
    ValueError
        Where the radius is not positive and finite, or ``subdivisions`` is no whole number from 0 to 9.

    Examples
    --------
    >>> from impinge import shapes
    >>> shapes.sphere(2.0)
    Mesh(642 vertices, 1280 triangles, solid)
    >>> shapes.sphere(2.0).bounds.tolist()
    [[-2.0, -2.0, -2.0], [2.0, 2.0, 2.0]]
    """
    radius = length_of(radius, "radius")
    times = count_of(subdivisions, "subdivisions", least=0, most=MOST_SUBDIVISIONS)
    vertices, faces = _icosahedron()
    for _ in range(times):
        vertices, faces = _split_in_four(vertices, faces)
    return Mesh(vertices * radius + 0.0, faces, solid=True)


def _icosahedron() -> tuple[Floats, Longs]:
    """Vertices on the unit sphere, four in each coordinate plane, and the 20 faces."""
    golden = (1.0 + math.sqrt(5.0)) / 2.0
    scale = math.hypot(1.0, golden)
    short, long = 1.0 / scale, golden / scale
    plane = [(0.0, i * short, j * long) for i in (1, -1) for j in (1, -1)]
    vertices = np.array([np.roll(point, turn) for turn in range(3) for point in plane]) + 0.0
    # Three vertices form a face if all are neighbours, at twice the short coordinate; all others are farther by 60 %.
    gap = np.linalg.norm(vertices[:, None] - vertices, axis=-1)
    near = (gap > 0.0) & (gap < 2.5 * short)
    faces = [
        (a, b, c) if np.linalg.det(vertices[[a, b, c]]) > 0.0 else (a, c, b)
        for a in range(12)
        for b in range(a + 1, 12)
        for c in range(b + 1, 12)
        if near[a, b] and near[b, c] and near[c, a]
    ]
    return vertices, np.array(faces, dtype=np.int64)


def _split_in_four(vertices: Floats, faces: Longs) -> tuple[Floats, Longs]:
    """Each triangle into four; the middles of the edges move out to the unit sphere."""
    ends = np.sort(faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    keys, edge = np.unique(ends[:, 0] * len(vertices) + ends[:, 1], return_inverse=True)
    middle = vertices[keys // len(vertices)] + vertices[keys % len(vertices)]
    # Sorted, so that the length is the same whichever way the axes are permuted.
    squares = np.sort(middle**2, axis=1)
    middle /= np.sqrt((squares[:, 0] + squares[:, 1]) + squares[:, 2])[:, None]
    ab, bc, ca = (edge.reshape(-1, 3) + len(vertices)).T
    a, b, c = faces.T
    split = np.stack([a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca], axis=-1).reshape(-1, 3)
    return np.concatenate([vertices, middle]) + 0.0, split
