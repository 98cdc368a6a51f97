"""The oracle for pairs of solids: space is cut into convex cells, and each cell is classified.

A box around both solids is cut by the planes of their triangles until no triangle
passes through the inside of a cell (the cells are the leaves of a binary space
partition).  A cell then lies inside or outside each solid as a whole, which the
parity of a ray from one inner point tells.  Everything is done on integers: vertices
of cells are homogeneous (x, y, z, w) with w > 0.

A convex cell is kept as its vertices, each with the set of planes through it; two
vertices share an edge if no third one lies on all planes that they have in common
(the double description method: Motzkin, Raiffa, Thompson and Thrall, 1953).

For closed meshes whose boundary does not cross itself, of up to some dozens of
triangles: two tetrahedra cost about 3 ms, two L-shaped prisms about 30 ms.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import count, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.lab.oracle import meets_batch, scaled_to_integers
from impinge.results import RelationKind

Homogeneous = tuple[int, int, int, int]
"""A point (x, y, z, w) with w > 0, or a plane (nx, ny, nz, d) with the points n . x + d w = 0."""
Cell = list[tuple[Homogeneous, int]]
"""The vertices of a convex cell, each with the bit set of the planes through it."""


def relation(
    vertices_a: ArrayLike, faces_a: ArrayLike, vertices_b: ArrayLike, faces_b: ArrayLike
) -> tuple[RelationKind, bool]:
    """How two solids lie to each other, and whether their boundaries have a common point.

    >>> corner = [[0, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 2]]
    >>> smaller = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]
    >>> relation(smaller, faces, corner, faces)
    (<RelationKind.A_INSIDE_B: 3>, True)
    """
    triangles_a, triangles_b = _corners(vertices_a, faces_a), _corners(vertices_b, faces_b)
    touching = boundaries_meet(triangles_a, triangles_b)
    numbers = np.concatenate([triangles_a.ravel(), triangles_b.ravel()])[None]
    triangles = scaled_to_integers(numbers)[0].reshape(-1, 3, 3)
    points = np.array([_inner_point(cell) for cell in _cells(triangles.tolist())], dtype=object)
    in_a = _parities(points, triangles[: len(triangles_a)])
    in_b = _parities(points, triangles[len(triangles_a) :])
    if not (in_a & in_b).any():
        return (RelationKind.TOUCHING if touching else RelationKind.APART), touching
    a_sticks_out, b_sticks_out = (in_a & ~in_b).any(), (in_b & ~in_a).any()
    if a_sticks_out and b_sticks_out:
        return RelationKind.OVERLAPPING, touching
    if not a_sticks_out and not b_sticks_out:
        return RelationKind.EQUAL, touching
    return (RelationKind.B_INSIDE_A if a_sticks_out else RelationKind.A_INSIDE_B), touching


def boundaries_meet(triangles_a: NDArray[np.float64], triangles_b: NDArray[np.float64]) -> bool:
    """Whether some triangle of (m, 3, 3) meets some triangle of (n, 3, 3)."""
    i, j = np.indices((len(triangles_a), len(triangles_b))).reshape(2, -1)
    return bool(meets_batch(triangles_a[i], triangles_b[j]).any())


def point_in_solid(point: Sequence[float | Fraction], triangles: ArrayLike) -> bool:
    """Whether a point that is not on the surface lies inside the closed mesh of triangles (m, 3, 3)."""
    corners = np.asarray(triangles, dtype=np.float64)
    flat, exponents = scaled_to_integers(corners.reshape(1, -1))
    exact = [Fraction(x) / Fraction(2) ** int(exponents[0]) for x in point]
    w = math.lcm(*(x.denominator for x in exact))
    homogeneous = [int(x * w) for x in exact] + [w]
    return bool(_parities(np.array([homogeneous], dtype=object), flat.reshape(-1, 3, 3))[0])


def _corners(vertices: ArrayLike, faces: ArrayLike) -> NDArray[np.float64]:
    corners: NDArray[np.float64] = np.asarray(vertices, dtype=np.float64)[np.asarray(faces)]
    return corners


# ---------------------------------------------------------------- cells


def _cells(triangles: list[list[list[int]]]) -> list[Cell]:
    """Convex cells that together fill a box around the triangles, with no triangle through their inside."""
    planes: list[Homogeneous] = []
    number_of_plane: dict[Homogeneous, int] = {}
    plane_of_triangle: list[int] = []
    lying: list[int] = []  # for each plane, the bit set of the triangles in it
    for t, triangle in enumerate(triangles):
        plane = _plane(triangle)
        if plane is None:
            plane_of_triangle.append(-1)  # a degenerate triangle bounds nothing
            continue
        number = number_of_plane.setdefault(plane, len(planes))
        if number == len(planes):
            planes.append(plane)
            lying.append(0)
        plane_of_triangle.append(number)
        lying[number] |= 1 << t
    reaching = [[_reaching(plane, side, triangles) for side in (-1, 1)] for plane in planes]
    everything = sum(1 << t for t, plane_number in enumerate(plane_of_triangle) if plane_number >= 0)
    finished: list[Cell] = []
    pending = [(_surrounding_box(triangles), everything)]
    while pending:
        cell, active = pending.pop()
        if not active:
            finished.append(cell)
            continue
        chosen = plane_of_triangle[(active & -active).bit_length() - 1]
        below, above = _split(cell, planes[chosen], 1 << (chosen + 6))
        if below and above:
            pending.append((below, active & reaching[chosen][0]))
            pending.append((above, active & reaching[chosen][1]))
        else:
            pending.append((cell, active & ~lying[chosen]))
    return finished


def _plane(triangle: list[list[int]]) -> Homogeneous | None:
    """The plane of a triangle in lowest terms and with a fixed sign, so that equal planes compare equal."""
    (px, py, pz), (qx, qy, qz), (rx, ry, rz) = triangle
    ux, uy, uz, vx, vy, vz = qx - px, qy - py, qz - pz, rx - px, ry - py, rz - pz
    x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    if not (x or y or z):
        return None
    d = -(x * px + y * py + z * pz)
    divisor = math.gcd(x, y, z, d)
    if (x, y, z) < (0, 0, 0):
        divisor = -divisor
    return x // divisor, y // divisor, z // divisor, d // divisor


def _reaching(plane: Homogeneous, side: int, triangles: list[list[list[int]]]) -> int:
    """The bit set of the triangles with a corner strictly on the given side."""
    x, y, z, d = plane
    return sum(
        1 << t
        for t, triangle in enumerate(triangles)
        if any(side * (x * px + y * py + z * pz + d) > 0 for px, py, pz in triangle)
    )


def _surrounding_box(triangles: list[list[list[int]]]) -> Cell:
    """A box that is larger than the triangles on each side; its faces are the planes 0 to 5."""
    ranges = []
    for axis in range(3):
        values = [corner[axis] for triangle in triangles for corner in triangle]
        ranges.append((min(values) - 1, max(values) + 1))
    return [
        ((ranges[0][i], ranges[1][j], ranges[2][k], 1), (1 << i) | (4 << j) | (16 << k))
        for i, j, k in product((0, 1), repeat=3)
    ]


def _split(cell: Cell, plane: Homogeneous, bit: int) -> tuple[Cell, Cell]:
    """The parts of a cell below and above a plane; one of them is empty if the plane misses the inside."""
    a, b, c, d = plane
    heights = [a * x + b * y + c * z + d * w for (x, y, z, w), _ in cell]
    if min(heights) >= 0:
        return [], cell
    if max(heights) <= 0:
        return cell, []
    below = [i for i, height in enumerate(heights) if height < 0]
    above = [i for i, height in enumerate(heights) if height > 0]
    cut = [(point, on | bit) for (point, on), height in zip(cell, heights, strict=True) if height == 0]
    for i, j in product(below, above):
        (p, on_p), (q, on_q) = cell[i], cell[j]
        common = on_p & on_q
        # An edge lies on two planes at least, and no third vertex lies on all of its planes.
        if common & (common - 1) and sum(on & common == common for _, on in cell) == 2:
            cut.append((_combined(p, heights[j], q, -heights[i]), common | bit))
    return [cell[i] for i in below] + cut, [cell[j] for j in above] + cut


def _combined(p: Homogeneous, weight_p: int, q: Homogeneous, weight_q: int) -> Homogeneous:
    x, y, z, w = (weight_p * s + weight_q * t for s, t in zip(p, q, strict=True))
    divisor = math.gcd(x, y, z, w)
    return x // divisor, y // divisor, z // divisor, w // divisor


def _inner_point(cell: Cell) -> list[int]:
    """The mean of the vertices: strictly inside the convex hull that they span."""
    w = math.lcm(*(point[3] for point, _ in cell))
    scales = [w // point[3] for point, _ in cell]
    mean = [sum(scale * point[i] for scale, (point, _) in zip(scales, cell, strict=True)) for i in range(3)]
    return [*mean, w * len(cell)]


# ---------------------------------------------------------------- inside or outside


def _parities(points: NDArray[Any], triangles: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether a ray from each homogeneous point (k, 4) crosses an odd number of the integer triangles (m, 3, 3)."""
    for direction in _directions():
        crossings = _crossings(points, triangles, direction)
        if crossings is not None:
            odd: NDArray[np.bool_] = crossings % 2 == 1
            return odd
    raise AssertionError("finitely many triangles cannot block all directions")


