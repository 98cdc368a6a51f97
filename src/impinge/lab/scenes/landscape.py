"""A toothed, dimpled landscape of 98,000 triangles with a stalagmite (the environment of Gottschalk's torus).

The teeth keep large boxes from lying on the ground, the dimples are shallow
hollows for a body to enter, and the stalagmite is slim enough for the wrinkled torus to encircle it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from impinge.arrays import Floats
from impinge.mesh.mesh import Mesh

TRIANGLES = 98_000
CELLS = (200, 245)
"""Squares of the grid in x and y, two triangles each."""
CELL = 0.05
STALAGMITE = (0.6, -0.4)
"""Where it stands."""
STALAGMITE_HEIGHT = 2.4

_SEED = 1
_TEETH = 260
_DIMPLES = 220


def height(x: ArrayLike, y: ArrayLike) -> Floats:
    """The height of the ground at (x, y); the landscape samples it at the corners of its grid."""
    x, y = np.broadcast_arrays(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64))
    rng = np.random.default_rng(_SEED)
    ground = np.zeros(x.shape)
    for _ in range(16):
        wave = rng.normal(size=2) * 1.2
        ground += 0.2 * np.sin(wave[0] * x + wave[1] * y + rng.uniform(0.0, 2.0 * np.pi)) / (1.0 + np.hypot(*wave))
    half = np.array(CELLS) * CELL / 2.0
    from_stalagmite = np.hypot(x - STALAGMITE[0], y - STALAGMITE[1])
    for centre, radius, depth in zip(
        rng.uniform(-half, half, (_DIMPLES, 2)), rng.uniform(0.2, 0.5, _DIMPLES), rng.uniform(0.02, 0.08, _DIMPLES),
        strict=True,
    ):  # fmt: skip
        across = np.hypot(x - centre[0], y - centre[1]) / radius
        ground -= depth * np.maximum(1.0 - across**2, 0.0)
    for centre, radius, tall in zip(
        rng.uniform(-half, half, (_TEETH, 2)), rng.uniform(0.1, 0.2, _TEETH), rng.uniform(0.15, 0.45, _TEETH),
        strict=True,
    ):  # fmt: skip
        across = np.hypot(x - centre[0], y - centre[1]) / radius
        ground = ground + tall * np.maximum(1.0 - across, 0.0)
    return ground + STALAGMITE_HEIGHT * np.exp(-((from_stalagmite / 0.38) ** 1.5))


def landscape() -> Mesh:
    """An open surface over the rectangle of ``CELLS`` squares around the origin."""
    x = (np.arange(CELLS[0] + 1) - CELLS[0] / 2.0) * CELL
    y = (np.arange(CELLS[1] + 1) - CELLS[1] / 2.0) * CELL
    points = np.stack([*np.meshgrid(x, y, indexing="ij"), height(x[:, None], y)], axis=-1)
    index = np.arange(points.shape[0] * points.shape[1]).reshape(points.shape[:2])
    a, b, c, d = index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]
    faces = np.concatenate([np.stack([a, b, c], axis=-1).reshape(-1, 3), np.stack([a, c, d], axis=-1).reshape(-1, 3)])
    return Mesh(points.reshape(-1, 3), faces)
