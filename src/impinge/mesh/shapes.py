"""Meshes of common shapes: box, sphere, cylinder, cone, capsule, torus, prism and heightfield.

All are centred at the origin, with the z axis as the axis of revolution, and wound so that normals point outward; all
but the open heightfield are solids.  Curved surfaces are inscribed: their vertices lie on the true surface.

Coordinates are as symmetric as the shape.  Vertices that mirror each other do so bit by bit, a vertex in a coordinate
plane has a coordinate of exactly 0.0 there, and whole sizes give whole or half coordinates wherever a quarter or a
twelfth of a turn allows it, so that faces of different shapes can be made to meet exactly.

``Mesh.polygon`` numbers the flat facets: the six sides of a box, the two caps of a cylinder, each trapezoid of a torus.
Spheres and heightfields consist of triangles.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.arrays import Floats, is_id, real_array, require_in_range, shown
from impinge.constants import LARGEST_COORDINATE
from impinge.geometry.float_errors import default_float_errors
from impinge.mesh.mesh import Mesh, mesh_of_arrays
from impinge.mesh.simple_polygon import simple_polygon

__all__ = ["box", "capsule", "cone", "cylinder", "heightfield", "prism", "sphere", "torus"]

Longs = NDArray[np.int64]

SMALLEST_SIZE = 2.0**-970
"""Sizes below 1e-292 are refused: their coordinates would be subnormal numbers, which keep fewer digits."""
FINEST = 2.0**-30
"""The smallest ratio of two lengths that are added: of a smaller one, less than 23 of the 53 bits would be left."""
MOST_SUBDIVISIONS = 9
"""Of a sphere: 5 million triangles."""


@default_float_errors
def box(x: float | ArrayLike, y: float | None = None, z: float | None = None) -> Mesh:
    """A box with the given edge lengths, centred at the origin.

    Parameters
    ----------
    x, y, z
        The lengths along the three axes: three numbers, one sequence of three, or one number for a cube.

    Returns
    -------
    Mesh
        A solid of 8 vertices and 6 quads, which are 12 triangles.

    Raises
    ------
    ValueError
        Where a length is not positive and finite, or there are two of them.

    Examples
    --------
    >>> from impinge import shapes
    >>> shapes.box(1, 2, 3).bounds.tolist()
    [[-0.5, -1.0, -1.5], [0.5, 1.0, 1.5]]
    >>> shapes.box([1, 2, 3]).volume, shapes.box(2).volume
    (6.0, 8.0)
    """
    if y is None and z is None:
        given = real_array(x, "x")
        if given.shape not in ((), (3,)):
            raise ValueError(f"x: expected a number or three lengths, got shape {given.shape}")
        lengths = [_size(value, f"x[{i}]" if given.ndim else "x") for i, value in enumerate(given.ravel())]
        lengths = lengths if given.ndim else lengths * 3
    elif y is None or z is None:
        raise ValueError(f"{'y' if y is None else 'z'} is missing: a box has one length or three")
    else:
        lengths = [_size(x, "x"), _size(y, "y"), _size(z, "z")]
    half = np.array(lengths) / 2.0
    corners = np.array([[i, j, k] for i in (-1.0, 1.0) for j in (-1.0, 1.0) for k in (-1.0, 1.0)])
    quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    return _solid(corners * half, _fans(np.array(quads)))


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
    radius = _size(radius, "radius")
    times = _count(subdivisions, "subdivisions", least=0, most=MOST_SUBDIVISIONS)
    vertices, faces = _icosahedron()
    for _ in range(times):
        vertices, faces = _split_in_four(vertices, faces)
    return Mesh(vertices * radius + 0.0, faces, solid=True)


@default_float_errors
def cylinder(radius: float, height: float, sides: int = 32) -> Mesh:
    """A cylinder around the z axis, from z = -height / 2 to height / 2.

    Parameters
    ----------
    radius
        The radius of the circle through the vertices.
    height
        The length along z.
    sides
        The number of flat sides, at least 3; the first vertex stands in the direction of x.

    Returns
    -------
    Mesh
        A solid prism over a regular polygon.

    Raises
    ------
    ValueError
        Where a size is not positive and finite, or there are fewer than 3 sides.

    Examples
    --------
    >>> from impinge import shapes
    >>> shapes.cylinder(3, 4).bounds.tolist()
    [[-3.0, -3.0, -2.0], [3.0, 3.0, 2.0]]
    """
    radius, half = _size(radius, "radius"), _size(height, "height") / 2.0
    return _revolved([(radius, -half), (radius, half)], _count(sides, "sides", least=3))


@default_float_errors
def cone(radius: float, height: float, sides: int = 32) -> Mesh:
    """A cone around the z axis: its base at z = -height / 2, its tip at z = height / 2.

    Parameters
    ----------
    radius
        The radius of the circle through the vertices of the base.
    height
        The length along z.
    sides
        The number of flat sides, at least 3; the first vertex of the base stands in the direction of x.

    Returns
    -------
    Mesh
        A solid pyramid over a regular polygon.

    Raises
    ------
    ValueError
        Where a size is not positive and finite, or there are fewer than 3 sides.

    Examples
    --------
    >>> from impinge import shapes
    >>> shapes.cone(1, 2, sides=4).vertices.tolist()
    [[1.0, 0.0, -1.0], [0.0, 1.0, -1.0], [-1.0, 0.0, -1.0], [0.0, -1.0, -1.0], [0.0, 0.0, 1.0]]
    """
    radius, half = _size(radius, "radius"), _size(height, "height") / 2.0
    return _revolved([(radius, -half), (0.0, half)], _count(sides, "sides", least=3))


@default_float_errors
def capsule(radius: float, height: float, sides: int = 32) -> Mesh:
    """A cylinder around the z axis with a hemisphere on either end.

    Parameters
    ----------
    radius
        The radius of cylinder and hemispheres.
    height
        The length of the cylinder, which is the distance of the hemispheres' centres: the whole capsule measures
        ``height + 2 * radius``.
    sides
        The number of sides around the axis, at least 3; a hemisphere has ``sides // 4`` bands (at least one).

    Returns
    -------
    Mesh
        A solid.

    Raises
    ------
    ValueError
        Where a size is not positive and finite, the radius is less than a 2**30th of the height (rounding would spoil
        the hemispheres), or there are fewer than 3 sides.

    Examples
    --------
    >>> from impinge import shapes
    >>> shapes.capsule(1, 4).bounds.tolist()
    [[-1.0, -1.0, -3.0], [1.0, 1.0, 3.0]]
    """
    radius, half = _size(radius, "radius"), _size(height, "height") / 2.0
    sides = _count(sides, "sides", least=3)
    if radius / 2.0 < FINEST * half:
        raise ValueError(f"radius is {radius:g}; it must be at least 2**-30 of height, which is {2.0 * half:g}")
    _size(half + radius, "height / 2 + radius")
    bands = max(1, sides // 4)
    quarter = _circle(4 * bands)[: bands + 1] * radius
    upper = [(r, half + z) for r, z in quarter.tolist()]
    return _revolved([(r, -z) for r, z in reversed(upper)] + upper, sides)


@default_float_errors
def torus(major_radius: float, minor_radius: float, sides: int = 32, tube_sides: int = 16) -> Mesh:
    """A ring around the z axis.

    Parameters
    ----------
    major_radius
        The distance of the tube's middle from the axis.
    minor_radius
        The radius of the tube, smaller than ``major_radius``.
    sides
        The number of sides around the axis, at least 3.
    tube_sides
        The number of sides around the tube, at least 3.

    Returns
    -------
    Mesh
        A solid of ``sides * tube_sides`` quads.

    Raises
    ------
    ValueError
        Where a radius is not positive and finite, the minor radius is not smaller than the major radius, tube or hole
        are less than a 2**30th of the major radius (rounding would spoil them), or there are fewer than 3 sides.

    Examples
    --------
    >>> from impinge import shapes
    >>> ring = shapes.torus(3, 1)
    >>> ring
    Mesh(512 vertices, 1024 triangles, solid)
    >>> ring.bounds.tolist()
    [[-4.0, -4.0, -1.0], [4.0, 4.0, 1.0]]
    """
    major, minor = _size(major_radius, "major_radius"), _size(minor_radius, "minor_radius")
    sides, tube_sides = _count(sides, "sides", least=3), _count(tube_sides, "tube_sides", least=3)
    if not FINEST * major <= minor <= major * (1.0 - FINEST):
        raise ValueError(
            f"minor_radius is {minor:g}; it must be smaller than major_radius, which is {major:g}, "
            "but no tube and no hole may be less than 2**-30 of that"
        )
    _size(major + minor, "major_radius + minor_radius")
    tube = _circle(tube_sides) * minor
    vertices = np.empty((tube_sides, sides, 3))
    vertices[:, :, :2] = (major + tube[:, 0])[:, None, None] * _circle(sides)
    vertices[:, :, 2] = tube[:, 1, None]
    index = np.arange(tube_sides * sides).reshape(tube_sides, sides)
    here, there = index, np.roll(index, -1, axis=0)
    quads = np.stack([here, np.roll(here, -1, axis=1), np.roll(there, -1, axis=1), there], axis=-1)
    return _solid(vertices.reshape(-1, 3), _fans(quads.reshape(-1, 4)))


@default_float_errors
def prism(polygon: ArrayLike, height: float) -> Mesh:
    """A simple polygon in the plane z = 0, convex or not, extruded along z from -height / 2 to height / 2.

    Parameters
    ----------
    polygon
        (n, 2) the corners in either sense of rotation, x and y as they shall be; a last corner that repeats the first
        one, as in a closed ring, is left out.
    height
        The length along z.

    Returns
    -------
    Mesh
        A solid with two n-gons and n quads for facets; the corners run counter-clockwise.

    Raises
    ------
    ValueError
        Where the height is not positive and finite, there are fewer than 3 corners, one of them is not finite, or the
        polygon touches or crosses itself (found exactly).

    Examples
    --------
    >>> from impinge import shapes
    >>> angle_iron = shapes.prism([[0, 0], [3, 0], [3, 1], [1, 1], [1, 3], [0, 3]], 10)
    >>> angle_iron
    Mesh(12 vertices, 20 triangles, solid)
    >>> angle_iron.volume
    50.0
    """
    half = _size(height, "height") / 2.0
    ring = simple_polygon(polygon, "polygon")
    n = len(ring)
    vertices = np.empty((2, n, 3))
    vertices[:, :, :2] = ring
    vertices[:, :, 2] = [[-half], [half]]
    # Enlarged by a power of two, which rounds nothing, so that no product of coordinates vanishes.
    exponent = np.frexp(np.abs(ring).max())[1]
    flat = np.column_stack([np.ldexp(ring, max(0, -exponent)), np.zeros(n)])
    cap = Mesh(flat, [range(n)]).faces.astype(np.int64)
    low = np.arange(n)
    return _solid(vertices.reshape(-1, 3), [*_fans(_band(low, low + n)), cap[:, ::-1], cap + n])


@default_float_errors
def heightfield(heights: ArrayLike, cell: float | Sequence[float] = (1.0, 1.0), base: float | None = None) -> Mesh:
    """A surface over a grid in the plane z = 0, or the solid between it and a flat base.

    The grid is centred at the origin.  ``heights[i, j]`` stands above x = (j - (columns - 1) / 2) * cell[0] and
    y = (i - (rows - 1) / 2) * cell[1]: columns run along x and rows along y, as with ``np.meshgrid``.  Each cell is
    two triangles, with the diagonal from its corner at low x and low y to the one at high x and high y.

    Parameters
    ----------
    heights
        (rows, columns) the z coordinate of each point of the grid, at least 2 x 2.
    cell
        The distances between neighbouring points along x and y, or one number for both.
    base
        The z coordinate of the flat bottom of a solid, below all heights; with ``None`` the surface stays open.

    Returns
    -------
    Mesh
        A surface with normals upward, or a solid.  The first ``rows * columns`` vertices are the points of the grid,
        row by row, and the first triangles are those of the cells, two for each.

    Raises
    ------
    ValueError
        Where there are fewer than 2 x 2 heights, one of them is not finite, a distance is not positive and finite, or
        the base is not below all heights.

    Examples
    --------
    >>> from impinge import shapes
    >>> hill = [[0, 0, 0], [0, 2, 0], [0, 0, 0]]
    >>> shapes.heightfield(hill)
    Mesh(9 vertices, 8 triangles, surface)
    >>> ground = shapes.heightfield(hill, cell=(10, 5), base=-1)
    >>> ground.solid, ground.bounds.tolist()
    (True, [[-10.0, -5.0, -1.0], [10.0, 5.0, 2.0]])
    """
    z = real_array(heights, "heights")
    if z.ndim != 2 or min(z.shape) < 2:
        raise ValueError(f"heights: expected shape (rows, columns) of at least (2, 2), got {z.shape}")
    require_in_range(z, "heights")
    spacing = real_array(cell, "cell")
    if spacing.shape not in ((), (2,)):
        raise ValueError(f"cell: expected a number or two, got shape {spacing.shape}")
    dx, dy = (_size(v, f"cell[{i}]" if spacing.ndim else "cell") for i, v in enumerate(np.broadcast_to(spacing, 2)))
    rows, columns = z.shape
    for what, distance, count in (
        ("width, cell[0] * (columns - 1)", dx, columns),
        ("depth, cell[1] * (rows - 1)", dy, rows),
    ):
        _size(distance * (count - 1), what)
    vertices = np.empty((rows, columns, 3))
    vertices[:, :, 0] = np.arange(1 - columns, columns, 2) * (dx / 2.0)
    vertices[:, :, 1] = np.arange(1 - rows, rows, 2)[:, None] * (dy / 2.0)
    vertices[:, :, 2] = z
    points = vertices.reshape(-1, 3) + 0.0
    index = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = index[:-1, :-1], index[:-1, 1:], index[1:, 1:], index[1:, :-1]
    top = np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)
    if base is None:
        return Mesh(points, top)

    low = real_array(base, "base")
    lowest = float(z.min())
    if low.ndim != 0 or not -LARGEST_COORDINATE <= low < lowest:
        raise ValueError(
            f"base is {shown(base)}; it must be a finite number below all heights, the lowest is {lowest:g}"
        )
    rim = np.concatenate([index[0, :-1], index[:-1, -1], index[-1, :0:-1], index[:0:-1, 0]])  # counter-clockwise
    under = points[rim]
    under[:, 2] = low
    middle = np.array([[0.0, 0.0, float(low)]])
    below = len(points) + np.arange(len(rim))
    after, below_after = np.roll(rim, -1), np.roll(below, -1)
    walls = np.stack([below, below_after, after, below, after, rim], axis=-1).reshape(-1, 3)
    # A fan around the middle: triangles over all cells would double the mesh for nothing.
    bottom = np.stack([np.full(len(rim), below[-1] + 1), below_after, below], axis=-1)
    return Mesh(np.concatenate([points, under, middle]) + 0.0, np.concatenate([top, walls, bottom]), solid=True)


def _size(value: Any, what: str) -> float:
    """A length that is positive, finite and within the range of coordinates."""
    number = real_array(value, what)
    if number.ndim != 0:
        raise ValueError(f"{what}: expected one number, got shape {number.shape}")
    if not (0.0 < number < np.inf):
        raise ValueError(f"{what} is {shown(float(number))}; it must be positive and finite")
    if not SMALLEST_SIZE <= number <= LARGEST_COORDINATE:
        limits = f"{SMALLEST_SIZE:.2g} and {LARGEST_COORDINATE:.2g}"
        raise ValueError(f"{what} is {float(number):g}; it must be between {limits}")
    return float(number)


def _count(value: Any, what: str, least: int, most: int | None = None) -> int:
    """A whole number within limits."""
    if not is_id(value) or value < least or (most is not None and value > most):
        limits = f"of {least} or more" if most is None else f"from {least} to {most}"
        raise ValueError(f"{what} is {shown(value)}; it must be a whole number {limits}")
    return int(value)


def _circle(sides: int) -> Floats:
    """(sides, 2) points of the unit circle, counter-clockwise from (1, 0), with all symmetries of the polygon exact.

    Angles are reduced to the first eighth of a turn in whole numbers.  Half coordinates (at a twelfth) are exact too.
    """
    angle: Longs = 8 * np.arange(sides)  # in parts of a turn, of which there are 8 * sides
    below = angle > 4 * sides
    angle = np.where(below, 8 * sides - angle, angle)
    left = angle > 2 * sides
    angle = np.where(left, 4 * sides - angle, angle)
    steep = angle > sides
    angle = np.where(steep, 2 * sides - angle, angle)
    # By the C library: numpy's own functions differ in the last bit from one processor to another.
    radians = (angle * (math.pi / (4 * sides))).tolist()
    long = np.array([math.cos(value) for value in radians])
    short = np.array([math.sin(value) for value in radians])
    long[angle == sides] = short[angle == sides] = math.sqrt(0.5)
    twelfth = 3 * angle == 2 * sides
    long[twelfth], short[twelfth] = math.sqrt(0.75), 0.5
    x, y = np.where(steep, short, long), np.where(steep, long, short)
    return np.column_stack([np.where(left, -x, x), np.where(below, -y, y)]) + 0.0  # + 0.0 turns -0.0 into 0.0


def _solid(vertices: Floats, facets: Iterable[Longs]) -> Mesh:
    """A solid of flat facets, each given as its (k, 3) triangles.

    The triangles are known, so that ``Mesh`` has none to choose: its choice among those of a tiny quad is another one.
    """
    triangles = list(facets)
    polygon = np.repeat(np.arange(len(triangles), dtype=np.int32), [len(facet) for facet in triangles])
    return mesh_of_arrays(vertices + 0.0, np.concatenate(triangles).astype(np.int32), polygon, True)


def _fans(polygons: Longs) -> Longs:
    """(m, k - 2, 3) the triangles of convex polygons (m, k), as fans around their first corners."""
    around = np.arange(1, polygons.shape[1] - 1)
    first = np.broadcast_to(polygons[:, :1], (len(polygons), len(around)))
    return np.stack([first, polygons[:, around], polygons[:, around + 1]], axis=-1)


def _band(low: Longs, high: Longs) -> Longs:
    """The polygons between two counter-clockwise rings of vertices, one above the other; a ring of one is a tip."""
    if len(low) == 1:
        corners = [np.full(len(high), low[0]), np.roll(high, -1), high]
    elif len(high) == 1:
        corners = [low, np.roll(low, -1), np.full(len(low), high[0])]
    else:
        corners = [low, np.roll(low, -1), np.roll(high, -1), high]
    return np.stack(corners, axis=-1)


def _revolved(outline: Sequence[tuple[float, float]], sides: int) -> Mesh:
    """The solid of revolution of (radius, z) points from bottom to top; only the ends may have a radius of 0."""
    circle = _circle(sides)
    rings: list[Longs] = []
    vertices: list[Floats] = []
    count = 0
    for radius, z in outline:
        ring = np.zeros((sides if radius > 0.0 else 1, 3))
        if radius > 0.0:
            ring[:, :2] = circle * radius
        ring[:, 2] = z
        vertices.append(ring)
        rings.append(np.arange(count, count + len(ring)))
        count += len(ring)
    facets = [facet for low, high in pairwise(rings) for facet in _fans(_band(low, high))]
    for cap in (rings[0][::-1], rings[-1]):
        if len(cap) > 1:
            facets.extend(_fans(cap[None]))
    return _solid(np.concatenate(vertices), facets)


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
