"""Bodies of revolution around the z axis: cylinder, cone, capsule and torus."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from impinge.arrays import Floats
from impinge.geometry.float_errors import default_float_errors
from impinge.mesh.mesh import Mesh
from impinge.mesh.shapes.facets import Longs, band, count_of, fans, length_of, solid_of

FINEST = 2.0**-30
"""The smallest ratio of two lengths that are added: of a smaller one, less than 23 of the 53 bits would be left."""


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
    radius, half = length_of(radius, "radius"), length_of(height, "height") / 2.0
    return _revolved([(radius, -half), (radius, half)], count_of(sides, "sides", least=3))


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
    radius, half = length_of(radius, "radius"), length_of(height, "height") / 2.0
    return _revolved([(radius, -half), (0.0, half)], count_of(sides, "sides", least=3))


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
    radius, half = length_of(radius, "radius"), length_of(height, "height") / 2.0
    sides = count_of(sides, "sides", least=3)
    if radius / 2.0 < FINEST * half:
        raise ValueError(f"radius is {radius:g}; it must be at least 2**-30 of height, which is {2.0 * half:g}")
    length_of(half + radius, "height / 2 + radius")
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
    major, minor = length_of(major_radius, "major_radius"), length_of(minor_radius, "minor_radius")
    sides, tube_sides = count_of(sides, "sides", least=3), count_of(tube_sides, "tube_sides", least=3)
    if not FINEST * major <= minor <= major * (1.0 - FINEST):
        raise ValueError(
            f"minor_radius is {minor:g}; it must be smaller than major_radius, which is {major:g}, "
            "but no tube and no hole may be less than 2**-30 of that"
        )
    length_of(major + minor, "major_radius + minor_radius")
    tube = _circle(tube_sides) * minor
    vertices = np.empty((tube_sides, sides, 3))
    vertices[:, :, :2] = (major + tube[:, 0])[:, None, None] * _circle(sides)
    vertices[:, :, 2] = tube[:, 1, None]
    index = np.arange(tube_sides * sides).reshape(tube_sides, sides)
    here, there = index, np.roll(index, -1, axis=0)
    quads = np.stack([here, np.roll(here, -1, axis=1), np.roll(there, -1, axis=1), there], axis=-1)
    return solid_of(vertices.reshape(-1, 3), fans(quads.reshape(-1, 4)))


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
    facets = [facet for low, high in pairwise(rings) for facet in fans(band(low, high))]
    for cap in (rings[0][::-1], rings[-1]):
        if len(cap) > 1:
            facets.extend(fans(cap[None]))
    return solid_of(np.concatenate(vertices), facets)
