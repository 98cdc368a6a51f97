"""An arm of nine links at random joint angles, as planners ask about it: thousands of configurations, no motion.

Links are tubes with flanges, of some 1,000 triangles; neighbours touch at their joints, and are left out of the test.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from impinge.arrays import Floats
from impinge.lab.scenes import shapes
from impinge.lab.scenes.poses import turns
from impinge.mesh.mesh import Mesh

LINKS = 9
_LENGTH = 1.0
_MOST_BENT = np.radians(150.0)


@dataclass(frozen=True, eq=False)
class Arm:
    """Links, each with its joint at the origin and the next joint on its z axis."""

    links: tuple[Mesh, ...]

    @property
    def neighbours(self) -> list[tuple[int, int]]:
        """Links that touch at a joint."""
        return [(i, i + 1) for i in range(len(self.links) - 1)]

    def configurations(self, count: int, seed: int = 0) -> Floats:
        """(count, links, 4, 4) by random joint angles: each link is bent and turned against the one before."""
        rng = np.random.default_rng([seed, count])
        placed = np.empty((count, len(self.links), 4, 4))
        pose = np.tile(np.eye(4), (count, 1, 1))
        for link in range(len(self.links)):
            step = np.tile(np.eye(4), (count, 1, 1))
            spin, bend = np.zeros((2, count, 3))
            spin[:, 2] = rng.uniform(-np.pi, np.pi, size=count)
            bend[:, 1] = rng.uniform(-_MOST_BENT, _MOST_BENT, size=count)
            step[:, :3, :3] = turns(spin) @ turns(bend)
            step[:, 2, 3] = _LENGTH if link else 0.0
            pose = pose @ step
            placed[:, link] = pose
        return placed


def arm(links: int = LINKS) -> Arm:
    """Links of three kinds in turn."""
    outlines = (
        [(0.0, 0.05), (0.2, 0.05), (0.2, 0.15), (0.1, 0.2), (0.1, 0.8), (0.2, 0.85), (0.2, 0.95), (0.0, 0.95)],
        [(0.0, 0.05), (0.15, 0.05), (0.25, 0.3), (0.08, 0.5), (0.25, 0.7), (0.15, 0.95), (0.0, 0.95)],
        [(0.0, 0.05), (0.22, 0.05), (0.12, 0.5), (0.22, 0.95), (0.0, 0.95)],
    )
    kinds = [shapes.lathe(outline, sides=80) for outline in outlines]
    return Arm(tuple(kinds[i % len(kinds)] for i in range(links)))
