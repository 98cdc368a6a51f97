# mypy: allow-untyped-defs, allow-incomplete-defs
"""Start vertices for hill climbing: a cube map from directions to the farthest vertex.

A climb from far away takes a number of steps that grows with the square root of the number of vertices.  The grid
lies on the faces of a cube (a cube map, as for reflections in pictures: Greene 1986), so a direction finds its square
by one division; from the vertex kept there it is a step or two.  Distances of two bodies of 20,000 vertices in random
poses take 4 us with it, and 30 without.
"""

from __future__ import annotations

import numpy as np

from impinge.arrays import Floats, Ints
from impinge.kernels.jit import inner

_FEWEST_VERTICES = 32
_VERTICES_A_SQUARE = 8
_FINEST = 32
_MOST_PRODUCTS = 1 << 17


def squares_along(vertex_count: int) -> int:
    """Squares along an edge of the cube; 0 for bodies so small that a climb is short anyway."""
    if vertex_count < _FEWEST_VERTICES:
        return 0
    return int(min(max(np.sqrt(vertex_count / (6 * _VERTICES_A_SQUARE)), 2), _FINEST))


def cube_map(vertices: Floats) -> Ints:
    """(6 n n,) the farthest vertex in the direction of the middle of each square, face by face (-x, +x, -y ...)."""
    n = squares_along(len(vertices))
    middles = (np.arange(n) + 0.5) * (2.0 / max(n, 1)) - 1.0
    u, v = np.meshgrid(middles, middles, indexing="ij")
    directions = np.empty((3, 2, n, n, 3))
    for axis in range(3):
        for side, sign in enumerate((-1.0, 1.0)):
            directions[axis, side, :, :, axis] = sign
            directions[axis, side, :, :, (axis + 1) % 3] = u
            directions[axis, side, :, :, (axis + 2) % 3] = v
    # Scaled: coordinates may be too large for a product.
    scaled = vertices / np.ldexp(1.0, np.frexp(np.abs(vertices).max())[1])
    rows = directions.reshape(-1, max(n, 1), 3)
    # Many rows at once, but no more than some megabytes of products.
    step = max(_MOST_PRODUCTS // max(n * len(vertices), 1), 1)
    found = [np.argmax(rows[i : i + step] @ scaled.T, axis=-1).ravel() for i in range(0, len(rows), step)]
    return np.concatenate(found).astype(np.int32) if n else np.zeros(0, dtype=np.int32)


@inner
def _square(x, largest, n):
    return min(max(np.int64((x / largest * 0.5 + 0.5) * n), 0), n - 1)


@inner
def first_vertex(body, c):
    """A vertex that is far out in the direction c, which is in the frame of the body; 0 where there is no map."""
    n = body.squares
    if n == 0:
        return np.int64(0)
    x, y, z = abs(c[0]), abs(c[1]), abs(c[2])
    if x >= y and x >= z:
        face, largest, u, v = 0, c[0], c[1], c[2]
    elif y >= z:
        face, largest, u, v = 2, c[1], c[2], c[0]
    else:
        face, largest, u, v = 4, c[2], c[0], c[1]
    size = abs(largest)
    if not (0.0 < size < np.inf):
        return np.int64(0)
    if largest > 0.0:
        face += 1
    return np.int64(body.map[(face * n + _square(u, size, n)) * n + _square(v, size, n)])
