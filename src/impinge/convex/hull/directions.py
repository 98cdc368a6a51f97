"""Unit vectors that are right to the last bits, also where cross products cancel.

A component of u x v in floats is off by less than 5 u0 times the sum of the magnitudes of its two products, u0 = 2**-53
(``contacts.face_normal``).  Where the vector is at least 1/16 of the sum of all six, its direction is right to 2**-46
at worst, usually to the last bits.  All others are evaluated in integers, and rounded once.
"""

from __future__ import annotations

import numpy as np

from impinge.arrays import Floats
from impinge.geometry.exact.integers import as_integers

LEAST_PART_OF_TERMS = 2.0**-4
NO_UNDERFLOW = 2.0**-400

Whole = tuple[int, int, int]


def directions(vectors: Floats) -> Floats:
    """(k, 3) the vectors with length one; zero stays zero."""
    largest = np.abs(vectors).max(axis=1, keepdims=True) if len(vectors) else np.ones((0, 1))
    # By powers of two first: no square of a tiny vector underflows, and the quotient has no rounding.
    scaled = np.ldexp(vectors, -np.frexp(largest)[1])
    length = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))[:, None]
    unit: Floats = np.divide(scaled, length, out=np.zeros_like(scaled), where=length > 0.0)
    return unit


def exact_normal(a: Floats, b: Floats, c: Floats) -> Whole:
    """The normal of a triangle times an unspecified positive number; exact."""
    x = as_integers([*a.tolist(), *b.tolist(), *c.tolist()])
    return exact_cross((x[3] - x[0], x[4] - x[1], x[5] - x[2]), (x[6] - x[0], x[7] - x[1], x[8] - x[2]))


def cross_directions(u: Floats, v: Floats) -> Floats:
    """(k, 3) the directions of u x v, for vectors of magnitude about one; zero for parallel ones."""
    unit, certain = _cross_in_floats(u, v)
    for i in np.flatnonzero(~certain).tolist():
        unit[i] = exact_cross_direction(u[i], v[i])
    return unit


def exact_cross_direction(u: Floats, v: Floats) -> Floats:
    """The direction of u x v from integers."""
    x = as_integers([*u.tolist(), *v.tolist()])
    return rounded_direction(exact_cross((x[0], x[1], x[2]), (x[3], x[4], x[5])))


def _cross_in_floats(u: Floats, v: Floats) -> tuple[Floats, np.ndarray[tuple[int, ...], np.dtype[np.bool_]]]:
    """Directions, and which of them are certain."""
    vectors = np.cross(u, v)
    a, b = np.abs(u), np.abs(v)
    terms = a.sum(axis=1) * b.sum(axis=1) - np.einsum("ij,ij->i", a, b)
    length = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    certain = (length >= LEAST_PART_OF_TERMS * terms) & (length > NO_UNDERFLOW)
    return directions(vectors), certain


def exact_cross(u: Whole, v: Whole) -> Whole:
    """The cross product of integers."""
    return (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])


def rounded_direction(vector: Whole) -> Floats:
    """The unit vector along one of integers of any size; zero for zero.

    >>> rounded_direction((3 * 10**400, 0, -4 * 10**400)).tolist()
    [0.6, 0.0, -0.8]
    """
    excess = max(abs(component) for component in vector).bit_length() - 200
    small = [component >> excess if excess > 0 else component for component in vector]
    unit: Floats = directions(np.array([[float(component) for component in small]]))[0]
    return unit
