"""A wrinkled, twisted torus of 20,000 triangles (the object of the second scenario in Gottschalk's Table 1)."""

from __future__ import annotations

import numpy as np

from impinge.mesh.mesh import Mesh

TRIANGLES = 20_000
RADIUS = 1.0
"""From the axis to the middle of the tube."""
TUBE_RADIUS = 0.35
"""Without the wrinkles."""


def wrinkled_torus() -> Mesh:
    """A ring around the z axis: a rope of three strands, twisted twice and two thirds, with fine wrinkles across.

    The wrinkles are too shallow to be worth a convex piece each, and the strands leave no flat place.
    """
    around, across = 100, 100
    u = np.arange(around)[:, None] * (2.0 * np.pi / around)
    v = np.arange(across)[None, :] * (2.0 * np.pi / across)
    strands = 0.14 * np.cos(3.0 * v + 8.0 * u)
    wrinkles = 0.06 * np.sin(9.0 * u) * np.sin(7.0 * v) + 0.05 * np.cos(16.0 * u + 9.0 * v)
    tube = TUBE_RADIUS * (1.0 + strands + wrinkles)
    reach = RADIUS + tube * np.cos(v)
    ring = np.stack([reach * np.cos(u), reach * np.sin(u), tube * np.sin(v)], axis=-1)
    index = np.arange(around * across).reshape(around, across)
    a, b = index, np.roll(index, -1, axis=0)
    d, c = np.roll(index, -1, axis=1), np.roll(np.roll(index, -1, axis=0), -1, axis=1)
    faces = np.concatenate([np.stack([a, b, c], axis=-1).reshape(-1, 3), np.stack([a, c, d], axis=-1).reshape(-1, 3)])
    return Mesh(ring.reshape(-1, 3), faces)