def _directions() -> Iterator[tuple[int, int, int]]:
    """Integer directions, no three of them in one plane: each edge blocks at most two for a given point.

    The large first number makes it rare that a ray hits an edge of a small integer grid.
    """
    return ((1, n, n * n) for n in count(1000003))


def _crossings(
    points: NDArray[Any], triangles: NDArray[Any], direction: tuple[int, int, int]
) -> NDArray[np.int64] | None:
    """How many triangles each ray crosses; ``None`` if a ray meets an edge, a vertex or a parallel face."""
    p, q, r = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    ray = np.array(direction, dtype=object)
    normals = _cross_rows(q - p, r - p)
    facing = normals @ ray
    degenerate = (normals == 0).all(axis=1)
    if (facing[~degenerate] == 0).any():
        return None
    p, q, r, normals, facing = (x[~degenerate] for x in (p, q, r, normals, facing))
    beside = []
    for tail, head in ((p, q), (q, r), (r, p)):
        side = _cross_rows(head - tail, np.broadcast_to(ray, tail.shape))
        beside.append(_heights(points, side, tail))
    lowest, highest = np.minimum.reduce(beside), np.maximum.reduce(beside)
    through = ((lowest > 0) | (highest < 0)).astype(bool)
    # Outside the triangle is where two signs are opposite; what remains is a line through an edge.
    if (~through & ~((lowest < 0) & (highest > 0)).astype(bool)).any():
        return None
    ahead = (_heights(points, normals, p) * facing < 0).astype(bool)
    crossings: NDArray[np.int64] = np.count_nonzero(through & ahead, axis=1)
    return crossings


def _heights(points: NDArray[Any], normals: NDArray[Any], through: NDArray[Any]) -> NDArray[Any]:
    """For homogeneous points (k, 4) and planes (m): (k, m) numbers with the sign of the height."""
    offsets = (normals * through).sum(axis=1)
    heights: NDArray[Any] = points[:, :3] @ normals.T - np.outer(points[:, 3], offsets)
    return heights


def _cross_rows(u: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
    (a, b, c), (x, y, z) = u.T, v.T
    return np.stack([b * z - c * y, c * x - a * z, a * y - b * x], axis=1)
