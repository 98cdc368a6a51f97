"""Convex polytopes made from numbers: random ones on ellipsoids, and finer and finer spheres."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from impinge.arrays import Floats
from impinge.convex.hull.convex_hull import ConvexHull


def ellipsoid(rng: np.random.Generator, vertices: int, axes: ArrayLike) -> ConvexHull:
    """The hull of random points on an ellipsoid with these half axes: each is a vertex, each face a triangle."""
    return ConvexHull(random_directions(rng, vertices) * np.asarray(axes, dtype=np.float64))


def random_directions(rng: np.random.Generator, count: int) -> Floats:
    """(count, 3) unit vectors, all directions alike."""
    drawn = rng.normal(size=(count, 3))
    unit: Floats = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    return unit


def icosphere(subdivisions: int) -> ConvexHull:
    """A unit sphere of 20 * 4**subdivisions triangles: an icosahedron whose edges are halved again and again.

    >>> icosphere(2)
    ConvexHull(162 vertices, 480 edges, 320 faces)
    """
    golden = (1.0 + np.sqrt(5.0)) / 2.0
    corners = [(0.0, s, t * golden) for s in (-1.0, 1.0) for t in (-1.0, 1.0)]
    points = _on_sphere(np.array([np.roll(corner, k) for k in range(3) for corner in corners]))
    for _ in range(subdivisions):
        edges = ConvexHull(points).edges
        points = np.concatenate([points, _on_sphere(points[edges[:, 0]] + points[edges[:, 1]])])
    return ConvexHull(points)


def _on_sphere(points: Floats) -> Floats:
    unit: Floats = points / np.linalg.norm(points, axis=1, keepdims=True)
    return unit
