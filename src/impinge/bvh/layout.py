"""The memory layout of a bounding volume hierarchy; bvh.tree describes the arrays."""

from typing import Final

from impinge.kernels.record import Record, float32

WIDTH: Final = 8
"""Slots of a node: as many as ``kernels.lanes`` compares at once."""
EMPTY: Final = -(2**31)
"""The child of a slot that is not used."""
NOTHING: Final = -(2.0**60)
"""Half lengths and radius of the volume in such a slot: it meets nothing and is far from everything."""
SURPLUS: Final = 2.0**-19
"""Half lengths are made longer by this part of the sum of all three, radii by this part of themselves: it covers the
float32 rounding of comparisons (bvh.volumes.separating_axes, bvh.volumes.spheres)."""


# The eight volumes of a node: rows of eight numbers, one of each.


class OBBNode(Record, constant=True):
    """Oriented boxes."""

    axes = float32[9, WIDTH]
    """A matrix whose columns are the axes."""
    centre = float32[3, WIDTH]
    half = float32[3, WIDTH]
    size = float32[WIDTH]
    """The larger of two volumes is opened."""


class AABBNode(Record, constant=True):
    """Axis-aligned boxes."""

    centre = float32[3, WIDTH]
    half = float32[3, WIDTH]
    size = float32[WIDTH]
    unused = float32[WIDTH]


class SphereNode(Record, constant=True):
    """Spheres."""

    centre = float32[3, WIDTH]
    radius = float32[WIDTH]


def _row(node: type[Record], field: str) -> int:
    return node.offsets[field] // (4 * WIDTH)


# The same as places in an array of rows, where such are filled and compared.
OBB_AXES, OBB_CENTRE, OBB_HALF, OBB_SIZE = (_row(OBBNode, name) for name in ("axes", "centre", "half", "size"))
AABB_CENTRE, AABB_HALF, AABB_SIZE = (_row(AABBNode, name) for name in ("centre", "half", "size"))
SPHERE_CENTRE, SPHERE_RADIUS = (_row(SphereNode, name) for name in ("centre", "radius"))
OBB_ROWS, AABB_ROWS, SPHERE_ROWS = (node.size_in_bytes // (4 * WIDTH) for node in (OBBNode, AABBNode, SphereNode))
