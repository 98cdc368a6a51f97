"""Box, prism and heightfield: flat facets between corners that the caller gives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from impinge.arrays import real_array, require_in_range, shown
from impinge.constants import LARGEST_COORDINATE
from impinge.geometry.float_errors import default_float_errors
from impinge.mesh.mesh import Mesh
from impinge.mesh.shapes.facets import band, fans, length_of, solid_of
from impinge.mesh.simple_polygon import simple_polygon


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
        lengths = [length_of(value, f"x[{i}]" if given.ndim else "x") for i, value in enumerate(given.ravel())]
        lengths = lengths if given.ndim else lengths * 3
    elif y is None or z is None:
        raise ValueError(f"{'y' if y is None else 'z'} is missing: a box has one length or three")
    else:
        lengths = [length_of(x, "x"), length_of(y, "y"), length_of(z, "z")]
    half = np.array(lengths) / 2.0
    corners = np.array([[i, j, k] for i in (-1.0, 1.0) for j in (-1.0, 1.0) for k in (-1.0, 1.0)])
    quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    return solid_of(corners * half, fans(np.array(quads)))


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
    half = length_of(height, "height") / 2.0
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
    return solid_of(vertices.reshape(-1, 3), [*fans(band(low, low + n)), cap[:, ::-1], cap + n])


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
    dx, dy = (length_of(v, f"cell[{i}]" if spacing.ndim else "cell") for i, v in enumerate(np.broadcast_to(spacing, 2)))
    rows, columns = z.shape
    for what, distance, count in (
        ("width, cell[0] * (columns - 1)", dx, columns),
        ("depth, cell[1] * (rows - 1)", dy, rows),
    ):
        length_of(distance * (count - 1), what)
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
