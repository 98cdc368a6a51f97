"""Constants of the memory layout of a bounding volume hierarchy; bvh.tree describes the arrays."""

from typing import Final

WIDTH: Final = 8
"""Slots of a node: as many as ``kernels.lanes`` compares at once."""
EMPTY: Final = -(2**31)
"""The child of a slot that is not used."""
NOTHING: Final = -(2.0**60)
"""Half lengths and radius of the volume in such a slot: it meets nothing and is far from everything."""
SURPLUS: Final = 2.0**-19
"""Half lengths are made longer by this part of the sum of all three, radii by this part of themselves: it covers the
float32 rounding of comparisons (bvh.volumes.separating_axes, bvh.volumes.spheres)."""
