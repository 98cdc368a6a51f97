"""Area, volume, centre of mass and inertia of the body that a closed mesh bounds, at density one.

The integrals are sums over the tetrahedra between each triangle and a reference
point: Tonon (2004), "Explicit exact formulas for the 3-D tetrahedron inertia tensor in terms
of its vertex coordinates".  The reference point is the middle of the bounding
box, so that nothing is lost far from the origin, and lengths are scaled by a
power of two, so that nothing overflows or underflows on the way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from impinge.arrays import Floats, read_only
from impinge.errors import Unsupported
from impinge.mesh import topology

if TYPE_CHECKING:
    from impinge.mesh.mesh import Mesh


@dataclass(frozen=True, eq=False)
class MassProperties:
    """The integrals over a closed mesh at density one."""

    volume: float
    """Negative where the winding is inward; 0 where it cannot be told from 0."""
    centre: Floats | None
    """None where the mesh encloses nothing (a flat pocket)."""
    inertia: Floats | None
    """(3, 3) about the centre of mass; that of the enclosed body, whichever way it is wound."""


def surface_area(mesh: Mesh) -> float:
    """The sum of the areas of all triangles."""
    local, _, exponent = _local_triangles(mesh)
    cross = np.cross(local[:, 1] - local[:, 0], local[:, 2] - local[:, 0])
    return _scaled_back(0.5 * float(np.linalg.norm(cross, axis=1).sum()), 2 * exponent)


def mass_properties(mesh: Mesh) -> MassProperties:
    """Volume, centre and inertia; Unsupported where the mesh is open or its winding contradicts itself."""
    if not mesh.is_closed:
        raise Unsupported(f"the mesh is open at {len(topology.open_edges(mesh))} edges, so it bounds no volume")
    unbalanced = topology.unbalanced_edges(mesh)
    if len(unbalanced):
        a, b = unbalanced[0]
        raise Unsupported(
            f"the volume is undefined: faces are wound against each other at {len(unbalanced)} edges, "
            f"first between the vertices {a} and {b}; mesh.diagnose() lists them"
        )
    return mesh.memo("mass_properties", _integrate)


def _local_triangles(mesh: Mesh) -> tuple[Floats, Floats, int]:
    """Triangles around the middle of the box, divided by 2**exponent to sizes below one; the middle; the exponent."""
    low, high = mesh.bounds
    middle = 0.5 * low + 0.5 * high
    local = mesh.triangles - middle
    exponent = int(np.frexp(np.abs(local).max())[1])
    return np.ldexp(local, -exponent), middle, exponent


def _scaled_back(value: float, exponent: int) -> float:
    return float(np.ldexp(value, exponent))


def _integrate(mesh: Mesh) -> MassProperties:
    local, middle, exponent = _local_triangles(mesh)
    a, b, c = local[:, 0], local[:, 1], local[:, 2]
    six_volumes = np.einsum("ij,ij->i", a, np.cross(b, c))
    six_volume = float(six_volumes.sum())
    # What rounding can make of a true zero: each determinant is off by less than 8 roundings of its terms, and
    # numpy's blocked sum adds fewer than 128 + log2(m) roundings, here counted as 2**8 in all.
    magnitude = np.einsum("ij,ij->i", np.abs(a), _cross_of_magnitudes(b, c))
    if abs(six_volume) <= 2.0**-53 * 2.0**8 * float(magnitude.sum()):
        return MassProperties(0.0, None, None)

    centre = (six_volumes[:, None] * (a + b + c)).sum(axis=0) / (4.0 * six_volume)
    a, b, c, o = a - centre, b - centre, c - centre, -centre
    # The second moments of a tetrahedron with corners p: volume / 20 * (sum of p p^T + s s^T), s the sum of p.
    total = a + b + c + o
    moments = sum(np.einsum("k,ki,kj->ij", six_volumes, p, p) for p in (a, b, c, total))
    moments = moments + six_volume * np.outer(o, o)
    moments = moments / 120.0 * np.sign(six_volume)
    moments = 0.5 * (moments + moments.T)
    inertia = np.trace(moments) * np.eye(3) - moments
    return MassProperties(
        volume=_scaled_back(six_volume / 6.0, 3 * exponent),
        centre=read_only(middle + np.ldexp(centre, exponent)),
        inertia=read_only(np.ldexp(inertia, 5 * exponent)),
    )


def _cross_of_magnitudes(b: Floats, c: Floats) -> Floats:
    b, c = np.abs(b), np.abs(c)
    return b[:, [1, 2, 0]] * c[:, [2, 0, 1]] + b[:, [2, 0, 1]] * c[:, [1, 2, 0]]
