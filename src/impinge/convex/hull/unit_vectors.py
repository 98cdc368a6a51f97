# mypy: allow-untyped-defs, allow-incomplete-defs
"""The directions of vectors inside kernels: bit by bit what ``directions`` computes with numpy.

numpy adds the three squares of a vector as (x x + z z) + y y (two lanes at a time), and so does this.
"""

from __future__ import annotations

import math

from impinge.kernels.jit import inner

_LEAST_EXPONENT = -1000


@inner
def scaled_by_two(v, exponent):
    """The vector times two to the power of -exponent, rounded once where that underflows."""
    if exponent < _LEAST_EXPONENT:  # the factor would be infinite
        return (math.ldexp(v[0], -exponent), math.ldexp(v[1], -exponent), math.ldexp(v[2], -exponent))
    factor = math.ldexp(1.0, -exponent)
    return (v[0] * factor, v[1] * factor, v[2] * factor)


@inner
def exponent_of(v):
    """The largest coordinate is at least half of two to this power and below it in magnitude."""
    return math.frexp(max(abs(v[0]), abs(v[1]), abs(v[2])))[1]


@inner
def near_one(v):
    """The vector times a power of two that brings its largest coordinate to 1/2 or more and below 1."""
    return scaled_by_two(v, exponent_of(v))


@inner
def direction(v):
    """The vector with length one; zero stays zero."""
    scaled = near_one(v)
    length = length_of(scaled)
    if length == 0.0:
        return (0.0, 0.0, 0.0)
    return (scaled[0] / length, scaled[1] / length, scaled[2] / length)


@inner
def length_of(v):
    return math.sqrt((v[0] * v[0] + v[2] * v[2]) + v[1] * v[1])
