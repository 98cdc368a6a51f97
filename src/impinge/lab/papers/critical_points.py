"""Critical points: contact of bolt and nut tested at points on the crest of the bolt only.

Nicolson and Fearing (1991), as Ponamgi, Manocha and Lin (1995), section 5.1, report it: the bolt is taken for a helix
of the radius of its crest, and points on it are tested against the surface of the nut.  Where bolt and nut touch with
flanks, roots or ends, nothing is noticed.  Points and surface are those of the polygons, so that the answers can be
compared with the exact ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import impinge
from impinge.arrays import Bools, Floats
from impinge.lab.scenes.screw import ACROSS, ALONG, CREST, Screw
from impinge.mesh.mesh import Mesh


@dataclass(frozen=True)
class Missed:
    """Critical points against all contacts, over some poses."""

    poses: int
    touching: int
    """Poses with a contact."""
    noticed: int
    """Of those, where a critical point is in the nut."""
    false_alarms: int
    regions: int
    """Separate regions of contact, over all poses."""
    regions_noticed: int
    """Those with a critical point that is in the nut, or no farther away than the next critical point."""


def crest_points(made: Screw, bolt: Mesh, parts: int = 4) -> Floats:
    """(k, 3) points on the crest helix of the bolt, ``parts`` for each edge."""
    crest = bolt.vertices[CREST : (made.threads * ALONG + 1) * ACROSS : ACROSS]
    share = np.arange(parts)[:, None, None] / parts
    between = (1.0 - share) * crest[:-1] + share * crest[1:]
    return np.concatenate([between.swapaxes(0, 1).reshape(-1, 3), crest[-1:]])


def beyond_nut(made: Screw, nut: Mesh, points: Floats) -> Bools:
    """(k,) which points lie on the polygons of the nut or behind them, seen from the axis.

    Above and below its thread a nut has no surface, and nothing is behind it.
    """
    angle = np.arctan2(points[:, 1], points[:, 0]) % (2.0 * np.pi)
    column = np.minimum((angle * (ALONG / (2.0 * np.pi))).astype(np.int64), ALONG - 1)
    turn = np.floor((points[:, 2] - made.corners()[0]) / made.pitch - angle / (2.0 * np.pi)).astype(np.int64)
    # Those of the same column one turn below and above too: their edges rise from one side to the other.
    step = column[:, None] + ALONG * (turn[:, None] + np.array([-1, 0, 1]))
    there = (step >= 0) & (step < made.threads * ALONG)
    triangle = (np.where(there, step, 0)[:, :, None] * (2 * ACROSS) + np.arange(2 * ACROSS)).reshape(len(points), -1)
    radial = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(len(points))])
    reach = _radial_hits(nut.triangles[triangle], radial, points[:, 2])
    reach[~np.repeat(there, 2 * ACROSS, axis=1)] = np.inf
    behind: Bools = np.hypot(points[:, 0], points[:, 1]) >= reach.min(axis=1)
    return behind


def _radial_hits(triangles: Floats, radial: Floats, height: Floats) -> Floats:
    """(k, m) where the rays from (0, 0, height) meet triangles (k, m, 3, 3): the way from the axis, or infinity."""
    corner = triangles.copy()
    corner[..., 2] -= height[:, None, None]
    one, two = corner[:, :, 1] - corner[:, :, 0], corner[:, :, 2] - corner[:, :, 0]
    across = np.cross(radial[:, None], two)
    volume = np.einsum("kmi,kmi->km", one, across)
    with np.errstate(divide="ignore", invalid="ignore"):
        u = np.einsum("kmi,kmi->km", -corner[:, :, 0], across) / volume
        around = np.cross(-corner[:, :, 0], one)
        v = np.einsum("ki,kmi->km", radial, around) / volume
        reach = np.einsum("kmi,kmi->km", two, around) / volume
        hit = (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (reach > 0.0)
    return np.where(hit, reach, np.inf)


def compare(made: Screw, bolt: Mesh, nut: Mesh, path: Floats) -> Missed:
    """What the critical points notice of the contacts."""
    points = crest_points(made, bolt)
    spacing = float(np.linalg.norm(points[1] - points[0]))
    touching = noticed = false_alarms = regions = regions_noticed = 0
    for pose in path:
        placed = points @ pose[:3, :3].T + pose[:3, 3]
        inside = placed[beyond_nut(made, nut, placed)]
        boxes = _regions(bolt, nut, pose)
        touching += bool(boxes)
        noticed += bool(boxes) and len(inside) > 0
        false_alarms += not boxes and len(inside) > 0
        regions += len(boxes)
        for low, high in boxes:
            regions_noticed += bool(((inside >= low - spacing) & (inside <= high + spacing)).all(axis=1).any())
    return Missed(len(path), touching, noticed, false_alarms, regions, regions_noticed)


def _regions(bolt: Mesh, nut: Mesh, pose: Floats) -> list[tuple[Floats, Floats]]:
    """The boxes around separate regions of contact."""
    grown: dict[int, tuple[Floats, Floats]] = {}
    for loop in impinge.contacts(bolt, nut, pose).loops(bolt, nut, pose):
        low, high = loop.points.min(axis=0), loop.points.max(axis=0)
        if loop.region in grown:
            low, high = np.minimum(low, grown[loop.region][0]), np.maximum(high, grown[loop.region][1])
        grown[loop.region] = low, high
    return list(grown.values())
