"""Small hard solids: pairs on the integer grid for which touching, equal and nested are frequent.

Every solid is clean: closed, and its boundary does not cross itself.  Shapes are made of
planar polygons on the grid, which are cut into triangles at random, so the same body
comes with different triangles.  Then each pair is, at random, mapped by an integer matrix
(which keeps all incidences and tilts all planes), turned by 90 degrees and moved far away,
or, one in ten, turned by any angle with the roundings of the contract, scaled by a power
of two, and its vertices and faces are shuffled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from impinge.geometry.pose import posed_vertices
from impinge.lab.hard_input import quarter_turn, random_pose

Grid = NDArray[np.int64]


class Body(NamedTuple):
    """Integer points and planar polygons that wind counterclockwise seen from outside."""

    points: Grid
    polygons: list[list[int]]


class Solid(NamedTuple):
    vertices: NDArray[np.float64]
    faces: NDArray[np.int32]


class SolidPair(NamedTuple):
    family: str
    a: Solid
    b: Solid


# ---------------------------------------------------------------- shapes


def tetrahedron(rng: np.random.Generator, size: int = 3) -> Body:
    """Four grid points that are not in one plane."""
    while True:
        points = rng.integers(0, size + 1, (4, 3))
        volume = round(float(np.linalg.det((points[1:] - points[0]).astype(float))))
        if volume != 0:
            break
    if volume < 0:
        points = points[[0, 2, 1, 3]]
    return Body(points, [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])


def box(rng: np.random.Generator, size: int = 4) -> Body:
    return prism_over([[0, 0], [1, 0], [1, 1], [0, 1]], [_breaks(rng, 2, size) for _ in range(3)])


def triangular_prism(rng: np.random.Generator, size: int = 3) -> Body:
    return prism_over([[0, 0], [1, 0], [0, 1]], [_breaks(rng, 2, size) for _ in range(3)])


def l_prism(rng: np.random.Generator, size: int = 4) -> Body:
    outline = [[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]]
    return prism_over(outline, [_breaks(rng, 3, size), _breaks(rng, 3, size), _breaks(rng, 2, size)])


def u_prism(rng: np.random.Generator, size: int = 4) -> Body:
    outline = [[0, 0], [3, 0], [3, 2], [2, 2], [2, 1], [1, 1], [1, 2], [0, 2]]
    return prism_over(outline, [_breaks(rng, 4, size), _breaks(rng, 3, size), _breaks(rng, 2, size)])


def prism_over(outline: Sequence[Sequence[int]], breaks: Sequence[Grid]) -> Body:
    """A prism whose outline (counterclockwise) counts along the given x and y, between two z."""
    xs, ys, zs = breaks
    ring = [(int(xs[i]), int(ys[j])) for i, j in outline]
    n = len(ring)
    points = np.array([(x, y, z) for z in zs for x, y in ring], dtype=np.int64)
    walls = [[i, (i + 1) % n, n + (i + 1) % n, n + i] for i in range(n)]
    return Body(points, [list(range(n))[::-1], list(range(n, 2 * n)), *walls])


def pyramid(rng: np.random.Generator, size: int = 4) -> Body:
    xs, ys, zs = (_breaks(rng, 2, size) for _ in range(3))
    apex = [*rng.integers(0, size + 1, 2), zs[1]]
    points = np.array([[xs[i], ys[j], zs[0]] for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))] + [apex], dtype=np.int64)
    return Body(points, [[3, 2, 1, 0], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]])


def octahedron(rng: np.random.Generator, size: int = 4) -> Body:
    centre = rng.integers(0, size, 3)
    reach = rng.integers(1, 3, 6)
    points = np.array([centre + (1 - 2 * (i % 2)) * reach[i] * np.eye(3, dtype=np.int64)[i // 2] for i in range(6)])
    triangles = []
    for signs in product((0, 1), repeat=3):
        x, y, z = signs[0], 2 + signs[1], 4 + signs[2]
        triangles.append([x, y, z] if sum(signs) % 2 == 0 else [y, x, z])
    return Body(points, triangles)


def subdivided_box(rng: np.random.Generator, size: int = 4) -> Body:
    """A box whose faces are cut into coplanar rectangles."""
    counts = rng.integers(1, 3, 3)
    return cuboids(np.ones(counts, dtype=bool), [_breaks(rng, n + 1, size) for n in counts])


def box_with_cavity(rng: np.random.Generator, size: int = 5) -> Body:
    """A box with a box-shaped hole inside: two closed surfaces."""
    outer, inner = [], []
    for _ in range(3):
        low, inner_low, inner_high, high = _breaks(rng, 4, size)
        outer.append(np.array([low, high]))
        inner.append(np.array([inner_low, inner_high]))
    square = [[0, 0], [1, 0], [1, 1], [0, 1]]
    shell, hole = prism_over(square, outer), prism_over(square, inner)
    inward = [[i + len(shell.points) for i in polygon[::-1]] for polygon in hole.polygons]
    return Body(np.concatenate([shell.points, hole.points]), shell.polygons + inward)


def boxes_sharing_an_edge(rng: np.random.Generator, size: int = 4) -> Body:
    """Two boxes that share one edge, as one mesh: four faces meet at it."""
    filled = np.array([[[True], [False]], [[False], [True]]])
    return cuboids(filled, [_breaks(rng, 3, size), _breaks(rng, 3, size), _breaks(rng, 2, size)])


def voxels(rng: np.random.Generator, size: int = 4) -> Body:
    """Some of the 2 x 2 x 2 blocks: with faces in one plane, edges of four faces, parts that share a vertex."""
    filled = rng.random((2, 2, 2)) < rng.choice([0.3, 0.6])
    filled.flat[rng.integers(8)] = True
    return cuboids(filled, [_breaks(rng, 3, size) for _ in range(3)])


def cuboids(filled: NDArray[np.bool_], breaks: Sequence[Grid]) -> Body:
    """The union of some blocks of a grid with the given lines: one rectangle for each block face on the boundary."""
    padded = np.pad(filled, 1)
    numbers: dict[tuple[int, int, int], int] = {}
    polygons: list[list[int]] = []
    for block in np.argwhere(filled):
        for axis, side in product(range(3), (0, 1)):
            neighbour = block + 1
            neighbour[axis] += 2 * side - 1
            if padded[tuple(neighbour)]:
                continue
            ring = []
            for u, v in ((0, 0), (1, 0), (1, 1), (0, 1)):
                corner = block.copy()
                corner[axis] += side
                corner[(axis + 1) % 3] += u
                corner[(axis + 2) % 3] += v
                ring.append(numbers.setdefault((int(corner[0]), int(corner[1]), int(corner[2])), len(numbers)))
            polygons.append(ring if side else ring[::-1])
    points = np.array([[breaks[axis][index[axis]] for axis in range(3)] for index in numbers], dtype=np.int64)
    return Body(points, polygons)


def inscribed_tetrahedra(rng: np.random.Generator, size: int = 4) -> tuple[Body, Body]:
    """The two tetrahedra inscribed in one box: the stella octangula."""
    x, y, z = (_breaks(rng, 2, size) for _ in range(3))
    corners = [np.array([[x[i ^ s], y[j ^ s], z[k ^ s]] for i, j, k in ((0, 0, 0), (1, 1, 0), (1, 0, 1), (0, 1, 1))])
               for s in (0, 1)]  # fmt: skip
    faces = [[0, 1, 2], [0, 3, 1], [1, 3, 2], [0, 2, 3]]
    return Body(corners[0], faces), Body(corners[1], [polygon[::-1] for polygon in faces])


def _breaks(rng: np.random.Generator, number: int, size: int) -> Grid:
    """Increasing grid coordinates."""
    return np.sort(rng.choice(size + 1, number, replace=False)).astype(np.int64)


SHAPES: tuple[Callable[[np.random.Generator], Body], ...] = (
    tetrahedron,
    box,
    triangular_prism,
    pyramid,
    octahedron,
    l_prism,
    u_prism,
    subdivided_box,
    box_with_cavity,
    boxes_sharing_an_edge,
    voxels,
)


def any_shape(rng: np.random.Generator) -> Body:
    return SHAPES[rng.integers(len(SHAPES))](rng)


def convex_shape(rng: np.random.Generator) -> Body:
    return SHAPES[rng.integers(5)](rng)


# ---------------------------------------------------------------- pairs


def _moved(body: Body, offset: Any) -> Body:
    return Body(body.points + np.asarray(offset, dtype=np.int64), body.polygons)


def _scaled(body: Body, factor: int) -> Body:
    return Body(body.points * factor, body.polygons)


def tetrahedra(rng: np.random.Generator) -> tuple[Body, Body]:
    """Two grid tetrahedra."""
    size = int(rng.integers(2, 5))
    return tetrahedron(rng, size), tetrahedron(rng, size)


def boxes(rng: np.random.Generator) -> tuple[Body, Body]:
    """Two grid boxes."""
    size = int(rng.integers(2, 5))
    return box(rng, size), box(rng, size)


def mixed(rng: np.random.Generator) -> tuple[Body, Body]:
    """Any two shapes, moved by a small grid vector."""
    return any_shape(rng), _moved(any_shape(rng), rng.integers(-2, 3, 3))


def stacked(rng: np.random.Generator) -> tuple[Body, Body]:
    """The boxes around the bodies touch: coincident faces, edges, vertices, or a gap inside the boxes."""
    a, b = any_shape(rng), any_shape(rng)
    offset = rng.integers(-1, 2, 3)
    for axis in rng.permutation(3)[: rng.choice([1, 1, 1, 2, 3])]:
        offset[axis] = a.points[:, axis].max() - b.points[:, axis].min()
    return a, _moved(b, offset)


def nested(rng: np.random.Generator) -> tuple[Body, Body]:
    """A body and its enlargement about a vertex (they touch from inside) or about an inner or outer point."""
    body = convex_shape(rng) if rng.random() < 0.7 else any_shape(rng)
    factor = int(rng.integers(2, 4))
    centre = body.points[rng.integers(len(body.points))]
    if rng.random() < 0.4:
        return _scaled(body, len(body.points)), _moved(
            _scaled(body, factor * len(body.points)), (1 - factor) * body.points.sum(axis=0)
        )
    return body, _moved(_scaled(body, factor), (1 - factor) * centre + rng.integers(0, 2, 3) * rng.integers(0, 2))


def equal(rng: np.random.Generator) -> tuple[Body, Body]:
    """The same body twice, with its faces cut into triangles in two ways."""
    body = any_shape(rng)
    return body, body


def regridded(rng: np.random.Generator) -> tuple[Body, Body]:
    """The same blocks on a coarse and on a finer grid: equal bodies with different vertices; or one block less."""
    filled = rng.random((2, 2, 2)) < 0.6
    filled.flat[rng.integers(8)] = True
    coarse = [np.array([0, 2, 4]) for _ in range(3)]
    axis = int(rng.integers(3))
    finer = np.repeat(filled, 2, axis=axis)
    lines = list(coarse)
    lines[axis] = np.arange(5)
    if rng.random() < 0.4 and finer.sum() > 1:
        finer[tuple(rng.permutation(np.argwhere(finer))[0])] = False
    return cuboids(filled, coarse), cuboids(finer, lines)


def stella_octangula(rng: np.random.Generator) -> tuple[Body, Body]:
    """Two tetrahedra inscribed in one box, or one of them and the box."""
    a, b = inscribed_tetrahedra(rng)
    if rng.random() < 0.3:
        low, high = np.minimum(a.points, b.points).min(axis=0), np.maximum(a.points, b.points).max(axis=0)
        b = prism_over([[0, 0], [1, 0], [1, 1], [0, 1]], list(np.stack([low, high], axis=1)))
    return a, b


def in_cavity(rng: np.random.Generator) -> tuple[Body, Body]:
    """A hollow box, and a shape in or near its cavity (often one that fills it exactly)."""
    hollow = box_with_cavity(rng)
    hole = hollow.points[8:]
    if rng.random() < 0.4:
        return hollow, Body(hole, prism_over([[0, 0], [1, 0], [1, 1], [0, 1]], [np.array([0, 1])] * 3).polygons)
    if rng.random() < 0.4:
        # Room around it: nested in the hole is apart.
        return _scaled(hollow, 5), _moved(tetrahedron(rng, 3), 5 * hole[0] + rng.integers(0, 3, 3))
    other = convex_shape(rng)
    return hollow, _moved(other, hole[0] - other.points.min(axis=0) + rng.integers(-1, 2, 3))


def through_vertices(rng: np.random.Generator) -> tuple[Body, Body]:
    """A vertex of one falls on a vertex or on the middle of an edge or diagonal of the other."""
    a, b = _scaled(any_shape(rng), 2), _scaled(any_shape(rng), 2)
    p, q = a.points[rng.integers(len(a.points), size=2)]
    target = (p + q) // 2 if rng.random() < 0.6 else p
    return a, _moved(b, target - b.points[rng.integers(len(b.points))])


SOLID_FAMILIES: dict[str, Callable[[np.random.Generator], tuple[Body, Body]]] = {
    "tetrahedra": tetrahedra,
    "boxes": boxes,
    "mixed": mixed,
    "stacked": stacked,
    "nested": nested,
    "equal": equal,
    "regridded": regridded,
    "stella octangula": stella_octangula,
    "in cavity": in_cavity,
    "through vertices": through_vertices,
}
"""Each family has the same share of the mix; its function says what it makes."""


def solid_pair(rng: np.random.Generator, family: str | None = None) -> SolidPair:
    """One pair of small hard solids of the named family, or of a random one."""
    name = family if family is not None else list(SOLID_FAMILIES)[rng.integers(len(SOLID_FAMILIES))]
    body_a, body_b = SOLID_FAMILIES[name](rng)
    matrix = np.eye(3, dtype=np.int64)
    if rng.random() < 0.4:
        while True:
            matrix = rng.integers(-2, 3, (3, 3))
            if round(float(np.linalg.det(matrix.astype(float)))) != 0:
                break
    mirrored = round(float(np.linalg.det(matrix.astype(float)))) < 0
    pose = quarter_turn(rng, largest_offset=int(rng.choice([0, 3, 10**6])))
    if rng.random() < 0.2:
        # Faces are no longer plane, and what touched misses by roundings, which are large far from the origin.
        pose = random_pose(rng, float(rng.choice([1.0, 1e3, 1e6])))
    scale = 2.0 ** int(rng.choice([0, 0, -30, 30]))
    solids = []
    for body in (body_a, body_b):
        points = (body.points @ matrix.T).astype(np.float64)
        faces = triangulated(rng, body, mirrored)
        solids.append(_shuffled(rng, posed_vertices(pose, points) * scale, faces))
    if rng.random() < 0.5:
        solids.reverse()
    return SolidPair(name, solids[0], solids[1])


def triangulated(rng: np.random.Generator, body: Body, mirrored: bool = False) -> NDArray[np.int32]:
    """Triangles of all polygons by cutting ears in random order."""
    triangles = [t for polygon in body.polygons for t in _ears(rng, body.points, polygon)]
    faces = np.array(triangles, dtype=np.int32)
    return faces[:, ::-1].copy() if mirrored else faces


def _ears(rng: np.random.Generator, points: Grid, polygon: list[int]) -> list[list[int]]:
    ring = list(polygon)
    corners = points[ring]
    following = np.roll(corners, -1, axis=0)
    normal = np.cross(corners, following).sum(axis=0)
    triangles = []
    while len(ring) > 3:
        for i in rng.permutation(len(ring)):
            ear = [ring[i - 1], ring[i], ring[(i + 1) % len(ring)]]
            p, q, r = points[ear]
            if np.cross(q - p, r - q) @ normal <= 0:
                continue
            rest = points[[v for v in ring if v not in ear]]
            inside = np.ones(len(rest), dtype=bool)
            for tail, head in ((p, q), (q, r), (r, p)):
                inside &= np.cross(head - tail, rest - tail) @ normal >= 0
            if not inside.any():
                triangles.append(ear)
                del ring[i]
                break
    return [*triangles, ring]


def _shuffled(rng: np.random.Generator, vertices: NDArray[np.float64], faces: NDArray[np.int32]) -> Solid:
    order = rng.permutation(len(vertices))
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    faces = place[faces][rng.permutation(len(faces))]
    turned = np.stack([np.roll(face, rng.integers(3)) for face in faces])
    return Solid(np.ascontiguousarray(vertices[order]), turned.astype(np.int32))
