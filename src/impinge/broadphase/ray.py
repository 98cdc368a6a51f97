"""Which boxes a ray touches: the slab test, rounded so that it never misses.

Kay and Kajiya (1986), "Ray tracing complex scenes".  On each axis the ray is between the two planes of a box for the
times from ``near`` to ``far``; it touches the box if all these intervals have a time in common.  Each time is a
difference and a quotient, so it is off by at most two roundings: it is moved outward by four, and by one step of the
floating point numbers for those that are subnormal.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from impinge.arrays import Floats, as_extent, real_array
from impinge.constants import UNIT_ROUNDOFF

_LESS, _MORE = 1.0 - 4.0 * UNIT_ROUNDOFF, 1.0 + 4.0 * UNIT_ROUNDOFF


def _as_vector(value: ArrayLike, what: str) -> Floats:
    vector = real_array(value, what)
    if vector.shape != (3,):
        raise ValueError(f"{what}: expected shape (3,), got {vector.shape}")
    if not np.isfinite(vector).all():
        raise ValueError(f"{what} is {vector.tolist()}; it must be finite")
    return vector


def _latest_time(direction: Floats, length: float) -> float:
    """When the ray has covered ``length``, or a little later."""
    largest = float(np.abs(direction).max())
    time = length / largest / math.hypot(*(direction / largest))
    # Two quotients, and a square root of a sum of squares: fewer than sixteen roundings.
    return math.nextafter(time * (1.0 + 16.0 * UNIT_ROUNDOFF), math.inf)


class Ray(NamedTuple):
    """start + time * way, for times from 0 to ``latest``."""

    start: Floats
    way: Floats
    latest: float


def as_ray(origin: ArrayLike, direction: ArrayLike, length: float = math.inf) -> Ray:
    start, way = _as_vector(origin, "origin"), _as_vector(direction, "direction")
    if not way.any():
        raise ValueError("direction is zero: a ray must lead somewhere")
    reach = as_extent(length, "length")
    way = np.ldexp(way, max(0, -math.frexp(np.abs(way).max())[1]))  # exact; times along a short one would overflow
    return Ray(start, way, _latest_time(way, reach))


def touched_by_ray(rows: Floats, ray: Ray) -> NDArray[np.bool_]:
    """Whether the ray touches each box."""
    start, way, latest = ray
    first = np.zeros(len(rows))
    last = np.full(len(rows), latest)
    touched = np.ones(len(rows), dtype=np.bool_)
    for axis in range(3):
        low, high = rows[:, axis], rows[:, axis + 3]
        if way[axis] == 0.0:
            touched &= (low <= start[axis]) & (start[axis] <= high)
            continue
        with np.errstate(over="ignore", under="ignore"):
            to_low, to_high = low - start[axis], high - start[axis]
            at_low, at_high = to_low / way[axis], to_high / way[axis]
            near, far = np.minimum(at_low, at_high), np.maximum(at_low, at_high)
            near = np.nextafter(near * np.where(near > 0.0, _LESS, _MORE), -np.inf)
            far = np.nextafter(far * np.where(far > 0.0, _MORE, _LESS), np.inf)
        known = np.isfinite(to_low) & np.isfinite(to_high)  # a difference that overflowed says nothing
        np.maximum(first, near, out=first, where=known)
        np.minimum(last, far, out=last, where=known)
    return touched & (first <= last)
